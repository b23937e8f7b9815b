package arkhub_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/recoverctl/recoverctl/internal/arkhub"
	"github.com/recoverctl/recoverctl/internal/secret"
	"github.com/recoverctl/recoverctl/internal/testkit/arkhubtest/recorded"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func serve(t *testing.T, handler http.Handler, o arkhub.Options) *arkhub.Client {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	o.Address = server.URL
	if o.Pause == 0 {
		o.Pause = time.Millisecond
	}
	c, err := arkhub.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// replay answers one recorded exchange; what lies on later pages is not there.
func replay(t *testing.T, x recorded.Exchange) *arkhub.Client {
	return serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet || r.ContentLength > 0 {
			t.Errorf("%s with %d bytes", r.Method, r.ContentLength)
		}
		if page := r.URL.Query().Get("page"); page != "" && page != "1" {
			_, _ = w.Write([]byte(`{"items":[]}`))
			return
		}
		x.ServeHTTP(w, r)
	}), arkhub.Options{Token: secret.New("t0ken")})
}

// ask asks what a recorded request asked, by the method that is for it.
func ask(ctx context.Context, c *arkhub.Client, x recorded.Exchange) (value any, total *uint64, err error) {
	u, err := url.Parse(x.Path)
	if err != nil {
		return nil, nil, err
	}
	q := u.Query()
	part := strings.Split(strings.TrimPrefix(strings.TrimPrefix(u.Path, arkhub.Prefix), "/"), "/")
	last := part[len(part)-1]
	switch {
	case u.Path == "/health":
		value, err = c.Health(ctx)
	case u.Path == "/readiness", u.Path == "/liveness":
		value, err = c.Readiness(ctx)
	case len(part) == 1 && last == "system":
		value, err = c.System(ctx)
	case len(part) == 1 && last == "nodes":
		value, total, err = rows(c.Nodes(ctx))
	case len(part) == 1 && last == "streams":
		value, total, err = rows(c.Streams(ctx, q.Get("node_id")))
	case len(part) == 1 && last == "jobs":
		value, _, err = rows(c.Jobs(ctx))
	case len(part) == 1 && last == "events":
		value, total, err = rows(c.Events(ctx, arkhub.EventFilter{Node: q.Get("node_id"), Type: q.Get("event_type")}))
	case len(part) == 1 && last == "audit":
		value, total, err = rows(c.Audit(ctx, q.Get("resource_id")))
	case len(part) == 1 && last == "rollouts":
		value, _, err = rows(c.Rollouts(ctx))
	case len(part) == 1 && last == "operations":
		value, total, err = rows(c.Operations(ctx, arkhub.OperationFilter{Resource: q.Get("resource_id")}))
	case part[0] == "operations" && last == "status":
		value, err = c.OperationsStatus(ctx)
	case part[0] == "operations":
		value, err = c.Operation(ctx, last)
	case part[0] == "nodes" && len(part) == 4 && part[2] == "streams":
		value, err = c.Stream(ctx, part[1], last)
	case part[0] == "nodes" && len(part) == 3 && last == "configuration":
		_, err = c.Configuration(ctx, part[1])
		value = map[string]any{} // see TestRecordedConfiguration
	case part[0] == "jobs" && last == "detail":
		value, err = c.Detail(ctx, part[1])
	case part[0] == "jobs" && last == "plan":
		var plan arkhub.Plan
		plan, err = c.Plan(ctx, part[1])
		value = map[string]any{"plan": plan, "job_id": part[1], "version": 1}
	case part[0] == "jobs" && last == "versions":
		value, _, err = rows(c.Versions(ctx, part[1]))
	case part[0] == "jobs" && last == "checkpoints":
		value, _, err = rows(c.Checkpoints(ctx, part[1]))
	case part[0] == "jobs" && last == "savepoints":
		value, _, err = rows(c.Savepoints(ctx, part[1]))
	case part[0] == "jobs" && len(part) == 4 && part[2] == "upgrades":
		value, err = c.Upgrade(ctx, part[1], last)
	case part[0] == "jobs" && (len(part) == 2 || last == "status"):
		value, err = c.Job(ctx, part[1])
	default:
		return nil, nil, errNoMethod
	}
	return value, total, err
}

var errNoMethod = errors.New("no method asks that")

// notAsked are the routes that a recovery needs nothing of.
var notAsked = []string{
	"/metrics", "/api/v1/metrics", "/api/v1/nothing", "/api/v1/rollouts/none", "/api/v1/nodes/node-a/configuration/versions",
	// Of a single engine alone.
	"/api/v1/status", "/api/v1/node", "/api/v1/components/output/nope", "/api/v1/components/output/drop", "/api/v1/streams/heartbeat", "/api/v1/streams/nope", "/api/v1/streams/orders-eu",
	"/api/v1/configuration", "/api/v1/configuration/diff", "/api/v1/configuration/draft", "/api/v1/configuration/versions",
}

