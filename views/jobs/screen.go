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

// Screen is the list of jobs.
type Screen struct {
	options Options
	readers []*overview.Reader
	table   *vtable.Table
	size    tui.Size
}

// New makes the screen.
func New(o Options) *Screen {
	if o.Now == nil {
		o.Now = time.Now
	}
	s := &Screen{options: o}
	for i, j := range o.Jobs {
		r := overview.NewReader(fmt.Sprintf("job %d", i), j, o.Source, o.Now)
		r.Reading.Scans = o.Scans
		s.readers = append(s.readers, r)
	}
	s.table = vtable.New(o.Theme, columns(o.Jobs), rows{s})
	return s
}

// Init implements tui.Screen: every job is read in its own slot.
func (s *Screen) Init() tui.Cmd {
	var all tui.Cmd
	for _, r := range s.readers {
		all = tui.Batch(all, r.Read())
	}
	return all
}

// Reload implements tui.Reloader.
func (s *Screen) Reload() tui.Cmd { return s.Init() }

// Update implements tui.Screen.
func (s *Screen) Update(msg tui.Msg) tui.Cmd {
	for _, r := range s.readers {
		if r.Take(msg) {
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
	for _, r := range s.readers {
		renewed = r.Renew() || renewed
	}
	if renewed {
		s.table.SetSource(rows{s})
	}
	s.table.Resize(size)
}

// View implements tui.Screen.
func (s *Screen) View(size tui.Size) string {
	if len(s.readers) > 0 {
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
	if len(s.readers) == 0 {
		return tui.Status{Timeless: true}
	}
	var oldest time.Time
	for _, r := range s.readers {
		if at := r.Reading.At; !at.IsZero() && (oldest.IsZero() || at.Before(oldest)) {
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
	return job.Commands(s.about(at))
}

func (s *Screen) open() tui.Cmd {
	at, ok := s.table.Cursor()
	if !ok {
		return nil
	}
	return tui.Push(job.New(s.about(at)))
}

// about is what the screens of a job need, with what is known of it.
func (s *Screen) about(at int) job.Options {
	return job.Options{
		Theme: s.options.Theme, Now: s.options.Now, Job: s.options.Jobs[at], Source: s.options.Source,
		Reading: s.readers[at].Reading, LiveEvery: s.options.LiveEvery, Plans: s.options.Plans, Settings: s.options.Settings, Rollbacks: s.options.Rollbacks, Guides: s.options.Guides, FindKey: s.options.FindKey, Records: s.options.Records,
	}
}

// Find is the options of the job of this name, as the list shows it, with what is
// known of it; false where there is none.
func (s *Screen) Find(name string) (job.Options, bool) {
	for i, j := range s.options.Jobs {
		if phrase.Job(j) == name {
			return s.about(i), true
		}
	}
	return job.Options{}, false
}

// columns keep the whole name of every job, as far as that is possible: others
// are left out before.
func columns(jobs []inspect.Job) []vtable.Column {
	name := 0
	for _, j := range jobs {
		name = max(name, ansi.StringWidth(phrase.Job(j)))
	}
	return []vtable.Column{
		{Title: "JOB", Min: min(name, 32), Max: 48},
		{Title: "FINDINGS", Min: len("x unread")},
		{Title: "LIVE", Min: len(phrase.NotConnected)},
		{Title: "ACC", Right: true},
		{Title: "REJ", Right: true},
		{Title: "UNK", Right: true},
		{Title: "BOUNDARY", Min: len("in force")},
		{Title: "AT RISK", Min: len(phrase.NotScanned), Right: true},
		{Title: "LAST CLEANUP", Min: len("3f9c21aa COMMITTED 22m ago")},
		{Title: "READ", Min: len("14:03Z")},
	}
}

// rows are the jobs in the order of the profile.
type rows struct{ *Screen }

func (r rows) Len() int        { return len(r.readers) }
func (r rows) ID(i int) string { return strconv.Itoa(i) }

func (r rows) Row(i int) []vtable.Cell {
	reader, th := r.readers[i], r.options.Theme
	reading := reader.Reading
	name := vtable.Cell{Text: phrase.Job(r.options.Jobs[i])}
	if !reading.Known() {
		if reader.Busy() {
			reading := "reading…"
			if th.ASCII {
				reading = "reading."
			}
			return []vtable.Cell{name, {Text: reading, Tone: theme.Muted}}
		}
		return []vtable.Cell{name, {Text: th.Signs.Error + " unread", Tone: theme.Error}}
	}
	live, liveTone := reading.Live()
	if live == phrase.NotRead {
		live = "not read"
	}
	boundary, boundaryTone := reading.Boundary()
	risk, riskTone := reading.AtRisk()
	accepted, rejected, unknown := reading.Verdicts()
	verdicts := []vtable.Cell{count(accepted, theme.Plain), count(rejected, theme.Error), count(unknown, theme.Warning)}
	if !reading.Listed() {
		for i := range verdicts {
			verdicts[i] = vtable.Cell{Text: th.Signs.None, Tone: theme.Muted}
		}
	}
	return []vtable.Cell{
		name, findings(th, reading), {Text: live, Tone: liveTone},
		verdicts[0], verdicts[1], verdicts[2],
		{Text: boundary, Tone: boundaryTone}, {Text: risk, Tone: riskTone},
		{Text: phrase.Operation(reading.Overview.LastOperation, reading.At)}, {Text: phrase.Clock(reading.At, reading.At), Tone: theme.Muted},
	}
}

func count(n int, tone theme.Tone) vtable.Cell {
	if n == 0 {
		tone = theme.Plain
	}
	return vtable.Cell{Text: strconv.Itoa(n), Tone: tone}
}

// findings counts errors and warnings by their signs.
func findings(th theme.Theme, reading overview.Reading) vtable.Cell {
	errors, warnings := 0, 0
	for _, f := range reading.Problems() {
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

// Words implements vtable.Worder: a job is found by its topic, by the verdicts
// among its recovery points, and by "failing" where Flink restarts it.
func (r rows) Words(i int) []string {
	reading := r.readers[i].Reading
	words := []string{phrase.Safe(r.options.Jobs[i].Topic)}
	accepted, rejected, unknown := reading.Verdicts()
	for _, v := range []struct {
		n    int
		word string
	}{{accepted, "accepted"}, {rejected, "rejected"}, {unknown, "unknown"}} {
		if v.n > 0 {
			words = append(words, v.word)
		}
	}
	if _, tone := reading.Live(); tone == theme.Error {
		words = append(words, "failing")
	}
	return words
}

// Detail says under the selected job what its row can't: the worst findings in
// their words, and the facts behind the numbers.
func (r rows) Detail(i int) []string {
	lines := r.lines(i)
	if room := r.size.Height - 2; len(lines) > room && room > 0 {
		lines = append(lines[:room-1], r.options.Theme.Paint(theme.Muted, r.options.Theme.Signs.More+" enter shows all of it"))
	}
	return lines
}

func (r rows) lines(i int) []string {
	reader, th, j := r.readers[i], r.options.Theme, r.options.Jobs[i]
	reading := reader.Reading
	width := max(r.size.Width-6, 1)
	if !reading.Known() && reader.Busy() {
		return []string{th.Paint(theme.Muted, phrase.Clip("topic "+phrase.Safe(j.Topic)+", recovery points in "+
			phrase.Count(len(j.RecoveryPoints), "place", "places"), width, th.Signs.More))}
	}
	var lines []string
	problems := reading.Problems()
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
	if !reading.Known() {
		if len(problems) > 0 && problems[0].Next != "" {
			lines = append(lines, phrase.Hang("  ", phrase.Safe(problems[0].Next), width)...)
		}
		return lines
	}
	accepted, rejected, unknown := reading.Verdicts()
	live, _ := reading.Live()
	risk, _ := reading.AtRisk()
	facts := []string{
		strings.Join(append([]string{"live state: " + live}, reading.LiveFacts()...), ", "),
	}
	if failure := reading.LastFailure(); failure != "" {
		facts = append(facts, phrase.Clip("last failure "+failure, width-2, th.Signs.More))
	}
	points := fmt.Sprintf("%s: %d accepted, %d rejected, %d unknown (%s)", phrase.Count(len(reading.Overview.Points), "recovery point", "recovery points"),
		accepted, rejected, unknown, reading.Searched())
	if !reading.Listed() {
		points = "recovery points: not known (" + reading.Searched() + ")"
	}
	facts = append(facts,
		"calls at risk: "+risk,
		points,
		reading.BoundarySentence(),
		fmt.Sprintf("last cleanup %s, read %s", phrase.Operation(reading.Overview.LastOperation, reading.At), phrase.Clock(reading.At, reading.At)),
	)
	for _, fact := range facts {
		for _, line := range phrase.Hang("  ", fact, width) {
			lines = append(lines, th.Paint(theme.Muted, line))
		}
	}
	return lines
}
