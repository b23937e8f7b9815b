package actions

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/inspect/arkflow"
	"github.com/recoverctl/recoverctl/internal/figures"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

// CheckArkFlow asks whether a plan can be applied, or gone on with, as things are;
// nil where nothing that was read refuses it.
func CheckArkFlow(d Document, e ArkFlowEvidence) *Refusal {
	refused := checkArkFlowPlan(d, e)
	if refused != nil {
		if other := e.otherHub(d); other != "" {
			refused.Problem.Message += "; " + other
		}
	}
	return refused
}

func checkArkFlowPlan(d Document, e ArkFlowEvidence) *Refusal {
	p := ArkFlowPlanOf(d)
	if p.Kind == KindArkFlowRestart && e.Stream != nil {
		return checkArkFlowStream(p, e)
	}
	if e.Job == nil {
		return nil
	}
	if p.UpgradeAction() != "" {
		return checkArkFlowUpgrade(d, p, e)
	}
	if problem := e.held(); problem != nil {
		return refusedAt(StageJob, problem)
	}
	if problem := e.roundsRead(); problem != nil {
		return refusedAt(StageJob, problem)
	}
	if kind := p.RoundKind(); kind != "" {
		if e.roundAfter(kind, p.Round) != nil {
			return nil // begun: it is left to follow it
		}
		return refusedAt(StageJob, e.mustRun())
	}
	return checkArkFlowRollback(p, e)
}

func checkArkFlowRollback(p ArkFlowPlan, e ArkFlowEvidence) *Refusal {
	j := e.Job.Job
	if j.Version == nil || j.Generation == nil {
		return refusedAt(StageJob, refuse("not-exposed", nil, "the hub does not expose the job's version and generation any more"))
	}
	switch *j.Version {
	case p.Version:
		if *j.Generation <= p.Generation || *j.Generation > p.last() {
			return refusedAt(StageJob, refuse("job-changed", inspect.Named{"planned": p.Generation, "found": *j.Generation},
				"job %s is of version %d already, and not by this plan alone: its generation was %d and is %d", safetext.Of(j.ID), p.Version, p.Generation, *j.Generation))
		}
		if sideOf(j.Observed) == arkRunning && sideOf(j.Desired) == arkRunning {
			if *j.Generation != p.last() {
				return refusedAt(StageJob, refuse("job-changed", inspect.Named{"planned": p.last(), "found": *j.Generation},
					"job %s runs at version %d, and not by this plan alone: its generation is %d, and the plan ends at %d", safetext.Of(j.ID), p.Version, *j.Generation, p.last()))
			}
			return nil // started: it is left to prove
		}
		s := e.Job.Points.Selection
		if s.ID != p.Point {
			return refusedAt(StageRestore, refuse("restore-not-accepted", nil, "a start would restore %s now, and the plan says %s: %s", quote(orNothing(s.ID)), quote(p.Point), safetext.Of(s.Why)))
		}
		if sideOf(j.Desired) == arkRunning {
			return nil // asked to start: it is left to watch it
		}
		return refusedAt(StageRestore, notRestorable(arkflow.VersionState{Version: p.Version, Restorable: s.ID, Selection: s}))
	case p.From:
	default:
		return refusedAt(StageJob, refuse("job-changed", nil, "job %s is of version %d, and the plan goes from %d to %d", safetext.Of(j.ID), *j.Version, p.From, p.Version))
	}
	if *j.Generation != p.Generation && (!p.Stops || *j.Generation != p.Generation+1) { // one more: its own stop
		return refusedAt(StageJob, refuse("job-changed", inspect.Named{"planned": p.Generation, "found": *j.Generation},
			"the job's generation was %d when the plan was made and is %d now: somebody changed it", p.Generation, *j.Generation))
	}
	if !p.Stops && sideOf(j.Desired) == arkRunning {
		return refusedAt(StageJob, refuse("job-changed", nil, "job %s is wanted running, and the plan does not stop it: it found it %s", safetext.Of(j.ID), safetext.Of(p.State)))
	}
	if problem := e.versionsRead(); problem != nil {
		return refusedAt(StageJob, problem)
	}
	at := slices.IndexFunc(e.Job.Versions, func(v arkflow.VersionState) bool { return v.Version == p.Version })
	if at < 0 {
		return refusedAt(StageJob, refuse("no-previous-job-version", nil, "the hub has no version %d of the job any more", p.Version))
	}
	v := e.Job.Versions[at]
	if problem := notRestorable(v); problem != nil {
		return refusedAt(StageRestore, problem)
	}
	if v.Restorable != p.Point {
		return refusedAt(StageRestore, refuse("restore-not-accepted", nil, "a start of version %d would restore %s now, and the plan says %s", p.Version, quote(v.Restorable), quote(p.Point)))
	}
	return nil
}

