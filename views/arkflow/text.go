package arkflow

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/inspect/arkflow"
	"github.com/recoverctl/recoverctl/internal/clock"
	"github.com/recoverctl/recoverctl/internal/figures"
	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/tui/vtable"
	"github.com/recoverctl/recoverctl/views/phrase"
	"github.com/recoverctl/recoverctl/views/sheet"
)

// notExposed stands where this hub does not say.
const notExposed = "not exposed"

func exposed(s *string) string {
	if s == nil {
		return notExposed
	}
	return phrase.Safe(*s)
}

func number(n *uint64) string {
	if n == nil {
		return notExposed
	}
	return arkflow.Number(*n)
}

func age(at *time.Time, now time.Time) string {
	if at == nil {
		return "?"
	}
	return clock.Age(now.Sub(*at))
}

// notYet is a screen of which nothing was read.
func notYet(th theme.Theme, size tui.Size, err error, reading string) string {
	p := &sheet.Page{Theme: th, Width: size.Width}
	if err != nil {
		p.Faults(theme.Error, "", err)
		p.Blank()
		p.Say("r reads again")
	} else {
		p.Hang(" ", theme.Plain, reading)
	}
	return strings.Join(p.Lines[:min(len(p.Lines), size.Height)], "\n")
}

// stateText is a job's state: what it is told to be beside what it is, and what the
// hub makes of that.
func stateText(j arkflow.JobState) string {
	is, want := exposed(j.Observed), exposed(j.Desired)
	text := is
	if want != is {
		text = "wanted " + want + ", is " + is
	}
	return fmt.Sprintf("%s, version %s; the hub says %s", text, number(j.Version), exposed(j.Convergence))
}

// healthOf is checkpoint health in a word. The word that must be seen is in upper
// case.
func healthOf(h arkflow.Health) (string, theme.Tone) {
	switch h.State {
	case arkflow.HealthGood:
		return "healthy", theme.OK
	case arkflow.HealthDegraded:
		return "DEGRADED", theme.Error
	case arkflow.HealthNone:
		return "NONE", theme.Error
	case arkflow.HealthOverdue:
		return "overdue", theme.Warning
	case arkflow.HealthIdle:
		return "idle", theme.Plain
	default:
		return phrase.Safe(string(h.State)), theme.Warning
	}
}

// restores is what a start of a job does, and where there is room why.
func restores(s arkflow.Selection, why bool) (string, theme.Tone) {
	text, reason, tone := "restores "+phrase.Safe(s.ID), ": ", theme.OK
	switch {
	case !s.Known:
		return "restores what is not known: " + phrase.Safe(s.Why), theme.Warning
	case s.ID == "" && s.Better != "":
		text, tone = "restores NOTHING, though "+phrase.Safe(s.Better)+" is accepted", theme.Error
	case s.ID == "":
		text, tone = "restores NOTHING", theme.Warning
	case s.Better != "":
		text, reason, tone = text+" and not "+phrase.Safe(s.Better)+", which is the better one", ". The reason: ", theme.Error
	}
	if why {
		text += reason + phrase.Safe(s.Why)
	}
	return text, tone
}

// inForce is a job's checkpoint health in a few words.
func inForce(h arkflow.Health) string {
	word, _ := healthOf(h)
	switch {
	case h.Completed == "":
		return word + ": none is in force"
	case h.AgeMs == nil:
		return word + ": " + phrase.Safe(h.Completed) + " is in force"
	}
	return word + ": " + phrase.Safe(h.Completed) + " is in force, " + clock.Age(time.Duration(*h.AgeMs)*time.Millisecond) + " old"
}

// starts is what a start of the job does with one point, in a word.
func starts(p arkflow.Point) (string, theme.Tone) {
	switch {
	case p.Selected && p.Verdict == inspect.Accepted:
		return "restores it", theme.OK
	case p.Selected:
		return "RESTORES IT", theme.Error
	case p.Engine.Verdict == inspect.Rejected:
		return "passes over", theme.Plain
	case p.Engine.Verdict == inspect.Unknown:
		return "not known", theme.Warning
	default:
		return "not this one", theme.Muted
	}
}

// tasksOf is how many of the planned tasks are in a point, by its manifest.
func tasksOf(p arkflow.Point, t arkflow.Target) string {
	switch {
	case t.Tasks == nil:
		return figures.Group(int64(len(p.Tasks)))
	case len(p.Tasks) == 0: // there is no manifest, or it can't be read
		return fmt.Sprintf("?/%d", len(t.Tasks))
	}
	return fmt.Sprintf("%d/%d", len(t.Tasks)-len(p.Missing), len(t.Tasks))
}

// goOn is where a point's sources go on, as in "orders/0 from 12,480".
func goOn(p arkflow.Point) string {
	if len(p.Positions) == 0 {
		if p.WithoutPositions() {
			return "no source position is in it, and an older point has some: the consumer group's offsets decide what is read again"
		}
		return "no source position is in it: the sources are not moved"
	}
	var at []string
	for _, s := range p.Positions {
		topic := "topic not recorded"
		if s.Topic != nil {
			topic = phrase.Safe(*s.Topic)
		}
		at = append(at, fmt.Sprintf("%s/%d from %s", topic, s.Partition, arkflow.Number(s.Offset)))
	}
	return "sources go on at " + strings.Join(at, ", ")
}

// facts are lines of a name and what it says.
type facts struct {
	theme theme.Theme
	width int
	lines []string
}

// nameWidth is that of the longest name.
const nameWidth = len("protected by")

func (f *facts) add(name string, tone theme.Tone, text string) {
	lead := fmt.Sprintf("   %-*s  ", nameWidth, name)
	for i, line := range phrase.Wrap(text, max(f.width-1-len(lead), 1)) {
		if i > 0 {
			lead = strings.Repeat(" ", len(lead))
		}
		f.lines = append(f.lines, f.theme.Paint(theme.Muted, lead)+f.theme.Paint(tone, line))
	}
}

// findings are those of a row that need somebody.
func (r hubRows) findings(i int) []inspect.Finding {
	subject := r.subject(i)
	rows := slices.DeleteFunc(slices.Clone(r.reader.value.Decisions), func(d arkflow.Decision) bool { return d.Subject != subject })
	return slices.DeleteFunc(arkflow.Findings(rows), func(f inspect.Finding) bool { return f.Severity == inspect.SeverityInfo })
}

// countOf counts errors and warnings by their signs.
func countOf(th theme.Theme, findings []inspect.Finding) vtable.Cell {
	counts := map[theme.Tone]int{}
	for _, f := range findings {
		counts[phrase.Tone(f.Severity)]++
	}
	var words []string
	worst := theme.OK
	for _, tone := range []theme.Tone{theme.Error, theme.Warning} {
		if counts[tone] == 0 {
			continue
		}
		if worst == theme.OK {
			worst = tone
		}
		words = append(words, fmt.Sprintf("%s %d", th.Sign(tone), counts[tone]))
	}
	if len(words) == 0 {
		return vtable.Cell{Text: th.Signs.OK + " none", Tone: theme.OK}
	}
	return vtable.Cell{Text: strings.Join(words, "  "), Tone: worst}
}
