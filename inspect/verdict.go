package inspect

import "time"

// Verdict answers "would a restore from here be accepted".
type Verdict string

// The verdicts. Unknown means that no rule refused and that some rule could not
// be asked: it is never a milder word for accepted.
const (
	Accepted Verdict = "accepted"
	Rejected Verdict = "rejected"
	Unknown  Verdict = "unknown"
)

// RuleResult is what one rule said. Rules after the first failing one were not
// reached by the real code: they say what they would have said.
type RuleResult string

// The results of rules.
const (
	Passed     RuleResult = "passed"
	Failed     RuleResult = "failed"
	WouldPass  RuleResult = "would-pass"
	WouldFail  RuleResult = "would-fail"
	NotChecked RuleResult = "not-checked"
)

// Rule is one check of a restore, in the order of the real code. Code is the
// reason word of its refusal; Title names it on a screen; Message is the
// evidence, or why it was not checked.
type Rule struct {
	Code    string     `json:"code"`
	Title   string     `json:"title"`
	Result  RuleResult `json:"result"`
	Message string     `json:"message"`
}

// Window is what a restore would read again on one partition: From is the
// merged marker, To the log end as captured.
type Window struct {
	Partition int32 `json:"partition"`
	From      int64 `json:"from"`
	To        int64 `json:"to"`
}

// RuntimeOutcome is what a release really does with a restore.
type RuntimeOutcome string

// The outcomes. SkipsSilently: the job starts, and replays from elsewhere or not
// at all, without a word. Unknown: what the outcome depends on could not be read.
const (
	ReleaseAccepts        RuntimeOutcome = "accepts"
	ReleaseRejects        RuntimeOutcome = "rejects"
	ReleaseSkipsSilently  RuntimeOutcome = "skips-silently"
	ReleaseOutcomeUnknown RuntimeOutcome = "unknown"
)

// Runtime says what one release does with this restore.
type Runtime struct {
	Release Release        `json:"release"`
	Outcome RuntimeOutcome `json:"outcome"`
	Message string         `json:"message"`
}

// CallCounts are durable calls by what a restore does to them.
type CallCounts struct {
	Reused     int64 `json:"reused"`
	Reconciler int64 `json:"reconciler"`
	RunsAgain  int64 `json:"runsAgain"`
	Unknown    int64 `json:"unknown"`
}

// Nearby is an accepted recovery point near a refused one.
type Nearby struct {
	URI   string    `json:"uri"`
	Kind  PointKind `json:"kind"`
	Taken Taken     `json:"taken"`
	Span  int64     `json:"span"` // offset span that a restore from it reads again

	RunsAgain *int64 `json:"runsAgain"` // calls; nil until scanned
}

// RestoreValidation answers whether a restore from one recovery point would be
// accepted. Reasons[0] is the first failing check in the real code's order.
// Calls is nil until the topic was scanned, and where the restore is rejected.
type RestoreValidation struct {
	Point     string      `json:"point"`
	Verdict   Verdict     `json:"verdict"`
	Reasons   []Reason    `json:"reasons"`
	Rules     []Rule      `json:"rules"`
	Window    []Window    `json:"window"`
	Runtime   []Runtime   `json:"runtime"`
	Unchecked []string    `json:"unchecked"`
	Calls     *CallCounts `json:"calls"`
	Replayed  *Replayed   `json:"replayed"` // nil until the records of the window were read
	Notes     []string    `json:"notes"`    // what follows from the verdict, a sentence each
	Older     *Nearby     `json:"older"`    // nearest accepted older point, nil when none is known
	Newer     *Nearby     `json:"newer"`    // nearest accepted newer point, nil when none is known
	Assumed   []string    `json:"assumed"`  // settings taken from the profile or flags, not read anywhere

	Next []NextStep `json:"next"` // in this order

	Marker PointMarker `json:"-"`     // what a scan for calls has to know of the point
	Later  *Later      `json:"later"` // once a plan is applied; nil when none was given
}

// RestoreQuestion is all evidence that the rules of a restore look at. What
// could not be read is an error beside an empty value; it makes its rules
// not-checked and never a pass.
type RestoreQuestion struct {
	Point       string
	Job         Job
	PointChecks []Check // checks of the recovery point's metadata and files; only errors, F6, F10 and M11 are looked at
	PointErr    error   // the recovery point could not be read at all (network, denied, unsupported)
	Markers     []Marker
	Data        DataTopic
	DataErr     error
	Control     ControlTopic // looked at only when the job has a control topic that is not blank
	ControlErr  error

	MarkersOnly bool // the markers came from a file; no recovery point was read

	ReadWindow bool         // the records of the replay window were asked for
	WindowRead *WindowFacts // what they say; nil: not read, or not known which they are
	WindowErr  error        // not all of them could be read

	// Facts for the evidence of rules that pass; the zero values say less.
	MetadataVersion int
	CheckpointID    int64
	Files           Files
	Taken           *time.Time // when the recovery point was taken; nil: not known

	// What Flink's own rules look at.
	Operators    []Operator
	Kind         PointKind
	Format       Format
	RunningFlink string // version of the running job's Flink; empty: not known

	RunningMaxParallelism *int // of the running job's agent operator; nil: not known

	Whole bool // rules of Flink's own that lack the job's side are named too
}
