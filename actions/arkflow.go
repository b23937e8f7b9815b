package actions

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/inspect/arkflow"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

// The kinds of plan that change what a job or a stream of ArkFlow does.
const (
	KindArkFlowCheckpoint = "arkflow-checkpoint"     // begin one, and follow it
	KindArkFlowSavepoint  = "arkflow-savepoint"      // the same for a savepoint
	KindArkFlowRollback   = "arkflow-rollback"       // stop the job, make it a lower version, start it
	KindArkFlowPause      = "arkflow-upgrade-pause"  // hold the upgrade that a hub carries out
	KindArkFlowResume     = "arkflow-upgrade-resume" // let it go on
	KindArkFlowCancel     = "arkflow-upgrade-cancel" // end it where it is
	KindArkFlowRestart    = "arkflow-stream-restart" // stop and start a stream
)

const backendArkFlow = "arkflow"

// The names of facts of these kinds, beside those of a Flink job.
const (
	FactRound        = "round"
	FactVersion      = "version"
	FactFormat       = "state-format"
	FactUpgradePhase = "upgrade-phase"
	FactRun          = "run"
)

const (
	paramGeneration = "generation" // of the job, as the plan found it
	paramStore      = "store"      // where the checkpoint store is read; empty: where the job says
	newerRound      = "a newer one"
	arkRunning      = "running"
	arkStopped      = "stopped"
	arkCompleted    = "completed"

	// The source of the state, where what was wanted is not what was observed: of a job
	// that failed it is what is wanted that a stop changes.
	wantedRunning = "wanted running"
	wantedStopped = "wanted stopped"
)

// ArkFlowEvidence is all that a plan about a job or a stream of ArkFlow is judged
// by.
type ArkFlowEvidence struct {
	At  time.Time
	Err error // nothing could be said: job and stream are nil then

	// Configured is the address of the hub that was to be asked; the one that answered is
	// its leader, where it is a standby. Empty: it is not known.
	Configured string

	Job     *arkflow.JobDetail
	Upgrade *arkflow.UpgradeState // that the plan is about; nil: the hub does not know it, or it is about none
	// UpgradeErr is why the upgrade could not be read; nil where it was, or the hub says
	// that it knows none.
	UpgradeErr error
	Stream     *arkflow.StreamDetail // of a plan about a stream

	// Of the journal of this machine.
	Unsettled  []OpenRequest // requests to the same job or stream whose outcome is not known
	JournalErr error         // it could not be read, or not all of it
	// Runs: it has a run of the plan; nil: it was not asked, or could not be read.
	Runs *bool
}

// Asked reports whether the hub said anything at all.
func (e ArkFlowEvidence) Asked() bool { return e.Job != nil || e.Stream != nil }

// Hub is who answered; the zero HubState where nobody did.
func (e ArkFlowEvidence) Hub() arkflow.HubState {
	switch {
	case e.Stream != nil:
		return e.Stream.Hub
	case e.Job != nil:
		return e.Job.Hub
	}
	return arkflow.HubState{}
}

// System is the address by which the hub is known: the configured one, which stays
// where its leader changes.
func (e ArkFlowEvidence) System() string {
	if e.Configured != "" {
		return e.Configured
	}
	return e.Hub().Address
}

// otherHub says that a plan was made with another hub than the one that was asked, as
// far as addresses tell; empty where it was not.
func (e ArkFlowEvidence) otherHub(d Document) string {
	was := d.Target.Cluster
	if was == e.System() || was == e.Hub().Address {
		return ""
	}
	return fmt.Sprintf("the hub asked is %s, and the plan was made with %s: hubs have no id by which it could be told whether the two are one", safetext.Of(e.System()), safetext.Of(was))
}

// ArkFlowPlan is what a plan of these kinds says.
type ArkFlowPlan struct {
	Kind       string
	JobID      string
	Generation uint64
	Store      string
	Round      string // the newest round of the kind that the plan found; empty: none

	// Of a rollback.
	State   string // of the job, as the plan found it
	Stops   bool   // it was wanted running, so that the plan stops it first
	From    uint64
	Version uint64
	Point   string // that a start of the version restores

	// Of an upgrade.
	Upgrade string
	Phase   string // as the plan found it
	Then    string // as it makes it
	// PausedFrom is, of a cancel, the phase in which the plan found it paused; empty: it
	// was not, or that is not exposed.
	PausedFrom string

	// Of a stream.
	Node, Stream string
	Key          string // the request's idempotency key, and the id of its action
	Run          string // as the plan found it; empty: none
}

