package arkhub_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/recoverctl/recoverctl/internal/arkhub"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/secret"
	"github.com/recoverctl/recoverctl/internal/testkit/port"
)

const token = "op-8f2c41d0"

// Every way in which a hub fails is one clear sentence with what to do next, and
// none of them repeats the token.
func TestWhatAHubDoesWrong(t *testing.T) {
	say := func(status int, contentType, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", contentType)
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		}
	}
	const asJSON = "application/json"
	refusal := func(status int, code, message string) http.HandlerFunc {
		return say(status, asJSON, fmt.Sprintf(`{"code":%q,"message":%q,"correlation_id":"req-7"}`, code, message))
	}
	tests := map[string]struct {
		handler http.HandlerFunc
		kind    fault.Kind
		message string // URL stands for the address
		hint    string // what it begins with
	}{
		"401":                        {refusal(401, "unauthorized", "A valid operator token is required"), fault.Denied, "URL refuses GET /api/v1/jobs: 401 Unauthorized unauthorized: A valid operator token is required (req-7 in the hub's log)", "it asks for an operator token"},
		"403":                        {refusal(403, "forbidden", "Operator is not authorized for Operate"), fault.Denied, "URL refuses GET /api/v1/jobs: 403 Forbidden forbidden: Operator is not authorized for Operate (req-7 in the hub's log)", "the token's role or scopes"},
		"404 with nothing":           {say(404, "", ""), fault.NotFound, "URL refuses GET /api/v1/jobs: 404 Not Found with an empty body", "an empty 404 says that this hub has no such route"},
		"409":                        {refusal(409, "orchestration_in_progress", "An upgrade is active"), fault.Busy, "URL refuses GET /api/v1/jobs: 409 Conflict orchestration_in_progress: An upgrade is active (req-7 in the hub's log)", "an upgrade holds the job"},
		"412":                        {refusal(412, "generation_conflict", "Expected generation 99, current generation 1"), fault.Drift, "URL refuses GET /api/v1/jobs: 412 Precondition Failed generation_conflict: Expected generation 99, current generation 1 (req-7 in the hub's log)", "somebody changed it"},
		"422":                        {say(422, "text/plain", "Failed to deserialize the JSON body"), fault.Unsupported, "URL refuses GET /api/v1/jobs: 422 Unprocessable Entity: Failed to deserialize the JSON body", "this hub understands the request in another way"},
		"429":                        {say(429, "", ""), fault.Unreachable, "URL refuses GET /api/v1/jobs: 429 Too Many Requests with an empty body", "try again later"},
		"no storage":                 {refusal(400, "agent_request_rejected", "durable storage is unavailable"), fault.Unreachable, "URL refuses GET /api/v1/jobs: 400 Bad Request agent_request_rejected: durable storage is unavailable (req-7 in the hub's log)", "older hubs say this where they have no storage"},
		"a standby without a leader": {refusal(503, "hub_standby", "This hub is a standby"), fault.Unreachable, "URL refuses GET /api/v1/jobs: 503 Service Unavailable hub_standby: This hub is a standby (req-7 in the hub's log)", "this hub is a standby: ask its leader instead; it does not say who that is"},
		"a leader's address that is none": {say(503, asJSON, `{"code":"hub_standby","message":"standby","details":{"leader_url":"file:///etc/passwd"}}`), fault.Unreachable,
			"URL refuses GET /api/v1/jobs: 503 Service Unavailable hub_standby: standby", "this hub is a standby: ask its leader instead; it does not say who that is"},
		"a fenced leader":           {refusal(503, "stale_leader", "fenced"), fault.Unreachable, "URL refuses GET /api/v1/jobs: 503 Service Unavailable stale_leader: fenced (req-7 in the hub's log)", "the hub lost its leadership"},
		"a proxy's page":            {say(502, "text/html", "<html>Bad gateway"), fault.Unreachable, "URL refuses GET /api/v1/jobs: 502 Bad Gateway: an HTML page", "look at the hub's own log"},
		"a login page":              {say(200, "text/html", "<!doctype html>login"), fault.Unsupported, "URL/api/v1/jobs answers with an HTML page where JSON was expected", "is this the API of an ArkFlow hub?"},
		"nothing":                   {say(200, asJSON, ""), fault.Unsupported, "URL answers GET /api/v1/jobs with nothing where a list was expected", "older hubs lose the body of an answer above 1 MiB"},
		"an object that is no list": {say(200, asJSON, `{"jobs":[]}`), fault.Unsupported, "URL/api/v1/jobs answers with JSON that is no list", "is this the API"},
		"a body cut at 1 MiB": {say(200, asJSON, `[{"job_id":"`+strings.Repeat("x", 1<<20-12)), fault.Corrupt,
			"the answer of URL/api/v1/jobs is not JSON at byte 1048576 of 1048576 (unexpected end of JSON input): " + `[{"job_id":"` + strings.Repeat("x", 187) + "…", "it ends in the middle: try again"},
		"half a body": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, `[{"job_id":`)
		}, fault.Unreachable, "the answer of URL/api/v1/jobs ends after 11 of 100 bytes: unexpected EOF", "try again"},
		"a hub that repeats the token": {func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = io.WriteString(w, `{"code":"unauthorized","message":"bad header Bearer `+token+`","correlation_id":"`+token+`"}`)
		}, fault.Denied, "URL refuses GET /api/v1/jobs: 401 Unauthorized unauthorized: bad header Bearer *** (*** in the hub's log)", "it asks for an operator token"},
		"a proxy that repeats the token": {func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusTeapot)
			_, _ = io.WriteString(w, "got "+r.Header.Get("Authorization")+"\x1b[2J")
		}, fault.Unsupported, `URL refuses GET /api/v1/jobs: 418 I'm a teapot: got Bearer ***\x1b[2J`, "is this the API"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c := serve(t, tt.handler, arkhub.Options{Token: secret.New(token)})
			_, err := c.Jobs(t.Context())
			if err == nil {
				t.Fatal("no error")
			}
			address, _ := c.Address()
			f := fault.Of(err)
			if got := strings.ReplaceAll(err.Error(), address.String(), "URL"); got != tt.message || f.Kind != tt.kind || !strings.HasPrefix(f.Hint, tt.hint) {
				t.Errorf("got %s of kind %s\n hint %s\nwant %s of kind %s\n hint %s", got, f.Kind, f.Hint, tt.message, tt.kind, tt.hint)
			}
			if whole := fmt.Sprintf("%v %+v %s", err, f, f.Hint); strings.Contains(whole, token) {
				t.Errorf("the token is repeated: %s", whole)
			}
		})
	}
}

