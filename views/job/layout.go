package job

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/clock"
	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/tui/vtable"
	"github.com/recoverctl/recoverctl/views/phrase"
)

// layout is how the lines of the screen are shared out.
type layout struct {
	head       []string // what is wrong, and what is not known
	points     int      // lines of the recovery points
	partitions int      // lines of the partitions, without the counted line
	rest       string   // the counted line; "" for none
}

const (
	leastPoints     = 5  // header, two rows, two lines of detail
	leastPartitions = 5  // header, three rows, the counted line
	roomy           = 15 // from how many lines on there is room for what only helps
	tall            = 30 // … and for what a finding says too
)

// View implements tui.Screen.
func (s *Screen) View(size tui.Size) string {
	th, reading := s.options.Theme, s.reader.Reading
	if !reading.Known() && s.reader.Busy() {
		return strings.Join(s.loading(size), "\n")
	}
	l := s.layout(size)
	lines := l.head
	if !reading.Known() {
		return strings.Join(lines, "\n")
	}
	lines = append(lines, "")
	if s.onParts() {
		lines = append(lines, s.partitions.View(tui.Size{Width: size.Width, Height: l.partitions}))
		return strings.Join(lines, "\n")
	}
	if len(reading.Overview.Points) == 0 {
		lines = append(lines, s.noPoints(size.Width)...)
	} else {
		lines = append(lines, s.points.View(tui.Size{Width: size.Width, Height: l.points}))
	}
	if l.partitions > 0 || l.rest != "" {
		lines = append(lines, "")
	}
	if l.partitions > 0 {
		table := vtable.New(th, s.partitionColumns(), partitionRows{s, l.partitions - 1})
		table.Focus(false)
		lines = append(lines, table.View(tui.Size{Width: size.Width, Height: l.partitions}))
	}
	if l.rest != "" {
		lines = append(lines, s.countedLine(l.rest, size.Width))
	}
	return strings.Join(lines, "\n")
}

// loading is the first frame: it names what is read, and never looks like a job
// without recovery points.
func (s *Screen) loading(size tui.Size) []string {
	job := s.options.Job
	lines := []string{" reading " + s.Crumb()}
	add := func(text string) {
		for _, line := range phrase.Hang("   ", text, size.Width-1) {
			lines = append(lines, s.options.Theme.Paint(theme.Muted, line))
		}
	}
	add(job.Store.Log() + " " + phrase.Safe(job.Topic))
	if job.ControlTopic != nil {
		add("control topic " + phrase.Safe(*job.ControlTopic))
	}
	for _, place := range job.RecoveryPoints {
		add("recovery points in " + phrase.Safe(place))
	}
	return lines
}

func (s *Screen) layout(size tui.Size) layout {
	reading := s.reader.Reading
	width, height := size.Width, size.Height
	problems := reading.Problems()
	if !reading.Known() {
		return layout{head: s.failed(width, height)}
	}
	var l layout
	most := max(height/5, 2)
	switch {
	case s.onParts() && height < roomy:
		most = 1
	case s.onParts():
		most = 2
	}
	if len(problems) == 0 {
		l.head = []string{" " + s.options.Theme.Signed(theme.OK, "no finding in what was read")}
	} else {
		l.head = phrase.Problems(s.options.Theme, problems, width, most)
	}
	if s.onParts() {
		kinds := max(height/8, 2)
		if height < roomy {
			kinds = 0
		}
		l.head = append(append(l.head, ""), s.paneHead(width, kinds)...)
		l.partitions = max(height-len(l.head)-1, 0)
		return l
	}
	if height >= roomy {
		l.head = append(l.head, s.facts(width, height)...)
	}
	free := height - len(l.head) - 1
	want := 1 + len(reading.Overview.Points)
	if point := s.selected(); point != nil {
		at, _ := s.points.Cursor()
		want += len(pointRows{s}.Detail(at))
	} else {
		want = len(s.noPoints(width))
	}
	parts := len(s.order)
	if parts == 0 {
		l.points = max(min(want, free-2), 1)
		l.rest = s.noPartitions()
		return l
	}
	least := min(leastPartitions, parts+1)
	l.points = min(want, max(free-1-least, leastPoints))
	left := free - l.points - 1
	switch {
	case left >= parts+1: // a header and all of them
		l.partitions = parts + 1
	case left >= 3: // a header, some of them, the counted line
		l.partitions = left - 1
		l.rest = s.order.rest(left-2, width-len(tabKey)-4)
	default:
		l.points = min(want, max(free-2, 1))
		lead := phrase.Parts(s.options.Job.Store, parts) + ": "
		l.rest = lead + s.order.sum(width-len(tabKey)-4-len(lead))
	}
	return l
}

// tabKey ends the line under the bars, with a space after it.
const tabKey = "tab "

// countedLine is the line under the bars, with the key that shows all.
func (s *Screen) countedLine(text string, width int) string {
	room := width - 3 - len(tabKey) - 1
	if len(s.order) == 0 {
		return "   " + phrase.Clip(text, width-4, s.options.Theme.Signs.More)
	}
	text = phrase.Clip(text, room, s.options.Theme.Signs.More)
	gap := strings.Repeat(" ", max(width-3-ansi.StringWidth(text)-len(tabKey), 1))
	return "   " + text + gap + s.options.Theme.Paint(theme.KeyName, "tab")
}

