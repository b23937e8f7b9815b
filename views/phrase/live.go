package phrase

import (
	"fmt"
	"strings"
	"time"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/clock"
	"github.com/recoverctl/recoverctl/internal/figures"
	"github.com/recoverctl/recoverctl/tui/theme"
)

// NotRead stands where something was asked for and could not be read.
const NotRead = "could not be read"

// NoAnswerYet stands where something was asked for, for longer than usual.
const NoAnswerYet = "no answer yet"

// Live is a running job's state in a word, or why there is none.
func Live(source inspect.Connection, live *inspect.LiveState) (string, theme.Tone) {
	switch {
	case live != nil:
		return Safe(live.State), stateTone(live.State)
	case source == inspect.Unread:
		return NotRead, theme.Warning
	default:
		return NotConnected, theme.Muted
	}
}

func stateTone(state string) theme.Tone {
	switch state {
	case "RUNNING", "FINISHED":
		return theme.Plain
	case "FAILING", "FAILED", "RESTARTING":
		return theme.Error
	default:
		return theme.Warning
	}
}

// LiveFor is the state with how long it has lasted at a time.
func LiveFor(live inspect.LiveState, at time.Time) string {
	if live.Since == nil {
		return Safe(live.State)
	}
	return Safe(live.State) + " " + clock.Age(at.Sub(*live.Since))
}

// Restarts says how often the job was restarted, at least.
func Restarts(live inspect.LiveState) string {
	switch {
	case live.Restarts == nil:
		return "restarts not known"
	case *live.Restarts == 0:
		return "no restart counted"
	default:
		return figures.Group(*live.Restarts) + "+ " + plural(*live.Restarts, "restart")
	}
}

func plural(n int64, word string) string {
	if n == 1 {
		return word
	}
	return word + "s"
}

// RestoredFrom says what the job was restored from last.
func RestoredFrom(live inspect.LiveState) string {
	switch c := live.Checkpoints; {
	case live.RestoredFrom != nil:
		return "restored from " + Last(*live.RestoredFrom)
	case c == nil:
		return "restored from: not known"
	case c.Restored == nil:
		return "started without state"
	default:
		return fmt.Sprintf("restored from %s %s", Safe(string(c.Restored.Kind)), figures.Group(c.Restored.ID))
	}
}

// NextRestore says what Flink restores by itself, and its verdict where it is
// one of the points.
func NextRestore(next inspect.NextRestore, points []inspect.PointSummary) (string, theme.Tone) {
	switch next.Source {
	case inspect.SourcePoint:
		name := "a checkpoint"
		if next.ID != nil {
			name = "checkpoint " + figures.Group(*next.ID)
		}
		if next.Path == nil {
			return "by itself Flink restores " + name, theme.Plain
		}
		name = Last(*next.Path)
		at, ok := inspect.PointAt(points, *next.Path)
		if !ok {
			return "by itself Flink restores " + name + " (verdict not known)", theme.Warning
		}
		word, tone := Verdict(points[at].Verdict)
		if tone == theme.OK {
			tone = theme.Plain
		}
		return "by itself Flink restores " + name + " (" + word + ")", tone
	case inspect.SourceNoState:
		return "by itself Flink starts it WITHOUT STATE", theme.Warning
	case inspect.SourceNone:
		return "not restarted by Flink itself", theme.Warning
	default:
		return "what Flink restores by itself is not known", theme.Warning
	}
}

// Cause is the root of a job's newest failure in one line; "" where none is on
// record, or nobody could read whether one is.
func Cause(live inspect.LiveState, at time.Time) string {
	text := ""
	switch c := live.RootCause; {
	case c != nil:
		text = strings.Trim(Safe(c.Type)+": "+Safe(c.Message), ": ")
		if c.Time != nil {
			text = Clock(*c.Time, at) + " " + text
		}
	case live.LastException != nil:
		text = Safe(*live.LastException)
	}
	return text
}
