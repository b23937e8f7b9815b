package overview_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/views/overview"
	"github.com/recoverctl/recoverctl/views/viewtest"
)

func loaded(o inspect.JobOverview, err error) tui.Msg {
	return tui.Loaded[inspect.JobOverview]{Slot: "a", Value: o, Err: err}
}

// The age is that of the read's beginning: what was read is not younger.
func TestAReadIsAsOldAsItsBeginning(t *testing.T) {
	now := viewtest.Now
	r := overview.NewReader("a", viewtest.Job(), viewtest.Incident(), func() time.Time { return now })
	r.Read()
	now = now.Add(20 * time.Second)
	if !r.Take(loaded(inspect.JobOverview{TopicID: "x"}, nil)) || !r.Reading.At.Equal(viewtest.Now) {
		t.Errorf("read at %s, want %s", r.Reading.At, viewtest.Now)
	}
	if r.Take(tui.Loaded[inspect.JobOverview]{Slot: "b"}) {
		t.Error("another slot's answer was taken")
	}
}

func TestAFailedReadKeepsWhatWasKnown(t *testing.T) {
	r := overview.NewReader("a", viewtest.Job(), viewtest.Incident(), viewtest.Clock)
	gone := viewtest.Gone()
	r.Read()
	r.Take(loaded(inspect.JobOverview{}, gone))
	if r.Reading.Known() || len(r.Reading.Problems()) != 1 {
		t.Fatalf("after a first read that failed: %+v", r.Reading)
	}
	r.Read()
	r.Take(loaded(inspect.JobOverview{TopicID: "x"}, nil))
	if !r.Reading.Known() || len(r.Reading.Problems()) != 0 {
		t.Fatalf("after a read that worked: %+v", r.Reading)
	}
	r.Read()
	r.Take(loaded(inspect.JobOverview{}, gone))
	if !r.Reading.Known() || !r.Reading.Failed || r.Reading.Overview.TopicID != "x" {
		t.Fatalf("after a later read that failed: %+v", r.Reading)
	}
	if got := r.Reading.Problems()[0].Cause; !strings.Contains(got, "what is shown is older: no broker answers") {
		t.Errorf("it says %q", got)
	}
}

// An error that a finding tells is told once; one that none tells comes first.
func TestProblemsTellEveryErrorOnce(t *testing.T) {
	told, untold := errors.New("the place is closed"), errors.New("the control topic is closed")
	r := overview.Reading{At: viewtest.Now, Err: errors.Join(told, untold), Overview: inspect.JobOverview{Findings: []inspect.Finding{
		{Severity: inspect.SeverityError, Cause: "a place could not be read: the place is closed"},
		{Severity: inspect.SeverityWarning, Cause: "retention is set"},
	}}}
	var got []string
	for _, p := range r.Problems() {
		got = append(got, p.Cause)
	}
	if want := "the control topic is closed|a place could not be read: the place is closed|retention is set"; strings.Join(got, "|") != want {
		t.Errorf("problems %q, want %q", strings.Join(got, "|"), want)
	}
}

func TestBoundary(t *testing.T) {
	refused := viewtest.Log()
	refused.Control = viewtest.Control(inspect.ControlRecord{Key: []byte("x")})
	empty := viewtest.Log()
	empty.Control = viewtest.Control()
	unread := viewtest.Log()
	unread.ControlErr = viewtest.Gone()
	dark := viewtest.Broker{DataErr: viewtest.Gone(), ControlErr: viewtest.Gone()}
	done := viewtest.Log()
	for p := range done.Data.Partitions {
		done.Data.Partitions[p].Log.Start = viewtest.Boundary()[int32(p)]
	}
	tests := map[string]struct {
		log            viewtest.Broker
		unconfigured   bool
		want, sentence string
	}{
		"a cleanup stopped half-way":      {viewtest.Log(), false, "in force", "boundary in force, log not trimmed yet on 2 of 64 partitions: 0-1"},
		"a cleanup is done":               {done, false, "in force", "boundary in force, the log is trimmed to it"},
		"the job has no control topic":    {viewtest.Log(), true, "none", "no boundary: the job has no control topic"},
		"a restore refuses the records":   {refused, false, "REFUSED", "boundary REFUSED: no restore is accepted"},
		"no cleanup was ever committed":   {empty, false, "REFUSED", "boundary REFUSED: no restore is accepted"},
		"the control topic can't be read": {unread, false, "not read", "the boundary could not be read"},
		"the cluster does not answer":     {dark, false, "not read", "the boundary could not be read"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			job := viewtest.Job()
			if tt.unconfigured {
				job.ControlTopic = nil
			}
			source := &viewtest.Source{}
			source.Add(job.Name, viewtest.Store(), tt.log)
			o, err := source.Overview(context.Background(), job)
			r := overview.Reading{Overview: o, Err: err, At: viewtest.Now}
			if got, _ := r.Boundary(); got != tt.want {
				t.Errorf("boundary %q, want %q", got, tt.want)
			}
			if got := r.BoundarySentence(); got != tt.sentence {
				t.Errorf("it says %q, want %q", got, tt.sentence)
			}
		})
	}
}

// What nobody looked at is no number and no state.
func TestUnaskedIsSaid(t *testing.T) {
	var r overview.Reading
	if live, _ := r.Live(); live != "not connected" {
		t.Errorf("live state %q", live)
	}
	if risk, _ := r.AtRisk(); risk != "not scanned" {
		t.Errorf("calls at risk %q", risk)
	}
	r.Overview.Scan = &inspect.Scan{Done: 1, Total: 10}
	if risk, _ := r.AtRisk(); risk != "scanning" {
		t.Errorf("calls at risk %q while scanning", risk)
	}
	r.Overview.PendingCalls = &inspect.PendingCalls{Pending: 1200, Overwritten: 4, Unmatched: 9}
	if risk, _ := r.AtRisk(); risk != "1,213" {
		t.Errorf("calls at risk %q", risk)
	}
	r.Overview.PendingCalls = &inspect.PendingCalls{}
	if risk, _ := r.AtRisk(); risk != "0" {
		t.Errorf("calls at risk %q after a scan that found none", risk)
	}
}
