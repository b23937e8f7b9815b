package tui

import (
	"fmt"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/recoverctl/recoverctl/internal/access"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/tui/theme"
)

// Arming is the console's own guard, as *access.Arming is one: it starts
// read-only, and the palette command operate arms it for a while. Its methods
// are called from the console's goroutine.
type Arming interface {
	// Arm fails where the level doesn't allow it.
	Arm(level access.Level, now time.Time) error
	Disarm()
	// Left is how long it stays armed; zero: it is not.
	Left(now time.Time) time.Duration
}

// askHeader asks for the header, and puts what the arming says in place of the
// access.
func (s *Shell) askHeader() Header {
	h := s.opts.header()
	if s.opts.Arming == nil {
		return h
	}
	left := s.opts.Arming.Left(s.opts.now())
	if left > 0 {
		h.Access = "operate " + remaining(left)
		return h
	}
	h.Access = access.ReadOnly.String()
	switch {
	case h.Locked != "":
	case s.opts.Level == access.Operate:
		h.Locked = fmt.Sprintf("the console is read-only until :operate arms it for %d minutes", access.ArmedFor/time.Minute)
	default:
		h.Locked = "access is read-only: nothing may be changed"
	}
	return h
}

// remaining is told in whole minutes, rounded down.
func remaining(d time.Duration) string {
	if d < time.Minute {
		return "<1m"
	}
	return fmt.Sprintf("%dm", d/time.Minute)
}

// operate arms the console or says why it can't be armed.
func (s *Shell) operate() tea.Cmd {
	if s.opts.Arming == nil {
		s.say(theme.Warning, "this console changes nothing: there is nothing to arm")
		return nil
	}
	if err := s.opts.Arming.Arm(s.opts.Level, s.opts.now()); err != nil {
		f := fault.Of(err)
		text := f.Error()
		if f.Hint != "" {
			text += " (" + f.Hint + ")"
		}
		s.say(theme.Error, text)
		return nil
	}
	s.say(theme.Warning, fmt.Sprintf("changes are possible for %d minutes; :readonly ends that", access.ArmedFor/time.Minute))
	return nil
}

// readOnly disarms.
func (s *Shell) readOnly() tea.Cmd {
	if s.opts.Arming == nil || s.opts.Arming.Left(s.opts.now()) <= 0 {
		s.say(theme.Plain, "the console is read-only already")
		return nil
	}
	s.opts.Arming.Disarm()
	s.say(theme.OK, "the console is read-only again")
	return nil
}
