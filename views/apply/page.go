package apply

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/internal/figures"
	"github.com/recoverctl/recoverctl/internal/journal"
	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/views/phrase"
	"github.com/recoverctl/recoverctl/views/sheet"
)

// page is the text of the screen. While it goes on: where it is, what the step
// does, what it means if it stopped here, the steps. At the end: the verdict, why,
// and the receipt.
type page struct {
	*sheet.Page
	s *Screen
}

func (s *Screen) page(size tui.Size) []string {
	p := &page{Page: &sheet.Page{Theme: s.theme, Width: size.Width}, s: s}
	if s.ended {
		p.outcome()
		p.steps(0, true)
		p.journal(len(s.snap.Journal), true)
		return p.Lines
	}
	p.head()
	p.now()
	p.meaning()
	above := len(p.Lines)
	p.steps(0, false)
	if over := len(p.Lines) + 3 - size.Height; over > 0 {
		p.Lines = p.Lines[:above]
		p.steps(p.passed(), false)
	}
	const few, title = 2, 2
	p.journal(max(size.Height-len(p.Lines)-title, few), false)
	return p.Lines
}

// head says in one sentence where it is.
func (p *page) head() {
	snap := p.s.snap
	step, waits := p.s.waiting()
	switch {
	case snap.Stopping:
		p.Sign(theme.Warning, "stopping at the next safe place: what is being written is waited for")
	case waits && step.Writes != "":
		p.Sign(theme.Warning, "step "+step.Number+" waits for you, and it writes: "+phrase.Safe(step.Title))
	case waits:
		p.Sign(theme.Plain, "step "+step.Number+" waits for you: "+phrase.Safe(step.Title))
	case snap.Current < 0 || snap.Current >= len(snap.Steps):
		p.Sign(theme.Plain, between(snap))
	case snap.Steps[snap.Current].State == actions.StepFailed:
		at := snap.Steps[snap.Current]
		why, step := phrase.Safe(at.Detail), "step "+at.Step.Number
		if !strings.HasPrefix(why, step+" ") {
			why = step + " failed: " + why
		}
		p.Sign(theme.Error, why)
		p.Say("everything is read again now, to say what came of it")
	default:
		at := snap.Steps[snap.Current]
		tone, does := theme.Plain, " reads: "
		if at.Step.Writes != "" {
			tone, does = theme.Warning, " WRITES: "
		}
		p.Sign(tone, "step "+at.Step.Number+does+phrase.Safe(at.Step.Title)+progress(at))
	}
}

// between is where a run is that is in none of its steps.
func between(snap actions.Snapshot) string {
	begun := slices.ContainsFunc(snap.Steps, func(s actions.StepState) bool { return s.State != actions.StepPending })
	if begun {
		return "reading everything again from fresh connections"
	}
	return "about to begin"
}

// progress is how far a step is, in words.
func progress(at actions.StepState) string {
	text := ""
	if at.Total > 0 {
		text += fmt.Sprintf(", %s of %s", figures.Group(int64(at.Done)), figures.Group(int64(at.Total)))
	}
	if note := at.Note.String(); note != "" {
		text += ", " + note
	}
	return text
}

// now is what the step that waits or runs does, and its partitions.
func (p *page) now() {
	snap := p.s.snap
	if snap.Current < 0 || snap.Current >= len(snap.Steps) {
		return
	}
	at := snap.Steps[snap.Current]
	if snap.Waiting {
		p.part("reads", theme.Plain, at.Step.Reads)
		p.part("WRITES", theme.Warning, at.Step.Writes)
		if at.Step.NoReturn {
			p.part("", theme.Warning, "once it is done, there is no way back")
		}
		p.part("if it fails", theme.Plain, at.Step.OnFailure)
		key := "enter goes on"
		if at.Step.Writes != "" {
			key = "A writes it"
		}
		p.part("", theme.Title, key+"; q asks whether to stop here")
	}
	p.partitions(at)
}

func (p *page) part(word string, tone theme.Tone, text string) {
	if text != "" {
		p.Hang(sheet.Indent+fmt.Sprintf("%-13s", word), tone, phrase.Safe(text))
	}
}

// fewPartitions is how many partitions have a line of their own.
const fewPartitions = 6

// partitions are those of a step, what is not done first, the rest counted.
func (p *page) partitions(at actions.StepState) {
	ids := make([]int32, 0, len(at.Partitions))
	for id := range at.Partitions {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, func(a, b int32) int {
		if x, y := at.Partitions[a], at.Partitions[b]; x.Done != y.Done {
			if x.Done {
				return 1
			}
			return -1
		}
		return cmp.Compare(a, b)
	})
	for i, id := range ids {
		if i == fewPartitions {
			done := 0
			for _, rest := range ids[i:] {
				if at.Partitions[rest].Done {
					done++
				}
			}
			p.Say(fmt.Sprintf("%s more, %d of them done", figures.Group(int64(len(ids)-i)), done))
			return
		}
		part := at.Partitions[id]
		text := fmt.Sprintf("%5d  %s to %s", id, figures.Group(part.From), figures.Group(part.Target))
		tone := theme.Plain
		if part.Done {
			text, tone = text+"  "+strings.TrimSpace(p.Theme.Sign(theme.OK)), theme.OK
		}
		if note := part.Note.String(); note != "" {
			text += "  " + note
		}
		p.Hang(sheet.Indent, tone, text)
	}
}

