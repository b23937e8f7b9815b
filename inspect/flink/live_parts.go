package flink

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/flinkmeta"
	"github.com/recoverctl/recoverctl/internal/flinkrest"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

const (
	maxExceptions = 3       // newest failures that are asked for
	maxText       = 4 << 10 // bytes of a name or a message that are kept
	maxPath       = 8 << 10 // bytes of a path; a longer one is no path
)

// The two spellings of the option that says how many checkpoints are kept, the
// one that goes first in Flink first.
var retainedKeys = []string{"execution.checkpointing.num-retained", "state.checkpoints.num-retained"}

// restarts counts a job's restarts. Flink's counter can be behind, so the
// attempt numbers of the smallest task are asked as well: the larger one is
// what happened at least.
func (l *Live) restarts(ctx context.Context, job flinkrest.Job) (*int64, error) {
	n, known, err := l.rest.Restarts(ctx, job.ID)
	// A JobManager that keeps no metrics answers 404.
	if err != nil && fault.KindOf(err) != fault.NotFound {
		return nil, err
	}
	if len(job.Vertices) > 0 {
		smallest := slices.MinFunc(job.Vertices, func(a, b flinkrest.Vertex) int { return cmp.Compare(a.Parallelism, b.Parallelism) })
		attempt, err := l.rest.Attempt(ctx, job.ID, smallest.ID)
		if err != nil {
			return nil, err
		}
		n, known = max(n, attempt), true
	}
	if !known {
		return nil, nil
	}
	return &n, nil
}

// agentMaxParallelism is the max parallelism in force of the vertices that run an
// agent operator; nil where there is none, or they differ.
func agentMaxParallelism(vertices []flinkrest.Vertex) *int {
	var found *int
	for _, v := range vertices {
		if !slices.Contains(strings.Split(v.Name, " -> "), agentOperator) || v.MaxParallelism < 1 || v.MaxParallelism > flinkmeta.MaxParallelism {
			continue
		}
		if found != nil && *found != v.MaxParallelism {
			return nil
		}
		found = &v.MaxParallelism
	}
	return found
}

// cause is the root cause of a job's newest failure; nil when it has none.
func (l *Live) cause(ctx context.Context, id string) (*inspect.RootCause, error) {
	exceptions, err := l.rest.Exceptions(ctx, id, maxExceptions)
	if err != nil && fault.KindOf(err) == fault.Unsupported {
		exceptions, err = l.rest.Exceptions(ctx, id, 1) // they may be too large together
		if err != nil && fault.KindOf(err) == fault.Unsupported {
			return nil, fault.Wrap(fault.Unsupported, liveOp, err, "the newest failure of job %s can't be read", safetext.Of(id)).
				WithHint("look at it on Flink's own page or in the JobManager's log")
		}
	}
	if err != nil {
		return nil, err
	}
	failures := exceptions.History.Entries.Items
	if len(failures) == 0 {
		return nil, nil
	}
	newest := slices.MaxFunc(failures, func(a, b flinkrest.Failure) int { return cmp.Compare(a.Timestamp, b.Timestamp) })
	c := causeOf(newest)
	return &c, nil
}

// causeOf is the root cause of one failure.
func causeOf(f flinkrest.Failure) inspect.RootCause {
	c := rootCause(f.StackTrace)
	if f.StackTrace == "" {
		c.Type = f.ExceptionName
	}
	c.Task, c.Time = f.TaskName, moment(f.Timestamp)
	if c.Task == "" {
		c.Task = taskOf(c, f.Concurrent.Items)
	}
	c.Type, c.Message, c.Outer, c.Task = capped(c.Type, maxText), capped(c.Message, maxText), capped(c.Outer, maxText), capped(c.Task, maxText)
	return c
}

// taskOf is the task whose own failure has the same root. The job's last failure,
// the one that its restart strategy gave up on, names no task itself.
func taskOf(c inspect.RootCause, concurrent []flinkrest.Failure) string {
	for _, f := range concurrent {
		if same := rootCause(f.StackTrace); f.TaskName != "" && same.Type == c.Type && same.Message == c.Message {
			return f.TaskName
		}
	}
	return ""
}

// checkpoints is a job's checkpoint history.
func (l *Live) checkpoints(ctx context.Context, id string) (*inspect.LiveCheckpoints, error) {
	read, err := l.rest.Checkpoints(ctx, id)
	if err != nil {
		if fault.KindOf(err) != fault.NotFound {
			return nil, err
		}
		read = flinkrest.Checkpoints{} // the job takes none
	}
	out := inspect.LiveCheckpoints{
		Completed: read.Counts.Completed, Failed: read.Counts.Failed, InProgress: read.Counts.InProgress, Restores: read.Counts.Restored,
		History: make([]inspect.LiveCheckpoint, 0, len(read.History.Items)), Cut: read.History.Cut(),
		LatestCompleted: latest(read.Latest.Completed), LatestSavepoint: latest(read.Latest.Savepoint), LatestFailed: latest(read.Latest.Failed),
	}
	for _, c := range read.History.Items {
		out.History = append(out.History, liveCheckpoint(c))
	}
	if r := read.Latest.Restored; r != nil {
		out.Restored = &inspect.LiveRestore{ID: r.ID, Path: pathOf(r.ExternalPath), Time: moment(r.RestoreTimestamp),
			Kind: inspect.RestoredKind(r.ExternalPath, r.IsSavepoint)}
	}
	return &out, nil
}

