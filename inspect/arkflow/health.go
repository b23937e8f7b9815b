package arkflow

import (
	"fmt"
	"slices"
	"time"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/arkhub"
	"github.com/recoverctl/recoverctl/internal/clock"
)

// HealthState is how a job's checkpoints go.
type HealthState string

// The states. Hubs have no such word of their own: it is derived from the rounds
// on record.
const (
	HealthGood     HealthState = "healthy"
	HealthDegraded HealthState = "degraded" // the newest round failed or is stuck: an older one stays in force, and ages
	HealthOverdue  HealthState = "overdue"  // no round was begun for longer than two intervals
	HealthNone     HealthState = "none"     // none was ever completed
	HealthIdle     HealthState = "idle"     // none is due: the job is stopped, or takes none by time
	HealthUnknown  HealthState = "unknown"
)

// Health is a job's checkpoint health with what shows it.
type Health struct {
	State     HealthState `json:"state"`
	Sentence  string      `json:"sentence"`
	Completed string      `json:"completed"` // the newest completed checkpoint; empty: none
	AgeMs     *int64      `json:"ageMs"`     // of it
	Newest    string      `json:"newest"`    // the newest round; empty: none
	Source    string      `json:"source"`    // derived; hub: its own field; store: derived, and the newest completed one is not whole there
}

// rulesOfWholeness are the rules that say whether a point is what was written; the
// others are about the job that it would be restored into.
var rulesOfWholeness = []string{
	RuleManifestThere, RuleManifestReads, RuleManifestSealed, RuleManifestID, RuleTasksOnce, RuleTaskSet, RuleStateOfTasks, RuleStateThere, RuleStateSealed,
}

// healthFromStore is the source of a health that the store contradicts the rounds in.
const healthFromStore = "store"

// within is the health with what the store holds: a completed checkpoint that is not
// what was written is in force nowhere, whatever the hub's record says.
func (h Health) within(list PointList, now time.Time) Health {
	at := slices.IndexFunc(list.Points, func(p Point) bool { return p.ID == h.Completed })
	if h.Completed == "" || list.Place == "" || at < 0 || list.Points[at].Verdict != inspect.Rejected || !slices.Contains(rulesOfWholeness, list.Points[at].Reason) {
		return h
	}
	broken := list.Points[at]
	out := Health{State: HealthNone, Newest: h.Newest, Source: healthFromStore,
		Sentence: fmt.Sprintf("%s is on record as completed and is rejected (%s), and no older checkpoint is whole", broken.ID, broken.Reason)}
	for _, p := range list.Points[at:] {
		if p.Kind != inspect.KindCheckpoint || p.Status != arkhub.RoundCompleted || p.Verdict != inspect.Accepted {
			continue
		}
		old := "of unknown age"
		if p.Created != nil {
			ms := now.Sub(*p.Created).Milliseconds()
			out.AgeMs, old = &ms, clock.Age(now.Sub(*p.Created))+" old"
		}
		out.State, out.Completed = HealthDegraded, p.ID
		out.Sentence = fmt.Sprintf("%s is on record as completed and is rejected (%s); the newest one that is whole is %s, %s", broken.ID, broken.Reason, p.ID, old)
		break
	}
	return out
}

// stuckAfter is from when on a round that is still pending counts as stuck.
func stuckAfter(interval time.Duration) time.Duration { return max(2*interval, 2*time.Minute) }

