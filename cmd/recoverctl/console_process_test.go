package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/recoverctl/recoverctl/internal/testkit/incident"
	"github.com/recoverctl/recoverctl/internal/testkit/kafkaproxy"
)

// operator is a person at the console of the program, on a terminal of 80×24.
type operator struct {
	*screen
	t    *testing.T
	from int // what was drawn before the last key
	last string
}

// atConsole opens the console on a scene and arms it.
func (s scene) atConsole(t *testing.T, more ...string) *operator {
	t.Helper()
	args := append([]string{"console", "--config", s.config, "--access", "operate"}, more...)
	o := newOperator(t, onTerminal(t, asProcess(t), args...))
	o.sees("order-agent")
	o.press("\r")
	o.sees("chk-43")
	o.press(":")
	o.letters("operate")
	o.press("\r")
	o.sees("changes are possible for 30 minutes")
	return o
}

// newOperator sits down at a program's terminal.
func newOperator(t *testing.T, s *screen) *operator {
	t.Helper()
	o := &operator{screen: s, t: t}
	o.awake()
	return o
}

// awake lets reads of the terminal end at their deadline. Whatever asks for the
// file's descriptor, as setting its size does, makes them wait for ever.
func (o *operator) awake() {
	o.t.Helper()
	raw, err := o.file.SyscallConn()
	if err == nil {
		err = raw.Control(func(fd uintptr) {
			if err := syscall.SetNonblock(int(fd), true); err != nil {
				o.t.Fatal(err)
			}
		})
	}
	if err != nil {
		o.t.Fatal(err)
	}
}

// resizes changes the size of the terminal.
func (o *operator) resizes(columns, rows uint16) {
	o.t.Helper()
	if err := pty.Setsize(o.file, &pty.Winsize{Cols: columns, Rows: rows}); err != nil {
		o.t.Fatal(err)
	}
	o.awake()
}

// sees waits until something is drawn after the last key.
func (o *operator) sees(text string) {
	o.t.Helper()
	const patience = time.Minute
	if err := o.file.SetReadDeadline(time.Now().Add(patience)); err != nil {
		o.t.Fatal(err)
	}
	buffer := make([]byte, 4096)
	for !strings.Contains(o.seen.String()[o.from:], text) {
		n, err := o.file.Read(buffer)
		o.seen.Write(buffer[:n])
		if err != nil {
			o.t.Fatalf("before %q was drawn: %v\n%q", text, err, o.seen.String()[o.from:])
		}
	}
}

// press presses a key after a pause, and waits for what is drawn for it.
func (o *operator) press(key string) {
	o.t.Helper()
	pause := 150 * time.Millisecond // longer than a line must have been shown
	if key == o.last {
		pause = 750 * time.Millisecond // it was let go in between
	}
	time.Sleep(pause)
	o.last = key
	o.strike(key, time.Second)
}

// looks waits as long as a dialog takes no keys.
func (o *operator) looks() { time.Sleep(450 * time.Millisecond) }

// letters types letter by letter, each when the one before was drawn: on a busy
// machine letters would arrive together otherwise.
func (o *operator) letters(text string) {
	o.t.Helper()
	for _, r := range text {
		time.Sleep(15 * time.Millisecond)
		o.strike(string(r), 5*time.Second)
	}
	o.last = ""
}

// strike presses a key and reads until something was drawn for it, for a while.
func (o *operator) strike(key string, patience time.Duration) {
	o.t.Helper()
	const idle = 10 * time.Millisecond
	for o.read(idle) { // what was drawn before is no answer to this key
	}
	o.from = o.seen.Len()
	o.keys(o.t, key)
	o.read(patience)
}

// read reads what is drawn within a time; false where nothing is.
func (o *operator) read(within time.Duration) bool {
	o.t.Helper()
	if err := o.file.SetReadDeadline(time.Now().Add(within)); err != nil {
		o.t.Fatal(err)
	}
	buffer := make([]byte, 4096)
	n, err := o.file.Read(buffer)
	o.seen.Write(buffer[:n])
	if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) && !errors.Is(err, syscall.EIO) {
		o.t.Fatal(err)
	}
	return err == nil
}

const (
	tab      = "\t"
	pageDown = "\x1b[6~"
	ctrlC    = "\x03"
)

// proposes opens the plan from chk-43, asks for it, and accepts every warning.
func (o *operator) proposes() {
	o.t.Helper()
	o.press("j")
	o.press("p")
	o.sees("STAYS RESTORABLE")
	o.asks()
}

// asks presses A and accepts the warnings, each by itself.
func (o *operator) asks() {
	o.t.Helper()
	o.press("A")
	o.sees("by name")
	found := regexp.MustCompile(`Accept (\d+) warnings?`).FindStringSubmatch(o.seen.String()[o.from:])
	if found == nil {
		o.t.Fatalf("no warnings are asked about: %q", o.seen.String()[o.from:])
	}
	warnings, err := strconv.Atoi(found[1])
	if err != nil {
		o.t.Fatal(err)
	}
	o.looks()
	o.press(pageDown)
	for range warnings {
		o.press(tab)
		o.press(" ")
	}
	o.press(tab)
	o.press("\r")
	o.sees("Reason")
}

