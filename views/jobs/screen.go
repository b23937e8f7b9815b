package jobs

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/tui/vtable"
	"github.com/recoverctl/recoverctl/views/document"
	"github.com/recoverctl/recoverctl/views/guide"
	"github.com/recoverctl/recoverctl/views/job"
	"github.com/recoverctl/recoverctl/views/overview"
	"github.com/recoverctl/recoverctl/views/phrase"
	"github.com/recoverctl/recoverctl/views/plan"
	"github.com/recoverctl/recoverctl/views/records"
	"github.com/recoverctl/recoverctl/views/rollback"
	"github.com/recoverctl/recoverctl/views/scan"
)

// Source reads overviews and recovery points. *inspect.Inspector is one.
type Source interface {
	job.Source
}

// Options are what the screen needs.
type Options struct {
	Theme  theme.Theme
	Now    func() time.Time // time.Now if nil
	Jobs   []inspect.Job    // in the order of the profile
	Source Source
	// Others are the jobs among them of another engine, by their place in Jobs.
	Others map[int]Other
	// LiveEvery is how often a running job is read again while its own screen
	// shows it; 0: only when asked.
	LiveEvery time.Duration
	// Plans makes cleanup plans; nil: none are made here.
	Plans plan.Source
	// Settings makes plans of a topic's settings; nil: none are made here.
	Settings document.Source
	// Rollbacks makes plans that roll a job back; nil: none are made here.
	Rollbacks rollback.Source
	// Guides checks the steps of guided procedures; nil: none are shown here.
	Guides guide.Source
	// Scans holds the scans for durable calls; nil: none are made here.
	Scans *scan.Scans
	// FindKey says what is known of a key as it was typed; nil: none is looked for.
	FindKey func(ctx context.Context, job inspect.Job, typed string) (inspect.KeyState, error)
	// Records opens a topic to browse its records; nil: none are shown.
	Records records.Open
}

// line is one job of the list.
type line interface {
	read() tui.Cmd
	take(msg tui.Msg) bool
	renew() bool // takes what is new without a read; false: nothing
	at() time.Time
	cells() []vtable.Cell
	words() []string
	detail(width int) []string
	open() tui.Screen
	commands() []tui.Command
}

// Screen is the list of jobs.
type Screen struct {
	options Options
	list    []line
	table   *vtable.Table
	columns []column
	size    tui.Size
}

// New makes the screen.
func New(o Options) *Screen {
	if o.Now == nil {
		o.Now = time.Now
	}
	s := &Screen{options: o, columns: columns(o)}
	for i, j := range o.Jobs {
		if other, is := o.Others[i]; is {
			s.list = append(s.list, &elsewhere{Screen: s, name: phrase.Job(j), other: other})
			continue
		}
		r := overview.NewReader(fmt.Sprintf("job %d", i), j, o.Source, o.Now)
		r.Reading.Scans = o.Scans
		s.list = append(s.list, &agent{Screen: s, job: j, reader: r})
	}
	titles := make([]vtable.Column, 0, len(s.columns))
	for _, c := range s.columns {
		titles = append(titles, c.Column)
	}
	s.table = vtable.New(o.Theme, titles, rows{s})
	return s
}

// Init implements tui.Screen: every job is read in its own slot.
func (s *Screen) Init() tui.Cmd {
	var all tui.Cmd
	for _, l := range s.list {
		all = tui.Batch(all, l.read())
	}
	return all
}

// Reload implements tui.Reloader.
func (s *Screen) Reload() tui.Cmd { return s.Init() }

// Update implements tui.Screen.
func (s *Screen) Update(msg tui.Msg) tui.Cmd {
	for _, l := range s.list {
		if l.take(msg) {
			s.table.SetSource(rows{s})
			break
		}
	}
	return nil
}

// Resize implements tui.Resizer.
func (s *Screen) Resize(size tui.Size) {
	s.size = size
	renewed := false
	for _, l := range s.list {
		renewed = l.renew() || renewed
	}
	if renewed {
		s.table.SetSource(rows{s})
	}
	s.table.Resize(size)
}

