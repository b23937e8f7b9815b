package write

import "github.com/recoverctl/recoverctl/internal/httpread"

// Refused is the fault of an answer of any status and content, as the start of a
// job takes it.
func (c *Client) Refused(status int, html bool, body []byte) error {
	kind := "application/json"
	if html {
		kind = "text/html"
	}
	return c.refused(request{what: "the start of job x", unsure: true}, httpread.Answer{Status: status, ContentType: kind, Body: body})
}
