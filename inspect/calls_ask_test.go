package inspect_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/clock"
	"github.com/recoverctl/recoverctl/internal/fault"
)

// scanned is a broker whose topic holds one pending call at offset 170 of
// partition 0. It notes what it was asked.
type scanned struct {
	broker
	asked *[]inspect.CallQuestion
	err   error
}

func (s scanned) ReadCalls(_ context.Context, _ inspect.DataTopic, q inspect.CallQuestion, watch func(inspect.CallUpdate)) (inspect.DurableCalls, error) {
	*s.asked = append(*s.asked, q)
	out := inspect.DurableCalls{Actions: []inspect.ActionCalls{}, Counts: inspect.PendingCalls{Pending: 1}, Findings: []inspect.Finding{}}
	if s.err != nil && fault.KindOf(s.err) == fault.Unreachable {
		return out, s.err
	}
	out.Scanned.Records, out.Scanned.Partial = 140, s.err != nil
	for _, p := range q.Points {
		at, known := p.Offsets[0]
		counts := inspect.CallCounts{Unknown: 1}
		switch {
		case !known:
		case at <= 170:
			counts = inspect.CallCounts{Reconciler: 1}
		default:
			counts = inspect.CallCounts{RunsAgain: 1}
		}
		pc := inspect.PointCalls{Point: p.Point, Calls: counts}
		if q.Plan != nil {
			pc.Later = &inspect.CallCounts{RunsAgain: 1}
		}
		out.Points = append(out.Points, pc)
	}
	if watch != nil {
		watch(inspect.CallUpdate{Progress: inspect.CallProgress{Pass: 1, Span: 140, Total: 150}})
	}
	return out, s.err
}

func incidentWithCalls(err error) (shelf, scanned) {
	store := shelf{Places: map[string][]inspect.RecoveryPoint{"ckpt": {
		point(44, 2*time.Minute, inspect.Offsets{0: 180, 1: 260}),
		point(42, 22*time.Minute, inspect.Offsets{0: 150, 1: 250}),
		point(12, 24*time.Hour, inspect.Offsets{0: 100, 1: 200}),
	}}}
	return store, scanned{err: err, asked: &[]inspect.CallQuestion{}, broker: broker{
		Data:    data(inspect.LogRange{Start: 100, End: 200}, inspect.LogRange{Start: 250, End: 300}),
		Control: control(operation(0, "file:/ckpt/4f3c/chk-42", inspect.StatusCommitted, inspect.Offsets{0: 150, 1: 250})),
	}}
}

// One scan serves every recovery point of an overview. Those that are rejected
// make no call and are not asked about.
func TestOneScanServesEveryRecoveryPoint(t *testing.T) {
	store, log := incidentWithCalls(nil)
	in := inspect.New(store, log, clock.NewFake(now))
	o, err := in.Overview(t.Context(), agentJob())
	if err != nil || o.PendingCalls != nil || o.Scan != nil || o.Points[0].RunsAgain != nil || len(*log.asked) != 0 {
		t.Fatalf("unasked, calls are %v of scan %v, %v", o.PendingCalls, o.Scan, err)
	}
	o, err = in.CountingCalls(nil).Overview(t.Context(), agentJob())
	if err != nil || len(*log.asked) != 1 {
		t.Fatalf("%d scans, %v", len(*log.asked), err)
	}
	if asked := (*log.asked)[0].Points; len(asked) != 2 || asked[0].Point != o.Points[0].URI || asked[1].Point != o.Points[1].URI || asked[1].Offsets[0] != 150 {
		t.Errorf("asked about %+v", asked)
	}
	if *o.PendingCalls != (inspect.PendingCalls{Pending: 1}) || *o.Scan != (inspect.Scan{Done: 150, Total: 150, Records: 140}) {
		t.Errorf("pending %+v of scan %+v", *o.PendingCalls, *o.Scan)
	}
	if n := o.Points[0].RunsAgain; n == nil || *n != 1 {
		t.Errorf("from chk-44 %v run again", n)
	}
	if n := o.Points[1].RunsAgain; n == nil || *n != 0 || *o.Points[1].Calls != (inspect.CallCounts{Reconciler: 1}) {
		t.Errorf("from chk-42 %v run again", n)
	}
	if o.Points[2].RunsAgain != nil || o.Points[2].Calls != nil {
		t.Errorf("from the rejected point %v run again", o.Points[2].RunsAgain)
	}
	if got, want := rules(o.Findings), "error:in-force-not-trimmed warning:calls-run-again"; got != want {
		t.Errorf("findings %q, want %q", got, want)
	}
	if got, want := o.Findings[1].Cause, `1 call would run again from "chk-44"`; got != want {
		t.Errorf("it says %q, want %q", got, want)
	}
	if n := o.Points[0].Validation.Older; n == nil || n.RunsAgain == nil || *n.RunsAgain != 0 {
		t.Errorf("the older neighbour is %+v", n)
	}
	list, err := in.CountingCalls(nil).Points(t.Context(), agentJob(), "")
	if err != nil || *list.Points[0].RunsAgain != 1 || *list.Points[1].RunsAgain != 0 {
		t.Errorf("the list says %+v, %v", list.Points, err)
	}
}

