package arkflow

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/recoverctl/recoverctl/inspect/arkflow"
	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/tui/vtable"
	"github.com/recoverctl/recoverctl/views/phrase"
	"github.com/recoverctl/recoverctl/views/sheet"
)

// Hub is the screen of all that a hub has: its jobs and streams, with what covers
// each of them.
type Hub struct {
	options Options
	reader  *reader[arkflow.JobList]
	table   *vtable.Table
	columns []vtable.Column
	size    tui.Size
}

// hubColumns keep the whole name of each job and stream, as far as that is possible.
func hubColumns(l arkflow.JobList) []vtable.Column {
	name := 0
	for i := range len(l.Jobs) + len(l.Streams) {
		name = max(name, ansi.StringWidth(phrase.Safe(nameIn(l, i))))
	}
	return []vtable.Column{
		{Title: "JOB OR STREAM", Min: min(name, 32), Max: 48},
		{Title: "IS", Min: len("running")},
		{Title: "FINDINGS", Min: len("none by record")},
		{Title: "CHECKPOINTS", Min: len("DEGRADED")},
		{Title: "PROTECTED BY", Min: 16, Flex: 1},
	}
}

// nameIn is the name of a row: of the jobs, then of the streams.
func nameIn(l arkflow.JobList, i int) string {
	if i < len(l.Jobs) {
		return l.Jobs[i].ID
	}
	one := l.Streams[i-len(l.Jobs)]
	return one.Node + "/" + one.ID
}

// NewHub makes the screen of a hub.
func NewHub(o Options) *Hub {
	s := &Hub{options: o, reader: newListReader(o)}
	s.columns = hubColumns(arkflow.JobList{})
	s.table = vtable.New(o.Theme, s.columns, hubRows{s})
	return s
}

// Init implements tui.Screen.
func (s *Hub) Init() tui.Cmd { return s.reader.read() }

// Reload implements tui.Reloader.
func (s *Hub) Reload() tui.Cmd { return s.reader.read() }

// Update implements tui.Screen.
func (s *Hub) Update(msg tui.Msg) tui.Cmd {
	if s.reader.take(msg) {
		s.take()
	}
	return nil
}

func (s *Hub) take() {
	copy(s.columns, hubColumns(s.reader.value)) // the table's own
	s.table.SetSource(hubRows{s})
}

// Resize implements tui.Resizer.
func (s *Hub) Resize(size tui.Size) {
	s.size = size
	s.table.Resize(tui.Size{Width: size.Width, Height: max(size.Height-len(s.head(size))-1, 0)})
}

// Crumb implements tui.Screen.
func (s *Hub) Crumb() string { return "hub" }

// Status implements tui.Screen.
func (s *Hub) Status() tui.Status { return tui.Status{ReadAt: s.reader.at} }

// Commands implements tui.Commander: the hub is here.
func (s *Hub) Commands() []tui.Command { return nil }

// View implements tui.Screen.
func (s *Hub) View(size tui.Size) string {
	if !s.reader.known {
		return notYet(s.options.Theme, size, s.reader.err, "asking the ArkFlow hub for its jobs and streams")
	}
	lines := append(s.head(size), "")
	if (hubRows{s}).Len() == 0 {
		lines = append(lines, "   the hub has no job and no stream")
	} else {
		lines = append(lines, s.table.View(tui.Size{Width: size.Width, Height: max(size.Height-len(lines), 0)}))
	}
	return strings.Join(lines, "\n")
}

// head is what is wrong, and who answers.
func (s *Hub) head(size tui.Size) []string {
	l, th := s.reader.value, s.options.Theme
	problems := s.reader.problems(l.Findings)
	for i, f := range problems {
		if len(f.Refs) > 0 {
			problems[i].Cause = strings.Join(f.Refs, ", ") + ": " + f.Cause
		}
	}
	p := &sheet.Page{Theme: th, Width: size.Width}
	if len(problems) == 0 {
		p.Sign(theme.OK, "no finding needs you, by what the hub has on record")
	}
	p.Lines = append(p.Lines, phrase.Problems(th, problems, size.Width, max(size.Height/4, 2))...)
	ready := "whether it is ready is not exposed"
	if l.Hub.Ready != nil {
		ready = map[bool]string{true: "ready", false: "NOT READY"}[*l.Hub.Ready]
	}
	facts := []string{"hub " + phrase.Safe(l.Hub.Address), l.Hub.Generation.String(), ready}
	if l.Hub.Leader {
		facts[0] += " (the leader that a standby named)"
	}
	for _, n := range l.Hub.Nodes {
		state, tone := exposed(n.State), theme.Plain
		if n.State == nil || *n.State != "online" {
			tone = theme.Warning
		}
		text := phrase.Safe(n.ID) + " " + state
		if tone != theme.Plain {
			text += ", last seen " + age(n.LastSeen, s.reader.at) + " ago"
		}
		facts = append(facts, th.Paint(tone, text))
	}
	p.Blank()
	p.Lines = append(p.Lines, phrase.Flow(facts, "   ", size.Width-1)...)
	if len(l.Jobs) > 0 {
		p.Hang(sheet.Indent, theme.Muted, "Of jobs the hub's records alone are read here: opening one reads its checkpoint store.")
	}
	return p.Lines
}

