package main

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/recoverctl/recoverctl/internal/testkit/incident"
)

// asProcess is the path of the program for a process of its own. It is this test
// under the program's name, which TestMain turns into the program.
func asProcess(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "recoverctl")
	if err := os.Symlink(self, path); err != nil {
		t.Fatal(err)
	}
	return path
}

// reading is as long as a person looks at a prompt, and longer than what counts
// as one key held down.
const reading = 450 * time.Millisecond

// types waits for a prompt, as a person would, and types a line.
func (s *screen) types(t *testing.T, prompt, line string) {
	t.Helper()
	s.until(t, prompt)
	time.Sleep(reading)
	s.keys(t, line+"\r")
}

// At a terminal the whole phrase is typed. What does not fit it, and what is no
// answer, changes nothing.
func TestThePhraseIsTypedAtATerminal(t *testing.T) {
	t.Parallel()
	path := asProcess(t)
	s := startScene(t)
	file, id := s.plan("chk-43")
	phrase := "demo/" + incident.Topic + " " + id[:8]
	args := []string{"apply", file, "--reason", "x", "--access", "operate", "--accept", "points-lost", "--accept", "job-state-unknown", "--config", s.config}
	before := s.offsets()
	for name, tt := range map[string]struct {
		act  func(*screen)
		code int
		says string
	}{
		"another phrase":  {func(s *screen) { s.types(t, "> ", id[:8]) }, 5, "the phrase does not fit this plan"},
		"nothing typed":   {func(s *screen) { s.types(t, "> ", "") }, 130, "not approved: nothing was changed"},
		"ctrl-c":          {func(s *screen) { s.until(t, "> "); s.keys(t, "\x03") }, 130, "stopped before it was done"},
		"the end of text": {func(s *screen) { s.until(t, "> "); s.keys(t, "\x04") }, 130, "not approved: nothing was changed"},
	} {
		t.Run(name, func(t *testing.T) {
			screen := onTerminal(t, path, args...)
			screen.until(t, "to apply this plan, type  "+phrase)
			tt.act(screen)
			if code := screen.leave(t); code != tt.code || !strings.Contains(screen.seen.String(), tt.says) {
				t.Errorf("exit %d, want %d and %q:\n%s", code, tt.code, tt.says, screen.seen.String())
			}
			if s.offsets() != before {
				t.Error("the topics were changed")
			}
		})
	}
	screen := onTerminal(t, path, args...)
	screen.types(t, "> ", phrase)
	if code := screen.leave(t); code != 0 || !strings.Contains(screen.seen.String(), "✔ applied") {
		t.Errorf("exit %d\n%s", code, screen.seen.String())
	}
	if s.offsets() == before {
		t.Error("nothing was applied")
	}
}

// In step mode each step waits. Enter passes those that read, and a key that is
// held down passes none; those that write need an A.
func TestStepModeWritesOnlyAfterAnA(t *testing.T) {
	t.Parallel()
	path := asProcess(t)
	s := startScene(t)
	file, id := s.plan("chk-43")
	before := s.offsets()
	screen := onTerminal(t, path, "apply", file, "--approve", id, "--step", "--reason", "x", "--access", "operate",
		"--accept", "points-lost", "--accept", "job-state-unknown", "--config", s.config)
	screen.until(t, "step 1: plan intact")
	screen.until(t, "q and enter stops here")
	screen.keys(t, "\r\r\r\r\r\r\r\r\r\r")
	screen.until(t, "that came too fast to have been read")
	if strings.Contains(screen.seen.String(), "step 2:") {
		t.Error("a key that was held down let a step go")
	}
	for _, step := range []string{"step 1:", "step 2:", "step 3:", "step 4:", "step 5:", "step 6:", "step 6b:"} {
		screen.types(t, step, "")
	}
	screen.types(t, "step 7: write COMMITTED", "")
	screen.until(t, "this step writes: A and enter")
	if s.offsets() != before {
		t.Fatal("something was written without a go")
	}
	time.Sleep(reading)
	screen.keys(t, "A\r")
	screen.types(t, "step 8: delete up to the target", "A")
	screen.types(t, "step 9: log starts re-read", "")
	screen.types(t, "step 10: write APPLIED", "A")
	if code := screen.leave(t); code != 0 || !strings.Contains(screen.seen.String(), "✔ applied") {
		t.Errorf("exit %d\n%s", code, screen.seen.String())
	}
}

// Each signal stops an apply where it is safe: before the step that waits. What
// was done stays done, and the journal has the end of the run.
func TestASignalStopsAnApplyAtASafePlace(t *testing.T) {
	t.Parallel()
	path := asProcess(t)
	for name, sig := range map[string]syscall.Signal{"SIGINT": syscall.SIGINT, "SIGTERM": syscall.SIGTERM, "SIGHUP": syscall.SIGHUP} {
		t.Run(name, func(t *testing.T) {
			s := startScene(t)
			file, id := s.plan("chk-43")
			before := s.offsets()
			screen := onTerminal(t, path, "apply", file, "--approve", id, "--step", "--reason", "x", "--access", "operate",
				"--accept", "points-lost", "--accept", "job-state-unknown", "--config", s.config)
			screen.types(t, "step 1:", "")
			screen.until(t, "step 2:")
			if err := screen.cmd.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
			code := screen.leave(t)
			for _, says := range []string{"stopping at the next safe place", "not-started", "stopped before step 2"} {
				if !strings.Contains(screen.seen.String(), says) {
					t.Errorf("it does not say %q:\n%s", says, screen.seen.String())
				}
			}
			if code != 130 || s.offsets() != before {
				t.Errorf("exit %d, want 130 and nothing changed", code)
			}
			list := commandIn(t, screen.cmd.Env, "", "journal", "list")
			if !strings.Contains(list.out, id[:8]) || !strings.Contains(list.out, "not-started") {
				t.Errorf("journal list\n%s", list.out)
			}
		})
	}
}

// ctrl-z is off while a plan is applied, and says why.
func TestCtrlZDoesNotLeaveAnApplyStanding(t *testing.T) {
	t.Parallel()
	s := startScene(t)
	file, id := s.plan("chk-43")
	screen := onTerminal(t, asProcess(t), "apply", file, "--approve", id, "--step", "--reason", "x", "--access", "operate",
		"--accept", "points-lost", "--accept", "job-state-unknown", "--config", s.config)
	screen.until(t, "q and enter stops here")
	screen.keys(t, "\x1a")
	screen.until(t, "ctrl-z is off while a plan is applied")
	time.Sleep(reading)
	screen.keys(t, "q\r")
	if code := screen.leave(t); code != 130 {
		t.Errorf("exit %d, want 130\n%s", code, screen.seen.String())
	}
}

// An output that nobody reads any more does not end an apply: whoever pipes it
// into a pager may leave.
func TestAClosedPipeDoesNotEndAnApply(t *testing.T) {
	t.Parallel()
	s := startScene(t)
	file, id := s.plan("chk-43")
	cmd := processOf(t, asProcess(t), s.environ(), "apply", file, "--approve", id, "--reason", "x", "--access", "operate",
		"--accept", "points-lost", "--accept", "job-state-unknown", "--config", s.config)
	progress, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(progress)
	for lines.Scan() && !strings.HasPrefix(lines.Text(), "step 1:") {
	}
	if err := progress.Close(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("the apply ended with %v", err)
	}
	if got := s.run("verify", file); got.code != 0 {
		t.Errorf("verify: exit %d\n%s", got.code, got.out)
	}
}
