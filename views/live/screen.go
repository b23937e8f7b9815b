package live

import (
	"context"
	"strings"
	"time"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/tui/vtable"
	"github.com/recoverctl/recoverctl/views/overview"
	"github.com/recoverctl/recoverctl/views/phrase"
	"github.com/recoverctl/recoverctl/views/point"
	"github.com/recoverctl/recoverctl/views/sheet"
)

// Source reads what a job does now, and recovery points. *inspect.Inspector is
// one.
type Source interface {
	point.Source
	// Running asks Flink what the job does now. The error says what could not be
	// read, beside what could.
	Running(ctx context.Context, job inspect.Job) (inspect.Running, error)
	// Checkpoint asks Flink what the tasks of the job did for a checkpoint.
	Checkpoint(ctx context.Context, job inspect.Job, id int64) (inspect.LiveCheckpointDetails, error)
}

// How often a job is read again while it is shown: at most, and as a console
// does it.
const (
	Soonest = time.Second
	Usual   = 5 * time.Second
)

// Options are what the screen needs.
type Options struct {
	Theme  theme.Theme
	Now    func() time.Time // time.Now if nil
	Job    inspect.Job
	Source Source
	// Reading is the overview that the screen was opened from: it says which
	// points of the history were found. It may be empty.
	Reading overview.Reading
	// Every is how often the job is read again while it is shown; 0: only when
	// asked. What is shorter than Soonest is Soonest.
	Every    time.Duration
	Rollback point.Rollback // to a point of the history; the zero value: none is planned here
	Commands []tui.Command  // of the job, for the palette
}

// Screen is one running job.
type Screen struct {
	options Options

	running  inspect.Running
	err      error // what could not be read
	older    bool  // … by a later read than running, which brought nothing
	answered bool
	reading  bool
	started  time.Time
	readAt   time.Time

	table *vtable.Table
	text  *sheet.Sheet
	panes *tui.Panes
	wrap  tui.Wrap
	size  tui.Size
	head  []string // above the history
	fits  bool     // nothing of the head has to be cut
}

// The panes.
const (
	onHistory = iota
	onText
)

// New makes the screen.
func New(o Options) *Screen {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Every > 0 {
		o.Every = max(o.Every, Soonest)
	}
	s := &Screen{options: o, text: sheet.New(o.Theme)}
	if live := o.Reading.Overview.Live; live != nil {
		s.running, s.readAt = inspect.Running{Source: inspect.Read, Live: live}, o.Reading.At
	}
	s.table = vtable.New(o.Theme, columns, rows{s})
	s.panes = tui.NewPanes(s.table.Focus, func(bool) {})
	return s
}

// Init implements tui.Screen.
func (s *Screen) Init() tui.Cmd { return tui.Batch(s.read(), s.wait()) }

// Reload implements tui.Reloader.
func (s *Screen) Reload() tui.Cmd { return s.Init() }

func (s *Screen) read() tui.Cmd {
	s.started, s.reading = s.options.Now(), true
	source, job := s.options.Source, s.options.Job
	return tui.Load("running", func(ctx context.Context) (inspect.Running, error) { return source.Running(ctx, job) })
}

// wait comes before each read that the screen begins by itself.
func (s *Screen) wait() tui.Cmd {
	if s.options.Every <= 0 {
		return nil
	}
	return tui.After("again", s.options.Every)
}

// Update implements tui.Screen. A read that is still under way when its time
// comes again is not begun twice.
func (s *Screen) Update(msg tui.Msg) tui.Cmd {
	switch msg := msg.(type) {
	case tui.Elapsed:
		again := tui.IfShown(func() tui.Cmd {
			if s.reading || s.running.Source == inspect.NotConnected {
				return nil
			}
			return s.read()
		})
		return tui.Batch(again, s.wait())
	case tui.Loaded[inspect.Running]:
		s.take(msg.Value, msg.Err)
	}
	return nil
}

// take keeps what was known where a read brought nothing, and says so.
func (s *Screen) take(running inspect.Running, err error) {
	s.reading, s.answered = false, true
	s.err = err
	s.older = running.Live == nil && s.running.Live != nil && err != nil
	if !s.older {
		s.running, s.readAt = running, time.Time{}
		if running.Source == inspect.Read {
			s.readAt = s.started
		}
		s.table.SetSource(rows{s})
	}
	if s.history() == nil {
		s.panes.Focus(onHistory)
	}
	s.lay()
}

// history is Flink's, newest first; nil where it is not known.
func (s *Screen) history() *inspect.LiveCheckpoints {
	if s.running.Live == nil {
		return nil
	}
	return s.running.Live.Checkpoints
}

// known reports whether there is a state to show.
func (s *Screen) known() bool { return s.running.Live != nil }

// Resize implements tui.Resizer.
func (s *Screen) Resize(size tui.Size) {
	s.size = size
	s.lay()
}

// leastTable is how many lines of the history stay in sight below the head.
const leastTable = 6

