package inspect_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/clock"
	"github.com/recoverctl/recoverctl/internal/fault"
)

// flink is a LiveStore that answers for one job.
type flink struct {
	state inspect.LiveState
	err   error
	asked *inspect.JobRef
}

func (f flink) Live(_ context.Context, ref inspect.JobRef) (inspect.LiveState, error) {
	if f.asked != nil {
		*f.asked = ref
	}
	return f.state, f.err
}

// inFlink is a job whose JobManager is known.
func inFlink(job inspect.Job) inspect.Job {
	job.Flink = inspect.RefOf("http://jobmanager:8081", job.Name)
	return job
}

func TestTheRunningJobBesideItsPoints(t *testing.T) {
	const job = "/data/ckpt/4f3c92d07be1458a96c0d1e2f3a4b5c6"
	taken := func(ago time.Duration) *time.Time { at := now.Add(-ago); return &at }
	path := func(s string) *string { return &s }
	completed := func(id int64, at string, ago time.Duration) inspect.LiveCheckpoint {
		return inspect.LiveCheckpoint{ID: id, Kind: inspect.KindCheckpoint, Status: inspect.CheckpointCompleted, Path: path(at), Triggered: taken(ago)}
	}
	below := point(43, time.Minute, inspect.Offsets{0: 100, 1: 200})
	below.URI = "/mnt/copy/4f3c92d07be1458a96c0d1e2f3a4b5c6/chk-43" // the same folder under another name
	fine := broker{
		Data:    data(inspect.LogRange{Start: 150, End: 200}, inspect.LogRange{Start: 250, End: 300}),
		Control: controlTopicOf(inspect.Offsets{0: 150, 1: 250}),
	}
	cause := "java.lang.IllegalStateException: below the committed boundary"
	restarts := int64(7)
	failing := inspect.LiveState{
		JobID: "4f3c92d07be1458a96c0d1e2f3a4b5c6", Name: "order-agent", State: "RESTARTING", Since: taken(4 * time.Minute), Restarts: &restarts,
		LastException: &cause, RestoredFrom: path("file:" + job + "/chk-43"),
		Checkpoints: &inspect.LiveCheckpoints{History: []inspect.LiveCheckpoint{completed(44, "file:"+job+"/chk-44", time.Minute), completed(43, "file:"+job+"/chk-43", 12*time.Minute)}},
		NextRestore: inspect.NextRestore{Source: inspect.SourcePoint, Path: path("file:" + job + "/chk-43")},
	}
	var asked inspect.JobRef
	store := shelf{Places: map[string][]inspect.RecoveryPoint{"ckpt": {below}}}
	in := inspect.New(store, fine, clock.NewFake(now)).WithLive(flink{state: failing, asked: &asked})
	o, err := in.Overview(context.Background(), inFlink(agentJob()))
	if err != nil {
		t.Fatal(err)
	}
	if asked != inFlink(agentJob()).Flink {
		t.Errorf("Flink was asked for %+v", asked)
	}
	if got, want := rules(o.Findings), "error:job-failing error:next-restore-rejected error:no-accepted-point warning:points-only-in-history"; got != want {
		t.Errorf("findings %q, want %q", got, want)
	}
	wantCause := "job order-agent is RESTARTING since 13:59Z: java.lang.IllegalStateException: below the committed boundary (restored from chk-43)"
	if got := o.Findings[0].Cause; got != wantCause {
		t.Errorf("%q, want %q", got, wantCause)
	}
	if got := o.Points[0].Taken; got.Source != inspect.TimeFromFlink || !got.Time.Equal(now.Add(-12*time.Minute)) {
		t.Errorf("chk-43 was taken %v (%s), want Flink's own time", got.Time, got.Source)
	}
	if len(o.OnlyInHistory) != 1 || o.OnlyInHistory[0] != "file:"+job+"/chk-44" {
		t.Errorf("only in the history: %q", o.OnlyInHistory)
	}
}

