package write_test

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/flinkrest"
	"github.com/recoverctl/recoverctl/internal/flinkrest/write"
	"github.com/recoverctl/recoverctl/internal/secret"
	"github.com/recoverctl/recoverctl/internal/testkit/port"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// versions are the Flink versions whose answers were recorded in testdata. A
// recording is named for what was asked, and for the status of the answer.
var versions = []string{"1.20.5", "2.3.0"}

func recording(t testing.TB, version, name string) (status int, body []byte) {
	t.Helper()
	found, err := filepath.Glob(filepath.Join("testdata", "flink-"+version, name+".*.json"))
	if err != nil || len(found) != 1 {
		t.Fatalf("recordings of %s: %v, %v", name, found, err)
	}
	body, err = os.ReadFile(found[0])
	if err != nil {
		t.Fatal(err)
	}
	status, err = strconv.Atoi(strings.Split(filepath.Base(found[0]), ".")[1])
	if err != nil {
		t.Fatal(err)
	}
	return status, body
}

// asked is a request as a server got it.
type asked struct {
	method, uri, auth string
	body              map[string]any
}

// server answers every request alike and keeps what came.
func server(t *testing.T, status int, contentType string, body []byte) (address string, got *[]asked) {
	t.Helper()
	got = &[]asked{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a := asked{method: r.Method, uri: r.RequestURI, auth: r.Header.Get("Authorization")}
		if data, err := io.ReadAll(r.Body); err != nil {
			t.Error(err)
		} else if len(data) > 0 {
			if err := json.Unmarshal(data, &a.body); err != nil {
				t.Errorf("%s: %v", data, err)
			}
		}
		*got = append(*got, a)
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(status)
		_, _ = w.Write(body) // the client may have left
	}))
	t.Cleanup(s.Close)
	return s.URL, got
}

