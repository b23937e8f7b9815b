package point

import (
	"fmt"
	"strings"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/figures"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/views/phrase"
	"github.com/recoverctl/recoverctl/views/sheet"
)

const indent = sheet.Indent

// page is the whole screen for a width: what is wrong first, then what the
// point is, then its parts.
func (s *Screen) page(width int) []string {
	p := &page{Screen: s, Page: &sheet.Page{Theme: s.options.Theme, Width: width}}
	switch {
	case !s.answer:
		p.Hang(" ", theme.Plain, "reading "+s.name)
		p.Hang(indent, theme.Muted, phrase.Safe(s.options.Point))
		return p.Lines
	case s.readAt.IsZero():
		p.Sign(theme.Error, s.name+" could not be read")
		p.Faults(theme.Error, "", p.err)
		p.Hang(indent, theme.Muted, phrase.Safe(s.options.Point))
		return p.Lines
	}
	p.verdict()
	p.Faults(theme.Error, "", p.err)
	p.checks()
	p.facts()
	p.operators()
	p.keyed()
	p.replay()
	p.markers()
	p.files()
	return p.Lines
}

// page is the sheet's text as it grows.
type page struct {
	*Screen
	*sheet.Page
}

// summary is the point in the overview that it was chosen from; nil where it
// was not in it.
func (s *Screen) summary() *inspect.PointSummary {
	if at, ok := s.options.Reading.Find(s.options.Point); ok {
		return &s.options.Reading.Overview.Points[at]
	}
	return nil
}

func (p *page) verdict() {
	summary := p.summary()
	if summary == nil {
		p.Sign(theme.Warning, "its verdict is not known: it is not among the job's points; v asks the cluster")
	} else {
		word, tone := phrase.Verdict(summary.Verdict)
		switch {
		case summary.Verdict == inspect.Accepted:
			word += fmt.Sprintf(": a restore replays a span of %s offsets in %s", figures.Group(summary.Span),
				phrase.Parts(p.options.Job.Store, len(summary.Validation.Window)))
			if open := summary.Unchecked; len(open) > 0 {
				word += "; not checked: " + phrase.Safe(strings.Join(open, ", "))
			}
		case summary.Message != "":
			word += ": " + phrase.Safe(summary.Message)
		default:
			word += ": not every rule could be asked; v shows which"
		}
		p.Sign(tone, word)
	}
	p.Hang(indent, theme.Muted, phrase.Safe(p.options.Point))
}

// checks are those that something is wrong with, errors first.
func (p *page) checks() {
	failed := 0
	for _, severity := range []inspect.Severity{inspect.SeverityError, inspect.SeverityWarning} {
		for _, c := range p.point.Checks {
			if c.Severity != severity {
				continue
			}
			failed++
			p.Sign(phrase.Tone(c.Severity), phrase.Safe(c.ID)+": "+phrase.Safe(c.Message))
			if c.Hint != "" {
				p.Hang(indent+indent, theme.Plain, phrase.Safe(c.Hint))
			}
		}
	}
	if failed == 0 && p.err == nil {
		p.Sign(theme.OK, "no check failed (metadata, operators, markers, files)")
	}
}

func (p *page) facts() {
	point := p.point
	taken := "time not known"
	if point.Taken.Time != nil {
		taken = fmt.Sprintf("taken %s, %s before this was read (date of the %s)",
			phrase.Clock(*point.Taken.Time, p.readAt), phrase.Age(point.Taken, p.readAt), phrase.Safe(string(point.Taken.Source)))
	}
	kind := phrase.Safe(string(point.Kind))
	if point.Format != "" {
		kind += ", " + phrase.Safe(string(point.Format)) + " format"
	}
	id := "its id is not known"
	if point.CheckpointID >= 0 {
		id = "id " + figures.Group(point.CheckpointID)
	}
	version := "metadata version not known"
	if point.MetadataVersion > 0 {
		version = fmt.Sprintf("metadata version %d", point.MetadataVersion)
	}
	p.Hang(indent, theme.Plain, strings.Join([]string{kind, id, version}, ", "))
	p.Hang(indent, theme.Plain, taken)
	for _, c := range p.point.Checks { // those that only tell something
		if c.Severity != inspect.SeverityError && c.Severity != inspect.SeverityWarning {
			p.Hang(indent, theme.Muted, phrase.Safe(c.ID)+": "+phrase.Safe(c.Message))
		}
	}
}

func (p *page) operators() {
	p.Title("Operators")
	if len(p.point.Operators) == 0 {
		p.Hang(indent, theme.Plain, "none known")
		return
	}
	rows := make([][]sheet.Cell, 0, len(p.point.Operators))
	for _, op := range p.point.Operators {
		name := op.Name
		if name == "" {
			name = op.UID
		}
		what := []string{}
		if name != "" {
			what = append(what, phrase.Safe(name))
		}
		for _, state := range op.States {
			what = append(what, fmt.Sprintf("%s (%s %s, %s)", phrase.Safe(state.Name), phrase.Safe(state.Mode), phrase.Safe(state.Kind),
				phrase.Count(state.Elements, "element", "elements")))
		}
		rows = append(rows, []sheet.Cell{
			{Text: phrase.Safe(op.ID)}, {Text: figures.Group(int64(op.Parallelism))}, {Text: figures.Group(int64(op.MaxParallelism))},
			{Text: strings.Join(what, "; ")},
		})
	}
	p.Table([]sheet.Column{{Title: "OPERATOR"}, {Title: "SUBTASKS", Right: true}, {Title: "MAX", Right: true}, {Title: "NAME AND STATES"}}, rows)
}

