package dialog

import (
	"strings"

	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/textfield"
	"github.com/recoverctl/recoverctl/tui/theme"
)

// Text asks for a line of text, as a file's name. It confirms nothing: a paste
// is taken.
type Text struct {
	Title string
	Lines []string
	Label string // before the field: "File"
	Value string // at first
	Max   int    // in characters; 0: textfield.DefaultMax
	// Check, if not nil, says in a sentence why a text is not taken; "" where it
	// is.
	Check func(text string) string
}

// Open asks; done gets the text without spaces around it.
func (t Text) Open(done func(text string) tui.Cmd) tui.Cmd {
	m := &input{ask: t, done: done, text: newProse(t.Lines)}
	m.field.Max = t.Max
	m.field.Set(t.Value)
	return tui.Open(m)
}

type input struct {
	guard
	ask   Text
	done  func(string) tui.Cmd
	text  *prose
	field textfield.Field
	typed bool // some key came after the one that opened the dialog
}

func (m *input) Opened(o tui.Opening) {
	m.opened(o)
	m.text.shown(o.At)
}

func (m *input) Press(p tui.Press) (tui.Cmd, bool) {
	switch {
	case m.early(p) && (p.Letters == "" || p.Repeat && p.Name == m.opener):
		return nil, false // letters are kept: nobody types a text that is meant for the screen
	case cancels(p):
		return nil, true
	case p.Name == "enter":
		return m.enter(p)
	case m.text.key(p.Name, p.At):
		return nil, false
	case p.Letters == "":
		m.field.Key(p.Name)
	default:
		if why := m.field.Insert(p.Letters); why != "" {
			return refuse(string(why))
		}
	}
	m.typed = true
	return nil, false
}

func (m *input) enter(p tui.Press) (tui.Cmd, bool) {
	switch {
	case m.unsure(p) != "":
		return refuse(m.unsure(p))
	case p.Name == m.opener && !m.typed:
		return refuse("enter opened this dialog: type first, or esc")
	}
	text := strings.TrimSpace(m.field.Value())
	if m.ask.Check != nil {
		if why := m.ask.Check(text); why != "" {
			return refuse(why)
		}
	}
	return m.done(text), true
}

func (m *input) Resize(size tui.Size) {
	m.text.wrap(inner(size))
	m.text.resize(max(min(len(m.text.rows), size.Height-3), 0))
}

func (m *input) View(size tui.Size, th theme.Theme) string {
	b := newBox(m.ask.Title, size, th)
	for _, line := range m.text.window() {
		b.add(line, false)
	}
	label := m.ask.Label + "  "
	b.add(label+m.field.View(b.width-len([]rune(label)), th.Signs.Cursor, th.Signs.More), true)
	return b.String()
}

func (m *input) Keys() []tui.Key { return textKeys }

var textKeys = []tui.Key{
	{Keys: []string{"enter"}, Help: "take it"},
	{Keys: []string{"ctrl+u"}, Help: "empty the field"},
	{Keys: []string{"esc", "ctrl+c"}, Help: "cancel"},
}
