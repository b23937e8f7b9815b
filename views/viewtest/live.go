package viewtest

import (
	"time"

	"github.com/recoverctl/recoverctl/inspect"
)

// JobID is the id of the running job.
const JobID = "9be1c4d2a7f04e51b1f3a8c7d6e5f401"

func some[T any](v T) *T { return &v }

func ago(d time.Duration) *time.Time { return some(Now.Add(-d)) }

// settings are how the running job takes checkpoints.
func settings() *inspect.CheckpointSettings {
	return &inspect.CheckpointSettings{
		IntervalMs: some(int64(60_000)), TimeoutMs: 600_000, Mode: "exactly_once", Retention: inspect.RetainOnCancellation, Retained: some(3),
		Storage: "FileSystemCheckpointStorage", RestartStrategy: "Cluster level default restart strategy",
	}
}

func completed(id int64, kind inspect.PointKind, path string, age time.Duration) inspect.LiveCheckpoint {
	return inspect.LiveCheckpoint{
		ID: id, Kind: kind, Status: inspect.CheckpointCompleted, Path: &path, Triggered: ago(age), Ended: ago(age - 2*time.Second),
		Bytes: 19084083, Acknowledged: 4, Subtasks: 4,
	}
}

// Failing is the job since it was restored from a savepoint below the boundary.
func Failing() inspect.LiveState {
	from := Savepoints + "/savepoint-4f3c-a1"
	c := &inspect.LiveCheckpoints{
		Failed: 2, InProgress: 1, Restores: 8,
		History: []inspect.LiveCheckpoint{
			{ID: 15, Kind: inspect.KindCheckpoint, Status: inspect.CheckpointInProgress, Triggered: ago(10 * time.Second), Acknowledged: 1, Subtasks: 4},
			{
				ID: 14, Kind: inspect.KindCheckpoint, Status: inspect.CheckpointFailed, Triggered: ago(70 * time.Second), Ended: ago(40 * time.Second),
				Acknowledged: 2, Subtasks: 4, Reason: some("Checkpoint Coordinator is suspending: the task that holds the recovery marker failed before it acknowledged."),
			},
		},
		Restored: &inspect.LiveRestore{ID: 12, Kind: inspect.KindSavepoint, Path: &from, Time: ago(20 * time.Second)},
	}
	message := "Recovery marker offset 100 for action-state-0 is below the committed cleanup boundary 150 of plan f0416ffc; " +
		"this recovery point can't be restored any more, because the records that it needs may have been deleted"
	return inspect.LiveState{
		State: "RESTARTING", Restarts: some(int64(7)), RestoredFrom: &from, LastException: some("java.lang.IllegalStateException: " + message),
		JobID: JobID, Name: "order-agent", FlinkVersion: "2.3.0", Started: ago(26 * time.Hour), Since: ago(4 * time.Minute), AsOf: Now, CacheMs: 3000,
		RootCause: &inspect.RootCause{
			Type: "java.lang.IllegalStateException", Message: message, Task: "order agent (1/2)", Time: ago(20 * time.Second),
			Outer: "org.apache.flink.runtime.JobException: Recovery is suppressed by a restart backoff of 30 s",
		},
		Checkpoints: c, Settings: settings(), NextRestore: inspect.NextOf("RESTARTING", c, settings()), Unread: []string{},
	}
}

// Steady is the job as it ran before, with a failure on record.
func Steady() inspect.LiveState {
	s := Failing()
	from := Checkpoints + "/chk-42"
	c := &inspect.LiveCheckpoints{
		Completed: 43, Failed: 1, Restores: 1,
		History: []inspect.LiveCheckpoint{
			completed(44, inspect.KindCheckpoint, Checkpoints+"/chk-44", 2*time.Minute),
			completed(43, inspect.KindCheckpoint, Checkpoints+"/chk-43", 12*time.Minute),
			completed(41, inspect.KindSavepoint, "s3://elsewhere/savepoints/savepoint-9be1c4-0a1b2c3d4e5f", 30*time.Minute),
			completed(40, inspect.KindCheckpoint, Checkpoints+"/chk-40", 40*time.Minute),
		},
		Restored: &inspect.LiveRestore{ID: 42, Kind: inspect.KindCheckpoint, Path: &from, Time: ago(21 * time.Minute)},
	}
	c.History[3].Discarded = true
	c.LatestCompleted, c.LatestSavepoint = &c.History[0], &c.History[2]
	s.State, s.Since, s.Restarts, s.RestoredFrom = "RUNNING", ago(21*time.Minute), some(int64(1)), &from
	s.RootCause.Time = ago(22 * time.Minute)
	s.Checkpoints, s.NextRestore = c, inspect.NextOf("RUNNING", c, s.Settings)
	return s
}

// Live answers for order-agent in a state of its running job; LiveJob asks it.
func Live(state inspect.LiveState) *Source {
	s := Incident()
	s.Connect(Job().Name, Flink{State: state, Waiting: []inspect.LiveCheckpointTask{
		{Name: "order agent", Status: inspect.CheckpointInProgress, Acknowledged: 0, Subtasks: 2},
	}})
	return s
}
