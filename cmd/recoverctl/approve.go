package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/shellword"
)

// approving is how a plan of any kind is put before whoever applies it.
type approving struct {
	ask    applyAsk
	person *person // who answers questions; nil: there is no terminal
	talk   io.Writer
}

// approved shows a report and asks for the approval of exactly it.
func (a *app) approved(ctx context.Context, p approving, q actions.Question, show func(*table)) (actions.Approval, error) {
	t := newTable(p.talk, a.errWidth())
	show(t)
	if err := t.flush(); err != nil {
		return actions.Approval{}, fmt.Errorf("show the report: %w", err)
	}
	if err := openWarnings(q.Report.Raised(), p.ask.accept); err != nil {
		return actions.Approval{}, err
	}
	answer := actions.Answer{Digits: p.ask.approve, Reason: p.ask.reason, Accept: p.ask.accept}
	if p.person != nil && p.ask.approve == "" {
		phrase, err := q.Phrase()
		if err != nil {
			return actions.Approval{}, err
		}
		if answer.Phrase, err = p.person.phrase(ctx, phrase.String()); err != nil {
			return actions.Approval{}, err
		}
	}
	answer.At = a.clock.Now()
	approval, unneeded, err := actions.Ask(q, answer)
	for _, name := range unneeded {
		fmt.Fprintf(p.talk, "note: the warning %s is not raised; should it come up later, it is not accepted\n", safe(name))
	}
	return approval, err
}

// openWarnings refuses before a phrase is typed in vain.
func openWarnings(raised []actions.Warning, accept []string) error {
	var open, flags []string
	for _, w := range raised {
		if !slices.Contains(accept, w.Name) {
			open, flags = append(open, safe(w.Name)), append(flags, "--accept "+shellword.Quote(safe(w.Name)))
		}
	}
	if open == nil {
		return nil
	}
	return fault.New(fault.Denied, "approve", "the report has warnings that are not accepted: %s", strings.Join(open, ", ")).
		WithHint("look at them with recoverctl plan show; what is accepted is named one by one: %s", strings.Join(flags, " "))
}

// follow tells what a run does until it has ended.
func (a *app) follow(run *actions.Run, p approving) (actions.ApplyResult, error) {
	var steps *person // who lets steps go
	if p.ask.step {
		steps = p.person
	}
	w := newWatch(p.talk, run, steps)
	giveBack := a.signals.take(w.signal)
	defer giveBack()
	w.follow()
	return run.Wait()
}