// fills reads the text, gives a reason and types the phrase, and goes to the
// button.
func (o *operator) fills(phrase string) {
	o.t.Helper()
	o.looks()
	for range 3 {
		o.press(pageDown)
	}
	o.press(tab)
	o.letters("INC-2231")
	o.press(tab)
	o.letters(phrase)
	o.press(tab)
}

// The whole way on a real terminal, with everything that a hurried hand, a cat
// and a slow line do before: nothing is applied until it was confirmed.
func TestTheConsoleAppliesOnlyWhatIsConfirmed(t *testing.T) {
	t.Parallel()
	s := startScene(t)
	_, id := s.plan("chk-43")
	before := s.offsets()
	o := s.atConsole(t)
	unchanged := func(after string) {
		t.Helper()
		if s.offsets() != before {
			t.Fatalf("%s changed the topics", after)
		}
	}
	o.press("j")
	o.press("p")
	o.sees("STAYS RESTORABLE")
	o.press("AAAA") // in one piece, as a paste without brackets comes
	o.sees("came together with other letters")
	o.press("\x1b[200~A\r \x1b[201~")
	o.sees("a paste is not taken here")
	o.press("A\r \r \r") // the first letter of a piece may be a key; the rest confirms nothing
	for o.read(2 * time.Second) {
	}
	unchanged("keys in one piece")
	if strings.Contains(o.seen.String()[o.from:], "by name") {
		o.press("\x1b")
		time.Sleep(time.Second)
	}

	o.asks()
	for range 60 { // held down
		o.keys(t, "\r")
		time.Sleep(30 * time.Millisecond)
	}
	unchanged("enter held down")
	o.press("\x1b")
	time.Sleep(time.Second)
	o.asks()
	o.fills("demo/" + incident.Topic + " " + id[:8])
	o.resizes(10, 5)
	o.press(" ")
	o.press("\r")
	unchanged("a key at 10×5")
	o.resizes(80, 24)
	o.sees("PRODUCTION")
	unchanged("the way up to the button")

	o.looks()
	o.press(pageDown) // what the size has taken out of sight is read again
	o.press(" ")
	o.sees("APPLIED is recorded")
	o.press(ctrlC)
	if code := o.leave(t); code != 0 {
		t.Errorf("exit %d", code)
	}
	if s.offsets() == before {
		t.Error("nothing was applied")
	}
	env := o.cmd.Env
	if list := commandIn(t, env, "", "journal", "list"); !strings.Contains(list.out, id[:8]) || !strings.Contains(list.out, "applied") || !strings.Contains(list.out, "INC-2231") {
		t.Errorf("journal list\n%s", list.out)
	}
	if got := s.run("verify", id); got.code != 0 {
		t.Errorf("verify: exit %d\n%s", got.code, got.out)
	}
	if got := s.run("validate", "restore", s.points+"/chk-42"); got.code != 1 || !strings.Contains(got.out, "rejected") && !strings.Contains(got.out, "REJECTED") {
		t.Errorf("chk-42: exit %d\n%s", got.code, got.out)
	}
}

