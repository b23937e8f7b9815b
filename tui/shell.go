package tui

import (
	"context"
	"io"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/recoverctl/recoverctl/tui/theme"
)

// Shell is the stack of screens under one header and one footer. It is a
// bubbletea model; Run wires it to a terminal, package tuitest to a test.
type Shell struct {
	ctx    context.Context // ends with the console
	opts   Options
	pages  []*page
	left   *page // the page that was left last from the one on top; nil if none
	nextID int
	issued int // generations given out

	modal    *opened // nil: none
	rhythm   rhythm
	running  chan struct{} // has a value after a frame that shows a running job
	terminal io.Writer     // for sequences that are no part of a frame; may be nil

	size    Size
	header  Header
	jobs    []Job
	message message
	history []said    // of messages, the oldest first
	typed   []string  // palette commands, the oldest first
	clock   time.Time // what the header shows
	age     time.Time // what ages are counted to

	headerTicked bool // the last tick changed the header line
	gone         bool // the operator left
	err          error
}

// Tick tells the shell that time has passed. Run sends one every ten seconds,
// on the full ten seconds of the clock.
type Tick struct{}

// tickEvery is how often an idle console looks at the time.
const tickEvery = 10 * time.Second

// NewShell makes a shell that shows root. Close ends it.
func NewShell(ctx context.Context, opts Options, root Screen) *Shell {
	if opts.Elapsed == nil {
		start := time.Now()
		opts.Elapsed = func() time.Duration { return time.Since(start) }
	}
	s := &Shell{ctx: ctx, opts: opts, running: make(chan struct{}, 1)}
	s.pages = []*page{s.newPage(root)}
	s.refresh()
	return s
}

// Close cancels every read of every screen.
func (s *Shell) Close() {
	for _, p := range s.pages {
		p.close()
	}
}

// Err is the fault that ended the console; nil while it runs and when the
// operator left.
func (s *Shell) Err() error { return s.err }

// Top is the screen that is shown.
func (s *Shell) Top() Screen { return s.top().screen }

// Init starts the first screen.
func (s *Shell) Init() tea.Cmd {
	cmd := s.do(s.top(), s.top().screen.Init())
	s.refresh()
	return cmd
}

// Update takes what happened. A screen that panics here may hold half a change:
// the console ends rather than show it, and Err says so. Messages that are not
// the console's own, as what a terminal reports about its focus, do nothing.
func (s *Shell) Update(msg tea.Msg) (model tea.Model, cmd tea.Cmd) {
	defer func() {
		if p := recover(); p != nil {
			s.err = defect("update a screen", p)
			s.Close()
			model, cmd = s, tea.Quit
		}
	}()
	switch msg := msg.(type) {
	case Tick:
		s.tick()
		if len(s.jobs) == 0 && len(s.opts.jobs()) == 0 {
			return s, nil
		}
	case tea.WindowSizeMsg:
		s.resize(Size{Width: msg.Width, Height: msg.Height})
	case tea.ResumeMsg:
		s.modalShown()
	case tea.KeyMsg:
		s.header, s.jobs = s.askHeader(), s.opts.jobs() // what is locked must be known as of now
		cmd = s.keys(msg)
	case answer:
		cmd = s.answer(msg)
	case step:
		s.step(msg)
	case copied:
		s.copyEnded(msg)
	case Pulse:
		cmd = s.pulse()
	default:
		return s, nil
	}
	s.refresh()
	return s, tea.Batch(cmd, s.schedule())
}

// resize takes the terminal's size. What could not be seen before is shown
// anew.
func (s *Shell) resize(size Size) {
	hidden := s.small()
	s.size = size
	if hidden && !s.small() {
		s.modalShown()
	}
}

func (s *Shell) answer(a answer) tea.Cmd {
	for _, p := range s.pages {
		if p.id == a.page && p.accept(a) {
			return tea.Batch(s.do(p, p.screen.Update(a.msg)), a.again)
		}
	}
	return nil
}

// do carries out what a screen wants done.
func (s *Shell) do(p *page, cmd Cmd) tea.Cmd {
	var out []tea.Cmd
	for _, t := range cmd {
		if t.request != nil {
			out = append(out, t.request(s, p))
			continue
		}
		s.issued++
		out = append(out, p.start(s.issued, t))
	}
	return tea.Batch(out...)
}

func (s *Shell) newPage(screen Screen) *page {
	ctx, cancel := context.WithCancel(s.ctx)
	s.nextID++
	return &page{id: s.nextID, screen: screen, ctx: ctx, cancel: cancel, reading: map[string]reading{}}
}

func (s *Shell) top() *page { return s.pages[len(s.pages)-1] }

