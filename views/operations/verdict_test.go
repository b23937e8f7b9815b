package operations_test

import (
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/tui/tuitest"
	"github.com/recoverctl/recoverctl/views/operations"
	"github.com/recoverctl/recoverctl/views/viewtest"
)

// e says what has become of the selected cleanup, from the cluster alone.
func TestVerdict(t *testing.T) {
	applied, unread := viewtest.Log(), viewtest.Log()
	boundary := viewtest.Boundary()
	applied.Control = viewtest.Control(viewtest.Committed(0, inspect.StatusCommitted), viewtest.Committed(1, inspect.StatusApplied))
	for i, p := range applied.Data.Partitions {
		applied.Data.Partitions[i].Log.Start = max(p.Log.Start, boundary[p.ID])
	}
	unread.ControlErr = viewtest.Gone()
	for name, tt := range map[string]struct {
		log  viewtest.Broker
		want []string
	}{
		"stopped half-way": {viewtest.Log(), []string{"✖ partial: the boundary is in force, and the log is not trimmed on partitions 0-1", "partition    0: log start 100, target 150"}},
		"applied":          {applied, []string{"✔ applied: APPLIED is recorded", "partition    0: log start 150, target 150"}},
		"not readable":     {unread, []string{"! unknown: the control topic could not be read", "check the network"}},
	} {
		t.Run(name, func(t *testing.T) {
			plans := viewtest.NewPlans(viewtest.Store(), tt.log)
			d := tuitest.New(t, viewtest.Options(viewtest.Plain()), operations.New(operations.Options{
				Theme: viewtest.Plain(), Now: viewtest.Clock, Job: viewtest.Job(), Source: two(), Plans: plans,
			}), 120, 100)
			d.Press("e")
			for _, want := range tt.want {
				if !strings.Contains(d.Frame(), want) {
					t.Errorf("%q is not on the screen:\n%s", want, d.Frame())
				}
			}
			d.Press("y")
			if copied := base64.StdEncoding.EncodeToString([]byte("cleanup      f0416ffc")); !strings.Contains(d.Clipboard(), copied[:20]) {
				t.Errorf("the clipboard got %q", d.Clipboard())
			}
			if strings.Contains(d.Frame(), "%!") || d.Top().Crumb() != "verdict on cleanup f0416ffc" {
				t.Errorf("%s\n%s", d.Top().Crumb(), d.Frame())
			}
		})
	}
}

// A reload reads the log starts again, too: what was trimmed meanwhile shows.
func TestReloadReadsTheLogAgain(t *testing.T) {
	source := &viewtest.Source{}
	source.Add(viewtest.Job().Name, viewtest.Store(), viewtest.Log())
	d := tuitest.New(t, viewtest.Options(viewtest.Plain()), operations.New(operations.Options{
		Theme: viewtest.Plain(), Now: viewtest.Clock, Job: viewtest.Job(), Source: source,
	}), 120, 40)
	if strings.Contains(d.Frame(), "62 of 64") {
		t.Fatalf("log starts are known before they were read:\n%s", d.Frame())
	}
	d.Press("r")
	if !strings.Contains(d.Frame(), "62 of 64") {
		t.Errorf("after a reload:\n%s", d.Frame())
	}
	trimmed := viewtest.Log()
	trimmed.Control = viewtest.Control(viewtest.Record(0, inspect.StatusApplied, "chk-42", viewtest.Boundary(), time.Minute))
	boundary := viewtest.Boundary()
	for i, p := range trimmed.Data.Partitions {
		trimmed.Data.Partitions[i].Log.Start = max(p.Log.Start, boundary[p.ID])
	}
	source.Add(viewtest.Job().Name, viewtest.Store(), trimmed)
	d.Press("r")
	if strings.Contains(d.Frame(), "62 of 64") || !strings.Contains(d.Frame(), "APPLIED") {
		t.Errorf("after it was applied:\n%s", d.Frame())
	}
}