// HealthOf derives a job's checkpoint health. An explicit word of a hub goes
// first.
func HealthOf(rounds []arkhub.Checkpoint, j arkhub.Job, explicit arkhub.Text, now time.Time) Health {
	h := Health{State: HealthUnknown, Source: "derived"}
	newest, completed, stuck := newestRounds(rounds)
	interval := time.Duration(j.Spec.Checkpoint.IntervalMs.Or(arkhub.DefaultIntervalMs)) * time.Millisecond
	age := func(c *arkhub.Checkpoint) (time.Duration, bool) {
		at, known := c.Created.Get()
		return now.Sub(at.Time()), known
	}
	if completed != nil {
		h.Completed = completed.ID
		if d, known := age(completed); known {
			ms := d.Milliseconds()
			h.AgeMs = &ms
		}
	}
	if newest != nil {
		h.Newest = newest.ID
	}
	running := j.DesiredState.Or("") == arkhub.StateRunning
	switch word, is := explicit.Get(); {
	case is:
		h.State, h.Sentence, h.Source = HealthState(word), "the hub says "+word, "hub"
	case rounds == nil:
		h.Sentence = "the hub exposes no rounds"
	case newest == nil:
		h.State, h.Sentence = HealthNone, "no checkpoint was ever begun"
	case completed == nil:
		h.State, h.Sentence = HealthNone, fmt.Sprintf("no checkpoint was ever completed; the newest round, %s, is %s", newest.ID, newest.Status)
	default:
		h.judge(newest, completed, stuck, age, interval, running)
	}
	return h
}

func (h *Health) judge(newest, completed, stuck *arkhub.Checkpoint, age func(*arkhub.Checkpoint) (time.Duration, bool), interval time.Duration, running bool) {
	since, known := age(newest)
	pending := time.Duration(0)
	if stuck != nil {
		pending, _ = age(stuck)
	}
	old := "of unknown age"
	if h.AgeMs != nil {
		old = clock.Age(time.Duration(*h.AgeMs)*time.Millisecond) + " old"
	}
	switch {
	case newest.Status == arkhub.RoundFailed:
		h.State, h.Sentence = HealthDegraded, fmt.Sprintf("the newest round, %s, failed; %s stays in force, %s", newest.ID, completed.ID, old)
	case !known:
		h.Sentence = "the hub exposes no times of its rounds"
	case stuck != nil && pending > stuckAfter(interval):
		h.State = HealthDegraded
		h.Sentence = fmt.Sprintf("no round was completed since %s, which stays in force, %s; %s has been pending for %s and does not end by itself", completed.ID, old, stuck.ID, clock.Age(pending))
	case newest.Status == arkhub.RoundPending:
		h.Sentence = fmt.Sprintf("a round, %s, is under way since %s; %s is in force, %s", newest.ID, clock.Age(since), completed.ID, old)
	case newest.Status != arkhub.RoundCompleted:
		h.Sentence = fmt.Sprintf("the newest round, %s, is %q, which is not known here; %s is in force, %s", newest.ID, newest.Status, completed.ID, old)
	case !running || interval <= 0:
		h.State, h.Sentence = HealthIdle, fmt.Sprintf("no round is due; %s is in force, %s", completed.ID, old)
	case since <= 2*interval:
		h.State, h.Sentence = HealthGood, fmt.Sprintf("%s is in force, %s", completed.ID, old)
	default:
		h.State, h.Sentence = HealthOverdue, fmt.Sprintf("%s is in force, %s, and no round was begun since though one is due every %s", completed.ID, old, inBrief(interval))
	}
}

// newestRounds are the newest checkpoint round, the newest completed one, and the
// oldest pending one that was begun after that: hubs go on beginning rounds while
// none ends, so the newest is always young. Savepoints are no rounds of a job's
// health.
func newestRounds(rounds []arkhub.Checkpoint) (newest, completed, stuck *arkhub.Checkpoint) {
	for i := range rounds {
		c := &rounds[i]
		if c.Kind.Or(arkhub.KindCheckpoint) != arkhub.KindCheckpoint {
			continue
		}
		if newest == nil || c.Created.Or(0) > newest.Created.Or(0) {
			newest = c
		}
		if c.Status == arkhub.RoundCompleted && (completed == nil || c.Created.Or(0) > completed.Created.Or(0)) {
			completed = c
		}
	}
	for i := range rounds {
		c := &rounds[i]
		begun, known := c.Created.Get()
		if c.Kind.Or(arkhub.KindCheckpoint) != arkhub.KindCheckpoint || c.Status != arkhub.RoundPending || !known {
			continue
		}
		if (completed == nil || begun > completed.Created.Or(0)) && (stuck == nil || begun < stuck.Created.Or(0)) {
			stuck = c
		}
	}
	return newest, completed, stuck
}
