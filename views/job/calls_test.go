package job_test

import (
	"strings"
	"testing"

	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/tuitest"
	"github.com/recoverctl/recoverctl/views/job"
	"github.com/recoverctl/recoverctl/views/overview"
	"github.com/recoverctl/recoverctl/views/scan"
	"github.com/recoverctl/recoverctl/views/viewtest"
)

// words is a frame without what lines its columns up.
func words(d *tuitest.Driver) string { return strings.Join(strings.Fields(d.Frame()), " ") }

func withScans(scans *scan.Scans, source job.Source) tui.Screen {
	return job.New(job.Options{
		Theme: viewtest.Plain(), Now: viewtest.Clock, Job: viewtest.Job(), Source: source, Reading: overview.Reading{Scans: scans},
	})
}

// The key c scans the topic, and what was found stands in the job's own list
// afterwards, with what is wrong.
func TestCallsAreCountedFromEachPoint(t *testing.T) {
	scans := viewtest.Scans(t, viewtest.Found())
	d := tuitest.New(t, viewtest.Options(viewtest.Plain()), withScans(scans, viewtest.Incident()), 80, 24)
	ask := func(want ...string) {
		t.Helper()
		for _, w := range want {
			if !strings.Contains(words(d), w) {
				t.Errorf("%q is not on the screen:\n%s", w, d.Frame())
			}
		}
	}
	ask("accepted not scanned", "calls not scanned")
	d.Press("c")
	ask("order-agent › calls at risk", "▸ carol")
	d.Press("esc")
	ask("accepted 4", "accepted 3", "accepted 2", "REJECTED –", `! 4 calls would run again from "chk-44", 3 from "chk-43"`, "calls at risk 4")
	d.Press("r")
	ask("accepted 4", "calls at risk 4")
	d.Press("v")
	ask("4 run again, 1 go to the reconciler, 0 unknown, 1 reused")
	d.Press("esc", "f")
	ask("2 errors, 1 warning", "! warning 4 calls would run again from")
}

// The points that were chosen have the columns.
func TestTheChosenPointsHaveTheColumns(t *testing.T) {
	d := tuitest.New(t, viewtest.Options(viewtest.Plain()), withScans(viewtest.Scans(t, viewtest.Found()), viewtest.Incident()), 80, 24)
	d.Press("j", "j", "space", "c")
	if frame := d.Frame(); !strings.Contains(frame, "chk-42") || strings.Contains(frame, "chk-44") {
		t.Errorf("it shows\n%s", frame)
	}
}

// While the scan runs the list says so, and a part is no number.
func TestAScanThatRunsOrWasStoppedGivesNoNumbers(t *testing.T) {
	source := viewtest.Halfway()
	scans := viewtest.Scans(t, source)
	s := scans.Start(viewtest.Job(), viewtest.TopicID)
	<-source.Told
	d := tuitest.New(t, viewtest.Options(viewtest.Plain()), withScans(scans, viewtest.Incident()), 80, 24)
	if frame := words(d); !strings.Contains(frame, "accepted scanning") || !strings.Contains(frame, "calls scanning") {
		t.Errorf("while it runs:\n%s", frame)
	}
	s.Cancel()
	for s.State().Running {
	}
	d.Send(tui.Pulse{})
	if frame := words(d); !strings.Contains(frame, "accepted not known") || !strings.Contains(frame, "calls not all scanned") || strings.Contains(frame, "accepted 0") {
		t.Errorf("after it was cancelled:\n%s", frame)
	}
}

// A topic that was made anew has not been scanned.
func TestAnotherTopicHasNotBeenScanned(t *testing.T) {
	source, log := viewtest.Incident(), viewtest.Log()
	scans := viewtest.Scans(t, viewtest.Found())
	d := tuitest.New(t, viewtest.Options(viewtest.Plain()), withScans(scans, source), 80, 24)
	d.Press("c", "esc")
	log.Data.TopicID = "AAAAAAAAAAAAAAAAAAAAAA"
	source.Add(viewtest.Job().Name, viewtest.Store(), log)
	d.Press("r")
	if frame := d.Frame(); !strings.Contains(frame, "not scanned") || strings.Contains(frame, "calls at risk 3") {
		t.Errorf("it shows\n%s", frame)
	}
}
