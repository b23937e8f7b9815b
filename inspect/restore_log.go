package inspect

import (
	"fmt"
	"slices"
	"strings"

	"github.com/recoverctl/recoverctl/internal/figures"
)

// boundaryEvidence is what the control topic says about a boundary, as far as
// the rules of a restore could find out.
type boundaryEvidence struct {
	ops     []Operation
	offsets Offsets // nil where there is no boundary to compare with
	why     string  // why there is none
}

const (
	belowCode, belowTitle = "below-committed-boundary", "marker at or past the boundary"
	rangeCode, rangeTitle = "offset-out-of-range", "marker inside the log"
	noMarkerCode          = "no-marker-while-boundary-committed"
)

// boundaryRules judge the control topic's records, then the markers against the
// boundary that they commit.
func (r *restore) boundaryRules() {
	if !r.configured() {
		return
	}
	if r.shapeKnown {
		r.historyRules()
	} else {
		r.skipHistory("control-history", r.boundary.why)
	}
	if r.markersKnown && len(r.q.Markers) == 0 {
		r.noMarkerRule()
		return
	}
	r.belowRule()
}

var historyRules = [][2]string{
	{"control-history", "control records can be read"},
	{"no-committed-boundary", "a boundary is committed"},
	{"boundary-of-other-topic", "boundary is of this topic"},
	{"boundary-of-other-partition-set", "boundary has the same partitions"},
	{"incomparable-boundaries", "boundaries can be ordered"},
}

// skipHistory skips the history rules from one on.
func (r *restore) skipHistory(from, why string) {
	at := slices.IndexFunc(historyRules, func(rule [2]string) bool { return rule[0] == from })
	for _, rule := range historyRules[at:] {
		r.book.skip(rule[0], rule[1], why)
	}
	r.boundary.why = why
}

func (r *restore) historyRules() {
	ops, p := ReadControl(r.q.Control.Records)
	if p != nil {
		// The rule carries the record's own word, so that it is found by its reason.
		r.book.refuse(p.Code, historyRules[0][1], p)
		r.skipHistory(historyRules[1][0], "the control records are refused")
		return
	}
	r.boundary.ops = ops
	r.book.pass(historyRules[0][0], historyRules[0][1], "%s", cleanups(len(ops)))
	if len(ops) == 0 {
		c := r.q.Control
		c.Name = r.controlName()
		r.book.refuse(historyRules[1][0], historyRules[1][1], noCommittedBoundary(c))
		r.skipHistory(historyRules[2][0], "no boundary is committed")
		return
	}
	r.book.pass(historyRules[1][0], historyRules[1][1], "%s", cleanups(len(ops)))
	r.book.together(func() {
		r.askOperations(historyRules[2], 0, func(op Operation) bool { return op.Topic != r.q.Job.Topic }, foreignTopic)
		r.askOperations(historyRules[3], 1, func(Operation) bool { return false }, foreignPartitions)
	})
	code, title := historyRules[4][0], historyRules[4][1]
	if !alike(ops) {
		r.book.skip(code, title, "the cleanups are not of one topic")
		r.boundary.why = "the cleanups are not of one topic"
		return
	}
	if p := incomparable(ops); p != nil {
		r.book.refuse(code, title, p)
		r.boundary.why = "the boundaries can't be ordered"
		return
	}
	r.book.pass(code, title, "%s", cleanups(len(ops)))
	if r.book.failed(historyRules[2][0]) || r.book.failed(historyRules[3][0]) {
		r.boundary.why = "the boundary is of another topic"
		return
	}
	r.boundary.offsets = Boundary(ops)
}

