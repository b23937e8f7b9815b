package inspect

import (
	"fmt"

	"github.com/recoverctl/recoverctl/internal/safetext"
)

// nullClass is how a null element is named where a class is asked for.
const nullClass = "null"

// Merge is what the markers of a recovery point amount to: the smallest offset
// of each partition over all of them, because a restore hands every marker to
// every subtask and begins where the most cautious one says. Markers that don't
// belong together merge to nothing, and the problem names the one that doesn't
// fit.
//
// Two operators of one job restore their own lists; merged together they are
// where the first of them begins to read, if they agree about the topic.
func Merge(markers []Marker) Merged {
	if len(markers) == 0 {
		return Merged{Kind: MergedNone, Offsets: Offsets{}}
	}
	offsets, even := lowestOf(markers)
	if p := mergeProblem(markers, even); p != nil {
		return Merged{Kind: MergedInvalid, Offsets: Offsets{}, Problem: p}
	}
	first := markers[0]
	out := Merged{Kind: MergedLegacy, Offsets: offsets}
	if first.Kind == MarkerVersioned {
		out.Kind, out.Topic, out.TopicID = MergedVersioned, first.Topic, first.TopicID
	}
	return out
}

// Lowest is the smallest offset per partition over all markers that have any.
func Lowest(markers []Marker) Offsets {
	out, _ := lowestOf(markers)
	return out
}

// lowestOf is Lowest, and whether the markers are even: all name the same
// partitions, and nothing is negative. It is one walk over markers of hundreds of
// subtasks, in place of one for each of these questions.
func lowestOf(markers []Marker) (lowest Offsets, even bool) {
	even = true
	for i, m := range markers {
		if i == 0 {
			lowest = make(Offsets, len(m.Offsets))
		}
		even = even && (i == 0 || len(m.Offsets) == len(lowest))
		for p, offset := range m.Offsets {
			at, known := lowest[p]
			if !known || offset < at {
				lowest[p] = offset
			}
			even = even && p >= 0 && offset >= 0 && (known || i == 0)
		}
	}
	if lowest == nil {
		lowest = Offsets{}
	}
	return lowest, even
}

// mergeProblem is the first problem that keeps markers from being merged. Even
// markers need no look at each partition.
func mergeProblem(markers []Marker, even bool) *Problem {
	for _, m := range markers {
		p := shapeProblem(m)
		if p == nil && !even {
			p = valueProblem(m)
		}
		if p != nil {
			return p
		}
	}
	first := markers[0]
	for _, m := range markers[1:] {
		if p := mixedProblem(first, m); p != nil {
			return p
		}
	}
	for _, m := range markers[1:] {
		if first.Kind == MarkerVersioned && (*m.Topic != *first.Topic || *m.TopicID != *first.TopicID) {
			return problem("markers-name-different-topics", nil, "%s names topic %s with id %s, %s names topic %s with id %s",
				nameOf(first), quote(*first.Topic), safetext.Of(*first.TopicID), nameOf(m), quote(*m.Topic), safetext.Of(*m.TopicID))
		}
		if !even && !first.Offsets.SamePartitions(m.Offsets) {
			return problem("markers-have-different-partition-sets", nil, "%s has the partitions %s, %s has %s",
				nameOf(first), partitionWords(first.Offsets.Partitions()), nameOf(m), partitionWords(m.Offsets.Partitions()))
		}
	}
	return nil
}

// shapeProblem judges what one marker is by itself. What a versioned marker says
// was checked when it was made and is not checked by Flink when it is read, so it
// is judged here, its numbers by valueProblem.
func shapeProblem(m Marker) *Problem {
	for _, check := range []func(Marker) *Problem{unreadMarker, nullMarker, unknownType, unknownSchema, wrongMapTypes} {
		if p := check(m); p != nil {
			return p
		}
	}
	if m.Kind == MarkerVersioned {
		if p := blankMarkerText(m); p != nil {
			return p
		}
	}
	if len(m.Offsets) == 0 {
		return problem("offsets-empty", nil, "%s names no partition", nameOf(m))
	}
	return nil
}

// valueProblem judges the partitions and offsets of one marker.
func valueProblem(m Marker) *Problem {
	if p := negativeMap(m); p != nil {
		return p
	}
	return negativeEntry(m.Offsets, nameOf(m))
}