func (s *Shell) show(screen Screen) tea.Cmd {
	p := s.newPage(screen)
	s.pages = append(s.pages, p)
	s.message = message{}
	return s.do(p, screen.Init())
}

func (s *Shell) pop() {
	p := s.top()
	p.close()
	s.pages = s.pages[:len(s.pages)-1]
	s.left = p
	if _, ok := p.screen.(*help); ok {
		s.left = nil // help is no place to go back to
	}
	s.message = message{}
}

// covered reports whether a page may not change which screen is shown.
func (s *Shell) covered(p *page) bool { return s.modal != nil || s.top() != p }

// mayLeave asks a page that is about to be left.
func (s *Shell) mayLeave(p *page) (tea.Cmd, bool) {
	l, asks := p.screen.(Leaver)
	if !asks {
		return nil, true
	}
	cmd, ok := l.Leave()
	return s.do(p, cmd), ok
}

// back is esc.
func (s *Shell) back() tea.Cmd {
	if s.top().escape() {
		return nil
	}
	if len(s.pages) == 1 {
		s.say(theme.Plain, "this is the first screen: q quits")
		return nil
	}
	cmd, ok := s.mayLeave(s.top())
	if ok {
		s.pop()
	}
	return cmd
}

// last goes to the screen that was shown before this one: the one that was left
// to come here, else the one below.
func (s *Shell) last() tea.Cmd {
	if s.left == nil {
		if len(s.pages) == 1 {
			s.say(theme.Plain, "no other screen was shown yet")
			return nil
		}
		cmd, ok := s.mayLeave(s.top())
		if ok {
			s.pop()
		}
		return cmd
	}
	p := s.newPage(s.left.screen)
	s.left = nil
	s.pages = append(s.pages, p)
	s.message = message{}
	if r, ok := p.screen.(Reloader); ok {
		return s.do(p, r.Reload())
	}
	return nil
}

func (s *Shell) reload() tea.Cmd {
	p := s.top()
	r, ok := p.screen.(Reloader)
	if !ok {
		s.say(theme.Plain, "nothing on this screen can be read again")
		return nil
	}
	p.stopReading()
	return s.do(p, r.Reload())
}

func (s *Shell) help() tea.Cmd {
	p := s.top()
	if _, open := p.screen.(*help); open {
		s.pop()
		return nil
	}
	return s.do(p, Push(newHelp(s.opts.Theme, p.screen.Crumb(), p.screen.Keys(), s.commonKeys(), s.commands(), s.header.Locked)))
}

func (s *Shell) quit() tea.Cmd {
	if len(s.pages) > 1 {
		if cmd, ok := s.mayLeave(s.top()); !ok {
			return cmd
		}
		s.say(theme.Plain, "q quits on the first screen only: esc goes back, ctrl-c leaves from here")
		return nil
	}
	return s.leave()
}

// leave ends the console if no job keeps it and every screen agrees, from the
// top down. One that doesn't is shown.
func (s *Shell) leave() tea.Cmd {
	if cmd, stays := s.staying(); stays {
		return cmd
	}
	for i := len(s.pages) - 1; i >= 0; i-- {
		l, asks := s.pages[i].screen.(Leaver)
		if !asks {
			continue
		}
		cmd, ok := l.Leave()
		if !ok {
			for len(s.pages) > i+1 {
				s.pop()
			}
			return s.do(s.pages[i], cmd)
		}
	}
	return s.end()
}

func (s *Shell) end() tea.Cmd {
	s.Close()
	s.gone = true
	return tea.Quit
}

// tick moves the time that is shown. The header and the ages stand on two
// lines; only one of them moves at a time, so that an idle console changes one
// line. The header goes first, but not twice in a row.
func (s *Shell) tick() {
	now := s.opts.now()
	header, clock, before := s.header, s.clock, s.headerLine(s.size.Width)
	s.header, s.clock = s.askHeader(), now
	if !s.headerTicked && s.headerLine(s.size.Width) != before {
		s.headerTicked = true
		return
	}
	s.headerTicked = false
	s.header, s.clock, s.age = header, clock, now
}

// refresh brings everything that a frame shows up to date.
func (s *Shell) refresh() {
	s.header = s.askHeader()
	s.clock = s.opts.now()
	s.age = s.clock
	s.jobs = s.opts.jobs()
	if s.moving() {
		select {
		case s.running <- struct{}{}:
		default:
		}
	}
	if r, ok := s.top().screen.(Resizer); ok {
		r.Resize(s.bodySize())
	}
	if s.modal != nil {
		s.modal.Resize(s.modalSize())
	}
}
