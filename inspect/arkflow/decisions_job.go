package arkflow

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/arkhub"
	"github.com/recoverctl/recoverctl/internal/clock"
	"github.com/recoverctl/recoverctl/internal/figures"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

// recoveryTime is from when on a recovery that does not end is told.
const recoveryTime = 2 * time.Minute

func withJob(ask func(Facts, arkhub.Job) answer) func(Facts) answer {
	return func(f Facts) answer {
		if f.Job == nil {
			return unasked("no hub was asked about the job")
		}
		return ask(f, *f.Job)
	}
}

// someRounds is why that a round is not there says nothing.
const someRounds = "not all rounds that the hub has on record of the job could be read"

const noStore = "the checkpoint store was not looked at: recoverctl inspect arkflow points ID reads it"

func withPoints(ask func(Facts, PointList) answer) func(Facts) answer {
	return func(f Facts) answer {
		if f.Points == nil || f.Points.Place == "" {
			return unasked(noStore)
		}
		return ask(f, *f.Points)
	}
}

// toVersion asks a row of a rollback that is thought of.
func toVersion(ask func(Facts, Target) answer) func(Facts) answer {
	return func(f Facts) answer {
		if f.Rollback == nil {
			return unasked("no rollback is thought of")
		}
		return ask(f, *f.Rollback)
	}
}

