package tui

import (
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"

	"github.com/recoverctl/recoverctl/tui/theme"
)

// Modal stands over the screen that opened it and gets all keys until it is
// done. Below MinWidth by MinHeight it is not drawn and gets no key but ctrl-c.
// Package dialog has the modals that a screen needs.
type Modal interface {
	// Opened is called when the modal is shown, and again when it is shown anew
	// after the operator could not see it.
	Opened(Opening)
	// Press takes a key. When done, the modal is closed, and then what the command
	// says is done for the screen that opened it.
	Press(Press) (cmd Cmd, done bool)
	// Resize tells the size that View will get, whenever something may have
	// changed.
	Resize(Size)
	// View draws the modal in at most size.Width by size.Height cells. It changes
	// nothing.
	View(size Size, th theme.Theme) string
	// Keys is the key table for the footer; Run is not called.
	Keys() []Key
}

// Opening says how a modal came to be shown.
type Opening struct {
	By string        // the key that was pressed last
	At time.Duration // Options.Elapsed
}

// Open shows a modal over the screen that asks. It does nothing where that
// screen is not on top or a modal is open already: nothing opens under the
// operator's fingers because of a late answer elsewhere.
func Open(m Modal) Cmd {
	return Cmd{{request: func(s *Shell, from *page) tea.Cmd {
		if s.modal == nil && s.top() == from {
			s.open(m, from)
		}
		return nil
	}}}
}

// bottom marks modals that stand on the message line and are as wide as the
// terminal, rather than in the middle of the screen.
type bottom interface{ atBottom() }

// bottomModal is the modal if it stands at the bottom.
func (s *Shell) bottomModal() (bottom, bool) {
	if s.modal == nil {
		return nil, false
	}
	b, ok := s.modal.Modal.(bottom)
	return b, ok
}

// opened is a modal with the screen that it acts for.
type opened struct {
	Modal
	page *page
	said message // what it said last, as why it does not take a key
}

func (s *Shell) open(m Modal, from *page) {
	if s.message.tone == theme.Plain { // it told of what led here, and that is over
		s.message = message{}
	}
	s.modal = &opened{Modal: m, page: from}
	s.modalShown()
}

// modalShown tells the modal that the operator sees it from now on.
func (s *Shell) modalShown() {
	if s.modal == nil {
		return
	}
	s.modal.Resize(s.modalSize())
	s.modal.Opened(Opening{By: s.rhythm.name, At: s.opts.Elapsed()})
}

// pressModal gives a key to the modal.
func (s *Shell) pressModal(p Press) tea.Cmd {
	if p.Name == "ctrl+z" {
		return s.suspend()
	}
	if s.message.tone == theme.Plain {
		s.message = message{}
	}
	p.Locked = s.header.Locked
	m := s.modal
	cmd, done := m.Press(p)
	if done {
		s.modal = nil
		if s.message == m.said { // what it refused is of no interest any more
			s.message = message{}
		}
		return s.do(m.page, cmd)
	}
	before := s.message
	out := s.do(m.page, cmd)
	if s.message != before {
		m.said = s.message
	}
	return out
}

// modalSize is what a modal may cover: the screen below the header and the
// path.
func (s *Shell) modalSize() Size {
	body := s.bodySize()
	if _, ok := s.bottomModal(); ok {
		body.Height += s.jobLines() + 1 // and the lines below it
	}
	return body
}

// overlay draws the modal over the lines of a frame, which are complete.
func (s *Shell) overlay(lines []string) {
	if s.modal == nil {
		return
	}
	size := s.modalSize()
	box := strings.Split(s.modal.View(size, s.opts.Theme), "\n")
	box = box[:min(len(box), size.Height)]
	if _, ok := s.bottomModal(); ok {
		if s.message.text != "" {
			box = append(box, s.messageLines(size.Width)...)
			box = box[max(len(box)-size.Height, 0):]
		}
		copy(lines[2+size.Height-len(box):], box)
		return
	}
	width := 0
	for _, line := range box {
		width = max(width, ansi.StringWidth(line))
	}
	left := max((size.Width-width)/2, 0)
	first := 2 + max((size.Height-len(box))/2, 0)
	for i, line := range box {
		lines[first+i] = splice(lines[first+i], line, left)
	}
}

// splice puts a piece over a line, from cell left on.
func splice(line, piece string, left int) string {
	before := ansi.Truncate(line, left, "")
	before += strings.Repeat(" ", max(left-ansi.StringWidth(before), 0))
	return before + piece + ansi.TruncateLeft(line, left+ansi.StringWidth(piece), "")
}
