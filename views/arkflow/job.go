package arkflow

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/inspect/arkflow"
	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/tui/vtable"
	"github.com/recoverctl/recoverctl/views/compare"
	"github.com/recoverctl/recoverctl/views/phrase"
	"github.com/recoverctl/recoverctl/views/rollback"
	"github.com/recoverctl/recoverctl/views/sheet"
	"github.com/recoverctl/recoverctl/views/wal"
)

// Job is the screen of one job of a hub.
type Job struct {
	options Options
	id      string
	reader  *reader[arkflow.JobDetail]
	points  *vtable.Table
	columns []vtable.Column // of points; the first is as wide as the longest id
	chosen  compare.Chosen  // points to compare, by id
	size    tui.Size
}

// NewJob makes the screen of a job by its id.
func NewJob(o Options, id string) *Job {
	s := &Job{options: o, id: id, chosen: compare.Chosen{}, reader: &reader[arkflow.JobDetail]{
		slot: "job", ask: func(ctx context.Context) (arkflow.JobDetail, error) { return o.Source.Job(ctx, id) },
		some: func(d arkflow.JobDetail) bool { return d.Hub.Address != "" }, now: o.now,
	}}
	s.columns = pointColumns(nil)
	s.points = vtable.New(o.Theme, s.columns, pointRows{s})
	return s
}

// Init implements tui.Screen. What is known already is read again: it may be as old
// as the screen that it comes from.
func (s *Job) Init() tui.Cmd { return s.reader.read() }

// Reload implements tui.Reloader.
func (s *Job) Reload() tui.Cmd { return s.reader.read() }

// Update implements tui.Screen.
func (s *Job) Update(msg tui.Msg) tui.Cmd {
	if s.reader.take(msg) {
		s.take()
	}
	return nil
}

func (s *Job) take() {
	s.chosen.Keep(s.ids())
	copy(s.columns, pointColumns(s.reader.value.Points.Points)) // the table's own
	s.points.SetSource(pointRows{s})
}

// Resize implements tui.Resizer.
func (s *Job) Resize(size tui.Size) {
	s.size = size
	_, rows, _ := s.layout(size)
	s.points.Resize(tui.Size{Width: size.Width, Height: rows})
}

// Crumb implements tui.Screen.
func (s *Job) Crumb() string { return phrase.Safe(s.id) }

// Status implements tui.Screen.
func (s *Job) Status() tui.Status { return tui.Status{ReadAt: s.reader.at} }

// View implements tui.Screen.
func (s *Job) View(size tui.Size) string {
	if !s.reader.known {
		return notYet(s.options.Theme, size, s.reader.err, "reading job "+s.Crumb()+" and the objects of its recovery points")
	}
	head, rows, foot := s.layout(size)
	lines := append(head, "")
	if len(s.reader.value.Points.Points) == 0 {
		lines = append(lines, s.noPoints()...)
	} else {
		lines = append(lines, s.points.View(tui.Size{Width: size.Width, Height: rows}))
	}
	return strings.Join(append(lines, foot...), "\n")
}

const (
	roomy = 30 // from how many lines on facts are whole
	least = 5  // lines of the recovery points: header, two rows, two lines of detail
)

// layout shares out the lines: what is wrong, what covers the job and what a start
// does; the recovery points; the versions and the log.
func (s *Job) layout(size tui.Size) (head []string, rows int, foot []string) {
	d := s.reader.value
	problems := s.reader.problems(d.Findings)
	if len(problems) == 0 {
		head = []string{" " + s.options.Theme.Signed(theme.OK, "no finding needs you")}
	} else {
		head = phrase.Problems(s.options.Theme, problems, size.Width, max(size.Height/5, 2))
	}
	const enough = 14
	if size.Height >= enough {
		head = append(append(head, ""), s.facts(size)...)
	}
	free := size.Height - len(head) - 1
	want := 1 + len(d.Points.Points)
	if at, ok := s.points.Cursor(); ok && at < len(d.Points.Points) {
		want += len(pointRows{s}.Detail(at))
	}
	if len(d.Points.Points) == 0 {
		want = len(s.noPoints())
	}
	foot = s.foot(size, free-want, free-least)
	rows = max(min(want, free-len(foot)), 1)
	return head, rows, foot
}