func jobRows() []row {
	rows := []row{
		{row: "24", rule: "checkpoint-health-degraded", severity: inspect.SeverityError, condition: "the newest round failed or is stuck, an older one is completed", action: "Look at the checkpoint store and the node's disk: it does not heal by itself, and the point in force ages.",
			ask: func(f Facts) answer {
				switch {
				case f.Health == nil || f.Health.State == HealthUnknown:
					why := "no rounds were read"
					if f.Health != nil {
						why = f.Health.Sentence
					}
					return unasked("%s", why)
				case f.Health.State == HealthDegraded:
					return holds(stuckEvidence(f), "degraded checkpoint health: %s", f.Health.Sentence)
				case f.Health.State == HealthOverdue:
					return holds(stuckEvidence(f), "checkpoint health is not good: %s", f.Health.Sentence).at(inspect.SeverityWarning)
				}
				return isClear("%s", f.Health.Sentence)
			}},
		{row: "25", rule: "no-completed-checkpoint", severity: inspect.SeverityError, condition: "a stateful job without any completed point", action: "Take a savepoint before any stop: nothing can be restored with state.", ask: withJob(nothingCompleted)},
		{row: "26", rule: "artefact-invalid", severity: inspect.SeverityError, condition: "a completed point whose manifest or state is wrong or missing", action: "Use the completed one before it; this one is never selected.",
			ask: withPoints(func(_ Facts, l PointList) answer {
				return points(l, "completed point is not what was written", "completed points are not what was written", func(p Point) (string, bool) {
					bad := []string{RuleManifestThere, RuleManifestReads, RuleManifestSealed, RuleManifestID, RuleTasksOnce, RuleStateOfTasks, RuleStateThere, RuleStateSealed}
					return p.Message, p.Verdict == inspect.Rejected && slices.Contains(bad, p.Reason)
				})
			})},
		{row: "26a", rule: "artefact-incomplete", severity: inspect.SeverityError, condition: "a completed point with fewer tasks than the plan", action: "Use the newest point with the full set of tasks: from this one a part of the job would begin empty, and the engine takes it.",
			ask: withPoints(func(f Facts, l PointList) answer {
				if l.Target.Tasks == nil {
					return unasked("the job's plan is not exposed by this hub")
				}
				return points(l, "completed point lacks planned tasks", "completed points lack planned tasks", func(p Point) (string, bool) {
					return fmt.Sprintf("%d of %d planned tasks are missing: %s", len(p.Missing), len(l.Target.Tasks), few(p.Missing)), len(p.Missing) > 0
				})
			})},
		{row: "26b", rule: "artefact-without-positions", severity: inspect.SeverityWarning, condition: "a completed point without source positions, an older one has some", action: "Prefer the older point: a restore from this one does not seek the source, and the consumer group's offsets decide.",
			ask: withPoints(func(_ Facts, l PointList) answer {
				return points(l, "completed point knows no source positions", "completed points know no source positions", func(p Point) (string, bool) { return "no source positions", p.WithoutPositions() })
			})},
		{row: "27", rule: "rollback-format", severity: inspect.SeverityError, condition: "rollback: the artefact's format is not the target's", action: "Choose a version with the same state format.", ask: toVersion(rollbackFormat)},
		{row: "28", rule: "rollback-nothing-restorable", severity: inspect.SeverityError, condition: "rollback or upgrade: no completed artefact of a usable version", action: "Don't: the route accepts it, and the job then begins cold while the hub says converged. Else accept a cold start.", ask: toVersion(nothingRestorable)},
		{row: "29", rule: "rollback-no-version", severity: inspect.SeverityError, condition: "rollback: there is no lower version", action: "There is nothing to roll back to.",
			ask: withJob(func(f Facts, j arkhub.Job) answer {
				if f.Versions == nil {
					return unasked("the job's versions were not read")
				}
				current, known := j.Version.Get()
				if !known {
					return unasked("the job's version is not exposed by this hub")
				}
				if slices.ContainsFunc(f.Versions, func(v arkhub.Version) bool { n, is := v.Version.Get(); return is && n < current }) {
					return isClear("there is a version below %d", current)
				}
				return holds(evidence("%s on record", figures.Count(len(f.Versions), "version", "versions")), "version %d is the lowest on record: a rollback is refused (no_previous_job_version)", current).at(inspect.SeverityInfo)
			})},
		{row: "30", rule: "upgrade-active", severity: inspect.SeverityWarning, condition: "an upgrade holds the job", action: "Pause, cancel or roll it back; until then the hub refuses everything else (orchestration_in_progress).",
			ask: func(f Facts) answer {
				switch {
				case f.Detail == nil:
					return unasked("the job's detail was not read")
				case f.Generation != arkhub.GenerationUpgrades:
					return isClear("hubs of this generation keep no upgrades")
				}
				u := f.Detail.ActiveUpgrade.Or(arkhub.Upgrade{})
				if !u.Active() {
					return isClear("none is active")
				}
				return holds(evidence("%s: version %d to %d, phase %s", u.ID, u.From.Or(0), u.To.Or(0), u.Phase.Or("not known")), "upgrade %s holds the job in phase %s", safetext.Of(u.ID), safetext.Of(u.Phase.Or("not known")))
			}},
		{row: "31", rule: "job-not-stopped", severity: inspect.SeverityInfo, condition: "not stopped and converged: an upgrade or a rollback must wait", action: "Stop it and wait until it is observed stopped. Older hubs accept a rollback of a running job all the same: don't.",
			ask: withJob(func(_ Facts, j arkhub.Job) answer {
				d, o := j.DesiredState.Or(""), j.ObservedState.Or("")
				if d == arkhub.StateStopped && (o == arkhub.StateStopped || o == "validated") && j.Convergence.Or("") != "reconciling" {
					return isClear("it is stopped")
				}
				return holds(evidence("desired %s, observed %s, convergence %s", j.DesiredState.Or("?"), j.ObservedState.Or("?"), j.Convergence.Or("?")), "the job is not stopped: an upgrade is refused (job_must_be_stopped)")
			})},
		{row: "32", rule: "recovery-does-not-end", severity: inspect.SeverityWarning, condition: "recovering or waiting for a recovery beyond its time", action: "Wanted stopped: start it. Wanted running: look at its tasks, the watermark's lag and the replay window.", ask: withJob(stuckRecovery)},
		{row: "T5", rule: "started-cold", severity: inspect.SeverityError, condition: "running and converged, and nothing of its version could have been restored", action: "Compare the state with what it should be before more is processed: an upgrade or rollback may have begun empty. Stop it before old artefacts are dropped.", ask: withJob(startedCold)},
		{row: "T6", rule: "start-failed-hidden", severity: inspect.SeverityError, condition: "a start failed on a node, and the hub says running and converged", action: "Look at that node's engine log; later checkpoints hold a part of the tasks only.", ask: withJob(hiddenStart)},
		{row: "T7", rule: "round-names-no-restore", severity: inspect.SeverityWarning, condition: "the job names a round that was never completed", action: "Don't take checkpoint_id for a restorable point: look for a completed one (recoverctl inspect arkflow points ID).",
			ask: withJob(func(f Facts, j arkhub.Job) answer {
				if f.Rounds == nil {
					return unasked("the job's rounds were not read")
				}
				id := j.CheckpointID.Or("")
				at := slices.IndexFunc(f.Rounds, func(c arkhub.Checkpoint) bool { return c.ID == id })
				switch {
				case id == "":
					return isClear("it names none")
				case at < 0 && f.RoundsPartial:
					return unasked(someRounds)
				case at < 0:
					return holds(evidence("checkpoint_id %s", id), "the job names %s, of which the hub has no record", safetext.Of(id))
				case f.Rounds[at].Status != arkhub.RoundCompleted:
					return holds(evidence("%s is %s", id, f.Rounds[at].Status), "the job names %s, and that round is %s", safetext.Of(id), safetext.Of(f.Rounds[at].Status))
				}
				return isClear("it names a completed round")
			})},
		{row: "T8", rule: "metrics-not-reported", severity: inspect.SeverityInfo, condition: "every metric of the job is 0", action: "Take none of them for a measurement: hubs of this generation always say 0, for failures and progress, too.",
			ask: func(f Facts) answer {
				if f.Detail == nil {
					return unasked("the job's detail was not read")
				}
				m := f.Detail.Metrics
				if !m.CheckpointFailures.IsKnown() && !m.RecoveryProgress.IsKnown() && !m.WatermarkLagMs.IsKnown() {
					return isClear("the hub exposes none")
				}
				if !m.AllZero() {
					return isClear("they are reported")
				}
				return holds(nil, "all metrics are 0, which is no measurement: they are not reported")
			}},
		{row: "T9", rule: "selection-passes-over", severity: inspect.SeverityError, condition: "a start would restore another point than the best one, or none", action: "Stop and roll back to the better point, or take a new savepoint, before the job is started again.",
			ask: withPoints(func(_ Facts, l PointList) answer {
				switch {
				case !l.Selection.Known:
					return unasked("%s", l.Selection.Why)
				case l.Selection.Better != "":
					what := "begin cold"
					if l.Selection.ID != "" {
						what = "restore " + l.Selection.ID
					}
					return holds(evidence("%s", l.Selection.Why), "a start would %s, though %s is accepted", safetext.Of(what), safetext.Of(l.Selection.Better))
				}
				return isClear("%s", l.Selection.Why)
			})},
	}
	for i := range rows {
		rows[i].scope = OfJob
	}
	return rows
}