// replay is the merged marker with what a restore would read again, for every
// partition.
func (p *page) replay() {
	merged := p.point.Merged
	p.Title("Merged marker: " + mergedWords(p.options.Job.Store, merged))
	if merged.Problem != nil {
		p.Sign(theme.Error, phrase.Safe(merged.Problem.Message))
	}
	if len(merged.Offsets) == 0 {
		return
	}
	window := map[int32]inspect.Window{}
	summary := p.summary()
	if summary != nil {
		for _, w := range summary.Validation.Window {
			window[w.Partition] = w
		}
	}
	none := p.options.Theme.Signs.None
	var total int64
	rows := make([][]sheet.Cell, 0, len(merged.Offsets))
	for _, part := range merged.Offsets.Partitions() {
		end, span := none, none
		if w, ok := window[part]; ok {
			end, span = figures.Group(w.To), figures.Group(w.To-w.From)
			total += w.To - w.From
		}
		rows = append(rows, []sheet.Cell{{Text: fmt.Sprint(part)}, {Text: figures.Group(merged.Offsets[part])}, {Text: end}, {Text: span}})
	}
	switch {
	case len(window) == 0:
		p.Hang(indent, theme.Warning, "no replay window is known: "+none+" below; v shows why")
	case summary.Verdict != inspect.Accepted:
		p.Hang(indent, theme.Warning, fmt.Sprintf("%s: no restore replays this. Of %s the records from the marker on are in the log; v shows why",
			summary.Verdict, phrase.Parts(p.options.Job.Store, len(window))))
	default:
		p.Hang(indent, theme.Plain, "replay window: a span of "+figures.Group(total)+" offsets, log ends as of the overview")
	}
	p.Table([]sheet.Column{{Title: strings.ToUpper(p.options.Job.Store.Part()), Right: true}, {Title: "READS FROM", Right: true}, {Title: "LOG END", Right: true}, {Title: "SPAN TO END", Right: true}}, rows)
}

func mergedWords(store inspect.Store, m inspect.Merged) string {
	switch m.Kind {
	case inspect.MergedVersioned:
		words := "versioned, " + phrase.Count(len(m.Offsets), "partition", "partitions")
		if m.Topic != nil && m.TopicID != nil {
			words += " of topic " + phrase.Safe(*m.Topic) + ", id " + phrase.Safe(*m.TopicID)
		}
		return words
	case inspect.MergedLegacy:
		if store == inspect.StoreFluss { // the only ones that there are
			return phrase.Parts(store, len(m.Offsets)) + ", names no table"
		}
		return "legacy, " + phrase.Parts(store, len(m.Offsets)) + ", names no topic"
	case inspect.MergedNone:
		return "none, a restore begins with an empty action state"
	default:
		return "invalid"
	}
}

// markers are those of every subtask, whole.
func (p *page) markers() {
	p.Title("Markers by subtask: " + phrase.Count(len(p.point.Markers), "marker", "markers"))
	for _, m := range p.point.Markers {
		lead := fmt.Sprintf("%ssubtask %d of %s, %s", indent, m.Subtask, phrase.Safe(short(m.OperatorID)), phrase.Safe(string(m.Kind)))
		switch {
		case m.Problem != nil:
			p.Hang(lead+": ", theme.Error, phrase.Safe(m.Problem.Message))
			continue
		case m.Kind == inspect.MarkerOther:
			p.Hang(lead+": ", theme.Plain, "an object of class "+phrase.Safe(m.Class))
			continue
		}
		p.Hang(lead, theme.Plain, "")
		offsets := make([]string, 0, len(m.Offsets))
		for _, part := range m.Offsets.Partitions() {
			offsets = append(offsets, fmt.Sprintf("%d:%s", part, figures.Group(m.Offsets[part])))
		}
		if len(offsets) == 0 {
			offsets = []string{"no offsets"}
		}
		p.Hang(indent+"  ", theme.Plain, strings.Join(offsets, "  "))
	}
}

func short(id string) string {
	if len(id) > 8 {
		return id[:8]
	}
	return id
}

func (p *page) files() {
	files := p.point.Files
	p.Title(fmt.Sprintf("Referenced files: %s, %s", figures.Group(int64(files.Referenced)), figures.Bytes(files.Bytes)))
	if len(files.Missing) == 0 && len(files.Unchecked) == 0 && files.Referenced > 0 {
		p.Hang(indent, theme.Plain, "all present, of the size that the metadata states")
	}
	for _, uri := range files.Missing {
		p.Sign(theme.Error, "missing: "+phrase.Safe(uri))
	}
	for _, uri := range files.Unchecked {
		p.Sign(theme.Warning, "not reachable from here: "+phrase.Safe(uri))
	}
	p.unreferenced()
}
