package calls

import (
	"context"
	"slices"
	"time"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/tui/vtable"
	"github.com/recoverctl/recoverctl/views/overview"
	"github.com/recoverctl/recoverctl/views/phrase"
	"github.com/recoverctl/recoverctl/views/scan"
)

// Options are what the screen needs.
type Options struct {
	Theme theme.Theme
	Now   func() time.Time // time.Now if nil
	Job   inspect.Job
	Scans *scan.Scans
	// Reading is the overview that the screen was opened from: it has the topic's
	// id, and the recovery points with their verdicts. It may be empty.
	Reading overview.Reading
	// Points are the recovery points whose outcomes are asked about, by URI; empty:
	// those that are accepted.
	Points []string
	// Find says what is known of a key as it was typed; nil: no key is looked for.
	Find func(ctx context.Context, job inspect.Job, typed string) (inspect.KeyState, error)
	// Records is the screen of the records around an offset; nil: there is none.
	Records  func(partition int32, offset int64) tui.Screen
	Commands []tui.Command // of the job, for the palette
}

// Screen is the list of one job's calls.
type Screen struct {
	options Options
	scan    *scan.Scan
	state   scan.State // of the scan, as it stands
	shown   scan.State // of what is shown: an earlier scan's, until this one has a result

	table   *vtable.Table
	rows    rows
	ordered bool     // the rows are all that the ended scan found
	points  []string // that outcomes are shown for, by URI
	names   map[string]string
	first   int // of the points, the first that has a column
	columns int // how many have one
	wide    bool
	next    time.Time
	moved   bool              // the operator has chosen a row
	texts   map[string]string // of keys by their digests, as far as they were found here

	size   tui.Size
	look   theme.Palette
	layout layout
}

// The slots of the screen's reads.
const (
	slotScan  = "scan"
	slotOrder = "order"
)

// New makes the screen.
func New(o Options) *Screen {
	if o.Now == nil {
		o.Now = time.Now
	}
	s := &Screen{options: o, names: phrase.Names(o.Reading.Overview.Points), texts: map[string]string{}}
	s.rows = rows{screen: s}
	s.table = vtable.New(o.Theme, s.tableColumns(), s.rows)
	s.choose()
	return s
}

// Init implements tui.Screen. A scan of the topic that there is already is
// shown; otherwise one begins.
func (s *Screen) Init() tui.Cmd {
	if found := s.options.Scans.Of(s.options.Job, s.options.Reading.Overview.TopicID); found != nil {
		if state := found.State(); state.Running || state.Known() {
			return s.follow(found)
		}
	}
	return s.Reload()
}

// Reload implements tui.Reloader: it scans the topic again, unless a scan runs.
func (s *Screen) Reload() tui.Cmd {
	return s.follow(s.options.Scans.Start(s.options.Job, s.options.Reading.Overview.TopicID))
}

func (s *Screen) follow(found *scan.Scan) tui.Cmd {
	s.scan = found
	return tui.Batch(s.take(found.State()), found.Follow(slotScan))
}

// Update implements tui.Screen.
func (s *Screen) Update(msg tui.Msg) tui.Cmd {
	switch msg := msg.(type) {
	case tui.Progress[scan.State]:
		return s.take(msg.Value)
	case tui.Loaded[scan.State]:
		if msg.Err != nil { // the screen has left
			return nil
		}
		return s.take(msg.Value)
	case tui.Loaded[scan.List]:
		s.ordered = true
		s.show(msg.Value)
		if !s.moved && s.table.Filter() == "" && msg.Value.Len() > 0 { // the worst comes first only now
			s.table.Select(msg.Value.At(0).ID())
			s.lay()
		}
	}
	return nil
}

// take shows how the scan stands. Where it has ended, its calls are ordered by
// their outcomes, beside the console.
func (s *Screen) take(state scan.State) tui.Cmd {
	s.state = state
	if s.ordered && !state.Known() {
		s.lay()
		return nil
	}
	known := s.shown.Known() && s.shown.Started.Equal(state.Started)
	s.shown = state
	s.choose()
	if !state.Known() {
		s.show(state.Open)
		return nil
	}
	s.lay()
	if known {
		return nil
	}
	found, points := state.Calls, s.points
	return tui.Load(slotOrder, func(context.Context) (scan.List, error) {
		return scan.Sort(slices.Concat(found.Actions, found.Removed), points), nil
	})
}

// crowd is from how many rows on a filtered table takes newer ones only now and
// then: looking through all of them takes time that the scan needs.
const (
	crowd  = 50_000
	breath = 2 * time.Second
)

// show shows other rows; the selection stays on its call.
func (s *Screen) show(list scan.List) {
	if now := s.options.Now(); s.state.Running && s.table.Filter() != "" && list.Len() > crowd {
		if now.Before(s.next) {
			s.lay()
			return
		}
		s.next = now.Add(breath)
	}
	s.rows = rows{screen: s, list: list}
	s.table.SetSource(s.rows)
	s.lay()
}

// choose says whose outcomes are shown: of those that were chosen, else of those
// that are accepted, else of all, as far as the scan was asked.
func (s *Screen) choose() {
	reading := s.options.Reading
	asked := func(uri string) bool { return s.shown.Calls == nil || s.shown.Points(uri) != nil }
	s.points = slices.DeleteFunc(slices.Clone(s.options.Points), func(uri string) bool { return !asked(uri) })
	all := slices.Clone(reading.Overview.Points)
	if s.shown.Calls != nil {
		for _, p := range s.shown.Calls.Points {
			if s.names[p.Point] == "" {
				s.names[p.Point] = phrase.Last(p.Point)
			}
			if _, known := reading.Find(p.Point); !known { // it came after the overview was read
				all = append(all, inspect.PointSummary{URI: p.Point, Verdict: inspect.Unknown})
			}
		}
	}
	for _, verdict := range []inspect.Verdict{inspect.Accepted, inspect.Unknown, inspect.Rejected} {
		if len(s.points) > 0 {
			break
		}
		for _, p := range all {
			if p.Verdict == verdict && asked(p.URI) {
				s.points = append(s.points, p.URI)
			}
		}
	}
	s.first = min(s.first, max(len(s.points)-1, 0))
}

// selected is the row that the keys act on.
func (s *Screen) selected() (scan.Row, bool) {
	at, ok := s.table.Cursor()
	list := s.table.Source().(rows).list
	if !ok || at >= list.Len() {
		return scan.Row{}, false
	}
	return list.At(at), true
}

// Crumb implements tui.Screen.
func (s *Screen) Crumb() string { return "calls at risk" }

// Commands implements tui.Commander.
func (s *Screen) Commands() []tui.Command { return overview.Elsewhere(s.options.Commands, "calls") }
