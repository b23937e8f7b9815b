package actions

import (
	"github.com/recoverctl/recoverctl/inspect"
)

// Plan is a plan of any kind, as an approval, a run, its journal and its receipt
// see it. A cleanup's is inspect.CleanupPlan.
type Plan interface {
	Subject() inspect.PlanSubject
}

// Account is a report on a plan of any kind, as an approval and a run see it: it
// says to people what the plan does. A cleanup's is Report. Accounts are made in
// this package only, by pure functions over what was read.
type Account interface {
	// Hash is the SHA-256, in hex, over every fact of the report but the times at
	// which things were read. An approval is bound to it; empty: to none.
	Hash() string

	// About is the id of the plan that the report is about.
	About() string

	// Raised are the warnings that have to be accepted by name.
	Raised() []Warning

	// enter writes into a receipt what the report says of the costs.
	enter(*Receipt)
}

// FactState is where one fact of a plan stands.
type FactState string

// The states of a fact.
const (
	FactBefore  FactState = "before"  // as the plan found it
	FactPlanned FactState = "planned" // as the plan wants it
	FactOther   FactState = "other"   // neither: somebody else changed it
	FactUnread  FactState = "unread"
)

// FactVerdict is one fact that a plan changes, as re-read. A nil text is that
// there is nothing: no value, or none that could be read.
type FactVerdict struct {
	Name         string    `json:"name"`
	Before       *string   `json:"before"`
	BeforeSource string    `json:"beforeSource"` // where it came from, in the backend's word; may be empty
	After        *string   `json:"after"`
	Now          *string   `json:"now"`
	NowSource    string    `json:"nowSource"`
	State        FactState `json:"state"`
}

// subjectOf is what a plan is about; of no plan, nothing.
func subjectOf(p Plan) inspect.PlanSubject {
	if p == nil {
		return inspect.PlanSubject{}
	}
	return p.Subject()
}

// hashOf is the hash of a report; of none, the empty one that nothing is bound
// to.
func hashOf(a Account) string {
	if a == nil {
		return ""
	}
	return a.Hash()
}