// ArkFlowKind reports whether a kind is one of these.
func ArkFlowKind(kind string) bool {
	switch kind {
	case KindArkFlowCheckpoint, KindArkFlowSavepoint, KindArkFlowRollback, KindArkFlowRestart:
		return true
	}
	return upgradeActions[kind] != ""
}

// RoundKind is the kind of round that the plan begins; empty: none.
func (p ArkFlowPlan) RoundKind() inspect.PointKind {
	switch p.Kind {
	case KindArkFlowCheckpoint:
		return inspect.KindCheckpoint
	case KindArkFlowSavepoint:
		return inspect.KindSavepoint
	}
	return ""
}

// ArkFlowPlanOf is what a document of these kinds says. The document is valid.
func ArkFlowPlanOf(d Document) ArkFlowPlan {
	p := ArkFlowPlan{
		Kind: d.Kind, JobID: d.Target.ID, Store: d.Parameters[paramStore], Upgrade: d.Parameters[paramUpgrade],
		Node: d.Parameters[paramNode], Stream: d.Parameters[paramStream], Key: d.Parameters[paramKey],
	}
	p.Generation, _ = strconv.ParseUint(d.Parameters[paramGeneration], 10, 64) // the kind's rules took it
	for _, f := range d.Facts {
		switch f.Name {
		case FactRound:
			p.Round = sideOf(f.Before)
		case FactJobState:
			p.State = sideOf(f.Before)
			p.Stops = f.Source == wantedRunning || f.Source == "" && p.State == arkRunning
		case FactVersion:
			p.From, _ = strconv.ParseUint(sideOf(f.Before), 10, 64)   // likewise
			p.Version, _ = strconv.ParseUint(sideOf(f.After), 10, 64) // likewise
		case FactRestoredFrom:
			p.Point = sideOf(f.After)
		case FactUpgradePhase:
			p.Phase, p.Then, p.PausedFrom = sideOf(f.Before), sideOf(f.After), f.Source
		case FactRun:
			p.Run = sideOf(f.Before)
		}
	}
	return p
}

// checkArkFlow are the rules of these kinds.
func checkArkFlow(d Document) *inspect.Problem {
	if d.Kind == KindArkFlowRestart {
		return checkArkFlowRestart(d)
	}
	if d.Target.Backend != backendArkFlow || d.Target.Object != objectJob || d.Target.ID == "" {
		return refuse("plan-target-unknown", nil, "a plan of the kind %s is for a job of ArkFlow, and this one for %s of %s", d.Kind, quote(d.Target.Object), quote(d.Target.Backend))
	}
	parameters, want := []string{paramGeneration, paramStore}, []string{FactRound}
	switch {
	case d.Kind == KindArkFlowRollback:
		want = []string{FactJobState, FactVersion, FactFormat, FactRestoredFrom}
	case upgradeActions[d.Kind] != "":
		parameters, want = append(parameters, paramUpgrade), []string{FactUpgradePhase}
	}
	if p := d.hasParameters(parameters); p != nil {
		return p
	}
	if p := d.hasFacts(want); p != nil {
		return p
	}
	p := ArkFlowPlanOf(d)
	after := map[string]string{FactRound: newerRound, FactJobState: arkRunning}
	for _, f := range d.Facts {
		if f.Name == FactJobState && f.Source != "" && f.Source != wantedRunning && f.Source != wantedStopped {
			return refuse("fact-not-allowed", inspect.Named{"fact": f.Name}, "the plan says of the job's state that it was %s, and it is %s or %s, or nothing", quote(f.Source), wantedRunning, wantedStopped)
		}
		if text, fixed := after[f.Name]; fixed && sideOf(f.After) != text {
			return refuse("fact-not-allowed", inspect.Named{"fact": f.Name}, "the plan makes %s of %s, and a plan of the kind %s makes %s of it", textOrNothing(f.After), f.Name, d.Kind, text)
		}
	}
	switch {
	case d.Parameters[paramGeneration] != strconv.FormatUint(p.Generation, 10):
		return refuse("parameter-value", inspect.Named{"parameter": paramGeneration}, "the plan's generation is %s, which is no number", quote(d.Parameters[paramGeneration]))
	case d.Kind == KindArkFlowRollback && (p.Version == 0 || p.Version >= p.From):
		return refuse("fact-not-allowed", inspect.Named{"fact": FactVersion}, "the plan goes from version %d to %d, and a rollback goes to a lower one", p.From, p.Version)
	case d.Kind == KindArkFlowRollback && p.Point == "":
		return refuse("fact-not-allowed", inspect.Named{"fact": FactRestoredFrom}, "the plan names no recovery point")
	}
	return checkUpgradeFacts(p)
}

