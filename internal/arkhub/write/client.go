package write

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/recoverctl/recoverctl/internal/arkhub"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/httponce"
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
	base  string
	token secret.Value
	http  *httponce.Client
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
	c := &Client{base: base.String(), token: o.Token}
	c.http = httponce.New(httponce.Options{
		Op: op, Shown: base, Timeout: cmp.Or(max(o.Timeout, 0), DefaultTimeout), MaxBytes: maxAnswer, TLS: o.TLS, Authorize: c.authorize,
		Unknown: "don't send it again: read what has become of it",
	})
	return c, nil
}

// Close closes the connections that are not in use.
func (c *Client) Close() { c.http.Close() }

func (c *Client) authorize(r *http.Request) {
	if !c.token.IsEmpty() {
		r.Header.Set("Authorization", "Bearer "+c.token.Reveal())
	}
}

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
	header := http.Header{}
	if r.key != "" {
		header.Set("Idempotency-Key", r.key)
	}
	if n, is := r.generation.Get(); is {
		header.Set("If-Match", `"generation-`+strconv.FormatUint(n, 10)+`"`)
	}
	a, err := c.http.Send(ctx, httponce.Request{What: r.what, Method: r.method, URL: address, Header: header, Body: r.body})
	switch {
	case err != nil:
		return err
	case !a.Success():
		return c.refused(r.what, a)
	case httpread.IsHTML(a.ContentType, a.Body):
		return c.http.Unknown(r.what, "it answers with an HTML page, as a hub does not").WithHint("is there a proxy or a login page before the hub? Read what has become of it before anything is sent again")
	}
	if err := json.Unmarshal(a.Body, answer); err != nil {
		return c.http.Unknown(r.what, "its answer is not what a hub answers: "+safetext.Error(err).Truncate(200).String())
	}
	return nil
}

// refused is the fault of an answer that is no success. What the hub refuses with
// its own code was not done, but for the one that older hubs have for a storage that
// failed in the middle; a status from 500 on may come from what lies between, after the
// hub has done it, unless it says that it is no leader.
func (c *Client) refused(what string, a httpread.Answer) error {
	r := arkhub.ReadRefusal(a, c.conceal)
	sure := r.Code == "hub_standby" || r.Code == "stale_leader"
	if a.Status >= 300 && a.Status <= 399 {
		return fault.New(fault.Unsupported, op, "%s was refused: %s redirects (%d), which is not followed", what, a.URL, a.Status).
			WithHint("give the address of the hub itself").WithRef(a.URL.String())
	}
	storage := r.Code == "agent_request_rejected" && a.Status == http.StatusBadRequest // older hubs say so where their storage failed, too
	if a.Status >= 500 && !sure || a.Status == http.StatusRequestTimeout || storage {
		return c.http.Unknown(what, r.Error())
	}
	return r.Fault(what, a.URL)
}

func (c *Client) conceal(said string) string {
	if c.token.IsEmpty() {
		return said
	}
	return string(bytes.ReplaceAll([]byte(said), []byte(c.token.Reveal()), []byte("***")))
}
