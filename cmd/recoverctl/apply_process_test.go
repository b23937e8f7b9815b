package main

import (
	"bufio"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/recoverctl/recoverctl/internal/testkit/incident"
	"github.com/recoverctl/recoverctl/internal/testkit/kafkaproxy"
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
	args := []string{"apply", file, "--reason", "x", "--access", "operate", "--accept", "points-lost", "--accept", "pending-before-target", "--accept", "job-state-unknown", "--config", s.config}
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
	var screen *screen
	for try := 1; ; try++ {
		screen = onTerminal(t, path, "apply", file, "--approve", id, "--step", "--reason", "x", "--access", "operate",
			"--accept", "points-lost", "--accept", "pending-before-target", "--accept", "job-state-unknown", "--config", s.config)
		screen.until(t, "step 1: plan intact")
		screen.until(t, "q and enter stops here")
		screen.keys(t, "\r\r\r\r\r\r\r\r\r\r")
		screen.until(t, "that came too fast to have been read")
		if !strings.Contains(screen.seen.String(), "step 2:") {
			break
		}
		if try == 5 { // a program that stood still for as long as a person reads takes the first for a press
			t.Fatal("a key that was held down let a step go")
		}
		screen.end()
	}
	time.Sleep(2 * time.Second) // until all of them were read
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
				"--accept", "points-lost", "--accept", "pending-before-target", "--accept", "job-state-unknown", "--config", s.config)
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
		"--accept", "points-lost", "--accept", "pending-before-target", "--accept", "job-state-unknown", "--config", s.config)
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
		"--accept", "points-lost", "--accept", "pending-before-target", "--accept", "job-state-unknown", "--config", s.config)
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

// held starts an apply as a process whose deletion is held in the network, and
// returns when it is. The rest of what it says is in the builder when it has
// ended.
func (s scene) held(t *testing.T) (cmd *exec.Cmd, said *lockedText, fault *kafkaproxy.Fault, file, id string) {
	t.Helper()
	file, id = s.plan("chk-43")
	proxy := kafkaproxy.Start(t, s.cluster.Brokers()...)
	fault = proxy.Inject(t, kafkaproxy.Rule{Key: kmsg.DeleteRecords, When: kafkaproxy.BeforeForward, Do: kafkaproxy.Hold()})
	cmd = processOf(t, asProcess(t), s.environ(), "apply", file, "--approve", id, "--reason", "x", "--access", "operate",
		"--accept", "points-lost", "--accept", "pending-before-target", "--accept", "job-state-unknown", "--config", s.config, "--brokers", strings.Join(proxy.Brokers(), ","))
	said = &lockedText{}
	cmd.Stdout, cmd.Stderr = said, said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if _, err := fault.Wait(ctx); err != nil {
		t.Fatalf("no deletion was asked for: %v\n%s", err, said.String())
	}
	return cmd, said, fault, file, id
}

// lockedText is what a process says, for who looks at it meanwhile.
type lockedText struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lockedText) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lockedText) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func (l *lockedText) until(t *testing.T, text string) {
	t.Helper()
	l.either(t, text)
}

// either waits until one of several texts was said, and returns it.
func (l *lockedText) either(t *testing.T, texts ...string) string {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		for _, text := range texts {
			if strings.Contains(l.String(), text) {
				return text
			}
		}
	}
	t.Fatalf("before any of %q was said:\n%s", texts, l.String())
	return ""
}

func signalled(t *testing.T, cmd *exec.Cmd, sig os.Signal) {
	t.Helper()
	if err := cmd.Process.Signal(sig); err != nil {
		t.Fatal(err)
	}
}

// exitCode waits for a process.
func exitCode(t *testing.T, cmd *exec.Cmd) int {
	t.Helper()
	var exit *exec.ExitError
	if err := cmd.Wait(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode()
}

// The first ctrl-c waits for what is being written: when the broker has answered,
// the apply stops, and the same plan goes on from there.
func TestTheFirstInterruptWaitsForAWrite(t *testing.T) {
	t.Parallel()
	const soon = "two seconds or more after the first, ends it now"
	var (
		s        scene
		cmd      *exec.Cmd
		said     *lockedText
		fault    *kafkaproxy.Fault
		file, id string
	)
	for { // until the machine did not stand still for two seconds between the two
		s = startScene(t)
		cmd, said, fault, file, id = s.held(t)
		first := time.Now()
		signalled(t, cmd, os.Interrupt)
		said.until(t, "what is being written is waited for")
		signalled(t, cmd, os.Interrupt)
		if said.either(t, soon, "ended at once") == soon {
			break
		}
		if took := time.Since(first); took < 2*time.Second {
			t.Fatalf("it was ended at once after %s\n%s", took, said.String())
		}
		fault.Release()
		exitCode(t, cmd)
	}
	fault.Release()
	if code := exitCode(t, cmd); code != 130 || !strings.Contains(said.String(), "stopped before step 9") {
		t.Errorf("exit %d, want 130\n%s", code, said.String())
	}
	if got := s.run("verify", file); got.code != 1 || !strings.Contains(got.out, "only the record APPLIED is missing") {
		t.Errorf("verify: exit %d\n%s", got.code, got.out)
	}
	if got := s.approved(file, id); got.code != 0 {
		t.Errorf("again: exit %d\n%s", got.code, got.errOut)
	}
}

// A second ctrl-c, two seconds after the first, ends a write in its middle. Its
// outcome is unknown, which the journal says too, and the same plan settles it.
func TestTheSecondInterruptEndsAWriteInItsMiddle(t *testing.T) {
	t.Parallel()
	s := startScene(t)
	cmd, said, fault, file, id := s.held(t)
	signalled(t, cmd, os.Interrupt)
	said.until(t, "what is being written is waited for")
	time.Sleep(2100 * time.Millisecond)
	signalled(t, cmd, os.Interrupt)
	if code := exitCode(t, cmd); code != 12 || !strings.Contains(said.String(), "ended at once") {
		t.Errorf("exit %d, want 12\n%s", code, said.String())
	}
	if show := s.run("journal", "show", id[:8]); !regexp.MustCompile(`outcome +delete +unknown`).MatchString(show.out) {
		t.Errorf("journal show\n%s", show.out)
	}
	fault.Remove()
	fault.Release()
	if got := s.approved(file, id); got.code != 0 {
		t.Errorf("again: exit %d\n%s", got.code, got.errOut)
	}
}

// A killed process leaves its intent in the journal and its lock to the next one,
// which says so and finishes the cleanup.
func TestAKilledApplyIsFinishedByTheNextOne(t *testing.T) {
	t.Parallel()
	s := startScene(t)
	cmd, said, fault, file, id := s.held(t)
	signalled(t, cmd, os.Kill)
	if code := exitCode(t, cmd); code != -1 {
		t.Fatalf("exit %d\n%s", code, said.String())
	}
	fault.Remove()
	fault.Release()
	if list := s.run("journal", "list"); !strings.Contains(list.out, "! step delete of run") || !strings.Contains(list.out, "no end on record") {
		t.Errorf("journal list\n%s", list.out)
	}
	got := s.approved(file, id)
	if got.code != 0 || !strings.Contains(got.errOut, "was cut off") {
		t.Errorf("again: exit %d\n%s", got.code, got.errOut)
	}
}
