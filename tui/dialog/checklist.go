package dialog

import (
	"fmt"
	"strings"

	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/theme"
)

// Item is one line of a Checklist.
type Item struct {
	Name string // what is accepted: "points-lost"
	Text string // what it means
}

// Checklist asks for each of several things by itself: every item is ticked with
// a key of its own, after all of it has been on the screen. None is ticked at
// first.
type Checklist struct {
	Title string // "Accept 3 warnings"
	Lead  string // one line above the items
	Items []Item
	// Action is the word of the button that goes on: "Continue".
	Action string
	// Declined, if not nil, is called when the answer is no.
	Declined func() tui.Cmd
}

// Open asks; yes gets the names of all items, in their order.
func (c Checklist) Open(yes func(names []string) tui.Cmd) tui.Cmd {
	texts := make([]string, len(c.Items))
	for i, item := range c.Items {
		texts[i] = item.Name + ": " + item.Text
	}
	return tui.Open(&checklist{ask: c, yes: yes, text: newProse(texts), ticked: make([]bool, len(c.Items))})
}

// tickWidth is the width of the box that stands before an item.
const tickWidth = 4

type checklist struct {
	guard
	ask    Checklist
	yes    func([]string) tui.Cmd
	text   *prose
	ticked []bool
	at     int // 0: Cancel; then the items, from 1 on; then the button that goes on
}

func (m *checklist) Opened(o tui.Opening) {
	m.opened(o)
	m.text.shown(o.At)
}

func (m *checklist) Press(p tui.Press) (tui.Cmd, bool) {
	if m.early(p) {
		return nil, false
	}
	m.text.look(p.At)
	last := len(m.ask.Items) + 1
	switch {
	case cancels(p):
		return m.declined(), true
	case p.Name == "tab":
		m.focus((m.at+1)%(last+1), p)
	case p.Name == "shift+tab":
		m.focus((m.at+last)%(last+1), p)
	case p.Name == "left":
		m.focus(0, p)
	case p.Name == "right":
		m.focus(last, p)
	case m.text.key(p.Name, p.At):
	case !presses(p):
		if p.Letters != "" {
			return refuse("nothing was accepted: tab goes to an item, space ticks it")
		}
	case m.unsure(p) != "":
		return refuse(m.unsure(p))
	case m.at == 0:
		return m.declined(), true
	case m.at <= len(m.ask.Items):
		return m.tick(m.at - 1)
	default:
		return m.goOn(p)
	}
	return nil, false
}

// tick changes one item, if all of it was on the screen.
func (m *checklist) tick(item int) (tui.Cmd, bool) {
	if !m.text.read[item] {
		return refuse("not all of " + m.ask.Items[item].Name + " has been on the screen: down")
	}
	m.ticked[item] = !m.ticked[item]
	return nil, false
}

func (m *checklist) goOn(p tui.Press) (tui.Cmd, bool) {
	switch why := m.sameKey(p); {
	case why != "":
		return refuse(why)
	case p.Locked != "":
		return refuse("nothing was done: " + p.Locked)
	case m.open() == 1:
		return refuse("one item is not ticked: tab goes to it, space ticks it")
	case m.open() > 1:
		return refuse(fmt.Sprintf("%d items are not ticked: tab goes to them, space ticks one", m.open()))
	}
	names := make([]string, len(m.ask.Items))
	for i, item := range m.ask.Items {
		names[i] = item.Name
	}
	return m.yes(names), true
}

// open is how many items are not ticked.
func (m *checklist) open() int {
	n := 0
	for _, ticked := range m.ticked {
		if !ticked {
			n++
		}
	}
	return n
}

// focus goes to a stop and brings an item into the window.
func (m *checklist) focus(at int, p tui.Press) {
	m.at = at
	if at >= 1 && at <= len(m.ask.Items) {
		m.text.bring(at-1, p.At)
	}
}

func (m *checklist) declined() tui.Cmd {
	if m.ask.Declined == nil {
		return nil
	}
	return m.ask.Declined()
}

func (m *checklist) Resize(size tui.Size) {
	const fixed = 4 // the frame, the lead and the buttons
	m.text.wrap(inner(size) - tickWidth)
	m.text.resize(max(min(len(m.text.rows), size.Height-fixed), 1))
}

func (m *checklist) View(size tui.Size, th theme.Theme) string {
	b := newBox(m.ask.Title, size, th)
	b.add(m.ask.Lead, false)
	before := -1
	if m.text.top > 0 {
		before = m.text.rows[m.text.top-1].paragraph
	}
	for i := m.text.top; i < min(m.text.top+m.text.height, len(m.text.rows)); i++ {
		r := m.text.rows[i]
		box := strings.Repeat(" ", tickWidth)
		if r.paragraph != before {
			box = "[ ] "
			if m.ticked[r.paragraph] {
				box = "[x] "
			}
		}
		b.add(box+r.text, r.paragraph != before && m.at == r.paragraph+1)
		before = r.paragraph
	}
	last := len(m.ask.Items) + 1
	b.spread(rest(m.text, th), button("Cancel", m.at == 0, false, th)+button(m.ask.Action, m.at == last, m.open() > 0, th))
	return b.String()
}

func (m *checklist) Keys() []tui.Key { return checklistKeys }

var checklistKeys = []tui.Key{
	{Keys: []string{"tab", "shift+tab"}, Help: "next item or button"},
	{Keys: []string{"space", "enter"}, Help: "tick, or press the button"},
	{Keys: []string{"down", "up", "pgdown", "pgup"}, Help: "scroll"},
	{Keys: []string{"esc", "ctrl+c"}, Help: "cancel"},
}
