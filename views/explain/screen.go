package explain

import (
	"context"
	"fmt"
	"strings"

	"github.com/recoverctl/recoverctl/inspect/explain"
	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/views/phrase"
	"github.com/recoverctl/recoverctl/views/sheet"
)

// Options are what the screen needs.
type Options struct {
	Theme theme.Theme
	Jobs  []explain.Job // of the profile: what a message is about
}

// Screen is what the last paste says.
type Screen struct {
	options Options
	said    explain.Explanation
	known   bool
	cut     bool // the end of the paste is missing
	busy    bool
	err     error

	width int
	sheet *sheet.Sheet
}

// New makes the screen.
func New(o Options) *Screen { return &Screen{options: o, sheet: sheet.New(o.Theme)} }

// Init implements tui.Screen: it waits for a paste.
func (s *Screen) Init() tui.Cmd { return nil }

// Paste implements tui.Paster.
func (s *Screen) Paste(text string, cut bool) tui.Cmd {
	s.busy, s.cut = true, cut
	s.lay()
	jobs := s.options.Jobs
	return tui.Load("text", func(context.Context) (explain.Explanation, error) { return explain.Text(text, jobs), nil })
}

// Update implements tui.Screen.
func (s *Screen) Update(msg tui.Msg) tui.Cmd {
	if loaded, ok := msg.(tui.Loaded[explain.Explanation]); ok {
		s.busy, s.err = false, loaded.Err
		if loaded.Err == nil {
			s.said, s.known = loaded.Value, true
		}
		s.sheet.Top()
		s.lay()
	}
	return nil
}

// Resize implements tui.Resizer.
func (s *Screen) Resize(size tui.Size) {
	s.width = size.Width
	s.lay()
	s.sheet.Resize(size.Height)
}

func (s *Screen) lay() { s.sheet.Set(s.page()) }

// View implements tui.Screen.
func (s *Screen) View(size tui.Size) string { return s.sheet.View(size) }

// Crumb implements tui.Screen.
func (s *Screen) Crumb() string { return "explain" }

// Status implements tui.Screen.
func (s *Screen) Status() tui.Status { return tui.Status{Timeless: true} }

// Keys implements tui.Screen.
func (s *Screen) Keys() []tui.Key {
	copied := tui.CopyKey(func() (what, text string) {
		if !s.known {
			return "the explanation", ""
		}
		return "the explanation", strings.Join(s.lines(), "\n")
	})
	copied.Disabled = func() string {
		if !s.known {
			return "nothing was pasted yet"
		}
		return ""
	}
	return append([]tui.Key{copied}, s.sheet.Keys()...)
}

// page is the screen as lines.
func (s *Screen) page() []string {
	p := &sheet.Page{Theme: s.options.Theme, Width: s.width}
	switch {
	case s.busy:
		p.Hang(" ", theme.Plain, "looking for known messages in what was pasted")
		return p.Lines
	case s.err != nil:
		p.Faults(theme.Error, "", s.err)
		return p.Lines
	case !s.known:
		p.Hang(" ", theme.Title, "Paste a log or an exception here.")
		p.Say("A TaskManager's or JobManager's log, an exception of Flink's web page, an error of Kafka, Fluss or ArkFlow. It stays on this machine.")
		p.Blank()
		p.Say("A terminal takes 64 KiB at a time. A whole log goes through: recoverctl explain FILE")
		return p.Lines
	}
	if s.cut {
		p.Sign(theme.Warning, "The paste was cut after 64 KiB: what follows there was not looked at, and the end of a log tells what failed last. A whole log goes through: recoverctl explain FILE")
		p.Blank()
	}
	write(p, s.said)
	p.Blank()
	p.Hang(" ", theme.Muted, "paste again to ask about another text")
	return p.Lines
}

// write adds an explanation.
func write(p *sheet.Page, e explain.Explanation) {
	if len(e.Matches) == 0 {
		p.Sign(theme.Warning, fmt.Sprintf("No known message is in %s.", phrase.Count(e.Lines, "line", "lines")))
		p.Say("That says nothing about what went wrong: only what Flink and its Kubernetes Operator, Flink Agents, Kafka, Fluss and ArkFlow say about recovery and checkpoints is known here.")
	}
	for i, m := range e.Matches {
		if i > 0 {
			p.Blank()
		}
		where := fmt.Sprintf("%s: %s, line %d", m.Source, m.Rule, m.Line)
		if m.Count > 1 {
			where += fmt.Sprintf(", and %s more", phrase.Count(m.Count-1, "time", "times"))
		}
		p.Hang(" ", theme.Title, where)
		p.Sign(theme.Error, phrase.Safe(m.Cause))
		for _, next := range m.Next {
			p.Hang(sheet.Indent+"next: ", theme.Plain, phrase.Safe(next))
		}
		p.Hang(sheet.Indent+"said: ", theme.Muted, phrase.Safe(m.Text))
		if m.Others > 0 {
			p.Hang(sheet.Indent, theme.Muted, fmt.Sprintf("and %s of this rule with other numbers", phrase.Count(int(m.Others), "message", "messages")))
		}
	}
	if e.More > 0 {
		p.Blank()
		p.Say(fmt.Sprintf("%s more are left out.", tui.Number(e.More)))
	}
	if len(e.Unknown) > 0 {
		p.Title("Not known")
		for _, line := range e.Unknown {
			p.Hang(sheet.Indent, theme.Plain, phrase.Safe(line))
		}
	}
}

// lines are the explanation for the clipboard, without colours and unwrapped.
func (s *Screen) lines() []string {
	p := &sheet.Page{Theme: theme.New(theme.Options{Palette: theme.NoStyle}), Width: 1 << 16}
	write(p, s.said)
	return p.Lines
}
