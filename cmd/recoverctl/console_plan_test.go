package main

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/internal/clock"
	"github.com/recoverctl/recoverctl/internal/fault"
)

// consoleOf is the console's maker of plans on a scene, in a folder of its own.
func consoleOf(t *testing.T, s scene) consolePlans {
	t.Helper()
	t.Chdir(t.TempDir())
	a := &app{streams: streams{in: strings.NewReader(""), out: io.Discard, err: io.Discard, environ: s.environ()}, clock: clock.System{}}
	if err := newRoot(a).PersistentFlags().Parse([]string{"--config", s.config}); err != nil {
		t.Fatal(err)
	}
	if err := a.load(); err != nil {
		t.Fatal(err)
	}
	in, systems, err := a.inspector(a.selection.Profile, remembered{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(systems.close)
	return consolePlans{app: a, in: in, systems: systems}
}

// The file that W writes is, byte for byte, the one that plan cleanup writes; the
// command that the screen names applies it; and until then nothing has changed.
func TestThePlanOfTheConsoleIsThatOfTheCommand(t *testing.T) {
	s := startScene(t)
	file, id := s.plan("chk-43")
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before := s.offsets()
	c := consoleOf(t, s)
	job, err := c.app.job()
	if err != nil {
		t.Fatal(err)
	}
	made, err := c.Make(t.Context(), job, s.points+"/chk-43")
	if err != nil || made.Plan.PlanID != id || made.Unjudged != nil {
		t.Fatalf("plan %s, want %s; unjudged %v, %v", made.Plan.PlanID, id, made.Unjudged, err)
	}
	if err := c.Write(t.Context(), made); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(made.File)
	if err != nil || !bytes.Equal(got, want) {
		t.Fatalf("W wrote %s (%v), want %s", got, err, want)
	}
	if info, err := os.Stat(made.File); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file's mode is %v (%v)", info.Mode(), err)
	}
	if err := c.Write(t.Context(), made); !errors.Is(err, fs.ErrExist) || fault.KindOf(err) != fault.Denied {
		t.Errorf("a second W: %v", err)
	}
	if after := s.offsets(); after != before {
		t.Errorf("the cluster has changed:\n%s\n%s", before, after)
	}

	command := strings.ReplaceAll(made.Apply, `"…"`, "INC-7")
	words := append(strings.Fields(command)[1:], "--approve", id)
	if got := commandIn(t, s.environ(), "", words...); got.code != 0 {
		t.Errorf("%s: exit %d\n%s%s", command, got.code, got.out, got.errOut)
	}
}

// An operation is judged from its record, without its point's markers.
func TestThePlanOfARecordIsJudged(t *testing.T) {
	c := consoleOf(t, startScene(t))
	job, err := c.app.job()
	if err != nil {
		t.Fatal(err)
	}
	boundary, err := c.in.Control(t.Context(), job, nil)
	if err != nil || len(boundary.Operations) == 0 {
		t.Fatalf("%d operations, %v", len(boundary.Operations), err)
	}
	op := boundary.Operations[len(boundary.Operations)-1]
	made, err := c.Review(t.Context(), job, actions.PlanOf(op), nil)
	if err != nil || made.Plan.PlanID != op.PlanID || made.Report.Recorded != op.Status {
		t.Errorf("plan %s recorded %q (%v), want %s %s", made.Plan.PlanID, made.Report.Recorded, err, op.PlanID, op.Status)
	}
}
