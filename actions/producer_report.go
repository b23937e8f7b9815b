package actions

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/inspect/fluss"
	"github.com/recoverctl/recoverctl/internal/figures"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

// remoteDirRule is the rule of the finding that the coordinator's cleanup deletes
// the files of live entries.
const remoteDirRule = "remote-dir-without-scheme"

// ProducerReport makes the report of a plan about a producer: a pure function.
func ProducerReport(d Document, e FlussEvidence) DocumentReport {
	p := ProducerPlanOf(d)
	r := DocumentReport{
		PlanID: d.PlanID, Kind: d.Kind, Target: d.Target, At: e.At, Verdict: JudgeProducer(d, e).Verdict, Facts: d.producerFacts(e),
		Does: []string{}, Stays: []string{"Rows, tables, checkpoints, and the entries of other producers stay as they are."}, Notes: []string{}, Warnings: []Warning{},
		NotKnown: producerNotKnown(p, e), Refused: CheckProducerPlan(d, e), Open: e.Unsettled,
	}
	if e.Err != nil {
		r.Warnings = append(r.Warnings, Warning{Name: NotChecked, Message: "the coordinator could not be asked: " + safetext.Error(e.Err).String()})
		return r
	}
	if p.Kind == KindProducerDelete {
		r.Does = deleteDoes(p)
		r.NextStart = NextStart(fluss.Producer{ID: p.ID})
	} else {
		r.Does = registerDoes(p)
		r.NextStart = "not known: the logs of these offsets could not be read"
		if e.Supposed != nil {
			r.NextStart = SupposedStart(*e.Supposed)
		}
	}
	if r.Verdict == Applied {
		r.Notes = append(r.Notes, "It is as planned already: applying the plan sends nothing.")
		r.NextStart = NextStart(e.Entry)
		return r
	}
	r.Notes = append(r.Notes, producerNotes(p, e)...)
	r.Warnings = append(r.Warnings, e.journalWarnings(d)...)
	r.Warnings = append(r.Warnings, producerWarnings(p, e)...)
	return r
}

func deleteDoes(p ProducerPlan) []string {
	if p.Broken {
		return []string{
			fmt.Sprintf("The coordinator is asked to delete the entry of producer %s, whose offsets nobody can read. The id is free then, and the producer can register anew.", p.ID),
			"Where the cluster has an authorizer the coordinator refuses this, even to a super user, because it reads the file first: then only the expiry frees the id, or removing its node (/producers/" + p.ID + ") in ZooKeeper by hand.",
		}
	}
	return []string{
		fmt.Sprintf("The entry of producer %s that expires at %s is deleted: %s.", p.ID, p.Expires, bucketsOf(p.Logs)),
		"The way back, until the producer starts: recoverctl plan producer-register " + p.ID + " --offsets PLANFILE --out FILE registers the offsets that this plan's file holds.",
	}
}

func registerDoes(p ProducerPlan) []string {
	does := []string{fmt.Sprintf("Offsets are registered for producer %s, to expire %s: %s.", p.ID, ttlText(p.TTL), bucketsOf(p.Logs))}
	if p.Latest {
		does = append(does, "They are the log ends as they were when the plan was made. One that has moved by then refuses the plan.")
	}
	return append(does,
		"Where a valid entry is there by then, the coordinator answers ALREADY_EXISTS and changes nothing, and so it is told.",
		"The way back: recoverctl plan producer-delete "+p.ID+" --out FILE")
}

// bucketsOf counts what logs name, by table.
func bucketsOf(logs []ProducerLog) string {
	const most = 8
	var words []string
	for i, l := range logs {
		if i == most {
			words = append(words, fmt.Sprintf("and %d more", len(logs)-most))
			break
		}
		name := l.fact()
		if l.Name != "" {
			name = safetext.Of(l.Name).String() + " (" + name + ")"
		}
		words = append(words, figures.Count(len(l.Buckets), "bucket", "buckets")+" of "+name)
	}
	if words == nil {
		return "no tables that this user may see"
	}
	return strings.Join(words, ", ")
}

func producerNotKnown(p ProducerPlan, e FlussEvidence) []string {
	var tables []string
	for _, l := range p.Logs {
		if l.Name != "" {
			name, _, _ := strings.Cut(l.Name, " ")
			tables = append(tables, safetext.Of(name).String())
		}
	}
	slices.Sort(tables)
	tables = slices.Compact(tables)
	on := "every table that it names"
	if tables != nil {
		on = strings.Join(tables, ", ")
	}
	what := "deletes by the producer's id and compares nothing: the entry is read directly before and after, not during"
	if p.Kind == KindProducerRegister {
		what = "takes whatever offsets it is given: entry and logs are read directly before and after, not during"
	}
	out := []string{
		"The coordinator " + what + ".",
		"Whether this user may do it is known only when the coordinator is asked: it needs the right WRITE on " + on + ".",
		"The server judges an expiry by the coordinator's clock and the sink by that of its Flink host; here it is this machine's.",
	}
	if e.Err == nil && e.Entry.TTL == "" {
		out = append(out, "The cluster's settings could not be read: how long entries stay, and whether remote.data.dir has a scheme. Without one, the coordinator's cleanup deletes the files of live entries.")
	}
	return out
}