// ArkFlowRoundFrom makes a plan that begins a checkpoint or a savepoint. A job that
// does not run is refused: the hub takes the trigger, and the round stays pending
// for ever.
func ArkFlowRoundFrom(kind string, e ArkFlowEvidence, store string) (Document, *inspect.Problem) {
	if p := e.known(); p != nil {
		return Document{}, p
	}
	if p := e.mustRun(); p != nil {
		return Document{}, p
	}
	if p := e.held(); p != nil {
		return Document{}, p
	}
	if p := e.roundsRead(); p != nil {
		return Document{}, p
	}
	newest := e.newestRound(ArkFlowPlan{Kind: kind}.RoundKind())
	after := newerRound
	return newDocument(kind, e.target(), []Fact{{Name: FactRound, Before: sideOrNothing(newest), After: &after}}, e.parameters(store))
}

// ArkFlowRollbackFrom makes a plan that takes a job back to a lower version. It is
// refused where nothing can be restored into that version, though the hub's route
// would accept it: the job would begin cold and be called converged.
func ArkFlowRollbackFrom(e ArkFlowEvidence, version uint64, store string) (Document, *inspect.Problem) {
	if p := e.known(); p != nil {
		return Document{}, p
	}
	if p := e.held(); p != nil {
		return Document{}, p
	}
	if e.Job.Job.Version == nil || e.Job.Job.Observed == nil || e.Job.Job.Desired == nil || e.Job.Job.Generation == nil {
		return Document{}, refuse("not-exposed", nil, "the hub does not expose the job's version, state, wanted state and generation")
	}
	if p := e.roundsRead(); p != nil {
		return Document{}, p
	}
	if p := e.versionsRead(); p != nil {
		return Document{}, p
	}
	current := *e.Job.Job.Version
	lower := slices.DeleteFunc(slices.Clone(e.Job.Versions), func(v arkflow.VersionState) bool { return v.Version >= current })
	if len(lower) == 0 {
		return Document{}, refuse("no-previous-job-version", nil, "version %d of job %s is the lowest on record: there is nothing to go back to", current, safetext.Of(e.Job.Job.ID))
	}
	slices.SortFunc(lower, func(a, b arkflow.VersionState) int { return int(b.Version) - int(a.Version) })
	if version == 0 {
		version = lower[0].Version
	}
	at := slices.IndexFunc(lower, func(v arkflow.VersionState) bool { return v.Version == version })
	switch {
	case at < 0:
		return Document{}, refuse("no-previous-job-version", nil, "job %s has no version %d below %d on record", safetext.Of(e.Job.Job.ID), version, current)
	case at > 0 && !e.Job.Hub.Generation.KeepsUpgrades():
		return Document{}, refuse("version-not-next", inspect.Named{"next": lower[0].Version},
			"this hub goes back to version %d whatever is named: go there first, then make another plan", lower[0].Version)
	}
	target := lower[at]
	if problem := notRestorable(target); problem != nil {
		return Document{}, problem
	}
	running := arkRunning
	from, to := strconv.FormatUint(current, 10), strconv.FormatUint(version, 10)
	facts := []Fact{
		{Name: FactJobState, Before: e.Job.Job.Observed, Source: wanted(*e.Job.Job.Observed, *e.Job.Job.Desired), After: &running},
		{Name: FactVersion, Before: &from, After: &to},
		{Name: FactFormat, Before: formatOf(e.Job.Versions, current), After: formatOf(e.Job.Versions, version)},
		{Name: FactRestoredFrom, After: &target.Restorable},
	}
	return newDocument(KindArkFlowRollback, e.target(), facts, e.parameters(store))
}

// wanted is what was wanted of a job, where its observed state alone does not say
// whether it has to be stopped; else empty.
func wanted(observed, desired string) string {
	switch {
	case desired == arkRunning && observed != arkRunning:
		return wantedRunning
	case desired != arkRunning && observed == arkRunning:
		return wantedStopped
	}
	return ""
}

