package kafka_test

import (
	"bytes"
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/actions/kafka"
	"github.com/recoverctl/recoverctl/inspect"
	readers "github.com/recoverctl/recoverctl/inspect/kafka"
	"github.com/recoverctl/recoverctl/internal/clock"
	"github.com/recoverctl/recoverctl/internal/kafkaconn"
	"github.com/recoverctl/recoverctl/internal/testkit/kafkaproxy"
)

// judgement is what the invariants say about a situation after one apply.
type judgement struct {
	violations []string
	namedRace  bool // records of a topic that was made anew between the look and the deletion were deleted
}

func (j *judgement) broken(number int, format string, args ...any) {
	j.violations = append(j.violations, fmt.Sprintf("invariant %d: ", number)+fmt.Sprintf(format, args...))
}

// judge asks all five invariants after an apply that ended with a verdict.
func (g *ground) judge(verdict actions.Outcome) judgement {
	g.Helper()
	var j judgement
	history := g.readHistory()
	starts, values := g.remaining()
	ours := g.ours()
	g.nothingLost(&j, history, starts, values, ours)
	g.committedFirst(&j, ours)
	g.olderRejected(&j, history)
	g.appliedIsRead(&j, verdict, history, starts, ours)
	g.sameVector(&j, history)
	return j
}

// recorded is what stands on the control topic now, byte for byte, whether or
// not its history makes sense: what was in force once may have been relied on.
type recorded struct {
	own      inspect.OperationStatus // the furthest of the plan; empty: it is not there
	boundary inspect.Offsets         // the highest that any record names
	readable bool                    // its history makes sense
}

func (g *ground) readHistory() recorded {
	g.Helper()
	cluster, err := kafka.Dial(kafkaconn.Config{Brokers: g.cluster.Brokers()}, clock.System{})(g.Context())
	g.must(err)
	defer cluster.Close()
	control, err := cluster.ControlTopic(g.Context(), g.control)
	g.must(err)
	_, problem := inspect.ReadControl(control.Records)
	h := recorded{boundary: inspect.Offsets{}, readable: problem == nil}
	for _, r := range control.Records {
		for _, plan := range []inspect.CleanupPlan{g.plan, g.older(), g.later()} {
			for _, status := range []inspect.OperationStatus{inspect.StatusCommitted, inspect.StatusApplied} {
				if !bytes.Equal(r.Value, actions.EncodeRecord(plan, status)) {
					continue
				}
				for p, at := range plan.Offsets {
					h.boundary[p] = max(h.boundary[p], at)
				}
				if plan.PlanID == g.plan.PlanID && h.own != inspect.StatusApplied {
					h.own = status
				}
			}
		}
	}
	return h
}

// ours are the requests of applies, without those of the situation itself.
func (g *ground) ours() (out []kafkaproxy.Request) {
	for _, r := range g.proxy.Requests() {
		if r.ClientID != "kafkatest" {
			out = append(out, r)
		}
	}
	return out
}

// nothingLost: no record at or past the boundary in force is gone, and without a
// boundary none at all.
func (g *ground) nothingLost(j *judgement, h recorded, starts map[int32]int64, values map[int32][]string, ours []kafkaproxy.Request) {
	which, limit := "old", h.boundary
	if g.remadeAt() > 0 {
		which, limit = "new", nil
	}
	for p := range int32(2) {
		start, known := starts[p]
		if !known {
			j.broken(1, "partition %d does not exist", p)
			continue
		}
		most := g.at[p]
		if which == "new" {
			most = 0
		}
		if at, in := limit[p]; in {
			most = max(most, at)
		}
		switch {
		case start <= most:
		case which == "new" && g.isNamedRace(p, start, ours):
			j.namedRace = true
		default:
			j.broken(1, "the log of partition %d starts at %d, and nothing allowed more than %d", p, start, most)
		}
		if len(values[p]) != int(groundRecords-start) {
			j.broken(1, "partition %d holds %d records from %d on", p, len(values[p]), start)
		}
		for i, value := range values[p] {
			if want := groundValue(which, p, start+int64(i)); value != want {
				j.broken(1, "partition %d holds %q where %q was written", p, value, want)
			}
		}
	}
}

