package httpread_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/httpread"
	"github.com/recoverctl/recoverctl/internal/secret"
	"github.com/recoverctl/recoverctl/internal/testkit/port"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type overview struct {
	Jobs []struct {
		Name string `json:"name"`
	} `json:"jobs"`
	Version string `json:"flink-version"`
}

func serve(t *testing.T, handler http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server.URL
}

func client(t *testing.T, options httpread.Options) *httpread.Client {
	t.Helper()
	if options.Service == "" {
		options.Service = "a Flink REST port"
	}
	c := httpread.New(options)
	t.Cleanup(c.Close)
	return c
}

func TestGetJSON(t *testing.T) {
	address := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet || r.ContentLength > 0 {
			t.Errorf("%s with %d bytes", r.Method, r.ContentLength)
		}
		w.Header().Set("Content-Type", "application/json;charset=UTF-8")
		fmt.Fprint(w, `{"jobs":[{"name":"order-agent","x":1}],"flink-version":"2.2.0","more":{}}`)
	})
	got, err := httpread.GetJSON[overview](t.Context(), client(t, httpread.Options{}), address+"/jobs/overview?token=hush")
	if err != nil || len(got.Jobs) != 1 || got.Jobs[0].Name != "order-agent" || got.Version != "2.2.0" {
		t.Errorf("got %+v, error %v", got, err)
	}
}

func TestWhatGoesWrong(t *testing.T) {
	write := func(status int, contentType, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", contentType)
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body) // the client may have left
		}
	}
	const asJSON = "application/json"
	const flinkSays = `{"errors":["x", "at org.apache.\u202eflink` // as it is shown, of 200 cells
	tests := map[string]struct {
		handler http.HandlerFunc
		kind    fault.Kind
		message string // the fault's, URL stands for the address
		hint    string
	}{
		"a page": {write(200, "text/html; charset=utf-8", "<p>hi"), fault.Unsupported,
			"URL answers with an HTML page where JSON was expected", "is this a Flink REST port?"},
		"a page that calls itself JSON": {write(200, asJSON, " \n<!DOCTYPE html><title>Login"), fault.Unsupported,
			"URL answers with an HTML page where JSON was expected", "is this a Flink REST port?"},
		"nothing": {write(200, asJSON, ""), fault.Unsupported,
			"URL answers with nothing where JSON was expected", "is this a Flink REST port?"},
		"text that is not JSON": {write(200, "text/plain", "kafka\x1b[2J says no"), fault.Corrupt,
			`the answer of URL is not JSON at byte 1 of 17 (invalid character 'k' looking for beginning of value): kafka\x1b[2J says no`, "is this a Flink REST port?"},
		"two values": {write(200, asJSON, `{} {}`), fault.Corrupt,
			"the answer of URL is not JSON at byte 4 of 5 (invalid character '{' after top-level value): {} {}", "is this a Flink REST port?"},
		"a field of another type": {write(200, asJSON, `{"jobs":[{"name":7}]}`), fault.Unsupported,
			"in the answer of URL, jobs.name is a JSON number where string was expected", "is this a Flink REST port?"},
		"a list where an object was expected": {write(200, asJSON, `[]`), fault.Unsupported,
			"in the answer of URL, the whole answer is a JSON array where object was expected", "is this a Flink REST port?"},
		"401": {write(401, "text/html", "<html>login"), fault.Denied,
			"URL answers 401 Unauthorized: an HTML page", "it asks for a user or token, or does not accept the one that was given"},
		"403": {write(403, asJSON, `{"error":"no"}`), fault.Denied,
			`URL answers 403 Forbidden: {"error":"no"}`, "this user or token may not read it"},
		"404 with Flink's own words": {write(404, asJSON, `{"errors":["Job 4f3c not found"]}`), fault.NotFound,
			`URL answers 404 Not Found: {"errors":["Job 4f3c not found"]}`, "check the name, and that this is a Flink REST port"},
		"500 with a stack trace": {write(500, asJSON, "{\"errors\":[\"x\",\n\t\"at org.apache.\u202eflink"+strings.Repeat("y", 9000)+"\"]}"), fault.Unreachable,
			"URL answers 500 Internal Server Error: " + flinkSays + strings.Repeat("y", 199-len(flinkSays)) + "…", "look at the server's own log, then try again"},
		"503":                   {write(503, asJSON, ""), fault.Unreachable, "URL answers 503 Service Unavailable", "look at the server's own log, then try again"},
		"429":                   {write(429, asJSON, ""), fault.Unreachable, "URL answers 429 Too Many Requests", "try again later"},
		"a status nobody knows": {write(299+120, asJSON, ""), fault.Unsupported, "URL answers 419", "is this a Flink REST port?"},
		"half a body": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, `{"jobs":[]`)
		}, fault.Unreachable, "the answer of URL ends after 10 of 100 bytes: unexpected EOF", "try again; if it stays, look at the proxy or load balancer between"},
		"ten megabytes": {func(w http.ResponseWriter, _ *http.Request) {
			page := bytes.Repeat([]byte(" "), 1<<20)
			for range 10 {
				if _, err := w.Write(page); err != nil {
					return
				}
			}
		}, fault.Unsupported, "the answer of URL is larger than 8388608 bytes", "is this a Flink REST port?"},
		"a small answer that unpacks to a large one": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			for range 9 {
				if _, err := z.Write(make([]byte, 1<<20)); err != nil {
					return
				}
			}
			_ = z.Close()
		}, fault.Unsupported, "the answer of URL is larger than 8388608 bytes", "is this a Flink REST port?"},
		"a redirect to another host": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://sso.example/login?state=hush", http.StatusFound)
		}, fault.Unsupported, "URL does not answer itself: it redirects to https://sso.example/login, which is not followed",
			"give the address where it can be read itself"},
		"a redirect in a circle": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/again", http.StatusFound)
		}, fault.Unsupported, "URL does not answer itself: it redirects more than 3 times", "give the address where it can be read itself"},
		"a connection that is closed": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
			fault.Unreachable, "URL can't be reached: EOF", "check host, port and network"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			address := serve(t, tt.handler) + "/jobs"
			withSecrets := strings.Replace(address, "http://", "http://ops:hush@", 1) + "?token=hush"
			got, err := httpread.GetJSON[overview](t.Context(), client(t, httpread.Options{Token: secret.New("hush")}), withSecrets)
			if err == nil {
				t.Fatalf("no error, but %+v", got)
			}
			if got.Jobs != nil || got.Version != "" {
				t.Errorf("a value came with the error: %+v", got)
			}
			f := fault.Of(err)
			if want := strings.ReplaceAll(tt.message, "URL", address); f.Error() != want {
				t.Errorf("message %q\n   want %q", f.Error(), want)
			}
			if f.Kind != tt.kind || f.Hint != tt.hint {
				t.Errorf("kind %s, hint %q, want %s, %q", f.Kind, f.Hint, tt.kind, tt.hint)
			}
			if all := f.Error() + f.Hint + strings.Join(f.Refs, ""); strings.Contains(all, "hush") {
				t.Errorf("a secret leaks: %s", all)
			}
		})
	}
}

