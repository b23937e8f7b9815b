package arkflow

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/arkhub"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/safetext"
	"github.com/recoverctl/recoverctl/internal/shellword"
)

// IDOfPoint is the id that a point's name, folder or manifest URI holds.
func IDOfPoint(text string) string {
	text = strings.TrimRight(strings.TrimSuffix(text, "/"+sealedName), "/")
	return text[strings.LastIndexByte(text, '/')+1:]
}

// IsPlace reports whether an argument is a place of files and no job's id.
func IsPlace(text string) bool {
	return strings.Contains(text, "/") || strings.Contains(text, "\\") || text == "." || text == ".." || strings.HasPrefix(text, "file:")
}

// Validate answers whether a start of its job would be accepted from a point, and
// what the engine really does with it. The point is named by its id, its folder or
// its manifest. The job is the one that has it on record.
func (h *Hub) Validate(ctx context.Context, point, place string) (inspect.RestoreValidation, error) {
	id := IDOfPoint(point)
	r, err := h.begin(ctx)
	if err != nil {
		return inspect.RestoreValidation{}, err
	}
	if !r.state.Generation.HasJobs() {
		return inspect.RestoreValidation{}, fault.New(fault.Unsupported, hubOp, "the hub at %s has no jobs (%s), so nothing is restored from %s", safetext.Of(r.state.Address), r.state.Generation, safetext.Of(id))
	}
	jobs, err := h.client.Jobs(ctx)
	if err != nil {
		return inspect.RestoreValidation{}, err
	}
	job, partial := "", jobs.Dropped > 0 || jobs.Cut
	for _, j := range jobs.Items {
		rounds, err := h.client.Checkpoints(ctx, j.ID)
		if err != nil {
			return inspect.RestoreValidation{}, err
		}
		partial = partial || rounds.Dropped > 0 || rounds.Cut
		if slices.ContainsFunc(rounds.Items, func(c arkhub.Checkpoint) bool { return c.ID == id }) {
			job = j.ID
		}
	}
	if job == "" && partial {
		return inspect.RestoreValidation{}, fault.New(fault.Partial, hubOp, "%s is on record of none of the jobs and rounds of the hub at %s that could be read, which are not all", safetext.Of(id), safetext.Of(r.state.Address))
	}
	if job == "" {
		return inspect.RestoreValidation{}, fault.New(fault.NotFound, hubOp, "no job of the hub at %s has %s on record", safetext.Of(r.state.Address), safetext.Of(id)).
			WithHint("recoverctl inspect arkflow points ID lists a job's points; a point that only a store holds is never selected")
	}
	d, err := h.Job(ctx, job, place)
	at := slices.IndexFunc(d.Points.Points, func(p Point) bool { return p.ID == id })
	if at < 0 {
		return inspect.RestoreValidation{}, errors.Join(err, fault.New(fault.NotFound, hubOp, "%s is gone since it was listed", safetext.Of(id)))
	}
	return validationOf(d, d.Points.Points[at]), err
}

// validationOf makes the answer of what was read.
func validationOf(d JobDetail, p Point) inspect.RestoreValidation {
	v := inspect.RestoreValidation{
		Point: p.ID, Verdict: p.Verdict, Reasons: []inspect.Reason{}, Rules: p.Rules, Window: []inspect.Window{}, Unchecked: []string{},
		Runtime: []inspect.Runtime{d.runtime(p)}, Notes: d.notes(p), Assumed: []string{}, Next: d.next(p),
	}
	if p.URI != "" {
		v.Point = p.URI
	}
	if p.Verdict == inspect.Rejected {
		v.Reasons = append(v.Reasons, inspect.Reason{Problem: inspect.Problem{Code: p.Reason, Message: p.Message}})
	}
	for _, r := range p.Rules {
		if r.Result == inspect.NotChecked {
			v.Unchecked = append(v.Unchecked, r.Title+": "+r.Message)
		}
	}
	v.Unchecked = append(v.Unchecked, d.Unchecked...)
	v.Newer, v.Older = nearest(d.Points.Points, p)
	return v
}

// runtime is what the engine really does: where no artefact fits it begins cold,
// without an error.
func (d JobDetail) runtime(p Point) inspect.Runtime {
	r := inspect.Runtime{Release: inspect.Release(d.Hub.Generation.String())}
	switch p.Engine.Verdict {
	case inspect.Accepted:
		r.Outcome, r.Message = inspect.ReleaseAccepts, p.Engine.Why
	case inspect.Rejected:
		r.Outcome, r.Message = inspect.ReleaseSkipsSilently, "it is passed over without an error: "+p.Engine.Why
	default:
		r.Outcome, r.Message = inspect.ReleaseOutcomeUnknown, p.Engine.Why
	}
	return r
}

// next are the plans that lead to a restore from the point: nobody can choose it, and
// a rollback into a version that would restore it does.
func (d JobDetail) next(p Point) []inspect.NextStep {
	next := []inspect.NextStep{}
	for _, v := range d.Versions {
		if d.Job.Version == nil || v.Version >= *d.Job.Version || v.Restorable != p.ID || !v.Selection.Known || v.Selection.Better != "" {
			continue
		}
		command := fmt.Sprintf("recoverctl plan arkflow rollback %s --to %d --out FILE", shellword.Quote(d.Job.ID), v.Version)
		if safetext.Of(command).String() != command {
			command = "" // it can't be shown as it would have to be typed
		}
		next = append(next, inspect.NextStep{By: inspect.ByLooking, What: fmt.Sprintf("make a plan that takes the job back to version %d, restored from this point", v.Version), Command: command})
	}
	return next
}

func (d JobDetail) notes(p Point) []string {
	notes := []string{}
	switch s := d.Points.Selection; {
	case !s.Known:
		notes = append(notes, "What a start would restore is not known: "+s.Why+".")
	case s.ID == p.ID:
		notes = append(notes, "A start of the job would restore this point: "+s.Why+".")
	case s.ID == "":
		notes = append(notes, "A start of the job would restore nothing: "+s.Why+".")
	default:
		notes = append(notes, fmt.Sprintf("A start of the job would restore %s and not this point: %s. Nobody can choose one by hand.", s.ID, s.Why))
	}
	if len(p.Positions) > 0 {
		var at []string
		for _, s := range p.Positions {
			topic := "topic not recorded"
			if s.Topic != nil {
				topic = *s.Topic
			}
			at = append(at, fmt.Sprintf("%s/%d from %s", topic, s.Partition, sequence(s.Offset)))
		}
		notes = append(notes, "Its sources go on at "+strings.Join(at, ", ")+": what was read behind that is read again.")
	} else if p.WithoutPositions() {
		notes = append(notes, "It holds no source positions: the sources are not moved, and the consumer group's offsets decide what is read again.")
	}
	return notes
}

// nearest are the accepted points next to one, newer and older.
func nearest(newestFirst []Point, p Point) (newer, older *inspect.Nearby) {
	after := false
	for _, o := range newestFirst {
		switch {
		case o.ID == p.ID:
			after = true
		case o.Verdict != inspect.Accepted:
		case !after:
			newer = nearby(o)
		case older == nil:
			older = nearby(o)
		}
	}
	return newer, older
}

func nearby(p Point) *inspect.Nearby {
	n := &inspect.Nearby{URI: p.ID, Kind: p.Kind}
	if p.Created != nil {
		n.Taken.Time = p.Created
	}
	return n
}
