package tui

import (
	"context"

	tea "github.com/charmbracelet/bubbletea"
)

// page is a screen on the stack with what it is reading.
type page struct {
	id      int
	screen  Screen
	ctx     context.Context // ends when the screen leaves
	cancel  context.CancelFunc
	reading map[string]reading
	left    bool

	workers  []Worker
	stepping bool // a turn of the workers is on its way
}

// reading is the newest read of a slot.
type reading struct {
	generation int
	cancel     context.CancelFunc
	pause      bool // nothing is read, it waits
}

// answer is what a read brings back, with the address of who asked.
type answer struct {
	page       int
	slot       string
	generation int
	msg        Msg

	// again waits for the next report; nil when this is the last answer.
	again tea.Cmd
}

// over is a report that did not come, because the read ended.
type over struct{}

// start runs a read, in place of an earlier one in the same slot.
func (p *page) start(generation int, t task) tea.Cmd {
	if p.left {
		return nil
	}
	if earlier, ok := p.reading[t.slot]; ok {
		earlier.cancel()
	}
	ctx, cancel := context.WithCancel(p.ctx)
	p.reading[t.slot] = reading{generation, cancel, t.pause}
	address := answer{page: p.id, slot: t.slot, generation: generation}
	job := t.begin()
	read := func() tea.Msg {
		a := address
		a.msg = job.read(ctx)
		return a
	}
	if job.report == nil {
		return read
	}
	var report tea.Cmd
	report = func() tea.Msg {
		msg, ok := job.report(ctx)
		if !ok {
			return over{}
		}
		a := address
		a.msg, a.again = msg, report
		return a
	}
	return tea.Batch(report, read)
}

// accept reports whether an answer is still wanted, and ends its read if it is
// the last one.
func (p *page) accept(a answer) bool {
	r, ok := p.reading[a.slot]
	if !ok || r.generation != a.generation {
		return false
	}
	if a.again == nil {
		r.cancel()
		delete(p.reading, a.slot)
	}
	return true
}

// reads reports whether something is being read.
func (p *page) reads() bool {
	for _, r := range p.reading {
		if !r.pause {
			return true
		}
	}
	return false
}

// stopReading cancels all reads; their answers are dropped.
func (p *page) stopReading() {
	for slot, r := range p.reading {
		r.cancel()
		delete(p.reading, slot)
	}
}

func (p *page) close() {
	p.left = true
	p.stopReading()
	p.cancel()
}
