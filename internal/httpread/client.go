package httpread

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/safetext"
	"github.com/recoverctl/recoverctl/internal/secret"
)

// The limits where Options says nothing.
const (
	DefaultMaxBytes = 8 << 20          // of an answer's body, after decompression
	DefaultTimeout  = 30 * time.Second // of a whole request, the body included
	maxRedirects    = 3
)

// Options say how to reach a server. The zero Options are usable.
type Options struct {
	// Service names what should answer, as in "a Flink REST port". It appears
	// in hints: "is this a Flink REST port?".
	Service  string
	MaxBytes int64         // zero: DefaultMaxBytes
	Timeout  time.Duration // zero: DefaultTimeout
	TLS      *tls.Config   // nil: the system's certificates

	Username string       // with Password: basic authentication
	Password secret.Value //
	Token    secret.Value // bearer token; goes before a user name
}

// Client reads from one service. It may be used by several goroutines.
type Client struct {
	options Options
	http    *http.Client
}

// New makes a client. Close it when it is no longer needed.
func New(options Options) *Client {
	if options.Service == "" {
		options.Service = "the right port"
	}
	if options.MaxBytes <= 0 {
		options.MaxBytes = DefaultMaxBytes
	}
	if options.Timeout <= 0 {
		options.Timeout = DefaultTimeout
	}
	transport := &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		TLSClientConfig:        options.TLS.Clone(), // net/http adds its protocols to it, and others may have it too
		ForceAttemptHTTP2:      true,
		MaxIdleConnsPerHost:    4,
		IdleConnTimeout:        time.Minute,
		MaxResponseHeaderBytes: 64 << 10,
	}
	return &Client{options: options, http: &http.Client{Transport: transport, CheckRedirect: sameHost}}
}

// Close closes the connections that are not in use.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// redirectError ends a redirect. An address in it is safe to show.
type redirectError string

func (e redirectError) Error() string { return string(e) }

// sameHost follows a few redirects within one host. A change of scheme, as from
// https to http, is another host: credentials would go over it in the clear.
func sameHost(req *http.Request, via []*http.Request) error {
	first := via[0].URL
	if req.URL.Host != first.Host || req.URL.Scheme != first.Scheme {
		return redirectError("it redirects to " + shown(req.URL) + ", which is not followed")
	}
	if len(via) > maxRedirects {
		return redirectError(fmt.Sprintf("it redirects more than %d times", maxRedirects))
	}
	return nil
}

// Answer is what a server said. Get returns those with a status from 200 to 299,
// Ask those with any.
type Answer struct {
	URL         safetext.Text // as it may be shown: without user and query
	Status      int
	Header      http.Header
	ContentType string
	Body        []byte // of an answer that is no success, as much of it as came
}

// Success reports whether the status is one from 200 to 299.
func (a Answer) Success() bool { return a.Status >= 200 && a.Status <= 299 }

// Get reads one address. Every error is a fault:
//
//   - Denied: 401, 403
//   - NotFound: 404, 410
//   - Unreachable: no connection, no whole answer in time, a body that ends too
//     early, 408, 429 and every status from 500
//   - Unsupported: any other status, a redirect to another host, an answer that
//     is larger than MaxBytes
//   - Config: an address that can't be one
//   - Cancelled: ctx was cancelled
func (c *Client) Get(ctx context.Context, address string) (Answer, error) {
	answer, err := c.Ask(ctx, address)
	if err == nil && !answer.Success() {
		return Answer{}, c.Refused(answer)
	}
	return answer, err
}

