package actions

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/inspect/fluss"
	"github.com/recoverctl/recoverctl/internal/figures"
)

// The kinds of plan that change what a Fluss cluster keeps for a producer.
const (
	KindProducerDelete   = "producer-delete"
	KindProducerRegister = "producer-register"
)

const (
	backendFluss   = "fluss"
	objectProducer = "producer"
)

// The names of facts of these kinds, beside those of logs: "table 3", "table 3
// partition 7".
const (
	FactExpires = "expires"
	FactEntry   = "entry" // of an entry that nobody can read
)

// The names of parameters.
const (
	paramTTL  = "ttl-ms"       // 0: the coordinator's own
	paramFrom = "offsets-from" // latest, or file
)

// Where the offsets of a plan that registers come from.
const (
	OffsetsFromFile   = "file"
	OffsetsFromLatest = "latest" // the log ends as they were when the plan was made
)

// MaxProducerTTL is the longest time to live that a plan may ask for.
const MaxProducerTTL = 365 * 24 * time.Hour

const (
	noPartition = int64(-1) // of a log: its table has none
	noOffset    = "none"    // of a bucket that an entry names without an offset
	unreadable  = "unreadable: its offsets file is gone"
)

// ProducerKind reports whether a kind is one of these.
func ProducerKind(kind string) bool {
	return kind == KindProducerDelete || kind == KindProducerRegister
}

// BucketBaseline is one bucket of an entry. A nil offset is that the entry names
// the bucket without one, which counts as 0.
type BucketBaseline struct {
	Bucket int32
	Offset *int64
}

// ProducerLog is what an entry says of one table, or of one partition of it.
type ProducerLog struct {
	Table     int64
	Partition int64  // -1: the table has none
	Name      string // as in database.table; empty: nobody that may be seen has the id
	Buckets   []BucketBaseline
}

// fact is the log's name in a plan.
func (l ProducerLog) fact() string {
	name := "table " + strconv.FormatInt(l.Table, 10)
	if l.Partition != noPartition {
		name += " partition " + strconv.FormatInt(l.Partition, 10)
	}
	return name
}

// text are the log's offsets in the one way that a plan has them: by bucket.
func (l ProducerLog) text() string {
	var b strings.Builder
	for i, x := range l.Buckets {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(strconv.FormatInt(int64(x.Bucket), 10) + "=")
		if x.Offset == nil {
			b.WriteString(noOffset)
		} else {
			b.WriteString(strconv.FormatInt(*x.Offset, 10))
		}
	}
	return b.String()
}

var logFact = regexp.MustCompile(`^table (-?[0-9]{1,19})(?: partition (-?[0-9]{1,19}))?$`)

// logOf reads a log from a fact's name and one of its sides; it is false where
// they are none, or written in another way than a plan has them.
func logOf(name, source, text string) (ProducerLog, bool) {
	match := logFact.FindStringSubmatch(name)
	if match == nil {
		return ProducerLog{}, false
	}
	log := ProducerLog{Partition: noPartition, Name: source}
	var err error
	if log.Table, err = strconv.ParseInt(match[1], 10, 64); err != nil {
		return log, false
	}
	if match[2] != "" {
		if log.Partition, err = strconv.ParseInt(match[2], 10, 64); err != nil {
			return log, false
		}
	}
	for word := range strings.SplitSeq(text, " ") {
		id, offset, _ := strings.Cut(word, "=")
		bucket, err := strconv.ParseInt(id, 10, 32)
		if err != nil {
			return log, false
		}
		b := BucketBaseline{Bucket: int32(bucket)}
		if offset != noOffset {
			at, err := strconv.ParseInt(offset, 10, 64)
			if err != nil {
				return log, false
			}
			b.Offset = &at
		}
		log.Buckets = append(log.Buckets, b)
	}
	return log, log.fact() == name && log.text() == text
}

// logsOf are the logs of an entry as it was read.
func logsOf(p fluss.Producer) []ProducerLog {
	out := make([]ProducerLog, 0, len(p.Tables))
	for _, t := range p.Tables {
		log := ProducerLog{Table: t.ID, Partition: noPartition, Name: t.Table}
		if t.Partition != nil {
			log.Partition = *t.Partition
			if t.Name != "" {
				log.Name += " partition " + t.Name
			}
		}
		for _, b := range t.Buckets {
			log.Buckets = append(log.Buckets, BucketBaseline{b.Bucket, b.Baseline})
		}
		out = append(out, log)
	}
	return out
}

// expiryText is an expiry in the one way that a plan has it: to the millisecond,
// as the coordinator keeps it.
func expiryText(at time.Time) string { return at.UTC().Format("2006-01-02T15:04:05.000Z") }

