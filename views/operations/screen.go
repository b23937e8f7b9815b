package operations

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/tui/vtable"
	"github.com/recoverctl/recoverctl/views/overview"
	"github.com/recoverctl/recoverctl/views/phrase"
	"github.com/recoverctl/recoverctl/views/plan"
	"github.com/recoverctl/recoverctl/views/scan"
	"github.com/recoverctl/recoverctl/views/sheet"
)

// Source reads a job's control topic, and its log starts and recovery points
// again. *inspect.Inspector is one.
type Source interface {
	overview.Source
	// Control reads the control topic and judges it. A nil history is what the
	// data topic says now.
	Control(ctx context.Context, job inspect.Job, expect *inspect.History) (inspect.CleanupBoundary, error)
}

// Options are what the screen needs.
type Options struct {
	Theme  theme.Theme
	Now    func() time.Time // time.Now if nil
	Job    inspect.Job
	Source Source
	// Reading is the overview that the screen was opened from: log starts and
	// recovery points are its. It may be empty.
	Reading overview.Reading
	// Plans judges the plan of an operation; nil: none are judged here.
	Plans    plan.Source
	Commands []tui.Command // of the job, for the palette
}

// Screen is the history of one control topic.
type Screen struct {
	options Options
	reader  *overview.Reader // of later overviews than the one it was opened with

	boundary inspect.CleanupBoundary
	ops      []inspect.Operation // the newest record first
	parts    []int32             // of the boundary
	setBy    map[int32][]inspect.Operation
	err      error
	answered bool
	started  time.Time
	readAt   time.Time // zero: nothing was read

	table     *vtable.Table // of operations
	bounds    *vtable.Table // of partitions
	panes     *tui.Panes
	head      []string
	text      *sheet.Sheet // the head alone, where there is no operation
	size      tui.Size
	partition map[int32]inspect.PartitionOverview // as of the overview
	scanned   scan.State                          // of the topic, whole; zero: there is none
}

// The panes.
const (
	onOperations = iota
	onBoundary
)

// New makes the screen.
func New(o Options) *Screen {
	if o.Now == nil {
		o.Now = time.Now
	}
	s := &Screen{options: o, reader: overview.NewReader("overview", o.Job, o.Source, o.Now), text: sheet.New(o.Theme)}
	s.take(o.Reading)
	s.table = vtable.New(o.Theme, s.operationColumns(), operationRows{s})
	s.bounds = vtable.New(o.Theme, boundaryColumns, boundaryRows{s})
	s.panes = tui.NewPanes(s.table.Focus, s.bounds.Focus)
	return s
}

// take takes log starts and recovery points.
func (s *Screen) take(r overview.Reading) {
	if r.Scans == nil {
		r.Scans = s.options.Reading.Scans
	}
	s.options.Reading, s.partition = r, make(map[int32]inspect.PartitionOverview, len(r.Overview.Partitions))
	for _, p := range r.Overview.Partitions {
		s.partition[p.Partition] = p
	}
}

// Init implements tui.Screen.
func (s *Screen) Init() tui.Cmd {
	if s.options.Job.ControlTopic == nil {
		return nil
	}
	s.started = s.options.Now()
	source, job := s.options.Source, s.options.Job
	return tui.Batch(s.follow(), tui.Load("control", func(ctx context.Context) (inspect.CleanupBoundary, error) { return source.Control(ctx, job, nil) }))
}

// Reload implements tui.Reloader: what an operation has done shows in the log.
func (s *Screen) Reload() tui.Cmd {
	if s.options.Job.ControlTopic == nil {
		return nil
	}
	return tui.Batch(s.Init(), s.reader.Read())
}

// Update implements tui.Screen. A read that brought nothing leaves what was
// known.
func (s *Screen) Update(msg tui.Msg) tui.Cmd {
	if s.reader.Take(msg) {
		if s.reader.Reading.Known() && !s.reader.Reading.Failed {
			s.take(s.reader.Reading)
		}
		s.lay()
		return nil
	}
	switch msg := msg.(type) {
	case tui.Loaded[inspect.CleanupBoundary]:
		return s.control(msg)
	case tui.Loaded[scan.State]:
		if msg.Err != nil { // the screen has left
			return nil
		}
		return s.scan(msg.Value)
	case tui.Loaded[counts]:
		s.counted(msg.Value)
		s.lay()
	}
	return nil
}

