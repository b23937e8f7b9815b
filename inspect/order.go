package inspect

import (
	"cmp"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
)

// NewestFirst puts recovery points in order: those of one job by checkpoint id
// (Flink counts its checkpoints and savepoints together), others by time. Ids of different jobs say nothing about each
// other, and a file's date may be that of a copy, so where the two disagree a
// point counts as no older than those of its job with a lower id. A damaged
// checkpoint has the id that its folder is named for.
func NewestFirst(points []RecoveryPoint) {
	order := make([]placed, len(points))
	for i, p := range points {
		order[i] = placed{p, jobOf(p), idOf(p), when(p.Taken)}
		if order[i].id < 0 {
			order[i].group = p.URI // nothing orders it but its time
		}
	}
	slices.SortStableFunc(order, func(a, b placed) int {
		return cmp.Or(cmp.Compare(a.group, b.group), cmp.Compare(a.id, b.id))
	})
	for i := 1; i < len(order); i++ {
		if before := order[i-1]; before.group == order[i].group && before.since.After(order[i].since) {
			order[i].since = before.since
		}
	}
	slices.SortStableFunc(order, func(a, b placed) int {
		return cmp.Or(b.since.Compare(a.since), cmp.Compare(a.group, b.group), cmp.Compare(b.id, a.id))
	})
	for i, o := range order {
		points[i] = o.point
	}
}

// placed is a point with what orders it.
type placed struct {
	point RecoveryPoint
	group string // points of one group are ordered by id
	id    int64  // -1: not known
	since time.Time
}

// idOf is a point's checkpoint id: its metadata's, else that of a folder chk-N.
func idOf(p RecoveryPoint) int64 {
	if p.CheckpointID >= 0 && p.MetadataVersion > 0 {
		return p.CheckpointID
	}
	digits, found := strings.CutPrefix(path.Base(samePlace(p.URI)), "chk-")
	if id, err := strconv.ParseInt(digits, 10, 64); found && err == nil && id >= 0 {
		return id
	}
	return -1
}

func when(t Taken) time.Time {
	if t.Time == nil {
		return time.Time{}
	}
	return *t.Time
}

// jobOf groups points of one job: by the first six digits of the job's id, which
// a savepoint's name has too; else by folder and kind.
func jobOf(p RecoveryPoint) string {
	place := samePlace(p.URI)
	if name := path.Base(place); savepointName.MatchString(name) {
		return "job " + name[len("savepoint-"):len("savepoint-")+6]
	}
	folder := path.Dir(place)
	if id := path.Base(folder); isJobID(id) {
		return "job " + id[:6]
	}
	return folder + " " + string(p.Kind)
}