// fingerprint tells one entry, or one set of offsets, from another.
func fingerprint(parts ...string) string {
	const digits = 16
	sum := sha256.Sum256([]byte(strings.Join(parts, "\n")))
	return hex.EncodeToString(sum[:])[:digits]
}

// offsetsOf is the fingerprint of logs.
func offsetsOf(logs []ProducerLog) string {
	var parts []string
	for _, l := range logs {
		parts = append(parts, l.fact()+" "+l.text())
	}
	return fingerprint(parts...)
}

// entryOf is the fingerprint of an entry as it was read.
func entryOf(p fluss.Producer) string {
	if p.Broken() {
		return fingerprint(unreadable)
	}
	return fingerprint(expiryText(*p.Expires), offsetsOf(logsOf(p)))
}

// FlussEvidence is all that a plan about a producer is judged by.
type FlussEvidence struct {
	Job     inspect.Job
	At      time.Time // when it was read
	Cluster string    // the coordinator's address: Fluss tells no id of a cluster
	Err     error     // the coordinator could not be asked: nothing else is known

	Entry    fluss.Producer // as the coordinator keeps it, judged
	EntryErr error          // what of its tables and of the settings could not be read

	// Of a plan that registers: its offsets, as if they were kept already.
	Supposed    *fluss.Producer
	SupposedErr error

	// The jobs that may be the producer's sink, as Flink says.
	Sinks    []inspect.LiveState
	SinksErr error // Flink was not asked, or did not answer

	// Of the journal of this machine.
	Unsettled  []OpenRequest // calls for the same producer whose outcome is not known
	JournalErr error         // it could not be read, or not all of it
}

// openRequests are the calls of this plan, or else of others, that may still come.
func (e FlussEvidence) openRequests(d Document, own bool) []OpenRequest {
	return slices.DeleteFunc(slices.Clone(e.Unsettled), func(u OpenRequest) bool { return (u.PlanID == d.PlanID) != own })
}

// ProducerPlan is what a plan of these kinds says.
type ProducerPlan struct {
	Kind    string
	ID      string
	Logs    []ProducerLog // of a delete: as the plan found them; else as they shall be
	Expires string        // of the entry that the plan found; empty: there was none
	Broken  bool          // of a delete: nobody could read the entry
	TTL     time.Duration // 0: the coordinator's own
	Latest  bool          // the offsets were the log ends when the plan was made
}

// ProducerPlanOf is what a document of these kinds says. The document is valid.
func ProducerPlanOf(d Document) ProducerPlan {
	p, _ := producerPlanOf(d)
	return p
}

func producerPlanOf(d Document) (ProducerPlan, *inspect.Problem) {
	p := ProducerPlan{Kind: d.Kind, ID: d.Target.Name}
	for _, f := range d.Facts {
		side := f.After
		if d.Kind == KindProducerDelete {
			side = f.Before
		}
		switch f.Name {
		case FactExpires:
			p.Expires = sideOf(f.Before)
		case FactEntry:
			p.Broken = true
		default:
			log, ok := logOf(f.Name, f.Source, sideOf(side))
			if !ok {
				return p, refuse("fact-not-allowed", inspect.Named{"fact": f.Name}, "the plan's fact %s is no table with offsets", quote(f.Name))
			}
			p.Logs = append(p.Logs, log)
		}
	}
	p.Latest = d.Parameters[paramFrom] == OffsetsFromLatest
	if ms, err := strconv.ParseInt(d.Parameters[paramTTL], 10, 64); err == nil && ms >= 0 && ms <= math.MaxInt64/int64(time.Millisecond) {
		p.TTL = time.Duration(ms) * time.Millisecond
	}
	return p, nil
}

// targetID is what tells the entry, or the offsets, that the plan is about.
func (p ProducerPlan) targetID() string {
	switch {
	case p.Kind == KindProducerRegister:
		return offsetsOf(p.Logs)
	case p.Broken:
		return fingerprint(unreadable)
	default:
		return fingerprint(p.Expires, offsetsOf(p.Logs))
	}
}

// ttlText is how long an entry stays valid, in a plan.
func ttlText(ttl time.Duration) string {
	if ttl == 0 {
		return "the coordinator's own time to live after it is registered"
	}
	return ttl.String() + " after it is registered"
}

// isProducerID is the server's rule for an id.
func isProducerID(id string) bool {
	const most = 200
	other := func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' && c != '-'
	}
	return id != "" && len(id) <= most && !strings.ContainsFunc(id, other)
}

