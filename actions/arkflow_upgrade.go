package actions

import (
	"fmt"
	"slices"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/inspect/arkflow"
	"github.com/recoverctl/recoverctl/internal/arkhub"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

const paramUpgrade = "upgrade" // its id

// upgradeActions are what the hub is asked for, by the plan's kind.
var upgradeActions = map[string]string{KindArkFlowPause: "pause", KindArkFlowResume: "resume", KindArkFlowCancel: "cancel"}

// The phases of an upgrade that a plan hangs on, in the hub's words.
const (
	phaseSaving    = "saving_savepoint"
	phaseCancelled = "cancelled"
)

// UpgradeAction is what the plan asks the hub to do with its upgrade; empty: it is
// about none.
func (p ArkFlowPlan) UpgradeAction() string { return upgradeActions[p.Kind] }

// checkUpgradeFacts are the rules about the facts of a plan about an upgrade.
func checkUpgradeFacts(p ArkFlowPlan) *inspect.Problem {
	if p.UpgradeAction() == "" {
		return nil
	}
	wrong := func(want string) *inspect.Problem {
		return refuse("fact-not-allowed", inspect.Named{"fact": FactUpgradePhase}, "the plan goes from phase %s to %s, and %s", quote(p.Phase), quote(p.Then), want)
	}
	switch {
	case p.Upgrade == "":
		return refuse("parameter-value", inspect.Named{"parameter": paramUpgrade}, "the plan names no upgrade")
	case p.Kind == KindArkFlowPause && (p.Phase == "" || p.Phase == arkhub.UpgradePaused || p.Then != arkhub.UpgradePaused):
		return wrong("a pause goes from a phase that is under way to paused")
	case p.Kind == KindArkFlowResume && (p.Phase != arkhub.UpgradePaused || p.Then == "" || p.Then == arkhub.UpgradePaused):
		return wrong("a resume goes from paused to the phase that was paused")
	case p.Kind == KindArkFlowCancel && (p.Phase == "" || p.Then != phaseCancelled):
		return wrong("a cancel goes from a phase that is under way to cancelled")
	}
	return nil
}

// ArkFlowUpgradeFrom makes a plan that pauses, resumes or cancels the upgrade that
// has the job.
func ArkFlowUpgradeFrom(kind string, e ArkFlowEvidence, store string) (Document, *inspect.Problem) {
	if p := e.known(); p != nil {
		return Document{}, p
	}
	action, id := upgradeActions[kind], safetext.Of(e.Job.Job.ID)
	u := e.Job.Job.Upgrade
	switch {
	case !e.Job.Hub.Generation.KeepsUpgrades():
		return Document{}, refuse("upgrades-not-kept", nil, "this hub (%s) carries out no upgrade by itself: there is none to %s", e.Job.Hub.Generation, action)
	case u == nil:
		return Document{}, refuse("no-upgrade", nil, "no upgrade of job %s is under way: there is none to %s", id, action)
	case u.Phase == nil || u.ID == "":
		return Document{}, refuse("not-exposed", nil, "the hub does not expose id and phase of the upgrade of job %s", id)
	}
	then := arkhub.UpgradePaused
	switch paused := *u.Phase == arkhub.UpgradePaused; {
	case kind == KindArkFlowCancel:
		then = phaseCancelled
	case kind == KindArkFlowPause && paused:
		return Document{}, refuse("upgrade-phase", nil, "the upgrade %s is paused already, from %s", safetext.Of(u.ID), safetext.Of(orNothing(sideOf(u.PausedFrom))))
	case kind == KindArkFlowResume && !paused:
		return Document{}, refuse("upgrade-phase", nil, "the upgrade %s is %s: only one that is paused is resumed", safetext.Of(u.ID), safetext.Of(*u.Phase))
	case kind == KindArkFlowResume && sideOf(u.PausedFrom) == "":
		then = phaseSaving // as the hub does where it kept none
	case kind == KindArkFlowResume:
		then = *u.PausedFrom
	}
	parameters := e.parameters(store)
	parameters[paramUpgrade] = u.ID
	source := ""
	if kind == KindArkFlowCancel && *u.Phase == arkhub.UpgradePaused {
		source = sideOf(u.PausedFrom)
	}
	return newDocument(kind, e.target(), []Fact{{Name: FactUpgradePhase, Before: u.Phase, Source: source, After: &then}}, parameters)
}

// upgradeOf is the plan's upgrade; nil where nothing of it could be read.
func (e ArkFlowEvidence) upgradeOf(p ArkFlowPlan) *arkflow.UpgradeState {
	for _, u := range []*arkflow.UpgradeState{e.Upgrade, e.Job.Job.Upgrade} {
		if u != nil && u.ID == p.Upgrade && u.Phase != nil {
			return u
		}
	}
	return nil
}

func checkArkFlowUpgrade(d Document, p ArkFlowPlan, e ArkFlowEvidence) *Refusal {
	u := e.upgradeOf(p)
	switch {
	case u == nil && e.UpgradeErr != nil:
		return refusedAt(StageJob, refuse("upgrade-unread", nil, "the upgrade %s could not be read: %s", quote(p.Upgrade), safetext.Error(e.UpgradeErr).Truncate(300)))
	case u == nil:
		return refusedAt(StageJob, refuse("upgrade-unknown", nil, "the hub knows no upgrade %s of job %s", quote(p.Upgrade), safetext.Of(p.JobID)))
	case *u.Phase == p.Phase && p.pausedElsewhere(u):
		return refusedAt(StageJob, refuse("upgrade-changed", inspect.Named{"found": sideOf(u.PausedFrom)},
			"the upgrade %s is paused, and not in the phase in which it was when the plan was made, but in %s: it went on since, and what the plan would do is not what it says any more", safetext.Of(u.ID), safetext.Of(orNothing(sideOf(u.PausedFrom)))))
	case *u.Phase == p.Phase, JudgeArkFlow(d, e).Verdict == Applied:
		return nil
	}
	return refusedAt(StageJob, refuse("upgrade-changed", inspect.Named{"planned": p.Phase, "found": *u.Phase},
		"the upgrade %s was %s when the plan was made and is %s now: what the plan would do is not what it says any more", safetext.Of(u.ID), safetext.Of(p.Phase), safetext.Of(*u.Phase)))
}

// pausedElsewhere reports whether an upgrade that is paused was paused in another phase
// than the plan found: a resume would go on with that, and a cancel end it there.
func (p ArkFlowPlan) pausedElsewhere(u *arkflow.UpgradeState) bool {
	from := sideOf(u.PausedFrom)
	switch {
	case p.Kind == KindArkFlowResume:
		return from != p.Then && (from != "" || p.Then != phaseSaving)
	case p.Kind == KindArkFlowCancel && p.PausedFrom != "":
		return from != p.PausedFrom
	}
	return false
}

func judgeUpgrade(p ArkFlowPlan, e ArkFlowEvidence) (Outcome, string) {
	u := e.upgradeOf(p)
	switch {
	case u == nil && e.UpgradeErr != nil:
		return Undecided, fmt.Sprintf("the upgrade %s could not be read: %s", quote(p.Upgrade), safetext.Error(e.UpgradeErr).Truncate(300))
	case u == nil:
		return Undecided, fmt.Sprintf("the hub shows nothing of the upgrade %s", quote(p.Upgrade))
	}
	state := fmt.Sprintf("the upgrade %s is %s", safetext.Of(u.ID), safetext.Of(*u.Phase))
	if u.LastError != nil {
		state += " (" + safetext.Of(*u.LastError).Truncate(200).String() + ")"
	}
	paused := *u.Phase == arkhub.UpgradePaused
	switch {
	case p.Kind == KindArkFlowResume && paused:
		return NotStarted, state
	case p.Kind == KindArkFlowResume && *u.Phase == phaseCancelled:
		return Contradicted, state + ": it was cancelled, and does not go on"
	case p.Kind == KindArkFlowResume:
		return Applied, state + ": it goes on"
	case *u.Phase == p.Then:
		return Applied, state
	case !u.Active:
		return Contradicted, state + ": it ended before it could be " + p.Then
	}
	return NotStarted, state
}

func upgradeDone(p ArkFlowPlan, e ArkFlowEvidence) string {
	if outcome, message := judgeUpgrade(p, e); outcome == Applied {
		return message
	}
	return ""
}

// gap are the phases in which the old version may be stopped and the new one not
// yet started.
var gap = []string{"committing_version", "verifying", "rolling_back"}

// under is the phase that the upgrade is in, or was paused in.
func (p ArkFlowPlan) under(e ArkFlowEvidence) string {
	if p.Phase != arkhub.UpgradePaused {
		return p.Phase
	}
	if u := e.upgradeOf(p); u != nil {
		return sideOf(u.PausedFrom)
	}
	return ""
}

func upgradeWarnings(p ArkFlowPlan, e ArkFlowEvidence) []Warning {
	phase := p.under(e)
	stands := slices.Contains(gap, phase)
	switch {
	case p.Kind == KindArkFlowPause && stands:
		return []Warning{{JobMayStand, fmt.Sprintf("in phase %s the old version may be stopped already and the new one not yet started: the job then stands still until the upgrade is resumed", safetext.Of(phase))}}
	case p.Kind == KindArkFlowCancel && stands:
		return []Warning{{UpgradeUnwatched, fmt.Sprintf("in phase %s the new version goes on starting, and nobody takes it back any more where it does not run", safetext.Of(phase))}}
	}
	return nil
}

func upgradeDoes(p ArkFlowPlan) []string {
	upgrade := fmt.Sprintf("upgrade %s of job %s", safetext.Of(p.Upgrade), safetext.Of(p.JobID))
	switch p.Kind {
	case KindArkFlowPause:
		return []string{fmt.Sprintf("The %s is held in phase %s until it is resumed. No deadline runs meanwhile, and what is processed since its savepoint is processed again later.", upgrade, safetext.Of(p.Phase))}
	case KindArkFlowResume:
		return []string{fmt.Sprintf("The %s goes on with phase %s, which gets its whole time again.", upgrade, safetext.Of(p.Then))}
	}
	return []string{fmt.Sprintf("The %s ends in phase %s, and the job is free. Before its new version is committed the old one runs on; after that the hub goes on starting the new one.", upgrade, safetext.Of(p.Phase))}
}
