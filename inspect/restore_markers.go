package inspect

import (
	"fmt"
	"slices"

	"github.com/recoverctl/recoverctl/internal/safetext"
)

// markerCheck is one check that the real code makes on every marker in turn.
// order is its place among the checks of one marker.
type markerCheck struct {
	code, title string
	order       int
	about       func(Marker) bool     // markers on which it is made
	lacks       func(*restore) string // why it can't be made; nil: it always can
	judge       func(*restore, Marker) *Problem
	found       func(*restore) string // evidence when all pass
}

func isVersioned(m Marker) bool { return m.Kind == MarkerVersioned }

func hasOffsets(m Marker) bool { return m.Kind == MarkerVersioned || m.Kind == MarkerLegacy }

var markerChecks = []markerCheck{
	{"marker-null", "no marker is null", 0, func(Marker) bool { return true }, nil,
		func(_ *restore, m Marker) *Problem { return nullMarker(m) },
		func(r *restore) string { return r.markerCount() }},
	{"marker-type-unsupported", "markers are of a known type", 1, func(m Marker) bool { return m.Kind != MarkerNull }, nil,
		func(_ *restore, m Marker) *Problem { return unknownType(m) },
		func(r *restore) string { return kindWord(r.q.Markers[0]) }},
	{"marker-schema-unsupported", "marker schema is known", 2, isVersioned, nil,
		func(_ *restore, m Marker) *Problem { return unknownSchema(m) },
		func(*restore) string { return fmt.Sprintf("version %d", planSchema) }},
	{"marker-of-other-topic", "topic name is the marker's", 3, isVersioned, (*restore).lacksTopicName,
		(*restore).otherTopic,
		func(r *restore) string { return safetext.Of(r.q.Job.Topic).String() }},
	{"marker-topic-id-mismatch", "topic is the marker's", 4, isVersioned, (*restore).lacksTopic,
		(*restore).otherTopicID,
		func(r *restore) string { return safetext.Of(r.topic.id).String() }},
	{"legacy-marker-types", "legacy markers map Integer to Long", 5, isMap, nil,
		func(_ *restore, m Marker) *Problem { return wrongMapTypes(m) },
		func(*restore) string { return "Integer to Long" }},
	{"legacy-marker-negative", "nothing in a legacy marker is negative", 6, func(m Marker) bool { return m.Kind == MarkerLegacy }, nil,
		func(_ *restore, m Marker) *Problem { return negativeMap(m) },
		func(*restore) string { return "partitions and offsets from 0 on" }},
	{"marker-partition-set-mismatch", "same set of partitions", 7, hasOffsets, (*restore).lacksTopic,
		(*restore).otherPartitions,
		func(r *restore) string { return partitionList(r.topic.partitions) }},
}

// markerRules judge the markers one by one, then together.
func (r *restore) markerRules() {
	if !r.markersKnown {
		for _, c := range markerChecks {
			if c.code != "legacy-marker-types" && c.code != "legacy-marker-negative" {
				r.book.skip(c.code, c.title, "the markers are not known")
			}
		}
		return
	}
	if len(r.q.Markers) == 0 {
		return // a fresh start; with a control topic, the boundary's rules speak
	}
	r.book.together(func() {
		for _, c := range markerChecks {
			r.askMarkers(c)
		}
	})
	r.mixedRule()
	r.legacyRule()
}

// askMarkers makes one check on all markers that it is about.
func (r *restore) askMarkers(c markerCheck) {
	a := asked{rule: Rule{Code: c.code, Title: c.title}}
	lacking := ""
	if c.lacks != nil {
		lacking = c.lacks(r)
	}
	about, bad, place := 0, 0, 0
	for i := range r.lists {
		list := &r.lists[i]
		told := false
		for _, m := range list.markers {
			place++
			if isUnread(m) {
				list.broken = true
				continue
			}
			if !c.about(m) {
				continue
			}
			about++
			if lacking != "" {
				continue
			}
			p := c.judge(r, m)
			if p == nil {
				continue
			}
			bad++
			list.broken = true
			if !told {
				a.reasons = append(a.reasons, Reason{*p})
				told = true
			}
			if a.answer != fails {
				a.answer, a.order = fails, place*len(markerChecks)+c.order
			}
		}
	}
	switch {
	case about == 0:
		return
	case bad > 1:
		a.rule.Message = fmt.Sprintf("%d of %d markers: %s", bad, about, a.reasons[0].Message)
	case bad == 1:
		a.rule.Message = a.reasons[0].Message
	case lacking != "":
		a.answer, a.rule.Message = unasked, lacking
	case !r.markersWhole:
		a.answer, a.rule.Message = unasked, "the list of markers may not be whole"
	default:
		a.rule.Message = c.found(r)
	}
	r.book.add(a)
}