// Ask is Get for services that say in the body of an answer why they refuse:
// an answer of any status is returned, and Refused makes Get's fault of it.
func (c *Client) Ask(ctx context.Context, address string) (Answer, error) {
	target, err := url.Parse(address)
	if err != nil || target.Host == "" || (target.Scheme != "http" && target.Scheme != "https") {
		// The parser's message repeats the address, which may hold a password.
		return Answer{}, fault.New(fault.Config, op, "the address is not an http:// or https:// URL").
			WithHint("write it like http://host:8081")
	}
	timed, cancel := context.WithTimeout(ctx, c.options.Timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(timed, http.MethodGet, target.String(), http.NoBody)
	if err != nil {
		return Answer{}, fault.New(fault.Config, op, "no request can be made of %s", shown(target))
	}
	req.Header.Set("Accept", "application/json")
	switch {
	case !c.options.Token.IsEmpty():
		req.Header.Set("Authorization", "Bearer "+c.options.Token.Reveal())
	case c.options.Username != "":
		req.SetBasicAuth(c.options.Username, c.options.Password.Reveal())
	}
	res, err := c.http.Do(req)
	if err != nil {
		return Answer{}, c.noAnswer(ctx, timed, target, err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, c.options.MaxBytes+1))
	answer := Answer{
		URL: safetext.Of(shown(target)), Status: res.StatusCode, Header: res.Header,
		ContentType: res.Header.Get("Content-Type"), Body: body,
	}
	switch {
	case !answer.Success():
		return answer, nil // a body that was cut is no matter then
	case err != nil:
		return Answer{}, c.brokenBody(ctx, timed, target, int64(len(body)), res.ContentLength, err)
	case int64(len(body)) > c.options.MaxBytes:
		return Answer{}, fault.New(fault.Unsupported, op, "the answer of %s is larger than %d bytes", shown(target), c.options.MaxBytes).
			WithHint("is this %s?", c.options.Service).WithRef(shown(target))
	}
	return answer, nil
}

const op = "read over HTTP"

// shown is a URL as it may be shown: without user and query.
func shown(u *url.URL) string {
	bare := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path, RawPath: u.RawPath}
	return safetext.Of(bare.String()).String()
}

// cause is the reason inside the error of an http.Client, without the URL that
// it repeats.
func cause(err error) error {
	var whole *url.Error
	if errors.As(err, &whole) {
		return whole.Err
	}
	return err
}

func (c *Client) noAnswer(ctx, timed context.Context, target *url.URL, err error) error {
	var redirect redirectError
	switch {
	case ctx.Err() != nil || timed.Err() != nil:
		return c.outOfTime(ctx, target, "no answer")
	case errors.As(err, &redirect):
		return fault.New(fault.Unsupported, op, "%s does not answer itself: %s", shown(target), redirect).
			WithHint("give the address where it can be read itself").WithRef(shown(target))
	}
	f := fault.New(fault.Unreachable, op, "%s can't be reached: %s", shown(target), safetext.Error(cause(err)).Truncate(300)).WithRef(shown(target))
	f.Hint = "check host, port and network"
	var cert *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	switch {
	case errors.As(err, &cert):
		f.Hint = "the certificate is not trusted: give its authority as ca-file"
	case errors.As(err, &record), strings.Contains(err.Error(), "server gave HTTP response to HTTPS client"):
		f.Hint = "this port speaks no TLS: write http://"
	}
	return f
}

func (c *Client) brokenBody(ctx, timed context.Context, target *url.URL, got, want int64, err error) error {
	if ctx.Err() != nil || timed.Err() != nil {
		return c.outOfTime(ctx, target, fmt.Sprintf("no whole answer (%d bytes came)", got))
	}
	of := ""
	if want >= 0 {
		of = fmt.Sprintf(" of %d", want)
	}
	return fault.New(fault.Unreachable, op, "the answer of %s ends after %d%s bytes: %s", shown(target), got, of, safetext.Error(cause(err)).Truncate(300)).
		WithHint("try again; if it stays, look at the proxy or load balancer between").WithRef(shown(target))
}

// outOfTime tells a person who said stop from a clock that ran out.
func (c *Client) outOfTime(ctx context.Context, target *url.URL, what string) error {
	switch err := ctx.Err(); {
	case errors.Is(err, context.Canceled):
		return fault.Wrap(fault.Cancelled, op, err, "stopped reading %s", shown(target))
	case err != nil:
		return fault.Wrap(fault.Unreachable, op, err, "%s from %s in the time that was left", what, shown(target)).
			WithHint("check that it is alive, or give more --timeout").WithRef(shown(target))
	}
	return fault.Wrap(fault.Unreachable, op, context.DeadlineExceeded, "%s from %s within %s", what, shown(target), c.options.Timeout).
		WithHint("check that it is alive, or give more --timeout").WithRef(shown(target))
}