// View implements tui.Screen.
func (s *Screen) View(size tui.Size) string {
	if len(s.list) > 0 {
		return s.table.View(size)
	}
	lines := []string{" This profile has no job.", ""}
	lines = append(lines, phrase.Hang("   ", "Add jobs to it in the config file, or give --topic and --brokers for one job: recoverctl config show says where each value comes from.", size.Width-1)...)
	return strings.Join(lines, "\n")
}

// Crumb implements tui.Screen.
func (s *Screen) Crumb() string { return "Jobs" }

// Status implements tui.Screen: the age of the oldest data.
func (s *Screen) Status() tui.Status {
	if len(s.list) == 0 {
		return tui.Status{Timeless: true}
	}
	var oldest time.Time
	for _, l := range s.list {
		if at := l.at(); !at.IsZero() && (oldest.IsZero() || at.Before(oldest)) {
			oldest = at
		}
	}
	return tui.Status{ReadAt: oldest}
}

// Keys implements tui.Screen.
func (s *Screen) Keys() []tui.Key {
	open := tui.Key{Keys: []string{"enter"}, Help: "open", Run: s.open, Disabled: func() string {
		if _, ok := s.table.Cursor(); !ok {
			return "no job is selected"
		}
		return ""
	}}
	copied := tui.CopyKey(func() (what, text string) {
		at, ok := s.table.Cursor()
		if !ok {
			return "the job's name", ""
		}
		return "the job's name", phrase.Copied(s.options.Jobs[at].Name)
	})
	return append([]tui.Key{open, copied}, s.table.Keys()...)
}

// Commands implements tui.Commander: what is asked about a job is asked about the
// selected one.
func (s *Screen) Commands() []tui.Command {
	at, ok := s.table.Cursor()
	if !ok {
		return nil
	}
	return s.list[at].commands()
}

func (s *Screen) open() tui.Cmd {
	at, ok := s.table.Cursor()
	if !ok {
		return nil
	}
	return tui.Push(s.list[at].open())
}

// Open is the screen of the job of this name, with what the list knows of it; false
// where there is none.
func (s *Screen) Open(name string) (tui.Screen, bool) {
	for i, j := range s.options.Jobs {
		if phrase.Job(j) == name {
			return s.list[i].open(), true
		}
	}
	return nil, false
}

// column is a column of the list.
type column struct {
	vtable.Column
	is kind
}

// kind is what a column shows.
type kind int

const (
	ofName kind = iota
	ofFindings
	ofLive
	ofAccepted
	ofRejected
	ofUnknown
	ofBoundary
	ofRisk
	ofCleanup
	ofCheckpoints // of jobs of other engines
	ofRead
)

// columns are those that some job has a value for. They keep the whole name of every
// job, as far as that is possible: others are left out before.
func columns(o Options) []column {
	name := 0
	for _, j := range o.Jobs {
		name = max(name, ansi.StringWidth(phrase.Job(j)))
	}
	all := []column{
		{vtable.Column{Title: "JOB", Min: min(name, 32), Max: 48}, ofName},
		{vtable.Column{Title: "FINDINGS", Min: len("x unread")}, ofFindings},
		{vtable.Column{Title: "LIVE", Min: len(phrase.NotConnected)}, ofLive},
		{vtable.Column{Title: "ACC", Right: true}, ofAccepted},
		{vtable.Column{Title: "REJ", Right: true}, ofRejected},
		{vtable.Column{Title: "UNK", Right: true}, ofUnknown},
	}
	if len(o.Others) < len(o.Jobs) || len(o.Jobs) == 0 {
		all = append(all,
			column{vtable.Column{Title: "BOUNDARY", Min: len("in force")}, ofBoundary},
			column{vtable.Column{Title: "AT RISK", Min: len(phrase.NotScanned), Right: true}, ofRisk},
			column{vtable.Column{Title: "LAST CLEANUP", Min: len("3f9c21aa COMMITTED 22m ago")}, ofCleanup})
	}
	if len(o.Others) > 0 {
		all = append(all, column{vtable.Column{Title: "CHECKPOINTS", Min: len("degraded")}, ofCheckpoints})
	}
	return append(all, column{vtable.Column{Title: "READ", Min: len("14:03Z")}, ofRead})
}

