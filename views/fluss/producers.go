package fluss

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/inspect/fluss"
	"github.com/recoverctl/recoverctl/internal/clock"
	"github.com/recoverctl/recoverctl/internal/figures"
	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/tui/vtable"
	"github.com/recoverctl/recoverctl/views/phrase"
	"github.com/recoverctl/recoverctl/views/sheet"
)

// Source reads one cluster, for one job.
type Source interface {
	// Producers reads the entries of all producers that can be listed. Faults are
	// what could not be read beside what could.
	Producers(ctx context.Context) (list []fluss.Producer, faults []error, err error)
	// Producer reads the entry of one.
	Producer(ctx context.Context, id string) (p fluss.Producer, faults []error, err error)
	// Buckets reads the buckets of the job's table.
	Buckets(ctx context.Context) (b fluss.Buckets, faults []error, err error)
}

// Options are what the screens need.
type Options struct {
	Theme  theme.Theme
	Now    func() time.Time // time.Now if nil
	Job    string           // its name
	Table  string           // the job's, as in database.table; empty: none is configured
	Sink   string           // the one that the job's sink writes to; empty: not known
	Nodes  bool             // the cluster's nodes in ZooKeeper are read: they have the whole list of producers
	Source Source
	// Plan is the screen of a plan that deletes a producer's entry, or registers the
	// log ends for it; nil: none are made here.
	Plan func(id string, register bool) tui.Screen
}

func (o Options) now() time.Time {
	if o.Now == nil {
		return time.Now()
	}
	return o.Now()
}

// Producers is the screen of all producers that can be listed.
type Producers struct {
	options Options
	list    []fluss.Producer
	known   bool // they were read at least once
	readAt  time.Time
	err     error
	faults  []error

	table *vtable.Table
	size  tui.Size
}

const (
	slotProducers = "producers"
	slotProducer  = "producer"
	slotBuckets   = "buckets"
)

var columns = []vtable.Column{
	{Title: "PRODUCER", Min: 16, Flex: 2},
	{Title: "RESTART", Min: len("NOT SAFE")},
	{Title: "EXPIRES", Min: 12},
	{Title: "ROWS TO UNDO", Right: true},
	{Title: "WHY", Min: 10, Flex: 1},
}

// NewProducers makes the screen.
func NewProducers(o Options) *Producers {
	s := &Producers{options: o}
	s.table = vtable.New(o.Theme, columns, rows{s})
	return s
}

// read is an answer with the time at which it was asked for.
type read[T any] struct {
	value  T
	faults []error
	at     time.Time
}

func reading[T any](o Options, slot string, ask func(context.Context) (T, []error, error)) tui.Cmd {
	return tui.Load(slot, func(ctx context.Context) (read[T], error) {
		at := o.now()
		value, faults, err := ask(ctx)
		return read[T]{value, faults, at}, err
	})
}

// Init implements tui.Screen.
func (s *Producers) Init() tui.Cmd {
	return reading(s.options, slotProducers, s.options.Source.Producers)
}

// Reload implements tui.Reloader.
func (s *Producers) Reload() tui.Cmd { return s.Init() }

// Update implements tui.Screen. A read that failed leaves what was known.
func (s *Producers) Update(msg tui.Msg) tui.Cmd {
	if msg, ok := msg.(tui.Loaded[read[[]fluss.Producer]]); ok {
		if s.err = msg.Err; msg.Err == nil {
			s.list, s.faults, s.readAt, s.known = msg.Value.value, msg.Value.faults, msg.Value.at, true
			s.table.SetSource(rows{s})
		}
		s.lay()
	}
	return nil
}

// Resize implements tui.Resizer.
func (s *Producers) Resize(size tui.Size) {
	s.size = size
	s.lay()
}

func (s *Producers) lay() {
	s.table.Resize(tui.Size{Width: s.size.Width, Height: max(s.size.Height-len(s.head(s.size.Width))-1, 0)})
}

// View implements tui.Screen.
func (s *Producers) View(size tui.Size) string {
	lines := s.head(size.Width)
	if len(s.list) > 0 {
		lines = append(lines, "", s.table.View(tui.Size{Width: size.Width, Height: max(size.Height-len(lines)-1, 0)}))
	}
	return strings.Join(lines, "\n")
}

