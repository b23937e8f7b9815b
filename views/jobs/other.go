package jobs

import (
	"time"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/tui/vtable"
	"github.com/recoverctl/recoverctl/views/phrase"
)

// Other is a job of another engine: how it is read for the list, and its own screen.
type Other interface {
	// Read starts a read, in a slot of its own. Take takes its result; false if msg
	// is none of this job's.
	Read() tui.Cmd
	Take(msg tui.Msg) bool
	// Busy reports whether a read was started and has brought no result yet.
	Busy() bool
	// Standing is the job as it was last read.
	Standing() Standing
	// Open is the job's screen, with what is known of it.
	Open() tui.Screen
	// Commands are what the palette offers about it.
	Commands() []tui.Command
}

// Standing is a job in the list.
type Standing struct {
	At       time.Time         // when it was read; zero: nothing of it was
	About    string            // what is being read, while nothing is known
	Problems []inspect.Finding // the worst first; also why nothing could be read

	Live        string
	LiveTone    theme.Tone
	Listed      bool // its recovery points were read
	Accepted    int
	Rejected    int
	Unknown     int
	Checkpoints string // their health in a word; empty: it takes none
	Health      theme.Tone
	Facts       []string // behind the numbers
}

// elsewhere is a job of another engine.
type elsewhere struct {
	*Screen
	name  string
	other Other
}

func (e *elsewhere) read() tui.Cmd           { return e.other.Read() }
func (e *elsewhere) take(msg tui.Msg) bool   { return e.other.Take(msg) }
func (e *elsewhere) renew() bool             { return false }
func (e *elsewhere) at() time.Time           { return e.other.Standing().At }
func (e *elsewhere) open() tui.Screen        { return e.other.Open() }
func (e *elsewhere) commands() []tui.Command { return e.other.Commands() }

func (e *elsewhere) cells() []vtable.Cell {
	s, name := e.other.Standing(), vtable.Cell{Text: e.name}
	if s.At.IsZero() {
		return e.unread(name, e.other.Busy())
	}
	cells := map[kind]vtable.Cell{
		ofName: name, ofFindings: findings(e.options.Theme, s.Problems), ofRead: {Text: phrase.Clock(s.At, s.At), Tone: theme.Muted},
	}
	if s.Live != "" {
		cells[ofLive] = vtable.Cell{Text: s.Live, Tone: s.LiveTone}
	}
	if s.Checkpoints != "" {
		cells[ofCheckpoints] = vtable.Cell{Text: s.Checkpoints, Tone: s.Health}
	}
	if s.Listed {
		cells[ofAccepted], cells[ofRejected], cells[ofUnknown] = count(s.Accepted, theme.Plain), count(s.Rejected, theme.Error), count(s.Unknown, theme.Warning)
	}
	return e.in(cells)
}

// words are how the job is found.
func (e *elsewhere) words() []string {
	s := e.other.Standing()
	words := verdictWords(s.Accepted, s.Rejected, s.Unknown)
	if s.Checkpoints != "" {
		words = append(words, s.Checkpoints)
	}
	return words
}

func (e *elsewhere) detail(width int) []string {
	s, th := e.other.Standing(), e.options.Theme
	if s.At.IsZero() && e.other.Busy() {
		return []string{th.Paint(theme.Muted, phrase.Clip(s.About, width, th.Signs.More))}
	}
	lines := worst(th, s.Problems, width)
	if s.At.IsZero() {
		if len(s.Problems) > 0 && s.Problems[0].Next != "" {
			lines = append(lines, phrase.Hang("  ", phrase.Safe(s.Problems[0].Next), width)...)
		}
		return lines
	}
	return append(lines, e.muted(s.Facts, width)...)
}