// failed is the screen of a job of which nothing could be read.
func (s *Screen) failed(width, height int) []string {
	th := s.options.Theme
	lines := []string{" " + th.Signed(theme.Error, "nothing of "+s.Crumb()+" could be read"), ""}
	for _, p := range s.reader.Reading.Problems() {
		for _, line := range phrase.Hang(phrase.ProblemLead(th, p), phrase.Safe(p.Cause), width-1) {
			lines = append(lines, th.Paint(phrase.Tone(p.Severity), line))
		}
		if p.Next != "" {
			lines = append(lines, phrase.Hang("     ", phrase.Safe(p.Next), width-1)...)
		}
	}
	lines = append(lines, "", "   r reads again")
	if len(lines) > height && height > 1 {
		lines = append(lines[:height-1], " "+th.Paint(theme.Muted, th.Signs.More+" f shows all of it"))
	}
	return lines
}

// facts are what no finding says: what the job does, whether its calls were
// looked at, and what was done last.
func (s *Screen) facts(width, height int) []string {
	reading, th := s.reader.Reading, s.options.Theme
	live, tone := reading.Live()
	all := append([]string{"live state: " + th.Paint(tone, live)}, reading.LiveFacts()...)
	risk, tone := reading.AtRisk()
	if reading.Overview.PendingCalls != nil {
		all = append(all, "calls at risk "+th.Paint(tone, risk)+s.scanned())
	} else {
		all = append(all, "calls "+th.Paint(tone, risk))
	}
	if s.options.Job.Store != inspect.StoreFluss { // which has no cleanups
		if word, tone := reading.Boundary(); word != "in force" {
			all = append(all, "boundary "+th.Paint(tone, word))
		}
		if op := reading.Overview.LastOperation; height >= tall || op == nil || !told(reading.Overview.Findings, op.PlanID) {
			all = append(all, "cleanup "+phrase.Operation(op, reading.At))
		}
	}
	lines := phrase.Flow(all, "   ", width-1)
	if failure := reading.LastFailure(); failure != "" {
		lines = append(lines, "   last failure "+phrase.Clip(failure, width-17, th.Signs.More))
	}
	return lines
}

// scanned is how old the number of calls is, where it is not of now.
func (s *Screen) scanned() string {
	ended := s.reader.Reading.Scan.Ended
	if age := s.reader.Now().Sub(ended); !ended.IsZero() && age >= time.Minute {
		return " (scanned " + clock.Age(age) + " ago)"
	}
	return ""
}

// told reports whether a finding is about a cleanup.
func told(findings []inspect.Finding, planID string) bool {
	return slices.ContainsFunc(findings, func(f inspect.Finding) bool { return slices.Contains(f.Refs, "plan "+planID) })
}

// noPoints says where none was found.
func (s *Screen) noPoints(width int) []string {
	reading := s.reader.Reading
	var lines []string
	if len(reading.Overview.Searched) == 0 {
		return phrase.Hang("   ", "No recovery point is known: the profile names no place to look in (recovery-points of the job).", width-1)
	}
	text := "No recovery point was found in:"
	if reading.Err != nil {
		text = "No recovery point could be read in:"
	}
	lines = append(lines, "   "+text)
	for _, place := range reading.Overview.Searched {
		lines = append(lines, phrase.Hang("     ", phrase.Safe(place), width-1)...)
	}
	return lines
}

func (s *Screen) noPartitions() string {
	part, log, servers := s.options.Job.Store.Part(), s.options.Job.Store.Log(), "brokers"
	if s.options.Job.Store == inspect.StoreFluss {
		servers = "servers"
	}
	for _, f := range s.reader.Reading.Overview.Findings {
		if f.Rule == "topic-missing" || f.Rule == "table-missing" {
			return "No " + part + ": the " + log + " does not exist, or may not be seen."
		}
	}
	if s.reader.Reading.Awaited.Log {
		return "The " + part + "s are not known: the " + servers + " have not answered yet."
	}
	return "The " + part + "s are not known: the " + log + " could not be read."
}

// paneHead is the recovery point that the bars are about, while the keys act on
// the partitions, and what the partitions are like in at most most lines, the
// worst first.
func (s *Screen) paneHead(width, most int) []string {
	th := s.options.Theme
	lines := []string{"   no recovery point is selected"}
	if p := s.selected(); p != nil {
		verdict, tone := phrase.Verdict(p.Verdict)
		lines[0] = " " + th.Signs.Marker + " " + th.Paint(theme.Title, s.names[p.URI]) + "  " + th.Paint(tone, verdict)
		if p.Verdict == inspect.Accepted {
			lines[0] += "  " + phrase.Clip(spanOf(s.options.Job.Store, *p), width-3-ansi.StringWidth(lines[0]), th.Signs.More)
		}
	}
	if most < 1 {
		return lines
	}
	kinds, counts := countKinds(s.order)
	shown := kinds
	if len(kinds) > most {
		shown = kinds[:most-1]
	}
	left, wide := len(s.order), 0
	parts := func(n int) string { return phrase.Parts(s.options.Job.Store, n) }
	for _, kind := range shown {
		wide = max(wide, len(parts(counts[kind])))
	}
	for _, kind := range shown {
		left -= counts[kind]
		lines = append(lines, fmt.Sprintf("   %*s: %s", wide, parts(counts[kind]), kind))
	}
	if left > 0 {
		lines = append(lines, "   "+parts(left)+" of other kinds")
	}
	return lines
}
