package tui

import (
	"fmt"
	"io"
	"strings"

	osc52 "github.com/aymanbagabas/go-osc52/v2"
	tea "github.com/charmbracelet/bubbletea"

	"github.com/recoverctl/recoverctl/tui/theme"
)

// MaxCopy is how many bytes can be copied at once: with the base64 of more, the
// sequence OSC 52 is longer than the 100,000 bytes that terminals take.
const MaxCopy = 74_994

// Passthrough is what stands between the console and the terminal and has to be
// told to pass the clipboard on.
type Passthrough uint8

// The values of Passthrough.
const (
	PassDirect Passthrough = iota
	PassTmux
	PassScreen // GNU screen
)

// PassthroughFromEnv reads TMUX, and STY or TERM for GNU screen.
func PassthroughFromEnv(getenv func(string) string) Passthrough {
	switch {
	case getenv("TMUX") != "":
		return PassTmux
	case getenv("STY") != "" || strings.HasPrefix(getenv("TERM"), "screen"):
		return PassScreen
	default:
		return PassDirect
	}
}

// Copy puts text on the clipboard of the operator's terminal, over any number
// of hops, by OSC 52. What names it in the sentence that follows, as in "the
// restore command". Where text is too long nothing is copied, never a part. A
// dialog that is open keeps it from being done: what an operator confirms and
// what is on the clipboard have nothing to do with each other.
func Copy(what, text string) Cmd {
	return Cmd{{request: func(s *Shell, _ *page) tea.Cmd { return s.copy(what, text) }}}
}

// CopyKey is the line for the key table of a screen that has something to copy.
// What is asked when the key is pressed; an empty text copies nothing and says
// so.
func CopyKey(copied func() (what, text string)) Key {
	return Key{Keys: []string{"y"}, Help: "copy", Run: func() Cmd { return Copy(copied()) }}
}

// copied is how writing the clipboard sequence went.
type copied struct {
	sentence string
	err      error
}

func (s *Shell) copy(what, text string) tea.Cmd {
	switch {
	case s.modal != nil:
		s.say(theme.Warning, "nothing is copied while a dialog is open")
		return nil
	case text == "":
		s.say(theme.Plain, "there is nothing to copy here")
		return nil
	case len(text) > MaxCopy:
		s.say(theme.Warning, fmt.Sprintf("%s was not copied: it has %s bytes, a terminal takes %s",
			what, Number(int64(len(text))), Number(MaxCopy)))
		return nil
	case s.terminal == nil:
		s.say(theme.Warning, what+" was not copied: there is no terminal")
		return nil
	}
	out, sequence := s.terminal, clipboardSequence(text, s.opts.Passthrough)
	sentence := fmt.Sprintf("sent to the terminal's clipboard: %s (%s, %s)",
		what, count(strings.Count(strings.TrimSuffix(text, "\n"), "\n")+1, "line"), count(len(text), "byte"))
	return func() tea.Msg {
		_, err := io.WriteString(out, sequence)
		return copied{sentence, err}
	}
}

func (s *Shell) copyEnded(c copied) {
	if c.err != nil {
		s.say(theme.Error, "the clipboard can't be reached: the terminal can't be written to")
		return
	}
	s.say(theme.OK, c.sentence)
}

// clipboardSequence asks tmux in both ways that it knows: it takes the bare
// sequence with set-clipboard on, the wrapped one with allow-passthrough on, and
// drops what it is not set up for.
func clipboardSequence(text string, p Passthrough) string {
	sequence := osc52.New(text).Limit(MaxCopy)
	switch p {
	case PassTmux:
		return sequence.String() + sequence.Tmux().String()
	case PassScreen:
		return sequence.Screen().String()
	default:
		return sequence.String()
	}
}

// SetTerminal says where sequences go that are for the terminal itself and not
// part of a frame. Run does it; without it nothing can be copied.
func (s *Shell) SetTerminal(w io.Writer) { s.terminal = w }
