package apply

import (
	"time"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/views/phrase"
	"github.com/recoverctl/recoverctl/views/sheet"
)

// Options are what the screen needs.
type Options struct {
	Theme   theme.Theme
	Now     func() time.Time // time.Now if nil
	Running *Running
}

// Screen watches one run. Leaving it changes nothing of the run.
type Screen struct {
	theme   theme.Theme
	now     func() time.Time
	running *Running

	snap  actions.Snapshot
	ended bool      // and everything is given back
	asked string    // name of the step that waits for a go; "" for none
	since time.Time // when that was first shown

	*sheet.Written
}

// New makes the screen.
func New(o Options) *Screen {
	if o.Now == nil {
		o.Now = time.Now
	}
	s := &Screen{theme: o.Theme, now: o.Now, running: o.Running}
	s.Written = sheet.NewWritten(o.Theme, s.page)
	return s
}

// Init implements tui.Screen.
func (s *Screen) Init() tui.Cmd { return s.Pulse() }

// Reload implements tui.Reloader: the run is looked at as it is now.
func (s *Screen) Reload() tui.Cmd { return s.Pulse() }

// Update implements tui.Screen.
func (s *Screen) Update(tui.Msg) tui.Cmd { return nil }

// Pulse implements tui.Pulser.
func (s *Screen) Pulse() tui.Cmd {
	var cmd tui.Cmd
	over := s.running.Ended()
	s.snap = s.running.run.Snapshot()
	if over && !s.ended {
		s.ended = true
		s.running.seen.Store(true)
		s.Top()
		cmd = tui.ReloadOthers() // what they show was changed
	}
	waits := ""
	if step, ok := s.waiting(); ok {
		waits = step.Name
	}
	if waits != s.asked {
		s.asked, s.since = waits, s.now()
		s.Top()
	}
	s.Lay()
	return cmd
}

// Crumb implements tui.Screen.
func (s *Screen) Crumb() string { return "apply " + s.running.name }

// Status implements tui.Screen.
func (s *Screen) Status() tui.Status {
	note := "as it goes on"
	if s.ended {
		note = "ended"
	}
	return tui.Status{Note: note}
}

// Leave implements tui.Leaver: while the run goes on it asks what is wanted.
func (s *Screen) Leave() (tui.Cmd, bool) {
	if s.running.Ended() {
		return nil, true
	}
	return s.running.leaving(true), false
}

// waiting is the step that waits for a go, in step mode.
func (s *Screen) waiting() (actions.Step, bool) {
	if !s.snap.Waiting || s.snap.Current < 0 || s.snap.Current >= len(s.snap.Steps) {
		return actions.Step{}, false
	}
	return s.snap.Steps[s.snap.Current].Step, true
}

// Keys implements tui.Screen.
func (s *Screen) Keys() []tui.Key {
	var keys []tui.Key
	if s.running.step && !s.ended {
		keys = append(keys,
			tui.Key{Keys: []string{"enter"}, Help: "go on", Once: true, Disabled: func() string { return s.cannot(false) }, Run: func() tui.Cmd { return s.proceed(false) }},
			tui.Key{Keys: []string{"A"}, Help: "write", Dangerous: true, Disabled: func() string { return s.cannot(true) }, Run: func() tui.Cmd { return s.proceed(true) }})
	}
	keys = append(keys, tui.CopyKey(func() (what, text string) { return "the receipt", s.receipt() }))
	return append(keys, s.Written.Keys()...)
}

// cannot is why no go can be given with the key that reads, or that writes.
func (s *Screen) cannot(write bool) string {
	step, waits := s.waiting()
	switch {
	case s.ended:
		return "it has ended"
	case !waits:
		return "no step waits for a go"
	case step.Writes != "" && !write:
		return "step " + step.Number + " writes: A does it"
	case step.Writes == "" && write:
		return "step " + step.Number + " only reads: enter goes on"
	default:
		return ""
	}
}

// reading is how long a step must have been shown before its go is taken: a key
// that comes sooner was pressed for what was there before.
const reading = 400 * time.Millisecond

func (s *Screen) proceed(write bool) tui.Cmd {
	step, _ := s.waiting()
	if s.now().Sub(s.since) < reading {
		return tui.Say(theme.Warning, "step "+step.Number+" was not read yet: once more")
	}
	if err := s.running.run.Proceed(step.Name, write); err != nil {
		return tui.Say(theme.Warning, phrase.Safe(phrase.Faults(err)[0].Error()))
	}
	return s.Pulse()
}

// Commands implements tui.Commander.
func (s *Screen) Commands() []tui.Command {
	return []tui.Command{{
		Name: "rest", Help: "run the rest; it still pauses before the point of no return", Dangerous: true,
		Disabled: func() string {
			switch {
			case s.ended:
				return "it has ended"
			case !s.running.step:
				return "it does not pause: it was not started in steps"
			default:
				return ""
			}
		},
		Run: func(string) tui.Cmd {
			s.running.run.RunRest()
			return tui.Batch(s.Pulse(), tui.Say(theme.Warning, "the rest runs; before the point of no return it waits for A"))
		},
	}}
}

// receipt is the block for the ticket; "" where there is none yet.
func (s *Screen) receipt() string {
	if !s.ended || s.running.result.Receipt == nil {
		return ""
	}
	return s.running.result.Receipt.Text()
}
