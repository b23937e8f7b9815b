package point_test

import (
	"context"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/tuitest"
	"github.com/recoverctl/recoverctl/views/overview"
	"github.com/recoverctl/recoverctl/views/point"
	"github.com/recoverctl/recoverctl/views/viewtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	chk44     = viewtest.Checkpoints + "/chk-44"
	savepoint = viewtest.Savepoints + "/savepoint-4f3c-a1"
	denied    = viewtest.Savepoints + "/savepoint-9c41-77"
)

func screen(t *testing.T, source point.Source, uri string) *point.Screen {
	t.Helper()
	o, err := source.OverviewSoon(context.Background(), viewtest.Job(), 0, nil)
	return point.New(point.Options{
		Theme: viewtest.Plain(), Now: viewtest.Clock, Job: viewtest.Job(), Source: source, Point: uri,
		Reading: overview.Reading{Overview: o, Err: err, At: viewtest.Now},
	})
}

// fresh is the situation with a savepoint that holds no operator and no marker.
func fresh() *viewtest.Source {
	store := viewtest.Store()
	p := &store.Places[viewtest.Savepoints][0]
	p.Operators, p.Markers, p.Merged, p.Files = nil, nil, inspect.Merge(nil), inspect.Files{}
	s := &viewtest.Source{}
	s.Add(viewtest.Job().Name, store, viewtest.Log())
	return s
}

// damaged is the situation with a savepoint of which a file is gone, another is
// out of reach, and a marker can't be decoded.
func damaged() *viewtest.Source {
	store := viewtest.Store()
	p := &store.Places[viewtest.Savepoints][0]
	p.Checks = []inspect.Check{
		{ID: "M3", Severity: inspect.SeverityError, Message: "the metadata ends at byte 4,100 inside operator 2", Hint: "copy it again from where it was written"},
		{ID: "F6", Severity: inspect.SeverityWarning, Message: "1 of 41 files can't be reached from here"},
	}
	p.Files.Missing = []string{savepoint + "/7b1f0b4e-state"}
	p.Files.Unchecked = []string{"hdfs://nn/shared/91"}
	p.Markers[1].Problem = &inspect.Problem{Code: "marker-unreadable", Message: "the marker of subtask 1 ends at byte 12"}
	p.Merged = inspect.Merge(p.Markers[:1])
	store.Fails = map[string]error{savepoint: fault.New(fault.Corrupt, "read recovery point", "%s/_metadata is damaged", savepoint)}
	s := &viewtest.Source{}
	s.Add(viewtest.Job().Name, store, viewtest.Log())
	return s
}

// keyed is the situation with a savepoint whose keyed state was read, while two of
// its keys were in flight, and beside which a file lies that nothing references.
func keyed() *viewtest.Source {
	store := viewtest.Store()
	p := &store.Places[viewtest.Savepoints][0]
	number := func(n int64) *int64 { return &n }
	text := func(s string) *string { return &s }
	sequence := func(key string, subtask int, started, completed int64, tasks *inspect.KeyedList) inspect.KeySequence {
		return inspect.KeySequence{Key: inspect.CallKey{Text: text(key)}, Type: "string", KeyGroup: 116, Subtask: subtask,
			MessageSequenceNumber: number(started), LastCompletedSequenceNumber: number(completed), ActionTasks: tasks}
	}
	p.Operators[1].Keyed = &inspect.KeyedState{
		Backend: inspect.BackendCanonical, Subtasks: 2, Bytes: 10_400, KeyType: "string", Decoded: inspect.DecodedAll, Keys: number(3), Open: number(2),
		States: []inspect.KeyedStateEntry{
			{Name: "actionTasks", Kind: "LIST", Entries: number(1), Bytes: number(445)},
			{Name: "messageSequenceNumber", Kind: "VALUE", Entries: number(3), Bytes: number(54)},
		},
		Sequences: []inspect.KeySequence{
			sequence("alice", 1, 17, 16, &inspect.KeyedList{Elements: number(1), Bytes: number(445)}),
			sequence("東京", 0, 4, 3, nil),
			sequence("bob", 1, 2, 2, nil),
		},
	}
	p.Operators[1].Processing = []inspect.ProcessingKey{{Subtask: 1, Type: "string", Text: text("alice")}, {Subtask: 0, Type: "org.apache.flink.types.Row"}}
	p.Files.Unreferenced = &inspect.Unreferenced{Files: 1, Bytes: 4096, List: []inspect.UnreferencedFile{{URI: savepoint + "/3f6c-left", Bytes: 4096}}}
	s := &viewtest.Source{}
	s.Add(viewtest.Job().Name, store, viewtest.Log())
	return s
}

