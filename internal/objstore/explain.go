package objstore

import (
	"context"
	"crypto/tls"
	"errors"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

// Right is a permission that a request needs.
type Right string

// The rights that reading takes.
const (
	GetObject  Right = "s3:GetObject"  // what an object is, and its bytes
	ListBucket Right = "s3:ListBucket" // what is there, and whether something is absent
)

// subject is what a request is about.
type subject struct {
	right       Right
	bucket, key string
}

func (s subject) show() string { return safetext.Of("s3://" + s.bucket + "/" + s.key).String() }

// place names the store in a message.
func (c *Client) place() string {
	if r := c.ready.Load(); r != nil && r.endpoint != "" {
		return safetext.Of(r.endpoint).String()
	}
	if c.config.Endpoint != "" {
		return safetext.Of(c.config.Endpoint).String()
	}
	return "the store"
}

// explain makes what an operator should read of an error. ctx is the caller's,
// timed the one with the request's own time.
func (c *Client) explain(ctx, timed context.Context, err error, about subject) error {
	var (
		already  *fault.Fault
		cut      *cutError
		stranger *strangerError
		key      noKey
	)
	switch {
	case ctx.Err() != nil || timed.Err() != nil && isContext(err):
		return c.stopped(ctx, timed, about)
	case errors.As(err, &already):
		return already
	case errors.As(err, &cut):
		return cut
	case errors.As(err, &stranger):
		return c.stranger(about, stranger.why)
	case errors.As(err, &key):
		return c.withoutKey(timed, key)
	}
	if status, header := statusOf(err); status != 0 {
		return c.refused(err, status, header, about)
	}
	return c.noAnswer(err, about)
}

func isContext(err error) bool {
	var canceled *smithy.CanceledError
	return errors.As(err, &canceled) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// stopped tells a person who said stop from a clock that ran out.
func (c *Client) stopped(ctx, timed context.Context, about subject) error {
	switch err := ctx.Err(); {
	case errors.Is(err, context.Canceled):
		return fault.Wrap(fault.Cancelled, op, err, "reading %s was stopped", about.show())
	case err != nil:
		return fault.Wrap(fault.Unreachable, op, err, "%s did not answer about %s in the time that was left", c.place(), about.show()).
			WithHint("check that it is alive, or give more --timeout")
	}
	return fault.Wrap(fault.Unreachable, op, timed.Err(), "%s did not answer about %s within %s", c.place(), about.show(), c.config.Timeout).
		WithHint(hintSlow)
}

const hintSlow = "check that it is alive and what lies between, or give more --timeout"

// stranger is the fault of an answer that no object store gives.
func (c *Client) stranger(about subject, what string) error {
	return fault.New(fault.Unsupported, op, "%s does not speak S3: it answers with %s where %s was asked for", c.place(), what, about.show()).
		WithHint("check endpoint of the object store: a console, a proxy or a login page may listen there")
}

func (c *Client) withoutKey(timed context.Context, key noKey) error {
	var own *fault.Fault
	switch {
	case errors.As(key.cause, &own):
		return own // a profile's secret says itself what is wrong
	case timed.Err() != nil:
		return fault.New(fault.Config, op, "no access key came within %s: nothing gives one that answers", c.config.Timeout).WithHint(hintKeys)
	}
	return fault.New(fault.Config, op, "no access key: %s", lastSentence(key.cause)).WithHint(hintKeys)
}

const hintKeys = "give credentials: {access-key: …, secret-key: …} of the object store, or what AWS's tools read: AWS_ACCESS_KEY_ID and " +
	"AWS_SECRET_ACCESS_KEY, AWS_PROFILE, ~/.aws, or the role of this machine or pod"

// statusOf is the status of an answer that was no success; zero: there was none.
func statusOf(err error) (int, http.Header) {
	var answer *smithyhttp.ResponseError
	if errors.As(err, &answer) && answer.Response != nil && answer.Response.Response != nil {
		return answer.HTTPStatusCode(), answer.Response.Header
	}
	return 0, nil
}

// codeOf is the store's own word for what is wrong, and its sentence.
func codeOf(err error) (code, sentence string) {
	var api smithy.APIError
	if !errors.As(err, &api) {
		return "", ""
	}
	return api.ErrorCode(), safetext.Of(api.ErrorMessage()).Truncate(200).String()
}

// speechless reports whether an answer to HEAD was a refusal that a body would
// explain.
func speechless(err error) bool {
	status, _ := statusOf(err)
	return status >= 300 && status < 500 && status != http.StatusNotFound
}

var expecting = regexp.MustCompile(`expecting '([a-z0-9-]+)'`)

// regionOf is the region where a bucket says that it is, for an answer that
// sends us there; else empty.
func regionOf(err error) string {
	status, header := statusOf(err)
	switch status {
	case http.StatusMovedPermanently, http.StatusTemporaryRedirect, http.StatusBadRequest:
	default:
		return ""
	}
	if region := header.Get("X-Amz-Bucket-Region"); region != "" {
		return region
	}
	if _, sentence := codeOf(err); sentence != "" {
		if m := expecting.FindStringSubmatch(sentence); m != nil {
			return m[1]
		}
	}
	return ""
}

// refused explains an answer with a status that is no success.
func (c *Client) refused(err error, status int, header http.Header, about subject) error {
	code, sentence := codeOf(err)
	said := ""
	if sentence != "" && sentence != code && !strings.EqualFold(sentence, http.StatusText(status)) {
		said = " (" + sentence + ")"
	}
	switch code {
	case "NoSuchBucket":
		return fault.New(fault.NotFound, op, "there is no bucket %s at %s", quote(about.bucket), c.place()).
			WithHint("check the bucket's name, and that this is the right endpoint: buckets of another store are not seen here")
	case "InvalidBucketName":
		return fault.New(fault.Usage, op, "%s is no name of a bucket", quote(about.bucket)).WithHint("check the URI: it is s3://BUCKET/PATH")
	case "InvalidAccessKeyId":
		return fault.New(fault.Denied, op, "%s does not know the access key%s", c.place(), said).
			WithHint("check access-key of the object store, and that the key is one of this store")
	case "SignatureDoesNotMatch":
		return fault.New(fault.Denied, op, "%s does not accept the signature: the secret key is not the one of this access key%s", c.place(), said).
			WithHint("check secret-key of the object store; a proxy that changes the host or path breaks signatures too")
	case "ExpiredToken", "InvalidToken", "TokenRefreshRequired":
		return fault.New(fault.Denied, op, "the temporary access key is no longer valid%s", said).WithHint("log in again, and try again")
	case "RequestTimeTooSkewed":
		return fault.New(fault.Denied, op, "the clock of this machine is wrong: %s says that it is %s%s", c.place(), safetext.Of(header.Get("Date")), said).
			WithHint("set the clock: a store accepts signatures of the last 15 minutes only")
	case "InvalidObjectState":
		return fault.New(fault.Unsupported, op, "%s is archived and can't be read as it is%s", about.show(), said).
			WithHint("neither can Flink: bring it back from the archive before a restore from here")
	case "KMS.DisabledException", "KMS.NotFoundException", "KMSAccessDeniedException":
		return fault.New(fault.Denied, op, "%s is encrypted with a key that can't be used%s", about.show(), said).
			WithHint("the user needs kms:Decrypt for that key")
	}
	if region := regionOf(err); region != "" {
		return fault.New(fault.Config, op, "bucket %s is in region %s, and was asked for in %s", quote(about.bucket), safetext.Of(region), safetext.Of(c.region())).
			WithHint("set region: %s of the object store", safetext.Of(region))
	}
	switch {
	case status == http.StatusNotFound && (code == "NotFound" || code == "NoSuchKey"):
		return fs.ErrNotExist
	case status == http.StatusNotFound:
		return c.stranger(about, "404 in no store's words")
	case status == http.StatusPreconditionFailed:
		return changed(about)
	case status == http.StatusRequestedRangeNotSatisfiable:
		return fault.New(fault.Unreachable, op, "%s became shorter while it was read", about.show()).
			WithHint("a finished snapshot never changes: find out what writes there, and read it again")
	case status == http.StatusForbidden, status == http.StatusUnauthorized:
		return denied(about, sentence, said)
	case status == http.StatusTooManyRequests, code == "SlowDown", status >= 500:
		return c.busy(status, code, said, about)
	case status >= 300 && status < 400:
		return fault.New(fault.Config, op, "bucket %s is not here: %s answers %d%s", quote(about.bucket), c.place(), status, said).
			WithHint("check endpoint and region of the object store")
	}
	what := safetext.Of(code).Truncate(60).String()
	if what == "" {
		what = http.StatusText(status)
	}
	return fault.New(fault.Unsupported, op, "%s answers %d %s about %s%s", c.place(), status, what, about.show(), said).
		WithHint("check endpoint of the object store: is this a store that speaks S3, and http:// or https:// as it does?")
}

func denied(about subject, sentence, said string) error {
	hint := "the user of the access key needs " + string(about.right)
	switch {
	case strings.Contains(sentence, "kms"):
		hint = "the user of the access key needs kms:Decrypt for the key that the object is encrypted with"
	case about.right == GetObject:
		hint += " here; without " + string(ListBucket) + " for the bucket a store answers so for what is not there, too"
	default:
		hint += " for the bucket, at least with this prefix"
	}
	return fault.New(fault.Denied, op, "%s may not be %s: %s is missing, or a policy denies it%s", about.show(), about.right.verb(), about.right, said).
		WithHint("%s", hint)
}

func (r Right) verb() string {
	if r == ListBucket {
		return "listed"
	}
	return "read"
}

func (c *Client) busy(status int, code, said string, about subject) error {
	if code == "SlowDown" || status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable {
		return fault.New(fault.Unreachable, op, "%s is busy and asks to slow down: it answered %d about %s, %d times%s",
			c.place(), status, about.show(), c.config.Attempts, said).
			WithHint("try again later; if the job writes a checkpoint now, wait until it is done")
	}
	return fault.New(fault.Unreachable, op, "%s answered %d about %s, %d times%s", c.place(), status, about.show(), c.config.Attempts, said).
		WithHint("look at the store's own log, then try again")
}

// region is where requests are sent.
func (c *Client) region() string {
	if c.config.Region != "" {
		return c.config.Region
	}
	if r := c.ready.Load(); r != nil {
		return r.region
	}
	return defaultRegion
}

// noAnswer explains why there was no answer at all.
func (c *Client) noAnswer(err error, about subject) error {
	var (
		decode *smithy.DeserializationError
		cert   *tls.CertificateVerificationError
		record tls.RecordHeaderError
		name   *net.DNSError
		hint   = "check endpoint, port and network"
		place  = c.place()
	)
	switch {
	case errors.As(err, &decode):
		return c.stranger(about, "something that is no S3 answer")
	case errors.As(err, &cert):
		hint = "the certificate is not trusted: name a file with its authority in the variable AWS_CA_BUNDLE"
	case errors.As(err, &record), strings.Contains(err.Error(), "server gave HTTP response to HTTPS client"):
		hint = "this port speaks no TLS: write http:// in endpoint"
	case strings.Contains(err.Error(), "malformed HTTP response"):
		hint = "this port speaks TLS or no HTTP: write https:// in endpoint, or check the port"
	case errors.As(err, &name):
		if hint = "check network and region, and the bucket's name"; c.config.Endpoint != "" && !c.config.PathStyle {
			hint = "check endpoint and region of the object store; a store of your own often wants the bucket in the path: path-style: true"
		}
		place = safetext.Of(name.Name).String()
	case strings.Contains(err.Error(), "resolve endpoint"):
		return fault.New(fault.Config, op, "no address can be made of bucket %s, endpoint %s and region %s: %s",
			quote(about.bucket), place, safetext.Of(c.region()), lastSentence(err)).
			WithHint("check the bucket's name, and endpoint and region of the object store")
	}
	var whole *url.Error
	if errors.As(err, &whole) {
		if err = whole.Err; whole.Timeout() {
			return fault.New(fault.Unreachable, op, "%s did not answer about %s in time, %d times", place, about.show(), c.config.Attempts).WithHint(hintSlow)
		}
	}
	return fault.New(fault.Unreachable, op, "%s can't be reached: %s", place, safetext.Error(err).Truncate(200)).WithHint("%s", hint)
}

// answered is what an observer is told: an absent object and a broken-off
// download are answers.
func answered(err error) error {
	var cut *cutError
	if err == nil || errors.Is(err, fs.ErrNotExist) || errors.As(err, &cut) {
		return nil
	}
	return err
}
