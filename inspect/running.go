package inspect

import (
	"context"
	"slices"

	"github.com/recoverctl/recoverctl/internal/fault"
)

// Running is what a job does now, as Flink says it. Live is nil unless Source
// is Read.
type Running struct {
	Source Connection `json:"source"`
	Live   *LiveState `json:"live"`
}

// Running asks Flink what the job does now, and nothing else. Where no Flink is
// connected that is the answer and no error. The error says what could not be
// read, beside what could.
func (i *Inspector) Running(ctx context.Context, job Job) (Running, error) {
	if !i.asksFlink(job) {
		return Running{Source: NotConnected}, nil
	}
	live, err := i.liveState(ctx, job)
	if live.JobID == "" {
		if err == nil {
			err = fault.New(fault.Bug, liveOp, "Flink named no job, and no error")
		}
		return Running{Source: Unread}, err
	}
	return Running{Source: Read, Live: &live}, err
}

const liveOp = "read live state"

// CheckpointStore is a LiveStore that also knows what each task did for a
// checkpoint. inspect/flink implements it.
type CheckpointStore interface {
	// Checkpoint reads one checkpoint of a job's history with its tasks. One that
	// the history does not hold any more is NotFound.
	Checkpoint(ctx context.Context, ref JobRef, id int64) (LiveCheckpointDetails, error)
}

// Checkpoint asks Flink which tasks a checkpoint of the job waits for, or waited
// for when it failed.
func (i *Inspector) Checkpoint(ctx context.Context, job Job, id int64) (LiveCheckpointDetails, error) {
	if !i.asksFlink(job) {
		return LiveCheckpointDetails{}, fault.New(fault.Config, liveOp, "no JobManager is configured for this job").
			WithHint("give --flink-rest ADDRESS, or set flink.rest of the job in the profile")
	}
	store, ok := i.live.(CheckpointStore)
	if !ok {
		return LiveCheckpointDetails{}, fault.New(fault.Unsupported, liveOp, "this connection does not tell what the tasks of a checkpoint did").
			WithHint("run recoverctl inspect flink checkpoint %d: it asks the JobManager directly", id)
	}
	return store.Checkpoint(ctx, job.Flink, id)
}

// PointAt is where the recovery point that Flink calls path is in a list; false
// where it is none of them. A copy or a mount may have another folder in front.
func PointAt(points []PointSummary, path string) (int, bool) {
	at := slices.IndexFunc(points, func(p PointSummary) bool { return samePoint(p.URI, path) })
	return at, at >= 0
}
