package inspect

import (
	"context"
	"time"
)

// CallState is what is known of a durable call from the whole history of its
// action on the topic, and not from the last record alone.
type CallState string

// The states of a call. Overwritten: it was PENDING, and a later record of the
// same key lost it, perhaps while the call was still out. Unmatched: its action
// id belongs to a JVM that has ended, so that no restore matches it any more.
const (
	CallPending     CallState = "pending"
	CallOverwritten CallState = "overwritten"
	CallSaved       CallState = "saved" // its result or failure is on record, and the action is open
	CallUnmatched   CallState = "unmatched"
)

// CallOutcome is what a restore from one recovery point does to a call.
type CallOutcome string

// The outcomes. Unknown is said where what the outcome depends on could not be
// read or is not known; it is never a milder word for another one.
const (
	CallReused     CallOutcome = "reused"     // the saved result is replayed and matched
	CallReconciler CallOutcome = "reconciler" // PENDING inside the window: the job's reconciler is asked
	CallRunsAgain  CallOutcome = "runs-again"
	CallUnknown    CallOutcome = "unknown"
)

// RecordPosition is where a record lies.
type RecordPosition struct {
	Partition int32 `json:"partition"`
	Offset    int64 `json:"offset"`
}

// PointOutcome is the outcome of a restore from one recovery point. Why says it
// in one sentence with the numbers that decide.
type PointOutcome struct {
	Point   string      `json:"point"`
	Outcome CallOutcome `json:"outcome"`
	Why     string      `json:"why"`
}

// Call is one durable call of an action, by its place in the action's order.
type Call struct {
	Index      int    `json:"index"`
	FunctionID string `json:"functionId"`
	ArgsDigest string `json:"argsDigest"`
	// Status is the record's own word: PENDING, SUCCEEDED, FAILED, or a word that
	// no known version writes. Nil where the record has none, as in release 0.2.
	Status *string   `json:"status"`
	State  CallState `json:"state"`

	ResultBytes    *int64 `json:"resultBytes"`    // decoded size of the result; nil: there is none
	ExceptionBytes *int64 `json:"exceptionBytes"` // of the failure

	Seen RecordPosition `json:"seen"` // the record that shows the call last
	// Lost is the first later record of the key without the call: of an overwritten
	// one, of a saved one whose result is lost, and of one that came back since.
	Lost *RecordPosition `json:"lost"`

	Outcomes []PointOutcome `json:"outcomes"`
}

// CallKey is the business key of an action. Text is nil where only the digest is
// on the topic and no dictionary knows it; Digest is empty in generations 1 and 2.
type CallKey struct {
	Text   *string `json:"text"`
	Digest string  `json:"digest"`
	// TextBase64 is the text's bytes where they are not UTF-8; Text then shows them
	// with replacement characters.
	TextBase64 string `json:"textBase64,omitempty"`
}

// ActionCalls is one action as the topic tells it, with its durable calls.
type ActionCalls struct {
	Key        CallKey       `json:"key"`
	Generation KeyGeneration `json:"generation"`
	KeyGroup   *int32        `json:"keyGroup"` // nil in generation 1
	Sequence   int64         `json:"sequence"`
	EventUUID  string        `json:"eventUuid"`
	ActionUUID string        `json:"actionUuid"`
	EventType  string        `json:"eventType"` // empty where the record names none

	// Partition, Offset and Timestamp are of the last record of the key.
	Partition int32     `json:"partition"`
	Offset    int64     `json:"offset"`
	Timestamp time.Time `json:"timestamp"`
	First     int64     `json:"first"`     // offset of its first record since it last began
	Records   int64     `json:"records"`   // of the key since then, as far as they are still on the topic
	Elsewhere *int32    `json:"elsewhere"` // the partition that the key computes to, where that is another one

	Completed bool            `json:"completed"`
	Unmatched bool            `json:"unmatched"` // by its id; see CallUnmatched
	Newer     *RecordPosition `json:"newer"`     // unmatched: the first record, on the key's partition, of the id that replaced it

	// Tombstone is the null record that removed the action with calls on record,
	// and Unreadable the last record of its key with a value that can't be read.
	Tombstone  *RecordPosition `json:"tombstone"`
	Unreadable *RecordPosition `json:"unreadable"`
	// Repeated is the longest run of equal records of the key, in its order; 1: no
	// record equals the one before it.
	Repeated int64 `json:"repeated"`

	// Calls are those of the last record in its order, and then those that an
	// earlier one had. Of a completed action they are what its records showed before
	// the last one emptied the list.
	Calls []Call `json:"calls"`
	// Outcomes of the action: the worst of its calls. One that is open without a call
	// on record is unknown. A recovery point that a completed action lies before has
	// no entry: nothing happens to it.
	Outcomes []PointOutcome `json:"outcomes"`
}

// ScanExtent is what a scan has read. From and To are per partition: the first
// offset asked for, and the end that was captured first.
type ScanExtent struct {
	Records int64   `json:"records"`
	Bytes   int64   `json:"bytes"` // of keys and values
	From    Offsets `json:"from"`
	To      Offsets `json:"to"`
	Read    Offsets `json:"read"`    // the offset that each partition was read to
	Partial bool    `json:"partial"` // not all of it was read: the faults say why

	// What else the offsets hold. A restore reads the records of aborted and of open
	// transactions like any others.
	Control int64 `json:"control"` // markers of transactions
	Aborted int64 `json:"aborted"` // records of aborted transactions
	Open    int64 `json:"open"`    // records of transactions that had not ended
	Gaps    int64 `json:"gaps"`    // offsets that hold nothing any more: compaction
}

