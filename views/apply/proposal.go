package apply

import (
	"context"
	"fmt"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/dialog"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/views/phrase"
)

// Proposal is a plan as it is put to the operator. It holds one plan and one
// report by value, and no selection that may move: Start knows which. Texts are
// safe to print.
type Proposal struct {
	Title       string // "Apply cleanup 3f9c21aa"
	Subject     string // what is changed: "orders / action-state"
	Environment string
	Production  bool
	Lines       []string // what it means; each must have been on the screen
	Phrase      string   // to be typed
	Action      string   // the word of the button that says yes: "Apply"

	// Extras are consents that the plan does not hold, each asked for by itself,
	// before everything else.
	Extras   []Extra
	Warnings []actions.Warning // each is accepted by its name

	// Start starts what was approved, and refuses an answer that does not approve
	// exactly that. It does I/O.
	Start func(ctx context.Context, a Answer) (*Running, error)
}

// Extra is a consent of its own, with a value that the operator gives.
type Extra struct {
	Name  string // of the answer
	Title string // "Make control topic action-state-control"
	Lines []string
	Label string                   // before the field: "Replicas"
	Check func(text string) string // why a text is not taken; "" where it is
	// Confirm are the lines that the value is confirmed under.
	Confirm func(text string) []string
	Action  string // "Make it"
}

// Answer is what the operator said to a Proposal.
type Answer struct {
	Consent  dialog.Consent    // to the plan, with the phrase and the reason
	Accepted []string          // names of warnings
	Extras   map[string]string // values, by name
	Step     bool              // pause before each step
}

// Ask puts a proposal to the operator: the extras, then the warnings, then the
// plan itself. Approved is called with a whole answer, and only then.
func Ask(p Proposal, step bool, approved func(Answer) tui.Cmd) tui.Cmd {
	return asking{p: p, approved: approved}.extra(0, Answer{Extras: map[string]string{}, Step: step})
}

// quiet takes away what was said for the question before.
func quiet(next tui.Cmd) tui.Cmd {
	return tui.Batch(tui.Say(theme.Plain, ""), next)
}

type asking struct {
	p        Proposal
	approved func(Answer) tui.Cmd
}

// extra asks for one consent after another.
func (q asking) extra(i int, a Answer) tui.Cmd {
	if i == len(q.p.Extras) {
		return q.warnings(a)
	}
	x := q.p.Extras[i]
	return dialog.Text{Title: x.Title, Lines: x.Lines, Label: x.Label, Check: x.Check}.Open(func(text string) tui.Cmd {
		return quiet(dialog.Confirm{
			Title: x.Title, Subject: q.p.Subject, Environment: q.p.Environment, Production: q.p.Production,
			Lines: x.Confirm(text), Action: x.Action,
		}.Open(func(dialog.Consent) tui.Cmd {
			a.Extras[x.Name] = text
			return quiet(q.extra(i+1, a))
		}))
	})
}

func (q asking) warnings(a Answer) tui.Cmd {
	if len(q.p.Warnings) == 0 {
		return q.confirm(a)
	}
	list := dialog.Checklist{
		Title: "Accept " + phrase.Count(len(q.p.Warnings), "warning", "warnings") + " by name",
		Lead:  "Each by itself: tab goes to it, space ticks it.", Action: "Continue",
	}
	for _, w := range q.p.Warnings {
		list.Items = append(list.Items, dialog.Item{Name: phrase.Safe(w.Name), Text: phrase.Safe(w.Message)})
	}
	return list.Open(func([]string) tui.Cmd {
		for _, w := range q.p.Warnings {
			a.Accepted = append(a.Accepted, w.Name) // as it is, where the list shows it safely
		}
		return quiet(q.confirm(a))
	})
}

func (q asking) confirm(a Answer) tui.Cmd {
	lines := q.p.Lines
	if n := len(a.Accepted); n > 0 {
		lines = append(lines[:len(lines):len(lines)], fmt.Sprintf("%s accepted by name.", phrase.Count(n, "warning is", "warnings are")))
	}
	return dialog.Confirm{
		Title: q.p.Title, Subject: q.p.Subject, Environment: q.p.Environment, Production: q.p.Production,
		Lines: lines, Phrase: q.p.Phrase, Reason: true, Action: q.p.Action,
	}.Open(func(c dialog.Consent) tui.Cmd {
		a.Consent = c
		return quiet(q.approved(a))
	})
}
