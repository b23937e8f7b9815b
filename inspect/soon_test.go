package inspect_test

import (
	"context"
	"testing"
	"time"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/clock"
)

// silent are brokers that say nothing until they are told to, or nobody waits
// any more.
type silent struct {
	inspect.LogStore
	answer <-chan struct{}
}

func (s silent) DataTopic(ctx context.Context, name string) (inspect.DataTopic, error) {
	select {
	case <-s.answer:
		return s.LogStore.DataTopic(ctx, name)
	case <-ctx.Done():
		return inspect.DataTopic{Name: name}, ctx.Err()
	}
}

// shown is an overview that came early.
type shown struct {
	overview inspect.JobOverview
	awaited  inspect.Awaited
	err      error
}

func soon(t *testing.T, in *inspect.Inspector, job inspect.Job, patience time.Duration, onEarly func()) (early []shown, o inspect.JobOverview, err error) {
	t.Helper()
	o, err = in.OverviewSoon(t.Context(), job, patience, func(o inspect.JobOverview, a inspect.Awaited, err error) {
		early = append(early, shown{o, a, err})
		onEarly()
	})
	return early, o, err
}

// Recovery points that are here do not wait for brokers that are silent: they are
// shown as unknown, and nothing is said about the log.
func TestPointsAreShownWhileTheBrokersAreSilent(t *testing.T) {
	control := "control"
	job := inspect.Job{Name: "a", Topic: "data", ControlTopic: &control, Partitions: 64, RecoveryPoints: []string{"ckpt"}}
	points := shelf{Places: map[string][]inspect.RecoveryPoint{"ckpt": {{URI: "file:/ckpt/chk-1", Kind: inspect.KindCheckpoint, CheckpointID: 1, Merged: inspect.Merged{Kind: inspect.MergedNone}}}}}
	fine := broker{Data: inspect.DataTopic{Name: "data", Exists: true, TopicID: "id", Partitions: []inspect.Partition{{ID: 0}}}}
	answer := make(chan struct{})
	in := inspect.New(points, silent{fine, answer}, clock.System{})
	early, o, err := soon(t, in, job, 5*time.Millisecond, func() { close(answer) })
	if len(early) != 1 || !early[0].awaited.Log || early[0].err != nil {
		t.Fatalf("early %+v", early)
	}
	first := early[0].overview
	if len(first.Points) != 1 || first.Points[0].Verdict != inspect.Unknown || first.TopicID != "" || len(first.Partitions) != 0 || first.Boundary != inspect.BoundaryUnread {
		t.Errorf("early: %+v", first)
	}
	rules := map[string]inspect.Severity{}
	for _, f := range first.Findings {
		rules[f.Rule] = f.Severity
	}
	if rules["brokers-awaited"] != inspect.SeverityWarning || rules["topic-unreadable"] != "" || rules["control-topic-unreadable"] != "" {
		t.Errorf("early findings %v", rules)
	}
	if o.TopicID != "id" || len(o.Points) != 1 || err != nil {
		t.Errorf("at last %+v, %v", o, err)
	}
	if early, _, _ := soon(t, in, job, time.Hour, func() {}); len(early) != 0 {
		t.Errorf("brokers that answered in time are said to be awaited: %+v", early)
	}
}

// Nobody who stopped waiting is shown anything.
func TestWhoStopsWaitingIsShownNothing(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	in := inspect.New(shelf{}, silent{broker{}, nil}, clock.System{})
	_, err := in.OverviewSoon(ctx, inspect.Job{Topic: "data"}, 0, func(o inspect.JobOverview, _ inspect.Awaited, _ error) { t.Errorf("shown %+v", o) })
	if err == nil {
		t.Error("no error")
	}
}
