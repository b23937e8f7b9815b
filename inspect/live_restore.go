package inspect

import "fmt"

// Why each thing can't be known from Flink's REST API.
const (
	unknownStrategy = "whether the restart strategy still permits a restart"
	unknownStore    = "after a loss of the JobManager: what its high-availability store holds"
	unknownMemory   = "its files: this checkpoint is only in the JobManager's memory, or its path is not reported"
)

// NextOf says what Flink would restore a job from by itself. That is the newest
// point in its checkpoint store: the newest completed checkpoint, or the point
// that it was restored from while that one is newer. A savepoint that was taken
// from the running job is never in the store, however new (Flink since 1.15).
func NextOf(state string, c *LiveCheckpoints, s *CheckpointSettings) NextRestore {
	next := NextRestore{Source: SourceUnknown, Unknown: []string{}}
	switch {
	case Ended(state):
		next.Source = SourceNone
		next.Why = "Flink does not restart a job that is " + state + " by itself: start it again from a recovery point"
		if kept := keptAfter(state, c, s); kept != "" {
			next.Why += "; " + kept
		}
		return next
	case c == nil:
		next.Why = "the checkpoint history could not be read"
		return next
	case state != "RUNNING" && state != "RESTARTING" && state != "FAILING" && state != "CREATED":
		next.Why = "the job is " + state + ": what the JobManager does next is not known"
		next.Unknown = append(next.Unknown, unknownStore)
		return next
	}
	if state != "RESTARTING" {
		next.Unknown = append(next.Unknown, unknownStrategy)
	}
	next.Unknown = append(next.Unknown, unknownStore)
	completed, restored := c.LatestCompleted, c.Restored
	switch {
	case completed == nil && restored == nil:
		next.Source = SourceNoState
		next.Why = "no checkpoint was completed and the job was started without state"
		if s != nil && s.IntervalMs == nil {
			next.Why += "; none are taken by time"
		}
		next.Why += savepointIsNoHelp(c, -1)
		return next
	case completed != nil && (restored == nil || completed.ID >= restored.ID):
		next.set(completed.ID, completed.Path, "latest.completed")
		next.Why = fmt.Sprintf("checkpoint %d is the newest completed one", completed.ID)
		if completed.Discarded {
			next.Why += ", but was discarded meanwhile"
			next.Unknown = append(next.Unknown, "which newer checkpoint replaced it: read again")
		}
	default:
		next.set(restored.ID, restored.Path, "latest.restored")
		next.Why = fmt.Sprintf("no checkpoint was completed since the job was restored from %s %d", restored.Kind, restored.ID)
	}
	if next.Path == nil {
		next.Unknown = append(next.Unknown, unknownMemory)
	}
	next.Why += savepointIsNoHelp(c, *next.ID)
	return next
}

func (n *NextRestore) set(id int64, path *string, field string) {
	n.Source, n.ID, n.Path, n.Field = SourcePoint, &id, path, field
}

// savepointIsNoHelp names a savepoint that is newer than what Flink would take.
func savepointIsNoHelp(c *LiveCheckpoints, than int64) string {
	if c.LatestSavepoint == nil || c.LatestSavepoint.ID <= than {
		return ""
	}
	return fmt.Sprintf("; savepoint %d is newer, and Flink does not use it by itself", c.LatestSavepoint.ID)
}

// keptAfter says what became of the last checkpoint of an ended job.
func keptAfter(state string, c *LiveCheckpoints, s *CheckpointSettings) string {
	if c == nil || c.LatestCompleted == nil || s == nil {
		return ""
	}
	kept := state == "FAILED" && s.Retention != NoRetention || state == "CANCELED" && s.Retention == RetainOnCancellation
	word := "deleted"
	if kept && !c.LatestCompleted.Discarded {
		word = "kept"
	}
	return fmt.Sprintf("by its settings (%s) checkpoint %d is %s", s.Retention, c.LatestCompleted.ID, word)
}
