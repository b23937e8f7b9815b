package actions

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"

	"github.com/recoverctl/recoverctl/inspect"
)

// DocumentReport says to people what a plan of recoverctl.plan/v1 does. It is
// made by the kind's own function and changed by nobody: an approval is bound to
// its hash.
type DocumentReport struct {
	PlanID  string             `json:"planId"`
	Kind    string             `json:"kind"`
	Target  inspect.PlanTarget `json:"target"`
	At      time.Time          `json:"at"`      // when the facts were read
	Verdict Outcome            `json:"verdict"` // what has become of the plan by then
	Facts   []FactVerdict      `json:"facts"`

	Does     []string `json:"does"`     // what applying it changes, a sentence each
	Stays    []string `json:"stays"`    // what it does not change
	NotKnown []string `json:"notKnown"` // what nobody can know from here
	Notes    []string `json:"notes"`

	// NextStart is what the next start of the target does once the plan is applied;
	// empty for kinds that change nothing about that.
	NextStart string `json:"nextStart,omitempty"`

	Warnings []Warning `json:"warnings"`

	// Open are the requests to the same target that the journal of this machine left
	// open when the report was made, of kinds that ask for that.
	Open []OpenRequest `json:"openRequests,omitempty"`

	// Refused is why an apply would be refused as things are; nil where nothing
	// that was read refuses it.
	Refused *Refusal `json:"refused"`
}

// About is the id of the plan that the report is about.
func (r DocumentReport) About() string { return r.PlanID }

// Raised are the report's warnings.
func (r DocumentReport) Raised() []Warning { return r.Warnings }

// enter has nothing to add: facts and next start, as re-read, are the verdict's.
func (r DocumentReport) enter(*Receipt) {}

// Hash is the SHA-256, in hex, over every fact of the report but the time at
// which they were read.
func (r DocumentReport) Hash() string {
	r.At = time.Time{}
	data, err := json.Marshal(r)
	if err != nil {
		return "" // no approval is bound to an empty hash
	}
	sum := sha256.Sum256(append([]byte("recoverctl document report 1\n"), data...))
	return hex.EncodeToString(sum[:])
}

// DocumentReview is what a plan file of recoverctl.plan/v1 says and how it stands
// today. It has the fields of a PlanReview, those of a cleanup alone empty.
type DocumentReview struct {
	PlanID   string             `json:"planId"`
	Valid    bool               `json:"valid"`
	Problem  *inspect.Problem   `json:"problem"`
	Kind     string             `json:"kind"`
	Target   inspect.PlanTarget `json:"target"`
	Facts    []Fact             `json:"facts"` // as planned; the report has them as they are now
	Drift    []Drift            `json:"drift"`
	Survives []PointFate        `json:"survives"`
	Lost     []PointFate        `json:"lost"`
	Searched []Searched         `json:"searched"`
	Report   *DocumentReport    `json:"report"` // nil: nothing was read, or the plan is not valid
}

// ReviewDocument reads a plan file and, where there is a report, says what has
// changed. Report makes it from the plan; nil: nothing was read.
func ReviewDocument(data []byte, report func(Document) DocumentReport) DocumentReview {
	r := DocumentReview{Facts: []Fact{}, Drift: []Drift{}, Survives: []PointFate{}, Lost: []PointFate{}, Searched: []Searched{}}
	d, p := ParseDocument(data)
	if p != nil {
		r.Problem = p
		return r
	}
	r.Valid, r.PlanID, r.Kind, r.Target, r.Facts = true, d.PlanID, d.Kind, d.Target, d.Facts
	if report == nil {
		return r
	}
	made := report(d)
	r.Report, r.Drift = &made, made.drift()
	return r
}

// drift is what is not as the plan found it. A fact that is as planned already is
// allowed drift: there is nothing left to do for it.
func (r DocumentReport) drift() []Drift {
	out := []Drift{}
	if r.Refused != nil && r.Refused.Stage == StageIdentity {
		found := r.Refused.Problem.Named["found"]
		out = append(out, Drift{Field: r.Refused.Problem.Code, Planned: r.Target.Name, Now: found, Message: r.Refused.Problem.Message})
	}
	for _, f := range r.Facts {
		d := Drift{Field: f.Name, Planned: textOf(f.Before), Now: textOf(f.Now)}
		switch f.State {
		case FactPlanned:
			d.Allowed, d.Message = true, "it is as the plan makes it already"
		case FactOther:
			d.Message = "it is neither what the plan found nor what it makes of it: somebody changed it"
		default:
			continue
		}
		out = append(out, d)
	}
	return out
}