func rows[T any](l arkhub.List[T], err error) (any, *uint64, error) {
	if l.Dropped > 0 {
		err = errors.Join(err, fmt.Errorf("%d rows were left out", l.Dropped))
	}
	return l.Items, &l.Total, err
}

// leftOut are the fields of answers that no recovery depends on.
var leftOut = []string{
	"stream_count", "active_operations", "result", "running", // of a single engine
	"compatibility", "rollouts", // of operations/status: what /nodes and /rollouts say
	"page", "page_size", "total",
}

// lost lists what an answer holds and what was made of it does not.
func lost(path string, want, got any) []string {
	switch want := want.(type) {
	case nil:
		return nil // null and absent are the same: not exposed
	case map[string]any:
		have, is := got.(map[string]any)
		if !is {
			return []string{path}
		}
		var out []string
		for _, k := range slices.Sorted(maps.Keys(want)) {
			if !slices.Contains(leftOut, k) {
				out = append(out, lost(path+"."+k, want[k], have[k])...)
			}
		}
		return out
	case []any:
		have, _ := got.([]any)
		if len(have) != len(want) {
			return []string{fmt.Sprintf("%s: %d of %d", path, len(have), len(want))}
		}
		var out []string
		for i := range want {
			out = append(out, lost(fmt.Sprintf("%s[%d]", path, i), want[i], have[i])...)
		}
		return out
	case string:
		var inner any
		if (strings.HasSuffix(path, ".spec_json") || strings.HasSuffix(path, ".plan_json")) && json.Unmarshal([]byte(want), &inner) == nil {
			return lost(path, inner, got)
		}
	}
	if !reflect.DeepEqual(want, got) {
		return []string{fmt.Sprintf("%s: %v, want %v", path, got, want)}
	}
	return nil
}

