package plan

import (
	"fmt"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/views/phrase"
	"github.com/recoverctl/recoverctl/views/sheet"
)

// speaker is the step that a stage belongs to.
func speaker(stage actions.Stage) string {
	switch stage {
	case actions.StageConfiguration:
		return actions.StepPlan
	case actions.StageControlTopic:
		return actions.StepControlTopic
	case actions.StageIdentity, actions.StageSettings:
		return actions.StepIdentity
	case actions.StageOperations:
		return actions.StepOperations
	case actions.StageSurvivors:
		return actions.StepSurvivors
	default:
		return actions.StepTargets
	}
}

// steps are what an apply does, each with what is known of it now. Nothing was
// done yet: a reading step that passes now is done again by the apply.
func (p *page) steps() {
	p.Title("Steps of an apply, judged by what was read now")
	rows := make([][]sheet.Cell, 0, len(p.made.Steps))
	reached := true
	for _, step := range p.made.Steps {
		state, evidence := p.step(step, reached)
		if r := p.made.Report.Refused; r != nil && speaker(r.Stage) == step.Name {
			reached = false
		}
		rows = append(rows, []sheet.Cell{{Text: step.Number}, {Text: step.Title}, state, {Text: evidence}})
	}
	p.Table([]sheet.Column{{Title: ""}, {Title: "STEP"}, {Title: "NOW"}, {Title: "EVIDENCE"}}, rows)
}

// step is the state of one step in a word, and what says so.
func (p *page) step(step actions.Step, reached bool) (state sheet.Cell, evidence string) {
	r := p.made.Report
	switch {
	case step.Writes != "" && r.Recorded == inspect.StatusApplied:
		return sheet.Cell{Text: "writes nothing", Tone: theme.Muted}, "this plan is APPLIED already"
	case step.Name == actions.StepCommit && r.Recorded != "":
		return sheet.Cell{Text: "written before"}, "the boundary is in force already, and is not written again"
	case step.Writes != "" && step.NoReturn:
		return sheet.Cell{Text: "writes, NO WAY BACK", Tone: theme.Warning}, step.Writes
	case step.Writes != "":
		return sheet.Cell{Text: "writes", Tone: theme.Warning}, step.Writes
	case !reached:
		return sheet.Cell{Text: "not reached", Tone: theme.Muted}, step.Reads
	case r.Refused != nil && speaker(r.Refused.Stage) == step.Name:
		return sheet.Cell{Text: "REFUSES", Tone: theme.Error}, phrase.Safe(r.Refused.Problem.Message)
	case step.Name == actions.StepControlTopic && makesControl(p.made):
		return sheet.Cell{Text: "missing", Tone: theme.Warning}, "it does not exist: apply makes it, where it is told to"
	case p.made.Unjudged != nil && step.Name != actions.StepPlan:
		return sheet.Cell{Text: "not known", Tone: theme.Warning}, "not everything could be read"
	case step.Name == actions.StepLogStarts:
		return sheet.Cell{Text: "after step 8", Tone: theme.Muted}, step.Reads
	case step.Name == actions.StepRecorded:
		if r.Recorded == "" {
			return sheet.Cell{Text: "no"}, "no record of this plan on the control topic"
		}
		return sheet.Cell{Text: phrase.Safe(string(r.Recorded)), Tone: theme.Warning}, "applying it resumes it"
	case r.Recorded != "" && (step.Name == actions.StepTargets || step.Name == actions.StepSurvivors):
		return sheet.Cell{Text: "not asked", Tone: theme.Muted}, "not asked again: this plan is " + phrase.Safe(string(r.Recorded))
	case step.Name == actions.StepSurvivors:
		return survivors(r)
	default:
		return sheet.Cell{Text: "passes", Tone: theme.OK}, step.Reads
	}
}

func survivors(r actions.Report) (sheet.Cell, string) {
	if !r.Keep.Enforced {
		return sheet.Cell{Text: "not enforced", Tone: theme.Warning}, "nothing is known to count: the warning " + actions.PointsUnknown + " stands for it"
	}
	return sheet.Cell{Text: "passes", Tone: theme.OK}, fmt.Sprintf("its own point, and %s; the profile keeps %d", phrase.Count(r.Keep.Others, "other", "others"), r.Keep.Required)
}
