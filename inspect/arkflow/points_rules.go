package arkflow

import (
	"fmt"
	"slices"
	"strings"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/arkhub"
	"github.com/recoverctl/recoverctl/internal/arkhub/artefact"
	"github.com/recoverctl/recoverctl/internal/figures"
)

// The rules of a restore, in the order in which they decide.
const (
	RuleCompleted      = "round-completed"
	RuleManifestThere  = "manifest-there"
	RuleManifestReads  = "manifest-readable"
	RuleManifestSealed = "manifest-checksum"
	RuleManifestID     = "manifest-id"
	RuleJobID          = "job-id"
	RuleFormat         = "state-format"
	RuleVersion        = "job-version"
	RuleTasksOnce      = "tasks-once"
	RuleTaskSet        = "task-set"
	RuleStateOfTasks   = "state-of-every-task"
	RuleStateThere     = "state-there"
	RuleStateSealed    = "state-checksum"
	RulePositions      = "source-positions" // a warning: it never rejects
)

// pointFacts are what a point is judged by.
type pointFacts struct {
	target        Target
	asked         bool // a hub was asked for its rounds
	store         bool // a store was looked at
	manifest      artefact.Manifest
	manifestState ObjectState
	manifestWhy   string
	nodeManifests int
}

// judging collects what the rules say.
type judging struct{ rules []inspect.Rule }

func (j *judging) say(code, title string, result inspect.RuleResult, format string, args ...any) {
	j.rules = append(j.rules, inspect.Rule{Code: code, Title: title, Result: result, Message: fmt.Sprintf(format, args...)})
}

// check is a rule that passes or fails.
func (j *judging) check(code, title string, ok bool, passed, failed string) {
	if ok {
		j.say(code, title, inspect.Passed, "%s", passed)
		return
	}
	j.say(code, title, inspect.Failed, "%s", failed)
}

// judge asks every rule, and makes the verdict of the first that fails; of one
// that could not be asked where none does.
func (p *Point) judge(f pointFacts) {
	j := &judging{}
	p.judgeRound(j, f)
	p.judgeManifest(j, f)
	p.Rules = j.rules
	p.Verdict = inspect.Accepted
	for _, r := range j.rules {
		switch {
		case r.Code == RulePositions:
		case r.Result == inspect.Failed && p.Verdict != inspect.Rejected:
			p.Verdict, p.Reason, p.Message = inspect.Rejected, r.Code, r.Message
		case r.Result == inspect.NotChecked && p.Verdict == inspect.Accepted:
			p.Verdict, p.Reason, p.Message = inspect.Unknown, r.Code, r.Message
		}
	}
	p.Engine = p.engineSays(f)
	if p.Missing == nil {
		p.Missing = []string{}
	}
	if p.Tasks == nil {
		p.Tasks = []TaskPlace{}
	}
	if p.Positions == nil {
		p.Positions = []SourcePosition{}
	}
	if p.States == nil {
		p.States = []StateObject{}
	}
	if p.Watermark == nil {
		p.Watermark = map[string]int64{}
	}
}

func (p *Point) judgeRound(j *judging, f pointFacts) {
	const title = "the round was completed"
	switch {
	case p.Status == arkhub.RoundCompleted:
		j.say(RuleCompleted, title, inspect.Passed, "the hub has it on record as completed")
	case p.Status != "":
		j.say(RuleCompleted, title, inspect.Failed, "the hub has it on record as %s: no start selects it", p.Status)
	case f.asked:
		j.say(RuleCompleted, title, inspect.Failed, "the hub has no record of it: no start selects it")
	default:
		j.say(RuleCompleted, title, inspect.NotChecked, "no hub was asked whether the round was completed")
	}
}

