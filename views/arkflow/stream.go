package arkflow

import (
	"cmp"
	"context"

	"github.com/recoverctl/recoverctl/inspect/arkflow"
	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/views/phrase"
	"github.com/recoverctl/recoverctl/views/sheet"
	"github.com/recoverctl/recoverctl/views/wal"
)

// Stream is the screen of one stream of a node.
type Stream struct {
	*page
	options Options
	node    string
	id      string
	reader  *reader[arkflow.JobList]
}

// NewStream makes the screen of a stream of a node.
func NewStream(o Options, node, id string) *Stream {
	s := &Stream{options: o, node: node, id: id, reader: newListReader(o)}
	s.page = newPage(o.Theme, phrase.Safe(cmp.Or(id, node)), s.reader.when, s.write, s.keys)
	return s
}

// newListReader reads all that a hub has.
func newListReader(o Options) *reader[arkflow.JobList] {
	return &reader[arkflow.JobList]{
		slot: "hub", ask: func(ctx context.Context) (arkflow.JobList, error) { return o.Source.Jobs(ctx) },
		some: func(l arkflow.JobList) bool { return l.Hub.Address != "" }, now: o.now,
	}
}

// Init implements tui.Screen.
func (s *Stream) Init() tui.Cmd { return s.reader.read() }

// Reload implements tui.Reloader.
func (s *Stream) Reload() tui.Cmd { return s.reader.read() }

// Update implements tui.Screen.
func (s *Stream) Update(msg tui.Msg) tui.Cmd {
	if s.reader.take(msg) {
		s.Lay()
	}
	return nil
}

// Commands implements tui.Commander.
func (s *Stream) Commands() []tui.Command {
	about := s.options.Job
	about.Name = s.node + "/" + s.id
	return append(s.options.commands(), s.options.planCommands(streamPlans(), about, s.node+"/"+s.id, s.Commands)...)
}

// View implements tui.Screen.
func (s *Stream) View(size tui.Size) string {
	if !s.reader.known {
		return notYet(s.options.Theme, size, s.reader.err, "reading stream "+phrase.Safe(s.id)+" of "+phrase.Safe(s.node))
	}
	return s.page.View(size)
}

func (s *Stream) rows(one arkflow.StreamState) []arkflow.Decision {
	return s.options.rowsOf(s.reader.value, one)
}

func (s *Stream) keys() []tui.Key {
	one := streamOf(s.reader.value, s.node, s.id)
	keys := []tui.Key{{Keys: []string{"f"}, Help: "findings", Disabled: func() string {
		if one == nil {
			return "the stream is not known"
		}
		return ""
	}, Run: func() tui.Cmd {
		return tui.Push(newFindings(s.options, "findings", s.reader.at, s.rows(*one), s.reader.value.Unchecked))
	}}}
	if s.options.Job.Name == s.id {
		keys = append(keys, s.options.logKey()...)
	}
	return append(keys, tui.CopyKey(func() (what, text string) { return "the stream's name", phrase.Copied(s.node + "/" + s.id) }))
}

// write is the page: what is wrong, what covers the stream, what its log would
// replay, and what the hub says of it.
func (s *Stream) write(p *sheet.Page) {
	l := s.reader.value
	one := streamOf(l, s.node, s.id)
	if one == nil {
		if s.reader.known {
			p.Sign(theme.Warning, "the hub has no stream "+phrase.Safe(s.node)+"/"+phrase.Safe(s.id)+" any more")
		}
		return
	}
	findings := s.reader.problems(arkflow.Findings(s.rows(*one)))
	if len(findings) == 0 {
		p.Sign(theme.OK, "no finding needs you")
	}
	for _, f := range findings {
		p.Sign(phrase.Tone(f.Severity), phrase.Safe(f.Cause))
		p.Hang(sheet.Indent, theme.Muted, phrase.Safe(f.Next))
	}
	p.Blank()
	f := &facts{theme: p.Theme, width: p.Width}
	word, tone := stateOf(one.State)
	f.add("state", tone, word+" on "+phrase.Safe(one.Node))
	if one.LastError != nil {
		f.add("failed at", theme.Error, exposed(one.Stage)+": "+phrase.Safe(*one.LastError))
	}
	f.add("asked for", theme.Plain, exposed(one.Desired)+"; the hub says "+exposed(one.Convergence))
	f.add("protected by", protection(one.Protected), phrase.Safe(one.Protected.Sentence))
	f.add("messages", theme.Plain, "in "+number(one.Input)+", tried out "+number(one.Output)+", failed out "+number(one.OutputBad)+" (counters of the engine's attempts, not deliveries)")
	f.add("started", theme.Plain, age(one.Started, s.reader.at)+" ago")
	p.Lines = append(p.Lines, f.lines...)
	s.ofLog(p, l)
}

// ofLog is the log of the stream, where it is the one of the profile.
func (s *Stream) ofLog(p *sheet.Page, l arkflow.JobList) {
	if s.options.Log == nil || s.options.Job.Name != s.id {
		return
	}
	p.Title("Its write-ahead log")
	if l.Log == nil {
		p.Sign(theme.Warning, "it could not be read: L asks again")
		return
	}
	p.Sign(phrase.Tone(l.Log.Worst()), l.Log.Headline())
	if !l.Log.Stable {
		return
	}
	p.Lines = append(p.Lines, phrase.Flow(wal.Facts(p.Theme, *l.Log), "   ", p.Width-1)...)
	if line, ok := wal.Bar(p.Theme, *l.Log, p.Width); ok {
		p.Blank()
		p.Lines = append(p.Lines, line)
	}
	p.Say("L shows its entries.")
}
