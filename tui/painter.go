package tui

import (
	"strconv"
	"strings"
	"sync"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"
)

// display is the shell as bubbletea runs it. Its frames go to a painter of our
// own: bubbletea's looks for a new one sixty times a second, for ever, which
// costs an idle console more than 1 % of a CPU and lets each key wait for its
// turn. The rest of the terminal is bubbletea's: modes, sizes, suspension.
type display struct {
	*Shell
	painter *painter
}

// blank is what bubbletea gets for a frame. Output lets none of its frames
// through.
const blank = " "

// Update takes a message. A new size may have garbled what is on the terminal,
// also where it is the old one again.
func (d display) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	_, cmd := d.Shell.Update(msg)
	if _, resized := msg.(tea.WindowSizeMsg); resized {
		d.painter.anew()
	}
	return d, cmd
}

// View hands the frame on.
func (d display) View() string {
	if text := d.Shell.View(); text != "" {
		d.painter.show(frame{text, d.size})
	}
	return blank
}

// frame is what the terminal should show.
type frame struct {
	text string
	size Size // of the terminal
}

// painter writes frames to the terminal, the newest first of those that come
// while it writes: a slow line makes it leave frames out, never lag behind.
type painter struct {
	out *output

	mu   sync.Mutex
	next *frame
	all  bool          // the terminal may show anything: every line has to be written
	wake chan struct{} // has a value when there is something to do

	last []string // the lines that the terminal shows
}

// paintEvery is the shortest time between two frames.
const paintEvery = 10 * time.Millisecond

func newPainter(out *output) *painter {
	return &painter{out: out, wake: make(chan struct{}, 1)}
}

func (p *painter) show(f frame) {
	p.mu.Lock()
	p.next = &f
	p.mu.Unlock()
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// anew writes the next frame whole.
func (p *painter) anew() {
	p.mu.Lock()
	p.all = true
	p.mu.Unlock()
}

// run paints until ended is closed.
func (p *painter) run(ended <-chan struct{}) {
	for {
		select {
		case <-ended:
			return
		case <-p.wake:
		}
		p.paint()
		timer := time.NewTimer(paintEvery)
		select {
		case <-ended:
			timer.Stop()
			return
		case <-timer.C:
		}
	}
}

func (p *painter) paint() {
	p.mu.Lock()
	f, all := p.next, p.all
	if f != nil {
		p.next, p.all = nil, false
	}
	p.mu.Unlock()
	if f == nil {
		return
	}
	lines := strings.Split(f.text, "\n")
	p.out.paint(func(unknown bool) string {
		last := p.last
		if all || unknown {
			last = nil
		}
		p.last = lines
		return difference(last, lines, f.size)
	})
}

// difference is what turns a terminal that shows one frame into one that shows
// another; from nil, one that may show anything.
func difference(from, to []string, size Size) string {
	var b strings.Builder
	for i, line := range to {
		if from != nil && i < len(from) && from[i] == line {
			continue
		}
		b.WriteString("\x1b[" + strconv.Itoa(i+1) + ";1H")
		b.WriteString(line)
		if ansi.StringWidth(line) < size.Width { // after the last cell it would erase that
			b.WriteString(ansi.EraseLineRight)
		}
	}
	if (from == nil || len(from) > len(to)) && len(to) < size.Height {
		b.WriteString("\x1b[" + strconv.Itoa(len(to)+1) + ";1H" + ansi.EraseScreenBelow)
	}
	return b.String()
}