func TestAServerThatHangs(t *testing.T) {
	release := make(chan struct{})
	defer close(release)
	silent := serve(t, func(http.ResponseWriter, *http.Request) { <-release })
	stuck := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"jobs":`)
		w.(http.Flusher).Flush()
		<-release
	})
	for address, want := range map[string]string{
		silent: "no answer from " + silent + " within 100ms",
		stuck:  "no whole answer (8 bytes came) from " + stuck + " within 100ms",
	} {
		begun := time.Now()
		_, err := client(t, httpread.Options{Timeout: 100 * time.Millisecond}).Get(t.Context(), address)
		if fault.KindOf(err) != fault.Unreachable || !errors.Is(err, context.DeadlineExceeded) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("error %v, kind %s, want %s", err, fault.KindOf(err), want)
		}
		if took := time.Since(begun); took > 30*time.Second {
			t.Errorf("it took %s", took)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	if _, err := client(t, httpread.Options{}).Get(ctx, silent); fault.KindOf(err) != fault.Cancelled {
		t.Errorf("cancelled: error %v, kind %s", err, fault.KindOf(err))
	}
	ctx, cancel = context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := client(t, httpread.Options{}).Get(ctx, silent); fault.KindOf(err) != fault.Unreachable ||
		!strings.Contains(err.Error(), "in the time that was left") {
		t.Errorf("the caller's own time: error %v", err)
	}
}

func TestNobodyIsThere(t *testing.T) {
	address := "http://" + port.Closed(t)
	_, err := client(t, httpread.Options{}).Get(t.Context(), address)
	if fault.KindOf(err) != fault.Unreachable || !strings.HasSuffix(err.Error(), "connection refused") {
		t.Errorf("error %v", err)
	}
}

func TestTLSMistakesAreNamed(t *testing.T) {
	plain := serve(t, func(http.ResponseWriter, *http.Request) {})
	_, err := client(t, httpread.Options{}).Get(t.Context(), strings.Replace(plain, "http:", "https:", 1))
	if fault.KindOf(err) != fault.Unreachable || fault.Of(err).Hint != "this port speaks no TLS: write http://" {
		t.Errorf("TLS to a plain port: %v, hint %q", err, fault.Of(err).Hint)
	}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	server.Config.ErrorLog = nil
	server.StartTLS()
	t.Cleanup(server.Close)
	_, err = client(t, httpread.Options{}).Get(t.Context(), server.URL)
	if fault.KindOf(err) != fault.Unreachable || fault.Of(err).Hint != "the certificate is not trusted: give its authority as ca-file" {
		t.Errorf("an unknown authority: %v, hint %q", err, fault.Of(err).Hint)
	}
}

// Several clients may be given one TLS configuration: each keeps its own, which
// net/http adds its protocols to.
func TestClientsOfOneTLSConfiguration(t *testing.T) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.ProtoMajor) }))
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(server.Close)
	trusted := &tls.Config{RootCAs: x509.NewCertPool()}
	trusted.RootCAs.AddCert(server.Certificate())
	var clients sync.WaitGroup
	for range 4 {
		c := client(t, httpread.Options{TLS: trusted})
		clients.Go(func() {
			if a, err := c.Get(t.Context(), server.URL); err != nil || string(a.Body) != "2" {
				t.Errorf("HTTP/%s, error %v", a.Body, err)
			}
		})
	}
	clients.Wait()
	if len(trusted.NextProtos) != 0 {
		t.Errorf("the configuration was changed: it has %q", trusted.NextProtos)
	}
}

func TestCredentialsAreSentToTheirHost(t *testing.T) {
	got := make(chan string, 8)
	address := serve(t, func(w http.ResponseWriter, r *http.Request) {
		got <- r.Header.Get("Authorization")
		if r.URL.Path == "/old" {
			http.Redirect(w, r, "/new", http.StatusMovedPermanently)
			return
		}
		fmt.Fprint(w, `{}`)
	})
	for want, options := range map[string]httpread.Options{
		"":                   {},
		"Bearer t0ken":       {Token: secret.New("t0ken"), Username: "ops"},
		"Basic b3BzOmh1c2g=": {Username: "ops", Password: secret.New("hush")},
	} {
		if _, err := client(t, options).Get(t.Context(), address+"/old"); err != nil {
			t.Fatal(err)
		}
		if first, second := <-got, <-got; first != want || second != want {
			t.Errorf("sent %q and after the redirect %q, want %q", first, second, want)
		}
	}
}

func TestAddressesThatAreNone(t *testing.T) {
	for _, address := range []string{"", "jobmanager:8081", "ftp://x/", "http://", "http://ops:hush@[::1/", "file:///etc/passwd", "http://ops:hush@ho st/"} {
		_, err := client(t, httpread.Options{}).Get(t.Context(), address)
		if fault.KindOf(err) != fault.Config || strings.Contains(err.Error(), "hush") {
			t.Errorf("%q: error %v, kind %s", address, err, fault.KindOf(err))
		}
	}
}

// Some services say in the body of an answer why they refuse; some repeat there
// what they were given.
func TestAskReturnsAnswersOfAnyStatus(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Retry-After", "3")
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = io.WriteString(w, `{"code":"busy","message":"`+r.Header.Get("Authorization")+`"}`)
	}))
	defer server.Close()
	c := httpread.New(httpread.Options{Service: "a hub", Token: secret.New("s3cr3t-token")})
	defer c.Close()
	a, err := c.Ask(t.Context(), server.URL+"/x?q=1")
	if err != nil || a.Status != 503 || a.Success() || a.Header.Get("Retry-After") != "3" || !strings.Contains(string(a.Body), "busy") {
		t.Fatalf("%+v, error %v", a, err)
	}
	f := c.Refused(a)
	want := server.URL + `/x answers 503 Service Unavailable: {"code":"busy","message":"Bearer ***"}`
	if f.Error() != want || f.Kind != fault.Unreachable {
		t.Errorf("%s of kind %s, want %s", f, f.Kind, want)
	}
	if _, err := c.Get(t.Context(), server.URL+"/x"); err == nil || err.Error() != want {
		t.Errorf("Get says %v", err)
	}
}
