package main

import (
	"fmt"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/figures"
)

// mostKeys is how many keys the text of a recovery point has; JSON has more.
const mostKeys = 20

// renderKeyed writes what a recovery point tells about keyed state.
func renderKeyed(t *table, operators []inspect.Operator) {
	for _, op := range operators {
		if op.Keyed == nil && len(op.Processing) == 0 {
			continue
		}
		name := op.Name
		if name == "" {
			name = op.ID
		}
		t.line("")
		t.line("keyed state of " + safe(name))
		if op.Keyed != nil {
			for _, fact := range op.Keyed.Facts() {
				t.line("    " + fact)
			}
		}
		if len(op.Processing) > 0 {
			t.line("    being processed when it was taken: " + inspect.ProcessingText(op.Processing, mostKeys))
		}
		if op.Keyed != nil {
			renderSequences(t, op.Keyed)
		}
	}
}

func renderSequences(t *table, k *inspect.KeyedState) {
	if len(k.Sequences) == 0 {
		return
	}
	t.row(text("KEY"), num("SUBTASK"), num("KEY GROUP"), num("STARTED"), num("COMPLETED"), text("TASKS"), text("PENDING INPUTS"))
	for _, s := range k.Sequences[:min(len(k.Sequences), mostKeys)] {
		t.row(text(s.Shown()), num(fmt.Sprint(s.Subtask)), num(fmt.Sprint(s.KeyGroup)), num(sequenceText(s.MessageSequenceNumber)), num(orNothing(k.CompletedText(s))),
			text(orNothing(s.ActionTasks.String())), text(orNothing(s.PendingInputEvents.String())))
	}
	if k.Keys != nil && *k.Keys > mostKeys {
		t.line(fmt.Sprintf("    and %s more; -o json lists up to %s", figures.Group(*k.Keys-mostKeys), figures.Group(inspect.MaxListedKeys)))
	}
}

func sequenceText(n *int64) string {
	if n == nil {
		return "none"
	}
	return figures.Group(*n)
}

// renderUnreferenced writes the files that nothing refers to.
func renderUnreferenced(t *table, u *inspect.Unreferenced) {
	if u == nil || u.Files == 0 {
		return
	}
	t.line("")
	t.row(text("FILE THAT NOTHING REFERENCES"), num("BYTES"))
	for _, f := range u.List[:min(len(u.List), mostKeys)] {
		t.row(text(f.URI), num(figures.Group(f.Bytes)))
	}
	if u.Files > mostKeys {
		t.line(fmt.Sprintf("    and %s more, %s in all", figures.Group(u.Files-mostKeys), figures.Bytes(u.Bytes)))
	}
}
