package kafka

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/figures"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

const (
	// How often the partitions that are left are tried, each time after the log
	// was read again, and how long a leader gets to be elected in between.
	deleteAttempts = 6
	deleteAgain    = 500 * time.Millisecond
)

// delete moves the log starts up to the boundary in force. Partitions are
// independent: those that are done stay done, whatever becomes of the others.
func (c *Cleanup) delete(ctx context.Context, p *actions.StepProgress) (string, error) {
	if err := c.readBack(ctx); err != nil {
		return "", err
	}
	data, err := c.readData(ctx, actions.StageIdentityBeforeDelete)
	if err != nil {
		return "", err
	}
	if p := actions.CheckSettings(data); p != nil {
		return "", refuse(actions.StageSettingsBeforeDelete, p)
	}
	d := deletion{c: c, progress: p, target: c.target(), from: make(inspect.Offsets), failed: make(map[int32]error)}
	for attempt := 1; ; attempt++ {
		left, err := d.look(ctx)
		switch {
		case err != nil:
			return "", err
		case len(left) == 0:
			return d.evidence(), nil
		case attempt > deleteAttempts || !d.mayGoOn(left):
			return "", d.unfinished(left)
		}
		if attempt > 1 {
			if err := actions.Pause(ctx, deleteAgain); err != nil {
				return "", at(actions.StageDelete, err)
			}
		}
		if err := d.send(ctx, left); err != nil {
			return "", at(actions.StageDelete, err)
		}
	}
}

// deletion is one pass of the step.
type deletion struct {
	c        *Cleanup
	progress *actions.StepProgress
	target   inspect.Offsets

	from   inspect.Offsets // log starts at the first look
	now    map[int32]inspect.Partition
	failed map[int32]error // the last answer, where it was an error
}

// look reads the topic, whose identity is the fence of what was sent and of what
// is sent next, and returns the partitions whose log starts below the target or
// can't be read, ascending.
func (d *deletion) look(ctx context.Context) ([]int32, error) {
	data, err := d.c.readData(ctx, actions.StageDelete)
	switch {
	case err != nil && d.isAnother(data):
		return nil, d.another(data)
	case err != nil:
		return nil, err
	}
	d.now = make(map[int32]inspect.Partition, len(data.Partitions))
	var left []int32
	for _, part := range data.Partitions {
		to := d.target[part.ID]
		d.now[part.ID] = part
		if _, known := d.from[part.ID]; !known && part.Err == nil {
			d.from[part.ID] = part.Log.Start
		}
		done := part.Err == nil && part.Log.Start >= to
		if done {
			delete(d.failed, part.ID)
		} else {
			left = append(left, part.ID)
		}
		state := actions.PartitionProgress{From: d.from[part.ID], Target: to, Done: done}
		switch failed := d.failed[part.ID]; {
		case part.Err != nil:
			state.Note = safetext.Error(part.Err)
		case failed != nil:
			state.Note = safetext.Error(failed)
		}
		d.progress.Partition(part.ID, state)
	}
	slices.Sort(left)
	d.progress.Count(len(data.Partitions)-len(left), len(data.Partitions))
	return left, nil
}

// isAnother reports whether the topic is no longer the one whose records were to
// be deleted.
func (d *deletion) isAnother(data inspect.DataTopic) bool {
	return data.Exists && actions.CheckIdentity(d.c.Plan, d.c.Job, data) != nil
}

// another is the refusal for a topic that was changed in the middle. Where a
// request was sent, it may have been the new topic's records that it deleted.
func (d *deletion) another(data inspect.DataTopic) error {
	what := "nothing was deleted"
	if d.c.sent {
		what = "what was deleted since may be records of the new topic"
	}
	if data.TopicID != d.c.Plan.TopicID {
		return refuse(actions.StageDelete, problem("topic-id-changed-during-cleanup", inspect.Named{"found": data.TopicID},
			"topic %s had the id %s and now has %s: it was deleted and made again during the cleanup; %s",
			quote(data.Name), safetext.Of(d.c.Plan.TopicID), safetext.Of(data.TopicID), what))
	}
	have := data.IDs()
	return refuse(actions.StageDelete, problem("partition-set-changed-during-cleanup", inspect.Named{"expected": d.c.Plan.Offsets.Partitions(), "found": have},
		"topic %s now has %s: they were added during the cleanup; %s", quote(data.Name), figures.Count(len(have), "partition", "partitions"), what))
}

// send asks for the deletion of what is left and keeps each partition's answer.
func (d *deletion) send(ctx context.Context, left []int32) error {
	cluster, err := d.c.open(ctx)
	if err != nil {
		return err
	}
	var targets []Target
	for _, id := range left {
		part := d.now[id]
		if part.Err != nil {
			continue // where its log starts is not known, so nothing is asked of it
		}
		t, err := NewTarget(id, part.Leader, d.target[id])
		if err != nil {
			return err
		}
		targets = append(targets, t)
	}
	if len(targets) == 0 {
		return nil
	}
	d.c.sent = true
	for _, answer := range cluster.Trim(ctx, d.c.Job.Topic, targets) {
		delete(d.failed, answer.Partition())
		if answer.Err != nil {
			d.failed[answer.Partition()] = answer.Err
		}
	}
	return nil
}