func unreadMarker(m Marker) *Problem { return m.Problem }

func nullMarker(m Marker) *Problem {
	if m.Kind != MarkerNull {
		return nil
	}
	return problem("marker-null", nil, "%s is null", nameOf(m))
}

func unknownType(m Marker) *Problem {
	if m.Kind != MarkerOther {
		return nil
	}
	return problem("marker-type-unsupported", Named{"found": m.Class},
		"%s is a %s, neither a map of partitions to offsets nor a versioned marker", nameOf(m), safetext.Of(m.Class))
}

func unknownSchema(m Marker) *Problem {
	if m.Kind != MarkerVersioned || m.SchemaVersion != nil && *m.SchemaVersion == planSchema {
		return nil
	}
	if m.SchemaVersion == nil {
		return problem("marker-schema-unsupported", nil, "%s has no schema version; only version %d is known", nameOf(m), planSchema)
	}
	return problem("marker-schema-unsupported", Named{"schemaVersion": *m.SchemaVersion},
		"%s has schema version %d; only version %d is known", nameOf(m), *m.SchemaVersion, planSchema)
}

func wrongMapTypes(m Marker) *Problem {
	if m.Kind != MarkerLegacyTyped {
		return nil
	}
	for _, e := range m.Entries {
		if e.Key.Int == nil || e.Value.Long == nil {
			return problem("legacy-marker-types", nil, "%s maps %s to %s instead of an Integer to a Long", nameOf(m), typed(e.Key), typed(e.Value))
		}
	}
	return problem("legacy-marker-types", nil, "%s is not a map of Integer to Long", nameOf(m))
}

func negativeMap(m Marker) *Problem {
	if m.Kind != MarkerLegacy {
		return nil
	}
	p, found := firstNegative(m.Offsets)
	if !found {
		return nil
	}
	return problem("legacy-marker-negative", Named{"partition": p, "requested": m.Offsets[p]},
		"%s has the offset %s for partition %d; neither may be negative", nameOf(m), group(m.Offsets[p]), p)
}

func blankMarkerText(m Marker) *Problem {
	for _, t := range []struct {
		field string
		text  *string
	}{{"topic", m.Topic}, {"topicId", m.TopicID}} {
		if t.text == nil || isBlank(*t.text) {
			return problem("blank-text", Named{"field": t.field}, "%s has a blank %s", nameOf(m), t.field)
		}
	}
	return nil
}

// mixedProblem refuses a list of legacy and versioned markers.
func mixedProblem(a, b Marker) *Problem {
	if isMap(a) == isMap(b) {
		return nil
	}
	return problem("markers-mixed", nil, "%s is %s and %s is %s: a job has one kind of markers", nameOf(a), kindWord(a), nameOf(b), kindWord(b))
}

func isMap(m Marker) bool { return m.Kind == MarkerLegacy || m.Kind == MarkerLegacyTyped }

func kindWord(m Marker) string {
	switch m.Kind {
	case MarkerVersioned:
		return "versioned"
	case MarkerLegacy, MarkerLegacyTyped:
		return "a legacy map"
	case MarkerNull:
		return nullClass
	default:
		return "a " + safetext.Of(m.Class).String()
	}
}

// nameOf says which marker: the subtask, and of which operator where that is
// known.
func nameOf(m Marker) string {
	if m.OperatorID == "" {
		return fmt.Sprintf("marker %d", m.Subtask)
	}
	return fmt.Sprintf("the marker of subtask %d of operator %s", m.Subtask, safetext.Of(short(m.OperatorID)))
}

// partitionWords is partitionList, and a word where there are none.
func partitionWords(parts []int32) string {
	if len(parts) == 0 {
		return "none"
	}
	return partitionList(parts)
}

// typed is a value in a sentence, with its Java type.
func typed(v TypedValue) string {
	switch {
	case v.String != nil:
		return "the String " + quote(*v.String)
	case v.Int != nil:
		return fmt.Sprintf("the Integer %d", *v.Int)
	case v.Long != nil:
		return fmt.Sprintf("the Long %s", group(*v.Long))
	case v.Type == "" || v.Type == nullClass:
		return nullClass
	default:
		return "a " + safetext.Of(v.Type).String()
	}
}
