package httponce_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/httponce"
	"github.com/recoverctl/recoverctl/internal/httpread"
	"github.com/recoverctl/recoverctl/internal/safetext"
	"github.com/recoverctl/recoverctl/internal/testkit/port"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func client(t *testing.T, address string) *httponce.Client {
	t.Helper()
	return clientWithin(t, address, time.Minute)
}

func clientWithin(t *testing.T, address string, limit time.Duration) *httponce.Client {
	t.Helper()
	c := httponce.New(httponce.Options{
		Op: "change it", Shown: safetext.Of(address), Timeout: limit, MaxBytes: 16,
		Authorize: func(r *http.Request) { r.Header.Set("Authorization", "Bearer token") },
		Unknown:   "read what became of it",
	})
	t.Cleanup(c.Close)
	return c
}

func TestARequestCarriesWhatItWasGiven(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || string(body) != `{"drain":true}` || r.Method != http.MethodPatch || r.Header.Get("Authorization") != "Bearer token" ||
			r.Header.Get("If-Match") != "7" || r.Header.Get("Content-Type") != "application/json" || r.ContentLength != int64(len(body)) {
			t.Errorf("%s %q %v, error %v", r.Method, body, r.Header, err)
		}
		w.WriteHeader(http.StatusConflict)
		_, _ = io.WriteString(w, "0123456789abcdef, and this is too much")
	}))
	defer server.Close()
	a, err := client(t, server.URL).Send(t.Context(), httponce.Request{
		What: "the stop", Method: http.MethodPatch, URL: server.URL, Header: http.Header{"If-Match": {"7"}}, Body: map[string]bool{"drain": true},
	})
	if err != nil || a.Status != http.StatusConflict || string(a.Body) != "0123456789abcdef" {
		t.Errorf("%d %q, error %v", a.Status, a.Body, err)
	}
}

// What is changed is read before, with the same TLS configuration: a server that
// speaks HTTP/2 to who reads is not asked for it here.
func TestATLSConfigurationThatWasReadWith(t *testing.T) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.Proto) }))
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(server.Close)
	trusted := &tls.Config{RootCAs: x509.NewCertPool()}
	trusted.RootCAs.AddCert(server.Certificate())
	reader := httpread.New(httpread.Options{TLS: trusted})
	t.Cleanup(reader.Close)
	if a, err := reader.Get(t.Context(), server.URL); err != nil || string(a.Body) != "HTTP/2.0" {
		t.Fatalf("%q, error %v", a.Body, err)
	}
	once := httponce.New(httponce.Options{Op: "change it", Shown: safetext.Of(server.URL), Timeout: 2 * time.Second, MaxBytes: 16, TLS: trusted, Authorize: func(*http.Request) {}})
	t.Cleanup(once.Close)
	if a, err := once.Send(t.Context(), httponce.Request{What: "the stop", Method: http.MethodPost, URL: server.URL}); err != nil || string(a.Body) != "HTTP/1.1" {
		t.Errorf("%q, error %v", a.Body, err)
	}
}

// Whatever happens to a request and its answer, the server gets it at most once.
func TestARequestIsNeverSentTwice(t *testing.T) {
	gaveUp := make(chan struct{}) // closed when whoever asked has given up
	for _, c := range []struct {
		name   string
		answer func(http.ResponseWriter)
		lost   bool // nobody knows whether it was done
		limit  time.Duration
	}{
		{"closed without an answer", func(w http.ResponseWriter) { hijack(w, "") }, true, time.Minute},
		{"half an answer", func(w http.ResponseWriter) { hijack(w, "HTTP/1.1 202 Accepted\r\nContent-Length: 10\r\n\r\n12") }, true, time.Minute},
		{"no HTTP", func(w http.ResponseWriter) { hijack(w, "SSH-2.0-x\r\n") }, true, time.Minute},
		{"a redirect", func(w http.ResponseWriter) {
			w.Header().Set("Location", "/again")
			w.WriteHeader(http.StatusTemporaryRedirect)
		}, false, time.Minute},
		{"unavailable", func(w http.ResponseWriter) {
			w.Header().Set("Retry-After", "0")
			w.WriteHeader(http.StatusServiceUnavailable)
		}, false, time.Minute},
		{"no time", func(http.ResponseWriter) { <-gaveUp }, true, 2 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var asked atomic.Int32
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				if asked.Add(1) > 1 || r.URL.Path != "/" {
					t.Errorf("asked again: %s", r.URL)
				}
				c.answer(w)
			}))
			t.Cleanup(server.Close)
			sender := clientWithin(t, server.URL, c.limit)
			_, err := sender.Send(t.Context(), httponce.Request{What: "the stop", Method: http.MethodPost, URL: server.URL + "/", Body: 1})
			if c.name == "no time" {
				close(gaveUp)
			}
			if !c.lost && err != nil {
				t.Error(err)
			}
			if c.lost && (fault.KindOf(err) != fault.Unknown || !strings.HasPrefix(err.Error(), "whether the stop was done is unknown: ")) {
				t.Errorf("error %v", err)
			}
		})
	}
}

// What was never sent is told from what may have been done.
func TestWhatWasNotSentIsSaid(t *testing.T) {
	address := "http://" + port.Closed(t)
	sender := client(t, address)
	_, err := sender.Send(t.Context(), httponce.Request{What: "the stop", Method: http.MethodPost, URL: address})
	if fault.KindOf(err) != fault.Unreachable || !strings.Contains(err.Error(), "the stop was not sent") {
		t.Errorf("error %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err = sender.Send(ctx, httponce.Request{What: "the stop", Method: http.MethodPost, URL: address}); err == nil {
		t.Error("a cancelled request has an answer")
	}
	tls := httptest.NewTLSServer(http.NotFoundHandler())
	defer tls.Close()
	_, err = client(t, tls.URL).Send(t.Context(), httponce.Request{What: "the stop", Method: http.MethodPost, URL: tls.URL})
	if fault.KindOf(err) != fault.Unreachable || !strings.Contains(err.Error(), "is not trusted, and the stop was not sent") {
		t.Errorf("error %v", err)
	}
	var f *fault.Fault
	if !errors.As(err, &f) || f.Hint == "" {
		t.Errorf("no hint: %v", err)
	}
}

func hijack(w http.ResponseWriter, text string) {
	conn, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	defer conn.Close()
	_, _ = io.WriteString(conn, text)
}