func TestTLS(t *testing.T) {
	hub := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "[]") })
	secure, open := httptest.NewTLSServer(hub), httptest.NewServer(hub)
	defer secure.Close()
	defer open.Close()
	for address, hint := range map[string]string{
		secure.URL: "the certificate is not trusted: give its authority as ca-file",
		strings.Replace(open.URL, "http:", "https:", 1): "this port speaks no TLS: write http://",
	} {
		c, err := arkhub.New(arkhub.Options{Address: address, Pause: 1})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if _, err := c.Jobs(t.Context()); fault.KindOf(err) != fault.Unreachable || fault.Of(err).Hint != hint {
			t.Errorf("%s: %v, hint %s", address, err, fault.Of(err).Hint)
		}
	}
}

func TestAddresses(t *testing.T) {
	for address, want := range map[string]string{
		"http://hub:8080":                 "http://hub:8080",
		"http://hub:8080/":                "http://hub:8080",
		"http://hub:8080/api/v1":          "http://hub:8080",
		"https://ops:s3cret@hub/ark/?x=y": "https://hub/ark",
		"https://proxy/arkflow/api/v1/":   "https://proxy/arkflow",
		"hub:8080":                        "",
		"ftp://hub":                       "",
		"http://ops:s3cret@[broken":       "",
	} {
		c, err := arkhub.New(arkhub.Options{Address: address})
		if want == "" {
			if fault.KindOf(err) != fault.Config || strings.Contains(err.Error(), "s3cret") {
				t.Errorf("%s: %v", address, err)
			}
			continue
		}
		if err != nil {
			t.Fatalf("%s: %v", address, err)
		}
		if got, _ := c.Address(); got.String() != want {
			t.Errorf("%s: %s, want %s", address, got, want)
		}
		c.Close()
	}
}