// askOperations makes one check on every operation. Without the data topic only
// what surely refuses is known.
func (r *restore) askOperations(rule [2]string, order int, surely func(Operation) bool, judge func(Operation, History) *Problem) {
	h := History{Topic: r.q.Job.Topic, TopicID: r.topic.id, Partitions: r.topic.partitions}
	a := asked{rule: Rule{Code: rule[0], Title: rule[1]}}
	for i, op := range r.boundary.ops {
		if !r.topic.known && !surely(op) {
			continue
		}
		if p := judge(op, h); p != nil {
			a.reasons = append(a.reasons, Reason{*p})
			if a.answer != fails {
				a.answer, a.order = fails, 2*i+order
			}
		}
	}
	switch {
	case a.answer == fails:
		a.rule.Message = evidence(a.reasons)
		a.reasons = a.reasons[:1]
	case !r.topic.known:
		a.answer, a.rule.Message = unasked, r.topic.why
	default:
		a.rule.Message = cleanups(len(r.boundary.ops))
	}
	r.book.add(a)
}

func cleanups(n int) string { return figures.Count(n, "cleanup", "cleanups") }

// alike reports whether all operations are of one topic and partition set.
func alike(ops []Operation) bool {
	for _, op := range ops[1:] {
		if op.Topic != ops[0].Topic || op.TopicID != ops[0].TopicID || !slices.Equal(op.Offsets.Partitions(), ops[0].Offsets.Partitions()) {
			return false
		}
	}
	return true
}

// noMarkerRule refuses a fresh start where a boundary is committed.
func (r *restore) noMarkerRule() {
	const title = "a marker is there"
	if r.boundary.offsets == nil {
		r.book.skip(noMarkerCode, title, r.boundary.why)
		return
	}
	r.book.refuse(noMarkerCode, title, problem(noMarkerCode, Named{"boundary": r.boundary.offsets},
		"the recovery point has no marker, and a boundary is committed (%s): without a marker nothing says where to read from", cleanups(len(r.boundary.ops))))
}

// belowRule compares each operator's lowest markers with the boundary.
func (r *restore) belowRule() {
	switch {
	case r.boundary.offsets == nil:
		r.book.skip(belowCode, belowTitle, r.boundary.why)
		return
	case !r.markersKnown:
		r.book.skip(belowCode, belowTitle, "the markers are not known")
		return
	}
	var reasons []Reason
	var short []string
	for _, list := range r.lists {
		if slices.ContainsFunc(list.markers, isMap) {
			continue // a map names no topic that the boundary could be of
		}
		for _, p := range list.lowest().Partitions() {
			bound, ok := r.boundary.offsets[p]
			if at := list.lowest()[p]; ok && at < bound {
				reasons = append(reasons, Reason{*r.belowProblem(list, p, at, bound)})
				short = append(short, fmt.Sprintf("%d: %s < %s", p, group(at), group(bound)))
			}
		}
	}
	if len(reasons) > 0 {
		r.book.fail(belowCode, belowTitle, fewWords(short), bounded(reasons)...)
		return
	}
	if slices.ContainsFunc(r.q.Markers, isMap) {
		r.book.skip(belowCode, belowTitle, "a legacy marker names no topic, so it can't be compared with a boundary")
		return
	}
	if why := r.doubt(); why != "" {
		r.book.skip(belowCode, belowTitle, why)
		return
	}
	r.book.pass(belowCode, belowTitle, "%s", countOf(len(r.boundary.offsets), len(r.boundary.offsets), "partition", "partitions"))
}

func (r *restore) belowProblem(list markerList, p int32, at, bound int64) *Problem {
	by := ""
	for _, op := range r.boundary.ops {
		if op.Offsets[p] == bound {
			by = " " + short(op.PlanID)
			break
		}
	}
	return problem(belowCode, Named{"partition": p, "requested": at, "boundary": bound},
		"%spartition %d must be read from %s, cleanup%s committed %s", r.whose(list), p, group(at), by, group(bound))
}

