package actions

import (
	"fmt"

	"github.com/recoverctl/recoverctl/internal/safetext"
)

// ArkFlowStepDone says, from what the hub shows, why a step of a plan that writes
// has nothing left to ask for; empty where there is. It is how the outcome of a
// request is found whose answer was lost: what it says is never asked for again.
func ArkFlowStepDone(d Document, step string, e ArkFlowEvidence) string {
	p := ArkFlowPlanOf(d)
	if p.Kind == KindArkFlowRestart {
		if e.Stream != nil && p.asked(e) {
			return "the hub has the plan's request"
		}
		return ""
	}
	if e.Job == nil {
		return ""
	}
	j := e.Job.Job
	atTarget := j.Version != nil && *j.Version == p.Version
	switch step {
	case StepRound:
		if r := e.roundAfter(p.RoundKind(), p.Round); r != nil {
			return fmt.Sprintf("the %s %s is on record: %s", p.RoundKind(), safetext.Of(r.ID), safetext.Of(r.Status))
		}
	case StepStop:
		if atTarget {
			return "the job is of the plan's version already"
		}
		if sideOf(j.Desired) == arkStopped {
			return "the job is wanted stopped already"
		}
	case StepRollback:
		if atTarget {
			return fmt.Sprintf("the job is of version %d", p.Version)
		}
	case StepStart:
		if atTarget && sideOf(j.Desired) == arkRunning {
			return "the job is wanted running already"
		}
	case StepUpgrade:
		return upgradeDone(p, e)
	}
	return ""
}

// late is what a request of a step would do if it came late.
var late = map[string]string{
	StepRound:    "begins another round",
	StepStop:     "stops the job, also when it runs again",
	StepRollback: "takes the job to a lower version, whatever it does then",
	StepStart:    "starts the job again, from what a start then restores",
	StepUpgrade:  "does to the upgrade what was asked, whatever its phase is then",
	StepRestart:  "restarts the stream once more",

	StepDeleteEntry: "deletes whatever is stored for the producer then",
	StepRegister:    "registers its offsets, where no entry is valid then",
}

// openRequests are the requests whose outcome neither the journal nor the hub
// shows. One of this plan whose effect is there is settled by that; the same restart
// may be asked for again, since the hub knows its key.
func (e ArkFlowEvidence) openRequests(d Document) []OpenRequest {
	var open []OpenRequest
	for _, u := range e.Unsettled {
		own := u.PlanID == d.PlanID
		if own && (d.Kind == KindArkFlowRestart || ArkFlowStepDone(d, u.Step, e) != "") {
			continue
		}
		open = append(open, u)
	}
	return open
}

func lateEffect(u OpenRequest) string {
	if effect, known := late[u.Step]; known {
		return effect
	}
	return "does what was asked"
}

// journalWarnings are those about the hub, and about requests that this machine sent to
// it before.
func (e ArkFlowEvidence) journalWarnings(d Document) []Warning {
	var out []Warning
	if other := e.otherHub(d); other != "" {
		out = append(out, Warning{OtherHub, other + ". Nothing is sent unless this is accepted: accept it only where both addresses are of one hub; else choose the profile of the hub that the plan is for"})
	}
	if e.JournalErr != nil {
		out = append(out, Warning{NotChecked, "the journal of this machine could not be read whole, so that a request whose answer was lost may be sent twice: " + safetext.Error(e.JournalErr).String()})
	}
	if open := e.openRequests(d); len(open) > 0 {
		out = append(out, Warning{RequestUnsettled, sentences(open, lateEffect) + ". Nothing is sent unless this is accepted: accept it only when it is certain that the request is lost"})
	}
	if e.begunElsewhere(d) {
		out = append(out, Warning{BegunElsewhere, "the hub shows that a part of the plan is done, and the journal of this machine has no run of it: it was begun on another machine, or somebody did the same by hand. " +
			"What that machine sent last may still come, and would be done again after what is sent from here: recoverctl journal show " + short(d.PlanID) + " says there whether a request is open"})
	}
	return out
}

// unknownHere reports whether the journal of this machine is whole and knows nothing of
// the plan.
func (e ArkFlowEvidence) unknownHere() bool { return e.JournalErr == nil && e.Runs != nil && !*e.Runs }

// begunElsewhere reports whether a plan that would send something more was begun, and
// not from this machine. A round that is followed and the restart of a stream send
// nothing that could be done twice.
func (e ArkFlowEvidence) begunElsewhere(d Document) bool {
	if d.Kind != KindArkFlowRollback || !e.unknownHere() || e.Job == nil {
		return false
	}
	outcome, _ := judgeArkFlowRollback(ArkFlowPlanOf(d), e)
	return outcome == Partial && ArkFlowStepDone(d, StepStart, e) == ""
}

// notHere says after a verdict that leaves something open that this machine's journal
// knows nothing of the plan, and where to ask; empty where it does.
func (e ArkFlowEvidence) notHere(d Document, verdict Outcome) string {
	if e.unknownHere() && verdict == Applied && ArkFlowPlanOf(d).RoundKind() != "" {
		return "; it was begun since the plan was made, and the journal of this machine has no run of the plan: it may be another's"
	}
	if !e.unknownHere() || verdict != NotStarted && verdict != Partial && verdict != Undecided {
		return ""
	}
	return "; the journal of this machine has no run of the plan: if it was applied on another, recoverctl journal show " + short(d.PlanID) + " says there what was sent and whether a request is open"
}