// rulesOfReading are not asked of a point that could not be read whole.
var rulesOfReading = []string{RuleManifestThere, RuleManifestReads, RuleStateThere, RuleStateSealed}

// points lists the completed points that something is so of.
func points(l PointList, one, many string, is func(Point) (string, bool)) answer {
	var found []string
	unread := 0
	for _, p := range l.Points {
		if p.Status != arkhub.RoundCompleted && p.Status != "" {
			continue
		}
		if slices.ContainsFunc(p.Rules, func(r inspect.Rule) bool {
			return r.Result == inspect.NotChecked && slices.Contains(rulesOfReading, r.Code)
		}) {
			unread++
		}
		if why, so := is(p); so {
			found = append(found, fmt.Sprintf("%s: %s", safetext.Of(p.ID), why))
		}
	}
	if len(found) > 0 {
		return holds(found, "%s: %s", plural(uint64(len(found)), one, many), few(found)).with("count", len(found))
	}
	if unread > 0 {
		return unasked("%d of %d points could not be read, or not whole", unread, len(l.Points))
	}
	return isClear("of %d points none", len(l.Points))
}

// stuckEvidence are the operations behind a round that does not end.
func stuckEvidence(f Facts) []string {
	var found []string
	if f.Health == nil {
		return nil
	}
	for _, o := range f.Operations {
		if o.CheckpointID.Or("") == f.Health.Newest && f.Health.Newest != "" && !o.Finished.IsKnown() {
			found = append(found, fmt.Sprintf("%s %s on %s: %s", safetext.Of(o.ID), safetext.Of(o.Operation.Or("?")), safetext.Of(o.NodeID.Or("?")), safetext.Of(o.State.Or("?"))))
		}
		if o.CheckpointID.Or("") == f.Health.Newest && o.State.Or("") == "node_unavailable" {
			found = append(found, fmt.Sprintf("%s on %s: node_unavailable", safetext.Of(o.ID), safetext.Of(o.NodeID.Or("?"))))
		}
	}
	return found
}