// head says what is wrong first.
func (s *Producers) head(width int) []string {
	p := &sheet.Page{Theme: s.options.Theme, Width: width}
	p.Faults(theme.Error, "", s.err)
	switch {
	case !s.known && s.err == nil:
		p.Say("   reading what the coordinator keeps for producers")
		return p.Lines
	case !s.known:
		p.Say("   One producer can be asked for by its id: :producer ID")
		return p.Lines
	case len(s.list) == 0 && s.options.Nodes && len(s.faults) == 0:
		p.Sign(theme.Plain, "no producer has a node in ZooKeeper: nothing is stored")
		return p.Lines
	case len(s.list) == 0 && s.options.Nodes:
		p.Sign(theme.Warning, "no producer was found, and not everything could be read")
		p.Faults(theme.Warning, "not read: ", errors.Join(s.faults...))
		return p.Lines
	case len(s.list) == 0:
		p.Sign(theme.Plain, "no producer has a folder in the cluster's remote storage")
		p.Say("   No call of Fluss lists producers. One can be asked for by its id: :producer ID")
		return p.Lines
	}
	count := map[fluss.Safety]int{}
	for _, x := range s.list {
		count[x.Verdict]++
	}
	switch {
	case count[fluss.NotSafe] > 0:
		p.Sign(theme.Error, phrase.Count(count[fluss.NotSafe], "producer", "producers")+" of "+figures.Group(int64(len(s.list)))+": a restart is not safe")
	case count[fluss.UnknownSafety] > 0:
		p.Sign(theme.Warning, phrase.Count(count[fluss.UnknownSafety], "producer", "producers")+" of "+figures.Group(int64(len(s.list)))+": whether a restart is safe is not known")
	default:
		p.Sign(theme.OK, "every producer that is listed can be restarted with its entry")
	}
	switch {
	case s.options.Nodes && len(s.faults) == 0:
		p.Say("   All that have a node in ZooKeeper, or a folder in remote storage")
	case s.options.Nodes:
		p.Say("   Those with a node in ZooKeeper, or a folder in remote storage, as far as they could be read")
	default:
		p.Say("   Those with a folder in remote storage. No call of Fluss lists producers: one without a folder is asked for by its id, :producer ID")
	}
	p.Faults(theme.Warning, "not read: ", errors.Join(s.faults...))
	return p.Lines
}

// Crumb implements tui.Screen.
func (s *Producers) Crumb() string { return phrase.Safe(s.options.Job) + " producers" }

// Status implements tui.Screen.
func (s *Producers) Status() tui.Status { return tui.Status{ReadAt: s.readAt} }

// Keys implements tui.Screen.
func (s *Producers) Keys() []tui.Key {
	none := func() string {
		if _, ok := s.selected(); !ok {
			return "no producer is selected"
		}
		return ""
	}
	keys := []tui.Key{
		{Keys: []string{"enter"}, Help: "open", Disabled: none, Run: func() tui.Cmd {
			x, _ := s.selected()
			return tui.Push(NewProducer(s.options, x.ID))
		}},
		{Keys: []string{"B"}, Help: "buckets", Disabled: s.options.noTable, Run: func() tui.Cmd { return tui.Push(NewBuckets(s.options)) }},
		tui.CopyKey(func() (what, text string) {
			x, ok := s.selected()
			if !ok {
				return "the producer's id", ""
			}
			return "the producer's id", phrase.Safe(x.ID)
		}),
	}
	return append(keys, s.table.Keys()...)
}

func (o Options) noTable() string {
	if o.Table == "" {
		return "no table is configured for the job"
	}
	return ""
}

func (s *Producers) selected() (fluss.Producer, bool) {
	i, ok := s.table.Cursor()
	if !ok || i >= len(s.list) {
		return fluss.Producer{}, false
	}
	return s.list[i], true
}

// rows are the producers.
type rows struct{ *Producers }

// Len implements vtable.Source.
func (r rows) Len() int { return len(r.list) }

// ID implements vtable.Source.
func (r rows) ID(i int) string { return r.list[i].ID }

// Row implements vtable.Source.
func (r rows) Row(i int) []vtable.Cell {
	p := r.list[i]
	word, tone := safety(p.Verdict)
	why := ""
	if len(p.Findings) > 0 && p.Verdict != fluss.Safe { // else it is a note
		why = p.Findings[0].Rule
	}
	return []vtable.Cell{
		{Text: phrase.Safe(p.ID)}, {Text: word, Tone: tone}, {Text: expiry(p, r.readAt)},
		{Text: number(p.Undo, r.options.Theme.Signs.None)}, {Text: phrase.Safe(why), Tone: tone},
	}
}

// Detail is the whole id and what the next start of the selected producer does.
func (r rows) Detail(i int) []string {
	p := &sheet.Page{Theme: r.options.Theme, Width: max(r.size.Width-4, 1)}
	x := r.list[i]
	if id := phrase.Safe(x.ID); len(id) > columns[0].Min {
		p.Hang("", theme.Muted, id)
	}
	_, tone := safety(x.Verdict)
	p.Hang("", tone, phrase.Safe(actions.NextStart(x)))
	return p.Lines
}

func safety(v fluss.Safety) (string, theme.Tone) {
	switch v {
	case fluss.Safe:
		return "safe", theme.OK
	case fluss.NotSafe:
		return "NOT SAFE", theme.Error
	default:
		return "unknown", theme.Warning
	}
}

// expiry is when an entry expires, seen from when it was read.
func expiry(p fluss.Producer, at time.Time) string {
	switch {
	case !p.Found:
		return "no entry"
	case p.Expires == nil:
		return "not known"
	case p.Expired:
		return "EXPIRED " + clock.Age(at.Sub(*p.Expires))
	default:
		return "in " + clock.Age(p.Expires.Sub(at))
	}
}

func number(n *int64, none string) string {
	if n == nil {
		return none
	}
	return figures.Group(*n)
}
