package compare_test

import (
	"context"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/tui/tuitest"
	"github.com/recoverctl/recoverctl/views/compare"
	"github.com/recoverctl/recoverctl/views/overview"
	"github.com/recoverctl/recoverctl/views/viewtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	chk44     = viewtest.Checkpoints + "/chk-44"
	chk43     = viewtest.Checkpoints + "/chk-43"
	chk12     = viewtest.Checkpoints + "/chk-12"
	savepoint = viewtest.Savepoints + "/savepoint-4f3c-a1"
	denied    = viewtest.Savepoints + "/savepoint-9c41-77"
)

func screen(t *testing.T, th theme.Theme, source *viewtest.Source, left, right string) *compare.Screen {
	t.Helper()
	o, err := source.Overview(context.Background(), viewtest.Job())
	return compare.New(compare.Options{Theme: th, Source: source, Reading: overview.Reading{Overview: o, Err: err, At: viewtest.Now}, Left: left, Right: right})
}

// changed is the situation with a savepoint that has another operator, fewer
// partitions in its marker, and a file that is gone.
func changed() *viewtest.Source {
	store := viewtest.Store()
	p := &store.Places[viewtest.Savepoints][0]
	p.Operators = append([]inspect.Operator{}, p.Operators...)
	p.Operators[0].Parallelism = 4
	p.Operators = append(p.Operators, inspect.Operator{ID: "cafe0000cafe0000cafe0000cafe0000", Name: "mailer", Parallelism: 1, MaxParallelism: 128})
	for i := range p.Markers {
		delete(p.Markers[i].Offsets, 63)
	}
	p.Merged = inspect.Merge(p.Markers)
	p.Files.Missing = []string{savepoint + "/7b1f-state"}
	s := &viewtest.Source{}
	s.Add(viewtest.Job().Name, store, viewtest.Log())
	return s
}

func gone() *viewtest.Source {
	s := viewtest.Incident()
	store := viewtest.Store()
	store.Fails = map[string]error{chk12: fault.New(fault.Unreachable, "read recovery point", "the bucket does not answer").WithHint("check the network")}
	store.Places[viewtest.Checkpoints] = store.Places[viewtest.Checkpoints][:3]
	s.Add(viewtest.Job().Name, store, viewtest.Log())
	return s
}

func TestFrames(t *testing.T) {
	of := func(source *viewtest.Source, left, right string) func() tui.Screen {
		return func() tui.Screen { return screen(t, viewtest.Plain(), source, left, right) }
	}
	viewtest.Goldens(t, map[string]viewtest.Case{
		"loading": {Screen: of(viewtest.Incident(), chk44, chk43), Busy: true},
		"full":    {Screen: of(viewtest.Incident(), chk44, savepoint)},
		"changed": {Screen: of(changed(), chk44, savepoint)},
		"same":    {Screen: of(viewtest.Incident(), chk44, chk44)},
		"partial": {Screen: of(viewtest.Incident(), chk44, denied)},
		"failed":  {Screen: of(gone(), chk44, chk12)},
		"end":     {Screen: of(viewtest.Incident(), chk44, savepoint), Keys: []string{"G"}},
	})
}

// What differs is said with both values, and what is the same is not among it.
func TestWhatDiffers(t *testing.T) {
	tests := map[string]struct {
		source      *viewtest.Source
		left, right string
		want        []string // in this order
	}{
		"verdict and span": {viewtest.Incident(), chk44, savepoint, []string{
			"WHAT DIFFERS", "accepted", "REJECTED", "a span of 12,480 in 64 partitions", "nothing: it is rejected",
			"PARTITION", "3,910", "100", "-3,810", "The same in both", "metadata version 6",
		}},
		"operators, files, partitions": {changed(), chk44, savepoint, []string{
			"41 files", "41 files, 1 MISSING", "2 subtasks, max 128; SourceReaderState", "4 subtasks, max 128; SourceReaderState", "not in it", "1 subtask, max 128", "63", "–",
		}},
		"the same point": {viewtest.Incident(), chk44, chk44, []string{"the same on 64 partitions: 0-63", "The same in both", "verdict accepted"}},
		"one can't be read": {gone(), chk44, chk12, []string{
			"chk-12 could not be read: the bucket does not answer", "check the network", "verdict", "accepted", "not known", "chk-12: not known, or it has no marker", "nothing that is known",
		}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			d := tuitest.New(t, viewtest.Options(viewtest.Plain()), screen(t, viewtest.Plain(), tt.source, tt.left, tt.right), 200, 120)
			rest := d.Frame()
			for _, want := range tt.want {
				_, after, ok := strings.Cut(rest, want)
				if !ok {
					t.Fatalf("%q is missing or not in its place:\n%s", want, d.Frame())
				}
				rest = after
			}
		})
	}
}

// Swapped, each value stands under its own point, also where a read was under
// way.
func TestSwap(t *testing.T) {
	d := tuitest.NewBusy(t, viewtest.Options(viewtest.Plain()), screen(t, viewtest.Plain(), viewtest.Incident(), chk44, savepoint), 120, 120)
	d.Press("=")
	want := tuitest.New(t, viewtest.Options(viewtest.Plain()), screen(t, viewtest.Plain(), viewtest.Incident(), savepoint, chk44), 120, 120).Frame()
	if d.Frame() != want {
		t.Errorf("swapped:\n%s\nwant\n%s", d.Frame(), want)
	}
}

func TestHostileBytesAndASCII(t *testing.T) {
	source, job := viewtest.HostileIncident()
	o, err := source.Overview(context.Background(), job)
	uri := o.Points[0].URI
	for _, keys := range [][]string{{}, {"G"}, {"="}} {
		d := tuitest.New(t, viewtest.Options(viewtest.Plain()), compare.New(compare.Options{
			Theme: viewtest.Plain(), Source: source, Reading: overview.Reading{Overview: o, Err: err, At: viewtest.Now}, Left: uri, Right: uri + "x",
		}), 80, 24)
		d.Press(keys...)
		viewtest.Harmless(t, d)
		ascii := viewtest.ASCIITheme()
		d = tuitest.New(t, viewtest.Options(ascii), screen(t, ascii, changed(), chk44, savepoint), 80, 24)
		d.Press(keys...)
		viewtest.ASCII(t, d)
	}
}

// Points of a job on Fluss are compared by its buckets.
func TestPointsOfAJobOnFluss(t *testing.T) {
	source := viewtest.Incident()
	o, err := source.Overview(context.Background(), viewtest.Job())
	o.Store = inspect.StoreFluss
	s := compare.New(compare.Options{Theme: viewtest.Plain(), Source: source, Reading: overview.Reading{Overview: o, Err: err, At: viewtest.Now}, Left: chk44, Right: savepoint})
	frame := tuitest.New(t, viewtest.Options(viewtest.Plain()), s, 200, 120).Frame()
	for _, want := range []string{"a span of 12,480 in 64 buckets", "BUCKET"} {
		if !strings.Contains(frame, want) {
			t.Errorf("%q is missing:\n%s", want, frame)
		}
	}
	if strings.Contains(frame, "PARTITION") || strings.Contains(frame, "64 partitions") {
		t.Errorf("it speaks of partitions:\n%s", frame)
	}
}
