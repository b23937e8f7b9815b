package fluss

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/figures"
	"github.com/recoverctl/recoverctl/internal/flussrpc"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

// judgement says what an entry means to a restart: each line of the table of what
// decides that is a finding.
type judgement struct {
	out     *Producer
	add     add
	ref     []string
	now     time.Time
	verdict Safety
}

// done is the producer as it was judged, with what the cluster's settings mean for
// it.
func (j *judgement) done(settings []Setting) Producer {
	settingFindings(slices.DeleteFunc(slices.Clone(settings), func(x Setting) bool { return x.Key != remoteDirKey }), j.add)
	j.out.Findings = sorted(j.out.Findings)
	j.out.Verdict = j.verdict
	return *j.out
}

// worse lowers the verdict.
func (j *judgement) worse(s Safety) {
	if s == NotSafe || j.verdict != NotSafe {
		j.verdict = s
	}
}

// broken is an entry whose offsets can't be read by anybody.
func (j *judgement) broken(err error) {
	j.verdict = NotSafe
	numbers, until := inspect.Named{}, ""
	if n := j.out.Node; n != nil && n.Expires != nil {
		at := n.Expires.Format(time.RFC3339)
		numbers["expires"], until = at, " (its node in ZooKeeper expires at "+at+")"
	}
	j.add(inspect.SeverityError, "offsets-file-missing", j.ref, numbers,
		"without an authorizer a delete frees the id: then the producer registers anew, and rows that it wrote before are never undone; with one only the expiry does, or removing the node in ZooKeeper by hand",
		"an entry is there and its offsets can't be read%s: the sink waits for them in vain, and registering says that the entry exists: %s", until, safetext.Error(err))
}

// orphan is a folder whose producer has no entry.
func (j *judgement) orphan() {
	if j.out.Folder == nil || !*j.out.Folder || j.out.Node != nil && j.out.Node.Found {
		return
	}
	j.add(inspect.SeverityInfo, "files-without-node", j.ref, nil, "nothing needs to be done: the coordinator's next cleanup removes them",
		"remote storage has a folder for this producer, and nothing is stored for it: they are of an entry that is gone, or of a register that is under way, and no start uses them")
}

// nothing is an id without an entry.
func (j *judgement) nothing() {
	j.verdict = UnknownSafety
	j.add(inspect.SeverityInfo, "no-entry", j.ref, nil,
		"is it the id that the sink uses: its option sink.producer-id, or else the Flink job id, which is new with each submission?",
		"nothing is stored for this producer. A job that is restored from a checkpoint takes its baseline from there, and has its entry deleted after its first one; a job that starts afresh takes the ends as they are then, and rows written before are never undone")
}

const (
	soon      = time.Hour // until an entry expires
	undoLimit = time.Hour // how long a sink undoes before it gives up

	// undoRate is how many rows a second are undone by a slow sink: an estimate that
	// is told as one.
	undoRate = 5_000
)

// entry judges an entry that could be read; others are partitions that it does not
// name, and err is what of its tables could not be read.
func (j *judgement) entry(others []ProducerTable, err error) {
	j.verdict = Safe
	if err != nil {
		j.worse(UnknownSafety)
	}
	j.expiry()
	if len(j.out.Tables) == 0 {
		j.worse(UnknownSafety)
		j.add(inspect.SeverityWarning, "no-tables", j.ref, nil, "give this user READ on the tables, and ask again",
			"the entry shows no tables: it was registered without any, they were dropped, or this user may not read them")
	}
	total, whole := int64(0), err == nil && len(j.out.Tables) > 0
	for _, t := range j.out.Tables {
		rows, known := j.table(t)
		total += rows
		whole = whole && known
	}
	rows, known := j.others(others)
	total, whole = total+rows, whole && known
	if whole {
		j.out.Undo = &total
	}
	if took := time.Duration(total/undoRate) * time.Second; took > undoLimit {
		j.worse(NotSafe)
		j.add(inspect.SeverityError, "undo-takes-too-long", j.ref, inspect.Named{"rows": total}, "keep the sink running, or accept the rows: after an hour the undo fails and the job restarts with the same entry",
			"%s rows are to be undone: at %s a second, which is an estimate, that takes %s, and the sink gives up after %s", figures.Group(total), figures.Group(undoRate), took, undoLimit)
	}
	j.add(inspect.SeverityInfo, "two-clocks", j.ref, nil, "compare the clocks of the coordinator, of Flink's hosts and of this machine",
		"the server judges the expiry by the coordinator's clock and the sink by that of its Flink host; here it is this machine's")
	if !j.out.Expired {
		j.add(inspect.SeverityInfo, "older-baseline-stays", j.ref, nil, "delete the entry only where the rows since then are to stay",
			"while the entry is valid, registering again changes nothing: the offsets below stay in force")
	}
}

