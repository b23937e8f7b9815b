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

// PointAt is where the recovery point that Flink calls path is in a list; false
// where it is none of them. A copy or a mount may have another folder in front.
func PointAt(points []PointSummary, path string) (int, bool) {
	at := slices.IndexFunc(points, func(p PointSummary) bool { return samePoint(p.URI, path) })
	return at, at >= 0
}
