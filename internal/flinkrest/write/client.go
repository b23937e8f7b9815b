package write

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/flinkrest"
	"github.com/recoverctl/recoverctl/internal/httponce"
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
	options flinkrest.Options
	http    *httponce.Client
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
	c := &Client{base: strings.TrimRight(base.String(), "/"), options: o}
	c.http = httponce.New(httponce.Options{
		Op: op, Shown: reader.Address(), TLS: o.TLS, Authorize: c.authorize,
		Timeout: cmp.Or(max(o.Timeout, 0), DefaultTimeout), MaxBytes: cmp.Or(max(o.MaxBytes, 0), flinkrest.DefaultMaxBytes),
	})
	return c, nil
}

// Close closes the connections that are not in use.
func (c *Client) Close() { c.http.Close() }

func (c *Client) authorize(r *http.Request) {
	switch {
	case !c.options.Token.IsEmpty():
		r.Header.Set("Authorization", "Bearer "+c.options.Token.Reveal())
	case c.options.Username != "":
		r.SetBasicAuth(c.options.Username, c.options.Password.Reveal())
	}
}

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
	a, err := c.http.Send(ctx, httponce.Request{
		What: r.what, Method: r.method, URL: address.String(), Body: r.body,
		Header: http.Header{"Content-Type": {"application/json"}}, // Flink wants it also where there is no body
	})
	switch {
	case err != nil:
		return err
	case !a.Success():
		return c.refused(r, a)
	case httpread.IsHTML(a.ContentType, a.Body):
		return c.http.Unanswered(r.what, "it answers with an HTML page, as Flink does not").WithHint("is there a proxy or a login page before Flink's REST port?")
	case answer == nil:
		return nil
	}
	if err := json.Unmarshal(a.Body, answer); err != nil {
		return c.http.Unknown(r.what, "its answer is not what Flink answers: "+safetext.Error(err).Truncate(200).String())
	}
	return nil
}

// refused is the fault of an answer that is no success. Flink says 500 also where
// it has begun what it was asked for, and what lies between may say 5xx after
// Flink has done it.
func (c *Client) refused(r request, a httpread.Answer) error {
	what, said := r.what, c.said(a)
	f := func(kind fault.Kind, format string, args ...any) *fault.Fault {
		return fault.New(kind, op, format, args...).WithRef(a.URL.String())
	}
	status := fmt.Sprintf("%d %s", a.Status, http.StatusText(a.Status))
	if r.unsure && a.Status == http.StatusBadRequest {
		return c.http.Unknown(what, "it answers "+status+said)
	}
	switch a.Status {
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
	if a.Status >= 300 && a.Status <= 399 {
		return f(fault.Unsupported, "%s was refused: %s redirects (%s), which is not followed", what, a.URL, status).
			WithHint("give the address of the JobManager itself")
	}
	if !spoke(a) {
		return c.http.Unanswered(what, "it answers "+status+said)
	}
	return c.http.Unknown(what, "it answers "+status+said)
}

// Unanswered reports whether an error is of a request of which Flink itself said
// nothing: no answer came, or what lies between answered. Flink may still get it.
func Unanswered(err error) bool {
	var unanswered *httponce.UnansweredError
	return errors.As(err, &unanswered)
}

// spoke reports whether an answer that is no success is Flink's own, which has a list of
// errors.
func spoke(a httpread.Answer) bool {
	var answer struct {
		Errors []string `json:"errors"`
	}
	return json.Unmarshal(a.Body, &answer) == nil && len(answer.Errors) > 0
}

// said is what Flink says, on one line: of a Java exception its last cause, of a
// page nothing but that it is one.
func (c *Client) said(a httpread.Answer) string {
	if httpread.IsHTML(a.ContentType, a.Body) {
		return ": an HTML page"
	}
	var answer struct {
		Errors []string `json:"errors"`
	}
	text := string(a.Body[:min(len(a.Body), 4<<10)])
	if err := json.Unmarshal(a.Body, &answer); err == nil && len(answer.Errors) > 0 {
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