func client(t *testing.T, o flinkrest.Options) *write.Client {
	t.Helper()
	c, err := write.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

const (
	job     = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaab1"
	trigger = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb1"
	asJSON  = "application/json; charset=UTF-8"
)

// The bodies are those that real JobManagers answered so when testdata was
// recorded.
func TestWhatFlinkIsAskedFor(t *testing.T) {
	for _, version := range versions {
		for name, tt := range map[string]struct {
			recorded string
			do       func(context.Context, *write.Client) error
			want     asked
		}{
			"a savepoint": {"savepoint", func(ctx context.Context, c *write.Client) error {
				return c.Savepoint(ctx, job, write.Savepoint{Trigger: trigger, Directory: "file:/data/savepoints"})
			}, asked{method: "POST", uri: "/jobs/" + job + "/savepoints", body: map[string]any{"triggerId": trigger, "target-directory": "file:/data/savepoints", "cancel-job": false}}},
			"a stop": {"stop", func(ctx context.Context, c *write.Client) error {
				return c.Stop(ctx, job, write.Savepoint{Trigger: "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb5", Directory: "file:/data/savepoints"})
			}, asked{method: "POST", uri: "/jobs/" + job + "/stop", body: map[string]any{"triggerId": "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb5", "targetDirectory": "file:/data/savepoints", "drain": false}}},
			"a cancellation": {"cancel", func(ctx context.Context, c *write.Client) error {
				return c.Cancel(ctx, job)
			}, asked{method: "PATCH", uri: "/jobs/" + job + "?mode=cancel"}},
			"a start": {"run", func(ctx context.Context, c *write.Client) error {
				return c.Run(ctx, "35efb6bf_job.jar", write.Run{JobID: job, Parallelism: 2, Arguments: []string{"--name", "a b"}, EntryClass: "Job", Point: "s3://b/chk-7", AllowNonRestoredState: true})
			}, asked{method: "POST", uri: "/jars/35efb6bf_job.jar/run", body: map[string]any{"jobId": job, "parallelism": 2.0, "programArgsList": []any{"--name", "a b"},
				"entryClass": "Job", "savepointPath": "s3://b/chk-7", "allowNonRestoredState": true}}},
		} {
			t.Run(version+" "+name, func(t *testing.T) {
				status, body := recording(t, version, tt.recorded)
				address, got := server(t, status, asJSON, body)
				if err := tt.do(t.Context(), client(t, flinkrest.Options{Address: address})); err != nil {
					t.Fatalf("error %v", err)
				}
				if len(*got) != 1 {
					t.Fatalf("%d requests", len(*got))
				}
				is, err := json.Marshal((*got)[0].body)
				want, wantErr := json.Marshal(tt.want.body)
				if err != nil || wantErr != nil {
					t.Fatal(err, wantErr)
				}
				if g := (*got)[0]; g.method != tt.want.method || g.uri != tt.want.uri || string(is) != string(want) {
					t.Errorf("asked %s %s %s, want %s %s %s", g.method, g.uri, is, tt.want.method, tt.want.uri, want)
				}
			})
		}
	}
}

// What a refusal means for the caller is its kind: Unknown where Flink may have
// done it, anything else where it has not.
func TestWhatARefusalMeans(t *testing.T) {
	cancel := func(ctx context.Context, c *write.Client) error { return c.Cancel(ctx, job) }
	start := func(ctx context.Context, c *write.Client) error {
		return c.Run(ctx, "job.jar", write.Run{JobID: job, Point: "file:/data/nothing"})
	}
	savepoint := func(ctx context.Context, c *write.Client) error {
		return c.Savepoint(ctx, job, write.Savepoint{Trigger: trigger})
	}
	for name, tt := range map[string]struct {
		do      func(context.Context, *write.Client) error
		kind    fault.Kind
		message string // a part of it
	}{
		"cancel-ended":   {cancel, fault.Drift, "already reached another terminal state (FINISHED)"},
		"cancel-unknown": {cancel, fault.NotFound, "Could not find Flink job"},
		"savepoint-bad":  {savepoint, fault.Unsupported, "400 Bad Request"},
		"run-no-point":   {start, fault.Unknown, "/data/nothing"}, // and a job of that id exists: it has failed
		"run-duplicate":  {start, fault.Unknown, "has already been submitted"},
		"run-no-jar":     {start, fault.Unknown, "nothing.jar does not exist"},
	} {
		for _, version := range versions {
			t.Run(version+" "+name, func(t *testing.T) {
				status, body := recording(t, version, name)
				address, _ := server(t, status, asJSON, body)
				err := tt.do(t.Context(), client(t, flinkrest.Options{Address: address}))
				if err == nil || fault.KindOf(err) != tt.kind || !strings.Contains(err.Error(), tt.message) {
					t.Errorf("%s error %v, want %s with %q", fault.KindOf(err), err, tt.kind, tt.message)
				}
				if strings.Contains(err.Error(), "\n") || strings.Contains(err.Error(), "\tat ") {
					t.Errorf("a stack trace in %q", err)
				}
			})
		}
	}
}

func TestWhatIsNoFlink(t *testing.T) {
	const page = "<!DOCTYPE html><html><body>log in</body></html>"
	for name, tt := range map[string]struct {
		status            int
		contentType, body string
		kind              fault.Kind
		message           string
	}{
		"a page with 200":       {200, "text/html", page, fault.Unknown, "HTML page"},
		"a page with 502":       {502, "text/html", page, fault.Unknown, "an HTML page"},
		"a page with 404":       {404, "text/html", page, fault.NotFound, "an HTML page"},
		"a login page":          {302, "text/html", page, fault.Unsupported, "redirects"},
		"no JSON":               {200, asJSON, "ok", fault.Unknown, "not what Flink answers"},
		"another trigger":       {202, asJSON, `{"request-id":"cccccccccccccccccccccccccccccccc"}`, fault.Unknown, "where " + trigger},
		"nobody":                {401, asJSON, `{}`, fault.Denied, "401"},
		"not this user":         {403, asJSON, `{"errors":["no \u001b[2J secret-token"]}`, fault.Denied, `no \x1b[2J ***`},
		"too many at once":      {429, asJSON, `{}`, fault.Busy, "429"},
		"a gateway's time":      {504, asJSON, `{}`, fault.Unknown, "504"},
		"jobs can't be changed": {405, asJSON, `{}`, fault.NotFound, "405"},
	} {
		t.Run(name, func(t *testing.T) {
			address, got := server(t, tt.status, tt.contentType, []byte(tt.body))
			err := client(t, flinkrest.Options{Address: address, Token: secret.New("secret-token")}).Savepoint(t.Context(), job, write.Savepoint{Trigger: trigger})
			if err == nil || fault.KindOf(err) != tt.kind || !strings.Contains(err.Error(), tt.message) {
				t.Errorf("%s error %v, want %s with %q", fault.KindOf(err), err, tt.kind, tt.message)
			}
			if len(*got) != 1 || (*got)[0].auth != "Bearer secret-token" {
				t.Errorf("asked %+v", *got)
			}
		})
	}
}

// A connection that breaks after the request went out leaves it open whether it
// was done, and it is not sent again.
func TestALostAnswerIsUnknownAndNotAskedAgain(t *testing.T) {
	for name, broken := range map[string]string{
		"closed at once":        "",
		"closed in the head":    "HTTP/1.1 202 Acc",
		"closed in the body":    "HTTP/1.1 202 Accepted\r\nContent-Length: 99\r\n\r\n{\"request-id\":",
		"nonsense":              "220 mail.example ESMTP\r\n",
		"an answer with a hole": "HTTP/1.1 202 Accepted\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			requests := make(chan int, 1)
			go func() {
				n := 0
				for {
					conn, err := listener.Accept()
					if err != nil {
						requests <- n
						return
					}
					n++
					_, _ = conn.Read(make([]byte, 4096))
					_, _ = io.WriteString(conn, broken)
					_ = conn.Close()
				}
			}()
			err = client(t, flinkrest.Options{Address: "http://" + listener.Addr().String()}).Stop(t.Context(), job, write.Savepoint{Trigger: trigger})
			_ = listener.Close()
			if n := <-requests; fault.KindOf(err) != fault.Unknown || err == nil || n != 1 {
				t.Errorf("after %d requests: %v", n, err)
			}
		})
	}
}