func (s *Screen) lay() {
	s.text.Set(s.whole(s.size.Width))
	s.text.Resize(s.size.Height)
	s.head = s.top(s.size.Width, true)
	s.fits = len(s.head)+1+s.wanted() <= s.size.Height
	if !s.fits && !s.wrap.On() {
		s.head = s.top(s.size.Width, false)
	}
	if room := max(s.size.Height-leastTable-1, 1); len(s.head) > room {
		more := s.options.Theme.Paint(theme.Muted, " "+s.options.Theme.Signs.More+" tab shows all of it")
		s.head = append(s.head[:room-1:room-1], more)
	}
	s.table.Resize(tui.Size{Width: s.size.Width, Height: max(s.size.Height-len(s.head)-1, 0)})
}

// wanted is how many lines show the whole history, with some room for what
// stands under the selected entry.
func (s *Screen) wanted() int {
	const details = 5
	return 1 + rows{s}.Len() + details
}

// View implements tui.Screen.
func (s *Screen) View(size tui.Size) string {
	if !s.known() || s.panes.Focused() == onText {
		return s.text.View(size)
	}
	lines := append(s.head[:len(s.head):len(s.head)], "")
	switch h := s.history(); {
	case h == nil:
		lines = append(lines, s.options.Theme.Paint(theme.Warning, "   the checkpoint history could not be read"))
	case len(h.History) == 0:
		lines = append(lines, "   no checkpoint is in Flink's history")
	default:
		lines = append(lines, s.table.View(tui.Size{Width: size.Width, Height: size.Height - len(lines)}))
	}
	return strings.Join(lines, "\n")
}

// Crumb implements tui.Screen.
func (s *Screen) Crumb() string { return "live" }

// Status implements tui.Screen.
func (s *Screen) Status() tui.Status {
	return tui.Status{ReadAt: s.readAt, Timeless: s.running.Source == inspect.NotConnected}
}

// Commands implements tui.Commander.
func (s *Screen) Commands() []tui.Command { return overview.Elsewhere(s.options.Commands, "live") }

// Keys implements tui.Screen.
func (s *Screen) Keys() []tui.Key {
	if !s.known() {
		return s.text.Keys()
	}
	pane := "all of it"
	if s.panes.Focused() == onText {
		pane = "history"
	}
	panes := s.panes.Keys()
	panes[0].Help = pane
	copied := tui.CopyKey(s.copied)
	if s.panes.Focused() == onText {
		return append(append(panes, copied), s.text.Keys()...)
	}
	open := tui.Key{Keys: []string{"enter"}, Help: "open", Run: s.open, Disabled: func() string {
		switch entry, _, found := s.selected(); {
		case entry == nil:
			return "no checkpoint is selected"
		case !found:
			return "it is none of the recovery points that were found"
		}
		return ""
	}}
	wrap := s.wrap.Key()
	wrap.Disabled = func() string {
		if s.fits {
			return "every line is whole"
		}
		return ""
	}
	tasks := tui.Key{Keys: []string{"t"}, Help: "tasks", Run: s.tasks, Disabled: func() string {
		if entry, _, _ := s.selected(); entry == nil {
			return "no checkpoint is selected"
		}
		return ""
	}}
	keys := append([]tui.Key{open, tasks}, panes...)
	return append(append(keys, wrap, copied), s.table.Keys()...)
}

// selected is the entry of the history that the keys act on, and the recovery
// point that it is among those that were found.
func (s *Screen) selected() (entry *inspect.LiveCheckpoint, at int, found bool) {
	i, ok := s.table.Cursor()
	h := s.history()
	if !ok || h == nil || i >= len(h.History) {
		return nil, 0, false
	}
	entry = &h.History[i]
	if entry.Path != nil {
		at, found = inspect.PointAt(s.options.Reading.Overview.Points, *entry.Path)
	}
	return entry, at, found
}

func (s *Screen) open() tui.Cmd {
	_, at, _ := s.selected()
	return tui.Push(point.New(point.Options{
		Theme: s.options.Theme, Now: s.options.Now, Job: s.options.Job, Source: s.options.Source,
		Reading: s.options.Reading, Point: s.options.Reading.Overview.Points[at].URI, Rollback: s.options.Rollback, Commands: s.options.Commands,
	}))
}

func (s *Screen) tasks() tui.Cmd {
	entry, _, _ := s.selected()
	return tui.Push(newTasks(s.options, *entry))
}

func (s *Screen) copied() (what, text string) {
	if s.panes.Focused() == onText {
		if c := s.running.Live.RootCause; c != nil {
			return "the root cause", phrase.Safe(strings.Trim(c.Type+": "+c.Message, ": "))
		}
		return "the root cause", ""
	}
	entry, _, _ := s.selected()
	if entry == nil || entry.Path == nil {
		return "the checkpoint's path", ""
	}
	return "the checkpoint's path", phrase.Copied(*entry.Path)
}