// rangeRule asks whether every offset that would be read first is still, and
// already, in the log.
func (r *restore) rangeRule() {
	switch {
	case r.markersKnown && len(r.q.Markers) == 0:
		return
	case !r.topic.known:
		r.book.skip(rangeCode, rangeTitle, r.topic.why)
		return
	case !r.markersKnown:
		r.book.skip(rangeCode, rangeTitle, "the markers are not known")
		return
	}
	var reasons []Reason
	var short []string
	var inside, unknown []int32
	for _, list := range r.lists {
		for _, p := range list.lowest().Partitions() {
			at := list.lowest()[p]
			log, ok := r.topic.ranges[p]
			switch {
			case !ok && r.topic.has(p):
				unknown = append(unknown, p)
			case !ok:
			case at < log.Start || at > log.End:
				reasons = append(reasons, Reason{*r.rangeProblem(list, p, at, log)})
				short = append(short, fmt.Sprintf("%d: %s not in [%s, %s]", p, group(at), group(log.Start), group(log.End)))
			default:
				inside = append(inside, p)
			}
		}
	}
	switch {
	case len(reasons) > 0:
		r.book.fail(rangeCode, rangeTitle, rangeEvidence(short, inside), bounded(reasons)...)
	case len(unknown) > 0:
		r.book.skip(rangeCode, rangeTitle, fmt.Sprintf("the log range of %s could not be read: %s", onPartitions(unknown), r.partitionError(unknown[0])))
	case r.doubt() != "":
		r.book.skip(rangeCode, rangeTitle, r.doubt())
	default:
		r.book.pass(rangeCode, rangeTitle, "%s", countOf(len(inside), len(inside), "partition", "partitions"))
	}
}

func (r *restore) rangeProblem(list markerList, p int32, at int64, log LogRange) *Problem {
	named := Named{"partition": p, "requested": at, "logStart": log.Start, "logEnd": log.End}
	switch {
	case at < 0:
		return problem(rangeCode, named, "%spartition %d must be read from %s, which is no offset (log %s to %s)",
			r.whose(list), p, group(at), group(log.Start), group(log.End))
	case at < log.Start:
		return problem(rangeCode, named, "%spartition %d must be read from %s, but its log starts at %s (and ends at %s): the records between are gone, by retention, a deletion or another cleanup",
			r.whose(list), p, group(at), group(log.Start), group(log.End))
	default:
		return problem(rangeCode, named, "%spartition %d must be read from %s, but its log ends at %s (and starts at %s): the log was truncated, the topic was made again, or this is another cluster",
			r.whose(list), p, group(at), group(log.End), group(log.Start))
	}
}

// whose names the operator where several restore their own markers.
func (r *restore) whose(list markerList) string { return whose(r.lists, list) }

func whose(all []markerList, list markerList) string {
	if len(all) < 2 || list.operator == "" {
		return ""
	}
	return "operator " + short(list.operator) + ": "
}

func (r *restore) partitionError(p int32) string {
	for _, partition := range r.q.Data.Partitions {
		if partition.ID == p && partition.Err != nil {
			return quote(partition.Err.Error())
		}
	}
	return "no offsets were given"
}

// doubt says why numbers that pass prove nothing: they may be of another topic,
// or a marker that could not be read may be lower. It is empty without a doubt.
func (r *restore) doubt() string {
	if !r.markersWhole {
		return "the numbers pass, but the list of markers may not be whole"
	}
	for _, list := range r.lists {
		if list.broken {
			return "the numbers pass, but a marker was refused"
		}
	}
	if r.topic.known || r.boundary.offsets == nil {
		return ""
	}
	// The data topic is not known. The boundary can still be compared with markers
	// that name the same topic as it does.
	op := r.boundary.ops[0]
	for _, m := range r.q.Markers {
		if m.TopicID == nil || *m.TopicID != op.TopicID || !slices.Equal(m.Offsets.Partitions(), op.Offsets.Partitions()) {
			return "the numbers pass, but the markers and the boundary are not of one topic"
		}
	}
	return ""
}

// few is how many partitions are written out in the evidence of a rule.
const few = 4

// fewWords joins the first of many pieces of evidence.
func fewWords(short []string) string {
	if len(short) <= few {
		return strings.Join(short, "   ")
	}
	return strings.Join(short[:few], "   ") + fmt.Sprintf("   and %d more", len(short)-few)
}

// rangeEvidence names the failing partitions, or the passing ones where those
// are fewer.
func rangeEvidence(short []string, inside []int32) string {
	if len(short) > few && len(inside) > 0 && len(inside) <= few {
		return fmt.Sprintf("%s; passes on %s", countOf(len(short), len(short)+len(inside), "partition", "partitions"), partitionList(inside))
	}
	return fewWords(short)
}
