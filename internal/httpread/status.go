package httpread

import (
	"bytes"
	"net/http"
	"strings"

	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/safetext"
	"github.com/recoverctl/recoverctl/internal/secret"
)

// excerptCells is how much of a server's message is shown.
const excerptCells = 200

// Refused is Get's fault of an answer whose status is no success. What the
// server says is part of it, without a token or password that it repeats.
func (c *Client) Refused(a Answer) *fault.Fault {
	kind, hint := fault.Unsupported, "is this "+c.options.Service+"?"
	switch code := a.Status; {
	case code == http.StatusUnauthorized:
		kind, hint = fault.Denied, "it asks for a user or token, or does not accept the one that was given"
	case code == http.StatusForbidden:
		kind, hint = fault.Denied, "this user or token may not read it"
	case code == http.StatusNotFound, code == http.StatusGone:
		kind, hint = fault.NotFound, "check the name, and that this is "+c.options.Service
	case code == http.StatusRequestTimeout, code == http.StatusTooManyRequests:
		kind, hint = fault.Unreachable, "try again later"
	case code >= 500:
		kind, hint = fault.Unreachable, "look at the server's own log, then try again"
	}
	f := fault.New(kind, op, "%s answers %d%s", a.URL, a.Status, reason(a.Status))
	if said := c.excerpt(a.ContentType, a.Body); !said.IsEmpty() {
		f.Message += ": " + said.String()
	}
	return f.WithHint("%s", hint).WithRef(a.URL.String())
}

// reason is the standard's word for a status, not the server's.
func reason(status int) string {
	if text := http.StatusText(status); text != "" {
		return " " + text
	}
	return ""
}

// Conceal puts *** where a server repeats the token or the password that it was
// given.
func (c *Client) Conceal(said string) string {
	for _, s := range []secret.Value{c.options.Token, c.options.Password} {
		if !s.IsEmpty() {
			said = strings.ReplaceAll(said, s.Reveal(), "***")
		}
	}
	return said
}

// excerpt is what a server says in an error, on one line. Of a page nothing is
// shown but that it is one.
func (c *Client) excerpt(contentType string, body []byte) safetext.Text {
	if IsHTML(contentType, body) {
		return safetext.Of("an HTML page")
	}
	line := strings.Join(strings.Fields(c.Conceal(string(body[:min(len(body), 4<<10)]))), " ")
	return safetext.Of(line).Truncate(excerptCells)
}

// IsHTML reports whether an answer is a page for people.
func IsHTML(contentType string, body []byte) bool {
	if media, _, _ := strings.Cut(contentType, ";"); strings.EqualFold(strings.TrimSpace(media), "text/html") {
		return true
	}
	start := bytes.ToLower(bytes.TrimSpace(body[:min(len(body), 512)]))
	return bytes.HasPrefix(start, []byte("<!doctype html")) || bytes.HasPrefix(start, []byte("<html"))
}
