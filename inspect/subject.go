package inspect

// KindCleanup is the kind of plan that CleanupPlan is.
const KindCleanup = "cleanup"

// PlanSubject is what a plan of any kind is about, as an approval, a journal and
// a receipt name it. What a kind of plan does not have is empty.
type PlanSubject struct {
	PlanID  string // 64 lower-case hex digits
	Kind    string // as in KindCleanup
	Target  PlanTarget
	Source  string  // the recovery point that the plan was made from
	Does    string  // what is to be written, in one line; empty where Offsets say it
	Offsets Offsets // up to where, by partition
}

// PlanTarget is the one thing that a plan changes. Its words are the backend's
// own.
type PlanTarget struct {
	Backend string `json:"backend"` // as in "kafka"
	Cluster string `json:"cluster"` // the cluster's id; empty in a cleanup plan, which names none
	Object  string `json:"object"`  // as in "topic"
	Name    string `json:"name"`
	ID      string `json:"id"` // tells the object from a later one of the same name
}

// Subject is what a cleanup plan is about.
func (p CleanupPlan) Subject() PlanSubject {
	return PlanSubject{
		PlanID: p.PlanID, Kind: KindCleanup, Source: p.SourceRecoveryPoint, Offsets: p.Offsets,
		Target: PlanTarget{Backend: "kafka", Object: "topic", Name: p.Topic, ID: p.TopicID},
	}
}
