package phrase

import (
	"strings"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/tui/theme"
)

// Key is a business key as far as it is known: its text, or the digest in its
// place.
func Key(k inspect.CallKey) string {
	switch {
	case k.Text != nil && *k.Text == "":
		return `""`
	case k.Text != nil:
		return Safe(*k.Text)
	case k.Digest != "":
		return "sha256 " + Safe(k.Digest)
	default:
		return "?"
	}
}

// Outcome is an outcome's word and tone. The one that must be seen is in upper
// case.
func Outcome(o inspect.CallOutcome) (string, theme.Tone) {
	switch o {
	case inspect.CallRunsAgain:
		return "RUNS AGAIN", theme.Error
	case inspect.CallReconciler:
		return "reconciler", theme.Warning
	case inspect.CallReused:
		return "reused", theme.OK
	default:
		return "unknown", theme.Warning
	}
}

// CallState is the tone of a call's state; the state is its own word.
func CallState(s inspect.CallState) (string, theme.Tone) {
	switch s {
	case inspect.CallSaved:
		return string(s), theme.Plain
	case inspect.CallPending, inspect.CallOverwritten, inspect.CallUnmatched:
		return string(s), theme.Warning
	default:
		return Safe(string(s)), theme.Warning
	}
}

// AtRisk says how many calls are in which state: "2 pending, 1 overwritten".
func AtRisk(c inspect.PendingCalls) string {
	var words []string
	for _, w := range []struct {
		n    int64
		word inspect.CallState
	}{{c.Pending, inspect.CallPending}, {c.Overwritten, inspect.CallOverwritten}, {c.Unmatched, inspect.CallUnmatched}} {
		if w.n > 0 {
			words = append(words, Calls(&w.n)+" "+string(w.word))
		}
	}
	if len(words) == 0 {
		return "none"
	}
	return strings.Join(words, ", ")
}