// notRestorable refuses a version that a start would begin cold in, or of which
// that is not known.
func notRestorable(v arkflow.VersionState) *inspect.Problem {
	switch {
	case !v.Selection.Known:
		return refuse("restore-unknown", nil, "what a start of version %d would restore is not known: %s", v.Version, safetext.Of(v.Selection.Why))
	case v.Restorable == "":
		return refuse("nothing-restorable", nil, "a start of version %d would restore nothing: %s", v.Version, safetext.Of(v.Selection.Why))
	case v.Selection.Better != "":
		return refuse("point-not-whole", inspect.Named{"better": v.Selection.Better},
			"a start of version %d would restore %s, of which a part is missing; %s is whole, and nobody can choose it", v.Version, quote(v.Restorable), quote(v.Selection.Better))
	}
	return nil
}

func formatOf(versions []arkflow.VersionState, version uint64) *string {
	for _, v := range versions {
		if v.Version == version && v.FormatVersion != nil {
			text := strconv.FormatUint(*v.FormatVersion, 10)
			return &text
		}
	}
	return nil
}

func (e ArkFlowEvidence) known() *inspect.Problem {
	if e.Job == nil {
		return refuse("job-unknown", nil, "the hub could not be asked about the job: %s", safetext.Error(e.Err))
	}
	return nil
}

// roundsRead refuses where the rounds on record could not be read: a round that is
// there would pass for none, and an older one for the plan's.
func (e ArkFlowEvidence) roundsRead() *inspect.Problem {
	if !e.Job.RoundsUnread {
		return nil
	}
	return refuse("rounds-unread", nil, "the checkpoints and savepoints that the hub has of job %s could not be read: %s", safetext.Of(e.Job.Job.ID), e.unread())
}

func (e ArkFlowEvidence) versionsRead() *inspect.Problem {
	if !e.Job.VersionsUnread {
		return nil
	}
	return refuse("versions-unread", nil, "the versions that the hub has of job %s could not be read: %s", safetext.Of(e.Job.Job.ID), e.unread())
}

func (e ArkFlowEvidence) mustRun() *inspect.Problem {
	j := e.Job.Job
	if sideOf(j.Observed) == arkRunning && sideOf(j.Desired) == arkRunning {
		return nil
	}
	return refuse("job-state", nil, "job %s is %s, wanted %s: a round of it would stay pending for ever", safetext.Of(j.ID), safetext.Of(sideOf(j.Observed)), safetext.Of(sideOf(j.Desired)))
}

// held refuses while an upgrade has the job.
func (e ArkFlowEvidence) held() *inspect.Problem {
	if e.Job.Job.ActiveUpdate == nil {
		return nil
	}
	return refuse("orchestration-in-progress", nil, "an upgrade holds the job (%s): pause, cancel or roll it back first", safetext.Of(*e.Job.Job.ActiveUpdate))
}

func (e ArkFlowEvidence) target() inspect.PlanTarget {
	return inspect.PlanTarget{Backend: backendArkFlow, Cluster: e.System(), Object: objectJob, Name: e.Job.Job.ID, ID: e.Job.Job.ID}
}

func (e ArkFlowEvidence) parameters(store string) map[string]string {
	generation := uint64(0)
	if e.Job.Job.Generation != nil {
		generation = *e.Job.Job.Generation
	}
	return map[string]string{paramGeneration: strconv.FormatUint(generation, 10), paramStore: store}
}

// byHand is the name of a round that somebody began; those that are due by time
// hold the job's name.
var byHand = regexp.MustCompile(`^(checkpoint|savepoint)-\d+-\d+$`)

// newestRound is the newest round of a kind that somebody began; empty: none.
func (e ArkFlowEvidence) newestRound(kind inspect.PointKind) string {
	if p := e.roundAfter(kind, ""); p != nil {
		return p.ID
	}
	return ""
}

// roundAfter is the newest round of a kind that somebody began after another; nil:
// there is none. The other may have been dropped since.
func (e ArkFlowEvidence) roundAfter(kind inspect.PointKind, other string) *arkflow.Point {
	for i, p := range e.Job.Points.Points { // the newest first
		if p.Kind != kind || p.Status == "" || !byHand.MatchString(p.ID) {
			continue
		}
		if p.ID == other {
			return nil
		}
		return &e.Job.Points.Points[i]
	}
	return nil
}