// producerNotes are what is known of the entry, and of what would be.
func producerNotes(p ProducerPlan, e FlussEvidence) []string {
	var notes []string
	if p.Kind == KindProducerDelete {
		notes = append(notes, "As things are: "+NextStart(e.Entry))
		for _, f := range e.Entry.Findings {
			// How long it still is until the expiry changes while somebody reads: when it
			// is stands above.
			if f.Severity != inspect.SeverityInfo && f.Rule != "entry-expires-soon" && f.Rule != "entry-expired" {
				notes = append(notes, f.Cause+". "+sentence(f.Next))
			}
		}
	} else if e.Entry.Found {
		notes = append(notes, fmt.Sprintf("An entry that expired at %s is still there: the coordinator replaces it.", expiryText(*e.Entry.Expires)))
	}
	if p.Kind == KindProducerRegister && p.TTL > 0 && p.TTL < time.Hour {
		notes = append(notes, "The sink must have completed its first checkpoint before that time is over, or the next start takes the log ends for its baseline.")
	}
	for _, s := range e.Sinks {
		if inspect.Ended(s.State) {
			notes = append(notes, fmt.Sprintf("Flink says that %s is %s.", jobWords(s), safetext.Of(s.State)))
		}
	}
	if e.EntryErr != nil {
		notes = append(notes, "Not all could be read: "+safetext.Error(e.EntryErr).String())
	}
	return notes
}

// sentence begins with a capital letter and ends with a dot.
func sentence(words string) string {
	if words == "" {
		return ""
	}
	return strings.ToUpper(words[:1]) + words[1:] + "."
}

// journalWarnings are those about calls that this machine made before, for other plans:
// a delete that comes late deletes what was registered since. One of this plan asks for
// the same again.
func (e FlussEvidence) journalWarnings(d Document) []Warning {
	var out []Warning
	if e.JournalErr != nil {
		out = append(out, Warning{NotChecked, "the journal of this machine could not be read whole, so that a call of another plan may still come: " + safetext.Error(e.JournalErr).String()})
	}
	if open := e.openRequests(d, false); len(open) > 0 {
		out = append(out, Warning{RequestUnsettled, sentences(open, lateEffect) + ". Nothing is sent unless this is accepted: accept it only when it is certain that the call is lost"})
	}
	return out
}

// producerWarnings are what the planner can't decide.
func producerWarnings(p ProducerPlan, e FlussEvidence) []Warning {
	var out []Warning
	warn := func(name, format string, args ...any) {
		out = append(out, Warning{Name: name, Message: fmt.Sprintf(format, args...)})
	}
	for _, s := range e.Sinks {
		if !inspect.Ended(s.State) {
			warn(SinkRunning, "%s is %s: if it is the producer's sink, it goes on writing with the baseline that it took, and may register or delete the entry itself", jobWords(s), safetext.Of(s.State))
			break
		}
	}
	switch {
	case e.SinksErr != nil:
		warn(JobStateUnknown, "whether the producer's sink runs is not known: %s", safetext.Error(e.SinksErr))
	case len(e.Sinks) == 0:
		warn(JobStateUnknown, "Flink knows no job of that name, and none whose id is the producer's: the sink may run elsewhere")
	}
	if p.Kind == KindProducerDelete {
		deleteWarnings(p, e, warn)
	} else {
		registerWarnings(p, e, warn)
	}
	return out
}

func deleteWarnings(p ProducerPlan, e FlussEvidence, warn func(name, format string, args ...any)) {
	switch {
	case p.Broken:
		warn(OffsetsUnreadable, "nobody can read what is deleted: the rows that it would have had undone are not known, and stay")
	case len(p.Logs) == 0:
		warn(OffsetsHidden, "the entry shows no tables: this user may not read them, and then what is deleted is not known here, or it was registered without any")
	case e.Entry.Expired: // nothing is lost that counted
	case e.Entry.Undo == nil:
		warn(UnfinishedRowsStay, "the rows since the stored offsets are never undone once the entry is gone; how many could not be said")
	case *e.Entry.Undo > 0:
		warn(UnfinishedRowsStay, "%s since the stored offsets, finished or not, can't be undone by the next start any more", figures.Count(*e.Entry.Undo, "row", "rows"))
	}
}

func registerWarnings(p ProducerPlan, e FlussEvidence, warn func(name, format string, args ...any)) {
	for _, f := range e.Entry.Findings {
		if f.Rule == remoteDirRule {
			warn(RemoteDirWithoutScheme, "%s. First %s", f.Cause, f.Next)
		}
	}
	if p.Latest {
		warn(UnfinishedRowsStay, "rows before these log ends that no checkpoint covers are never undone: the next start takes them for finished")
	}
	if e.Supposed == nil || e.SupposedErr != nil {
		words := "the logs of these offsets were not read"
		if e.SupposedErr != nil {
			words = "not all logs of these offsets could be read: " + safetext.Error(e.SupposedErr).String()
		}
		warn(NotChecked, "%s", words)
	}
	if e.Supposed == nil {
		return
	}
	if undo := e.Supposed.Undo; undo != nil && *undo > 0 {
		warn(RowsUndone, "the next start undoes %s: every row since these offsets, whoever wrote it", figures.Count(*undo, "row", "rows"))
	}
	raised := map[string]bool{}
	for _, f := range e.Supposed.Findings {
		name, known := map[string]string{"buckets-missing": BucketsMissing, "partitions-missing": BucketsMissing, "undo-takes-too-long": UndoTakesTooLong, "bucket-unreadable": BucketUnreadable}[f.Rule]
		if known && !raised[name] {
			warn(name, "%s", f.Cause)
			raised[name] = true
		}
	}
}