func latest(c *flinkrest.Checkpoint) *inspect.LiveCheckpoint {
	if c == nil {
		return nil
	}
	out := liveCheckpoint(*c)
	return &out
}

func liveCheckpoint(c flinkrest.Checkpoint) inspect.LiveCheckpoint {
	out := inspect.LiveCheckpoint{
		ID: c.ID, Kind: inspect.KindCheckpoint, Status: capped(c.Status, 64), Path: pathOf(c.ExternalPath), Triggered: moment(c.TriggerTimestamp),
		Bytes: c.StateSize, Acknowledged: c.Acknowledged, Subtasks: c.Subtasks, Discarded: c.Discarded,
	}
	if c.IsSavepoint {
		out.Kind = inspect.KindSavepoint
	}
	switch c.Status {
	case inspect.CheckpointCompleted:
		out.Ended = moment(c.LatestAck)
	case inspect.CheckpointFailed:
		out.Ended = moment(c.FailureTimestamp)
		reason := capped(c.FailureMessage, maxText)
		out.Reason = &reason
	}
	return out
}

// Checkpoint reads one checkpoint of a job's history with what its tasks did:
// which of them has not acknowledged yet, or had not when it failed. Flink keeps
// the latest ones only; an older one is a fault of kind NotFound.
func (l *Live) Checkpoint(ctx context.Context, ref inspect.JobRef, id int64) (inspect.LiveCheckpointDetails, error) {
	_, job, err := l.open(ctx, ref)
	if err != nil {
		return inspect.LiveCheckpointDetails{}, err
	}
	read, err := l.rest.Checkpoint(ctx, job.ID, id)
	if err != nil && fault.KindOf(err) == fault.NotFound {
		err = fault.New(fault.NotFound, liveOp, "checkpoint %d is not in Flink's history of job %s (%s)", id, safetext.Of(job.Name).Truncate(100), job.ID).
			WithHint("Flink keeps the latest ones only (web.checkpoints.history, ten by default): list them with recoverctl inspect flink checkpoints").
			WithRef("job " + job.ID)
	}
	if err != nil {
		return inspect.LiveCheckpointDetails{}, err
	}
	out := inspect.LiveCheckpointDetails{LiveCheckpoint: liveCheckpoint(read.Checkpoint), Tasks: []inspect.LiveCheckpointTask{}}
	for _, v := range job.Vertices { // their order is the job's
		if t, ok := read.Tasks[v.ID]; ok {
			out.Tasks = append(out.Tasks, inspect.LiveCheckpointTask{Name: capped(v.Name, maxText), Status: capped(t.Status, 64),
				Acknowledged: t.Acknowledged, Subtasks: t.Subtasks, Bytes: t.StateSize})
		}
	}
	return out, nil
}

// settings is how a job takes checkpoints. What Flink does not say of the
// cluster and the restart strategy is left open; the rest must be known.
func (l *Live) settings(ctx context.Context, id string) (*inspect.CheckpointSettings, error) {
	config, err := l.rest.CheckpointConfig(ctx, id)
	if err != nil && fault.KindOf(err) != fault.NotFound { // some versions have none where checkpoints are off
		return nil, err
	}
	out := inspect.CheckpointSettings{
		TimeoutMs: config.Timeout, Mode: capped(config.Mode, 64), Storage: capped(config.Storage, 256), Unaligned: config.Unaligned,
		Retention: inspect.NoRetention,
	}
	if err == nil && config.Interval > 0 && config.Interval < math.MaxInt64 {
		out.IntervalMs = &config.Interval
	}
	switch e := config.Externalization; {
	case e.Enabled && e.DeleteOnCancellation:
		out.Retention = inspect.DeleteOnCancellation
	case e.Enabled:
		out.Retention = inspect.RetainOnCancellation
	}
	execution, err := l.rest.ExecutionConfig(ctx, id)
	if err != nil {
		return nil, err
	}
	out.RestartStrategy = capped(execution.Execution.RestartStrategy, maxText)
	value, set, err := l.rest.ClusterOption(ctx, retainedKeys...)
	switch {
	case err != nil && (fault.KindOf(err) == fault.NotFound || fault.KindOf(err) == fault.Denied): // many proxies hide it
	case err != nil:
		return nil, err
	case !set:
		one := 1 // Flink's default
		out.Retained = &one
	default:
		if n, err := strconv.Atoi(strings.TrimSpace(value)); err == nil && n > 0 {
			out.Retained = &n
		}
	}
	return &out, nil
}

// moment is a time of Flink's: milliseconds since 1970, none at 0 and below.
func moment(ms int64) *time.Time {
	if ms <= 0 {
		return nil
	}
	t := time.UnixMilli(ms).UTC()
	return &t
}

// pathOf is a checkpoint's path. Flink writes a word in angle brackets where it
// has none.
func pathOf(path string) *string {
	if path == "" || strings.HasPrefix(path, "<") || len(path) > maxPath {
		return nil
	}
	return &path
}

// capped cuts a text that is longer than limit bytes and says so in it.
func capped(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	end := limit
	for end > limit-utf8.UTFMax && !utf8.RuneStart(s[end]) {
		end--
	}
	// A clone, so that a few bytes don't hold megabytes.
	return strings.Clone(s[:end]) + fmt.Sprintf("… (cut after %d of %d bytes)", end, len(s))
}
