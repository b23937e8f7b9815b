package arkflow

import (
	"slices"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/inspect/arkflow"
	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/views/document"
	"github.com/recoverctl/recoverctl/views/phrase"
	"github.com/recoverctl/recoverctl/views/sheet"
)

// planned is a kind of plan that is made from a screen by a command of the palette.
type planned struct {
	kind    string // of the plan
	command string // of the palette
	help    string
	does    string // what the plan does, before the name of its target
	words   document.Words
}

const (
	readingJob = "reading the job, its rounds and the objects of its recovery points"
	noneOfJob  = "Nothing was sent. r asks again; the job's screen shows its state, its upgrade and its recovery points."
)

// plans of a job.
func jobPlans() []planned {
	return []planned{
		{actions.KindArkFlowCheckpoint, "checkpoint", "plan to take a checkpoint of the job", "takes a checkpoint of job ", document.Words{
			Plan: "checkpoint plan", Action: "Take a checkpoint", Button: "Take it", Making: readingJob, None: noneOfJob,
			Done: "the checkpoint is taken as planned already", Applied: "the checkpoint is taken as planned",
		}},
		{actions.KindArkFlowSavepoint, "savepoint", "plan to take a savepoint of the job", "takes a savepoint of job ", document.Words{
			Plan: "savepoint plan", Action: "Take a savepoint", Button: "Take it", Making: readingJob, None: noneOfJob,
			Done: "the savepoint is taken as planned already", Applied: "the savepoint is taken as planned",
		}},
	}
}

// upgradePlans are those of the upgrade that has a job, in the phase that it is in:
// none where it has none.
func upgradePlans(u *arkflow.UpgradeState) []planned {
	if u == nil || u.Phase == nil || !u.Active {
		return nil
	}
	upgrade := "the upgrade " + phrase.Safe(u.ID) + " of job "
	words := func(action, done string) document.Words {
		return document.Words{
			Plan: action + " plan", Action: action + " the upgrade", Button: action, Making: "reading the job and the phase of its upgrade", None: noneOfJob,
			Done: "the upgrade is " + done + " already", Applied: "the upgrade is " + done,
		}
	}
	pause := planned{actions.KindArkFlowPause, "pause", "plan to hold the job's upgrade", "pauses " + upgrade, words("Pause", "paused")}
	if u.Paused() {
		pause = planned{actions.KindArkFlowResume, "resume", "plan to let the job's upgrade go on", "resumes " + upgrade, words("Resume", "going on")}
	}
	// The console's own cancel ends what runs in it: this one has another name.
	return []planned{pause, {actions.KindArkFlowCancel, "cancel-upgrade", "plan to end the job's upgrade", "cancels " + upgrade, words("Cancel", "cancelled")}}
}

// streamPlans are those of a stream.
func streamPlans() []planned {
	return []planned{{actions.KindArkFlowRestart, "restart", "plan to stop and start the stream", "stops and starts stream ", document.Words{
		Plan: "restart plan", Action: "Restart the stream", Button: "Restart", Making: "reading the stream, what was asked of it, and its node",
		None: "Nothing was sent. r asks again; the stream's screen and :hub show the stream and its node.",
		Done: "the stream was restarted as planned already", Applied: "the stream is restarted as planned",
	}}}
}

// planCommands open the plans of a job or stream.
func (o Options) planCommands(all []planned, about inspect.Job, id string, commands func() []tui.Command) []tui.Command {
	if o.Plans == nil {
		return nil
	}
	out := make([]tui.Command, 0, len(all))
	for _, one := range all {
		out = append(out, tui.Command{Name: one.command, Help: one.help, Run: func(string) tui.Cmd {
			return tui.Push(newPlan(o, one, about, id, commands()))
		}})
	}
	return out
}

// newPlan makes the screen of a plan, which is made as it opens.
func newPlan(o Options, one planned, about inspect.Job, id string, commands []tui.Command) *document.Screen {
	// Of its own kind it is no use: the plan is here.
	others := slices.DeleteFunc(slices.Clone(commands), func(c tui.Command) bool { return c.Name == one.command })
	var s *document.Screen
	s = document.New(document.Options{
		Theme: o.Theme, Job: about, Source: o.Plans(one.kind, id), Commands: others, Words: one.words,
		Page: func(p *sheet.Page) { writePlan(p, s, one.does+phrase.Safe(id)) },
	})
	return s
}

// writePlan is the text of a plan: whether it can be applied, what changes, what it
// does, the warnings, how to go on, the steps with the way back of each, what stays
// and what nobody knows.
func writePlan(p *sheet.Page, s *document.Screen, does string) {
	made, _ := s.Made()
	s.Head(p, does)
	p.Hang(sheet.Indent, theme.Muted, "hub "+phrase.Safe(made.Report.Target.Cluster))
	s.Body(p)
}