// in puts cells into the columns; a job has no value for the others.
func (s *Screen) in(cells map[kind]vtable.Cell) []vtable.Cell {
	out := make([]vtable.Cell, 0, len(s.columns))
	for _, c := range s.columns {
		cell, has := cells[c.is]
		if !has {
			cell = vtable.Cell{Text: s.options.Theme.Signs.None, Tone: theme.Muted}
		}
		out = append(out, cell)
	}
	return out
}

// rows are the jobs in the order of the profile.
type rows struct{ *Screen }

func (r rows) Len() int                { return len(r.list) }
func (r rows) ID(i int) string         { return strconv.Itoa(i) }
func (r rows) Row(i int) []vtable.Cell { return r.list[i].cells() }
func (r rows) Words(i int) []string    { return r.list[i].words() } // implements vtable.Worder

// Detail says under the selected job what its row can't: the worst findings in
// their words, and the facts behind the numbers.
func (r rows) Detail(i int) []string {
	lines := r.list[i].detail(max(r.size.Width-6, 1))
	if room := r.size.Height - 2; len(lines) > room && room > 0 {
		lines = append(lines[:room-1], r.options.Theme.Paint(theme.Muted, r.options.Theme.Signs.More+" enter shows all of it"))
	}
	return lines
}

// unread is the row of a job that was not read yet, or could not be.
func (s *Screen) unread(name vtable.Cell, busy bool) []vtable.Cell {
	th := s.options.Theme
	if !busy {
		return []vtable.Cell{name, {Text: th.Signs.Error + " unread", Tone: theme.Error}}
	}
	word := "reading…"
	if th.ASCII {
		word = "reading."
	}
	return []vtable.Cell{name, {Text: word, Tone: theme.Muted}}
}

// findings counts errors and warnings by their signs.
func findings(th theme.Theme, problems []inspect.Finding) vtable.Cell {
	errors, warnings := 0, 0
	for _, f := range problems {
		switch f.Severity {
		case inspect.SeverityError:
			errors++
		case inspect.SeverityWarning:
			warnings++
		}
	}
	text, tone := th.Signs.OK+" none", theme.OK
	if warnings > 0 {
		text, tone = fmt.Sprintf("%s %d", th.Signs.Warning, warnings), theme.Warning
	}
	if errors > 0 {
		worst := fmt.Sprintf("%s %d", th.Signs.Error, errors)
		if warnings > 0 {
			worst += "  " + text
		}
		text, tone = worst, theme.Error
	}
	return vtable.Cell{Text: text, Tone: tone}
}

// worst are the worst findings in their words, and how many more there are.
func worst(th theme.Theme, problems []inspect.Finding, width int) []string {
	var lines []string
	const most = 2
	for _, f := range problems[:min(len(problems), most)] {
		tone := phrase.Tone(f.Severity)
		lead := "  "
		if sign := th.Sign(tone); sign != "" {
			lead = sign + " "
		}
		for _, line := range phrase.Hang(lead, phrase.Safe(f.Cause), width) {
			lines = append(lines, th.Paint(tone, line))
		}
	}
	if rest := len(problems) - most; rest > 0 {
		lines = append(lines, "  "+phrase.Count(rest, "more finding", "more findings")+": enter shows all")
	}
	return lines
}

func count(n int, tone theme.Tone) vtable.Cell {
	if n == 0 {
		tone = theme.Plain
	}
	return vtable.Cell{Text: strconv.Itoa(n), Tone: tone}
}