func plain(t *testing.T, value any) any {
	t.Helper()
	data, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	var out any
	if err := json.Unmarshal(data, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// Every answer that a real hub gave is decoded, and nothing that it says is lost
// or invented; every refusal is a fault with the hub's own code and sentence.
func TestEveryRecordedExchangeDecodes(t *testing.T) {
	all, err := recorded.All()
	if err != nil {
		t.Fatal(err)
	}
	read, refused := 0, 0
	for _, x := range all {
		if x.Method != http.MethodGet || x.Error != "" {
			continue
		}
		t.Run(x.Name, func(t *testing.T) {
			value, total, err := ask(t.Context(), replay(t, x), x)
			if errors.Is(err, errNoMethod) {
				if !slices.Contains(notAsked, x.Route()) {
					t.Errorf("nothing asks %s", x.Route())
				}
				return
			}
			if x.Status >= 400 && !strings.HasSuffix(x.Route(), "/health") && !strings.HasSuffix(x.Route(), "/readiness") {
				refused++
				checkRefusal(t, x, err)
				return
			}
			if err != nil {
				t.Fatalf("%v", err)
			}
			read++
			var want any
			if err := json.Unmarshal(x.Answer(), &want); err != nil {
				t.Fatal(err)
			}
			if page, is := want.(map[string]any); is && page["items"] != nil {
				if total != nil && float64(*total) < page["total"].(float64) && !strings.Contains(x.Name, "events") {
					t.Errorf("total %d, the hub says %v", *total, page["total"])
				}
				want = page["items"]
			}
			if strings.HasSuffix(x.Route(), "/configuration") {
				want = map[string]any{}
			}
			if strings.Contains(x.Route(), "/events") {
				want = once(want.([]any))
			}
			if missing := lost("", want, plain(t, value)); len(missing) > 0 {
				t.Errorf("lost: %v", missing)
			}
		})
	}
	if read < 150 || refused < 25 {
		t.Errorf("%d answers and %d refusals were read", read, refused)
	}
}

// once leaves out what a node reported a second time.
func once(events []any) []any {
	var out []any
	seen := map[string]bool{}
	for _, e := range events {
		m := e.(map[string]any)
		key := fmt.Sprint(m["node_id"], m["occurred_at_ms"], m["event_type"], m["stream_id"], m["outcome"], m["operation_id"])
		if !seen[key] {
			seen[key] = true
			out = append(out, e)
		}
	}
	return out
}

func checkRefusal(t *testing.T, x recorded.Exchange, err error) {
	t.Helper()
	var r *arkhub.Refusal
	if !errors.As(err, &r) {
		t.Fatalf("status %d gives %v", x.Status, err)
	}
	var said struct {
		Code          string `json:"code"`
		Message       string `json:"message"`
		CorrelationID string `json:"correlation_id"`
	}
	if len(x.JSON) > 0 {
		if err := json.Unmarshal(x.JSON, &said); err != nil {
			t.Fatal(err)
		}
	}
	if r.Status != x.Status || r.Code != said.Code || r.Said.String() != said.Message || r.CorrelationID.String() != said.CorrelationID {
		t.Errorf("got %d %s %q (%s), want %d %s %q (%s)", r.Status, r.Code, r.Said, r.CorrelationID, x.Status, said.Code, said.Message, said.CorrelationID)
	}
}

// What a write is answered with is the same job, intent or refusal.
func TestRecordedAnswersToWritesDecode(t *testing.T) {
	all, err := recorded.All()
	if err != nil {
		t.Fatal(err)
	}
	jobs := 0
	for _, x := range all {
		if x.Method == http.MethodGet || len(x.JSON) == 0 || x.Status >= 300 || !strings.HasPrefix(x.Path, arkhub.Prefix+"/jobs") || strings.HasSuffix(x.Path, "/validate") {
			continue
		}
		var want any
		if err := json.Unmarshal(x.JSON, &want); err != nil {
			t.Fatal(err)
		}
		if whole, is := want.(map[string]any); is && whole["job"] != nil {
			want = whole["job"]
		}
		data, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var job arkhub.Job
		if err := json.Unmarshal(data, &job); err != nil {
			t.Fatalf("%s: %v", x.Name, err)
		}
		if missing := lost("", want, plain(t, job)); len(missing) > 0 {
			t.Errorf("%s: lost %v", x.Name, missing)
		}
		jobs++
	}
	if jobs < 15 {
		t.Errorf("%d jobs were read", jobs)
	}
}

// A configuration says how a stream is made durable.
func TestRecordedConfiguration(t *testing.T) {
	x, err := recorded.Find("hub/configuration")
	if err != nil {
		t.Fatal(err)
	}
	c, err := replay(t, x).Configuration(t.Context(), "node-a")
	if err != nil || !c.Known || len(c.Streams) != 3 {
		t.Fatalf("%+v, error %v", c, err)
	}
	var whole struct {
		Streams []struct {
			ID         string
			Durability *struct {
				Enabled    bool
				Path, Sync string
			}
			Input struct{ Type string }
		}
	}
	if err := json.Unmarshal(x.JSON, &whole); err != nil {
		t.Fatal(err)
	}
	for i, want := range whole.Streams {
		got := c.Streams[i]
		d, durable := got.Durability.Get()
		if got.ID.Or("") != want.ID || got.Input.Or(arkhub.Component{}).Type.Or("") != want.Input.Type || durable != (want.Durability != nil) {
			t.Fatalf("%+v, want %+v", got, want)
		}
		if durable && (d.Path.Or("") != want.Durability.Path || string(d.Sync) != want.Durability.Sync || d.Enabled.Or(false) != want.Durability.Enabled) {
			t.Errorf("%s: %+v, want %+v", want.ID, d, want.Durability)
		}
	}
}

// The API's generations are told apart by what the recorded hubs answer.
func TestGenerations(t *testing.T) {
	all, err := recorded.All()
	if err != nil {
		t.Fatal(err)
	}
	// The newer hub was not run: its one difference is the route of an upgrade,
	// which says what it has none of.
	newer := recorded.Exchange{Method: "GET", Path: "/api/v1/jobs/recoverctl-probe/upgrades/recoverctl-probe", Status: 404, JSON: []byte(`{"code":"job_upgrade_not_found","message":"Unknown upgrade"}`)}
	tests := []struct {
		folder string
		extra  []recorded.Exchange
		want   arkhub.Generation
	}{
		{"hub", nil, arkhub.GenerationJobs},
		{"hub/nostorage", nil, arkhub.GenerationJobs},
		{"hub-main-2f423ef", nil, arkhub.GenerationStreams},
		{"hub-main-2f423ef/nostorage", nil, arkhub.GenerationStreams},
		{"node-local", nil, arkhub.GenerationNodeLocal},
		{"hub", []recorded.Exchange{newer}, arkhub.GenerationUpgrades},
	}
	for _, tt := range tests {
		asked := 0
		c := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			asked++
			for _, x := range append(tt.extra, all...) {
				if (x.Folder() == tt.folder || len(x.Name) == 0) && x.Method == http.MethodGet && x.Route() == r.URL.Path && x.Status != 401 && x.Error == "" {
					x.ServeHTTP(w, r)
					return
				}
			}
			w.WriteHeader(http.StatusNotFound) // as both hubs do of an unknown route: nothing
		}), arkhub.Options{})
		for range 2 {
			if got, err := c.Generation(t.Context()); err != nil || got != tt.want {
				t.Errorf("%s: %s, error %v, want %s", tt.folder, got, err, tt.want)
			}
		}
		if asked != 2 {
			t.Errorf("%s: asked %d times", tt.folder, asked)
		}
	}
}