// meaning is what it would mean if it stopped here.
func (p *page) meaning() {
	snap := p.s.snap
	if snap.Current < 0 || snap.Current >= len(snap.Steps) {
		return
	}
	at := snap.Current
	if snap.Waiting { // nothing of this step was done: what counts is the last one that was
		for at--; at >= 0 && (snap.Steps[at].State == actions.StepSkipped || snap.Steps[at].Step.Writes == ""); at-- {
		}
		if at < 0 {
			p.Hang(sheet.Indent+"If this stops here: ", theme.Muted, "this apply has changed nothing"+p.before())
		}
		return // "if it fails" says it already
	}
	p.Hang(sheet.Indent+"If this stops here: ", theme.Muted, phrase.Safe(snap.Steps[at].Step.OnFailure))
}

// before is what an earlier apply of the plan has done that can't be undone; ""
// for nothing.
func (p *page) before() string {
	for _, at := range p.s.snap.Steps {
		if at.State == actions.StepSkipped && at.Step.NoReturn {
			return "; step " + at.Step.Number + " has nothing to do: " + phrase.Safe(at.Detail)
		}
	}
	return ""
}

// passed is how many steps at the beginning are over, and need no line each.
func (p *page) passed() int {
	n := 0
	for _, step := range p.s.snap.Steps {
		if step.State != actions.StepDone && step.State != actions.StepSkipped {
			break
		}
		n++
	}
	return n
}

// steps are all steps, the first ones in one line where they are passed. Evidence
// is whole at the end and clipped to one line before.
func (p *page) steps(passed int, whole bool) {
	all := p.s.snap.Steps
	p.Title("Steps")
	if passed > 1 {
		p.Sign(theme.OK, fmt.Sprintf("%s to %s are passed", all[0].Step.Number, all[passed-1].Step.Number))
		all = all[passed:]
	}
	if whole {
		rows := make([][]sheet.Cell, 0, len(all))
		for _, at := range all {
			word, tone := state(at)
			rows = append(rows, []sheet.Cell{{Text: at.Step.Number}, {Text: phrase.Safe(at.Step.Title)}, {Text: word, Tone: tone}, {Text: phrase.Safe(at.Detail)}})
		}
		p.Table([]sheet.Column{{Title: ""}, {Title: "STEP"}, {Title: "STATE"}, {Title: "EVIDENCE"}}, rows)
		return
	}
	widest, words := 0, 0
	for _, at := range all {
		word, _ := state(at)
		widest, words = max(widest, ansi.StringWidth(phrase.Safe(at.Step.Title))), max(words, ansi.StringWidth(word))
	}
	for _, at := range all {
		word, tone := state(at)
		title := phrase.Safe(at.Step.Title)
		lead := fmt.Sprintf("%s%-3s %s%s  ", sheet.Indent, at.Step.Number, title, strings.Repeat(" ", widest-ansi.StringWidth(title)))
		line := lead + p.Theme.Paint(tone, word)
		const least = 16
		if room := p.Width - 1 - ansi.StringWidth(lead) - words - 2; room >= least && at.Detail != "" {
			line += strings.Repeat(" ", words-ansi.StringWidth(word)+2) + phrase.Clip(phrase.Safe(at.Detail), room, p.Theme.Signs.More)
		}
		p.Lines = append(p.Lines, line)
	}
}

// state is where a step stands, in a word.
func state(at actions.StepState) (string, theme.Tone) {
	switch at.State {
	case actions.StepPending:
		if at.Step.NoReturn {
			return "writes, NO WAY BACK", theme.Warning
		}
		if at.Step.Writes != "" {
			return "writes", theme.Warning
		}
		return "", theme.Muted
	case actions.StepWaiting:
		return "waits for you", theme.Warning
	case actions.StepRunning:
		if at.Total > 0 {
			return fmt.Sprintf("%d of %d", at.Done, at.Total), theme.Plain
		}
		return "runs", theme.Plain
	case actions.StepDone:
		return "done", theme.OK
	case actions.StepSkipped:
		return "nothing to do", theme.Muted
	case actions.StepFailed:
		return "FAILED", theme.Error
	case actions.StepUnknown:
		return "NOT KNOWN", theme.Error
	default:
		return phrase.Safe(string(at.State)), theme.Warning
	}
}

// journal are the newest lines of the run's journal, as they were written; while
// it goes on each in one line.
func (p *page) journal(most int, whole bool) {
	lines := p.s.snap.Journal
	if len(lines) == 0 {
		return
	}
	p.Title("Journal")
	for _, e := range lines[max(len(lines)-most, 0):] {
		lead := sheet.Indent + e.Time.UTC().Format("15:04:05Z") + "  "
		if whole {
			p.Hang(lead, theme.Plain, entry(e))
			continue
		}
		p.Lines = append(p.Lines, lead+phrase.Clip(entry(e), p.Width-1-len(lead), p.Theme.Signs.More))
	}
}

func entry(e journal.Entry) string {
	words := []string{string(e.Event)}
	for _, word := range []string{e.Step, e.Result} {
		if word != "" {
			words = append(words, word)
		}
	}
	text := strings.Join(words, " ")
	switch {
	case e.Event == journal.Begin:
		return text + ": " + e.Reason
	case e.Message != "":
		return text + ": " + e.Message
	default:
		return text
	}
}

// outcome is what it came to, why, and the receipt.
func (p *page) outcome() {
	r := p.s.running
	tone := theme.Error
	switch r.result.Verdict {
	case actions.Applied:
		tone = theme.OK
	case actions.NotStarted, actions.Committed, actions.Undecided:
		tone = theme.Warning
	}
	p.Sign(tone, phrase.Safe(string(r.result.Verdict)+": "+r.result.Message))
	if r.err != nil {
		p.Faults(theme.Error, "", r.err)
	}
	if r.after != nil {
		p.Faults(theme.Warning, "", r.after)
	}
	if text := p.s.receipt(); text != "" {
		p.Title("Receipt, y copies it")
		p.Words(text)
	}
}
