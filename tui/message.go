package tui

import (
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"

	"github.com/recoverctl/recoverctl/tui/theme"
)

type message struct {
	tone theme.Tone
	text string
}

// said is a message with the time when it was shown.
type said struct {
	message
	at    time.Time
	times int
}

// keptMessages bounds the history of messages.
const keptMessages = 200

// Say puts a sentence into the message line. A Plain one goes with the next
// key; the others stay until another sentence or another screen comes. The
// palette command messages shows what was said before.
func Say(tone theme.Tone, sentence string) Cmd {
	return Cmd{{request: func(s *Shell, _ *page) tea.Cmd {
		s.say(tone, sentence)
		return nil
	}}}
}

// say shows a sentence and keeps it, but for plain ones, which only answer a
// key.
func (s *Shell) say(tone theme.Tone, text string) {
	s.message = message{tone, text}
	if tone == theme.Plain || text == "" {
		return
	}
	if last := len(s.history) - 1; last >= 0 && s.history[last].message == s.message {
		s.history[last].at = s.opts.now()
		s.history[last].times++
		return
	}
	if len(s.history) == keptMessages {
		s.history = s.history[1:]
	}
	s.history = append(s.history, said{s.message, s.opts.now(), 1})
}

// messageLines are the message in one line, or in two where it is long.
func (s *Shell) messageLines(w int) []string {
	if s.message.text == "" {
		return []string{""}
	}
	th := s.opts.Theme
	text := s.message.text
	if sign := th.Sign(s.message.tone); sign != "" {
		text = sign + " " + text
	}
	if ansi.StringWidth(text)+1 <= w {
		return []string{" " + th.Paint(s.message.tone, text)}
	}
	lines := strings.SplitN(ansi.Wrap(text, max(w-3, 1), ""), "\n", 2)
	for i, line := range lines {
		line = strings.TrimLeft(strings.ReplaceAll(line, "\n", " "), " ")
		lines[i] = strings.Repeat(" ", 1+2*i) + th.Paint(s.message.tone, line)
	}
	return lines
}

// messages is the screen of what was said, the newest first.
func (s *Shell) messages() Screen {
	th := s.opts.Theme
	var lines []string
	for i := len(s.history) - 1; i >= 0; i-- {
		m := s.history[i]
		line := " " + m.at.UTC().Format("15:04:05Z") + "  " + th.Signed(m.tone, m.text)
		if m.times > 1 {
			line += "  " + th.Paint(theme.Muted, Number(int64(m.times))+" times")
		}
		lines = append(lines, line)
	}
	if len(lines) == 0 {
		lines = []string{" no message was shown yet"}
	}
	return newText("messages", lines)
}

// text is a screen of lines that scrolls.
type text struct {
	crumb  string
	lines  []string
	first  int // the line at the top
	height int
	wrap   Wrap
	width  int
	shown  []string // lines as they are drawn at this width
}

func newText(crumb string, lines []string) *text { return &text{crumb: crumb, lines: lines} }

func (x *text) Init() Cmd      { return nil }
func (x *text) Update(Msg) Cmd { return nil }
func (x *text) Crumb() string  { return x.crumb }
func (x *text) Status() Status { return Status{Timeless: true} }

func (x *text) Resize(size Size) {
	x.width, x.height = size.Width, size.Height
	x.shown = x.wrap.Lines(x.lines, x.width)
	x.scroll(0)
}

func (x *text) View(size Size) string {
	return strings.Join(x.shown[x.first:min(x.first+size.Height, len(x.shown))], "\n")
}

func (x *text) Keys() []Key {
	move := func(by int) func() Cmd {
		return func() Cmd {
			x.scroll(by)
			return nil
		}
	}
	rest := ""
	if below := len(x.shown) - x.first - x.height; below > 0 {
		rest = " (" + count(below, "more line") + ")"
	}
	return []Key{
		{Keys: []string{"down", "j"}, Help: "down" + rest, Run: move(1)},
		{Keys: []string{"up", "k"}, Help: "up", Run: move(-1)},
		{Keys: []string{"pgdown"}, Help: "next page", Quiet: true, Run: move(max(x.height, 1))},
		{Keys: []string{"pgup"}, Help: "previous page", Quiet: true, Run: move(-max(x.height, 1))},
		{Keys: []string{"g", "home"}, Help: "first", Quiet: true, Run: move(-len(x.shown))},
		{Keys: []string{"G", "end"}, Help: "last", Quiet: true, Run: move(len(x.shown))},
		x.wrap.Key(),
	}
}

func (x *text) scroll(by int) {
	x.first = max(min(x.first+by, len(x.shown)-x.height), 0)
}
