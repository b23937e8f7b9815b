package job

import (
	"context"
	"time"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/tui/vtable"
	"github.com/recoverctl/recoverctl/views/compare"
	"github.com/recoverctl/recoverctl/views/document"
	"github.com/recoverctl/recoverctl/views/guide"
	"github.com/recoverctl/recoverctl/views/live"
	"github.com/recoverctl/recoverctl/views/operations"
	"github.com/recoverctl/recoverctl/views/overview"
	"github.com/recoverctl/recoverctl/views/phrase"
	"github.com/recoverctl/recoverctl/views/plan"
	"github.com/recoverctl/recoverctl/views/records"
	"github.com/recoverctl/recoverctl/views/rollback"
)

// Source reads overviews, recovery points, control topics and running jobs. *inspect.Inspector is one.
type Source interface {
	live.Source
	operations.Source
}

// Options are what the screen needs.
type Options struct {
	Theme  theme.Theme
	Now    func() time.Time // time.Now if nil
	Job    inspect.Job
	Source Source
	// Reading is what is known of the job already. It is shown until the screen's
	// own read has ended. With its Scans the screen has calls.
	Reading overview.Reading
	// LiveEvery is how often the running job is read again while its own screen
	// shows it; 0: only when asked.
	LiveEvery time.Duration
	// Plans makes cleanup plans; nil: none are made here.
	Plans plan.Source
	// Settings makes plans of a topic's settings; nil: none are made here.
	Settings document.Source
	// Rollbacks makes plans that roll the job back; nil: none are made here.
	Rollbacks rollback.Source
	// Guides checks the steps of guided procedures; nil: none are shown here.
	Guides guide.Source
	// FindKey says what is known of a key as it was typed; nil: none is looked for.
	FindKey func(ctx context.Context, job inspect.Job, typed string) (inspect.KeyState, error)
	// Records opens a topic to browse its records; nil: none are shown.
	Records records.Open
}

// Screen is one job.
type Screen struct {
	options Options
	reader  *overview.Reader
	names   map[string]string // of the recovery points, by URI

	points     *vtable.Table
	partitions *vtable.Table
	columns    []vtable.Column // of partitions; one names the point that they are about
	panes      *tui.Panes
	order      partitionOrder
	about      string         // URI of the recovery point that order is about
	chosen     compare.Chosen // recovery points whose markers stand on the bars, by URI
	size       tui.Size
}

// The panes.
const (
	onPoints = iota
	onPartitions
)

// New makes the screen.
func New(o Options) *Screen {
	if o.Now == nil {
		o.Now = time.Now
	}
	s := &Screen{
		options: o, reader: overview.NewReader("overview", o.Job, o.Source, o.Now),
		chosen: compare.Chosen{},
	}
	s.reader.Reading = o.Reading
	s.points = vtable.New(o.Theme, pointColumns, pointRows{s})
	s.columns = s.partitionColumns()
	s.partitions = vtable.New(o.Theme, s.columns, partitionRows{Screen: s})
	s.panes = tui.NewPanes(s.points.Focus, s.partitions.Focus)
	s.take()
	return s
}

// Init implements tui.Screen. What is known already is read again: it may be as
// old as the screen that it comes from.
func (s *Screen) Init() tui.Cmd { return s.reader.Read() }

// Reload implements tui.Reloader.
func (s *Screen) Reload() tui.Cmd { return s.reader.Read() }

// Update implements tui.Screen.
func (s *Screen) Update(msg tui.Msg) tui.Cmd {
	if s.reader.Take(msg) {
		s.take()
	}
	return nil
}

// take brings names, choices and rows up to date with what was read.
func (s *Screen) take() {
	points := s.reader.Reading.Overview.Points
	s.names = phrase.Names(points)
	s.chosen.Keep(s.uris())
	s.points.SetSource(pointRows{s})
	if len(s.reader.Reading.Overview.Partitions) == 0 {
		s.panes.Focus(onPoints)
	}
	s.follow()
}

// follow orders the partitions for the selected recovery point, the worst first.
func (s *Screen) follow() {
	without := "no boundary"
	if s.options.Job.Store == inspect.StoreFluss {
		without = "" // there are none
	}
	switch word, _ := s.reader.Reading.Boundary(); word {
	case "not read", phrase.NoAnswerYet:
		without = "boundary not known"
	case "REFUSED":
		without = "boundary REFUSED"
	}
	point := s.selected()
	s.about = ""
	if point != nil {
		s.about = point.URI
	}
	s.order = orderPartitions(s.reader.Reading.Overview.Partitions, point, without)
	copy(s.columns, s.partitionColumns()) // the table's own
	rows := partitionRows{Screen: s}
	s.partitions.SetSource(rows)
	if !s.onParts() && rows.Len() > 0 {
		s.partitions.Select(rows.ID(0))
	}
}

// onParts reports whether the keys act on the partitions.
func (s *Screen) onParts() bool { return s.panes.Focused() == onPartitions }

// selected is the recovery point that the keys act on; nil if there is none.
func (s *Screen) selected() *inspect.PointSummary {
	at, ok := s.points.Cursor()
	points := s.reader.Reading.Overview.Points
	if !ok || at >= len(points) {
		return nil
	}
	return &points[at]
}

// Resize implements tui.Resizer.
func (s *Screen) Resize(size tui.Size) {
	s.size = size
	if s.reader.Renew() {
		s.take()
	}
	if point := s.selected(); (point == nil) != (s.about == "") || point != nil && point.URI != s.about {
		s.follow()
	}
	l := s.layout(size)
	s.points.Resize(tui.Size{Width: size.Width, Height: l.points})
	s.partitions.Resize(tui.Size{Width: size.Width, Height: l.partitions})
}

// Crumb implements tui.Screen.
func (s *Screen) Crumb() string { return phrase.Job(s.options.Job) }

// Status implements tui.Screen.
func (s *Screen) Status() tui.Status { return tui.Status{ReadAt: s.reader.Reading.At} }