func (j *judgement) expiry() {
	at := j.out.Expires.Format(time.RFC3339)
	left := j.out.Expires.Sub(j.now)
	switch {
	case j.out.Expired:
		j.worse(NotSafe)
		j.add(inspect.SeverityError, "entry-expired", j.ref, inspect.Named{"expires": at},
			"a start before the first checkpoint takes the ends as they are then for its baseline: settle the rows since then by hand, or restore from a checkpoint",
			"the entry expired at %s, %s ago; it is told until the next cleanup (%s), and the sink does not take it any more", at, (-left).Truncate(time.Second), j.sweep())
	case left < soon:
		j.worse(UnknownSafety)
		j.add(inspect.SeverityWarning, "entry-expires-soon", j.ref, inspect.Named{"expires": at},
			"restart before that, or the next start takes the ends as they are then for its baseline", "the entry expires at %s, in %s", at, left.Truncate(time.Second))
	}
}

// sweep says when entries that have expired are removed.
func (j *judgement) sweep() string {
	if j.out.Sweep == nil {
		return "every " + orUnknown(j.out.Cleanup)
	}
	return "every " + orUnknown(j.out.Cleanup) + ", next at about " + j.out.Sweep.Format(time.RFC3339)
}

func orUnknown(s string) string {
	if s == "" {
		return "an interval that is not known"
	}
	return s
}

// table judges one table or partition; rows are those to be undone, as far as
// known.
func (j *judgement) table(t ProducerTable) (rows int64, known bool) {
	name := fmt.Sprintf("table %s (id %d)", safetext.Of(t.Table), t.ID)
	switch {
	case t.unread:
		j.worse(UnknownSafety)
		j.add(inspect.SeverityWarning, "table-unread", append(j.ref, fmt.Sprintf("table id %d", t.ID)), inspect.Named{"tableId": t.ID},
			"ask again", "whether the entry's table with the id %d is there could not be asked", t.ID)
		return 0, false
	case t.Table == "":
		j.worse(NotSafe)
		j.add(inspect.SeverityError, "table-gone", append(j.ref, fmt.Sprintf("table id %d", t.ID)), inspect.Named{"tableId": t.ID},
			"if it was dropped, delete the entry: its offsets mean nothing in a table that was made since; if it is only hidden, give this user DESCRIBE",
			"the entry is of a table with the id %d, which is not there, or not visible to this user", t.ID)
		return 0, false
	case t.Partition != nil && t.Name == "":
		j.worse(NotSafe)
		j.add(inspect.SeverityError, "partition-gone", append(j.ref, name), inspect.Named{"partitionId": *t.Partition},
			"the partition expired or was dropped: its rows can't be undone", "the entry is of partition %d of %s, which is not there any more", *t.Partition, name)
		return 0, false
	case t.Partition != nil:
		name += " partition " + safetext.Of(t.Name).String()
	}
	if len(t.Missing) > 0 {
		j.worse(UnknownSafety)
		j.add(inspect.SeverityWarning, "buckets-missing", append(j.ref, name), inspect.Named{"buckets": t.Missing},
			"was the entry registered for this table as it is now?", "the entry says nothing of %s of %s: they are undone from offset 0 on", figures.Ranges(t.Missing, 8), name)
	}
	return j.buckets(name, slices.Concat(t.Buckets, t.rest))
}

// buckets judges buckets of one log.
func (j *judgement) buckets(name string, buckets []ProducerBucket) (rows int64, known bool) {
	known = true
	for _, b := range buckets {
		if b.Undo != nil {
			rows += *b.Undo
		} else {
			known = false
		}
		j.bucket(name, b)
	}
	return rows, known
}

// mostNamed is how many partitions or ids a sentence names.
const mostNamed = 5

