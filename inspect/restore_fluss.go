package inspect

import (
	"fmt"
	"slices"
	"time"

	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/figures"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

// Store is where a job keeps its action state. The empty one is Kafka.
type Store string

// The stores.
const (
	StoreKafka Store = "kafka"
	StoreFluss Store = "fluss"
)

// BucketOf is the bucket of the rows of a business key, in a table with so many.
type BucketOf func(key string, buckets int32) int32

// place is the partition or bucket that the job itself would write a record with
// this key to. It is false where that is not known: in Fluss for keys whose text
// is not in the record key.
func (j Job) place(k ActionKey, parts int) (int32, bool) {
	if j.Store != StoreFluss {
		return k.ComputedPartition(parts)
	}
	if j.BucketOf == nil || parts <= 0 || k.Generation != KeyGeneration1 && k.Generation != KeyGeneration2 {
		return 0, false
	}
	return j.BucketOf(string(k.Text), int32(parts)), true
}

// refreshes reports whether the store may write the states that it keeps anew
// with each recovery point. Releases 0.1 to 0.3 do not; the work after them does:
// it takes the log ends for the marker first, and then appends what it keeps.
func (j Job) refreshes() bool {
	return j.Store == StoreFluss && !slices.Contains([]Release{Release01, Release02, Release03}, j.Runtime)
}

// HasCleanups is nil where the job's action state can be cleaned up, as a topic can:
// with a boundary on a control topic, deleted prefixes and settings. Op is what that
// is asked for.
func (j Job) HasCleanups(op string) error {
	if j.Store != StoreFluss {
		return nil
	}
	return fault.New(fault.Usage, op, "the action state of this job lies in Fluss, where rows expire by themselves: there are no cleanups and no control topic").
		WithHint("recoverctl inspect job says when they expire (table.log.ttl), and inspect fluss buckets --point URI how long the rows of a recovery point stay").WithRef("table " + safetext.Of(j.Topic).String())
}

// Part is the store's own word for a part of the log: partition or bucket.
func (s Store) Part() string {
	if s == StoreFluss {
		return "bucket"
	}
	return "partition"
}

// Log is the store's own word for the whole log: topic or table.
func (s Store) Log() string {
	if s == StoreFluss {
		return "table"
	}
	return "topic"
}

// Servers is what those who keep the log are called.
func (s Store) Servers() string {
	if s == StoreFluss {
		return "Fluss servers"
	}
	return "brokers"
}

// The codes of the rules by which a restore from Fluss is judged: those of the
// messages by which it fails.
const (
	flussReadCode, flussReadTitle     = "fluss-offsets-unread", "every bucket's offsets can be read"
	flussBucketCode, flussBucketTitle = "fluss-bucket-set", "same set of buckets"
	flussLossCode, flussLossTitle     = "fluss-data-loss", "marker inside the log, or the bucket idle"
	flussTypesCode, flussTypesTitle   = "legacy-marker-types", "markers map Integer to Long"
)

// validateFluss answers as ValidateRestore does for a job whose action state lies
// in a Fluss table. Its store knows no topic, no control topic and no boundary; it
// takes maps for markers and passes over everything else; and it skips a bucket
// that nobody wrote to since the marker before it asks whether its rows are there.
func (r *restore) validateFluss() RestoreValidation {
	r.topic = r.dataTopic()
	r.pointRules()
	r.flussMarkers()
	r.flussBuckets()
	v := RestoreValidation{Point: r.q.Point, Window: r.flussWindow(), Replayed: r.replayed(), Assumed: r.assumedFluss(), Marker: r.flussMarker(), Next: []NextStep{}}
	if len(r.wanted()) > 0 {
		r.flussRows()
	}
	r.book.verdict(&v)
	v.Runtime = []Runtime{r.flussRuntime(v)}
	v.Notes = r.flussNotes()
	return v
}

// maps are the markers that the store takes.
func (r *restore) maps() []Marker {
	return slices.DeleteFunc(slices.Clone(r.q.Markers), func(m Marker) bool { return !isMap(m) })
}

// wanted is where each bucket would be read from: the smallest offset over all
// maps, whether or not they name the same buckets. It is empty where there are none,
// and where none names a bucket: the store then rebuilds nothing.
func (r *restore) wanted() Offsets { return Lowest(r.maps()) }

// wantedBy is what each operator that has maps would read.
func (r *restore) wantedBy() []markerList {
	var lists []markerList
	for _, l := range byOperator(r.maps()) {
		if len(l.lowest()) > 0 {
			lists = append(lists, l)
		}
	}
	return lists
}

// flussMarkers judges the markers themselves.
func (r *restore) flussMarkers() {
	if !r.markersKnown {
		r.book.skip(flussTypesCode, flussTypesTitle, "the markers are not known")
		return
	}
	for _, m := range r.q.Markers {
		if p := nullMarker(m); p != nil { // which Flink itself can't restore
			r.book.refuse(p.Code, "no marker is null", p)
			break
		}
	}
	if len(r.maps()) == 0 {
		return
	}
	for _, m := range r.q.Markers {
		if p := wrongMapTypes(m); m.Kind == MarkerLegacyTyped && p != nil {
			r.book.refuse(flussTypesCode, flussTypesTitle, p)
			return
		}
	}
	if !r.markersWhole || slices.ContainsFunc(r.q.Markers, isUnread) {
		r.book.skip(flussTypesCode, flussTypesTitle, "the list of markers may not be whole")
		return
	}
	r.book.pass(flussTypesCode, flussTypesTitle, "%s", r.markerCount())
}

// flussBuckets compares the markers with the table, in the order of the store.
func (r *restore) flussBuckets() {
	if r.markersKnown && len(r.wanted()) == 0 {
		return
	}
	rules := [][2]string{{flussReadCode, flussReadTitle}, {flussBucketCode, flussBucketTitle}, {flussLossCode, flussLossTitle}}
	skip := func(why string) {
		for _, rule := range rules {
			r.book.skip(rule[0], rule[1], why)
		}
	}
	if !r.topic.known {
		skip(r.topic.why)
		return
	}
	var unread []int32
	for _, b := range r.topic.partitions {
		if _, ok := r.topic.ranges[b]; !ok {
			unread = append(unread, b)
		}
	}
	if len(unread) > 0 {
		r.book.skip(flussReadCode, flussReadTitle, fmt.Sprintf("the offsets of %s could not be read: %s", bucketWords(unread), r.partitionError(unread[0])))
	} else {
		r.book.pass(flussReadCode, flussReadTitle, "%s", bucketCount(len(r.topic.partitions)))
	}
	rules = rules[1:]
	if !r.markersKnown {
		skip("the markers are not known")
		return
	}
	lists := r.wantedBy()
	at := slices.IndexFunc(lists, func(l markerList) bool { return !slices.Equal(l.lowest().Partitions(), r.topic.partitions) })
	if at >= 0 {
		have := lists[at].lowest().Partitions()
		r.book.refuse(flussBucketCode, flussBucketTitle, problem(flussBucketCode, Named{"marker": have, "table": r.topic.partitions},
			"%sthe markers name %s and the table has %s: the table was made again, or its number of buckets changed; only a start without markers goes through", whose(lists, lists[at]), bucketWords(have), bucketWords(r.topic.partitions)))
	} else {
		r.book.pass(flussBucketCode, flussBucketTitle, "%s", bucketCount(len(r.topic.partitions)))
	}
	r.flussLoss(lists, unread)
}

// flussLoss asks whether what would be read is still there. Each operator reads by its
// own markers.
func (r *restore) flussLoss(lists []markerList, unread []int32) {
	var reasons []Reason
	idle, inside := 0, 0
	for _, list := range lists {
		want, who := list.lowest(), whose(lists, list)
		for _, b := range want.Partitions() {
			log, ok := r.topic.ranges[b]
			if !ok {
				continue
			}
			at := want[b]
			named := Named{"bucket": b, "requested": at, "logStart": log.Start, "logEnd": log.End}
			switch {
			case log.End == at:
				idle++
			case log.End < at:
				reasons = append(reasons, Reason{*problem(flussLossCode, named, "%sbucket %d must be read from %s, and its log ends at %s (and starts at %s): the table was made again, rows were lost with a server, or this is another cluster",
					who, b, group(at), group(log.End), group(log.Start))})
			case log.Start > at:
				reasons = append(reasons, Reason{*problem(flussLossCode, named, "%sbucket %d must be read from %s, and its log starts at %s (and ends at %s): the rows between expired (table.log.ttl)",
					who, b, group(at), group(log.Start), group(log.End))})
			default:
				inside++
			}
		}
	}
	switch {
	case len(reasons) > 0:
		r.book.fail(flussLossCode, flussLossTitle, evidence(reasons), bounded(reasons)...)
	case len(unread) > 0:
		r.book.skip(flussLossCode, flussLossTitle, fmt.Sprintf("the offsets of %s could not be read", bucketWords(unread)))
	case !r.markersWhole || slices.ContainsFunc(r.q.Markers, isUnread):
		r.book.skip(flussLossCode, flussLossTitle, "the list of markers may not be whole")
	default:
		r.book.pass(flussLossCode, flussLossTitle, "%s to be read, %s idle", bucketCount(inside), group(int64(idle)))
	}
}

func bucketCount(n int) string { return countOf(n, n, "bucket", "buckets") }

// bucketWords names buckets for a sentence.
func bucketWords(buckets []int32) string {
	if len(buckets) == 0 {
		return "no buckets"
	}
	if len(buckets) == 1 {
		return fmt.Sprintf("bucket %d", buckets[0])
	}
	return "the buckets " + partitionList(buckets)
}

// flussWindow is what a restore would read again.
func (r *restore) flussWindow() []Window {
	out := []Window{}
	if !r.topic.known || !r.markersWhole || slices.ContainsFunc(r.q.Markers, isUnread) {
		return out
	}
	want := r.wanted()
	for _, b := range want.Partitions() {
		log, ok := r.topic.ranges[b]
		if at := want[b]; ok && (log.Start <= at || at == log.End) && at <= log.End {
			out = append(out, Window{Partition: b, From: at, To: log.End})
		}
	}
	return out
}

// flussRows judges the rows of the window. What the store asks of a row is that its
// payload is an action state, whatever the release: it takes every key.
func (r *restore) flussRows() {
	const code, title = "window-records", windowRecords
	if !r.q.ReadWindow {
		r.book.leave(code, title, "not read: a row whose payload is no action state stops the restore")
		return
	}
	r.windowAnswer(code, title)
	r.leftOfWindow()
}

// flussMarker is the point as far as the outcomes of calls depend on it.
func (r *restore) flussMarker() PointMarker {
	m := PointMarker{Point: r.q.Point}
	switch {
	case r.q.PointErr != nil:
		m.Why = unread("the recovery point", r.q.PointErr)
	case !r.markersWhole || slices.ContainsFunc(r.q.Markers, isUnread):
		m.Why = "its markers are not known"
	case r.book.failed(flussTypesCode):
		m.Why = "its markers are of types that the job can't use"
	case len(r.wanted()) == 0:
		// The job starts without action state, which is what markers at the log end
		// come to.
		m.Offsets = Offsets{}
		for b, log := range r.topic.ranges {
			m.Offsets[b] = log.End
		}
	default:
		m.Offsets, m.Last = r.wanted(), r.last(r.wantedBy())
	}
	return m
}

// flussRuntime says what the job's release does: the store has followed these
// rules since there is one.
func (r *restore) flussRuntime(v RestoreValidation) Runtime {
	out := Runtime{Release: r.q.Job.Runtime}
	if out.Release == ReleaseUnknown {
		out.Release = ReleaseNext
	}
	switch {
	case v.Verdict == Accepted && r.markersKnown && len(r.wanted()) == 0:
		out.Outcome, out.Message = ReleaseAccepts, "there is no marker that it takes: it starts without action state and replays nothing"
	case v.Verdict == Accepted:
		out.Outcome, out.Message = ReleaseAccepts, "its Fluss store follows these rules and accepts"
	case v.Verdict == Rejected:
		out.Outcome, out.Message = ReleaseRejects, "its Fluss store follows these rules: "+v.Reasons[0].Message
	default:
		out.Outcome, out.Message = ReleaseOutcomeUnknown, "its Fluss store follows these rules, and not all of them could be asked"
	}
	return out
}

func (r *restore) assumedFluss() []string {
	release := "release not known"
	if r.q.Job.Runtime != ReleaseUnknown {
		release = "release " + safetext.Of(string(r.q.Job.Runtime)).String()
	}
	out := []string{release, "action state in Fluss"}
	if r.q.Job.FlinkVersion != "" {
		out = append(out, "Flink "+safetext.Of(r.q.Job.FlinkVersion).String())
	}
	if r.q.Job.Operator.ID != "" {
		out = append(out, "agent operator "+r.q.Job.Operator.String())
	}
	return out
}

// replayLimit is how long the store replays before it gives up, in minutes.
const replayLimit = 5

// slowReplay is how many rows are told to be many: Fluss's own client read some
// 50,000 a second where it was slow.
const slowReplay = 50_000 * 60 * replayLimit

func (r *restore) flussNotes() []string {
	notes := []string{}
	if r.topic.known && r.topic.created {
		notes = append(notes, fmt.Sprintf("Table %s does not exist. It is judged as the empty table with %d buckets that a restore would create.", quote(r.q.Job.Topic), len(r.topic.partitions)))
	}
	ignored := 0
	for _, m := range r.q.Markers {
		if !isMap(m) && !isUnread(m) && m.Kind != MarkerNull {
			ignored++
		}
	}
	switch {
	case r.markersKnown && len(r.q.Markers) == 0:
		notes = append(notes, "The recovery point has no marker: the job starts without action state and replays nothing.")
	case r.markersKnown && len(r.maps()) > 0 && len(r.wanted()) == 0:
		notes = append(notes, "No marker names a bucket: the job starts without action state and replays nothing.")
	case ignored > 0:
		notes = append(notes, fmt.Sprintf("%s of %d are no maps: the job passes over them with a warning in its log.", group(int64(ignored)), len(r.q.Markers)))
	}
	rows := int64(0)
	for _, w := range r.flussWindow() {
		rows += w.To - w.From
	}
	if rows > slowReplay {
		notes = append(notes, fmt.Sprintf("A restore reads %s rows again and gives up after %d minutes: Fluss's own client may be too slow for that.", group(rows), replayLimit))
	}
	switch {
	case len(r.wanted()) == 0:
	case olderThanTable(r.q.Data, r.q.Taken):
		notes = append([]string{fmt.Sprintf("The table was made at %s, after this recovery point was taken (%s): its rows are not those that the markers count. The store does not notice, and would go by other rows.",
			r.q.Data.Created.Format(time.RFC3339), r.q.Taken.UTC().Format(time.RFC3339))}, notes...)
	default:
		notes = append(notes, "A marker names no table id: a table that was made again with as many buckets and at least as many rows is not noticed. Compare its id and its creation with the job's history.")
	}
	return append(notes, r.flinkNotes()...)
}

// olderThanTable reports whether a recovery point was taken before the table was made,
// as far as both are known: by clocks of two machines.
func olderThanTable(data DataTopic, taken *time.Time) bool {
	const apart = time.Minute // clocks that differ by less are no evidence
	return data.Exists && !data.Created.IsZero() && taken != nil && taken.Add(apart).Before(data.Created)
}

// olderFindings are about points that the store would take and that are of another
// table of the same name.
func olderFindings(job Job, ev reading, points []PointSummary) []Finding {
	var older []string
	for _, p := range points {
		if p.Verdict != Rejected && len(p.Offsets) > 0 && olderThanTable(ev.data, p.Taken.Time) {
			older = append(older, p.URI)
		}
	}
	if len(older) == 0 {
		return nil
	}
	return []Finding{{
		Severity: SeverityError, Rule: "point-older-than-table", Refs: older, Numbers: Named{"points": int32(len(older)), "created": ev.data.Created.Format(time.RFC3339)},
		Cause: fmt.Sprintf("table %s was made at %s, after %s that a restore would accept: its rows are not those that their markers count",
			quote(job.Topic), ev.data.Created.Format(time.RFC3339), figures.Count(len(older), "recovery point was taken", "recovery points were taken")),
		Next: "restore from none of them with this table: find out who made it again, and start from a recovery point that was taken since",
	}}
}

// flussFindings are what is wrong with a Fluss table first.
func flussFindings(job Job, ev reading) []Finding {
	ref := "table " + quote(job.Topic)
	switch {
	case ev.dataErr != nil:
		return []Finding{unreadable(ruleTopicUnreadable, "the action-state table", ev.dataErr)}
	case !ev.data.Exists:
		return []Finding{{
			Severity: SeverityError, Rule: "table-missing", Refs: []string{ref}, Numbers: Named{},
			Cause: fmt.Sprintf("%s does not exist, or this user may not see it; a restore would create it empty with %d buckets", ref, job.Partitions),
			Next:  "check the table's name and the Fluss servers: recoverctl inspect fluss tables",
		}}
	}
	var out []Finding
	if ev.partial != nil {
		out = append(out, unreadable("table-partly-unreadable", "a part of the action-state table", ev.partial))
	}
	var broken, leaderless []int32
	for _, p := range ev.data.Partitions {
		switch {
		case p.Leader < 0:
			leaderless = append(leaderless, p.ID)
		case p.Err != nil:
			broken = append(broken, p.ID)
		}
	}
	if len(leaderless) > 0 {
		out = append(out, Finding{
			Severity: SeverityError, Rule: "bucket-without-leader", Refs: []string{ref}, Numbers: Named{"buckets": leaderless},
			Cause: fmt.Sprintf("without a leader: %s of %s", bucketWords(leaderless), ref),
			Next:  "bring back the tablet servers that keep them: recoverctl inspect fluss buckets shows which; no restore can read them now",
		})
	}
	if len(broken) > 0 {
		out = append(out, Finding{
			Severity: SeverityError, Rule: "bucket-unreadable", Refs: []string{ref}, Numbers: Named{"buckets": broken},
			Cause: fmt.Sprintf("the offsets of %s of %s could not be read", bucketWords(broken), ref),
			Next:  "reload; if it stays, look at the leaders: recoverctl inspect fluss buckets",
		})
	}
	return append(out, flussSettingFindings(ref, ev.data)...)
}

// flussSettingFindings warn where the table itself takes away what a restore
// needs.
func flussSettingFindings(ref string, data DataTopic) []Finding {
	var out []Finding
	if value, ok := data.Setting("table.log.ttl"); ok && value != "-1" {
		out = append(out, Finding{
			Severity: SeverityInfo, Rule: "rows-expire", Refs: []string{ref}, Numbers: Named{"table.log.ttl": value},
			Cause: fmt.Sprintf("rows of %s expire after %s (table.log.ttl), in whole segments: a recovery point whose marker they lie behind is then rejected, unless its bucket was idle since", ref, safetext.Of(value)),
			Next:  "compare the age of the oldest row that each recovery point needs: recoverctl inspect fluss buckets --point URI",
		})
	}
	if value, ok := data.Setting("table.replication.factor"); ok && value == "1" {
		out = append(out, Finding{
			Severity: SeverityWarning, Rule: "one-replica", Refs: []string{ref}, Numbers: Named{"table.replication.factor": value},
			Cause: ref + " is kept once: with its tablet server the newest rows are lost, and appends are not flushed to disk one by one",
			Next:  "make the table with more replicas before it is needed",
		})
	}
	if value, ok := data.Setting("table.datalake.enabled"); ok && value == "true" {
		out = append(out, Finding{
			Severity: SeverityWarning, Rule: "lake-table", Refs: []string{ref}, Numbers: Named{},
			Cause: ref + " is tiered to a lake: a server may give no more what lies there, and a restore that begins before it stands still",
			Next:  "ask the leaders for the rows at the marker before a restore: recoverctl inspect fluss buckets --point URI",
		})
	}
	return out
}