func (p *Point) judgeManifest(j *judging, f pointFacts) {
	const there = "its manifest is in the store"
	switch {
	case !f.store:
		j.say(RuleManifestThere, there, inspect.NotChecked, "no checkpoint store was looked at")
		return
	case f.manifestState == ObjectMissing && f.nodeManifests > 0:
		j.say(RuleManifestThere, there, inspect.Failed, "%s; %d of its nodes wrote their part, and the round was never sealed", f.manifestWhy, f.nodeManifests)
		return
	case f.manifestState == ObjectMissing:
		j.say(RuleManifestThere, there, inspect.Failed, "%s", f.manifestWhy)
		return
	case f.manifestState == ObjectUnread:
		j.say(RuleManifestThere, there, inspect.NotChecked, "%s", f.manifestWhy)
		return
	}
	j.say(RuleManifestThere, there, inspect.Passed, "%s", p.URI)
	const reads = "the manifest can be read"
	if f.manifestState == ObjectDamaged {
		j.say(RuleManifestReads, reads, inspect.Failed, "%s", f.manifestWhy)
		return
	}
	m := f.manifest
	j.say(RuleManifestReads, reads, inspect.Passed, "%s, %s", figures.Count(len(m.TaskAttempts), "task", "tasks"), figures.Count(len(m.SourcePositions), "source position", "source positions"))
	computed := m.Computed()
	j.check(RuleManifestSealed, "the manifest's checksum is right", computed == m.Checksum,
		fmt.Sprintf("recomputed: %d", computed), fmt.Sprintf("it says %d, and recomputed it is %d: the manifest was changed or damaged", m.Checksum, computed))
	j.check(RuleManifestID, "the manifest is that of this point", m.CheckpointID == p.ID,
		m.CheckpointID, fmt.Sprintf("it says that it is %s", m.CheckpointID))
	p.judgeTarget(j, f.target, m)
	p.judgeTasks(j, f.target, m)
	p.judgeStates(j)
}

// judgeTarget asks whether what would be restored can take the point.
func (p *Point) judgeTarget(j *judging, t Target, m artefact.Manifest) {
	const job, format, version = "it is of this job", "the state format is the target's", "its job version can be restored"
	if t.JobID == "" {
		j.say(RuleJobID, job, inspect.NotChecked, "no job is named; the point is of %s", m.JobID)
	} else {
		j.check(RuleJobID, job, m.JobID == t.JobID, m.JobID, fmt.Sprintf("it is of job %s, not of %s", m.JobID, t.JobID))
	}
	if t.FormatVersion == nil {
		j.say(RuleFormat, format, inspect.NotChecked, "the target's state format is not exposed; the point has format %d", m.FormatVersion)
	} else {
		j.check(RuleFormat, format, m.FormatVersion == *t.FormatVersion, fmt.Sprintf("both %d", m.FormatVersion),
			fmt.Sprintf("the point has format %d, and the target reads %d", m.FormatVersion, *t.FormatVersion))
	}
	if t.Version == nil {
		j.say(RuleVersion, version, inspect.NotChecked, "the target's version is not exposed; the point is of version %d", m.JobVersion)
		return
	}
	may, known := t.Generation.MayRestore(m.JobVersion, *t.Version)
	switch {
	case m.JobVersion == *t.Version:
		j.say(RuleVersion, version, inspect.Passed, "both %d", m.JobVersion)
	case !known:
		j.say(RuleVersion, version, inspect.NotChecked, "the point is of version %d and the target is %d: whether its engine restores that is not known", m.JobVersion, *t.Version)
	case may:
		j.say(RuleVersion, version, inspect.Passed, "the point is of version %d, and a later one may restore it: the target is %d", m.JobVersion, *t.Version)
	default:
		j.say(RuleVersion, version, inspect.Failed, "the point is of version %d and the target is %d: the engine would start cold, and say that it converged", m.JobVersion, *t.Version)
	}
}

// judgeTasks compares the tasks that took part with those that must be there.
func (p *Point) judgeTasks(j *judging, t Target, m artefact.Manifest) {
	seen, twice := map[string]bool{}, []string{}
	for _, a := range m.TaskAttempts {
		if seen[a.TaskID] {
			twice = append(twice, a.TaskID)
		}
		seen[a.TaskID] = true
	}
	j.check(RuleTasksOnce, "no task is in it twice", len(twice) == 0, figures.Count(len(seen), "task", "tasks"), "twice in it: "+few(twice))
	const set = "its tasks are those that the job must have"
	tasks := make([]string, 0, len(m.TaskAttempts))
	for _, a := range m.TaskAttempts {
		tasks = append(tasks, a.TaskID)
	}
	result, message, missing := taskSet(t, tasks)
	p.Missing = missing
	j.say(RuleTaskSet, set, result, "%s", message)
	var stateless []string
	for _, a := range m.TaskAttempts {
		if !slices.ContainsFunc(m.StateSnapshots, func(r artefact.SnapshotRef) bool { return r.TaskID == a.TaskID }) {
			stateless = append(stateless, a.TaskID)
		}
	}
	j.check(RuleStateOfTasks, "there is state of every task", len(stateless) == 0 && len(m.TaskAttempts) > 0,
		figures.Count(len(m.TaskAttempts), "task", "tasks")+" in "+figures.Count(len(p.States), "object", "objects"), "no state of: "+few(stateless))
}