// Numbers of a part of the topic would pass for those of the whole: they are told
// by a finding, and nowhere else.
func TestAScanThatIsNotWholeGivesNoNumbers(t *testing.T) {
	lost := fault.New(fault.Denied, "read records", "partition 1 may not be read").WithRef("partition 1")
	store, log := incidentWithCalls(lost)
	in := inspect.New(store, log, clock.NewFake(now)).CountingCalls(nil)
	o, err := in.Overview(t.Context(), agentJob())
	if fault.KindOf(err) != fault.Denied {
		t.Errorf("the fault is %v", err)
	}
	if o.PendingCalls != nil || o.Points[0].RunsAgain != nil || *o.Scan != (inspect.Scan{Done: 140, Total: 150, Records: 140, Partial: true}) {
		t.Errorf("pending %v, runs again %v, scan %+v", o.PendingCalls, o.Points[0].RunsAgain, *o.Scan)
	}
	if got, want := rules(o.Findings), "error:in-force-not-trimmed error:calls-partly-scanned"; got != want {
		t.Fatalf("findings %q, want %q", got, want)
	}
	if got, want := o.Findings[1].Cause, "not all of the topic was scanned for durable calls: 140 records of an offset span of 150, with at least 1 pending and 0 overwritten: partition 1 may not be read"; got != want {
		t.Errorf("it says %q, want %q", got, want)
	}
	v, _, err := in.Validate(t.Context(), agentJob(), "file:/ckpt/4f3c/chk-44")
	if err != nil || v.Calls != nil || !strings.Contains(strings.Join(v.Notes, " "), "Not all of the topic was scanned") {
		t.Errorf("the validation says %+v with %q, %v", v.Calls, v.Notes, err)
	}
}

func TestValidationsCountCalls(t *testing.T) {
	store, log := incidentWithCalls(nil)
	in := inspect.New(store, log, clock.NewFake(now)).CountingCalls(nil)
	v, faults, err := in.Validate(t.Context(), agentJob(), "file:/ckpt/4f3c/chk-44")
	if err != nil || len(faults) > 0 || v.Calls == nil || *v.Calls != (inspect.CallCounts{RunsAgain: 1}) {
		t.Fatalf("%+v, %v, %v", v.Calls, faults, err)
	}
	if !strings.Contains(strings.Join(v.Notes, " "), "1 call would run again.") || v.Older == nil || *v.Older.RunsAgain != 0 {
		t.Errorf("notes %q, older %+v", v.Notes, v.Older)
	}
	if len(*log.asked) != 1 {
		t.Errorf("%d scans", len(*log.asked))
	}
	// A point elsewhere is asked about beside the job's own.
	store.Places["elsewhere"] = []inspect.RecoveryPoint{point(50, 0, inspect.Offsets{0: 160, 1: 260})}
	if v, _, err = in.Validate(t.Context(), agentJob(), "file:/ckpt/4f3c/chk-50"); err != nil || *v.Calls != (inspect.CallCounts{Reconciler: 1}) {
		t.Errorf("%+v, %v", v.Calls, err)
	}
	// A rejected restore makes no call.
	if v, _, err = in.Validate(t.Context(), agentJob(), "file:/ckpt/4f3c/chk-12"); err != nil || v.Verdict != inspect.Rejected || v.Calls != nil {
		t.Errorf("%s with %+v, %v", v.Verdict, v.Calls, err)
	}
	markers := point(60, 0, inspect.Offsets{0: 190, 1: 260}).Markers
	if v, faults := in.ValidateMarkers(t.Context(), agentJob(), "a file", markers); len(faults) > 0 || *v.Calls != (inspect.CallCounts{RunsAgain: 1}) {
		t.Errorf("%+v, %v", v.Calls, faults)
	}
	// With an open plan the same scan also says what runs again after it.
	plan := inspect.Prospect{PlanID: "p", Targets: inspect.Offsets{0: 180, 1: 260}, Leaves: func(q inspect.RestoreQuestion) (inspect.RestoreQuestion, *inspect.Problem) { return q, nil }}
	if v, _, err = in.WithProspect(plan).Validate(t.Context(), agentJob(), "file:/ckpt/4f3c/chk-42"); err != nil || v.Later.Calls == nil || v.Later.Calls.RunsAgain != 1 || v.Calls.RunsAgain != 0 {
		t.Errorf("now %+v, later %+v, %v", v.Calls, v.Later, err)
	}
}

