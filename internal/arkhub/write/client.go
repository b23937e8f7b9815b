package write

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/recoverctl/recoverctl/internal/arkhub"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/httpread"
	"github.com/recoverctl/recoverctl/internal/safetext"
	"github.com/recoverctl/recoverctl/internal/secret"
)

// DefaultTimeout bounds one request: a hub answers before anything is done.
const DefaultTimeout = 30 * time.Second

// maxAnswer is how many bytes of an answer are read: one job or upgrade.
const maxAnswer = 4 << 20

const op = "change the ArkFlow hub"

// Client changes what one hub does: the leader, where there are several. It may be
// used by several goroutines.
type Client struct {
	base    string
	shown   safetext.Text
	token   secret.Value
	timeout time.Duration
	http    *http.Client
}

// New makes a Client and asks nothing. Its options are those of the reading
// client; a Timeout of zero is DefaultTimeout. The address is the one that the
// reading client asks at last, so that a standby's leader is written to. An
// address that can't be one is a fault of kind Config. Close the client when it is
// no longer needed.
func New(o arkhub.Options) (*Client, error) {
	reader, err := arkhub.New(o) // its judgement of the address
	if err != nil {
		return nil, err
	}
	defer reader.Close()
	base, _ := reader.Address()
	if o.Timeout <= 0 {
		o.Timeout = DefaultTimeout
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
		base: base.String(), shown: base, token: o.Token, timeout: o.Timeout,
		http: &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
	}, nil
}

// Close closes the connections that are not in use.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// request is one thing that a hub is asked to do.
type request struct {
	what       string // for messages: what, and of which job or stream
	method     string
	parts      []string // of the path, not escaped
	body       any      // nil: none
	key        string   // idempotency key; empty: none
	generation arkhub.Count
}

// send makes one request, once, and decodes a success into answer.
func (c *Client) send(ctx context.Context, r request, answer any) error {
	address := c.base + arkhub.Prefix
	for _, part := range r.parts {
		address += "/" + url.PathEscape(part)
	}
	content := []byte{}
	if r.body != nil {
		var err error
		if content, err = json.Marshal(r.body); err != nil {
			return fault.Wrap(fault.Bug, op, err, "%s can't be asked for", r.what)
		}
	}
	timed, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(timed, r.method, address, &once{Reader: bytes.NewReader(content)})
	if err != nil {
		return fault.New(fault.Config, op, "no request can be made for %s", c.shown)
	}
	req.ContentLength = int64(len(content))
	if len(content) == 0 {
		req.Body = http.NoBody
	} else {
		req.Header.Set("Content-Type", "application/json")
	}
	req.Header.Set("Accept", "application/json")
	if !c.token.IsEmpty() {
		req.Header.Set("Authorization", "Bearer "+c.token.Reveal())
	}
	if r.key != "" {
		req.Header.Set("Idempotency-Key", r.key)
	}
	if n, is := r.generation.Get(); is {
		req.Header.Set("If-Match", `"generation-`+strconv.FormatUint(n, 10)+`"`)
	}
	res, err := c.http.Do(req)
	if err != nil {
		return c.noAnswer(ctx, r.what, err)
	}
	defer res.Body.Close()
	data, readErr := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	a := httpread.Answer{URL: c.shown, Status: res.StatusCode, Header: res.Header, ContentType: res.Header.Get("Content-Type"), Body: data}
	switch {
	case !a.Success():
		return c.refused(r.what, a)
	case readErr != nil:
		return c.unknown(r.what, "its answer ends in the middle: "+safetext.Error(readErr).Truncate(200).String())
	case httpread.IsHTML(a.ContentType, data):
		return c.unknown(r.what, "it answers with an HTML page, as a hub does not").WithHint("is there a proxy or a login page before the hub? Read what has become of it before anything is sent again")
	}
	if err := json.Unmarshal(data, answer); err != nil {
		return c.unknown(r.what, "its answer is not what a hub answers: "+safetext.Error(err).Truncate(200).String())
	}
	return nil
}

// once is a body that is no *bytes.Reader, so that net/http can't send it a
// second time.
type once struct{ io.Reader }

// unknown is the fault of a request that may have been carried out.
func (c *Client) unknown(what, why string) *fault.Fault {
	return fault.New(fault.Unknown, op, "whether %s was done is unknown: %s", what, why).
		WithHint("don't send it again: read what has become of it").WithRef(c.shown.String())
}

// noAnswer tells a connection that was never made, over which nothing went, from
// an answer that was lost.
func (c *Client) noAnswer(ctx context.Context, what string, err error) error {
	var whole *url.Error
	if errors.As(err, &whole) {
		err = whole.Err // without the URL, in which people put passwords
	}
	why := safetext.Error(err).Truncate(300)
	var dial *net.OpError
	var cert *tls.CertificateVerificationError
	switch {
	case errors.As(err, &dial) && dial.Op == "dial" && errors.Is(ctx.Err(), context.Canceled):
		return fault.Wrap(fault.Cancelled, op, ctx.Err(), "%s was not sent to %s", what, c.shown)
	case errors.As(err, &dial) && dial.Op == "dial":
		return fault.New(fault.Unreachable, op, "%s can't be reached, and %s was not sent: %s", c.shown, what, why).
			WithHint("check host, port and network").WithRef(c.shown.String())
	case errors.As(err, &cert):
		return fault.New(fault.Unreachable, op, "%s is not trusted, and %s was not sent: %s", c.shown, what, why).
			WithHint("give its authority as ca-file").WithRef(c.shown.String())
	}
	return c.unknown(what, "no answer came: "+why.String())
}

// refused is the fault of an answer that is no success. What the hub refuses with
// its own code was not done; a status from 500 on may come from what lies between,
// after the hub has done it, unless it says that it is no leader.
func (c *Client) refused(what string, a httpread.Answer) error {
	r := arkhub.ReadRefusal(a, c.conceal)
	sure := r.Code == "hub_standby" || r.Code == "stale_leader"
	if a.Status >= 300 && a.Status <= 399 {
		return fault.New(fault.Unsupported, op, "%s was refused: %s redirects (%d), which is not followed", what, c.shown, a.Status).
			WithHint("give the address of the hub itself").WithRef(c.shown.String())
	}
	if a.Status >= 500 && !sure || a.Status == http.StatusRequestTimeout {
		return c.unknown(what, r.Error())
	}
	return r.Fault(what, c.shown)
}

func (c *Client) conceal(said string) string {
	if c.token.IsEmpty() {
		return said
	}
	return string(bytes.ReplaceAll([]byte(said), []byte(c.token.Reveal()), []byte("***")))
}
