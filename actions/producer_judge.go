package actions

import (
	"fmt"
	"slices"
	"strings"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/inspect/fluss"
	"github.com/recoverctl/recoverctl/internal/figures"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

// entryState is where the coordinator's entry stands to the plan.
func (p ProducerPlan) entryState(e FlussEvidence) FactState {
	switch {
	case e.Err != nil:
		return FactUnread
	case p.Kind == KindProducerDelete && !e.Entry.Found:
		return FactPlanned
	case p.Kind == KindProducerDelete && entryOf(e.Entry) == p.targetID():
		return FactBefore
	case p.Kind == KindProducerDelete:
		return FactOther
	case !e.takes():
		return FactBefore // none is valid
	case !e.Entry.Broken() && offsetsOf(logsOf(e.Entry)) == p.targetID():
		return FactPlanned
	default:
		return FactOther
	}
}

// producerFacts compares the plan's facts with the entry.
func (d Document) producerFacts(e FlussEvidence) []FactVerdict {
	p := ProducerPlanOf(d)
	state := p.entryState(e)
	now := map[string]string{}
	names := []string{}
	tell := func(name, text string) {
		now[name] = text
		names = append(names, name)
	}
	switch {
	case e.Err != nil || !e.Entry.Found:
	case e.Entry.Broken():
		tell(FactEntry, unreadable)
	default:
		tell(FactExpires, expiryText(*e.Entry.Expires))
		for _, log := range logsOf(e.Entry) {
			tell(log.fact(), log.text())
		}
	}
	out := make([]FactVerdict, 0, len(d.Facts))
	for _, f := range d.Facts {
		v := FactVerdict{Name: f.Name, Before: f.Before, BeforeSource: f.Source, After: f.After, State: state}
		if text, found := now[f.Name]; found {
			v.Now = &text
		}
		// Of an entry that is neither, the facts that are as they were say so.
		if state == FactOther && p.Kind == KindProducerDelete && v.Now != nil && *v.Now == *f.Before {
			v.State = FactBefore
		}
		out = append(out, v)
		names = slices.DeleteFunc(names, func(name string) bool { return name == f.Name })
	}
	if state == FactOther {
		for _, name := range names { // what the plan knows nothing of
			text := now[name]
			out = append(out, FactVerdict{Name: name, Now: &text, State: FactOther})
		}
	}
	return out
}

// startFails are the rules of a producer's findings that say that the next start
// with the entry fails.
var startFails = []string{"table-gone", "partition-gone", "baseline-expired", "baseline-beyond-log", "baseline-negative"}

// CheckProducerPlan asks whether a plan can be applied as things are; nil where it
// can, or where that could not be read. A plan that is done already passes.
func CheckProducerPlan(d Document, e FlussEvidence) *Refusal {
	if e.Err != nil {
		return nil
	}
	p := ProducerPlanOf(d)
	if e.Cluster != d.Target.Cluster {
		return refusedAt(StageIdentity, refuse("plan-cluster-mismatch", inspect.Named{"found": e.Cluster},
			"the coordinator here is %s, and the plan was made with %s; Fluss tells no id of a cluster, so that is all it is known by", quote(e.Cluster), quote(d.Target.Cluster)))
	}
	switch state := p.entryState(e); {
	case state == FactOther && p.Kind == KindProducerDelete:
		return refusedAt(StageEntry, refuse("producer-entry-changed", nil, "producer %s has another entry now than the plan found (%s): something registered since", quote(p.ID), entryWords(e.Entry)))
	case state == FactOther:
		return refusedAt(StageEntry, e.taken())
	case state == FactPlanned || p.Kind == KindProducerDelete || e.Supposed == nil:
		return nil
	}
	if moved := p.moved(*e.Supposed); p.Latest && moved != "" {
		return refusedAt(StageOffsets, refuse("log-end-moved", nil,
			"the plan's offsets are not the log ends any more: %s; rows written since it was made would be undone by the next start", moved))
	}
	for _, f := range e.Supposed.Findings {
		if slices.Contains(startFails, f.Rule) {
			return refusedAt(StageOffsets, refuse("next-start-fails", inspect.Named{"rule": f.Rule}, "a start with these offsets fails (%s): %s", f.Rule, f.Cause))
		}
	}
	return nil
}

// CheckProducerWarnings refuses what nobody accepted: a warning that the approved
// report does not have.
func CheckProducerWarnings(d Document, approved DocumentReport, e FlussEvidence) *inspect.Problem {
	for _, w := range ProducerReport(d, e).Warnings {
		if !slices.ContainsFunc(approved.Warnings, func(a Warning) bool { return a.Name == w.Name }) {
			return refuse(newWarning, inspect.Named{"warning": w.Name}, "since the report was approved there is %s: %s", w.Name, w.Message)
		}
	}
	return nil
}

// moved names the first buckets whose log ends are not the plan's offsets.
func (p ProducerPlan) moved(now fluss.Producer) string {
	const most = 3
	var out []string
	n := 0
	for _, t := range now.Tables {
		for _, b := range t.Buckets {
			if b.Latest == nil || b.Baseline == nil || *b.Latest == *b.Baseline {
				continue
			}
			if n++; n <= most {
				out = append(out, fmt.Sprintf("bucket %d of %s was %s and is %s", b.Bucket, safetext.Of(t.Table), group(*b.Baseline), group(*b.Latest)))
			}
		}
	}
	if n > most {
		out = append(out, fmt.Sprintf("and %d more", n-most))
	}
	return strings.Join(out, ", ")
}

// entryWords are an entry in a sentence.
func entryWords(p fluss.Producer) string {
	switch {
	case !p.Found:
		return "nothing is stored"
	case p.Broken():
		return "one whose offsets nobody can read"
	}
	buckets := 0
	for _, t := range p.Tables {
		buckets += len(t.Buckets)
	}
	word := "expires"
	if p.Expired {
		word = "expired"
	}
	return fmt.Sprintf("%s of %s, %s at %s", figures.Count(buckets, "bucket", "buckets"), figures.Count(len(p.Tables), "table or partition", "tables and partitions"), word, expiryText(*p.Expires))
}

// JudgeProducer says what has become of a plan from the entry as it was read.
func JudgeProducer(d Document, e FlussEvidence) OperationVerdict {
	p := ProducerPlanOf(d)
	v := OperationVerdict{PlanID: d.PlanID, Verdict: Undecided, Partitions: []PartitionVerdict{}, Facts: d.producerFacts(e)}
	if e.Err != nil {
		v.Message = "the coordinator could not be asked: " + safetext.Error(e.Err).String()
		return v
	}
	v.NextStart = NextStart(e.Entry)
	if r := CheckProducerPlan(d, e); r != nil && r.Stage == StageIdentity {
		v.Verdict, v.Message = Contradicted, r.Problem.Message
		return v
	}
	id := quote(p.ID)
	switch state := p.entryState(e); {
	case state == FactPlanned && p.Kind == KindProducerDelete:
		v.Verdict, v.Message = Applied, fmt.Sprintf("nothing is stored for producer %s, as read", id)
	case state == FactBefore && p.Kind == KindProducerDelete:
		v.Verdict, v.Message = NotStarted, fmt.Sprintf("the entry of producer %s is as the plan found it", id)
	case state == FactOther && p.Kind == KindProducerDelete:
		v.Verdict, v.Message = Contradicted, fmt.Sprintf("the entry that the plan deletes is not there, and producer %s has another one (%s): something registered since", id, entryWords(e.Entry))
	case state == FactPlanned:
		v.Verdict, v.Message = Applied, fmt.Sprintf("exactly the plan's offsets are stored for producer %s, and valid until %s", id, expiryText(*e.Entry.Expires))
	case state == FactOther:
		v.Verdict, v.Message = Contradicted, fmt.Sprintf("producer %s has an entry that is not the plan's: %s", id, entryWords(e.Entry))
	case e.Entry.Found && !e.Entry.Broken() && expiryText(*e.Entry.Expires) != p.Expires && offsetsOf(logsOf(e.Entry)) == p.targetID():
		v.Verdict, v.Message = Undecided, fmt.Sprintf("exactly the plan's offsets are stored for producer %s, and by this machine's clock they expired at %s: they were registered and their time is over, or the clocks differ", id, expiryText(*e.Entry.Expires))
	case e.Entry.Found:
		v.Verdict, v.Message = NotStarted, fmt.Sprintf("no entry of producer %s is valid: the one there expired at %s", id, expiryText(*e.Entry.Expires))
	default:
		v.Verdict, v.Message = NotStarted, fmt.Sprintf("nothing is stored for producer %s: it was not registered, or was deleted since, as a sink does after its first checkpoint", id)
	}
	if open := e.openRequests(d, true); len(open) > 0 && v.Verdict == NotStarted {
		v.Verdict = Undecided
		v.Message += "; " + sentences(open, lateEffect)
	}
	return v
}

// NextStart says what the next start of a producer's sink makes of an entry.
func NextStart(p fluss.Producer) string {
	fresh := "A start without a checkpoint registers the log ends as they are then: it undoes nothing, and unfinished rows before them stay for good."
	switch {
	case !p.Found:
		return fresh + restored
	case p.Broken():
		return "A start without a checkpoint is told that an entry exists, waits 5 minutes for offsets that nobody can read, and fails." + restored
	case p.Expired:
		return fresh + " The entry there has expired and does not count." + restored
	}
	return startWith(p, "before "+expiryText(*p.Expires))
}

// restored is what is said beside what a start without a checkpoint does.
const restored = " A restore from a checkpoint takes its baseline from the checkpoint, if that has one."

// SupposedStart says what a start makes of offsets that nobody has registered yet:
// when they expire is not known by then.
func SupposedStart(p fluss.Producer) string { return startWith(p, "before they expire") }

// startWith says what a start does with a valid entry.
func startWith(p fluss.Producer, when string) string {
	until := fmt.Sprintf("A start without a checkpoint %s keeps the stored offsets", when)
	for _, f := range p.Findings {
		if slices.Contains(startFails, f.Rule) {
			return fmt.Sprintf("%s and fails: %s.%s", until, f.Cause, restored)
		}
	}
	switch {
	case len(p.Tables) == 0:
		until += "; this user sees none of them."
	case p.Undo == nil:
		until += " and undoes the rows since; how many could not be read."
	case *p.Undo == 0:
		until += ": nothing was written since, so it undoes nothing."
	default:
		until += fmt.Sprintf(" and undoes the %s written since.", figures.Count(*p.Undo, "row", "rows"))
	}
	return until + restored
}
