package write_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/recoverctl/recoverctl/internal/arkhub"
	"github.com/recoverctl/recoverctl/internal/arkhub/write"
	"github.com/recoverctl/recoverctl/internal/clock"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/secret"
	"github.com/recoverctl/recoverctl/internal/testkit/arkhubtest"
	"github.com/recoverctl/recoverctl/internal/testkit/port"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const token = "op-77aa"

// scene is a hub with a job of two versions that is stopped, and a stream.
type scene struct {
	t     *testing.T
	hub   *arkhubtest.Hub
	clock *clock.Fake
	write *write.Client
	read  *arkhub.Client
}

func newScene(t *testing.T, g arkhub.Generation) *scene {
	t.Helper()
	s := &scene{t: t, clock: clock.NewFake(time.UnixMilli(1795968900000))}
	s.hub = arkhubtest.New(arkhubtest.Options{Generation: g, Token: token, Clock: s.clock})
	s.hub.AddNode("node-a")
	s.hub.AddStream("node-a", "heartbeat", "running", "")
	for _, version := range []string{"1", "2"} {
		if err := s.hub.SetJob(`{"id":"orders","version":`+version+`,"operators":[{"id":"src"}],"sources":[{"operator_id":"src","input_type":"kafka"}]}`, "stopped"); err != nil {
			t.Fatal(err)
		}
	}
	o := arkhub.Options{Address: s.hub.Start(t), Token: secret.New(token), Pause: time.Millisecond}
	var err error
	if s.write, err = write.New(o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.write.Close)
	if s.read, err = arkhub.New(o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.read.Close)
	return s
}

// doings are all that a client can be asked to do, with the effect that the hub
// then shows.
func (s *scene) doings() map[string]struct {
	do     func(context.Context) error
	effect string
} {
	job := func(f func(context.Context, string) (arkhub.Job, error)) func(context.Context) error {
		return func(ctx context.Context) error { _, err := f(ctx, "orders"); return err }
	}
	return map[string]struct {
		do     func(context.Context) error
		effect string
	}{
		"checkpoint": {job(s.write.Checkpoint), "checkpoint orders"},
		"savepoint":  {job(s.write.Savepoint), "savepoint orders"},
		"start":      {job(s.write.Start), "start orders"},
		"stop":       {job(s.write.Stop), "stop orders"},
		"rollback":   {func(ctx context.Context) error { _, err := s.write.Rollback(ctx, "orders", 1); return err }, "version 1 orders"},
		"restart": {func(ctx context.Context) error {
			_, err := s.write.RestartStream(ctx, write.StreamWrite{Node: "node-a", Stream: "heartbeat", Key: "k-1"})
			return err
		}, "running node-a/heartbeat"},
	}
}

