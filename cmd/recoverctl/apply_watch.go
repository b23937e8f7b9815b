package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"time"

	"golang.org/x/term"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/internal/fault"
)

// refusalOf is the refusal behind an error, nil where it is none.
func refusalOf(err error) *actions.Refusal {
	var r *actions.Refusal
	errors.As(err, &r)
	return r
}

// errWidth is the width of the terminal that standard error is; 0: none.
func (a *app) errWidth() int {
	if !a.errTTY {
		return 0
	}
	width, _, err := term.GetSize(int(os.Stderr.Fd()))
	if err != nil {
		return a.width
	}
	return width
}

// person is who sits at the process's terminal, whatever standard output is
// connected to. What is typed comes line by line.
type person struct {
	tty   *os.File
	lines chan string
}

// openPerson opens the terminal where there is one and something has to be
// asked. The error is a fault: Denied where an approval is needed and nobody can
// give it, Usage for step mode without a terminal.
func (a *app) openPerson(ask applyAsk) (*person, error) {
	if ask.approve != "" && !ask.step {
		return nil, nil
	}
	if a.inTTY {
		if tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0); err == nil {
			p := &person{tty: tty, lines: make(chan string)}
			go p.read()
			return p, nil
		}
	}
	if ask.step {
		return nil, fault.New(fault.Usage, "apply", "--step waits for a go before each step, and there is no terminal to give it at")
	}
	return nil, fault.New(fault.Denied, "approve", "nobody approved the plan, and there is no terminal to ask at").
		WithHint("look at its report with recoverctl plan show, then give --approve with the plan's id")
}

func (p *person) close() {
	if p != nil {
		p.tty.Close()
	}
}

// read gives away lines until the terminal is gone.
func (p *person) read() {
	defer close(p.lines)
	scan := bufio.NewScanner(p.tty)
	for scan.Scan() {
		p.lines <- scan.Text()
	}
}

// phrase asks for the phrase. Nothing typed, or the end of the context, is a
// fault of kind Cancelled.
func (p *person) phrase(ctx context.Context, phrase string) (string, error) {
	declined := fault.New(fault.Cancelled, "approve", "not approved: nothing was changed")
	if _, err := fmt.Fprintf(p.tty, "\nto apply this plan, type  %s\n> ", phrase); err != nil {
		return "", fault.Wrap(fault.Cancelled, "approve", err, "the terminal is gone: nothing was changed")
	}
	select {
	case line, open := <-p.lines:
		line = strings.TrimSpace(line)
		if !open || line == "" {
			return "", declined
		}
		return line, nil
	case <-ctx.Done():
		return "", declined
	}
}

// watch tells on standard error what a run does. The run never waits for it.
type watch struct {
	out    io.Writer
	run    *actions.Run
	person *person
	notes  chan string
	told   []actions.StepWord // what was last said of each step

	stopping bool
	asked    time.Time // when a go was last asked for
	pressed  time.Time // when a line last came
}

func newWatch(out io.Writer, run *actions.Run, p *person) *watch {
	const enough = 8 // notes that nobody reads any more are dropped
	return &watch{out: out, run: run, person: p, notes: make(chan string, enough), told: make([]actions.StepWord, len(run.Snapshot().Steps))}
}

// signal is told of each signal while the run goes on.
func (w *watch) signal(sig os.Signal) {
	switch sig {
	case syscall.SIGTSTP:
		w.note("ctrl-z is off while a plan is applied: a run that stands still would hold the lock, and a boundary half done")
	case os.Interrupt:
		switch w.run.Interrupt() {
		case actions.TooSoon:
			w.note("stopping at the next safe place; only another ctrl-c, two seconds or more after the first, ends it now")
		case actions.StopsNow:
			w.note("ended now: what was being written is unknown until it is read again")
		}
	default:
		w.run.Stop()
	}
}

func (w *watch) note(text string) {
	select {
	case w.notes <- text:
	default:
	}
}

