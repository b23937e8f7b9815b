package dialog

import (
	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/theme"
)

// Choice is one answer to an Ask.
type Choice struct {
	Label string // "keep watching"
	Help  string // what follows from it; may be empty
}

// Ask lets the operator choose. The focus starts on the first choice: make it
// the one that changes least.
type Ask struct {
	Title   string
	Lines   []string
	Choices []Choice
	// Declined, if not nil, is called when nothing was chosen.
	Declined func() tui.Cmd
}

// Open asks; chosen gets the number of the choice, from 0.
func (a Ask) Open(chosen func(choice int) tui.Cmd) tui.Cmd {
	return tui.Open(&ask{ask: a, chosen: chosen, text: newProse(a.Lines)})
}

type ask struct {
	guard
	ask    Ask
	chosen func(int) tui.Cmd
	text   *prose
	at     int // the choice that has the focus
}

func (m *ask) Opened(o tui.Opening) {
	m.opened(o)
	m.text.shown(o.At)
}

func (m *ask) Press(p tui.Press) (tui.Cmd, bool) {
	if m.early(p) {
		return nil, false
	}
	switch {
	case cancels(p):
		if m.ask.Declined == nil {
			return nil, true
		}
		return m.ask.Declined(), true
	case p.Name == "down" || p.Name == "tab" || p.Name == "j":
		m.at = min(m.at+1, max(len(m.ask.Choices)-1, 0))
	case p.Name == "up" || p.Name == "shift+tab" || p.Name == "k":
		m.at = max(m.at-1, 0)
	case p.Name == "pgdown" || p.Name == "pgup":
		m.text.key(p.Name, p.At)
	case !presses(p) || len(m.ask.Choices) == 0:
	case m.unsure(p) != "":
		return refuse(m.unsure(p))
	case m.sameKey(p) != "":
		return refuse(m.sameKey(p))
	default:
		return m.chosen(m.at), true
	}
	return nil, false
}

func (m *ask) Resize(size tui.Size) {
	m.text.wrap(inner(size))
	fixed := 2
	for _, c := range m.ask.Choices {
		fixed += 1 + len(c.help(inner(size)))
	}
	m.text.resize(max(min(len(m.text.rows), size.Height-fixed), 0))
}

// help is what stands under a choice.
func (c Choice) help(width int) []string {
	if c.Help == "" {
		return nil
	}
	return wrapped(c.Help, max(width-2, 1))
}

func (m *ask) View(size tui.Size, th theme.Theme) string {
	b := newBox(m.ask.Title, size, th)
	for _, line := range m.text.window() {
		b.add(line, false)
	}
	for i, c := range m.ask.Choices {
		label := c.Label
		if i == m.at {
			label = th.Paint(theme.Selected, label)
		}
		b.add(label, i == m.at)
		for _, line := range c.help(b.width) {
			b.add("  "+th.Paint(theme.Muted, line), false)
		}
	}
	return b.String()
}

func (m *ask) Keys() []tui.Key { return askKeys }

var askKeys = []tui.Key{
	{Keys: []string{"down", "j", "tab"}, Help: "next"},
	{Keys: []string{"up", "k", "shift+tab"}, Help: "previous"},
	{Keys: []string{"enter", "space"}, Help: "choose"},
	{Keys: []string{"pgdown", "pgup"}, Help: "scroll", Quiet: true},
	{Keys: []string{"esc", "ctrl+c"}, Help: "cancel"},
}
