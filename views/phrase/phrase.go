package phrase

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/clock"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/figures"
	"github.com/recoverctl/recoverctl/internal/safetext"
	"github.com/recoverctl/recoverctl/tui/theme"
)

// NotScanned stands where a scan would give a number of calls: it is not 0.
const NotScanned = "not scanned"

// NotConnected stands where a running job's state would be.
const NotConnected = "not connected"

// Safe is text from outside as one line that a terminal may show.
func Safe(s string) string { return safetext.Of(s).String() }

// Job is what a job is called: its name, or its topic or table where it has none.
func Job(j inspect.Job) string {
	if j.Name == "" {
		return "job of " + j.Store.Log() + " " + Safe(j.Topic)
	}
	return Safe(j.Name)
}

// Parts counts the parts of a job's log, as in "8 buckets".
func Parts(store inspect.Store, n int) string { return Count(n, store.Part(), store.Part()+"s") }

// Capital is a text with a capital first letter, as at the beginning of a sentence.
func Capital(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + text[size:]
}

// Copied is text for the clipboard: as it is, and nothing where it holds what a
// terminal may not be shown, because what it is pasted into would obey that.
func Copied(text string) string {
	if Safe(text) != text {
		return ""
	}
	return text
}

// Last is the last component of a URI: what people call the point.
func Last(uri string) string { return Safe(tail(uri, 1)) }

// tail is the last n components of a URI.
func tail(uri string, n int) string {
	trimmed := strings.TrimRight(uri, "/")
	at := len(trimmed)
	for ; n > 0 && at >= 0; n-- {
		at = strings.LastIndexByte(trimmed[:at], '/')
	}
	return trimmed[at+1:]
}

// Names gives every recovery point the shortest end of its URI that no other
// one has: chk-42, or 4f3c/chk-42 beside another job's chk-42.
func Names(points []inspect.PointSummary) map[string]string {
	names := make(map[string]string, len(points))
	open := make([]string, len(points))
	for i, p := range points {
		open[i] = p.URI
	}
	for n := 1; len(open) > 0; n++ {
		users := map[string]int{}
		for _, uri := range open {
			users[tail(uri, n)]++
		}
		var again []string
		for _, uri := range open {
			end := tail(uri, n)
			if users[end] == 1 || n > strings.Count(uri, "/") { // alone, or nothing is left to tell them apart
				names[uri] = Safe(end)
				continue
			}
			again = append(again, uri)
		}
		open = again
	}
	return names
}

// Verdict is a verdict's word and tone. The word that must be seen is in upper
// case.
func Verdict(v inspect.Verdict) (string, theme.Tone) {
	switch v {
	case inspect.Accepted:
		return "accepted", theme.OK
	case inspect.Rejected:
		return "REJECTED", theme.Error
	default:
		return "unknown", theme.Warning
	}
}

// Tone is the tone of a severity; Plain for information.
func Tone(s inspect.Severity) theme.Tone {
	switch s {
	case inspect.SeverityError:
		return theme.Error
	case inspect.SeverityWarning:
		return theme.Warning
	default:
		return theme.Plain
	}
}

// Age is how old a recovery point was when at was now; "?" where nothing says.
// It does not move with the clock: the screen says how old its data is.
func Age(taken inspect.Taken, at time.Time) string {
	if taken.Time == nil {
		return "?"
	}
	return clock.Age(at.Sub(*taken.Time))
}

// Clock is a time of day as the header shows it, with the date where it is not
// that of at.
func Clock(t, at time.Time) string {
	t, at = t.UTC(), at.UTC()
	if t.YearDay() == at.YearDay() && t.Year() == at.Year() {
		return t.Format("15:04Z")
	}
	return t.Format("2006-01-02 15:04Z")
}

// Result is a rule's result and its tone. The one that must be seen is in upper
// case.
func Result(r inspect.RuleResult) (string, theme.Tone) {
	switch r {
	case inspect.Passed:
		return "passed", theme.OK
	case inspect.WouldPass:
		return "would pass", theme.OK
	case inspect.Failed:
		return "FAILED", theme.Error
	case inspect.WouldFail:
		return "would fail", theme.Warning
	default:
		return "not checked", theme.Warning
	}
}

// Count is a number with its word: "1 place", "2 places".
func Count(n int, one, many string) string { return figures.Count(n, one, many) }

// Calls is a number of calls that a scan has found, or that there was no scan.
func Calls(n *int64) string {
	if n == nil {
		return NotScanned
	}
	return figures.Group(*n)
}

// Short is a plan id as people say it: its first 8 hex digits.
func Short(planID string) string {
	runes := []rune(Safe(planID))
	return string(runes[:min(len(runes), 8)])
}

// Operation says what the last operation was and how long ago that was when at
// was now.
func Operation(op *inspect.Operation, at time.Time) string {
	if op == nil {
		return "none known"
	}
	return fmt.Sprintf("%s %s %s ago", Short(op.PlanID), Safe(string(op.Status)), clock.Age(at.Sub(op.Time)))
}

// BySeverity says "1 error, 2 warnings".
func BySeverity(findings []inspect.Finding) string {
	counts := map[inspect.Severity]int{}
	for _, f := range findings {
		counts[f.Severity]++
	}
	var words []string
	for _, w := range []struct {
		severity  inspect.Severity
		one, many string
	}{
		{inspect.SeverityError, "error", "errors"},
		{inspect.SeverityWarning, "warning", "warnings"},
		{inspect.SeverityInfo, "note", "notes"},
	} {
		if n := counts[w.severity]; n > 0 {
			words = append(words, Count(n, w.one, w.many))
		}
	}
	return strings.Join(words, ", ")
}

// Faults are all errors of a joined one, each as a fault, in their order.
func Faults(err error) []*fault.Fault {
	var all []*fault.Fault
	for _, e := range fault.All(err) {
		all = append(all, fault.Of(e))
	}
	return all
}

// Told is an error in one line, with what to do about it. Of a joined one it is
// the first.
func Told(err error) string {
	f := Faults(err)[0]
	if f.Hint == "" {
		return Safe(f.Error())
	}
	return Safe(f.Error() + " (" + f.Hint + ")")
}

// Agrees reports whether a release does with a restore what the rules say. One
// that starts and replays from elsewhere does not, whatever the verdict.
func Agrees(v inspect.Verdict, r inspect.Runtime) bool {
	switch r.Outcome {
	case inspect.ReleaseAccepts:
		return v == inspect.Accepted
	case inspect.ReleaseRejects:
		return v == inspect.Rejected
	case inspect.ReleaseSkipsSilently:
		return false
	default:
		return true
	}
}

// Does is what a release does with a restore, in words.
func Does(r inspect.Runtime) string {
	switch r.Outcome {
	case inspect.ReleaseAccepts:
		return "accepts this"
	case inspect.ReleaseRejects:
		return "rejects this"
	case inspect.ReleaseSkipsSilently:
		return "starts and SKIPS SILENTLY"
	default:
		return "may accept or reject this"
	}
}
