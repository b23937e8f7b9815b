package write

// Refused is the fault of an answer of any status and content, as the start of a
// job takes it.
func (c *Client) Refused(status int, html bool, body []byte) error {
	return c.refused(request{what: "the start of job x", unsure: true}, reply{status: status, html: html, body: body})
}
