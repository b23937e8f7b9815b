package phrase

import (
	"fmt"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/tui/theme"
)

// WithFaults puts what could not be read before the findings, but for faults that one
// of them tells of already. Stale: what is shown was read before that.
func WithFaults(findings []inspect.Finding, err error, stale bool) []inspect.Finding {
	var out []inspect.Finding
	for _, f := range Faults(err) {
		if slices.ContainsFunc(findings, func(one inspect.Finding) bool { return strings.Contains(one.Cause, f.Error()) }) {
			continue
		}
		cause := f.Error()
		if stale {
			cause = "reading again failed, what is shown is older: " + cause
		}
		out = append(out, inspect.Finding{Severity: inspect.SeverityError, Rule: "not-read", Refs: f.Refs, Cause: cause, Next: f.Hint})
	}
	return append(out, findings...)
}

// Problems are the findings in at most most lines: the worst ones, each whole where
// there is room, else cut between two words; and how many more there are. The key f
// shows all of all.
func Problems(th theme.Theme, problems []inspect.Finding, width, most int) []string {
	shown := min(len(problems), most)
	if shown < len(problems) {
		shown = max(most-1, 1)
	}
	spare := most - len(problems)
	var lines []string
	for _, f := range problems[:shown] {
		lead := ProblemLead(th, f)
		whole := Hang(lead, Safe(f.Cause), width-1)
		if len(whole)-1 > max(spare, 0) {
			whole = []string{lead + Clip(Safe(f.Cause), width-1-ansi.StringWidth(lead), th.Signs.More)}
		} else {
			spare -= len(whole) - 1
		}
		for _, line := range whole {
			lines = append(lines, th.Paint(Tone(f.Severity), line))
		}
	}
	if rest := problems[shown:]; len(rest) > 0 {
		text := fmt.Sprintf("   %s (%s)", Count(len(rest), "more finding", "more findings"), BySeverity(rest))
		key := "f all "
		gap := max(width-ansi.StringWidth(text)-len(key), 1)
		lines = append(lines, text+strings.Repeat(" ", gap)+th.Paint(theme.KeyName, "f")+key[1:])
	}
	return lines
}

// ProblemLead is the sign of a finding, with spaces around it.
func ProblemLead(th theme.Theme, f inspect.Finding) string {
	sign := th.Sign(Tone(f.Severity))
	if sign == "" {
		sign = " "
	}
	return " " + sign + " "
}