// A standby names its leader: it is asked from then on. A second standby is not
// followed any further, and the token never leaves https for http.
func TestLeader(t *testing.T) {
	var atLeader, atStandby []string
	leader := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		atLeader = append(atLeader, r.Header.Get("Authorization")+" "+r.URL.Path)
		_, _ = io.WriteString(w, `[{"job_id":"orders"}]`)
	}))
	defer leader.Close()
	standby := func(to string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			atStandby = append(atStandby, r.URL.Path)
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = io.WriteString(w, `{"code":"hub_standby","message":"standby","details":{"leader_url":"`+to+`"}}`)
		}
	}
	c := serve(t, standby(leader.URL+"/api/v1"), arkhub.Options{Token: secret.New(token)})
	for range 2 {
		if l, err := c.Jobs(t.Context()); err != nil || len(l.Items) != 1 {
			t.Fatalf("%+v, error %v", l, err)
		}
	}
	if len(atStandby) != 1 || len(atLeader) != 2 || atLeader[0] != "Bearer "+token+" /api/v1/jobs" {
		t.Errorf("standby %v, leader %v", atStandby, atLeader)
	}
	if at, led := c.Address(); at.String() != leader.URL || !led {
		t.Errorf("asks %s", at)
	}

	// It dies, and the hub that was given has become the leader itself.
	second := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `[]`) }))
	promoted := false
	c = serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if promoted {
			_, _ = io.WriteString(w, `[{"job_id":"orders"}]`)
			return
		}
		standby(second.URL)(w, r)
	}), arkhub.Options{})
	if l, err := c.Jobs(t.Context()); err != nil || len(l.Items) != 0 {
		t.Fatalf("%+v, error %v", l, err)
	}
	second.Close()
	promoted = true
	if l, err := c.Jobs(t.Context()); err != nil || len(l.Items) != 1 {
		t.Fatalf("%+v, error %v", l, err)
	}
	if _, led := c.Address(); led {
		t.Error("still asks the leader that died")
	}

	other := httptest.NewServer(standby(leader.URL))
	defer other.Close()
	c = serve(t, standby(other.URL), arkhub.Options{})
	_, err := c.Jobs(t.Context())
	var r *arkhub.Refusal
	if !errors.As(err, &r) || r.Code != "hub_standby" || !strings.HasSuffix(fault.Of(err).Hint, "ask its leader instead, "+leader.URL) {
		t.Errorf("%v, hint %s", err, fault.Of(err).Hint)
	}

	dead := "http://" + port.Closed(t)
	c = serve(t, standby(dead), arkhub.Options{})
	if _, err := c.Jobs(t.Context()); fault.KindOf(err) != fault.Unreachable || !strings.Contains(err.Error(), "is a standby and names "+dead+" as its leader") {
		t.Errorf("%v", err)
	}

	secure := httptest.NewTLSServer(standby(leader.URL))
	defer secure.Close()
	c, err = arkhub.New(arkhub.Options{Address: secure.URL, Token: secret.New(token), TLS: secure.Client().Transport.(*http.Transport).TLSClientConfig, Pause: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	before := len(atLeader)
	if _, err := c.Jobs(t.Context()); !errors.As(err, &r) || len(atLeader) != before {
		t.Errorf("%v; the leader was asked %d times", err, len(atLeader)-before)
	}
}

// A list is read page by page, whatever moves meanwhile; a hub that loses large
// bodies is asked for small pages.
func TestPages(t *testing.T) {
	var sizes []string
	paged := func(total int, loses bool) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			page, _ := strconv.Atoi(r.URL.Query().Get("page"))
			size, _ := strconv.Atoi(r.URL.Query().Get("page_size"))
			sizes = append(sizes, r.URL.Query().Get("page_size"))
			if loses && size > 50 {
				return
			}
			var items []string
			for i := (page - 1) * size; i < min(page*size, total); i++ {
				items = append(items, fmt.Sprintf(`{"id":"n%d","state":"online"}`, i-(page-1))) // one row moves to the next page
			}
			fmt.Fprintf(w, `{"items":[%s],"page":%d,"page_size":%d,"total":%d}`, strings.Join(items, ","), page, size, total)
		}
	}
	for _, tt := range []struct {
		total int
		loses bool
		pages int
		items int
	}{{0, false, 1, 0}, {1, false, 1, 1}, {100, false, 1, 100}, {101, false, 2, 100}, {250, false, 3, 248}, {12, true, 4, 10}} {
		sizes = nil
		l, err := serve(t, paged(tt.total, tt.loses), arkhub.Options{}).Nodes(t.Context())
		if err != nil || len(l.Items) != tt.items || l.Total != uint64(tt.total) || l.Cut || len(sizes) != tt.pages {
			t.Errorf("%d: %d items of %d in pages of %v, error %v", tt.total, len(l.Items), l.Total, sizes, err)
		}
	}
	l, err := serve(t, paged(50_000, false), arkhub.Options{}).Nodes(t.Context())
	if err != nil || !l.Cut || len(l.Items) != arkhub.MaxItems || l.Total != 50_000 {
		t.Errorf("%d items of %d, cut %v, error %v", len(l.Items), l.Total, l.Cut, err)
	}
}

