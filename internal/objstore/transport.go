package objstore

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// meter counts requests and bytes, lets nothing but reading pass, and tells a
// store from whatever else listens at its address.
type meter struct {
	base   http.RoundTripper
	client *Client
}

// RoundTrip implements http.RoundTripper.
func (m *meter) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Method != http.MethodGet && req.Method != http.MethodHead {
		return nil, fmt.Errorf("a %s is no reading, and this program only reads object stores", req.Method)
	}
	m.client.requests.Add(1)
	res, err := m.base.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	if why := notAStore(req, res); why != "" {
		_ = res.Body.Close() // nothing of it is used
		return nil, &strangerError{status: res.StatusCode, why: why}
	}
	res.Body = &counted{ReadCloser: res.Body, client: m.client}
	return res, nil
}

type counted struct {
	io.ReadCloser
	client *Client
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	c.client.bytes.Add(int64(n))
	return n, err
}

// strangerError is an answer that no object store gives.
type strangerError struct {
	status int
	why    string
}

func (e *strangerError) Error() string { return e.why }

// notAStore says why an answer is not an object store's: a web page in place of
// what was asked for. Servers that are in trouble, and proxies before them, may
// say so with a page: those answers keep their status.
func notAStore(req *http.Request, res *http.Response) string {
	if res.StatusCode >= 500 || res.StatusCode == http.StatusTooManyRequests {
		return ""
	}
	for name := range res.Header {
		if strings.HasPrefix(name, "X-Amz-") {
			return ""
		}
	}
	switch media, _, _ := strings.Cut(res.Header.Get("Content-Type"), ";"); strings.ToLower(strings.TrimSpace(media)) {
	case "text/html", "application/xhtml+xml":
		return "a web page"
	case "application/json":
		if res.StatusCode >= 300 || req.URL.Query().Has("list-type") {
			return "JSON"
		}
	}
	if res.StatusCode >= 300 && res.StatusCode < 400 && res.StatusCode != http.StatusNotModified && req.Method == http.MethodGet {
		start := make([]byte, 64)
		n, _ := io.ReadFull(res.Body, start) // what is not there is no XML either
		if !bytes.Contains(start[:n], []byte("<?xml")) && !bytes.Contains(start[:n], []byte("<Error")) {
			return "a redirect"
		}
		res.Body = struct {
			io.Reader
			io.Closer
		}{io.MultiReader(bytes.NewReader(start[:n]), res.Body), res.Body}
	}
	return ""
}
