package actions

import (
	"fmt"
	"slices"
	"strings"

	"github.com/recoverctl/recoverctl/inspect/arkflow"
	"github.com/recoverctl/recoverctl/internal/figures"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

// namedPartitions is of how many partitions the positions are told one by one.
const namedPartitions = 6

// arkflowReplayed says what a rollback processes again and what it loses, as far as
// the points of the job show it.
func arkflowReplayed(p ArkFlowPlan, e ArkFlowEvidence) []string {
	points := e.Job.Points.Points // the newest first
	at := slices.IndexFunc(points, func(o arkflow.Point) bool { return o.ID == p.Point })
	if at < 0 {
		return []string{fmt.Sprintf("What is processed again is not known: %s is not among the points that were read.", safetext.Of(p.Point))}
	}
	return append(again(points[at], points[:at]), lost(p, points[:at])...)
}

// again says where the sources go on, and how much was read since.
func again(from arkflow.Point, later []arkflow.Point) []string {
	if len(from.Positions) == 0 {
		return []string{"The point holds no source positions: the sources are not moved, and the offsets of the consumer group decide what is read again."}
	}
	var at []string
	for _, s := range from.Positions[:min(len(from.Positions), namedPartitions)] {
		at = append(at, fmt.Sprintf("%s from %s", partitionText(s), group(int64(s.Offset))))
	}
	if more := len(from.Positions) - namedPartitions; more > 0 {
		at = append(at, fmt.Sprintf("and %d more", more))
	}
	out := []string{"Its sources go on at " + strings.Join(at, ", ") + "."}
	newest := slices.IndexFunc(later, func(o arkflow.Point) bool { return o.Status == arkCompleted && len(o.Positions) > 0 })
	if newest < 0 {
		return append(out, "How much was read since is not exposed: no later point holds source positions.")
	}
	read, back := uint64(0), false
	for _, f := range from.Positions {
		for _, n := range later[newest].Positions {
			if sideOf(n.Topic) != sideOf(f.Topic) || n.Partition != f.Partition {
				continue
			}
			if n.Offset < f.Offset {
				back = true
				continue
			}
			read += n.Offset - f.Offset
		}
	}
	switch {
	case back:
		return append(out, fmt.Sprintf("The positions of %s lie before these: the job read from elsewhere since, and how much is processed again is not exposed.", safetext.Of(later[newest].ID)))
	case read == 0:
		return append(out, fmt.Sprintf("By %s nothing was read since.", safetext.Of(later[newest].ID)))
	}
	return append(out, fmt.Sprintf("By %s at least %s read since: they are processed again, and what they led to outside the job happens again.",
		safetext.Of(later[newest].ID), figures.Count(int64(read), "record was", "records were")))
}

func partitionText(s arkflow.SourcePosition) string {
	topic := "topic not recorded"
	if s.Topic != nil {
		topic = safetext.Of(*s.Topic).String()
	}
	return fmt.Sprintf("%s/%d", topic, s.Partition)
}

// lost says what of the job's state does not come back.
func lost(p ArkFlowPlan, later []arkflow.Point) []string {
	n := 0
	for _, o := range later {
		if o.Status == arkCompleted && o.JobVersion != nil && *o.JobVersion > p.Version {
			n++
		}
	}
	if n == 0 {
		return []string{"What the job's state held since then is lost."}
	}
	return []string{fmt.Sprintf("What the job's state held since then is lost: %s in the store, and version %d restores none of them.",
		figures.Count(n, "completed point of a later version stays", "completed points of later versions stay"), p.Version)}
}