// A row that is none is counted and left out; a fact that is not there, or is of
// another type, is not exposed, never 0.
func TestToleration(t *testing.T) {
	c := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/checkpoints") {
			_, _ = io.WriteString(w, `{"items":[{"checkpoint_id":"c1","status":"sealing","job_version":"seven","format_version":-1,"created_at_ms":null,"extra":{}},{"checkpoint_id":"c2"},{"status":"completed"},7,null,{"checkpoint_id":"c1","status":"sealing"}]}`)
			return
		}
		_, _ = io.WriteString(w, `[{"job_id":"a","spec_json":{"id":"a","state":{"format_version":2}},"node_ids":"x"},{"job_id":"b","spec_json":"{not json"},{"job_id":7}]`)
	}), arkhub.Options{})
	l, err := c.Checkpoints(t.Context(), "orders/eu ?")
	if err != nil || len(l.Items) != 1 || l.Dropped != 4 {
		t.Fatalf("%+v, error %v", l, err)
	}
	if r := l.Items[0]; r.Status != "sealing" || r.JobVersion.IsKnown() || r.FormatVersion.IsKnown() || r.Created.IsKnown() || r.Kind.IsKnown() {
		t.Errorf("%+v", r)
	}
	jobs, err := c.Jobs(t.Context())
	if err != nil || len(jobs.Items) != 2 || jobs.Dropped != 1 {
		t.Fatalf("%+v, error %v", jobs, err)
	}
	if f := jobs.Items[0].Spec.State.FormatVersion; f.Or(0) != 2 || jobs.Items[0].NodeIDs.IsKnown() || jobs.Items[1].Spec.Readable() {
		t.Errorf("%+v", jobs.Items)
	}
}

// Names go into a path as one part each.
func TestNamesAreEscaped(t *testing.T) {
	var asked []string
	c := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.EscapedPath()+"?"+r.URL.RawQuery)
		_, _ = io.WriteString(w, "[]")
	}), arkhub.Options{})
	for _, id := range []string{"a/b", "..", "x?y", "ü %2F"} {
		if _, err := c.Checkpoints(t.Context(), id); err != nil {
			t.Errorf("%s: %v", id, err)
		}
	}
	want := "/api/v1/jobs/a%2Fb/checkpoints /api/v1/jobs/%2E%2E/checkpoints /api/v1/jobs/x%3Fy/checkpoints /api/v1/jobs/%C3%BC%20%252F/checkpoints "
	if got := strings.ReplaceAll(strings.Join(asked, " ")+" ", "?page=1&page_size=100", ""); got != want {
		t.Errorf("asked %s, want %s", got, want)
	}
}

// Only what may pass by itself is asked a second time, and never a third.
func TestTries(t *testing.T) {
	for _, tt := range []struct {
		statuses []int
		asked    int
		fine     bool
	}{{[]int{503, 200}, 2, true}, {[]int{429, 200}, 2, true}, {[]int{502, 504, 200}, 2, false}, {[]int{404, 200}, 1, false}, {[]int{401, 200}, 1, false}} {
		asked := 0
		c := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(tt.statuses[asked])
			asked++
			_, _ = io.WriteString(w, "[]")
		}), arkhub.Options{})
		if _, err := c.Jobs(t.Context()); (err == nil) != tt.fine || asked != tt.asked {
			t.Errorf("%v: asked %d times, error %v", tt.statuses, asked, err)
		}
	}
	c := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) }), arkhub.Options{Pause: 1 << 40})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Jobs(ctx); fault.KindOf(err) != fault.Cancelled {
		t.Errorf("%v", err)
	}
}