// Keys implements tui.Screen.
func (s *Hub) Keys() []tui.Key {
	none := func() string {
		if _, ok := s.table.Cursor(); !ok {
			return "no job and no stream is selected"
		}
		return ""
	}
	keys := []tui.Key{
		{Keys: []string{"enter"}, Help: "open", Disabled: none, Run: s.open},
		{Keys: []string{"f"}, Help: "findings", Disabled: func() string {
			if !s.reader.known {
				return "the hub is being asked"
			}
			return ""
		}, Run: func() tui.Cmd {
			return tui.Push(newFindings(s.options, "findings", s.reader.at, s.reader.value.Decisions, s.reader.value.Unchecked))
		}},
		tui.CopyKey(func() (what, text string) {
			at, ok := s.table.Cursor()
			if !ok {
				return "the name", ""
			}
			return "the name", phrase.Copied(hubRows{s}.ID(at))
		}),
	}
	return append(keys, s.table.Keys()...)
}

func (s *Hub) open() tui.Cmd {
	at, ok := s.table.Cursor()
	l := s.reader.value
	switch {
	case !ok:
		return nil
	case at < len(l.Jobs):
		return tui.Push(NewJob(s.options, l.Jobs[at].ID))
	default:
		one := l.Streams[at-len(l.Jobs)]
		screen := NewStream(s.options, one.Node, one.ID)
		screen.reader.value, screen.reader.known, screen.reader.at = l, true, s.reader.at
		return tui.Push(screen)
	}
}

// hubRows are the jobs, then the streams.
type hubRows struct{ *Hub }

func (r hubRows) Len() int { return len(r.reader.value.Jobs) + len(r.reader.value.Streams) }

func (r hubRows) ID(i int) string { return nameIn(r.reader.value, i) }

// subject is what the decision table calls a row.
func (r hubRows) subject(i int) string {
	if i < len(r.reader.value.Jobs) {
		return "job " + r.ID(i)
	}
	return "stream " + r.ID(i)
}

func (r hubRows) Row(i int) []vtable.Cell {
	l, th := r.reader.value, r.options.Theme
	count := countOf(th, r.findings(i))
	if i < len(l.Jobs) {
		j := l.Jobs[i]
		state, stateTone := stateOf(j.Observed)
		health, healthTone := healthOf(j.Health)
		if healthTone == theme.OK { // nobody looked into the store
			health, healthTone = "recorded", theme.Plain
		}
		if len(r.findings(i)) == 0 {
			count = vtable.Cell{Text: "none by record"}
		}
		return []vtable.Cell{{Text: phrase.Safe(j.ID)}, {Text: state, Tone: stateTone}, count, {Text: health, Tone: healthTone}, {Text: phrase.Safe(j.Protected.Sentence), Tone: protection(j.Protected)}}
	}
	one := l.Streams[i-len(l.Jobs)]
	state, stateTone := stateOf(one.State)
	return []vtable.Cell{{Text: phrase.Safe(r.ID(i))}, {Text: state, Tone: stateTone}, count, {Text: th.Signs.None, Tone: theme.Muted}, {Text: phrase.Safe(one.Protected.Sentence), Tone: protection(one.Protected)}}
}

// Words implements vtable.Worder.
func (r hubRows) Words(i int) []string {
	if i < len(r.reader.value.Jobs) {
		return []string{"job"}
	}
	return []string{"stream"}
}

// Detail is what covers it, whole, and the worst that is wrong.
func (r hubRows) Detail(i int) []string {
	l := r.reader.value
	p := &sheet.Page{Theme: r.options.Theme, Width: max(r.size.Width-4, 1)}
	sentence := ""
	if i < len(l.Jobs) {
		sentence = l.Jobs[i].Protected.Sentence
	} else {
		sentence = l.Streams[i-len(l.Jobs)].Protected.Sentence
	}
	p.Hang("protected by: ", theme.Plain, phrase.Safe(sentence))
	for _, f := range r.findings(i)[:min(len(r.findings(i)), 2)] {
		p.Sign(phrase.Tone(f.Severity), phrase.Safe(f.Cause))
	}
	return p.Lines
}
