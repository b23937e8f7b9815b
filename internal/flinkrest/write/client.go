package write

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/flinkrest"
	"github.com/recoverctl/recoverctl/internal/httpread"
	"github.com/recoverctl/recoverctl/internal/safetext"
	"github.com/recoverctl/recoverctl/internal/secret"
)

// DefaultTimeout bounds a request that starts a job: Flink answers only when the
// program's main method has run and the job was prepared, its state looked up.
const DefaultTimeout = 2 * time.Minute

const op = "change Flink"

// Client changes what one JobManager does. It may be used by several goroutines.
type Client struct {
	base    string
	shown   string
	options flinkrest.Options
	http    *http.Client
}

// New makes a Client and asks nothing yet. Its options are those of the reading
// client; a Timeout of zero is DefaultTimeout. An address that can't be one is a
// fault of kind Config. Close the client when it is no longer needed.
func New(o flinkrest.Options) (*Client, error) {
	reader, err := flinkrest.New(o) // its judgement of the address, and how it is shown
	if err != nil {
		return nil, err
	}
	defer reader.Close()
	base, err := url.Parse(o.Address)
	if err != nil {
		return nil, fault.New(fault.Config, op, "the address of Flink's REST port is not an http:// or https:// URL")
	}
	base.RawQuery, base.Fragment = "", ""
	if o.Timeout <= 0 {
		o.Timeout = DefaultTimeout
	}
	if o.MaxBytes <= 0 {
		o.MaxBytes = flinkrest.DefaultMaxBytes
	}
	transport := &http.Transport{
		Proxy:           http.ProxyFromEnvironment,
		TLSClientConfig: o.TLS,
		// Go sends a request again by itself where a connection that was kept open
		// turns out to be closed. A fresh one for each leaves that out.
		DisableKeepAlives:      true,
		TLSNextProto:           map[string]func(string, *tls.Conn) http.RoundTripper{},
		MaxResponseHeaderBytes: 64 << 10,
	}
	return &Client{
		base: strings.TrimRight(base.String(), "/"), shown: reader.Address().String(), options: o,
		http: &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
	}, nil
}

// Close closes the connections that are not in use.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// request is one thing that Flink is asked to do.
type request struct {
	what          string // for messages: what, and of which job
	method, query string
	path          []string // its parts, not escaped
	body          any      // nil: none

	// unsure is whether Flink answers a status of 400 also where it has begun.
	unsure bool
}

