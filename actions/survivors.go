package actions

import (
	"fmt"
	"slices"
	"strings"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/figures"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

// Reason words of our own rule about what a cleanup leaves.
const (
	tooFewSurvivors = "too-few-survivors"
	survivorLost    = "survivor-lost"
	newWarning      = "new-warning"
	ownPointLost    = "own-point-lost"
)

// Keep is the rule that a cleanup leaves something to restore from: the plan's
// own point, and Required others, accepted and with every file present. It is
// not enforced where nothing is known to count: then the warning points-unknown
// stands for it.
type Keep struct {
	Enforced bool             `json:"enforced"`
	Required int              `json:"required"`
	Others   int              `json:"others"` // that stay, whole, each counted once however often it was copied
	Problem  *inspect.Problem `json:"problem"`
}

func (r *Report) keep(e Evidence) Keep {
	k := Keep{Required: e.Job.KeepRecoveryPoints}
	var own *PointFate
	var counted []PointFate
	for _, f := range r.fates() {
		switch {
		case f.Own:
			own = &f
		case f.Fate == FateStays && f.Whole && !slices.ContainsFunc(counted, func(c PointFate) bool { return sameSnapshot(c, f) }):
			counted = append(counted, f)
		}
	}
	if own != nil {
		counted = slices.DeleteFunc(counted, func(c PointFate) bool { return sameSnapshot(c, *own) })
	}
	k.Others = len(counted)
	ownGone := isGone(e.OwnErr)
	k.Enforced = len(e.Searched) > 0 && (own != nil && own.Fate != FateUnknown || ownGone)
	switch {
	case ownGone:
		k.Problem = refuse(ownPointLost, nil, "the plan's own point %s is not there any more: %s", quote(r.SourceRecoveryPoint), safetext.Error(e.OwnErr))
	case own != nil && own.Fate != FateStays && own.Fate != FateUnknown:
		k.Problem = refuse(ownPointLost, nil, "the plan's own point %s would not be accepted: %s", quote(r.SourceRecoveryPoint), own.Message)
	case k.Enforced && k.Others < k.Required:
		k.Problem = refuse(tooFewSurvivors, inspect.Named{"found": int64(k.Others), "required": int64(k.Required)},
			"%s would stay restorable beside the plan's own, and the profile keeps %d", figures.Count(k.Others, "recovery point", "recovery points"), k.Required)
	}
	return k
}

// sameSnapshot reports whether two points are one snapshot at two addresses: a
// copy of a point is not another point to fall back to.
func sameSnapshot(a, b PointFate) bool {
	if inspect.SamePoint(a.URI, b.URI) {
		return true
	}
	return a.Kind == b.Kind && a.CheckpointID == b.CheckpointID && lastPart(a.URI) == lastPart(b.URI) && sameOffsets(a.Offsets, b.Offsets)
}

func lastPart(uri string) string {
	trimmed := strings.TrimRight(uri, "/")
	return trimmed[strings.LastIndexByte(trimmed, '/')+1:]
}

// CheckSurvivors compares the report that was approved with one made from the
// points as they are listed again, directly before COMMITTED. It refuses where
// the plan's own point or too few others are left, where a point that was to
// stay no longer does, and where there is a warning that was not accepted. Where
// the plan is recorded already it refuses nothing: the boundary is in force, and
// finishing the cleanup takes no point away.
func CheckSurvivors(approved, now Report) *inspect.Problem {
	if now.Recorded != "" {
		return nil
	}
	for _, before := range approved.Survives {
		after, known := now.fate(before.URI)
		switch {
		case !known:
			return refuse(survivorLost, nil, "%s was to stay restorable and is not there any more", quote(before.URI))
		case after.Fate != FateStays:
			return refuse(survivorLost, nil, "%s was to stay restorable and would not: %s", quote(before.URI), after.Message)
		case before.Whole && !after.Whole:
			return refuse(survivorLost, nil, "%s was whole and its files can't all be found any more", quote(before.URI))
		}
	}
	if now.Keep.Problem != nil {
		return now.Keep.Problem
	}
	var fresh []string
	for _, w := range now.Warnings {
		if !slices.ContainsFunc(approved.Warnings, func(old Warning) bool { return old.Name == w.Name }) {
			fresh = append(fresh, fmt.Sprintf("%s (%s)", safetext.Of(w.Name), w.Message))
		}
	}
	if fresh != nil {
		return refuse(newWarning, nil, "since the report was approved there is %s: %s",
			figures.Count(len(fresh), "a new warning", "new warnings"), strings.Join(fresh, "; "))
	}
	for _, gone := range append(slices.Clone(now.Lost), now.Unknown...) {
		was, known := approved.fate(gone.URI)
		if !known || was.Fate != FateLost && was.Fate != FateUnknown {
			return refuse(survivorLost, nil, "%s would be lost, and the approved report did not say so: %s", quote(gone.URI), gone.Message)
		}
	}
	return nil
}