func TestNoConnectionIsNoWrite(t *testing.T) {
	c := client(t, flinkrest.Options{Address: "http://user:hush@" + port.Closed(t)})
	if err := c.Cancel(t.Context(), job); fault.KindOf(err) != fault.Unreachable || !strings.Contains(err.Error(), "was not sent") || strings.Contains(err.Error(), "hush") {
		t.Errorf("error %v", err)
	}
}

func TestTimeAndTLS(t *testing.T) {
	release := make(chan struct{})
	slow := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		<-release
		w.WriteHeader(http.StatusAccepted)
		_, _ = io.WriteString(w, "{}")
	}))
	t.Cleanup(slow.Close)
	trusted := slow.Client().Transport.(*http.Transport).TLSClientConfig
	t.Run("an answer that takes too long is lost", func(t *testing.T) {
		err := client(t, flinkrest.Options{Address: slow.URL, TLS: trusted, Timeout: 2 * time.Second}).Cancel(t.Context(), job)
		if fault.KindOf(err) != fault.Unknown {
			t.Errorf("error %v", err)
		}
	})
	close(release)
	t.Run("a certificate that nobody trusts gets no request", func(t *testing.T) {
		err := client(t, flinkrest.Options{Address: slow.URL}).Cancel(t.Context(), job)
		if fault.KindOf(err) != fault.Unreachable || !strings.Contains(err.Error(), "not trusted") {
			t.Errorf("error %v", err)
		}
	})
	t.Run("with its authority it works", func(t *testing.T) {
		if err := client(t, flinkrest.Options{Address: slow.URL, TLS: trusted}).Cancel(t.Context(), job); err != nil {
			t.Error(err)
		}
	})
}

