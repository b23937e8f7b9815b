package objstore

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// Nothing that could change a store leaves the process, whoever makes it.
func TestNothingButReadingLeaves(t *testing.T) {
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked++ }))
	t.Cleanup(server.Close)
	base := &http.Transport{DisableKeepAlives: true}
	m := &meter{base: base, client: New(Config{})}
	for _, method := range []string{http.MethodPut, http.MethodPost, http.MethodDelete, http.MethodPatch, "COPY"} {
		res, err := m.RoundTrip(httptest.NewRequest(method, server.URL, http.NoBody))
		if err == nil {
			_ = res.Body.Close()
			t.Errorf("%s left", method)
		}
	}
	if asked != 0 {
		t.Errorf("%d requests arrived", asked)
	}
}