// Outcomes are said for the points asked for, else for all that are not rejected.
// One that can't be read, and one of another topic, has no marker and says why.
func TestCallsAreAskedAboutPoints(t *testing.T) {
	store, log := incidentWithCalls(nil)
	denied := fault.New(fault.Denied, "read", "no access to the bucket")
	other := point(70, 0, inspect.Offsets{0: 150, 1: 260})
	id := "AAAAAAAAAAAAAAAAAAAAAQ"
	other.Markers[0].TopicID = &id
	other.Merged = inspect.Merge(other.Markers)
	fresh := point(71, 0, nil)
	fresh.Markers, fresh.Merged = nil, inspect.Merge(nil)
	store.Places["elsewhere"] = []inspect.RecoveryPoint{other, fresh}
	store.Fails = map[string]error{"s3://closed/chk-9": denied}
	in := inspect.New(store, log, clock.NewFake(now))
	calls, faults, err := in.Calls(t.Context(), agentJob(), inspect.CallAsk{}, nil)
	if err != nil || len(faults) > 0 || len(calls.Points) != 2 {
		t.Fatalf("%+v, %v, %v", calls.Points, faults, err)
	}
	named := []string{"s3://closed/chk-9", other.URI, fresh.URI, "file:/ckpt/4f3c/chk-12"}
	calls, faults, err = in.Calls(t.Context(), agentJob(), inspect.CallAsk{Points: named}, nil)
	if err != nil || len(faults) != 1 || len(calls.Points) != 4 {
		t.Fatalf("%+v, %v, %v", calls.Points, faults, err)
	}
	points := (*log.asked)[1].Points
	if points[0].Offsets != nil || !strings.Contains(points[0].Why, "no access to the bucket") {
		t.Errorf("the closed one: %+v", points[0])
	}
	if points[1].Offsets != nil || !strings.Contains(points[1].Why, id) {
		t.Errorf("that of another topic: %+v", points[1])
	}
	if points[2].Offsets[0] != 200 || points[2].Offsets[1] != 300 {
		t.Errorf("one without markers begins at %v, want the log ends", points[2].Offsets)
	}
	if points[3].Offsets[0] != 100 {
		t.Errorf("a rejected one that was named: %+v", points[3])
	}
	if _, _, err = in.Calls(t.Context(), agentJob(), inspect.CallAsk{Points: []string{"file:/nowhere"}}, nil); fault.KindOf(err) != fault.NotFound {
		t.Errorf("a point that is not there: %v", err)
	}
	if _, _, err = in.Calls(t.Context(), agentJob(), inspect.CallAsk{FromMarker: "file:/ckpt/4f3c/chk-42", All: true}, nil); err != nil {
		t.Error(err)
	}
	if q := (*log.asked)[2]; q.From[0] != 150 || q.From[1] != 250 || !q.All {
		t.Errorf("asked %+v", q)
	}
	if _, _, err = in.Calls(t.Context(), agentJob(), inspect.CallAsk{FromMarker: other.URI}, nil); fault.KindOf(err) != fault.Problem {
		t.Errorf("beginning at another topic's marker: %v", err)
	}
}

func TestCallsThatCannotBeScanned(t *testing.T) {
	store, log := incidentWithCalls(fault.New(fault.Unreachable, "read records", "no answer"))
	if _, _, err := inspect.New(store, log, clock.NewFake(now)).Calls(t.Context(), agentJob(), inspect.CallAsk{}, nil); fault.KindOf(err) != fault.Unreachable {
		t.Errorf("%v, want unreachable", err)
	}
	if _, _, err := inspect.New(store, log.broker, clock.NewFake(now)).Calls(t.Context(), agentJob(), inspect.CallAsk{}, nil); fault.KindOf(err) != fault.Unsupported {
		t.Errorf("%v, want unsupported", err)
	}
	log.Data.Exists = false
	if _, _, err := inspect.New(store, log, clock.NewFake(now)).Calls(t.Context(), agentJob(), inspect.CallAsk{}, nil); fault.KindOf(err) != fault.NotFound {
		t.Errorf("%v, want not found", err)
	}
}