func TestFrames(t *testing.T) {
	of := func(source *viewtest.Source, uri string) func() tui.Screen {
		return func() tui.Screen { return screen(t, source, uri) }
	}
	viewtest.Goldens(t, map[string]viewtest.Case{
		"loading":   {Screen: of(viewtest.Incident(), chk44), Busy: true},
		"empty":     {Screen: of(fresh(), savepoint)},
		"partial":   {Screen: of(damaged(), savepoint)},
		"failed":    {Screen: of(viewtest.Incident(), denied)},
		"full":      {Screen: of(viewtest.Incident(), chk44)},
		"full-end":  {Screen: of(viewtest.Incident(), chk44), Keys: []string{"G"}},
		"rejected":  {Screen: of(viewtest.Incident(), savepoint)},
		"keyed":     {Screen: of(keyed(), savepoint)},
		"keyed-end": {Screen: of(keyed(), savepoint), Keys: []string{"G"}},
		"check":     {Screen: of(viewtest.Incident(), savepoint), Keys: []string{"v"}},
	})
}

// Every partition's marker is in the page, of every subtask and merged.
func TestNoOffsetIsLeftOut(t *testing.T) {
	d := tuitest.New(t, viewtest.Options(viewtest.Plain()), screen(t, viewtest.Incident(), chk44), 80, 24)
	page := d.Frame()
	for range 12 {
		d.Press("pgdown")
		page += d.Frame()
	}
	for _, want := range []string{
		"           0       3,910    4,120          210", // merged marker and window of partition 0
		"          63       4,096    4,293          197",
		"0:3,910", "63:4,096", // subtask 0
		"0:3,917", "63:4,103", // subtask 1
		"Referenced files: 41, 18.2 MiB",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("%q is not in the page, which ends in\n%s", want, d.Frame())
		}
	}
}

// A point that is gone by now says so, and not that it is empty.
func TestAPointThatIsGone(t *testing.T) {
	source := viewtest.Incident()
	s := screen(t, source, chk44)
	source.Add(viewtest.Job().Name, viewtest.Shelf{}, viewtest.Log())
	d := tuitest.New(t, viewtest.Options(viewtest.Plain()), s, 80, 24)
	for _, want := range []string{"chk-44", "no such file or directory"} {
		if !strings.Contains(d.Frame(), want) {
			t.Errorf("%q is not on the screen:\n%s", want, d.Frame())
		}
	}
}

// What a check only tells stands with the facts: it neither hides that nothing is
// wrong nor stands before what is.
func TestChecksThatFailComeFirst(t *testing.T) {
	d := tuitest.New(t, viewtest.Options(viewtest.Plain()), screen(t, viewtest.Incident(), chk44), 80, 24)
	ok, fact := strings.Index(d.Frame(), "no check failed"), strings.Index(d.Frame(), "written by Flink 2.1 to 2.3")
	if ok < 0 || fact < ok {
		t.Errorf("a sound point:\n%s", d.Frame())
	}
	store := viewtest.Store()
	p := &store.Places[viewtest.Checkpoints][0]
	p.Checks = append(p.Checks,
		inspect.Check{ID: "P7", Severity: inspect.SeverityWarning, Message: "the operator has no uid"},
		inspect.Check{ID: "F1", Severity: inspect.SeverityError, Message: "a state file is gone"})
	source := &viewtest.Source{}
	source.Add(viewtest.Job().Name, store, viewtest.Log())
	d = tuitest.New(t, viewtest.Options(viewtest.Plain()), screen(t, source, chk44), 80, 24)
	gone, uid := strings.Index(d.Frame(), "✖ F1"), strings.Index(d.Frame(), "! P7")
	fact = strings.Index(d.Frame(), "V1")
	if gone < 0 || uid < gone || fact < uid || strings.Contains(d.Frame(), "no check failed") {
		t.Errorf("a damaged point:\n%s", d.Frame())
	}
}
