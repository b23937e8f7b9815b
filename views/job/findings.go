package job

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/views/overview"
	"github.com/recoverctl/recoverctl/views/phrase"
	"github.com/recoverctl/recoverctl/views/sheet"
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
		text := fmt.Sprintf("   %s (%s)", phrase.Count(len(rest), "more finding", "more findings"), bySeverity(rest))
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

// bySeverity says "1 error, 2 warnings".
func bySeverity(problems []inspect.Finding) string {
	counts := map[inspect.Severity]int{}
	for _, f := range problems {
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
			words = append(words, phrase.Count(n, w.one, w.many))
		}
	}
	return strings.Join(words, ", ")
}

// findings is the screen of all findings of a job, whole.
type findings struct {
	theme   theme.Theme
	reading overview.Reading
	width   int
	look    theme.Palette // that the page was painted with
	sheet   *sheet.Sheet
}

func newFindings(th theme.Theme, reading overview.Reading) *findings {
	return &findings{theme: th, reading: reading, sheet: sheet.New(th)}
}

func (f *findings) Init() tui.Cmd          { return nil }
func (f *findings) Update(tui.Msg) tui.Cmd { return nil }
func (f *findings) Crumb() string          { return "findings" }
func (f *findings) Keys() []tui.Key        { return f.sheet.Keys() }
func (f *findings) Status() tui.Status     { return tui.Status{ReadAt: f.reading.At} }

func (f *findings) View(size tui.Size) string { return f.sheet.View(size) }

func (f *findings) Resize(size tui.Size) {
	if look := f.theme.Palette(); size.Width != f.width || look != f.look {
		f.width, f.look = size.Width, look
		f.sheet.Set(f.page(size.Width))
	}
	f.sheet.Resize(size.Height)
}

func (f *findings) page(width int) []string {
	const indent = "     "
	var lines []string
	problems := f.reading.Problems()
	lines = append(lines, " "+f.theme.Paint(theme.Title, bySeverity(problems)))
	for _, p := range problems {
		lines = append(lines, "")
		for _, line := range phrase.Hang(lead(f.theme, p), phrase.Safe(p.Cause), width-1) {
			lines = append(lines, f.theme.Paint(phrase.Tone(p.Severity), line))
		}
		if p.Next != "" {
			lines = append(lines, phrase.Hang(indent, phrase.Safe(p.Next), width-1)...)
		}
		for _, ref := range p.Refs {
			for _, line := range phrase.Hang(indent, phrase.Safe(ref), width-1) {
				lines = append(lines, f.theme.Paint(theme.Muted, line))
			}
		}
	}
	return lines
}
