package inspect_test

import (
	"context"
	"reflect"
	"testing"
	"time"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/clock"
	"github.com/recoverctl/recoverctl/internal/fault"
)

// A point is judged alike wherever it lies: one in the job's places as the
// overview judges it.
func TestElsewhereIsJudgedAsInThePlaces(t *testing.T) {
	log := broker{
		Data:    data(inspect.LogRange{Start: 150, End: 200}, inspect.LogRange{Start: 250, End: 300}),
		Control: controlTopicOf(inspect.Offsets{0: 150, 1: 250}),
	}
	store := shelf{Places: map[string][]inspect.RecoveryPoint{"ckpt": {point(44, time.Minute, inspect.Offsets{0: 180, 1: 260}), point(12, time.Hour, inspect.Offsets{0: 100, 1: 260})}}}
	in := inspect.New(store, log, clock.NewFake(now))
	o, err := in.Overview(context.Background(), agentJob())
	if err != nil || len(o.Points) != 2 {
		t.Fatalf("%+v, %v", o.Points, err)
	}
	for _, want := range o.Points {
		got, err := in.Elsewhere(context.Background(), agentJob(), want.URI)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v\n%+v\nin the overview\n%+v", want.URI, err, got, want)
		}
	}
}

func TestElsewhere(t *testing.T) {
	far := point(7, time.Hour, inspect.Offsets{0: 100, 1: 260})
	far.URI = "s3://far/chk-7"
	denied := fault.New(fault.Denied, "read", "not for you")
	log := broker{
		Data:    data(inspect.LogRange{Start: 150, End: 200}, inspect.LogRange{Start: 250, End: 300}),
		Control: controlTopicOf(inspect.Offsets{0: 150, 1: 250}),
	}
	store := shelf{
		Places: map[string][]inspect.RecoveryPoint{"ckpt": {point(44, time.Minute, inspect.Offsets{0: 180, 1: 260})}, "far": {far}},
		Fails:  map[string]error{"s3://far/closed": denied},
	}
	tests := map[string]struct {
		uri     string
		verdict inspect.Verdict // "": nothing can be said
		id      int64
		kind    fault.Kind // of the error; Problem: none
		newer   string
	}{
		"in no place of the job": {"s3://far/chk-7", inspect.Rejected, 7, fault.Problem, "file:/ckpt/4f3c/chk-44"},
		"not there":              {"s3://far/chk-8", "", 0, fault.NotFound, ""},
		"not for this user":      {"s3://far/closed", inspect.Unknown, -1, fault.Denied, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := inspect.New(store, log, clock.NewFake(now)).Elsewhere(context.Background(), agentJob(), tt.uri)
			if (err != nil) != (tt.kind != fault.Problem) || err != nil && fault.KindOf(err) != tt.kind {
				t.Fatalf("%v", err)
			}
			if got.Verdict != tt.verdict || got.CheckpointID != tt.id {
				t.Errorf("%s, id %d", got.Verdict, got.CheckpointID)
			}
			if n := got.Validation.Newer; (n != nil) != (tt.newer != "") || n != nil && n.URI != tt.newer {
				t.Errorf("newer %+v, want %q", n, tt.newer)
			}
		})
	}
}