func nothingCompleted(f Facts, j arkhub.Job) answer {
	switch {
	case f.Rounds == nil:
		return unasked("the job's rounds were not read")
	case !j.Spec.Readable():
		return unasked("the job's description is not exposed by this hub")
	case !j.Spec.Stateful():
		return isClear("no operator of the job keeps state")
	}
	for _, c := range f.Rounds {
		if c.Status == arkhub.RoundCompleted {
			return isClear("%s is completed", c.ID)
		}
	}
	if f.RoundsPartial {
		return unasked(someRounds)
	}
	return holds(evidence("%d rounds on record, none completed", len(f.Rounds)), "the job keeps state, and no checkpoint or savepoint of it was ever completed")
}

func rollbackFormat(f Facts, t Target) answer {
	if f.Rounds == nil {
		return unasked("the job's rounds were not read")
	}
	if t.FormatVersion == nil {
		return unasked("the target's state format is not exposed by this hub")
	}
	for _, c := range f.Rounds {
		format, known := c.FormatVersion.Get()
		if c.ID == t.Explicit && known && format != *t.FormatVersion {
			return holds(evidence("%s has format %d, version %d reads %d", c.ID, format, orZero(t.Version), *t.FormatVersion),
				"the artefact %s has state format %d, and version %d reads format %d (state_format_incompatible; older hubs don't check)", safetext.Of(c.ID), format, orZero(t.Version), *t.FormatVersion)
		}
	}
	return isClear("the formats are the same")
}

func nothingRestorable(f Facts, t Target) answer {
	switch {
	case f.Rounds == nil:
		return unasked("the job's rounds were not read")
	case t.Version == nil || t.FormatVersion == nil:
		return unasked("the target's version or state format is not exposed by this hub")
	}
	closed := 0
	for _, c := range f.Rounds {
		version, versionKnown := c.JobVersion.Get()
		format, formatKnown := c.FormatVersion.Get()
		may, known := t.Generation.MayRestore(version, *t.Version)
		if c.Status != arkhub.RoundCompleted || !versionKnown || !formatKnown {
			continue
		}
		if !known {
			return unasked("whether this engine restores another version's artefacts is not known")
		}
		if closed++; may && format == *t.FormatVersion {
			return isClear("%s can be restored by version %d", c.ID, *t.Version)
		}
	}
	if f.RoundsPartial {
		return unasked(someRounds)
	}
	rule := "of version %d itself"
	if t.Generation == arkhub.GenerationUpgrades {
		rule = "of version %d or below"
	}
	return holds(evidence("%d completed artefacts, none "+rule+" with format %d", closed, *t.Version, *t.FormatVersion),
		"nothing can be restored into version %d: the route accepts it all the same, and the job begins cold and says converged", *t.Version)
}

func orZero(n *uint64) uint64 {
	if n == nil {
		return 0
	}
	return *n
}

func stuckRecovery(f Facts, j arkhub.Job) answer {
	word := ""
	switch {
	case j.ObservedState.Or("") == arkhub.StateRecovering:
		word = arkhub.StateRecovering
	case j.Convergence.Or("") == arkhub.ConvergencePendingRecovery:
		word = arkhub.ConvergencePendingRecovery
	default:
		return isClear("it is %s, %s", j.ObservedState.Or("in no known state"), j.Convergence.Or("no convergence is known"))
	}
	at, known := j.Updated.Get()
	if !known {
		return unasked("it is %s, and the hub does not expose since when", word)
	}
	since := f.Now.Sub(at.Time())
	if since <= recoveryTime {
		return isClear("it is %s since %s", word, clock.Age(since))
	}
	what := "a restore or a replay is under way"
	if j.DesiredState.Or("") == arkhub.StateStopped {
		what = "nobody has started it since a rollback or an upgrade"
	}
	return holds(evidence("desired %s, observed %s, convergence %s", j.DesiredState.Or("?"), j.ObservedState.Or("?"), j.Convergence.Or("?")), "it is %s for %s: %s", word, clock.Age(since), what)
}