// checkProducer are the rules of these kinds.
func checkProducer(d Document) *inspect.Problem {
	if d.Target.Backend != backendFluss || d.Target.Object != objectProducer {
		return refuse("plan-target-unknown", nil, "a plan of the kind %s is for a producer of Fluss, and this one for %s of %s", d.Kind, quote(d.Target.Object), quote(d.Target.Backend))
	}
	if !isProducerID(d.Target.Name) {
		return refuse("producer-id", nil, "the plan is for the producer %s, and an id has ASCII letters, digits, _ and - only, at most 200", quote(d.Target.Name))
	}
	p, problem := producerPlanOf(d)
	switch {
	case problem != nil:
		return problem
	case d.Target.ID != p.targetID():
		return refuse("plan-target-unknown", nil, "the plan says that it is about %s, and its offsets are those of %s", quote(d.Target.ID), p.targetID())
	case d.Kind == KindProducerDelete:
		return d.checkProducerDelete(p)
	default:
		return d.checkProducerRegister(p)
	}
}

func (d Document) checkProducerDelete(p ProducerPlan) *inspect.Problem {
	if problem := d.hasParameters(nil); problem != nil {
		return problem
	}
	for _, f := range d.Facts {
		if f.After != nil || f.Before == nil {
			return refuse("fact-not-allowed", inspect.Named{"fact": f.Name}, "the plan makes %s of %s, and one of its kind makes nothing of what is there", textOrNothing(f.After), quote(f.Name))
		}
	}
	switch first := d.Facts[0]; {
	case p.Broken && (len(d.Facts) != 1 || *first.Before != unreadable),
		!p.Broken && (first.Name != FactExpires || !isExpiry(*first.Before)):
		return refuse("fact-not-allowed", nil, "the plan's facts are neither an entry with its expiry nor one that nobody can read")
	}
	return nil
}

func (d Document) checkProducerRegister(p ProducerPlan) *inspect.Problem {
	if problem := d.hasParameters([]string{paramTTL, paramFrom}); problem != nil {
		return problem
	}
	value := func(name string) *inspect.Problem {
		return refuse("parameter-value", inspect.Named{"parameter": name}, "the plan's %s is %s, which it can't be", name, quote(d.Parameters[name]))
	}
	expires := d.Facts[0]
	switch from := d.Parameters[paramFrom]; {
	case strconv.FormatInt(p.TTL.Milliseconds(), 10) != d.Parameters[paramTTL] || p.TTL > MaxProducerTTL:
		return value(paramTTL)
	case from != OffsetsFromFile && from != OffsetsFromLatest:
		return value(paramFrom)
	case p.Broken || len(p.Logs) == 0:
		return refuse("fact-not-allowed", nil, "the plan registers no offsets")
	case expires.Name != FactExpires || sideOf(expires.After) != ttlText(p.TTL) || expires.Before != nil && !isExpiry(*expires.Before):
		return refuse("fact-not-allowed", inspect.Named{"fact": FactExpires}, "the plan's first fact is not when the entry expires")
	}
	for i, log := range p.Logs {
		seen := map[int32]bool{}
		for _, b := range log.Buckets {
			named := inspect.Named{"fact": log.fact(), "bucket": b.Bucket}
			switch {
			case b.Offset == nil || *b.Offset < 0 || b.Bucket < 0:
				return refuse("offset-not-allowed", named, "the plan registers no offset from 0 on for bucket %d of %s", b.Bucket, log.fact())
			case seen[b.Bucket]:
				return refuse("bucket-repeated", named, "the plan has bucket %d of %s twice", b.Bucket, log.fact())
			}
			seen[b.Bucket] = true
		}
		if f := d.Facts[i+1]; f.Before != nil {
			return refuse("fact-not-allowed", inspect.Named{"fact": f.Name}, "the plan says that %s had offsets: it registers where none are valid", quote(f.Name))
		}
	}
	return nil
}

func isExpiry(text string) bool {
	at, err := time.Parse(time.RFC3339, text)
	return err == nil && expiryText(at) == text
}

// ProducerDeleteFrom makes the plan that deletes a producer's entry.
func ProducerDeleteFrom(e FlussEvidence) (Document, *inspect.Problem) {
	if !e.Entry.Found {
		return Document{}, refuse("producer-entry-missing", nil, "nothing is stored for producer %s: there is nothing to delete", quote(e.Entry.ID))
	}
	p := ProducerPlan{Kind: KindProducerDelete, ID: e.Entry.ID}
	var facts []Fact
	if p.Broken = e.Entry.Broken(); p.Broken {
		before := unreadable
		facts = []Fact{{Name: FactEntry, Before: &before}}
	} else {
		p.Expires, p.Logs = expiryText(*e.Entry.Expires), logsOf(e.Entry)
		before := p.Expires
		facts = []Fact{{Name: FactExpires, Before: &before}}
		for _, log := range p.Logs {
			text := log.text()
			facts = append(facts, Fact{Name: log.fact(), Before: &text, Source: log.Name})
		}
	}
	return newDocument(p.Kind, e.producerTarget(p), facts, nil)
}

