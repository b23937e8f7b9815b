package actions

import (
	"fmt"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

// markerSchema is the only version of versioned markers that is known.
const markerSchema = 1

// CleanupFrom makes the cleanup plan of a recovery point from all its markers.
// Source is the recovery point as the operator wrote it. Only versioned markers
// authorise a deletion; the refusals and their order are the Java tool's, and
// each also names the marker. A marker without a topic, a topic id or offsets,
// over which the Java tool stumbles, is refused like one that holds them empty.
func CleanupFrom(markers []inspect.Marker, source string) (inspect.CleanupPlan, *inspect.Problem) {
	if len(markers) == 0 {
		return inspect.CleanupPlan{}, refuse("no-markers", nil, "the recovery point holds no marker, so nothing says how far its job has read")
	}
	for i, m := range markers {
		if p := fitsCleanup(markers[0], m, i == 0); p != nil {
			return inspect.CleanupPlan{}, p
		}
	}
	plan := inspect.CleanupPlan{
		SourceRecoveryPoint: source,
		Topic:               textOf(markers[0].Topic),
		TopicID:             textOf(markers[0].TopicID),
		Offsets:             inspect.Lowest(markers),
	}
	plan.PlanID = inspect.PlanID(plan.SourceRecoveryPoint, plan.Topic, plan.TopicID, plan.Offsets)
	// What is left to judge are the values, and a reader judges them all: what is
	// accepted here is a file that every reader accepts.
	parsed, p := inspect.ParsePlan(EncodePlan(plan))
	if p != nil {
		return inspect.CleanupPlan{}, blame(p, markers)
	}
	return parsed, nil
}

// fitsCleanup judges one marker by itself and beside the first one.
func fitsCleanup(first, m inspect.Marker, isFirst bool) *inspect.Problem {
	switch {
	case m.Kind != inspect.MarkerVersioned:
		return notVersioned(m)
	case m.SchemaVersion == nil:
		return refuse("marker-schema-unsupported", nil, "%s has no schema version; only version %d is known", markerName(m), markerSchema)
	case *m.SchemaVersion != markerSchema:
		return refuse("marker-schema-unsupported", inspect.Named{"schemaVersion": *m.SchemaVersion},
			"%s has schema version %d; only version %d is known", markerName(m), *m.SchemaVersion, markerSchema)
	case isFirst:
		return nil
	case textOf(m.Topic) != textOf(first.Topic) || textOf(m.TopicID) != textOf(first.TopicID):
		return refuse("markers-name-different-topics", nil, "%s names topic %s with id %s, %s names topic %s with id %s",
			markerName(first), quoted(first.Topic), quoted(first.TopicID), markerName(m), quoted(m.Topic), quoted(m.TopicID))
	case !first.Offsets.SamePartitions(m.Offsets):
		return refuse("markers-have-different-partition-sets", nil, "%s has the partitions %s, %s has %s",
			markerName(first), partitions(first.Offsets.Partitions()), markerName(m), partitions(m.Offsets.Partitions()))
	default:
		return nil
	}
}

func notVersioned(m inspect.Marker) *inspect.Problem {
	found := m.Class
	if m.Kind == inspect.MarkerNull || found == "" {
		found = string(m.Kind)
	}
	why := "it does not say which physical topic it belongs to, so it can't authorise a deletion"
	if m.Problem != nil {
		why = safetext.Of(m.Problem.Message).String()
	}
	return refuse("marker-not-versioned", inspect.Named{"found": found, "subtask": int32(m.Subtask)},
		"%s is %s and not a versioned marker%s: %s", markerName(m), safetext.Of(found), contents(m), why)
}

// contents shows the first entries of a map.
func contents(m inspect.Marker) string {
	const few = 3
	if len(m.Offsets) == 0 {
		return ""
	}
	text := " ("
	for i, p := range m.Offsets.Partitions() {
		switch {
		case i == few:
			return text + fmt.Sprintf(" and %d more)", len(m.Offsets)-few)
		case i > 0:
			text += ", "
		}
		text += fmt.Sprintf("%d: %s", p, group(m.Offsets[p]))
	}
	return text + ")"
}

// blame adds to a refused value which marker it came from.
func blame(p *inspect.Problem, markers []inspect.Marker) *inspect.Problem {
	switch p.Code {
	case "partition-negative", "offset-negative":
		at, _ := p.Named["partition"].(int32)
		for _, m := range markers {
			if offset, ok := m.Offsets[at]; ok && (at < 0 || offset < 0) {
				p.Named["subtask"] = int32(m.Subtask)
				p.Message += fmt.Sprintf(" (from %s)", markerName(m))
				return p
			}
		}
	case "blank-text":
		if p.Named["field"] == "sourceRecoveryPoint" {
			p.Message = "the recovery point's address is blank"
			return p
		}
		p.Message += fmt.Sprintf(" (from %s)", markerName(markers[0]))
	case "zero-topic-id", "offsets-empty":
		p.Message += fmt.Sprintf(" (from %s)", markerName(markers[0]))
	}
	return p
}

// markerName says which marker: its subtask, and of which operator where that is
// known.
func markerName(m inspect.Marker) string {
	if m.OperatorID == "" {
		return fmt.Sprintf("marker %d", m.Subtask)
	}
	return fmt.Sprintf("the marker of subtask %d of operator %s", m.Subtask, safetext.Of(short(m.OperatorID)))
}

func textOf(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}
