package tui

import (
	tea "github.com/charmbracelet/bubbletea"
)

// Worker is work that can't leave the console's goroutine and takes too long
// for one key, such as looking through a million rows. The shell calls Step
// between other things as long as Busy says so; one Step takes a few
// milliseconds at most.
type Worker interface {
	Busy() bool
	Step()
}

// Escaper is a screen or a Worker for which esc first undoes something, as a
// filter, before it leaves the screen. Escape reports whether it did.
type Escaper interface {
	Escape() bool
}

// Work registers a worker with the screen that asks, until that screen leaves.
// Registering it again changes nothing.
func Work(w Worker) Cmd {
	return Cmd{{request: func(_ *Shell, from *page) tea.Cmd {
		for _, known := range from.workers {
			if known == w {
				return nil
			}
		}
		from.workers = append(from.workers, w)
		return nil
	}}}
}

// step is the turn of a page's workers.
type step struct{ page int }

// schedule gives every page with work one turn; there is never more than one
// turn of a page on its way.
func (s *Shell) schedule() tea.Cmd {
	var cmds []tea.Cmd
	for _, p := range s.pages {
		if p.stepping || !p.busy() {
			continue
		}
		p.stepping = true
		turn := step{page: p.id}
		cmds = append(cmds, func() tea.Msg { return turn })
	}
	return tea.Batch(cmds...)
}

// step takes a turn; a page that has left gets none.
func (s *Shell) step(turn step) {
	for _, p := range s.pages {
		if p.id != turn.page {
			continue
		}
		p.stepping = false
		for _, w := range p.workers {
			if w.Busy() {
				w.Step()
				return
			}
		}
	}
}

func (p *page) busy() bool {
	for _, w := range p.workers {
		if w.Busy() {
			return true
		}
	}
	return false
}

// escape lets the page undo something instead of being left.
func (p *page) escape() bool {
	if e, ok := p.screen.(Escaper); ok && e.Escape() {
		return true
	}
	for _, w := range p.workers {
		if e, ok := w.(Escaper); ok && e.Escape() {
			return true
		}
	}
	return false
}
