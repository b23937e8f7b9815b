package actions

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/recoverctl/recoverctl/inspect"
)

// The kinds of plan that change what a Flink job does.
const (
	KindSavepoint = "savepoint" // take one, the job runs on
	KindStop      = "stop"      // take one, and let the job finish
	KindCancel    = "cancel"    // end the job without one
	KindRollback  = "rollback"  // end the job, and start it again from a recovery point
)

const (
	backendFlink = "flink"
	objectJob    = "job"
	noJob        = "none" // id of the job where Flink knew none of its name
)

// The names of facts of these kinds.
const (
	FactJob          = "job"
	FactJobState     = "state"
	FactRestoredFrom = "restored-from"
	FactParallelism  = "parallelism"
	FactSavepoint    = "savepoint"
)

// EndBy is how a rollback ends the job that runs.
type EndBy string

// The ways. A job that is stopped finishes, and deletes its own checkpoints; one
// that is cancelled keeps them where it is set up so.
const (
	EndByStop   EndBy = "stop"
	EndByCancel EndBy = "cancel"
	EndByNone   EndBy = "none" // it has ended already
)

// FlinkJob is one job as a JobManager lists it.
type FlinkJob struct {
	ID, Name, State string
	Started         time.Time
}

// FlinkJar is a program that was uploaded to a JobManager.
type FlinkJar struct {
	ID, Name string
	Classes  []string // main classes that its manifest names
}

// SavepointState is what Flink knows of a trigger: of a savepoint, or of a stop
// with one. The zero value is that Flink knows nothing of it: it never came, or
// was forgotten.
type SavepointState struct {
	Known    bool
	Ready    bool
	Location string // where it was made; empty: it is not, or failed
	Failure  string // why it failed: the root cause, "type: message"
}

// FlinkEvidence is all that a plan about a Flink job is judged by.
type FlinkEvidence struct {
	Job     inspect.Job
	At      time.Time // when it was read
	Address string    // of the JobManager, as it may be shown
	Err     error     // the JobManager could not be asked: nothing else is known

	Jobs        []FlinkJob         // all that it knows
	Old         *inspect.LiveState // the job that the plan is about; nil: Flink knows none
	Parallelism int                // of that job; 0: not known
	Savepoint   SavepointState     // by the plan's trigger

	// Of a rollback.
	New            *inspect.LiveState // the job that the plan starts; nil: Flink knows none of its id
	NewParallelism int
	Jars           []FlinkJar
	JarsErr        error
	Restore        *inspect.RestoreValidation // of the plan's point; nil: nothing could be said
	RestoreErr     error
	PointKind      inspect.PointKind
}

// FlinkPlan is what a plan of these kinds says.
type FlinkPlan struct {
	Kind      string
	JobID     string // of the job as the plan found it; empty: Flink knew none
	JobName   string
	State     string // of that job, as the plan found it; empty: there was none
	Trigger   string // of the savepoint; empty: the plan takes none
	Directory string // that the savepoint is made in; empty: the job's default
	Last      string // the job's last savepoint as the plan found it; empty: none

	// Of a rollback.
	End         EndBy
	NewJobID    string
	Point       string
	Jar         string
	JarName     string
	EntryClass  string // empty: the manifest's
	Arguments   []string
	Parallelism int // 0: the cluster's default
	AllowLeft   bool
}

// Savepoints reports whether the plan takes a savepoint, alone or with a stop.
func (p FlinkPlan) Savepoints() bool { return p.Trigger != "" }

// FlinkKind reports whether a kind is one of these.
func FlinkKind(kind string) bool {
	switch kind {
	case KindSavepoint, KindStop, KindCancel, KindRollback:
		return true
	}
	return false
}

// The names of parameters.
const (
	paramTrigger     = "trigger"
	paramDirectory   = "directory"
	paramEnd         = "end"
	paramJar         = "jar"
	paramJarName     = "jar-name"
	paramEntryClass  = "entry-class"
	paramArguments   = "arguments"
	paramParallelism = "parallelism"
	paramAllow       = "allow-non-restored-state"
)

// parametersOf are the parameters that a plan of a kind has, all of them.
func parametersOf(kind string) []string {
	switch kind {
	case KindSavepoint, KindStop:
		return []string{paramTrigger, paramDirectory}
	case KindRollback:
		return []string{paramTrigger, paramDirectory, paramEnd, paramJar, paramJarName, paramEntryClass, paramArguments, paramParallelism, paramAllow}
	default:
		return nil
	}
}

// FlinkPlanOf is what a document of these kinds says. The document is valid.
func FlinkPlanOf(d Document) FlinkPlan {
	p := FlinkPlan{Kind: d.Kind, JobName: d.Target.Name, Trigger: d.Parameters[paramTrigger], Directory: d.Parameters[paramDirectory]}
	if d.Target.ID != noJob {
		p.JobID = d.Target.ID
	}
	for _, f := range d.Facts {
		switch f.Name {
		case FactJobState:
			p.State = sideOf(f.Before)
		case FactSavepoint:
			p.Last = sideOf(f.Before)
		case FactJob:
			p.State, p.NewJobID = f.Source, sideOf(f.After)
		case FactRestoredFrom:
			p.Point = sideOf(f.After)
		}
	}
	if d.Kind == KindSavepoint {
		p.State = stateRunning
	}
	if d.Kind != KindRollback {
		return p
	}
	p.End, p.Jar, p.JarName, p.EntryClass = EndBy(d.Parameters[paramEnd]), d.Parameters[paramJar], d.Parameters[paramJarName], d.Parameters[paramEntryClass]
	p.Arguments, _ = argumentsOf(d.Parameters[paramArguments])      // the kind's rules took it
	p.Parallelism, _ = strconv.Atoi(d.Parameters[paramParallelism]) // likewise
	p.AllowLeft = d.Parameters[paramAllow] == "true"
	return p
}