// Each request has its one effect, and its answer is the job or intent.
func TestEffects(t *testing.T) {
	for name, d := range newScene(t, arkhub.GenerationJobs).doings() {
		s := newScene(t, arkhub.GenerationJobs)
		before := len(s.hub.Effects())
		if err := s.doings()[name].do(t.Context()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got := s.hub.Effects()[before:]; len(got) != 1 || got[0] != d.effect {
			t.Errorf("%s: %v, want %s", name, got, d.effect)
		}
	}
	s := newScene(t, arkhub.GenerationJobs)
	j, err := s.write.Savepoint(t.Context(), "orders")
	if err != nil || !strings.HasPrefix(j.CheckpointID.Or(""), "savepoint-") {
		t.Fatalf("%+v, error %v", j, err)
	}
	l, err := s.read.Checkpoints(t.Context(), "orders")
	if err != nil || l.Items[0].ID != j.CheckpointID.Or("") || l.Items[0].Status != arkhub.RoundPending {
		t.Errorf("%+v, error %v: the answer names a round that was only begun", l, err)
	}
	if j, err := s.write.Rollback(t.Context(), "orders", 1); err != nil || j.Version.Or(0) != 1 || j.Convergence.Or("") != arkhub.ConvergencePendingRecovery || j.DesiredState.Or("") != arkhub.StateStopped {
		t.Errorf("%+v, error %v", j, err)
	}
}

// Whatever goes wrong on the way, a request is sent once, and whether it had its
// effect is never said where it is not known.
func TestAnswersThatAreLost(t *testing.T) {
	page := arkhubtest.Fault(func(w http.ResponseWriter, r *http.Request, hub http.Handler) bool {
		hub.ServeHTTP(httptest.NewRecorder(), r)
		return arkhubtest.Say(200, "text/html", "<html>login")(w, r, hub)
	})
	gateway := arkhubtest.Fault(func(w http.ResponseWriter, r *http.Request, hub http.Handler) bool {
		hub.ServeHTTP(httptest.NewRecorder(), r)
		return arkhubtest.Say(504, "text/plain", "upstream timed out")(w, r, hub)
	})
	for name, tt := range map[string]struct {
		fault   arkhubtest.Fault
		kind    fault.Kind
		effects int
	}{
		"the answer is lost":                {arkhubtest.LoseAnswer, fault.Unknown, 1},
		"the request is lost":               {arkhubtest.LoseRequest, fault.Unknown, 0},
		"half of the answer":                {arkhubtest.Cut(20), fault.Unknown, 1},
		"a proxy gives up after the hub":    {gateway, fault.Unknown, 1},
		"a page after the hub":              {page, fault.Unknown, 1},
		"an empty success":                  {arkhubtest.Say(200, "application/json", ""), fault.Unknown, 0},
		"a job of another name":             {arkhubtest.Say(200, "application/json", `{"job_id":"other"}`), fault.Unknown, 0},
		"the database fails":                {arkhubtest.Refuse(503, "repository_unavailable", "no database"), fault.Unknown, 0},
		"the storage of an older hub fails": {arkhubtest.Refuse(400, "agent_request_rejected", "Storage error"), fault.Unknown, 0},
		"a standby":                         {arkhubtest.Standby("http://leader:8080"), fault.Unreachable, 0},
		"a fenced leader":                   {arkhubtest.Refuse(503, "stale_leader", "fenced"), fault.Unreachable, 0},
		"forbidden":                         {arkhubtest.Refuse(403, "forbidden", "Operator is not authorized"), fault.Denied, 0},
		"an upgrade holds it":               {arkhubtest.Refuse(409, "orchestration_in_progress", "An upgrade"), fault.Busy, 0},
		"changed meanwhile":                 {arkhubtest.Refuse(412, "generation_conflict", "Expected 1"), fault.Drift, 0},
		"too many requests":                 {arkhubtest.Say(429, "", ""), fault.Unreachable, 0},
		"a redirect": {func(w http.ResponseWriter, r *http.Request, _ http.Handler) bool {
			http.Redirect(w, r, "http://elsewhere/", http.StatusTemporaryRedirect)
			return true
		}, fault.Unsupported, 0},
	} {
		for doing := range newScene(t, arkhub.GenerationJobs).doings() {
			s := newScene(t, arkhub.GenerationJobs)
			s.hub.Break(tt.fault)
			effects, requests := len(s.hub.Effects()), len(s.hub.Requests())
			err := s.doings()[doing].do(t.Context())
			if fault.KindOf(err) != tt.kind {
				t.Errorf("%s, %s: %v of kind %s, want %s", name, doing, err, fault.KindOf(err), tt.kind)
			}
			if sent := len(s.hub.Requests()) - requests; sent != 1 {
				t.Errorf("%s, %s: sent %d times", name, doing, sent)
			}
			if got := len(s.hub.Effects()) - effects; got != tt.effects {
				t.Errorf("%s, %s: %d effects, want %d", name, doing, got, tt.effects)
			}
			if err != nil && (strings.Contains(err.Error(), token) || fault.Of(err).Hint == "") {
				t.Errorf("%s, %s: %v, hint %q", name, doing, err, fault.Of(err).Hint)
			}
		}
	}
}

// A hub that is not there was sent nothing.
func TestNothingWasSent(t *testing.T) {
	c, err := write.New(arkhub.Options{Address: "http://" + port.Closed(t)})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Checkpoint(t.Context(), "orders"); fault.KindOf(err) != fault.Unreachable || !strings.Contains(err.Error(), "was not sent") {
		t.Errorf("%v", err)
	}
	if _, err := write.New(arkhub.Options{Address: "hub:8080"}); fault.KindOf(err) != fault.Config {
		t.Errorf("%v", err)
	}
}

// The same key is the same intent; another write under it is refused, and so is
// one that was decided on an older generation.
func TestStreamWritesAreGuarded(t *testing.T) {
	s := newScene(t, arkhub.GenerationJobs)
	w := write.StreamWrite{Node: "node-a", Stream: "heartbeat", Key: "k-1"}
	first, err := s.write.RestartStream(t.Context(), w)
	if err != nil {
		t.Fatal(err)
	}
	again, err := s.write.RestartStream(t.Context(), w)
	if err != nil || again.ID != first.ID {
		t.Errorf("%+v, error %v, want %+v", again, err, first)
	}
	w.Key, w.Generation = "k-2", arkhub.Known[uint64](0)
	if _, err := s.write.RestartStream(t.Context(), w); fault.KindOf(err) != fault.Drift {
		t.Errorf("%v", err)
	}
	w.Generation = first.Generation
	if next, err := s.write.RestartStream(t.Context(), w); err != nil || next.ID == first.ID {
		t.Errorf("%+v, error %v", next, err)
	}
	if got := strings.Join(s.hub.Effects(), ", "); strings.Count(got, "running node-a/heartbeat") != 2 {
		t.Errorf("%s", got)
	}
	w.Key = ""
	if _, err := s.write.RestartStream(t.Context(), w); fault.KindOf(err) != fault.Bug {
		t.Errorf("a write without a key: %v", err)
	}
}

// An upgrade is paused, resumed and cancelled where the hub keeps upgrades.
func TestUpgrades(t *testing.T) {
	s := newScene(t, arkhub.GenerationUpgrades)
	s.hub.SetUpgrade("orders", "u1", "saving_savepoint", 1, 2)
	for _, tt := range []struct {
		action write.UpgradeAction
		phase  string
	}{{write.Pause, "paused"}, {write.Resume, "saving_savepoint"}, {write.Cancel, "cancelled"}} {
		if u, err := s.write.Act(t.Context(), "orders", "u1", tt.action); err != nil || u.Phase.Or("") != tt.phase {
			t.Errorf("%s: %+v, error %v", tt.action, u, err)
		}
	}
	if _, err := s.write.Act(t.Context(), "orders", "u1", write.RollbackUpgrade); fault.KindOf(err) != fault.Drift {
		t.Errorf("%v", err)
	}
	if _, err := s.write.Act(t.Context(), "orders", "u2", write.Pause); fault.KindOf(err) != fault.NotFound {
		t.Errorf("%v", err)
	}
	older := newScene(t, arkhub.GenerationJobs)
	if _, err := older.write.Act(t.Context(), "orders", "u1", write.Pause); fault.KindOf(err) != fault.NotFound {
		t.Errorf("a hub that keeps none: %v", err)
	}
}
