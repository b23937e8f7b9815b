package httpread

import (
	"bytes"
	"net/http"
	"net/url"
	"strings"

	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

// excerptCells is how much of a server's message is shown.
const excerptCells = 200

// statusFault is the fault of a status that is not success, else nil.
func statusFault(res *http.Response, target *url.URL, body []byte, service string) *fault.Fault {
	kind, hint := fault.Unsupported, "is this "+service+"?"
	switch code := res.StatusCode; {
	case code >= 200 && code <= 299:
		return nil
	case code == http.StatusUnauthorized:
		kind, hint = fault.Denied, "it asks for a user or token, or does not accept the one that was given"
	case code == http.StatusForbidden:
		kind, hint = fault.Denied, "this user or token may not read it"
	case code == http.StatusNotFound, code == http.StatusGone:
		kind, hint = fault.NotFound, "check the name, and that this is "+service
	case code == http.StatusRequestTimeout, code == http.StatusTooManyRequests:
		kind, hint = fault.Unreachable, "try again later"
	case code >= 500:
		kind, hint = fault.Unreachable, "look at the server's own log, then try again"
	}
	f := fault.New(kind, op, "%s answers %d%s", shown(target), res.StatusCode, reason(res))
	if said := excerpt(res.Header.Get("Content-Type"), body); !said.IsEmpty() {
		f.Message += ": " + said.String()
	}
	return f.WithHint("%s", hint).WithRef(shown(target))
}

// reason is the standard's word for a status, not the server's.
func reason(res *http.Response) string {
	if text := http.StatusText(res.StatusCode); text != "" {
		return " " + text
	}
	return ""
}

// excerpt is what a server says in an error, on one line. Of a page nothing is
// shown but that it is one.
func excerpt(contentType string, body []byte) safetext.Text {
	if isHTML(contentType, body) {
		return safetext.Of("an HTML page")
	}
	line := strings.Join(strings.Fields(string(body[:min(len(body), 4<<10)])), " ")
	return safetext.Of(line).Truncate(excerptCells)
}

func isHTML(contentType string, body []byte) bool {
	if media, _, _ := strings.Cut(contentType, ";"); strings.EqualFold(strings.TrimSpace(media), "text/html") {
		return true
	}
	start := bytes.ToLower(bytes.TrimSpace(body[:min(len(body), 512)]))
	return bytes.HasPrefix(start, []byte("<!doctype html")) || bytes.HasPrefix(start, []byte("<html"))
}