func sideOf(value *string) string {
	if value == nil {
		return ""
	}
	return *value
}

func sideOrNothing(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// argumentsText writes a program's arguments in the one way that a plan has them.
func argumentsText(arguments []string) string {
	out := []byte{'['}
	for i, a := range arguments {
		if i > 0 {
			out = append(out, ',')
		}
		out = appendText(out, a)
	}
	return string(append(out, ']'))
}

// argumentsOf reads them again.
func argumentsOf(text string) (arguments []string, ok bool) {
	if err := json.Unmarshal([]byte(text), &arguments); err != nil {
		return nil, false
	}
	return arguments, argumentsText(arguments) == text
}

var flinkID = regexp.MustCompile(`^[0-9a-f]{32}$`)

// checkFlink are the rules of these kinds.
func checkFlink(d Document) *inspect.Problem {
	if d.Target.Backend != backendFlink || d.Target.Object != objectJob {
		return refuse("plan-target-unknown", nil, "a plan of the kind %s is for a job of Flink, and this one for %s of %s", d.Kind, quote(d.Target.Object), quote(d.Target.Backend))
	}
	if !flinkID.MatchString(d.Target.ID) && (d.Kind != KindRollback || d.Target.ID != noJob) {
		return refuse("plan-target-unknown", nil, "the plan's job has the id %s, and a job's id has 32 hex digits", quote(d.Target.ID))
	}
	if p := d.hasParameters(parametersOf(d.Kind)); p != nil {
		return p
	}
	p := FlinkPlanOf(d)
	if d.Kind != KindCancel && (p.Trigger != "" || d.Kind != KindRollback) && !flinkID.MatchString(p.Trigger) {
		return refuse("parameter-value", inspect.Named{"parameter": paramTrigger}, "the plan's trigger is %s, and one has 32 hex digits", quote(p.Trigger))
	}
	want := map[string][]string{
		KindSavepoint: {FactSavepoint}, KindStop: {FactJobState, FactSavepoint}, KindCancel: {FactJobState},
		KindRollback: {FactJob, FactRestoredFrom, FactParallelism},
	}[d.Kind]
	if d.Kind == KindRollback && p.Savepoints() {
		want = append(want, FactSavepoint)
	}
	if p := d.hasFacts(want); p != nil {
		return p
	}
	after := func(name, value string) *inspect.Problem {
		for _, f := range d.Facts {
			if f.Name == name && sideOf(f.After) != value {
				return refuse("fact-not-allowed", inspect.Named{"fact": name}, "the plan makes %s of %s, and a plan of the kind %s makes %s of it", textOrNothing(f.After), name, d.Kind, value)
			}
		}
		return nil
	}
	if p.Savepoints() {
		if problem := after(FactSavepoint, newerIn(p.Directory)); problem != nil {
			return problem
		}
	}
	switch d.Kind {
	case KindStop:
		return after(FactJobState, stateFinished)
	case KindCancel:
		return after(FactJobState, stateCanceled)
	case KindRollback:
		return d.checkRollback(p)
	}
	return nil
}

func (d Document) checkRollback(p FlinkPlan) *inspect.Problem {
	value := func(name string) *inspect.Problem {
		return refuse("parameter-value", inspect.Named{"parameter": name}, "the plan's %s is %s, which it can't be", name, quote(d.Parameters[name]))
	}
	_, argumentsFine := argumentsOf(d.Parameters[paramArguments])
	switch {
	case !flinkID.MatchString(p.NewJobID) || p.NewJobID == p.JobID:
		return refuse("fact-not-allowed", inspect.Named{"fact": FactJob}, "the plan starts the job %s, and a new job's id has 32 hex digits and is nobody's yet", quote(p.NewJobID))
	case p.Point == "":
		return refuse("fact-not-allowed", inspect.Named{"fact": FactRestoredFrom}, "the plan names no recovery point")
	case p.Jar == "":
		return value(paramJar)
	case !argumentsFine:
		return value(paramArguments)
	case d.Parameters[paramParallelism] != strconv.Itoa(p.Parallelism) || p.Parallelism < 0:
		return value(paramParallelism)
	case d.Parameters[paramAllow] != strconv.FormatBool(p.AllowLeft):
		return value(paramAllow)
	case p.End != EndByStop && p.End != EndByCancel && p.End != EndByNone,
		p.End == EndByStop && !p.Savepoints(), p.End == EndByNone && p.Savepoints(), p.JobID == "" && p.End != EndByNone:
		return value(paramEnd)
	}
	return nil
}

// hasParameters refuses other parameters than these.
func (d Document) hasParameters(names []string) *inspect.Problem {
	for _, name := range names {
		if _, found := d.Parameters[name]; !found {
			return refuse("parameter-missing", inspect.Named{"parameter": name}, "the plan has no parameter %s", name)
		}
	}
	if len(d.Parameters) > len(names) {
		return refuse("parameter-unknown", nil, "a plan of the kind %s has the parameters %s and no other", d.Kind, orNone(names))
	}
	return nil
}

// hasFacts refuses other facts than these, in this order.
func (d Document) hasFacts(names []string) *inspect.Problem {
	var have []string
	for _, f := range d.Facts {
		have = append(have, f.Name)
	}
	if strings.Join(have, ",") != strings.Join(names, ",") {
		return refuse("fact-not-allowed", nil, "the plan has the facts %s, and one of its kind %s", quote(strings.Join(have, ", ")), strings.Join(names, ", "))
	}
	return nil
}

func orNone(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}
