package actions_test

import (
	"testing"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/fault"
)

func TestSomebodyElseAppliesAtTheSameTime(t *testing.T) {
	plan, e := incident()
	other, _ := actions.CleanupFrom(point(43, 200, 150).Markers, "file:/ck/job/chk-43")
	const c, a = inspect.StatusCommitted, inspect.StatusApplied
	type written struct {
		plan   inspect.CleanupPlan
		status inspect.OperationStatus
	}
	tests := map[string]struct {
		before, since []written
		ours          int
		want          string
		kind          fault.Kind
	}{
		"our record alone":                      {nil, []written{{plan, c}}, 1, "", 0},
		"a resume, and nothing new":             {[]written{{plan, c}}, nil, 0, "", 0},
		"another one was there before":          {[]written{{other, c}}, []written{{plan, c}}, 1, "", 0},
		"another one came before ours":          {nil, []written{{other, c}, {plan, c}}, 1, "concurrent-apply", fault.Drift},
		"another one came after ours":           {nil, []written{{plan, c}, {other, c}}, 1, "concurrent-apply", fault.Drift},
		"the same plan by somebody else":        {nil, []written{{plan, c}, {plan, c}}, 1, "concurrent-apply", fault.Drift},
		"somebody else finished what we resume": {[]written{{plan, c}}, []written{{plan, a}}, 0, "concurrent-apply", fault.Drift},
		"ours is not to be seen":                {nil, nil, 1, "own-record-missing", fault.Corrupt},
		"an older one of ours is not the new":   {[]written{{plan, c}}, nil, 1, "own-record-missing", fault.Corrupt},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, first := incident()
			add := func(list []written) {
				for _, w := range list {
					committed(&first, w.plan, w.status)
				}
			}
			add(tt.before)
			before := first.Control
			add(tt.since)
			p := actions.CheckSecondReading(plan, before, first.Control, tt.ours)
			switch {
			case tt.want == "" && p != nil:
				t.Errorf("refused: %s", p.Message)
			case tt.want != "" && (p == nil || p.Code != tt.want || fault.KindOf(actions.Refuse(actions.StageOperationsAfterCommit, p)) != tt.kind):
				t.Errorf("%+v, want %s (%s)", p, tt.want, tt.kind)
			}
		})
	}
	// A control topic that this apply has made itself.
	made := e.Control
	made.Records = []inspect.ControlRecord{record(plan, c, 0)}
	if p := actions.CheckSecondReading(plan, inspect.ControlTopic{Name: names.Control}, made, 1); p != nil {
		t.Errorf("a new control topic: %s", p.Message)
	}
}

func TestHowFarAnApplyDeletesAndWhatItFinishes(t *testing.T) {
	plan, e := incident()
	older, _ := actions.CleanupFrom(point(41, 90, 149).Markers, "file:/ck/job/chk-41")
	newer, _ := actions.CleanupFrom(point(43, 200, 150).Markers, "file:/ck/job/chk-43")
	committed(&e, older, inspect.StatusCommitted)
	committed(&e, plan, inspect.StatusCommitted)
	committed(&e, newer, inspect.StatusCommitted)
	h, _, p := actions.CheckControl(plan, e.Control)
	if p != nil {
		t.Fatal(p)
	}
	if target := h.Target(plan); target[0] != 200 || target[1] != 150 {
		t.Errorf("target %v", target)
	}
	var finishes []string
	for _, op := range h.Unfinished() {
		finishes = append(finishes, op.PlanID)
	}
	if len(finishes) != 3 || finishes[0] != older.PlanID || finishes[1] != plan.PlanID || finishes[2] != newer.PlanID {
		t.Errorf("finishes %v", finishes)
	}
	if len(h.Others()) != 3 || h.Own == nil || h.Status() != inspect.StatusCommitted {
		t.Errorf("history %+v", h)
	}
}
