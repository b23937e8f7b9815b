package tui

import (
	"github.com/charmbracelet/x/ansi"

	"github.com/recoverctl/recoverctl/tui/textfield"
	"github.com/recoverctl/recoverctl/tui/theme"
)

// Line is one line of input in place of the message line, as for a filter. It
// changes what is shown, never a system: letters that arrive together are
// taken.
type Line struct {
	Sign  string // before the text, as in "/"
	Value string // at first
	// Note, if not nil, is asked for what stands at the end, as in "12 of 64 rows".
	Note func() string
	// Changed is told every new text; may be nil.
	Changed func(text string) Cmd
	// Accepted is told the text when enter closes the line; may be nil.
	Accepted func(text string) Cmd
	// Cancelled is called when esc or ctrl-c closes the line; may be nil.
	Cancelled func() Cmd
}

// Edit shows a line of input for the screen that asks.
func Edit(l Line) Cmd {
	m := &lineModal{line: l}
	m.field.Set(l.Value)
	return Open(m)
}

type lineModal struct {
	line  Line
	field textfield.Field
}

func (m *lineModal) atBottom()      {}
func (m *lineModal) Opened(Opening) {}
func (m *lineModal) Resize(Size)    {}

func (m *lineModal) Press(p Press) (Cmd, bool) {
	switch p.Name {
	case "esc", "ctrl+c":
		if m.line.Cancelled == nil {
			return nil, true
		}
		return m.line.Cancelled(), true
	case "enter":
		if m.line.Accepted == nil {
			return nil, true
		}
		return m.line.Accepted(m.field.Value()), true
	}
	before := m.field.Value()
	if p.Letters != "" {
		if why := m.field.Insert(p.Letters); why != "" {
			return Say(theme.Warning, string(why)), false
		}
	} else if !m.field.Key(p.Name) {
		return nil, false
	}
	if m.field.Value() == before || m.line.Changed == nil {
		return nil, false
	}
	return m.line.Changed(m.field.Value()), false
}

func (m *lineModal) View(size Size, th theme.Theme) string {
	note := ""
	if m.line.Note != nil {
		note = "  " + m.line.Note()
	}
	note = ansi.Truncate(note, size.Width/2, th.Signs.More)
	prompt := " " + th.Paint(theme.KeyName, m.line.Sign)
	free := size.Width - ansi.StringWidth(prompt) - ansi.StringWidth(note) - 1
	return prompt + m.field.View(free, th.Signs.Cursor, th.Signs.More) + th.Paint(theme.Muted, note)
}

func (m *lineModal) Keys() []Key {
	return []Key{{Keys: []string{"enter"}, Help: "keep"}, {Keys: []string{"esc"}, Help: "cancel"}}
}
