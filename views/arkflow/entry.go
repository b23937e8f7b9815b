package arkflow

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/inspect/arkflow"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/views/jobs"
	"github.com/recoverctl/recoverctl/views/phrase"
	"github.com/recoverctl/recoverctl/views/wal"
)

// Entry is a job of the profile in the list of jobs: a job of a hub, a stream of
// it, the hub itself, or a write-ahead log alone.
type Entry struct {
	options Options
	reader  *reader[found]
}

var _ jobs.Other = (*Entry)(nil)

// found is what a name of the profile stands for, with what was read of it: one of
// them.
type found struct {
	job    *arkflow.JobDetail
	list   *arkflow.JobList // where the name is no job's
	stream *arkflow.StreamState
	log    *arkflow.WriteAheadLog // where there is no hub
}

func (f found) holds() bool { return f.job != nil || f.list != nil || f.log != nil }

// NewEntry makes an entry that was not read yet. Its reads run in a slot of that
// name.
func NewEntry(o Options, slot string) *Entry { return &Entry{o, newEntryReader(o, slot)} }

func newEntryReader(o Options, slot string) *reader[found] {
	return &reader[found]{slot: slot, ask: o.find, some: found.holds, now: o.now}
}

// find asks the hub what the name is.
func (o Options) find(ctx context.Context) (found, error) {
	if o.Source == nil {
		l, err := o.Log.Read(ctx)
		if err != nil {
			return found{}, err
		}
		return found{log: &l}, nil
	}
	if o.Job.Name == "" {
		return o.all(ctx)
	}
	d, err := o.Source.Job(ctx, o.Job.Name)
	switch kind := fault.KindOf(err); {
	case d.Hub.Address != "":
		return found{job: &d}, err
	case kind != fault.NotFound && kind != fault.Unsupported:
		return found{}, err
	}
	return o.all(ctx)
}

// all is what the hub has, and the stream of the name.
func (o Options) all(ctx context.Context) (found, error) {
	l, err := o.Source.Jobs(ctx)
	if l.Hub.Address == "" {
		return found{}, err
	}
	return found{list: &l, stream: streamOf(l, "", o.Job.Name)}, err
}

// streamOf is the stream of an id on a node, on any where it is empty; nil where
// there is none, or several.
func streamOf(l arkflow.JobList, node, id string) *arkflow.StreamState {
	var one *arkflow.StreamState
	for i, s := range l.Streams {
		if s.ID != id || node != "" && s.Node != node {
			continue
		}
		if one != nil {
			return nil
		}
		one = &l.Streams[i]
	}
	return one
}

// Read implements jobs.Other.
func (e *Entry) Read() tui.Cmd { return e.reader.read() }

// Take implements jobs.Other.
func (e *Entry) Take(msg tui.Msg) bool { return e.reader.take(msg) }

// Busy implements jobs.Other.
func (e *Entry) Busy() bool { return e.reader.busy }

// Open implements jobs.Other: where it is not known yet what the name stands for, it
// is asked first.
func (e *Entry) Open() tui.Screen {
	if e.options.Source == nil {
		return e.options.log()
	}
	if !e.reader.known {
		return &opening{options: e.options, reader: newEntryReader(e.options, "entry")}
	}
	return e.options.open(e.reader)
}

// open is the screen of what was found, with what is known of it.
func (o Options) open(r *reader[found]) tui.Screen {
	switch f := r.value; {
	case f.job != nil:
		s := NewJob(o, f.job.Job.ID)
		s.reader.value, s.reader.known, s.reader.at, s.reader.err, s.reader.stale = *f.job, true, r.at, r.err, r.stale
		s.take()
		return s
	case f.stream != nil:
		s := NewStream(o, f.stream.Node, f.stream.ID)
		s.reader.value, s.reader.known, s.reader.at, s.reader.err, s.reader.stale = *f.list, true, r.at, r.err, r.stale
		return s
	case f.list != nil:
		s := NewHub(o)
		s.reader.value, s.reader.known, s.reader.at, s.reader.err, s.reader.stale = *f.list, true, r.at, r.err, r.stale
		s.take()
		return s
	}
	return o.log()
}

// Commands implements jobs.Other.
func (e *Entry) Commands() []tui.Command { return e.options.commands() }

// commands are what the palette offers on the screens of a hub.
func (o Options) commands() []tui.Command {
	if o.Source == nil {
		return nil
	}
	return []tui.Command{{
		Name: "hub", Help: "every job and stream of the ArkFlow hub",
		Run: func(string) tui.Cmd { return tui.Push(NewHub(o)) },
	}}
}

// Standing implements jobs.Other.
func (e *Entry) Standing() jobs.Standing {
	r := e.reader
	if !r.known {
		s := jobs.Standing{About: "its ArkFlow hub is asked"}
		if e.options.Source == nil {
			s.About = "its write-ahead log is read"
		}
		if r.err != nil {
			s.Problems = phrase.WithFaults(nil, r.err, false)
		}
		return s
	}
	var s jobs.Standing
	switch f := r.value; {
	case f.job != nil:
		s = jobStanding(*f.job)
		s.Problems = r.problems(f.job.Findings)
	case f.stream != nil:
		s = streamStanding(*f.list, *f.stream)
		s.Problems = r.problems(arkflow.Findings(e.options.rowsOf(*f.list, *f.stream)))
	case f.list != nil:
		s = hubStanding(e.options, *f.list)
		s.Problems = r.problems(f.list.Findings)
	default:
		s = logStanding(e.options, *f.log)
		s.Problems = r.problems(problemsOf(*f.log))
	}
	s.At = r.at
	return s
}

