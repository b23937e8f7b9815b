package actions

import (
	"time"

	"github.com/recoverctl/recoverctl/inspect"
)

// Evidence is all that a plan is judged by, as a backend read it. What could not
// be read is an error beside an empty value: it is never a pass.
type Evidence struct {
	Job inspect.Job
	At  time.Time // when it was read

	// Offline: no cluster was asked, on purpose. Data and Control say nothing then.
	Offline bool

	Data       inspect.DataTopic
	DataErr    error // the topic could not be read; offsets of single partitions have their own errors
	Control    inspect.ControlTopic
	ControlErr error

	// Replication is the factor with which the operator consents to making a
	// missing control topic; nil: no consent.
	Replication *int

	// Own is the plan's own recovery point, read from the address that the plan
	// names; nil where it names none that can be read, as a plan from a file of
	// markers. OwnErr says that there is one and that it could not be read: absent
	// is a fault of kind NotFound.
	Own    *inspect.RecoveryPoint
	OwnErr error

	// Points are all recovery points that were found in the places searched, the
	// pinned ones among them. Own may be one of them.
	Points   []inspect.RecoveryPoint
	Searched []Searched

	// Live is what the job does now; nil where no Flink was asked or none answered.
	Live *inspect.LiveState

	// Calls are the calls that depend on what is deleted; nil: not scanned. CallsErr
	// says that they were to be scanned and that not all of the topic could be.
	Calls    *CallsBefore
	CallsErr error

	// Sample is what a sample read said about the records to be deleted; nil: not
	// sampled.
	Sample *Sample
}

// Sample is what some of the records to be deleted say about all of them.
type Sample struct {
	Bytes  *int64     // about how many; nil: not known
	Oldest *time.Time // of the first record; nil: not known
}

// Searched is a place where recovery points were looked for. Problem says why
// not all that is there is known; empty when it was read whole.
type Searched struct {
	Place   string    `json:"place"`
	At      time.Time `json:"at"`
	Found   int       `json:"found"`
	Problem string    `json:"problem"`
}
