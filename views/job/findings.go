package job

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/views/phrase"
)

// problemLines are the findings in at most most lines: the worst ones, each
// whole where there is room, else cut between two words; and how many more there
// are. The key f shows all of all.
func problemLines(th theme.Theme, problems []inspect.Finding, width, most int) []string {
	shown := min(len(problems), most)
	if shown < len(problems) {
		shown = max(most-1, 1)
	}
	spare := most - len(problems)
	var lines []string
	for _, f := range problems[:shown] {
		lead := lead(th, f)
		whole := phrase.Hang(lead, phrase.Safe(f.Cause), width-1)
		if len(whole)-1 > max(spare, 0) {
			whole = []string{lead + phrase.Clip(phrase.Safe(f.Cause), width-1-ansi.StringWidth(lead), th.Signs.More)}
		} else {
			spare -= len(whole) - 1
		}
		for _, line := range whole {
			lines = append(lines, th.Paint(phrase.Tone(f.Severity), line))
		}
	}
	if rest := problems[shown:]; len(rest) > 0 {
		text := fmt.Sprintf("   %s (%s)", phrase.Count(len(rest), "more finding", "more findings"), phrase.BySeverity(rest))
		key := "f all "
		gap := max(width-ansi.StringWidth(text)-len(key), 1)
		lines = append(lines, text+strings.Repeat(" ", gap)+th.Paint(theme.KeyName, "f")+key[1:])
	}
	return lines
}

func lead(th theme.Theme, f inspect.Finding) string {
	sign := th.Sign(phrase.Tone(f.Severity))
	if sign == "" {
		sign = " "
	}
	return " " + sign + " "
}