// ProducerAsk is what a plan that registers offsets is asked for.
type ProducerAsk struct {
	Logs   []ProducerLog
	TTL    time.Duration // 0: the coordinator's own
	Latest bool          // the offsets are the log ends
}

// ProducerRegisterFrom makes the plan that registers offsets for a producer that
// has no valid entry.
func ProducerRegisterFrom(e FlussEvidence, ask ProducerAsk) (Document, *inspect.Problem) {
	p := ProducerPlan{Kind: KindProducerRegister, ID: e.Entry.ID, Logs: slices.Clone(ask.Logs), TTL: ask.TTL, Latest: ask.Latest}
	slices.SortFunc(p.Logs, func(a, b ProducerLog) int { return compareLogs(a, b) })
	if e.takes() {
		return Document{}, e.taken()
	}
	after := ttlText(ask.TTL)
	facts := []Fact{{Name: FactExpires, After: &after}}
	if e.Entry.Found {
		was := expiryText(*e.Entry.Expires)
		facts[0].Before, facts[0].Source = &was, "expired"
	}
	for i := range p.Logs {
		slices.SortFunc(p.Logs[i].Buckets, func(a, b BucketBaseline) int { return int(a.Bucket) - int(b.Bucket) })
		text := p.Logs[i].text()
		facts = append(facts, Fact{Name: p.Logs[i].fact(), After: &text, Source: p.Logs[i].Name})
	}
	from := OffsetsFromFile
	if ask.Latest {
		from = OffsetsFromLatest
	}
	return newDocument(p.Kind, e.producerTarget(p), facts, map[string]string{paramTTL: strconv.FormatInt(ask.TTL.Milliseconds(), 10), paramFrom: from})
}

func compareLogs(a, b ProducerLog) int {
	if a.Table != b.Table {
		return sign(a.Table - b.Table)
	}
	return sign(a.Partition - b.Partition)
}

func sign(n int64) int { return int(min(1, max(-1, n))) }

// takes reports whether an entry keeps another from being registered: one that is
// valid, or that nobody can read.
func (e FlussEvidence) takes() bool { return e.Entry.Found && !e.Entry.Expired }

// taken is why nothing can be registered.
func (e FlussEvidence) taken() *inspect.Problem {
	id := quote(e.Entry.ID)
	if e.Entry.Broken() {
		return refuse("producer-entry-unreadable", nil,
			"an entry is there for producer %s whose offsets nobody can read: the coordinator would answer ALREADY_EXISTS until it expires, and nothing would change", id)
	}
	return refuse("producer-entry-valid", inspect.Named{"expires": expiryText(*e.Entry.Expires)},
		"an entry for producer %s is valid until %s: the coordinator would answer ALREADY_EXISTS, and its offsets would stay as they are", id, expiryText(*e.Entry.Expires))
}

func (e FlussEvidence) producerTarget(p ProducerPlan) inspect.PlanTarget {
	return inspect.PlanTarget{Backend: backendFluss, Cluster: e.Cluster, Object: objectProducer, Name: p.ID, ID: p.targetID()}
}

// producerSubject is what a plan of these kinds is about.
func (d Document) producerSubject() inspect.PlanSubject {
	p := ProducerPlanOf(d)
	about := inspect.PlanSubject{PlanID: d.PlanID, Kind: d.Kind, Target: d.Target}
	switch {
	case p.Broken:
		about.Does = "deletes the entry of producer " + p.ID + ", whose offsets nobody can read"
	case p.Kind == KindProducerDelete:
		about.Does = fmt.Sprintf("deletes the entry of producer %s that expires at %s: %s", p.ID, p.Expires, logWords(p.Logs))
	default:
		about.Does = fmt.Sprintf("registers for producer %s, to expire %s: %s", p.ID, ttlText(p.TTL), logWords(p.Logs))
	}
	return about
}

// logWords are the offsets of logs in one line, all of them where a line of the
// journal has room: what a plan deletes can be found there again.
func logWords(logs []ProducerLog) string {
	const most = 256 << 10
	var words []string
	size, buckets := 0, 0
	for _, l := range logs {
		words = append(words, l.fact()+" "+l.text())
		size, buckets = size+len(words[len(words)-1]), buckets+len(l.Buckets)
	}
	switch {
	case words == nil:
		return "no tables"
	case size > most:
		return fmt.Sprintf("%s of %s, which the plan names (%s)", figures.Count(buckets, "bucket", "buckets"), figures.Count(len(logs), "table or partition", "tables and partitions"), offsetsOf(logs))
	default:
		return strings.Join(words, "; ")
	}
}