// facts are what covers the job, how its checkpoints go and what a start does.
func (s *Job) facts(size tui.Size) []string {
	d, whole := s.reader.value, size.Height >= roomy
	f := &facts{theme: s.options.Theme, width: size.Width}
	_, tone := stateOf(d.Job.Observed)
	f.add("state", tone, stateText(d.Job))
	if d.Job.LastError != nil {
		f.add("last error", theme.Error, phrase.Safe(*d.Job.LastError))
	}
	if d.Job.Recovery.Under {
		f.add("recovery", theme.Warning, phrase.Safe(d.Job.Recovery.Sentence))
	}
	f.add("protected by", protection(d.Job.Protected), phrase.Safe(d.Job.Protected.Sentence))
	word, tone := healthOf(d.Job.Health)
	text := inForce(d.Job.Health)
	if whole && d.Job.Health.State != arkflow.HealthDegraded { // a finding says all of that
		text = word + ": " + phrase.Safe(d.Job.Health.Sentence)
	}
	f.add("checkpoints", tone, text)
	text, tone = restores(d.Points.Selection, whole)
	if tone == theme.OK {
		tone = theme.Plain
	}
	f.add("a start", tone, text)
	if r := d.Points.Replay; r != nil && d.Log != nil {
		f.add("sends again", theme.Plain, phrase.Safe(r.Sentence))
	}
	if whole && d.Job.ActiveUpdate != nil {
		f.add("upgrade", theme.Warning, phrase.Safe(*d.Job.ActiveUpdate))
	}
	return f.lines
}

// protection is the tone of what covers a job or stream.
func protection(p arkflow.Protection) theme.Tone {
	switch {
	case p.Log == arkflow.CoverYes || p.Checkpoints == arkflow.CoverYes:
		return theme.Plain
	case p.Log == arkflow.CoverUnknown || p.Checkpoints == arkflow.CoverUnknown:
		return theme.Warning
	default:
		return theme.Error
	}
}

// foot are the versions and the log, in at most spare lines; where these are too few
// for them, in at most most lines what can't be left out: the log as a line with its
// bar, and where a rollback would go.
func (s *Job) foot(size tui.Size, spare, most int) []string {
	log, versions := s.ofLog(size.Width), s.versions(size.Width)
	if all := append(log, versions...); len(all) <= spare {
		return all
	}
	var few []string
	if s.below() != nil {
		few = append(few, s.lower(size.Width))
	}
	if len(log) > 0 && len(few)+len(log) <= most {
		few = append(log, few...)
	}
	if len(few) > 0 && len(few) < spare && few[0] != "" {
		few = append([]string{""}, few...)
	}
	if len(few) > max(most, 0) {
		return nil
	}
	return few
}

// ofLog is the log that was read beside the job; nothing where none was.
func (s *Job) ofLog(width int) []string {
	l := s.reader.value.Log
	if l == nil {
		return nil
	}
	p := &sheet.Page{Theme: s.options.Theme, Width: width}
	p.Blank()
	p.Clipped(phrase.Tone(l.Worst()), "the profile's write-ahead log: "+l.Headline())
	if line, ok := wal.Bar(p.Theme, *l, width); ok {
		p.Lines = append(p.Lines, line)
	}
	return p.Lines
}

// versions are those on record with what a start of each does; nothing where there
// is one alone, of which all is said above.
func (s *Job) versions(width int) []string {
	d := s.reader.value
	if len(d.Versions) < 2 {
		return nil
	}
	p := &sheet.Page{Theme: s.options.Theme, Width: width}
	p.Blank()
	rows := make([][]sheet.Cell, 0, len(d.Versions))
	for _, v := range d.Versions {
		name := strconv.FormatUint(v.Version, 10)
		if v.Current {
			name += " (now)"
		}
		text, tone := restores(v.Selection, true)
		switch {
		case v.Current:
			text, tone = "as above", theme.Muted
		case tone == theme.OK:
			tone = theme.Plain
		}
		rows = append(rows, []sheet.Cell{{Text: name}, {Text: number(v.FormatVersion)}, {Text: age(v.Created, s.reader.at)}, {Text: text, Tone: tone}})
	}
	p.Table([]sheet.Column{{Title: "VERSION"}, {Title: "FORMAT", Right: true}, {Title: "AGE", Right: true}, {Title: "A START OF IT"}}, rows)
	return p.Lines
}

// lower says in one line where a rollback would go, which there is.
func (s *Job) lower(width int) string {
	th := s.options.Theme
	v := s.below()
	text, tone := restores(v.Selection, true)
	if tone == theme.OK {
		tone = theme.Plain
	}
	return "   " + th.Paint(tone, phrase.Clip(fmt.Sprintf("version %d, a rollback: a start %s", v.Version, text), width-4, th.Signs.More))
}

// below is the next version below the job's; nil: there is none.
func (s *Job) below() *arkflow.VersionState {
	d := s.reader.value
	var best *arkflow.VersionState
	for i, v := range d.Versions {
		if d.Job.Version != nil && v.Version < *d.Job.Version && (best == nil || v.Version > best.Version) {
			best = &d.Versions[i]
		}
	}
	return best
}

// noPoints says where none was found.
func (s *Job) noPoints() []string {
	where := "no checkpoint store is known"
	if place := s.reader.value.Points.Place; place != "" {
		where = "nothing in " + phrase.Safe(place)
	}
	return phrase.Hang("   ", "The job has no checkpoint and no savepoint on record, and "+where+".", s.size.Width-1)
}