func TestFlinkThatDoesNotAnswerHidesNothing(t *testing.T) {
	fine := broker{
		Data:    data(inspect.LogRange{Start: 150, End: 200}, inspect.LogRange{Start: 250, End: 300}),
		Control: controlTopicOf(inspect.Offsets{0: 150, 1: 250}),
	}
	store := shelf{Places: map[string][]inspect.RecoveryPoint{"ckpt": {point(44, time.Minute, inspect.Offsets{0: 180, 1: 260})}}}
	in := inspect.New(store, fine, clock.NewFake(now)).WithLive(flink{err: fault.New(fault.Unreachable, "ask Flink", "no answer")})
	o, err := in.Overview(context.Background(), inFlink(agentJob()))
	if fault.KindOf(err) != fault.Unreachable || o.Live != nil || o.LiveSource != inspect.Unread {
		t.Errorf("live %v (%s), %v", o.Live, o.LiveSource, err)
	}
	if got := rules(o.Findings); got != "warning:live-unreadable" || o.Points[0].Verdict != inspect.Accepted {
		t.Errorf("findings %q, chk-44 %s", got, o.Points[0].Verdict)
	}
}

// Other jobs of the console may have a JobManager; this one has none.
func TestAJobWithoutAJobManagerIsNotAskedFor(t *testing.T) {
	fine := broker{
		Data:    data(inspect.LogRange{Start: 150, End: 200}, inspect.LogRange{Start: 250, End: 300}),
		Control: controlTopicOf(inspect.Offsets{0: 150, 1: 250}),
	}
	store := shelf{Places: map[string][]inspect.RecoveryPoint{"ckpt": {point(44, time.Minute, inspect.Offsets{0: 180, 1: 260})}}}
	in := inspect.New(store, fine, clock.NewFake(now)).WithLive(flink{err: fault.New(fault.Bug, "ask Flink", "asked")})
	o, err := in.Overview(context.Background(), agentJob())
	if err != nil || o.Live != nil || o.LiveSource != inspect.NotConnected || len(o.Findings) != 0 {
		t.Errorf("live %v (%s), findings %v, %v", o.Live, o.LiveSource, o.Findings, err)
	}
}

func TestAJobIsCalledByItsIDOrItsName(t *testing.T) {
	const id = "4f3c92d07be1458a96c0d1e2f3a4b5c6"
	for text, want := range map[string]inspect.JobRef{
		id:               {REST: "http://jm", ID: id},
		"order-agent":    {REST: "http://jm", Name: "order-agent"},
		id[:31]:          {REST: "http://jm", Name: id[:31]},
		id[:31] + "G":    {REST: "http://jm", Name: id[:31] + "G"},
		id + " (canary)": {REST: "http://jm", Name: id + " (canary)"},
		"":               {REST: "http://jm"},
	} {
		if got := inspect.RefOf("http://jm", text); got != want {
			t.Errorf("%q is %+v, want %+v", text, got, want)
		}
	}
}

// A failure whose message is known is explained beside the job, with the commands
// for this job; another is told as it is and no more.
func TestALiveFailureIsExplained(t *testing.T) {
	job := agentJob()
	job.Profile, job.Name = "orders", "order-agent"
	failing := inspect.LiveState{JobID: "4f3c92d07be1458a96c0d1e2f3a4b5c6", Name: "order-agent", State: "FAILED", RootCause: &inspect.RootCause{
		Outer: "java.lang.RuntimeException: Failed to rebuild state from Kafka", Type: "java.lang.IllegalStateException",
		Message: "Cannot restore Kafka action state for " + job.Topic + "-0 from offset 100 because the committed cleanup boundary is 150",
	}}
	overview := func() inspect.JobOverview {
		in := inspect.New(shelf{}, broker{Data: data(inspect.LogRange{End: 200})}, clock.NewFake(now)).WithLive(flink{state: failing})
		o, _ := in.Overview(context.Background(), inFlink(job)) // what else can't be read is not the matter here
		return o
	}
	found := slices.IndexFunc(overview().Findings, func(f inspect.Finding) bool { return f.Rule == "below-committed-boundary" })
	if found < 0 {
		t.Fatalf("%+v", overview().Findings)
	}
	f := overview().Findings[found]
	if f.Numbers["requested"] != int64(100) || f.Numbers["boundary"] != int64(150) || !strings.Contains(f.Cause, "older than a cleanup") || !strings.Contains(f.Next, "recoverctl inspect points -p orders -j order-agent") {
		t.Errorf("%+v", f)
	}
	failing.RootCause.Message, failing.RootCause.Outer = "action pay failed", ""
	for _, f := range overview().Findings {
		if strings.HasPrefix(f.Cause, "its last failure means") {
			t.Errorf("%+v", f)
		}
	}
}
