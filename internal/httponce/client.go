package httponce

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
	"time"

	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/httpread"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

// Options are how a client sends.
type Options struct {
	Op        string              // of its faults
	Shown     safetext.Text       // the address, without what people hide in one
	Timeout   time.Duration       // of a whole request, the body of the answer included
	MaxBytes  int64               // of an answer's body; what is more is not read
	TLS       *tls.Config         // nil: the system's certificates
	Authorize func(*http.Request) // sets the credentials
	Unknown   string              // hint where nobody knows what became of a request; may be empty
}

// Client sends to one server. It may be used by several goroutines.
type Client struct {
	options Options
	http    *http.Client
}

// New makes a client. Close it when it is no longer needed.
func New(o Options) *Client {
	return &Client{options: o, http: &http.Client{
		Transport: &http.Transport{
			Proxy:           http.ProxyFromEnvironment,
			TLSClientConfig: o.TLS,
			// Go sends a request again by itself where a connection that was kept open
			// turns out to be closed. A fresh one for each leaves that out.
			DisableKeepAlives:      true,
			TLSNextProto:           map[string]func(string, *tls.Conn) http.RoundTripper{},
			MaxResponseHeaderBytes: 64 << 10,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// Close closes the connections that are not in use.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Request is one thing that a server is asked to do.
type Request struct {
	What        string // for messages: what, and of which thing
	Method, URL string
	Header      http.Header // beside those of every request; may be nil
	Body        any         // sent as JSON; nil: none
}

// once is a body that is no *bytes.Reader, so that net/http can't send it a
// second time.
type once struct{ io.Reader }

// Send sends a request and returns the answer, whatever its status. An error is a
// fault: of kind Unknown where the request may have been carried out, and of
// another where it was certainly not sent.
func (c *Client) Send(ctx context.Context, r Request) (httpread.Answer, error) {
	var content []byte
	if r.Body != nil {
		var err error
		if content, err = json.Marshal(r.Body); err != nil {
			return httpread.Answer{}, fault.Wrap(fault.Bug, c.options.Op, err, "%s can't be asked for", r.What)
		}
	}
	timed, cancel := context.WithTimeout(ctx, c.options.Timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(timed, r.Method, r.URL, &once{bytes.NewReader(content)})
	if err != nil {
		return httpread.Answer{}, fault.New(fault.Config, c.options.Op, "no request can be made for %s", c.options.Shown)
	}
	for name, values := range r.Header {
		req.Header[name] = values
	}
	req.ContentLength = int64(len(content))
	if len(content) == 0 {
		req.Body = http.NoBody
	} else {
		req.Header.Set("Content-Type", "application/json")
	}
	req.Header.Set("Accept", "application/json")
	c.options.Authorize(req)
	res, err := c.http.Do(req)
	if err != nil {
		return httpread.Answer{}, c.noAnswer(ctx, r.What, err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(io.LimitReader(res.Body, c.options.MaxBytes))
	a := httpread.Answer{URL: c.options.Shown, Status: res.StatusCode, Header: res.Header, ContentType: res.Header.Get("Content-Type"), Body: data}
	if err != nil && a.Success() {
		return a, c.Unknown(r.What, "its answer ends in the middle: "+safetext.Error(err).Truncate(200).String())
	}
	return a, nil
}

// Unknown is the fault of a request that may have been carried out.
func (c *Client) Unknown(what, why string) *fault.Fault {
	f := fault.New(fault.Unknown, c.options.Op, "whether %s was done is unknown: %s", what, why).WithRef(c.options.Shown.String())
	if c.options.Unknown != "" {
		f = f.WithHint("%s", c.options.Unknown)
	}
	return f
}

// UnansweredError is within the fault of a request of which the server itself said
// nothing: it may still be carried out when the fault is read.
type UnansweredError struct{ why string }

func (e *UnansweredError) Error() string { return e.why }

// Unanswered is Unknown for a request of which the server itself said nothing.
func (c *Client) Unanswered(what, why string) *fault.Fault {
	f := c.Unknown(what, why)
	f.Message, f.Err = fmt.Sprintf("whether %s was done is unknown", what), &UnansweredError{why}
	return f
}

// noAnswer tells a connection that was never made, over which nothing went, from
// an answer that was lost.
func (c *Client) noAnswer(ctx context.Context, what string, err error) error {
	var whole *url.Error
	if errors.As(err, &whole) {
		err = whole.Err // without the URL, in which people put passwords
	}
	shown, why := c.options.Shown, safetext.Error(err).Truncate(300)
	var dial *net.OpError
	var cert *tls.CertificateVerificationError
	switch {
	case errors.As(err, &dial) && dial.Op == "dial" && errors.Is(ctx.Err(), context.Canceled):
		return fault.Wrap(fault.Cancelled, c.options.Op, ctx.Err(), "%s was not sent to %s", what, shown)
	case errors.As(err, &dial) && dial.Op == "dial":
		return fault.New(fault.Unreachable, c.options.Op, "%s can't be reached, and %s was not sent: %s", shown, what, why).
			WithHint("check host, port and network").WithRef(shown.String())
	case errors.As(err, &cert):
		return fault.New(fault.Unreachable, c.options.Op, "%s is not trusted, and %s was not sent: %s", shown, what, why).
			WithHint("give its authority as ca-file").WithRef(shown.String())
	}
	return c.Unanswered(what, "no answer came: "+why.String())
}
