package dialog

import (
	"fmt"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/textfield"
	"github.com/recoverctl/recoverctl/tui/theme"
)

// Confirm asks for a yes to a change. It names what is changed by itself and
// never by a selection that may move.
type Confirm struct {
	Title   string   // "Finish cleanup 3f9c21aa"
	Subject string   // what is changed: "orders / action-state"
	Lines   []string // what it means; each must have been on the screen
	// Environment stands at the end of the subject's line, as a badge where it is
	// production.
	Environment string
	Production  bool
	// Phrase must be typed; "" asks for none.
	Phrase string
	// Reason asks for why, in at most MaxReason characters.
	Reason bool
	// Action is the word of the button that says yes: "Apply".
	Action string
	// Declined, if not nil, is called when the answer is no.
	Declined func() tui.Cmd
}

// MaxReason is the length of a reason in characters.
const MaxReason = 200

// Consent is a yes. Only Confirm makes one: the zero Consent was given by
// nobody.
type Consent struct {
	subject, action, reason, phrase string
	given                           bool
}

// Given reports whether somebody said yes.
func (c Consent) Given() bool { return c.given }

// Subject is what was confirmed.
func (c Consent) Subject() string { return c.subject }

// Action is the word that was confirmed.
func (c Consent) Action() string { return c.action }

// Reason is why, without spaces around it; empty where it was not asked for.
func (c Consent) Reason() string { return c.reason }

// Phrase is what was typed; empty where no phrase was asked for.
func (c Consent) Phrase() string { return c.phrase }

// Open asks; yes gets the consent.
func (c Confirm) Open(yes func(Consent) tui.Cmd) tui.Cmd {
	lines := c.Lines
	if c.longPhrase() {
		lines = append(slices.Clone(lines), "The phrase to type: "+c.Phrase)
	}
	m := &confirm{ask: c, yes: yes, text: newProse(lines), stops: []stop{onCancel}}
	if c.Reason {
		m.stops = append(m.stops, onReason)
	}
	if c.Phrase != "" {
		m.stops = append(m.stops, onPhrase)
	}
	m.stops = append(m.stops, onAction)
	m.reason.Max = MaxReason
	m.phrase.Max = len([]rune(c.Phrase)) + 20
	return tui.Open(m)
}

// longPhrase reports whether the phrase has no room on a line of the smallest
// terminal. It is a part of the text then, which is never cut.
func (c Confirm) longPhrase() bool {
	return ansi.StringWidth(c.Phrase) > inner(tui.Size{Width: tui.MinWidth})-labelWidth
}

// labelWidth is the width of what stands before the fields.
const labelWidth = 8

// stop is where the focus can be.
type stop uint8

const (
	onCancel stop = iota
	onReason
	onPhrase
	onAction
)

type confirm struct {
	guard
	ask    Confirm
	yes    func(Consent) tui.Cmd
	text   *prose
	reason textfield.Field
	phrase textfield.Field
	stops  []stop
	at     int // of stops
}

func (m *confirm) Opened(o tui.Opening) {
	m.opened(o)
	m.text.shown(o.At)
}

// Press takes a key. What has been on the screen is noted before anything else:
// the key itself may be the one that confirms.
func (m *confirm) Press(p tui.Press) (tui.Cmd, bool) {
	if m.early(p) {
		return nil, false
	}
	m.text.look(p.At)
	switch focus := m.stops[m.at]; {
	case cancels(p):
		return m.declined(), true
	case p.Name == "tab":
		m.move(1)
	case p.Name == "shift+tab":
		m.move(-1)
	case m.text.key(p.Name, p.At):
	case focus == onReason:
		return m.edit(&m.reason, p)
	case focus == onPhrase:
		return m.typePhrase(p)
	case p.Name == "left":
		m.at = 0
	case p.Name == "right":
		m.at = len(m.stops) - 1
	case !presses(p):
		if p.Letters != "" && len(m.stops) > 2 {
			return refuse("nothing was typed: tab goes to the field")
		}
	case m.unsure(p) != "":
		return refuse(m.unsure(p))
	case focus == onCancel:
		return m.declined(), true
	default:
		return m.confirm(p)
	}
	return nil, false
}

// confirm says yes, or why not yet.
func (m *confirm) confirm(p tui.Press) (tui.Cmd, bool) {
	if why := m.sameKey(p); why != "" {
		return refuse(why)
	}
	if p.Locked != "" {
		return refuse("nothing was done: " + p.Locked)
	}
	if why := m.missing(); why != "" {
		return refuse(why)
	}
	return m.yes(Consent{
		subject: m.ask.Subject, action: m.ask.Action,
		reason: strings.TrimSpace(m.reason.Value()), phrase: m.phrase.Value(), given: true,
	}), true
}