// In the middle of a deletion: what each way of stopping does. The deletion is
// waited for, the journal has the end of the run, and the same plan goes on.
func TestStoppingTheConsoleInTheMiddleOfAnApply(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		stop func(*testing.T, *operator)
		code int
		end  bool // the console ends by itself
	}{
		"q and its question": {stop: func(_ *testing.T, o *operator) {
			o.press("q")
			o.sees("keep watching")
			o.looks()
			o.press("j")
			o.press("j")
			o.press(" ")
			o.sees("stops at the next safe place")
		}},
		"ctrl-c twice": {stop: func(_ *testing.T, o *operator) {
			o.press(ctrlC)
			o.sees("stops at the next safe place")
			o.press(ctrlC)
			o.sees("two seconds or more after the first")
		}},
		"SIGTERM": {code: 130, end: true, stop: func(t *testing.T, o *operator) { signalled(t, o.cmd, syscall.SIGTERM) }},
		"SIGHUP":  {code: 130, end: true, stop: func(t *testing.T, o *operator) { signalled(t, o.cmd, syscall.SIGHUP) }},
		"SIGINT": {stop: func(t *testing.T, o *operator) {
			o.from = o.seen.Len()
			signalled(t, o.cmd, os.Interrupt)
			o.sees("stopping at the next safe place")
		}},
		"the terminal is gone": {code: -2, end: true, stop: func(t *testing.T, o *operator) {
			if err := o.file.Close(); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := startScene(t)
			file, id := s.plan("chk-43")
			proxy := kafkaproxy.Start(t, s.cluster.Brokers()...)
			held := proxy.Inject(t, kafkaproxy.Rule{Key: kmsg.DeleteRecords, When: kafkaproxy.BeforeForward, Do: kafkaproxy.Hold()})
			o := s.atConsole(t, "--brokers", strings.Join(proxy.Brokers(), ","))
			o.proposes()
			o.fills("demo/" + incident.Topic + " " + id[:8])
			o.press(" ")
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			if _, err := held.Wait(ctx); err != nil {
				t.Fatalf("no deletion was asked for: %v\n%q", err, o.seen.String()[o.from:])
			}
			tt.stop(t, o)
			time.Sleep(300 * time.Millisecond)
			if o.cmd.ProcessState != nil {
				t.Fatal("it has ended in the middle of a deletion")
			}
			held.Release()
			switch {
			case tt.code == -2:
				if code := exitCode(t, o.cmd); code == 0 {
					t.Error("exit 0 without a terminal")
				}
			case tt.end:
				if code := o.leave(t); code != tt.code {
					t.Errorf("exit %d, want %d", code, tt.code)
				}
			default:
				o.sees("stopped before step 9")
				o.press(ctrlC)
				if code := o.leave(t); code != 0 {
					t.Errorf("exit %d", code)
				}
			}
			show := commandIn(t, o.cmd.Env, "", "journal", "show", id[:8])
			for _, line := range []string{`outcome +commit +done`, `outcome +delete +done`, `end +committed`} {
				if !regexp.MustCompile(line).MatchString(show.out) {
					t.Errorf("the journal does not say %q:\n%s", line, show.out)
				}
			}
			if got := s.run("verify", file); got.code != 1 || !strings.Contains(got.out, "only the record APPLIED is missing") {
				t.Errorf("verify: exit %d\n%s", got.code, got.out)
			}
			if got := s.approved(file, id); got.code != 0 {
				t.Errorf("again: exit %d\n%s", got.code, got.errOut)
			}
		})
	}
}

// A second apply of the job, from wherever, is one clear sentence.
func TestALockThatIsHeldIsToldByTheConsole(t *testing.T) {
	t.Parallel()
	s := startScene(t)
	_, id := s.plan("chk-43")
	proxy := kafkaproxy.Start(t, s.cluster.Brokers()...)
	held := proxy.Inject(t, kafkaproxy.Rule{Key: kmsg.DeleteRecords, When: kafkaproxy.BeforeForward, Do: kafkaproxy.Hold()})
	o := s.atConsole(t, "--brokers", strings.Join(proxy.Brokers(), ","))
	o.proposes()
	o.fills("demo/" + incident.Topic + " " + id[:8])
	o.press(" ")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if _, err := held.Wait(ctx); err != nil {
		t.Fatal(err)
	}
	o.press("\x1b")
	o.sees("keep watching")
	o.looks()
	o.press("j")
	o.press(" ")
	o.sees("cleanup plan")
	o.press("A")
	o.sees(fmt.Sprintf("cleanup %s is being applied from this console", id[:8]))
	o.press("\x1a")
	o.sees("ctrl-z is off")
	held.Release()
	o.sees("has ended: applied")
	o.press(ctrlC)
	if code := o.leave(t); code != 0 {
		t.Errorf("exit %d", code)
	}
}

// The demo grants everything that the flow needs, and leaves nothing behind.
func TestTheDemoFinishesItsCleanup(t *testing.T) {
	t.Parallel()
	o := newOperator(t, onTerminal(t, asProcess(t), "demo"))
	o.sees("in force")
	o.press("\r")
	o.sees("chk-43")
	o.press("o")
	o.sees("COMMITTED")
	o.press("p")
	o.sees("STILL IN THE LOG")
	id := regexp.MustCompile(`plan ([0-9a-f]{8})[0-9a-f]{56}`).FindStringSubmatch(o.seen.String())
	if id == nil {
		t.Fatalf("no id of a plan: %q", o.seen.String())
	}
	o.press("A")
	o.sees("the console is read-only until :operate arms it")
	o.press(":")
	o.letters("operate")
	o.press("\r")
	o.sees("changes are possible")
	o.asks()
	o.fills("demo/" + incident.Topic + " " + id[1])
	o.press(" ")
	o.sees("APPLIED is recorded")
	o.press("\x1b")
	o.sees("there is nothing left to apply")
	o.press(ctrlC)
	if code := o.leave(t); code != 0 {
		t.Errorf("exit %d", code)
	}
	for _, entry := range o.cmd.Env {
		for _, name := range []string{"HOME=", "TMPDIR="} {
			if dir, found := strings.CutPrefix(entry, name); found {
				if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
					t.Errorf("left behind in %s: %v, %v", name, left, err)
				}
			}
		}
	}
}