// last is the job's generation once a rollback has gone through: one more for its
// stop, where it was wanted running, for the version, and for its start.
func (p ArkFlowPlan) last() uint64 {
	const versionAndStart = 2
	if p.Stops {
		return p.Generation + versionAndStart + 1
	}
	return p.Generation + versionAndStart
}

func orNothing(text string) string {
	if text == "" {
		return "nothing"
	}
	return text
}

// JudgeArkFlow says what has become of a plan from what the hub and the store say.
func JudgeArkFlow(d Document, e ArkFlowEvidence) OperationVerdict {
	v := OperationVerdict{PlanID: d.PlanID, Verdict: Undecided, Partitions: []PartitionVerdict{}, Facts: d.arkflowFacts(e)}
	p := ArkFlowPlanOf(d)
	switch kind := p.RoundKind(); {
	case p.Kind == KindArkFlowRestart && e.Stream != nil:
		v.Verdict, v.Message = judgeRestart(p, e)
	case p.Kind == KindArkFlowRestart || e.Job == nil:
		v.Message = "the hub could not be asked: " + safetext.Error(e.Err).String()
		return v
	case kind != "":
		v.Verdict, v.Message = judgeRound(kind, p, e)
	case p.UpgradeAction() != "":
		v.Verdict, v.Message = judgeUpgrade(p, e)
	default:
		v.Verdict, v.Message = judgeArkFlowRollback(p, e)
	}
	if open := e.openRequests(d); len(open) > 0 && v.Verdict != Applied && v.Verdict != Contradicted {
		if v.Verdict == NotStarted {
			v.Verdict = Undecided
		}
		v.Message += "; " + sentences(open, lateEffect)
	}
	if other := e.otherHub(d); other != "" {
		if v.Verdict != Applied || p.RoundKind() != "" && !e.onRecord(p.Round) {
			v.Verdict = Undecided // another hub shows nothing of the plan, and rounds of its own
		}
		v.Message += "; " + other
	}
	v.Message += e.notHere(d, v.Verdict)
	return v
}

// onRecord reports whether the hub has a round.
func (e ArkFlowEvidence) onRecord(id string) bool {
	return slices.ContainsFunc(e.Job.Points.Points, func(p arkflow.Point) bool { return p.ID == id && p.Status != "" })
}

func judgeRound(kind inspect.PointKind, p ArkFlowPlan, e ArkFlowEvidence) (Outcome, string) {
	r := e.roundAfter(kind, p.Round)
	switch {
	case r == nil && e.Job.RoundsUnread:
		return Undecided, e.roundsRead().Message
	case r == nil:
		if kind == inspect.KindCheckpoint {
			return NotStarted, "no checkpoint of it is on record: none was begun, or the job's retention has dropped it since"
		}
		return NotStarted, fmt.Sprintf("no %s was begun by it", kind)
	case r.Status != arkCompleted:
		return Partial, fmt.Sprintf("the %s %s is %s", kind, safetext.Of(r.ID), safetext.Of(r.Status))
	case r.Verdict == inspect.Rejected:
		return Contradicted, fmt.Sprintf("the hub calls the %s %s completed, and it can't be restored: %s", kind, safetext.Of(r.ID), r.Message)
	case r.Verdict == inspect.Unknown:
		return Undecided, fmt.Sprintf("the hub calls the %s %s completed, and whether it is whole is not known: %s", kind, safetext.Of(r.ID), r.Message)
	}
	return Applied, fmt.Sprintf("the %s %s is completed, and every rule accepts it", kind, safetext.Of(r.ID))
}