// DurableCalls answers which external calls may have happened without anyone
// knowing.
type DurableCalls struct {
	Scanned ScanExtent    `json:"scanned"`
	Actions []ActionCalls `json:"actions"` // open ones; with CallQuestion.All or Keys completed ones too
	// Siblings are completed actions of a sequence that is still open: "completed"
	// alone never makes a record disposable.
	Siblings []ActionCalls `json:"siblings"`
	// Removed are completed actions inside the window of a point that a tombstone
	// inside it makes run again; bounded.
	Removed        []ActionCalls `json:"removed"`
	Unattributable int64         `json:"unattributable"` // records whose key is of no known layout
	UnknownKeys    []RawKey      `json:"unknownKeys"`    // the first of those
	Generations    [4]int64      `json:"-"`              // records by KeyGeneration
	Tombstones     int64         `json:"tombstones"`
	Unreadable     int64         `json:"unreadable"` // records whose value is no action state
	Counts         PendingCalls  `json:"pendingCalls"`
	Points         []PointCalls  `json:"points"`
	Findings       []Finding     `json:"findings"`
}

// RawKey is a record key that fits no known layout, as text that is safe to
// print and, where it is not UTF-8, as bytes.
type RawKey struct {
	RecordPosition
	Key       *string `json:"key"` // nil: a null key
	KeyBase64 string  `json:"keyBase64,omitempty"`
}

// PointCalls counts what a restore from one recovery point does to the calls at
// risk. Later is the same after the open plan; nil where none was given: what
// the plan deletes is then seen by no restore.
//
// RunsAgain counts calls of completed actions too, as far as records still show
// them: those inside the window that a tombstone removed, and in generations 1
// and 2 all inside the window, because a new JVM matches none of them. Completed
// says how many these are. Of Hidden completed actions, which a restore processes
// again too, no record shows any more which calls they made: compaction and deletion
// leave the last record alone.
type PointCalls struct {
	Point     string      `json:"point"`
	Calls     CallCounts  `json:"calls"`
	Later     *CallCounts `json:"later"`
	Completed int64       `json:"completed"`
	Hidden    int64       `json:"hidden"`    // actions
	Rewritten *Rewritten  `json:"rewritten"` // by a store that writes its states anew; nil: it is none
}

// PointMarker is a recovery point as far as outcomes depend on it. Offsets are
// the merged marker; nil where it could not be read, and then every outcome is
// unknown and Why says why.
type PointMarker struct {
	Point   string
	Offsets Offsets
	// Last is where the last of several agent operators begins to read: each restores
	// its own markers, and no record says which operator wrote it. Nil: there is one.
	Last Offsets
	Why  string
}

// CallQuestion is what a scan is to find out. It is answered in one pass, with a
// second one over the actions that the first leaves open.
type CallQuestion struct {
	Job    Job
	From   Offsets       // nil: from each log start
	Points []PointMarker // for outcomes
	Plan   Offsets       // targets of an open cleanup plan; nil: none

	// All lists completed actions too, those of Keys where that is not empty.
	// Memory then grows with what is listed.
	All    bool
	Keys   []CallKey // only actions of these keys; empty: of all
	Prefix string    // only actions whose key text begins so

	Dictionary KeyDictionary // nil: none

	// Final asks for CallUpdate.Final. Memory then holds what was told twice until
	// the watcher has it.
	Final bool
}

// KeyDictionary finds the text of a key by the digest that stands in a record.
type KeyDictionary interface {
	// KeyText returns the key behind a digest of 44 base64 characters.
	KeyText(digest string) (text string, known bool)
}

// CallProgress is how far a scan has come. Pass is 1 or 2.
type CallProgress struct {
	Pass    int
	Records int64
	Bytes   int64
	Span    int64 // offsets that were passed …
	Total   int64 // … of those that there are
	Open    int64 // actions that are open so far
}

// CallUpdate tells what became known since the last one: at most ten a second.
// Actions are as they stand so far: whether one is unmatched, and its outcomes,
// is known at the end only.
type CallUpdate struct {
	Progress CallProgress
	Changed  []ActionCalls    // open actions, new or changed
	Closed   []RecordPosition // first positions of actions that were given in Changed and have ended since

	// Final are actions as they will be in the answer, with their outcomes; see
	// [CallScan.Final]. What the answer has beside them became final with its end.
	Final DurableCalls
}

// CallReader is a LogStore that can also read a whole topic for its durable
// calls.
type CallReader interface {
	// ReadCalls reads the topic that was described before, from the question's
	// start to the log ends of the description. The answer is what was read, also
	// beside an error, and is then marked partial: an error names the partitions,
	// errors.Join of several. watch may be nil.
	ReadCalls(ctx context.Context, topic DataTopic, q CallQuestion, watch func(CallUpdate)) (DurableCalls, error)
}