// without are the ones of a list that another does not have. Large jobs have tens of
// thousands of tasks, and each point is compared.
func without(list, other []string) (left []string) {
	has := make(map[string]bool, len(other))
	for _, id := range other {
		has[id] = true
	}
	for _, id := range list {
		if !has[id] {
			left = append(left, id)
		}
	}
	return left
}

// taskSet compares the tasks that a point has with those that its target must have.
func taskSet(t Target, have []string) (result inspect.RuleResult, message string, missing []string) {
	missing = []string{}
	if t.Tasks == nil {
		return inspect.NotChecked, fmt.Sprintf("the job's plan is not exposed; the point has %s", figures.Count(len(have), "task", "tasks")), missing
	}
	missing = append(missing, without(t.Tasks, have)...)
	more := without(have, t.Tasks)
	switch {
	case t.Rescales && len(missing)+len(more) > 0:
		return inspect.NotChecked, fmt.Sprintf("the job rescales: %d planned tasks are not in it, and %d of it are not planned; whether that can be restored is not known here", len(missing), len(more)), missing
	case len(missing) > 0:
		return inspect.Failed, fmt.Sprintf("%d of %d planned tasks are not in it and would begin empty: %s", len(missing), len(t.Tasks), few(missing)), missing
	case len(more) > 0:
		return inspect.Failed, "it holds tasks that the job does not have: " + few(more), missing
	}
	return inspect.Passed, fmt.Sprintf("all %d", len(t.Tasks)), missing
}

// judgeStates tells of the objects with state.
func (p *Point) judgeStates(j *judging) {
	const there, sealed = "every state object is in the store", "every state object's checksum is right"
	var missing, damaged, unread []string
	for _, s := range p.States {
		text := s.Key + ": " + s.Message
		switch s.State {
		case ObjectMissing:
			missing = append(missing, text)
		case ObjectDamaged:
			damaged = append(damaged, text)
		case ObjectUnread:
			unread = append(unread, text)
		}
	}
	whole := len(p.States) - len(missing) - len(damaged) - len(unread)
	for _, r := range []struct {
		code, title string
		bad         []string
	}{{RuleStateThere, there, missing}, {RuleStateSealed, sealed, damaged}} {
		switch {
		case len(r.bad) > 0:
			j.say(r.code, r.title, inspect.Failed, "%s", few(r.bad))
		case len(unread) > 0:
			j.say(r.code, r.title, inspect.NotChecked, "%s", few(unread))
		default:
			j.say(r.code, r.title, inspect.Passed, "%d of %d", whole, len(p.States))
		}
	}
}

// afterTheFirst says of rules behind the first that fails what they would have
// said: the restore does not reach them.
func (p *Point) afterTheFirst() {
	refused := false
	for i := range p.Rules {
		r := &p.Rules[i]
		switch {
		case r.Code == RulePositions:
		case !refused:
			refused = r.Result == inspect.Failed
		case r.Result == inspect.Passed:
			r.Result = inspect.WouldPass
		case r.Result == inspect.Failed:
			r.Result = inspect.WouldFail
		}
	}
}

// few lists some, and counts the rest.
func few(list []string) string {
	const most = 3
	if len(list) <= most {
		return strings.Join(list, "; ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(list[:most], "; "), len(list)-most)
}

// warnPositions tells of points without source positions where an older one has
// some: a restore would not seek its source.
func warnPositions(newestFirst []Point) {
	for i := range newestFirst {
		p := &newestFirst[i]
		read := slices.ContainsFunc(p.Rules, func(r inspect.Rule) bool { return r.Code == RuleManifestReads && r.Result == inspect.Passed })
		if !read {
			continue
		}
		const title = "its sources know where to go on"
		older := slices.IndexFunc(newestFirst[i+1:], func(o Point) bool { return len(o.Positions) > 0 })
		rule := inspect.Rule{Code: RulePositions, Title: title, Result: inspect.Passed, Message: figures.Count(len(p.Positions), "source position", "source positions")}
		switch {
		case len(p.Positions) > 0:
		case older >= 0:
			rule.Result = inspect.Failed
			rule.Message = fmt.Sprintf("it has none, and %s has %d: a restore would not seek its source, and the consumer group's offsets decide", newestFirst[i+1+older].ID, len(newestFirst[i+1+older].Positions))
		default:
			rule.Result, rule.Message = inspect.NotChecked, "it has none, nor has any older point: the source may report none"
		}
		p.Rules = append(p.Rules, rule)
	}
}

// WithoutPositions reports whether a restore from the point would not seek a
// source that an older point knows a position of.
func (p Point) WithoutPositions() bool {
	return slices.ContainsFunc(p.Rules, func(r inspect.Rule) bool { return r.Code == RulePositions && r.Result == inspect.Failed })
}