// isNamedRace reports whether a deletion that was asked of the old topic's name
// reached the new topic, with the topic's identity read before it and, as far as
// that apply got, nothing in between: Kafka has no way to name a topic by its id
// there.
func (g *ground) isNamedRace(partition int32, start int64, ours []kafkaproxy.Request) bool {
	at := g.remadeAt()
	for _, trim := range kafkaproxy.Trims(ours) {
		if trim.Partition != partition || trim.Offset != start || trim.Request.Served < at {
			continue
		}
		looked := false // at the new topic before the deletion was sent
		for _, r := range ours {
			if r.Key == kmsg.Metadata && r.About(g.plan.Topic) && r.Received > at && r.Answered > 0 && r.Answered < trim.Request.Received {
				looked = true
			}
		}
		return !looked
	}
	return false
}

// committedFirst: before each deletion the plan's COMMITTED was acknowledged by
// the broker, and then read back by the very apply that deletes.
func (g *ground) committedFirst(j *judgement, ours []kafkaproxy.Request) {
	all := g.proxy.Requests()
	if err := kafkaproxy.CheckTrims(keepProducers(all, ours), g.isCommitted); err != nil {
		j.broken(2, "%v", err)
	}
	since, offset := 0, int64(0)
	for _, r := range all {
		for _, part := range r.Parts {
			records, err := part.Records()
			if err != nil || part.Answer == nil || part.Answer.Err != nil {
				continue
			}
			for i, record := range records {
				if g.isCommitted(part.Topic, record) && (since == 0 || r.Served < since) {
					since, offset = r.Served, part.Answer.Offset+int64(i)
				}
			}
		}
	}
	for _, trim := range kafkaproxy.Trims(ours) {
		run := g.runOf(trim.Request)
		if !anyRequest(ours, func(r kafkaproxy.Request) bool {
			return r.Key == kmsg.Fetch && r.Received > run && r.Received > since && r.Answered > 0 && r.Answered < trim.Request.Received && fetchesUpTo(r, g.control, offset)
		}) {
			j.broken(2, "%s: COMMITTED was not read back before", trim.Request)
		}
	}
}

// keepProducers are the requests of applies, and what anybody wrote.
func keepProducers(all, ours []kafkaproxy.Request) (out []kafkaproxy.Request) {
	mine := map[int]bool{}
	for _, r := range ours {
		mine[r.Received] = true
	}
	for _, r := range all {
		if mine[r.Received] || r.Key == kmsg.Produce {
			out = append(out, r)
		}
	}
	return out
}

func (g *ground) isCommitted(topic string, r kmsg.Record) bool {
	return topic == g.control && bytes.Equal(r.Key, []byte(g.plan.PlanID)) && bytes.Equal(r.Value, actions.EncodeRecord(g.plan, inspect.StatusCommitted))
}

// runOf is where the apply that sent a request began.
func (g *ground) runOf(r kafkaproxy.Request) (at int) {
	for _, began := range g.began {
		if began < r.Received {
			at = began
		}
	}
	return at
}

func fetchesUpTo(r kafkaproxy.Request, topic string, offset int64) bool {
	for _, part := range r.Parts {
		if part.Topic == topic && part.Offset <= offset {
			return true
		}
	}
	return false
}

func anyRequest(in []kafkaproxy.Request, wanted func(kafkaproxy.Request) bool) bool {
	for _, r := range in {
		if wanted(r) {
			return true
		}
	}
	return false
}

// olderRejected: once COMMITTED can be read, a restore from a marker one below
// the boundary is rejected, and one at the plan's own offsets is not, as long as
// the topic is the same and nobody else raised the boundary.
func (g *ground) olderRejected(j *judgement, h recorded) {
	if h.own == "" {
		return
	}
	conn, err := kafkaconn.Open(g.Context(), kafkaconn.Config{Brokers: g.cluster.Brokers()})
	g.must(err)
	defer conn.Close()
	inspector := inspect.New(nil, readers.New(conn, clock.System{}), clock.System{})
	ask := func(at inspect.Offsets) inspect.RestoreValidation {
		version := int32(1)
		v, _ := inspector.ValidateMarkers(g.Context(), g.job(), "file of markers", []inspect.Marker{{
			Kind: inspect.MarkerVersioned, SchemaVersion: &version, Topic: &g.plan.Topic, TopicID: &g.plan.TopicID, Offsets: at,
		}})
		return v
	}
	for p := range g.plan.Offsets {
		older := inspect.Offsets{0: g.plan.Offsets[0], 1: g.plan.Offsets[1]}
		older[p]--
		if v := ask(older); v.Verdict != inspect.Rejected {
			j.broken(3, "a marker one below the boundary on partition %d is %s: %v", p, v.Verdict, v.Reasons)
		}
	}
	if g.remadeAt() == 0 && h.readable && h.boundary[0] == g.plan.Offsets[0] && h.boundary[1] == g.plan.Offsets[1] {
		if v := ask(g.plan.Offsets); v.Verdict != inspect.Accepted {
			j.broken(3, "the plan's own recovery point is %s: %v", v.Verdict, v.Reasons)
		}
	}
}