// say writes a line. That nobody reads it is no reason to stop anything.
func (w *watch) say(format string, args ...any) {
	_, _ = fmt.Fprintf(w.out, format+"\n", args...)
}

// follow tells what happens until the run has ended.
func (w *watch) follow() {
	var lines <-chan string
	if w.person != nil {
		lines = w.person.lines
	}
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-w.run.Done():
			w.tell(w.run.Snapshot())
			return
		case <-w.run.Changed():
			w.tell(w.run.Snapshot())
		case <-tick.C:
			w.counts(w.run.Snapshot())
		case text := <-w.notes:
			w.say("%s", text)
		case line, open := <-lines:
			if !open { // the terminal is gone, and with it every go
				lines = nil
				w.run.Stop()
				continue
			}
			w.typed(w.run.Snapshot(), line)
		}
	}
}

// tell says each change of a step's state once.
func (w *watch) tell(s actions.Snapshot) {
	if s.Stopping && !w.stopping {
		w.stopping = true
		w.say("stopping at the next safe place: what is being written is waited for. A second ctrl-c, two seconds or more after the first, ends it now")
	}
	for i, step := range s.Steps {
		if step.State == w.told[i] {
			continue
		}
		before := w.told[i]
		w.told[i] = step.State
		about := step.Step
		switch step.State {
		case actions.StepWaiting:
			w.ask(about)
		case actions.StepRunning:
			if before != actions.StepWaiting && about.Writes != "" {
				w.say("step %s: %s; it writes %s", about.Number, about.Title, about.Writes)
			}
		case actions.StepPending:
		default:
			w.say("step %s: %s: %s, %s", about.Number, about.Title, step.State, orNothing(step.Detail))
		}
	}
}

// ask says what a step that waits will do, and how it is let go.
func (w *watch) ask(s actions.Step) {
	w.asked = time.Now()
	w.say("\nstep %s: %s", s.Number, s.Title)
	if s.Reads != "" {
		w.say("  reads   %s", s.Reads)
	}
	go1 := "enter goes on"
	if s.Writes != "" {
		w.say("  WRITES  %s", s.Writes)
		go1 = "A and enter writes"
	}
	if s.NoReturn {
		w.say("  once it is done, there is no way back")
	}
	w.say("  should it fail: %s", s.OnFailure)
	w.say("  %s; q and enter stops here", go1)
}

// typed is one line from the person: a go for the step that waits, or stop. Lines
// that come faster than a person reads let nothing go: they are one key that is
// held down, or were typed before the step was shown.
func (w *watch) typed(s actions.Snapshot, line string) {
	const reading = 400 * time.Millisecond
	now := time.Now()
	held := now.Sub(w.pressed) < reading || now.Sub(w.asked) < reading
	w.pressed = now
	if strings.TrimSpace(line) == "q" {
		w.run.Stop()
		return
	}
	if !s.Waiting {
		return
	}
	about := s.Steps[s.Current].Step
	word := strings.TrimSpace(line)
	switch {
	case held:
		w.say("  that came too fast to have been read: once more")
	case about.Writes == "" && word == "", about.Writes != "" && word == "A":
		if err := w.run.Proceed(about.Name, about.Writes != ""); err != nil {
			w.say("  %s", safe(err.Error()))
		}
	case about.Writes != "":
		w.say("  this step writes: A and enter, or q and enter to stop here")
	default:
		w.say("  enter alone goes on, q and enter stops here")
	}
}

// counts tells how far the step that runs is.
func (w *watch) counts(s actions.Snapshot) {
	if s.Current < 0 || s.Waiting {
		return
	}
	step := s.Steps[s.Current]
	if step.State != actions.StepRunning || step.Total == 0 && step.Note.IsEmpty() {
		return
	}
	line := fmt.Sprintf("step %s: %s", step.Step.Number, orNothing(step.Note.String()))
	if step.Total > 0 {
		line += fmt.Sprintf(", %d of %d", step.Done, step.Total)
	}
	w.say("%s", line)
}
