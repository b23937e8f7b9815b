package tui

import (
	"fmt"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/recoverctl/recoverctl/internal/safetext"
	"github.com/recoverctl/recoverctl/tui/theme"
)

// keys takes one message of bubbletea, which holds all letters of one read, and
// presses them one by one, or gives them to the modal together.
func (s *Shell) keys(msg tea.KeyMsg) tea.Cmd {
	p := s.rhythm.next(msg, s.opts.Elapsed())
	switch {
	case s.small() && p.Name != "ctrl+c" && p.Name != "ctrl+z":
		return nil
	case s.modal != nil:
		return s.pressModal(p)
	case p.Paste:
		if top, ok := s.top().screen.(Paster); ok {
			s.message = message{}
			return s.do(s.top(), top.Paste(p.Letters, p.Cut))
		}
		s.say(theme.Warning, "a paste is not taken here: press keys one at a time")
		return nil
	case p.Name != "":
		cmd, _ := s.press(p)
		return cmd
	}
	var cmds []tea.Cmd
	for i, r := range msg.Runes {
		if s.modal != nil { // an earlier letter opened it: the rest is typed into it
			p.Letters = string(msg.Runes[i:])
			return tea.Batch(append(cmds, s.pressModal(p))...)
		}
		cmd, ok := s.press(Press{Name: string(r), Letters: string(r), Together: true, At: p.At})
		cmds = append(cmds, cmd)
		if !ok {
			break
		}
	}
	return tea.Batch(cmds...)
}

// press runs one key. False ends letters that came together, as a key without a
// meaning does, or one that must be pressed alone: the rest was meant for
// something else.
func (s *Shell) press(p Press) (tea.Cmd, bool) {
	if s.message.tone == theme.Plain {
		s.message = message{}
	}
	top := s.top()
	k, known := findKey(p.Name, s.commonKeys(), top.screen.Keys())
	if !known {
		s.say(theme.Plain, fmt.Sprintf("%s does nothing here: ? lists the keys", safetext.Of(label(p.Name, s.opts.Theme))))
		return nil, false
	}
	if why := k.off(s.header.Locked); why != "" {
		s.say(theme.Warning, fmt.Sprintf("%s %s is off: %s", p.Name, k.Help, why))
		return nil, false
	}
	alone := k.Dangerous || k.Once
	switch name := label(p.Name, s.opts.Theme); {
	case (alone || k.leaves) && p.Together && p.Name != "ctrl+c":
		s.say(theme.Warning, name+" came together with other letters and was not taken: press it alone")
		return nil, false
	case alone && p.Repeat:
		s.say(theme.Warning, name+" was not taken again so soon: it may be held down")
		return nil, false
	}
	s.rhythm.name = p.Name // what a modal is told that opened it
	return s.do(top, k.Run()), true
}

// commonKeys are the keys of every screen with what they do.
func (s *Shell) commonKeys() []Key {
	run := map[string]func() tea.Cmd{
		"esc":     s.back,
		"r":       s.reload,
		"-":       s.last,
		"q":       s.quit,
		"ctrl+c":  s.interrupt,
		"ctrl+z":  s.suspend,
		cancelKey: s.cancelJob,
		":":       s.openPalette,
		"?":       s.help,
	}
	keys := make([]Key, len(commonHelp))
	for i, k := range commonHelp {
		do := run[k.Keys[0]]
		k.Run = func() Cmd {
			return Cmd{{request: func(*Shell, *page) tea.Cmd { return do() }}}
		}
		keys[i] = k
	}
	return keys
}
