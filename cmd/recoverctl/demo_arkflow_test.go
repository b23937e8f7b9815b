package main

import (
	"os"
	"strings"
	"testing"

	"github.com/recoverctl/recoverctl/internal/testkit/arkincident"
)

// The sample on ArkFlow as text says what the hub's words hide, and exits with 0: that
// something is wrong is the point of it.
func TestTheDemoOfArkFlowAsText(t *testing.T) {
	got := command(t, "demo", "--arkflow", "--plain")
	if got.code != 0 {
		t.Fatalf("exit %d: %s", got.code, got.errOut)
	}
	for _, want := range []string{
		arkincident.JobDegraded + ": degraded checkpoint health", arkincident.JobUpgraded + ": the run that goes on began cold",
		"stream node-a/" + arkincident.StreamReady + ": what was asked last failed for good", "nothing: data between read and output is lost on a crash",
		"it sends again 8 entries raw, 4 entries beyond the source positions of checkpoint-" + arkincident.JobDegraded + "-", "the raw window is sent again",
	} {
		if !strings.Contains(got.out, want) {
			t.Errorf("no %q in\n%s", want, got.out)
		}
	}
}

// The console on it shows its jobs, and leaves no file behind.
func TestTheDemoOfArkFlowLeavesNothingBehind(t *testing.T) {
	s := onTerminal(t, binary(t), "demo", "--arkflow")
	folder := ""
	for _, entry := range s.cmd.Env {
		if dir, is := strings.CutPrefix(entry, "TMPDIR="); is {
			folder = dir
		}
	}
	s.until(t, arkincident.JobDegraded)
	s.until(t, "DEGRADED")
	s.keys(t, "q")
	if code := s.leave(t); code != 0 {
		t.Errorf("exit %d", code)
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// Only one sample is shown at a time.
func TestSamplesExcludeEachOther(t *testing.T) {
	samples := (&app{}).samples()
	chosen := make([]bool, len(samples))
	for i := range samples[1:] {
		chosen[i+1] = true
	}
	if len(samples) > 2 {
		if _, err := oneSample(samples, chosen); err == nil {
			t.Error("all of them are shown")
		}
	}
	for i := range samples {
		alone := make([]bool, len(samples))
		alone[i] = true
		if one, err := oneSample(samples, alone); err != nil || one.flag != samples[i].flag {
			t.Errorf("--%s shows --%s: %v", samples[i].flag, one.flag, err)
		}
	}
	if got := command(t, "demo", "--arkflow", "--plain", "--serve"); got.code != 2 {
		t.Errorf("exit %d", got.code)
	}
}

// The rows of the decision table that are about a log stand in its own command, and
// beside the job whose log it is.
func TestRowsAboutALog(t *testing.T) {
	got := command(t, "inspect", "arkflow", "wal", walBuckets+"s3-gap/bucket")
	if got.code != 1 || !strings.Contains(got.out, "a gap inside (cursor, tail]") {
		t.Errorf("exit %d\n%s", got.code, got.out)
	}
	answer, _ := ask[struct {
		Decisions []struct{ Row, Outcome string }
	}](t, "WriteAheadLog", "inspect", "arkflow", "wal", walFiles+"clean-acked", "--all")
	outcomes := map[string]string{}
	for _, d := range answer.Data.Decisions {
		outcomes[d.Row] = d.Outcome
	}
	if outcomes["1"] != "holds" || outcomes["7"] != "clear" || outcomes["3"] != "not-checked" {
		t.Errorf("%v", outcomes)
	}
}
