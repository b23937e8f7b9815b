package inspect

import (
	"fmt"
	"slices"
)

// window is what a restore would read again, where the markers and the log say
// so: nothing where markers are refused, and no partition outside its log.
func (r *restore) window() []Window {
	out := []Window{}
	if !r.topic.known || r.markersKnown && len(r.q.Markers) == 0 || r.doubtfulMarkers() {
		return out
	}
	from := Lowest(r.q.Markers)
	for _, p := range from.Partitions() {
		if log, ok := r.topic.ranges[p]; ok && log.Start <= from[p] && from[p] <= log.End {
			out = append(out, Window{Partition: p, From: from[p], To: log.End})
		}
	}
	return out
}

func (r *restore) doubtfulMarkers() bool {
	return !r.markersWhole || slices.ContainsFunc(r.lists, func(l markerList) bool { return l.broken })
}

// notes are what follows from the verdict and the facts beside it.
func (r *restore) notes(v RestoreValidation) []string {
	notes := append([]string{}, r.boundaryNotes(v)...)
	if r.topic.known && r.topic.created {
		notes = append(notes, fmt.Sprintf("Topic %s does not exist. It is judged as the empty topic with %d partitions and a new id that a restore would create.",
			quote(r.q.Job.Topic), len(r.topic.partitions)))
	}
	if r.markersKnown && len(r.q.Markers) == 0 && !r.configured() {
		notes = append(notes, "The recovery point has no marker: the job starts without action state and replays nothing.")
	}
	if r.shapeKnown {
		c := r.q.Control
		c.Name = r.controlName()
		notes = append(notes, hiddenRecords(c)...)
		for _, reason := range v.Reasons {
			notes = append(notes, keepACopy(&reason.Problem)...)
		}
	}
	notes = append(notes, r.flinkNotes()...)
	notes = append(notes, r.hiddenSubtasks()...)
	if slices.ContainsFunc(r.q.Markers, func(m Marker) bool { return m.TopicID != nil && *m.TopicID == ZeroTopicID }) {
		notes = append(notes, "A marker names the zero topic id, from a broker without topic ids: no cleanup can be planned from this recovery point.")
	}
	return notes
}

// boundaryNotes say whether the records that a refused restore wants still
// exist, and how far the log is trimmed.
func (r *restore) boundaryNotes(v RestoreValidation) []string {
	if r.boundary.offsets == nil || !r.topic.known || !r.book.failed(belowCode) {
		return nil
	}
	for _, rule := range v.Rules {
		if (rule.Result == Failed || rule.Result == WouldFail) && rule.Code != belowCode && rule.Code != rangeCode {
			return nil
		}
	}
	var kept, gone, untrimmed []int32
	from := Lowest(r.q.Markers)
	for p, bound := range r.boundary.offsets {
		log, ok := r.topic.ranges[p]
		if !ok {
			continue
		}
		if log.Start < bound {
			untrimmed = append(untrimmed, p)
		}
		at, ok := from[p]
		switch {
		case !ok || at >= bound:
		case log.Start <= at:
			kept = append(kept, p)
		default:
			gone = append(gone, p)
		}
	}
	var notes []string
	if len(kept) > 0 {
		notes = append(notes, fmt.Sprintf("The records from the marker on still exist on %s. %s; the boundary stays in force either way.", onPartitions(kept), r.whatDestroys()))
	}
	if len(gone) > 0 {
		notes = append(notes, fmt.Sprintf("The records from the marker on are gone on %s: the log starts past it.", onPartitions(gone)))
	}
	if len(untrimmed) > 0 {
		notes = append(notes, fmt.Sprintf("The boundary is in force, the log not trimmed to it yet on %s: %s.",
			countOf(len(untrimmed), len(r.boundary.offsets), "partition", "partitions"), partitionList(untrimmed)))
	}
	return notes
}

func (r *restore) whatDestroys() string {
	if slices.ContainsFunc(r.boundary.ops, func(op Operation) bool { return op.Status == StatusCommitted }) {
		return "Finishing the cleanup destroys them"
	}
	return "The cleanup is recorded as APPLIED although they are there, and the next one destroys them"
}

// hiddenSubtasks names subtasks whose marker lies past the log's end while a
// lower one hides it: the real check looks at the minimum only.
func (r *restore) hiddenSubtasks() []string {
	var notes []string
	const most = 3
	for _, list := range r.lists {
		for _, m := range list.markers {
			for _, p := range m.Offsets.Partitions() {
				log, ok := r.topic.ranges[p]
				if !ok || m.Offsets[p] <= log.End || list.lowest()[p] > log.End {
					continue
				}
				notes = append(notes, fmt.Sprintf("On partition %d, %s lies at %s, past the log end %s. A restore looks only at the lowest marker and does not see it: find out whether the log was truncated.",
					p, nameOf(m), group(m.Offsets[p]), group(log.End)))
				break
			}
			if len(notes) == most {
				return notes
			}
		}
	}
	return notes
}