// mayGoOn reports whether asking again can help one of the partitions that are
// left.
func (d *deletion) mayGoOn(left []int32) bool {
	return slices.ContainsFunc(left, func(id int32) bool { return !d.isFinal(id) })
}

// isFinal reports whether a partition's last answer will stay the same.
func (d *deletion) isFinal(id int32) bool {
	err := d.failed[id]
	switch fault.KindOf(err) {
	case fault.Unreachable, fault.Unknown, fault.NotFound, fault.Cancelled:
		return false // a leader that moved, or an answer that was lost
	}
	if errors.Is(err, kerr.OffsetOutOfRange) {
		// A new leader may not know yet how far the log is acknowledged.
		return d.target[id] > d.now[id].Log.End
	}
	return err != nil
}

// evidence says what was done.
func (d *deletion) evidence() string {
	span, moved := int64(0), 0
	for id, to := range d.target {
		if from := d.from[id]; from < to {
			span, moved = span+to-from, moved+1
		}
	}
	if moved == 0 {
		return "every log starts at or past its target already"
	}
	return fmt.Sprintf("an offset span of %s deleted on %s", group(span), figures.Count(moved, "partition", "partitions"))
}

// unfinished is the error for the partitions that are left: the first one's
// answer, and what was done elsewhere.
func (d *deletion) unfinished(left []int32) error {
	id := left[0]
	for _, other := range left {
		if d.isFinal(other) {
			id = other
			break
		}
	}
	err := d.failed[id]
	if err == nil {
		err = d.now[id].Err
	}
	if err == nil {
		err = fault.New(fault.Drift, "delete records", "partition %d was deleted up to %s, as its leader said, and its log starts at %s",
			id, group(d.target[id]), group(d.now[id].Log.Start))
	}
	f := fault.Of(err)
	named := inspect.Named{"partition": id, "requested": d.target[id]}
	log := "not known"
	if part := d.now[id]; part.Err == nil {
		named["logStart"], named["logEnd"] = part.Log.Start, part.Log.End
		log = fmt.Sprintf("from %s to %s", group(part.Log.Start), group(part.Log.End))
	}
	p := problem(reasonWord(err), named, "%s not deleted up to the target, %d of %d are done: partition %d up to %s (its log: %s): %s",
		on(left)+map[bool]string{true: " was", false: " were"}[len(left) == 1], len(d.now)-len(left), len(d.now), id, group(d.target[id]), log, f.Error())
	return actions.AtProblem(actions.StageDelete, *p, &told{p.Message, err})
}

// told is an error in other words.
type told struct {
	message string
	err     error
}

func (t *told) Error() string { return t.message }
func (t *told) Unwrap() error { return t.err }

// settleDelete reads the log starts.
func (c *Cleanup) settleDelete(ctx context.Context) (settled actions.Settlement, seen string, err error) {
	err = c.fresh(ctx, func(cluster Cluster) error {
		data, err := identified(ctx, cluster, c.Job, c.Plan, actions.StageDelete)
		if err != nil {
			return err
		}
		below, unread := starts(data, c.target())
		switch {
		case len(unread) > 0:
			return at(actions.StageDelete, unreadStart(data, unread))
		case len(below) > 0:
			settled, seen = actions.NotHappened, fmt.Sprintf("the log still starts below its target on %s", on(below))
		default:
			settled, seen = actions.Happened, "every log starts at or past its target"
		}
		return nil
	})
	return settled, seen, err
}

// starts compares log starts with targets: the partitions that begin below
// theirs, and those of which it is not known, ascending.
func starts(data inspect.DataTopic, target inspect.Offsets) (below, unread []int32) {
	ranges := data.Ranges()
	for _, id := range target.Partitions() {
		log, ok := ranges[id]
		switch {
		case !ok:
			unread = append(unread, id)
		case log.Start < target[id]:
			below = append(below, id)
		}
	}
	return below, unread
}

// unreadStart is why the log start of the first of those partitions is not known.
func unreadStart(data inspect.DataTopic, unread []int32) error {
	for _, part := range data.Partitions {
		if part.ID == unread[0] && part.Err != nil {
			f := fault.Of(part.Err)
			return &fault.Fault{Kind: f.Kind, Op: f.Op, Hint: f.Hint, Refs: f.Refs, Err: f,
				Message: fmt.Sprintf("the log start of %s could not be read", on(unread))}
		}
	}
	return fault.New(fault.Drift, "list offsets", "the topic has no %s", on(unread))
}