// lacksTopic says why the data topic is not known; "" where it is.
func (r *restore) lacksTopic() string {
	if r.topic.known {
		return ""
	}
	return r.topic.why
}

// lacksTopicName is lacksTopic for what needs only the job's word for the topic.
func (r *restore) lacksTopicName() string {
	if r.q.Job.Topic != "" {
		return ""
	}
	return "no action-state topic is configured"
}

func (r *restore) otherTopic(m Marker) *Problem {
	if m.Topic != nil && *m.Topic == r.q.Job.Topic {
		return nil
	}
	return problem("marker-of-other-topic", Named{"found": textOrNull(m.Topic)},
		"%s is of topic %s, the job's topic is %s", nameOf(m), quoteOrNull(m.Topic), quote(r.q.Job.Topic))
}

func (r *restore) otherTopicID(m Marker) *Problem {
	if !r.topic.created && m.TopicID != nil && *m.TopicID == r.topic.id {
		return nil
	}
	named := Named{"found": textOrNull(m.TopicID)}
	if r.topic.created {
		return problem("marker-topic-id-mismatch", named,
			"%s names the topic id %s, but topic %s does not exist: the job would create it with a new id", nameOf(m), idOrNull(m.TopicID), quote(r.q.Job.Topic))
	}
	return problem("marker-topic-id-mismatch", named,
		"%s names the topic id %s, but topic %s has the id %s: it was deleted and made again, or this is another cluster", nameOf(m), idOrNull(m.TopicID), quote(r.q.Job.Topic), safetext.Of(r.topic.id))
}

func (r *restore) otherPartitions(m Marker) *Problem {
	have := m.Offsets.Partitions()
	if slices.Equal(have, r.topic.partitions) {
		return nil
	}
	whose := "the topic has"
	if r.topic.created {
		whose = "the topic that the job would create has"
	}
	return problem("marker-partition-set-mismatch", Named{"markerPartitions": have, "topicPartitions": r.topic.partitions},
		"%s has the partitions %s, %s %s", nameOf(m), partitionWords(have), whose, partitionWords(r.topic.partitions))
}

// mixedRule refuses a list that holds both kinds of markers.
func (r *restore) mixedRule() {
	const code, title = "markers-mixed", "markers readable and alike"
	for i := range r.lists {
		list := &r.lists[i]
		legacy := slices.IndexFunc(list.markers, isMap)
		versioned := slices.IndexFunc(list.markers, isVersioned)
		if legacy < 0 || versioned < 0 {
			continue
		}
		list.broken = true
		first, second := min(legacy, versioned), max(legacy, versioned)
		r.book.refuse(code, title, mixedProblem(list.markers[first], list.markers[second]))
		return
	}
	if !r.markersWhole {
		r.book.skip(code, title, "the list of markers may not be whole")
		return
	}
	for _, list := range r.lists {
		for _, m := range list.markers {
			if !hasOffsets(m) || m.Problem != nil {
				r.book.skip(code, title, fmt.Sprintf("%s says nothing that could be compared", nameOf(m)))
				return
			}
		}
	}
	r.book.pass(code, title, "%s, %s", r.markerCount(), kindWord(r.q.Markers[0]))
}

// legacyRule refuses legacy markers where cleanup is configured.
func (r *restore) legacyRule() {
	const code, title = "legacy-marker-with-cleanup", "markers name their topic"
	if !r.configured() {
		return
	}
	at := slices.IndexFunc(r.q.Markers, isMap)
	switch {
	case at >= 0:
		r.book.refuse(code, title, problem(code, nil,
			"%s is a legacy map: it names no topic and no topic id, so it can't be compared with a boundary", nameOf(r.q.Markers[at])))
	case !r.markersWhole:
		r.book.skip(code, title, "the list of markers may not be whole")
	default:
		r.book.pass(code, title, "no legacy marker")
	}
}

// markerCount says how many markers of how many operators there are.
func (r *restore) markerCount() string {
	n := len(r.q.Markers)
	word := "markers"
	switch {
	case r.q.Markers[0].OperatorID == "" && n == 1:
		word = "marker"
	case r.q.Markers[0].OperatorID != "" && n == 1:
		word = "subtask"
	case r.q.Markers[0].OperatorID != "":
		word = "subtasks"
	}
	if len(r.lists) > 1 {
		return fmt.Sprintf("%d %s of %d operators", n, word, len(r.lists))
	}
	return fmt.Sprintf("%d %s", n, word)
}

func textOrNull(s *string) any {
	if s == nil {
		return nil
	}
	return *s
}

func quoteOrNull(s *string) string {
	if s == nil {
		return nullClass
	}
	return quote(*s)
}

func idOrNull(s *string) string {
	if s == nil {
		return nullClass
	}
	return safetext.Of(*s).String()
}
