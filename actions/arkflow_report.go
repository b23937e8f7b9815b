package actions

import (
	"fmt"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/inspect/arkflow"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

// ArkFlowReport makes the report of a plan about an ArkFlow job: a pure function.
func ArkFlowReport(d Document, e ArkFlowEvidence) DocumentReport {
	p := ArkFlowPlanOf(d)
	r := DocumentReport{
		PlanID: d.PlanID, Kind: d.Kind, Target: d.Target, At: e.At, Verdict: JudgeArkFlow(d, e).Verdict, Facts: d.arkflowFacts(e),
		Does: arkflowDoes(p), Stays: arkflowStays(p), NotKnown: arkflowNotKnown(p), Notes: []string{}, Warnings: []Warning{}, Refused: CheckArkFlow(d, e),
		Open: e.Unsettled,
	}
	switch {
	case p.Kind == KindArkFlowRestart && e.Stream == nil, p.Kind != KindArkFlowRestart && e.Job == nil:
		r.Warnings = append(r.Warnings, Warning{Name: NotChecked, Message: "the hub could not be asked: " + safetext.Error(e.Err).String()})
	case r.Verdict == Applied:
		r.Notes = append(r.Notes, "It is as planned already: applying the plan asks the hub for nothing more.")
		if p.RoundKind() != "" && e.unknownHere() {
			r.Notes = append(r.Notes, fmt.Sprintf("The %s was not begun from this machine, and may be another's: for one of now, make a new plan.", p.RoundKind()))
		}
	default:
		if p.Kind == KindArkFlowRollback {
			r.Does = append(r.Does, arkflowReplayed(p, e)...)
		}
		r.Warnings = append(r.Warnings, e.journalWarnings(d)...)
		r.Warnings = append(r.Warnings, arkflowWarnings(p, e)...)
		if p.Kind == KindArkFlowRestart {
			r.Notes = append(r.Notes, restartNotes(e)...)
		}
		if p.RoundKind() != "" && e.Job.Job.Health.State == arkflow.HealthDegraded {
			r.Notes = append(r.Notes, "The job's checkpoint health is degraded, and this round may end as the others did: "+safetext.Of(e.Job.Job.Health.Sentence).String()+".")
		}
	}
	return r
}

// arkflowWarnings are what applying the plan would do beside what was asked for.
// What is done already is not warned of.
func arkflowWarnings(p ArkFlowPlan, e ArkFlowEvidence) []Warning {
	switch {
	case p.Kind == KindArkFlowRestart && !p.asked(e):
		return restartWarnings(e)
	case p.UpgradeAction() != "" && upgradeDone(p, e) == "":
		return upgradeWarnings(p, e)
	}
	return nil
}

func arkflowDoes(p ArkFlowPlan) []string {
	job := safetext.Of(p.JobID)
	switch {
	case p.UpgradeAction() != "":
		return upgradeDoes(p)
	case p.Kind == KindArkFlowRestart:
		return []string{fmt.Sprintf("Stream %s is stopped and started again. What its write-ahead log holds behind the cursor is sent again, and duplicates come of it; what it has no log of comes again only where the source sends it again.", job)}
	}
	if kind := p.RoundKind(); kind != "" {
		return []string{fmt.Sprintf("A %s of job %s is begun and followed until it is completed and every rule accepts it. The job runs on.", kind, job)}
	}
	does := []string{}
	if p.Stops {
		does = append(does, fmt.Sprintf("Job %s is stopped. What it did after its last completed point it does again.", job))
	}
	return append(does,
		fmt.Sprintf("It is made version %d again, from version %d.", p.Version, p.From),
		fmt.Sprintf("It is started, and by the hub's own rule restored from %s: what came after that point is processed again, from the state that it had then.", safetext.Of(p.Point)))
}

func arkflowStays(p ArkFlowPlan) []string {
	switch {
	case p.UpgradeAction() != "":
		return []string{"Every version, checkpoint and savepoint of the job."}
	case p.Kind == KindArkFlowRestart:
		return []string{"The other streams of the node, the stream's configuration and its log."}
	}
	if p.RoundKind() == inspect.KindCheckpoint {
		return []string{"Savepoints. Of older checkpoints the hub drops those beyond the job's retention."}
	}
	if p.RoundKind() != "" {
		return []string{"The job, its checkpoints and its other savepoints."}
	}
	return []string{fmt.Sprintf("Every checkpoint and savepoint stays. The way back is an upgrade to version %d again; points of version %d are the ones that it can restore.", p.From, p.From)}
}

func arkflowNotKnown(p ArkFlowPlan) []string {
	const elsewhere = "Whether a request that was sent from another machine and lost still comes: no hub tells what it was asked and did not get, and the journal of that machine does."
	switch {
	case p.RoundKind() != "":
		return []string{"Nothing locks the job: somebody else may begin a round in the same moment.", elsewhere}
	case p.UpgradeAction() != "":
		return []string{"The hub carries the upgrade on meanwhile: it may be in a later phase when it is asked.", elsewhere}
	case p.Kind == KindArkFlowRestart:
		return []string{"No hub that was run calls such a request converged: that the stream runs since a later time is the proof."}
	}
	return []string{
		elsewhere,
		"No hub says what a job was restored from: it is taken from the hub's own rule, and proved as far as the source positions of the next checkpoint prove it.",
		"Nothing locks the job: somebody else may change it between two steps. Its version and generation are read directly before each.",
	}
}

// arkflowSubject is what a plan of these kinds does, in one line.
func (d Document) arkflowSubject() inspect.PlanSubject {
	p := ArkFlowPlanOf(d)
	does := ""
	switch {
	case p.RoundKind() != "":
		does = fmt.Sprintf("takes a %s", p.RoundKind())
	case p.UpgradeAction() != "":
		does = fmt.Sprintf("%ss the upgrade %s, which is in phase %s", p.UpgradeAction(), p.Upgrade, p.Phase)
	case d.Kind == KindArkFlowRestart:
		does = "restarts the stream, request " + p.Key
	default:
		does = fmt.Sprintf("goes back from version %d to %d, restored from %s", p.From, p.Version, p.Point)
	}
	return inspect.PlanSubject{PlanID: d.PlanID, Kind: d.Kind, Target: d.Target, Does: does}
}
