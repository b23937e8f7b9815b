package job

import (
	"time"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/tui/vtable"
	"github.com/recoverctl/recoverctl/views/overview"
	"github.com/recoverctl/recoverctl/views/phrase"
	"github.com/recoverctl/recoverctl/views/point"
	"github.com/recoverctl/recoverctl/views/restorecheck"
)

// Source reads overviews and recovery points. *inspect.Inspector is one.
type Source interface {
	point.Source
}

// Options are what the screen needs.
type Options struct {
	Theme  theme.Theme
	Now    func() time.Time // time.Now if nil
	Job    inspect.Job
	Source Source
	// Reading is what is known of the job already. It is shown until the screen's
	// own read has ended.
	Reading overview.Reading
}

// Screen is one job.
type Screen struct {
	options Options
	reader  *overview.Reader
	names   map[string]string // of the recovery points, by URI

	points     *vtable.Table
	partitions *vtable.Table
	order      partitionOrder
	chosen     map[string]bool // recovery points whose markers stand on the bars, by URI
	onParts    bool            // the keys act on the partitions
	size       tui.Size
}

// New makes the screen.
func New(o Options) *Screen {
	if o.Now == nil {
		o.Now = time.Now
	}
	s := &Screen{
		options: o, reader: overview.NewReader("overview", o.Job, o.Source, o.Now),
		chosen: map[string]bool{},
	}
	s.reader.Reading = o.Reading
	s.points = vtable.New(o.Theme, pointColumns, pointRows{s})
	s.partitions = vtable.New(o.Theme, nil, partitionRows{Screen: s})
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
	for uri := range s.chosen {
		if _, there := s.reader.Reading.Find(uri); !there {
			delete(s.chosen, uri)
		}
	}
	s.points.SetSource(pointRows{s})
	if len(s.reader.Reading.Overview.Partitions) == 0 {
		s.onParts = false
	}
	s.follow()
}

// follow orders the partitions for the selected recovery point.
func (s *Screen) follow() {
	without := "no boundary"
	switch word, _ := s.reader.Reading.Boundary(); word {
	case "not read":
		without = "boundary not known"
	case "REFUSED":
		without = "boundary REFUSED"
	}
	s.order = orderPartitions(s.reader.Reading.Overview.Partitions, s.selected(), without)
	id, had := s.partitions.Selected()
	s.partitions = vtable.New(s.options.Theme, s.partitionColumns(), partitionRows{Screen: s})
	if had && s.onParts {
		s.partitions.Select(id)
	}
}

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
	l := s.layout(size)
	s.points.Resize(tui.Size{Width: size.Width, Height: l.points})
	s.partitions.Resize(tui.Size{Width: size.Width, Height: l.partitions})
}

// Crumb implements tui.Screen.
func (s *Screen) Crumb() string { return phrase.Job(s.options.Job) }

// Status implements tui.Screen.
func (s *Screen) Status() tui.Status { return tui.Status{ReadAt: s.reader.Reading.At} }

// Keys implements tui.Screen.
func (s *Screen) Keys() []tui.Key {
	point := s.selected()
	noPoint := func() string {
		if point == nil {
			return "no recovery point is selected"
		}
		return ""
	}
	choose, pane := "choose", "partitions"
	if point != nil && s.chosen[point.URI] {
		choose = "unchoose"
	}
	table := s.points
	if s.onParts {
		table, pane = s.partitions, "points"
	}
	keys := []tui.Key{
		{Keys: []string{"enter"}, Help: "open", Disabled: noPoint, Run: s.open},
		{Keys: []string{"v"}, Help: "why", Disabled: noPoint, Run: s.why},
		{Keys: []string{"space"}, Help: choose, Disabled: noPoint, Run: s.choose},
		{Keys: []string{"tab"}, Help: pane, Run: s.otherPane, Disabled: func() string {
			if len(s.reader.Reading.Overview.Partitions) == 0 {
				return "no partition is known"
			}
			return ""
		}},
		{Keys: []string{"f"}, Help: "findings", Run: s.allFindings, Disabled: func() string {
			if len(s.reader.Reading.Problems()) == 0 {
				return "there is no finding"
			}
			return ""
		}},
	}
	keys = append(keys, tui.CopyKey(func() (what, text string) {
		if point == nil {
			return "the recovery point's URI", ""
		}
		return "the recovery point's URI", phrase.Copied(point.URI)
	}))
	for _, k := range table.Keys() {
		move := k.Run
		k.Run = func() tui.Cmd {
			cmd := move()
			if !s.onParts {
				s.follow()
			}
			return cmd
		}
		keys = append(keys, k)
	}
	return keys
}

func (s *Screen) open() tui.Cmd {
	return tui.Push(point.New(point.Options{
		Theme: s.options.Theme, Now: s.options.Now, Job: s.options.Job, Source: s.options.Source,
		Reading: s.reader.Reading, Point: s.selected().URI,
	}))
}

func (s *Screen) why() tui.Cmd {
	return tui.Push(restorecheck.New(restorecheck.Options{
		Theme: s.options.Theme, Now: s.options.Now, Job: s.options.Job, Source: s.options.Source,
		Reading: s.reader.Reading, Point: s.selected().URI,
	}))
}

func (s *Screen) choose() tui.Cmd {
	uri := s.selected().URI
	if s.chosen[uri] {
		delete(s.chosen, uri)
	} else {
		s.chosen[uri] = true
	}
	return nil
}

func (s *Screen) otherPane() tui.Cmd {
	s.onParts = !s.onParts
	s.follow()
	return nil
}

func (s *Screen) allFindings() tui.Cmd {
	return tui.Push(newFindings(s.options.Theme, s.reader.Reading))
}