// send makes one request, once, and decodes a success into answer.
func (c *Client) send(ctx context.Context, r request, answer any) error {
	address := strings.Builder{}
	address.WriteString(c.base)
	for _, part := range r.path {
		address.WriteString("/" + url.PathEscape(part))
	}
	address.WriteString(r.query)
	content := []byte{}
	if r.body != nil {
		var err error
		if content, err = json.Marshal(r.body); err != nil {
			return fault.Wrap(fault.Bug, op, err, "%s can't be asked for", r.what)
		}
	}
	timed, cancel := context.WithTimeout(ctx, c.options.Timeout)
	defer cancel()
	sent := &tracked{Reader: bytes.NewReader(content)}
	req, err := http.NewRequestWithContext(timed, r.method, address.String(), sent)
	if err != nil {
		return fault.New(fault.Config, op, "no request can be made for %s", c.shown)
	}
	req.ContentLength = int64(len(content))
	if len(content) == 0 {
		req.Body = http.NoBody
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("Content-Type", "application/json")
	switch {
	case !c.options.Token.IsEmpty():
		req.Header.Set("Authorization", "Bearer "+c.options.Token.Reveal())
	case c.options.Username != "":
		req.SetBasicAuth(c.options.Username, c.options.Password.Reveal())
	}
	res, err := c.http.Do(req)
	if err != nil {
		return c.noAnswer(ctx, r.what, err)
	}
	defer res.Body.Close()
	data, readErr := io.ReadAll(io.LimitReader(res.Body, c.options.MaxBytes+1))
	a := reply{status: res.StatusCode, html: httpread.IsHTML(res.Header.Get("Content-Type"), data), body: data}
	switch {
	case !a.success():
		return c.refused(r, a)
	case readErr != nil:
		return c.unknown(r.what, safetext.Error(readErr).Truncate(300).String())
	case a.html:
		return c.unknown(r.what, "it answers with an HTML page, as Flink does not").WithHint("is there a proxy or a login page before Flink's REST port?")
	case answer == nil:
		return nil
	}
	if err := json.Unmarshal(data, answer); err != nil {
		return c.unknown(r.what, "its answer is not what Flink answers: "+safetext.Error(err).Truncate(200).String())
	}
	return nil
}

// tracked is a body that is no *bytes.Reader, so that net/http can't send it a
// second time.
type tracked struct{ io.Reader }

// reply is an answer of any status.
type reply struct {
	status int
	html   bool
	body   []byte
}

func (r reply) success() bool { return r.status >= 200 && r.status <= 299 }

// unknown is the fault of a request that may have been carried out.
func (c *Client) unknown(what, why string) *fault.Fault {
	return fault.New(fault.Unknown, op, "whether %s was done is unknown: %s", what, why).WithRef(c.shown)
}

// noAnswer tells a connection that was never made, over which nothing went, from
// an answer that was lost.
func (c *Client) noAnswer(ctx context.Context, what string, err error) error {
	var whole *url.Error
	if errors.As(err, &whole) {
		err = whole.Err // without the URL, in which people put passwords
	}
	why := safetext.Error(err).Truncate(300).String()
	var dial *net.OpError
	if errors.As(err, &dial) && dial.Op == "dial" {
		if errors.Is(ctx.Err(), context.Canceled) {
			return fault.Wrap(fault.Cancelled, op, ctx.Err(), "%s was not sent to %s", what, c.shown)
		}
		return fault.New(fault.Unreachable, op, "%s can't be reached, and %s was not sent: %s", c.shown, what, why).
			WithHint("check host, port and network").WithRef(c.shown)
	}
	var cert *tls.CertificateVerificationError
	if errors.As(err, &cert) {
		return fault.New(fault.Unreachable, op, "%s is not trusted, and %s was not sent: %s", c.shown, what, why).
			WithHint("give its authority as ca-file").WithRef(c.shown)
	}
	return c.unknown(what, "no answer came: "+why)
}

// refused is the fault of an answer that is no success. Flink says 500 also where
// it has begun what it was asked for, and what lies between may say 5xx after
// Flink has done it.
func (c *Client) refused(r request, a reply) error {
	what, said := r.what, c.said(a)
	f := func(kind fault.Kind, format string, args ...any) *fault.Fault {
		return fault.New(kind, op, format, args...).WithRef(c.shown)
	}
	status := fmt.Sprintf("%d %s", a.status, http.StatusText(a.status))
	if r.unsure && a.status == http.StatusBadRequest {
		return c.unknown(what, "it answers "+status+said)
	}
	switch a.status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return f(fault.Denied, "%s was refused (%s)%s", what, status, said).WithHint("the user or token may not change jobs of this Flink")
	case http.StatusNotFound, http.StatusGone, http.StatusMethodNotAllowed:
		return f(fault.NotFound, "%s was refused (%s)%s", what, status, said).
			WithHint("check the job's id, and that this is the REST port of a Flink JobManager which lets jobs be changed (options web.submit.enable, web.cancel.enable)")
	case http.StatusConflict:
		return f(fault.Drift, "%s was refused (%s)%s", what, status, said).WithHint("the job is in another state by now: look at it again")
	case http.StatusBadRequest, http.StatusUnprocessableEntity, http.StatusUnsupportedMediaType, http.StatusRequestEntityTooLarge:
		return f(fault.Unsupported, "%s was refused (%s)%s", what, status, said).WithHint("this Flink does not take the request: is it older than 1.20?")
	case http.StatusTooManyRequests:
		return f(fault.Busy, "%s was refused (%s)%s", what, status, said).WithHint("try again later")
	}
	if a.status >= 300 && a.status <= 399 {
		return f(fault.Unsupported, "%s was refused: %s redirects (%s), which is not followed", what, c.shown, status).
			WithHint("give the address of the JobManager itself")
	}
	return c.unknown(what, "it answers "+status+said)
}

// said is what Flink says, on one line: of a Java exception its last cause, of a
// page nothing but that it is one.
func (c *Client) said(a reply) string {
	if a.html {
		return ": an HTML page"
	}
	var answer struct {
		Errors []string `json:"errors"`
	}
	text := string(a.body[:min(len(a.body), 4<<10)])
	if err := json.Unmarshal(a.body, &answer); err == nil && len(answer.Errors) > 0 {
		text = lastCause(answer.Errors[len(answer.Errors)-1])
	}
	const most = 300
	for _, s := range []secret.Value{c.options.Token, c.options.Password} {
		if !s.IsEmpty() {
			text = strings.ReplaceAll(text, s.Reveal(), "***")
		}
	}
	if text = safetext.Of(strings.Join(strings.Fields(text), " ")).Truncate(most).String(); text == "" {
		return ""
	}
	return ": " + text
}

// lastCause is the first line of the cause at the end of a stack trace.
func lastCause(trace string) string {
	const mark = "\nCaused by: "
	if at := strings.LastIndex(trace, mark); at >= 0 {
		trace = trace[at+len(mark):]
	}
	trace = strings.TrimPrefix(trace, "<Exception on server side:\n")
	line, _, _ := strings.Cut(trace, "\n")
	return line
}