func judgeArkFlowRollback(p ArkFlowPlan, e ArkFlowEvidence) (Outcome, string) {
	j := e.Job.Job
	state := fmt.Sprintf("job %s is of version %s, wanted %s and %s", safetext.Of(j.ID), versionText(j.Version), safetext.Of(sideOf(j.Desired)), safetext.Of(sideOf(j.Observed)))
	switch {
	case j.Version == nil:
		return Undecided, "the hub does not expose the job's version"
	case *j.Version == p.From && (!p.Stops || sideOf(j.Desired) == arkRunning) && (j.Generation == nil || *j.Generation != p.Generation):
		return Undecided, state + fmt.Sprintf("; its generation was %d when the plan was made and is %s: it was changed since, by this plan or by somebody else", p.Generation, versionText(j.Generation))
	case *j.Version == p.From && (!p.Stops || sideOf(j.Desired) == arkRunning):
		return NotStarted, state
	case *j.Version == p.From:
		return Partial, state + ": it is being stopped, or is stopped and not yet rolled back"
	case *j.Version != p.Version:
		return Contradicted, state + fmt.Sprintf(", and the plan says version %d", p.Version)
	case sideOf(j.Desired) != arkRunning:
		return Partial, state + ": it was rolled back and waits for its start"
	case sideOf(j.Observed) != arkRunning:
		return Partial, state + ": it is starting"
	}
	return judgeRestored(p, e, state)
}

// unread is what of the job could not be read; empty where all of it was.
func (e ArkFlowEvidence) unread() string {
	var all []string
	for _, what := range slices.Concat(e.Job.Unchecked, e.Job.Points.Unchecked) {
		if one := safetext.Of(what).Truncate(200).String(); !slices.Contains(all, one) {
			all = append(all, one)
		}
	}
	return strings.Join(all, "; ")
}

// judgeRestored looks for proof that a run was restored from the plan's point:
// no hub says it. A later checkpoint of this version must hold every task, and its
// source positions must not lie before those of the point.
func judgeRestored(p ArkFlowPlan, e ArkFlowEvidence, state string) (Outcome, string) {
	if g := e.Job.Job.Generation; g == nil || *g != p.last() {
		return Undecided, fmt.Sprintf("%s; its generation is %s, and the plan ends at %d: somebody else started or changed it since, so what it was restored from can't be told", state, versionText(g), p.last())
	}
	points := e.Job.Points.Points
	at := slices.IndexFunc(points, func(o arkflow.Point) bool { return o.ID == p.Point })
	if at < 0 {
		where := "is gone"
		if unread := e.unread(); unread != "" {
			where = "is not among what could be read (not read: " + unread + ")"
		}
		return Undecided, fmt.Sprintf("%s; its point %s %s, so what it was restored from can't be told", state, quote(p.Point), where)
	}
	from := points[at]
	if from.Verdict != inspect.Accepted {
		return Contradicted, fmt.Sprintf("%s; its point %s is not accepted any more: %s", state, quote(p.Point), from.Message)
	}
	later := slices.IndexFunc(points[:at], func(o arkflow.Point) bool {
		return o.Kind == inspect.KindCheckpoint && o.Verdict == inspect.Accepted && o.Generation != nil && *o.Generation > p.Generation
	})
	if later < 0 {
		return Partial, state + "; no checkpoint of it is completed and whole since: " + e.Job.Job.Health.Sentence
	}
	proof := points[later]
	switch behind, missing := compared(from.Positions, proof.Positions); {
	case len(behind) > 0:
		return Contradicted, fmt.Sprintf("%s; %s reads %s, before the point: it was not restored from that", state, safetext.Of(proof.ID), behind[0])
	case len(missing) > 0:
		return Undecided, fmt.Sprintf("%s; %s holds no position of %s yet, so nothing proves that it goes on where the point is", state, safetext.Of(proof.ID), missing[0])
	case len(from.Positions) == 0:
		return Applied, fmt.Sprintf("%s; by the hub's rule it was restored from %s, %s is completed and whole since. The point holds no source positions to compare; %s", state, safetext.Of(p.Point), safetext.Of(proof.ID), e.wellBeing())
	}
	return Applied, fmt.Sprintf("%s; by the hub's rule it was restored from %s; %s is completed and whole since, and none of its %s lies before the point's; %s",
		state, safetext.Of(p.Point), safetext.Of(proof.ID), figures.Count(len(from.Positions), "source position", "source positions"), e.wellBeing())
}