// What came of an operation is asked with the reading half.
func TestWhatReadingSaysOfAnOperation(t *testing.T) {
	reading := func(t *testing.T, version, name string) *flinkrest.Client {
		status, body := recording(t, version, name)
		address, _ := server(t, status, asJSON, body)
		c, err := flinkrest.New(flinkrest.Options{Address: address})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		return c
	}
	for _, version := range versions {
		t.Run(version, func(t *testing.T) {
			done, err := reading(t, version, "savepoint-completed").Savepoint(t.Context(), job, trigger)
			if err != nil || !done.Ready() || !strings.HasPrefix(done.Operation.Location, "file:/data/savepoints/savepoint-aaaaaa-") || done.Operation.Failure != nil {
				t.Errorf("a savepoint that was made: %+v, %v", done, err)
			}
			now, err := reading(t, version, "savepoint-progress").Savepoint(t.Context(), job, trigger)
			if err != nil || now.Ready() || now.Operation.Location != "" {
				t.Errorf("one that is being made: %+v, %v", now, err)
			}
			failed, err := reading(t, version, "savepoint-failed").Savepoint(t.Context(), job, trigger)
			if err != nil || !failed.Ready() || failed.Operation.Location != "" || failed.Operation.Failure == nil || !strings.Contains(failed.Operation.Failure.StackTrace, "CheckpointException") {
				t.Errorf("one that failed: %+v, %v", failed, err)
			}
			if _, err := reading(t, version, "savepoint-unknown").Savepoint(t.Context(), job, trigger); fault.KindOf(err) != fault.NotFound || err == nil {
				t.Errorf("one that Flink does not know: %v", err)
			}
			jars, err := reading(t, version, "jars").Jars(t.Context())
			if err != nil || len(jars) == 0 || jars[0].Name != "job.jar" || !strings.HasSuffix(jars[0].ID, "_job.jar") || jars[0].Entries[0].Class != "recoverctl.MarkerJob" {
				t.Errorf("jars: %+v, %v", jars, err)
			}
		})
	}
}

// What can't be an id never reaches Flink, which would choose one of its own.
func TestIDsAreTheCallers(t *testing.T) {
	address, got := server(t, 202, asJSON, []byte("{}"))
	c := client(t, flinkrest.Options{Address: address})
	for name, err := range map[string]error{
		"a savepoint without a trigger": c.Savepoint(t.Context(), job, write.Savepoint{}),
		"a stop of no job":              c.Stop(t.Context(), "..", write.Savepoint{Trigger: trigger}),
		"a cancellation of no job":      c.Cancel(t.Context(), ""),
		"a start without an id":         c.Run(t.Context(), "job.jar", write.Run{}),
		"a start of no jar":             c.Run(t.Context(), "", write.Run{JobID: job}),
	} {
		if err == nil || fault.KindOf(err) != fault.Bug {
			t.Errorf("%s: %v", name, err)
		}
	}
	if len(*got) > 0 {
		t.Errorf("asked %+v", *got)
	}
}

// Whatever a server answers with, a refusal is one line that can be printed.
func FuzzRefusal(f *testing.F) {
	for _, version := range versions {
		for _, name := range []string{"cancel-ended", "run-no-point", "run-no-jar", "savepoint-bad"} {
			status, body := recording(f, version, name)
			f.Add(status, body)
		}
	}
	f.Add(500, []byte(`{"errors":["a\nCaused by: "]}`))
	f.Add(500, []byte(`{"errors":[null]}`))
	c, err := write.New(flinkrest.Options{Address: "http://jobmanager:8081"})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, status int, body []byte) {
		for _, html := range []bool{false, true} {
			text := c.Refused(status, html, body).Error()
			if strings.ContainsAny(text, "\n\r\t\x1b") || len(text) > 4000 {
				t.Errorf("%q", text)
			}
		}
	})
}