func jobStanding(d arkflow.JobDetail) jobs.Standing {
	s := jobs.Standing{Listed: d.Points.Place != ""}
	s.Live, s.LiveTone = stateOf(d.Job.Observed)
	s.Checkpoints, s.Health = healthOf(d.Job.Health)
	for _, p := range d.Points.Points {
		switch p.Verdict {
		case inspect.Accepted:
			s.Accepted++
		case inspect.Rejected:
			s.Rejected++
		default:
			s.Unknown++
		}
	}
	restored, _ := restores(d.Points.Selection, false)
	s.Facts = []string{
		stateText(d.Job),
		"protected by: " + phrase.Safe(d.Job.Protected.Sentence),
		"checkpoints " + inForce(d.Job.Health),
		"a start " + restored,
	}
	if d.Job.Recovery.Under {
		s.Facts = append(s.Facts, "recovery: "+phrase.Safe(d.Job.Recovery.Sentence))
	}
	return s
}

func streamStanding(l arkflow.JobList, one arkflow.StreamState) jobs.Standing {
	var s jobs.Standing
	s.Live, s.LiveTone = stateOf(one.State)
	s.Facts = []string{"stream of " + phrase.Safe(one.Node), "protected by: " + phrase.Safe(one.Protected.Sentence)}
	if l.Log != nil {
		s.Facts = append(s.Facts, "its log: "+l.Log.Headline())
	}
	return s
}

func hubStanding(o Options, l arkflow.JobList) jobs.Standing {
	what := "The hub at " + phrase.Safe(l.Hub.Address)
	if o.Job.Name != "" {
		what += " has no job and no one stream named " + phrase.Safe(o.Job.Name)
	}
	return jobs.Standing{Live: "hub", Facts: []string{
		what + ": enter shows all that it has",
		phrase.Count(len(l.Jobs), "job", "jobs") + ", " + phrase.Count(len(l.Streams), "stream", "streams"),
	}}
}

func logStanding(o Options, l arkflow.WriteAheadLog) jobs.Standing {
	s := jobs.Standing{Live: "log alone", Facts: []string{l.Headline()}}
	if l.Stable {
		s.Facts = append(s.Facts, strings.Join(wal.Facts(o.Theme, l), ", "))
	}
	s.Facts = append(s.Facts, "at "+phrase.Safe(l.Place))
	return s
}

// problemsOf are the problems of a log as findings.
func problemsOf(l arkflow.WriteAheadLog) []inspect.Finding {
	var out []inspect.Finding
	for _, p := range l.Problems {
		out = append(out, inspect.Finding{Severity: p.Severity, Rule: p.Code, Cause: p.Message, Next: p.Next, Refs: []string{"log " + l.Place}})
	}
	return out
}

// opening asks what a name stands for, and becomes its screen.
type opening struct {
	options Options
	reader  *reader[found]
}

func (s *opening) Init() tui.Cmd           { return s.reader.read() }
func (s *opening) Reload() tui.Cmd         { return s.reader.read() }
func (s *opening) Crumb() string           { return cmp.Or(phrase.Safe(s.options.Job.Name), "hub") }
func (s *opening) Status() tui.Status      { return tui.Status{} }
func (s *opening) Keys() []tui.Key         { return s.options.logKey() }
func (s *opening) Commands() []tui.Command { return s.options.commands() }

func (s *opening) Update(msg tui.Msg) tui.Cmd {
	if s.reader.take(msg) && s.reader.known {
		return tui.Replace(s.options.open(s.reader))
	}
	return nil
}

func (s *opening) View(size tui.Size) string {
	return notYet(s.options.Theme, size, s.reader.err, "asking the ArkFlow hub for "+s.Crumb())
}

// rowsOf are the rows of the decision table about a stream, and about the profile's
// log where that is the stream's.
func (o Options) rowsOf(l arkflow.JobList, s arkflow.StreamState) []arkflow.Decision {
	subject := streamSubject(s)
	return slices.DeleteFunc(slices.Clone(l.Decisions), func(d arkflow.Decision) bool {
		return d.Subject != subject && !(d.Scope == arkflow.OfLog && o.Job.Name == s.ID)
	})
}

func streamSubject(s arkflow.StreamState) string { return "stream " + s.Node + "/" + s.ID }

// stateOf is the state of a job or stream in a word.
func stateOf(word *string) (string, theme.Tone) {
	if word == nil {
		return notExposed, theme.Warning
	}
	switch *word {
	case "running":
		return "running", theme.Plain
	case "failed":
		return "FAILED", theme.Error
	default:
		return phrase.Safe(*word), theme.Warning
	}
}
