package operations_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/tui/tuitest"
	"github.com/recoverctl/recoverctl/views/operations"
	"github.com/recoverctl/recoverctl/views/overview"
	"github.com/recoverctl/recoverctl/views/viewtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func opened(t *testing.T, th theme.Theme, source *viewtest.Source, job inspect.Job) *operations.Screen {
	t.Helper()
	o, err := source.Overview(context.Background(), job)
	return operations.New(operations.Options{Theme: th, Now: viewtest.Clock, Job: job, Source: source, Reading: overview.Reading{Overview: o, Err: err, At: viewtest.Now}})
}

func with(control inspect.ControlTopic, err error) *viewtest.Source {
	log := viewtest.Log()
	log.Control, log.ControlErr = control, err
	s := &viewtest.Source{}
	s.Add(viewtest.Job().Name, viewtest.Store(), log)
	return s
}

// two is a control topic with a cleanup that was applied and the one of the
// situation.
func two() *viewtest.Source {
	return with(viewtest.Control(
		viewtest.Record(4, inspect.StatusApplied, "chk-12", viewtest.Earlier(), 3*time.Hour),
		viewtest.Committed(7, inspect.StatusCommitted),
	), nil)
}

// crossed is a history of two cleanups of which neither is at or past the other.
func crossed() *viewtest.Source {
	offsets := viewtest.Earlier()
	offsets[63] += 1000
	return with(viewtest.Control(viewtest.Record(4, inspect.StatusApplied, "chk-12", offsets, 3*time.Hour), viewtest.Committed(7, inspect.StatusCommitted)), nil)
}

func erased() *viewtest.Source {
	record := viewtest.Committed(0, inspect.StatusCommitted)
	record.Offset, record.Value = 1, nil
	return with(viewtest.Control(viewtest.Committed(0, inspect.StatusCommitted), record), nil)
}

// hidden is the situation with an open transaction on the control topic.
func hidden() *viewtest.Source {
	control := viewtest.Control(viewtest.Committed(0, inspect.StatusCommitted))
	control.LogEnd = 3
	return with(control, nil)
}

func TestFrames(t *testing.T) {
	of := func(source *viewtest.Source) func() tui.Screen {
		return func() tui.Screen { return opened(t, viewtest.Plain(), source, viewtest.Job()) }
	}
	none := viewtest.Job()
	none.ControlTopic = nil
	viewtest.Goldens(t, map[string]viewtest.Case{
		"loading":    {Screen: of(two()), Busy: true},
		"none":       {Screen: func() tui.Screen { return opened(t, viewtest.Plain(), viewtest.Incident(), none) }},
		"failed":     {Screen: of(with(inspect.ControlTopic{}, viewtest.Gone()))},
		"empty":      {Screen: of(with(viewtest.Control(), nil))},
		"missing":    {Screen: of(with(inspect.ControlTopic{Name: "action-state-control"}, nil))},
		"full":       {Screen: of(two())},
		"boundary":   {Screen: of(two()), Keys: []string{"tab", "j"}},
		"scanned":    {Screen: func() tui.Screen { return scanned(t, below()) }},
		"crossed":    {Screen: of(crossed())},
		"erased":     {Screen: of(erased())},
		"partial":    {Screen: of(hidden())},
		"detail":     {Screen: of(two()), Keys: []string{"enter"}},
		"detail-end": {Screen: of(two()), Keys: []string{"j", "enter", "G"}},
		"filtered":   {Screen: of(two()), Keys: []string{"/", "!", "C", "O", "M", "enter"}},
	})
}

// What is wrong with a history is said by both readers, with what to do, and
// what erases proof with the copy to keep.
func TestProblemsSayWhatToDo(t *testing.T) {
	tests := map[string]struct {
		source *viewtest.Source
		want   []string
	}{
		"crossed":  {crossed(), []string{"a restore REFUSES this history", "can't be ordered", "new control topic", "so does the reader of a next cleanup: none can be applied"}},
		"erased":   {erased(), []string{"a restore REFUSES this history", "tombstone for cleanup", "keep a copy of the topic now", "Keep a copy of the control topic now", "not read any further"}},
		"empty":    {with(viewtest.Control(), nil), []string{"holds no cleanup", "the reader of a next cleanup accepts it, as one without any boundary", "plan and apply a first one"}},
		"hidden":   {hidden(), []string{"a restore accepts this history", "An open transaction on control topic", "not seen by any reader until it ends"}},
		"unread":   {with(inspect.ControlTopic{}, viewtest.Gone()), []string{"could not be read: what is in force is not known", "no broker answers", "check the network"}},
		"no topic": {with(inspect.ControlTopic{Name: "action-state-control"}, nil), []string{"does not exist", "bring back a copy before any restore"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			d := tuitest.New(t, viewtest.Options(viewtest.Plain()), opened(t, viewtest.Plain(), tt.source, viewtest.Job()), 120, 40)
			frame := strings.Join(strings.Fields(d.Frame()), " ")
			for _, want := range tt.want {
				if !strings.Contains(frame, want) {
					t.Errorf("%q is not on the screen:\n%s", want, d.Frame())
				}
			}
		})
	}
}

