package operations_test

import (
	"strings"
	"testing"

	"github.com/recoverctl/recoverctl/tui/tuitest"
	"github.com/recoverctl/recoverctl/views/operations"
	"github.com/recoverctl/recoverctl/views/viewtest"
)

// A cleanup that is COMMITTED is finished from its record: its plan is the one of
// the control topic, and no point is asked for another. One that is APPLIED has
// nothing to finish.
func TestFinishOpensTheRecordedPlan(t *testing.T) {
	source, plans := two(), viewtest.NewPlans(viewtest.Store(), viewtest.Log())
	d := tuitest.New(t, viewtest.Options(viewtest.Plain()), operations.New(operations.Options{
		Theme: viewtest.Plain(), Now: viewtest.Clock, Job: viewtest.Job(), Source: source, Plans: plans,
	}), 120, 40)
	d.Press("p")
	if !strings.Contains(d.Frame(), "plan f0416ffc5f07e35df38584f3645fab29c642382ec7972da76525ac4a5432e78c") || plans.Made() != 0 {
		t.Errorf("%d plans were made, and what is shown is\n%s", plans.Made(), d.Frame())
	}
	if !strings.Contains(d.Frame(), "This plan is COMMITTED already") {
		t.Errorf("it is not said that this finishes it:\n%s", d.Frame())
	}
	d.Press("esc", "j", "p")
	if !strings.Contains(d.Frame(), "there is nothing to finish") {
		t.Errorf("p on one that is APPLIED:\n%s", d.Frame())
	}
}