// missing says what has to be done before it can be confirmed; "" if nothing.
func (m *confirm) missing() string {
	switch unseen := m.text.unseen(); {
	case unseen == 1:
		return "one line has not been on the screen: down"
	case unseen > 1:
		return fmt.Sprintf("%d lines have not been on the screen: down", unseen)
	case m.ask.Reason && strings.TrimSpace(m.reason.Value()) == "":
		return "a reason is required: tab goes to it"
	case m.ask.Phrase != "" && m.phrase.Value() == "":
		return "type the phrase: " + m.ask.Phrase
	case m.phrase.Value() != m.ask.Phrase:
		return "what was typed is not the phrase: " + m.ask.Phrase
	default:
		return ""
	}
}

func (m *confirm) declined() tui.Cmd {
	if m.ask.Declined == nil {
		return nil
	}
	return m.ask.Declined()
}

func (m *confirm) move(by int) { m.at = (m.at + by + len(m.stops)) % len(m.stops) }

// edit changes the reason. It may be pasted: a ticket's number often is.
func (m *confirm) edit(f *textfield.Field, p tui.Press) (tui.Cmd, bool) {
	if p.Name == "enter" {
		return m.nextField()
	}
	if p.Letters == "" {
		f.Key(p.Name)
		return nil, false
	}
	switch f.Insert(p.Letters) {
	case textfield.Unprintable:
		return refuse("the reason takes one line: " + string(textfield.Unprintable))
	case textfield.TooLong:
		return refuse(fmt.Sprintf("the reason takes at most %d characters: nothing of this was added", MaxReason))
	}
	return nil, false
}

// typePhrase takes letters that were typed one by one. Others empty the field:
// the first of them may stand in it already.
func (m *confirm) typePhrase(p tui.Press) (tui.Cmd, bool) {
	switch {
	case p.Name == "enter":
		return m.nextField()
	case p.Letters == "":
		m.phrase.Key(p.Name)
		return nil, false
	case p.Paste:
		m.phrase.Clear()
		return refuse("a paste is not taken, and the field was emptied: type the phrase letter by letter")
	case p.Together:
		m.phrase.Clear()
		return refuse("the field was emptied: letters that arrive together over a slow line count as a paste")
	}
	if why := m.phrase.Insert(p.Letters); why != "" {
		return refuse(string(why))
	}
	return nil, false
}

// nextField is enter in a field. It never goes to a button: the next enter would
// press it.
func (m *confirm) nextField() (tui.Cmd, bool) {
	if m.stops[m.at+1] == onAction {
		return refuse("enter confirms on the button only: tab goes there")
	}
	m.at++
	return nil, false
}

func (m *confirm) Resize(size tui.Size) {
	m.text.wrap(inner(size))
	m.text.resize(max(min(len(m.text.rows), size.Height-m.fixed()), 1))
}

// fixed is the height of all but the text: the frame, the subject, the fields
// and the buttons.
func (m *confirm) fixed() int {
	n := 4
	if m.ask.Reason {
		n++
	}
	if m.ask.Phrase != "" {
		n += 2
	}
	return n
}

func (m *confirm) View(size tui.Size, th theme.Theme) string {
	b := newBox(m.ask.Title, size, th)
	env := m.ask.Environment
	if m.ask.Production {
		env = th.Paint(theme.Production, strings.ToUpper(env))
	}
	b.spread(th.Paint(theme.Title, m.ask.Subject), env)
	for _, line := range m.text.window() {
		b.add(line, false)
	}
	focus := m.stops[m.at]
	if m.ask.Reason {
		b.add("Reason  "+field(&m.reason, focus == onReason, b.width-labelWidth, th), focus == onReason)
	}
	if m.ask.Phrase != "" {
		phrase := m.ask.Phrase
		if m.ask.longPhrase() {
			phrase = "the phrase at the end of the text"
		}
		b.add("Type    "+phrase, false)
		b.add("        "+field(&m.phrase, focus == onPhrase, b.width-labelWidth, th), focus == onPhrase)
	}
	off := m.missing() != ""
	b.spread(rest(m.text, th), button("Cancel", focus == onCancel, false, th)+button(m.ask.Action, focus == onAction, off, th))
	return b.String()
}

// field draws a field with the cursor only where letters go now.
func field(f *textfield.Field, focused bool, width int, th theme.Theme) string {
	cursor := th.Signs.Cursor
	if !focused {
		cursor = " "
	}
	return f.View(width, cursor, th.Signs.More)
}

func (m *confirm) Keys() []tui.Key { return confirmKeys }

// Keys is the key table of dialogs, for documentation.
func Keys() []tui.Key { return confirmKeys }

var confirmKeys = []tui.Key{
	{Keys: []string{"tab", "shift+tab"}, Help: "next field or button"},
	{Keys: []string{"enter", "space"}, Help: "press the button"},
	{Keys: []string{"down", "up", "pgdown", "pgup"}, Help: "scroll"},
	{Keys: []string{"esc", "ctrl+c"}, Help: "cancel"},
}