// startedCold looks at whether the run that goes on could have been restored from
// anything: a completed artefact of the very version, made before it began.
func startedCold(f Facts, j arkhub.Job) answer {
	switch {
	case j.ObservedState.Or("") != arkhub.StateRunning || j.DesiredState.Or("") != arkhub.StateRunning:
		return isClear("it does not run")
	case f.Rounds == nil || f.Operations == nil:
		return unasked("the job's rounds and operations were not read")
	case !j.Spec.Readable() || !j.Version.IsKnown() || !j.Generation.IsKnown():
		return unasked("the job's description, version or generation is not exposed by this hub")
	case !j.Spec.Stateful():
		return isClear("no operator of the job keeps state")
	}
	began := time.Time{}
	for _, o := range f.Operations {
		if o.Operation.Or("") == "job_start" && o.State.Or("") == "succeeded" && o.Generation.Or(0) == j.Generation.Or(1) {
			if at := o.Created.Or(0).Time(); began.IsZero() || at.Before(began) {
				began = at
			}
		}
	}
	if began.IsZero() {
		return unasked("no start of the run that goes on is on record")
	}
	older := 0
	for _, c := range f.Rounds {
		at, known := c.Updated.Get()
		if c.Status != arkhub.RoundCompleted || !known || !at.Time().Before(began) {
			continue
		}
		older++
		may, ruleKnown := f.Generation.MayRestore(c.JobVersion.Or(0), j.Version.Or(0))
		if !ruleKnown {
			return unasked("whether this engine restores another version's artefacts is not known")
		}
		if may && c.Kind.Or("") == kindOfPolicy(j.Spec.Recovery.Or(policyCheckpoint)) && c.FormatVersion.Or(0) == j.Spec.State.FormatVersion.Or(arkhub.DefaultFormatVersion) {
			return isClear("it may have been restored from %s", c.ID)
		}
	}
	if f.RoundsPartial {
		return unasked(someRounds)
	}
	if older == 0 {
		return isClear("it was started before anything was completed")
	}
	return holds(evidence("started %s, %d completed artefacts before that, none of version %d with its format and policy", began.Format(time.RFC3339), older, j.Version.Or(0)),
		"the run that goes on began cold: nothing before it could be restored into version %d, and the hub says %s", j.Version.Or(0), safetext.Of(j.Convergence.Or("nothing")))
}

func kindOfPolicy(policy string) string {
	switch policy {
	case policySavepoint:
		return arkhub.KindSavepoint
	case policyFail:
		return ""
	}
	return arkhub.KindCheckpoint
}

func hiddenStart(f Facts, j arkhub.Job) answer {
	switch {
	case f.Operations == nil:
		return unasked("no operations were read")
	case j.ObservedState.Or("") != arkhub.StateRunning:
		return isClear("the hub does not say that it runs")
	}
	failed, later := map[string]arkhub.Operation{}, map[string]bool{}
	for _, o := range f.Operations { // the newest first
		node := o.NodeID.Or("")
		if o.Operation.Or("") != "job_start" || o.Generation.Or(0) != j.Generation.Or(0) || !j.Generation.IsKnown() {
			continue
		}
		switch o.State.Or("") {
		case "succeeded":
			later[node] = true
		case "failed":
			if _, has := failed[node]; !has && !later[node] {
				failed[node] = o
			}
		}
	}
	var found []string
	for node, o := range failed {
		found = append(found, fmt.Sprintf("%s: %s", safetext.Of(node), safetext.Of(o.Error.Or("no reason is given")).Truncate(200)))
	}
	slices.Sort(found)
	if len(found) == 0 {
		return isClear("no start of the run that goes on failed")
	}
	return holds(found, "the start failed on %s, and the hub says %s and %s", strings.Join(found, "; "), safetext.Of(j.ObservedState.Or("?")), safetext.Of(j.Convergence.Or("?")))
}