// control takes what the control topic says.
func (s *Screen) control(loaded tui.Loaded[inspect.CleanupBoundary]) tui.Cmd {
	s.err, s.answered = loaded.Err, true
	if loaded.Err == nil {
		s.boundary, s.readAt = loaded.Value, s.started
		s.ops = slices.Clone(loaded.Value.Operations)
		slices.SortStableFunc(s.ops, func(a, b inspect.Operation) int { return cmp.Compare(b.ControlOffset, a.ControlOffset) })
		s.parts = loaded.Value.Offsets.Partitions()
		s.setBy = inspect.SetBy(s.ops)
		s.table.SetSource(operationRows{s})
		s.bounds.SetSource(boundaryRows{s})
	}
	if len(s.parts) == 0 {
		s.panes.Focus(onOperations)
	}
	s.lay()
	return s.count()
}

// Resize implements tui.Resizer.
func (s *Screen) Resize(size tui.Size) {
	s.size = size
	s.lay()
}

// leastRows is how many lines of a table stay in sight below the head.
const leastRows = 6

func (s *Screen) lay() {
	all := s.page(s.size.Width, true)
	s.text.Set(all)
	s.text.Resize(s.size.Height)
	s.head = all
	if room := max(s.size.Height-leastRows-1, 2); len(s.head) > room {
		s.head = s.page(s.size.Width, false)
	}
	height := max(s.size.Height-len(s.head)-1, 0)
	s.table.SetColumns(s.operationColumns())
	s.table.Resize(tui.Size{Width: s.size.Width, Height: height})
	s.bounds.Resize(tui.Size{Width: s.size.Width, Height: height})
}

// View implements tui.Screen.
func (s *Screen) View(size tui.Size) string {
	if len(s.ops) == 0 {
		return s.text.View(size)
	}
	lines := append(s.head[:len(s.head):len(s.head)], "")
	table := s.table
	if s.panes.Focused() == onBoundary {
		table = s.bounds
	}
	return strings.Join(append(lines, table.View(tui.Size{Width: size.Width, Height: size.Height - len(lines)})), "\n")
}

// Crumb implements tui.Screen.
func (s *Screen) Crumb() string { return "operations" }

// Status implements tui.Screen.
func (s *Screen) Status() tui.Status {
	return tui.Status{ReadAt: s.readAt, Timeless: s.options.Job.ControlTopic == nil}
}

// Commands implements tui.Commander.
func (s *Screen) Commands() []tui.Command {
	return overview.Elsewhere(s.options.Commands, "operations")
}

// Keys implements tui.Screen.
func (s *Screen) Keys() []tui.Key {
	if len(s.ops) == 0 {
		return s.text.Keys()
	}
	none := func() string {
		if _, ok := s.selected(); !ok {
			return "no operation is selected"
		}
		return ""
	}
	panes := s.panes.Keys()
	panes[0].Help = "boundary"
	copied := tui.CopyKey(func() (what, text string) {
		op, ok := s.selected()
		if !ok {
			return "the plan's id", ""
		}
		return "the plan's id", phrase.Copied(op.PlanID)
	})
	if s.panes.Focused() == onBoundary {
		panes[0].Help = "operations"
		return append(panes, s.bounds.Keys()...)
	}
	panes[0].Disabled = func() string {
		if len(s.parts) == 0 {
			return "no boundary is in force"
		}
		return ""
	}
	panes[1].Disabled = panes[0].Disabled
	keys := append([]tui.Key{{Keys: []string{"enter"}, Help: "open", Disabled: none, Run: s.open}}, panes...)
	if s.options.Plans != nil {
		keys = append(keys, s.finish(none), tui.Key{Keys: []string{"e"}, Help: "verify", Disabled: none, Run: s.verify})
	}
	return append(append(keys, copied), s.table.Keys()...)
}

// finish opens the plan of the selected operation as things are now: the control
// topic holds all that an apply needs to finish it.
func (s *Screen) finish(none func() string) tui.Key {
	key := tui.Key{Keys: []string{"p"}, Help: "finish"}
	key.Disabled = func() string {
		op, ok := s.selected()
		if ok && op.Status == inspect.StatusApplied {
			return "this cleanup is APPLIED: there is nothing to finish"
		}
		return none()
	}
	key.Run = func() tui.Cmd {
		op, _ := s.selected()
		o, recorded := s.options, actions.PlanOf(op)
		return tui.Push(plan.New(plan.Options{Theme: o.Theme, Job: o.Job, Source: o.Plans, Plan: &recorded, Commands: o.Commands}))
	}
	return key
}

// verify asks the cluster what has become of the selected operation.
func (s *Screen) verify() tui.Cmd {
	op, _ := s.selected()
	return tui.Push(newVerdict(s.options, actions.PlanOf(op)))
}

func (s *Screen) selected() (inspect.Operation, bool) {
	at, ok := s.table.Cursor()
	if !ok || at >= len(s.ops) {
		return inspect.Operation{}, false
	}
	return s.ops[at], true
}

func (s *Screen) open() tui.Cmd {
	op, _ := s.selected()
	return tui.Push(newDetail(s.options, op, s.readAt))
}
