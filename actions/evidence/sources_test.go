package evidence_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/recoverctl/recoverctl/actions/evidence"
	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/clock"
	"github.com/recoverctl/recoverctl/internal/fault"
)

// shelf is places with recovery points: one that can be read, by its address, or
// the error with which it can't.
type shelf struct {
	points map[string]error
	places map[string][]string
	broken map[string]error // of places
}

func (s shelf) Point(_ context.Context, uri string) (inspect.RecoveryPoint, error) {
	err, known := s.points[uri]
	if !known {
		err = fault.New(fault.NotFound, "read point", "%s does not exist", uri)
	}
	return inspect.RecoveryPoint{URI: uri, CheckpointID: 42}, err
}

func (s shelf) Points(ctx context.Context, uri string) (out []inspect.RecoveryPoint, err error) {
	for _, address := range s.places[uri] {
		point, err := s.Point(ctx, address)
		point.Err = err
		out = append(out, point)
	}
	return out, s.broken[uri]
}

type topics struct {
	dataErr, controlErr error
}

func (l topics) DataTopic(_ context.Context, name string) (inspect.DataTopic, error) {
	return inspect.DataTopic{Name: name, Exists: l.dataErr == nil}, l.dataErr
}

func (l topics) ControlTopic(_ context.Context, name string) (inspect.ControlTopic, error) {
	return inspect.ControlTopic{Name: name, Exists: l.controlErr == nil}, l.controlErr
}

type running struct{ err error }

func (r running) Live(context.Context, inspect.JobRef) (inspect.LiveState, error) {
	if r.err != nil {
		return inspect.LiveState{}, r.err
	}
	return inspect.LiveState{JobID: "4f3c", State: "RUNNING"}, nil
}

func TestEvidenceHoldsWhatCouldNotBeRead(t *testing.T) {
	control := "control"
	denied := fault.New(fault.Denied, "read", "no right")
	damaged := fault.New(fault.Corrupt, "read point", "the file ends early")
	store := shelf{
		points: map[string]error{"file:/ck/chk-42": nil, "file:/ck/chk-41": damaged, "s3://far/sp-1": denied, "file:/pins/sp-2": nil},
		places: map[string][]string{"file:/ck": {"file:/ck/chk-42", "file:/ck/chk-41"}},
		broken: map[string]error{"s3://gone": fault.New(fault.Unreachable, "list", "no answer")},
	}
	job := inspect.Job{
		Topic: "data", ControlTopic: &control, RecoveryPoints: []string{"file:/ck", "s3://gone"},
		Pinned: []string{"file:///ck/chk-42", "s3://far/sp-1", "file:/pins/sp-2", "file:/pins/lost"},
		Flink:  inspect.JobRef{REST: "http://jobmanager:8081"},
	}
	now := time.Date(2026, 3, 1, 14, 3, 0, 0, time.UTC)
	one := 1
	sources := evidence.Sources{Log: topics{controlErr: denied}, Points: store, Live: running{}, Clock: clock.NewFake(now), Job: job, Replication: &one}
	e, faults := sources.Gather(t.Context(), "file:/ck/chk-42")
	if len(faults) != 2 || !errors.Is(faults[0], denied) || !strings.Contains(faults[1].Error(), "no answer") {
		t.Errorf("faults: %v", faults)
	}
	if !e.Data.Exists || e.DataErr != nil || !errors.Is(e.ControlErr, denied) || e.Offline || e.Replication != &one || !e.At.Equal(now) {
		t.Errorf("topics: %+v", e)
	}
	if e.Own == nil || e.Own.URI != "file:/ck/chk-42" || e.OwnErr != nil {
		t.Errorf("own: %+v, %v", e.Own, e.OwnErr)
	}
	var got []string
	for _, p := range e.Points {
		text := p.URI
		if p.Err != nil {
			text += " (" + fault.KindOf(p.Err).String() + ")"
		}
		got = append(got, text)
	}
	if text := strings.Join(got, ", "); text != "file:/ck/chk-42, file:/ck/chk-41 (corrupt), s3://far/sp-1 (denied), file:/pins/sp-2" {
		t.Errorf("points: %s", text)
	}
	if len(e.Searched) != 2 || e.Searched[0].Found != 2 || e.Searched[0].Problem != "" || e.Searched[1].Problem != "no answer" {
		t.Errorf("searched: %+v", e.Searched)
	}
	if e.Live == nil || e.Live.State != "RUNNING" {
		t.Errorf("live: %+v", e.Live)
	}
}

func TestThePlansOwnPoint(t *testing.T) {
	damaged := fault.New(fault.Corrupt, "read point", "the file ends early")
	denied := fault.New(fault.Denied, "read point", "no right")
	for name, tt := range map[string]struct {
		source string
		err    error
		own    bool
		kind   fault.Kind // of OwnErr
	}{
		"it is there":                             {"file:/ck/chk-42", nil, true, 0},
		"it is damaged: its checks say so":        {"file:/ck/chk-42", damaged, true, 0},
		"it may not be read":                      {"/ck/chk-42", denied, false, fault.Denied},
		"it is not there":                         {"s3://flink/ck/chk-9", nil, false, fault.NotFound},
		"a plan from markers names no point":      {"markers of Tuesday", nil, false, 0},
		"a plan from markers names a point so so": {"chk-42", nil, false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			store := shelf{points: map[string]error{"file:/ck/chk-42": tt.err, "/ck/chk-42": tt.err}}
			sources := evidence.Sources{Points: store, Live: running{err: denied}, Clock: clock.System{}, Job: inspect.Job{Topic: "data"}}
			e, _ := sources.Gather(t.Context(), tt.source)
			if (e.Own != nil) != tt.own || (e.OwnErr != nil) != (tt.kind != 0) || tt.kind != 0 && fault.KindOf(e.OwnErr) != tt.kind {
				t.Errorf("own %+v, %v", e.Own, e.OwnErr)
			}
			if !e.Offline || e.Live != nil || len(e.Searched) != 0 {
				t.Errorf("%+v", e)
			}
		})
	}
}

// Nothing is read where nothing is set up to be read, and the evidence says so.
func TestNothingToReadFrom(t *testing.T) {
	job := inspect.Job{Topic: "data", RecoveryPoints: []string{"file:/ck"}, Pinned: []string{"file:/ck/chk-1"}, Flink: inspect.JobRef{REST: "http://jobmanager:8081"}}
	e, faults := evidence.Sources{Clock: clock.System{}, Job: job}.Gather(t.Context(), "file:/ck/chk-42")
	if !e.Offline || e.Own != nil || e.OwnErr != nil || len(e.Points)+len(e.Searched)+len(faults) != 0 || e.Live != nil {
		t.Errorf("%+v, %v", e, faults)
	}
}
