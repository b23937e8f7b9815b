package tui

import (
	"context"
	"fmt"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/recoverctl/recoverctl/internal/safetext"
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

	size    Size
	header  Header
	message message
	clock   time.Time // what the header shows
	age     time.Time // what ages are counted to

	headerTicked bool // the last tick changed the header line
	gone         bool // the operator left
	err          error
}

type message struct {
	tone theme.Tone
	text string
}

// Tick tells the shell that time has passed. Run sends one every ten seconds,
// on the full ten seconds of the clock.
type Tick struct{}

// tickEvery is how often an idle console looks at the time.
const tickEvery = 10 * time.Second

// NewShell makes a shell that shows root. Close ends it.
func NewShell(ctx context.Context, opts Options, root Screen) *Shell {
	s := &Shell{ctx: ctx, opts: opts}
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
// the console ends rather than show it, and Err says so.
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
		return s, nil
	case over:
		return s, nil
	case tea.WindowSizeMsg:
		s.size = Size{Width: msg.Width, Height: msg.Height}
	case tea.KeyMsg:
		s.header = s.opts.header() // what is locked must be known as of now
		cmd = s.keys(msg)
	case answer:
		cmd = s.answer(msg)
	}
	s.refresh()
	return s, cmd
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

// back is esc.
func (s *Shell) back() tea.Cmd {
	if len(s.pages) == 1 {
		s.say(theme.Plain, "this is the first screen: q quits")
		return nil
	}
	s.pop()
	return nil
}

// last goes to the screen that was shown before this one: the one that was left
// to come here, else the one below.
func (s *Shell) last() tea.Cmd {
	if s.left == nil {
		if len(s.pages) == 1 {
			s.say(theme.Plain, "no other screen was shown yet")
			return nil
		}
		s.pop()
		return nil
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
	return s.do(p, Push(newHelp(s.opts.Theme, p.screen.Crumb(), p.screen.Keys(), s.commonKeys(), s.header.Locked)))
}

func (s *Shell) quit() tea.Cmd {
	if len(s.pages) > 1 {
		s.say(theme.Plain, "q quits on the first screen only: esc goes back, ctrl-c leaves from here")
		return nil
	}
	return s.leave()
}

func (s *Shell) leave() tea.Cmd {
	s.Close()
	s.gone = true
	return tea.Quit
}

func (s *Shell) say(tone theme.Tone, text string) { s.message = message{tone, text} }

// tick moves the time that is shown. The header and the ages stand on two
// lines; only one of them moves at a time, so that an idle console changes one
// line. The header goes first, but not twice in a row.
func (s *Shell) tick() {
	now := s.opts.now()
	header, clock, before := s.header, s.clock, s.headerLine(s.size.Width)
	s.header, s.clock = s.opts.header(), now
	if !s.headerTicked && s.headerLine(s.size.Width) != before {
		s.headerTicked = true
		return
	}
	s.headerTicked = false
	s.header, s.clock, s.age = header, clock, now
}

// refresh brings everything that a frame shows up to date.
func (s *Shell) refresh() {
	s.header = s.opts.header()
	s.clock = s.opts.now()
	s.age = s.clock
	if r, ok := s.top().screen.(Resizer); ok {
		r.Resize(s.bodySize())
	}
}

// keys takes one message of bubbletea, which holds all letters of one read, and
// presses them one by one.
func (s *Shell) keys(msg tea.KeyMsg) tea.Cmd {
	if msg.Paste {
		if !s.small() {
			s.say(theme.Warning, "a paste is not taken here: press keys one at a time")
		}
		return nil
	}
	if msg.Type != tea.KeyRunes || msg.Alt || len(msg.Runes) == 1 {
		cmd, _ := s.press(keyName(msg), false)
		return cmd
	}
	var cmds []tea.Cmd
	for _, r := range msg.Runes {
		cmd, ok := s.press(string(r), true)
		cmds = append(cmds, cmd)
		if !ok {
			break
		}
	}
	return tea.Batch(cmds...)
}

// press runs one key. In a burst of letters that came together, keys that
// change something or leave do nothing; false then ends the burst, as does a
// key without a meaning: the rest was meant for something else.
func (s *Shell) press(name string, burst bool) (tea.Cmd, bool) {
	if s.small() && name != "ctrl+c" && name != "ctrl+z" {
		return nil, false
	}
	if s.message.tone == theme.Plain {
		s.message = message{}
	}
	p := s.top()
	k, known := findKey(name, s.commonKeys(), p.screen.Keys())
	if !known {
		s.say(theme.Plain, fmt.Sprintf("%s does nothing here: ? lists the keys", safetext.Of(label(name, s.opts.Theme))))
		return nil, false
	}
	if why := k.off(s.header.Locked); why != "" {
		s.say(theme.Warning, fmt.Sprintf("%s %s is off: %s", name, k.Help, why))
		return nil, false
	}
	if burst && (k.Dangerous || k.leaves) {
		s.say(theme.Warning, fmt.Sprintf("%s came together with other letters and was not taken: press it alone", name))
		return nil, false
	}
	return s.do(p, k.Run()), true
}

// commonKeys are the keys of every screen with what they do.
func (s *Shell) commonKeys() []Key {
	run := map[string]func() tea.Cmd{
		"esc":    s.back,
		"r":      s.reload,
		"-":      s.last,
		"q":      s.quit,
		"ctrl+c": s.leave,
		"ctrl+z": func() tea.Cmd { return tea.Suspend },
		"?":      s.help,
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

// keyName is bubbletea's name for a key, and "space" for the space.
func keyName(msg tea.KeyMsg) string {
	if name := msg.String(); name != " " {
		return name
	}
	return "space"
}