// wellBeing is what else is known of a job that was restored: the hub's own word, and
// how its checkpoints are.
func (e ArkFlowEvidence) wellBeing() string {
	convergence := "the hub does not expose its convergence"
	if c := e.Job.Job.Convergence; c != nil {
		convergence = "the hub calls it " + safetext.Of(*c).String()
	}
	return fmt.Sprintf("%s, its checkpoint health is %s", convergence, safetext.Of(string(e.Job.Job.Health.State)))
}

// compared are the positions that lie before those of a point, and those that are
// not there.
func compared(from, now []arkflow.SourcePosition) (behind, missing []string) {
	for _, f := range from {
		at := slices.IndexFunc(now, func(n arkflow.SourcePosition) bool {
			return sideOf(n.Topic) == sideOf(f.Topic) && n.Partition == f.Partition
		})
		where := fmt.Sprintf("%s/%d", safetext.Of(sideOf(f.Topic)), f.Partition)
		switch {
		case at < 0:
			missing = append(missing, where)
		case now[at].Offset < f.Offset:
			behind = append(behind, fmt.Sprintf("%s from %d (the point: %d)", where, now[at].Offset, f.Offset))
		}
	}
	return behind, missing
}

func versionText(n *uint64) string {
	if n == nil {
		return "not exposed"
	}
	return strconv.FormatUint(*n, 10)
}

// arkflowFacts are where the facts of a plan stand.
func (d Document) arkflowFacts(e ArkFlowEvidence) []FactVerdict {
	p := ArkFlowPlanOf(d)
	out := make([]FactVerdict, 0, len(d.Facts))
	for _, f := range d.Facts {
		v := FactVerdict{Name: f.Name, Before: f.Before, BeforeSource: f.Source, After: f.After, State: FactUnread}
		if e.Asked() {
			v.Now, v.State = arkflowFactNow(f, p, e)
			if f.Name == FactRound && e.otherHub(d) != "" && !e.onRecord(p.Round) {
				v.State = FactUnread // it is a round of that hub, whatever it is
			}
		}
		out = append(out, v)
	}
	return out
}

func arkflowFactNow(f Fact, p ArkFlowPlan, e ArkFlowEvidence) (now *string, state FactState) {
	is := func(value *string) (*string, FactState) {
		switch {
		case value == nil:
			return nil, FactUnread
		case *value == sideOf(f.Before):
			return value, FactBefore
		case *value == sideOf(f.After):
			return value, FactPlanned
		}
		return value, FactOther
	}
	if p.Kind == KindArkFlowRestart {
		if e.Stream == nil {
			return nil, FactUnread
		}
		if outcome, _ := judgeRestart(p, e); outcome == Applied {
			return sideOrNothing(runText(e.Stream.Stream)), FactPlanned
		}
		return is(sideOrNothing(runText(e.Stream.Stream)))
	}
	if e.Job == nil {
		return nil, FactUnread
	}
	j := e.Job.Job
	switch f.Name {
	case FactUpgradePhase:
		u := e.upgradeOf(p)
		if u == nil {
			return nil, FactUnread
		}
		if outcome, _ := judgeUpgrade(p, e); outcome == Applied {
			return u.Phase, FactPlanned
		}
		return is(u.Phase)
	case FactRound:
		if r := e.roundAfter(p.RoundKind(), p.Round); r != nil {
			return &r.ID, FactPlanned
		}
		if e.Job.RoundsUnread {
			return nil, FactUnread
		}
		return f.Before, FactBefore
	case FactVersion:
		text := versionText(j.Version)
		return is(&text)
	case FactFormat:
		if j.Version == nil {
			return nil, FactUnread
		}
		return is(formatOf(e.Job.Versions, *j.Version))
	case FactJobState:
		if j.Version != nil && *j.Version == p.Version && sideOf(j.Observed) == arkRunning {
			return j.Observed, FactPlanned
		}
		return is(j.Observed)
	}
	if verdict, _ := judgeArkFlowRollback(p, e); verdict == Applied {
		return &p.Point, FactPlanned
	}
	return nil, FactUnread // no hub says what a job was restored from
}