// appliedIsRead: applied is said, and APPLIED recorded, only where every log start
// was read at or past its target.
func (g *ground) appliedIsRead(j *judgement, verdict actions.Outcome, h recorded, starts map[int32]int64, ours []kafkaproxy.Request) {
	if g.remadeAt() == 0 && (verdict == actions.Applied || h.own == inspect.StatusApplied) {
		for p, target := range g.plan.Offsets {
			if starts[p] < target {
				j.broken(4, "%s is said and %s recorded, and the log of partition %d starts at %d, below %d", verdict, h.own, p, starts[p], target)
			}
		}
	}
	reads := func(after, before int) bool {
		have := map[int32]bool{}
		for _, r := range ours {
			if r.Key != kmsg.ListOffsets || r.Received < after || r.Answered == 0 || r.Answered > before {
				continue
			}
			for _, part := range r.Parts {
				const start = -2
				have[part.Partition] = have[part.Partition] || (part.Topic == g.plan.Topic && part.Offset == start)
			}
		}
		return have[0] && have[1]
	}
	for _, r := range ours {
		if r.Key == kmsg.Produce && writesOf(r, g.plan, inspect.StatusApplied) {
			after := g.runOf(r)
			for _, trim := range kafkaproxy.Trims(ours) {
				if trim.Request.Received > after && trim.Request.Received < r.Received {
					after = trim.Request.Received
				}
			}
			if !reads(after, r.Received) {
				j.broken(4, "%s: APPLIED is sent without a look at every log start since the last deletion", r)
			}
		}
	}
	if verdict != actions.Applied {
		return
	}
	if h.own != inspect.StatusApplied {
		j.broken(4, "applied is said, and the record is %q", h.own)
	}
	last := g.began[len(g.began)-1]
	for _, r := range ours {
		if r.Received > last && (r.Key == kmsg.DeleteRecords || r.Key == kmsg.Produce) {
			last = r.Received
		}
	}
	if !reads(last, 1<<62) {
		j.broken(4, "applied is said without a look at every log start after the last write")
	}
	if at := g.remadeAt(); at > 0 {
		// Said of the topic as it was when it was read, at the latest moment.
		if !anyRequest(ours, func(r kafkaproxy.Request) bool {
			return r.Key == kmsg.Metadata && r.About(g.plan.Topic) && r.Received > last && r.Served > 0 && r.Served <= at
		}) {
			j.broken(4, "applied is said of a topic that was made anew before it was read again")
		}
	}
}

func writesOf(r kafkaproxy.Request, plan inspect.CleanupPlan, status inspect.OperationStatus) bool {
	want := actions.EncodeRecord(plan, status)
	for _, part := range r.Parts {
		records, err := part.Records()
		if err != nil {
			continue
		}
		for _, record := range records {
			if bytes.Equal(record.Value, want) {
				return true
			}
		}
	}
	return false
}

// sameVector: every deletion and every record of every apply is the plan's, or,
// for a deletion, the boundary's that others raised.
func (g *ground) sameVector(j *judgement, h recorded) {
	for _, trim := range kafkaproxy.Trims(g.ours()) {
		own, known := g.plan.Offsets[trim.Partition]
		if trim.Topic != g.plan.Topic || !known || (trim.Offset != own && trim.Offset != h.boundary[trim.Partition]) {
			j.broken(5, "%s deletes topic %s partition %d up to %d; the plan says %d", trim.Request, trim.Topic, trim.Partition, trim.Offset, own)
		}
	}
	for _, r := range g.ours() {
		if r.Key != kmsg.Produce {
			continue
		}
		for _, part := range r.Parts {
			records, err := part.Records()
			if err != nil {
				j.broken(5, "%s can't be read: %v", r, err)
			}
			for _, record := range records {
				if string(record.Key) != g.plan.PlanID {
					continue
				}
				if !writesOf(r, g.plan, inspect.StatusCommitted) && !writesOf(r, g.plan, inspect.StatusApplied) {
					j.broken(5, "%s writes another text for the plan: %s", r, record.Value)
				}
			}
		}
	}
}