// The detail names every recovery point with what the cleanup means for it.
func TestDetailNamesThePoints(t *testing.T) {
	d := tuitest.New(t, viewtest.Options(viewtest.Plain()), opened(t, viewtest.Plain(), two(), viewtest.Job()), 200, 60)
	d.Press("j", "enter")
	for _, want := range []string{
		"APPLIED 3h ago",
		"chk-12             REFUSED    REJECTED",
		"savepoint-4f3c-a1  kept       REJECTED",
		"chk-44             kept       accepted",
		"savepoint-9c41-77  not known  unknown",
		viewtest.Checkpoints + "/chk-12",
	} {
		if !strings.Contains(d.Frame(), want) {
			t.Errorf("%q is not on the screen:\n%s", want, d.Frame())
		}
	}
	d.Press("y")
	id := inspect.PlanID(viewtest.Checkpoints+"/chk-12", "action-state", viewtest.TopicID, viewtest.Earlier())
	if !strings.Contains(d.Clipboard(), base64.StdEncoding.EncodeToString([]byte(id))) {
		t.Errorf("the clipboard got %q, want the id %s", d.Clipboard(), id)
	}
}

// Every partition of the boundary is reached, with who set it.
func TestEveryPartitionIsReached(t *testing.T) {
	d := tuitest.New(t, viewtest.Options(viewtest.Plain()), opened(t, viewtest.Plain(), two(), viewtest.Job()), 80, 24)
	d.Press("tab")
	for p := range viewtest.Partitions {
		row := ""
		for _, line := range strings.Split(d.Frame(), "\n") {
			if _, rest, ok := strings.Cut(line, "▸"); ok {
				row = strings.Join(strings.Fields(rest), " ")
			}
		}
		if want := fmt.Sprintf("%d %d ", p, viewtest.Boundary()[int32(p)]); !strings.HasPrefix(row, want) || !strings.HasSuffix(row, "f0416ffc") {
			t.Fatalf("partition %d is shown as %q", p, row)
		}
		d.Press("j")
	}
}

func TestAFailedReloadKeepsWhatIsKnown(t *testing.T) {
	source := two()
	d := tuitest.New(t, viewtest.Options(viewtest.Plain()), opened(t, viewtest.Plain(), source, viewtest.Job()), 80, 24)
	log := viewtest.Log()
	log.ControlErr = viewtest.Gone()
	source.Add(viewtest.Job().Name, viewtest.Store(), log)
	d.Press("r")
	for _, want := range []string{"reading again failed, what is shown is older", "f0416ffc  COMMITTED"} {
		if !strings.Contains(d.Frame(), want) {
			t.Errorf("%q is not on the screen:\n%s", want, d.Frame())
		}
	}
}

func TestHostileBytesAndASCII(t *testing.T) {
	for _, keys := range [][]string{{}, {"enter"}, {"enter", "G"}, {"tab"}, {"/", "x"}} {
		source, job := viewtest.HostileIncident()
		log := viewtest.Log()
		log.Control = viewtest.Control(inspect.ControlRecord{Key: []byte(viewtest.Hostile), Value: []byte(viewtest.Hostile)})
		log.Control.Name, log.Data.Name = viewtest.Hostile, viewtest.Hostile
		source.Add(job.Name, viewtest.Store(), log)
		d := tuitest.New(t, viewtest.Options(viewtest.Plain()), opened(t, viewtest.Plain(), source, job), 80, 24)
		d.Press(keys...)
		viewtest.Harmless(t, d)
		ascii := viewtest.ASCIITheme()
		d = tuitest.New(t, viewtest.Options(ascii), opened(t, ascii, two(), viewtest.Job()), 80, 24)
		d.Press(keys...)
		viewtest.ASCII(t, d)
	}
}