// others judges the partitions that an entry does not name: every row of theirs is
// undone. Of those that were made since it was registered that is as it should be.
func (j *judgement) others(partitions []ProducerTable) (rows int64, known bool) {
	known = true
	byTable := map[string][]string{}
	undone := map[string]int64{}
	for _, t := range partitions {
		name := fmt.Sprintf("table %s (id %d)", safetext.Of(t.Table), t.ID)
		n, all := j.buckets(name+" partition "+safetext.Of(t.Name).String(), t.rest)
		rows, known = rows+n, known && all && !t.unread
		if n > 0 {
			byTable[name] = append(byTable[name], safetext.Of(t.Name).String())
			undone[name] += n
		}
	}
	for _, name := range slices.Sorted(maps.Keys(byTable)) {
		j.worse(UnknownSafety)
		j.add(inspect.SeverityWarning, "partitions-missing", append(slices.Clone(j.ref), name), inspect.Named{"partitions": int32(len(byTable[name])), "rows": undone[name]},
			"were they made after the entry was registered, and does nobody else write to them? Then it is as it should be",
			"the entry says nothing of the partitions %s of %s: their %s are undone, all of them", figures.First(byTable[name], mostNamed), name, figures.Count(undone[name], "row", "rows"))
	}
	return rows, known
}

// against compares an entry with its node in ZooKeeper: the coordinator leaves out,
// without a word, the tables that this user may not read, and dropped ones.
func (j *judgement) against(node *ProducerNode, entry flussrpc.ProducerOffsets) {
	if node == nil {
		return
	}
	if !node.Found || !node.Expires.Equal(entry.Expires) {
		j.worse(UnknownSafety)
		j.out.Undo = nil
		found := "has no node of this producer"
		if node.Found {
			found = "says that the entry expires at " + node.Expires.Format(time.RFC3339Nano)
		}
		j.add(inspect.SeverityWarning, "node-differs", j.ref, nil, "ask again; if it stays, does fluss.zookeeper of the job say the ensemble and the root of this cluster?",
			"the coordinator gives an entry that expires at %s, and ZooKeeper %s: it was changed meanwhile, or they are of two clusters", entry.Expires.UTC().Format(time.RFC3339Nano), found)
		return
	}
	var hidden []int64
	for _, file := range node.Files {
		if !slices.ContainsFunc(entry.Offsets, func(o flussrpc.ProducerOffset) bool { return o.Log.Table == file.Table }) {
			hidden = append(hidden, file.Table)
		}
	}
	if len(hidden) == 0 {
		return
	}
	j.worse(UnknownSafety)
	j.out.Undo = nil
	j.add(inspect.SeverityWarning, "tables-hidden", j.ref, inspect.Named{"tableIds": hidden}, "give this user READ on the tables, and ask again; recoverctl inspect fluss tables says which there are",
		"ZooKeeper says that the entry is of %s more than the coordinator shows, with the ids %s: this user may not read them, they were dropped, or the entry names no bucket of them", figures.Count(len(hidden), "table", "tables"), numbers(hidden))
}

// numbers are ids in a sentence.
func numbers(ids []int64) string {
	words := make([]string, len(ids))
	for i, id := range ids {
		words[i] = strconv.FormatInt(id, 10)
	}
	return figures.First(words, mostNamed)
}

func (j *judgement) bucket(name string, b ProducerBucket) {
	refs := append(j.ref, name)
	numbers := inspect.Named{"bucket": b.Bucket}
	base := int64(0)
	if b.Baseline != nil {
		base = *b.Baseline
		numbers["baseline"] = base
	}
	if b.Earliest != nil && b.Latest != nil {
		numbers["logStart"], numbers["logEnd"] = *b.Earliest, *b.Latest
	}
	switch b.State {
	case undoExpired:
		j.worse(NotSafe)
		j.add(inspect.SeverityError, "baseline-expired", refs, numbers, "restore from a checkpoint whose baseline is newer; or delete the entry, and settle the rows since then by hand",
			"bucket %d of %s is to be undone from %s, and its log starts at %s: the rows between expired, so the undo fails", b.Bucket, name, figures.Group(base), figures.Group(*b.Earliest))
	case undoBeyond:
		j.worse(NotSafe)
		j.add(inspect.SeverityError, "baseline-beyond-log", refs, numbers, "was the table made again, or were rows lost with a server? The sink refuses to start; delete the entry when that is understood",
			"the baseline of bucket %d of %s is %s, and its log ends at %s", b.Bucket, name, figures.Group(base), figures.Group(*b.Latest))
	case undoNegative:
		j.worse(NotSafe)
		j.add(inspect.SeverityError, "baseline-negative", refs, numbers, "find out who registered it: the server keeps whatever it is given", "the baseline of bucket %d of %s is %d, which is no offset", b.Bucket, name, base)
	case undoUnknown:
		j.worse(UnknownSafety)
		j.add(inspect.SeverityWarning, "bucket-unreadable", refs, numbers, "a recovery waits until every bucket has a leader: recoverctl inspect fluss buckets", "where bucket %d of %s begins and ends is not known: %s", b.Bucket, name, b.Problem)
	}
}