// selected is the recovery point that the keys act on; nil if there is none.
func (s *Job) selected() *arkflow.Point {
	at, ok := s.points.Cursor()
	points := s.reader.value.Points.Points
	if !ok || at >= len(points) {
		return nil
	}
	return &points[at]
}

// Keys implements tui.Screen.
func (s *Job) Keys() []tui.Key {
	point := s.selected()
	none := func() string {
		if point == nil {
			return "no recovery point is selected"
		}
		return ""
	}
	keys := []tui.Key{
		{Keys: []string{"enter"}, Help: "open", Disabled: none, Run: func() tui.Cmd { return tui.Push(newPoint(s, point.ID)) }},
		{Keys: []string{"v"}, Help: "why", Disabled: none, Run: func() tui.Cmd { return tui.Push(newCheck(s, point.ID, "")) }},
		{Keys: []string{"f"}, Help: "findings", Disabled: s.unread, Run: func() tui.Cmd { return tui.Push(s.findings()) }},
	}
	if s.options.Rollbacks != nil {
		keys = append(keys, tui.Key{Keys: []string{"u"}, Help: "roll back" + s.options.Theme.Signs.More, Disabled: func() string { return s.cannotRollBack(point) }, Run: func() tui.Cmd {
			return tui.Push(s.rollback(*point.JobVersion, point.ID))
		}})
	}
	selected := ""
	if point != nil {
		selected = point.ID
	}
	pair, notTwo := s.chosen.Pair(s.ids(), selected)
	keys = append(keys, s.options.logKey()...)
	keys = append(keys,
		tui.Key{Keys: []string{"space"}, Help: s.chosen.Help(selected), Disabled: none, Run: func() tui.Cmd { return s.chosen.Toggle(selected) }},
		tui.Key{Keys: []string{"="}, Help: "compare", Disabled: func() string { return notTwo }, Run: func() tui.Cmd {
			return tui.Push(newComparison(s, pair[0], pair[1]))
		}})
	keys = append(keys, tui.CopyKey(func() (what, text string) {
		if point == nil {
			return "the recovery point's id", ""
		}
		return "the recovery point's id", phrase.Copied(point.ID)
	}))
	return append(keys, s.points.Keys()...)
}

func (s *Job) unread() string {
	if !s.reader.known {
		return "the job is being read"
	}
	return ""
}

func (s *Job) findings() tui.Screen {
	return newFindings(s.options, "findings", s.reader.at, s.reader.value.Decisions, s.reader.value.Unchecked)
}

// cannotRollBack is why no rollback to a point's version is planned; "" where one
// is.
func (s *Job) cannotRollBack(p *arkflow.Point) string {
	version := s.reader.value.Job.Version
	switch {
	case p == nil:
		return "no recovery point is selected"
	case p.JobVersion == nil || version == nil:
		return "which version wrote it is not exposed by this hub"
	case *p.JobVersion >= *version:
		return fmt.Sprintf("it is of version %d, which the job is: a rollback goes to a point of a lower one", *p.JobVersion)
	}
	return ""
}

// about is the profile's job under the name that the job has at the hub.
func (s *Job) about() inspect.Job {
	job := s.options.Job
	job.Name = s.id
	return job
}

func (s *Job) rollback(version uint64, point string) tui.Screen {
	return rollback.NewArkFlow(rollback.Options{
		Theme: s.options.Theme, Job: s.about(), Source: s.options.Rollbacks(s.id), Point: point, Version: version, Commands: s.Commands(),
	})
}

// Commands implements tui.Commander.
func (s *Job) Commands() []tui.Command {
	commands := append(s.options.commands(), s.options.planCommands(append(jobPlans(), upgradePlans(s.reader.value.Job.Upgrade)...), s.about(), s.id, s.Commands)...)
	if s.options.Rollbacks == nil {
		return commands
	}
	return append(commands, tui.Command{
		Name: "rollback", Args: "VERSION", Help: "plan to take the job back to a lower version",
		Run: func(text string) tui.Cmd {
			var version uint64
			switch point := s.selected(); {
			case text != "":
				n, err := strconv.ParseUint(strings.TrimPrefix(strings.TrimSpace(text), "v"), 10, 64)
				if err != nil || !slices.ContainsFunc(s.reader.value.Versions, func(v arkflow.VersionState) bool { return v.Version == n }) {
					return tui.Say(theme.Warning, phrase.Safe(text)+" is no version of the job on record")
				}
				return tui.Push(s.rollback(n, ""))
			case s.cannotRollBack(point) == "":
				return tui.Push(s.rollback(*point.JobVersion, point.ID))
			case s.below() != nil:
				version = s.below().Version
			default:
				return tui.Say(theme.Warning, "no version is below the job's: there is nothing to roll back to")
			}
			return tui.Push(s.rollback(version, ""))
		},
	})
}
