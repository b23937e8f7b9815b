package inspect

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

// defaultPartitions is how many partitions a job gives a data topic that it
// creates, when its options say nothing.
const defaultPartitions = 64

// ValidateRestore answers whether a restore would be accepted, from evidence
// that was read before. Every rule is asked, in the order of the real code and
// after the recovery point's own: the first that fails is the verdict, later
// ones say what they would have said. A rule whose evidence could not be read is
// not checked, and then the verdict is unknown unless another rule refuses.
//
// The records of the replay window are evidence like any other where they were
// read. Where they were not, they are named as unchecked and leave the verdict as
// it is.
func ValidateRestore(q RestoreQuestion) RestoreValidation {
	r := restore{q: q, lists: byOperator(q.Markers)}
	if q.Job.Store == StoreFluss {
		return r.validateFluss()
	}
	r.topic = r.dataTopic()
	r.pointRules()
	r.configurationRules()
	r.controlTopicRules()
	r.markerRules()
	r.boundaryRules()
	r.rangeRule()
	r.windowRule()

	v := RestoreValidation{Point: q.Point, Window: r.window(), Replayed: r.replayed(), Assumed: r.assumed(), Marker: r.marker(), Next: []NextStep{}}
	r.book.verdict(&v)
	v.Runtime = r.runtimes(v)
	v.Notes = r.notes(v)
	return v
}

// restore is one question while its rules are asked.
type restore struct {
	q     RestoreQuestion
	book  rulebook
	lists []markerList
	topic restoreTopic

	markersKnown bool // the list of markers is known, even if some of it is wrong
	markersWhole bool // … and nothing says that some may be missing

	shapeKnown bool // the control topic was found fit, so its records can be judged
	boundary   boundaryEvidence
}

// markerList is the union list of one operator. Each operator of a job restores
// its own.
type markerList struct {
	operator string
	markers  []Marker
	lowest   func() Offsets // found when it is first asked for
	broken   bool           // a marker of it was refused or could not be read
}

func byOperator(markers []Marker) []markerList {
	var lists []markerList
	for _, m := range markers {
		at := slices.IndexFunc(lists, func(l markerList) bool { return l.operator == m.OperatorID })
		if at < 0 {
			at = len(lists)
			lists = append(lists, markerList{operator: m.OperatorID})
		}
		lists[at].markers = append(lists[at].markers, m)
	}
	for i := range lists {
		lists[i].lowest = sync.OnceValue(func() Offsets { return Lowest(lists[i].markers) })
	}
	return lists
}

// restoreTopic is the data topic that the restored job would find. A missing one
// is the empty topic that the job creates: it has an id that no marker names.
type restoreTopic struct {
	known      bool
	created    bool
	id         string
	partitions []int32 // ascending
	ranges     map[int32]LogRange
	why        string // why it is not known
}

func (t restoreTopic) has(p int32) bool {
	_, ok := slices.BinarySearch(t.partitions, p)
	return ok
}

func (r *restore) dataTopic() restoreTopic {
	d := r.q.Data
	if r.q.DataErr != nil {
		return restoreTopic{why: unread("the data "+r.q.Job.Store.Log(), r.q.DataErr)}
	}
	if d.Exists {
		return restoreTopic{known: true, id: d.TopicID, partitions: slices.Sorted(slices.Values(d.IDs())), ranges: d.Ranges()}
	}
	n := r.q.Job.Partitions
	if n <= 0 {
		n = defaultPartitions
	}
	t := restoreTopic{known: true, created: true, partitions: firstPartitions(n), ranges: make(map[int32]LogRange, n)}
	for _, p := range t.partitions {
		t.ranges[p] = LogRange{}
	}
	return t
}

// unread says that something could not be read, and why.
func unread(what string, err error) string {
	return fmt.Sprintf("%s could not be read: %s", what, safetext.Error(err))
}

// configured reports whether the job has a control topic, be it a blank one.
func (r *restore) configured() bool { return r.q.Job.ControlTopic != nil }

func (r *restore) controlName() string {
	if r.q.Job.ControlTopic == nil {
		return ""
	}
	return *r.q.Job.ControlTopic
}

// pointRules ask whether the recovery point itself is whole.
func (r *restore) pointRules() {
	const (
		metadata, metadataTitle = "metadata-unreadable", "metadata complete and readable"
		files, filesTitle       = "state-file-missing", "every referenced file present"
	)
	if r.q.MarkersOnly {
		r.markersKnown, r.markersWhole = true, true
		r.book.leave(metadata, metadataTitle, "the markers came from a file: no recovery point was read")
		r.loadRules()
		r.book.leave(files, filesTitle, "the markers came from a file: no recovery point was read")
		return
	}
	var bad, lost []Reason
	var unreachable, failed []string
	hidden, cut := false, "" // markers, and files, that may be missing from what was read
	doubt := ""              // why Flink may read nothing of it
	for _, c := range r.q.PointChecks {
		switch {
		case c.ID == "F6":
			unreachable = append(unreachable, safetext.Of(c.Message).String())
		case c.ID == "F10":
			failed = append(failed, safetext.Of(c.Message).String())
		case c.ID == CheckProperties && c.Severity == SeverityWarning:
			doubt = safetext.Of(c.Message).String()
		case c.Severity != SeverityError || judgesMarkers(c) || judgesKeys(c):
		case isFileCheck(c):
			lost = append(lost, Reason{*problem(files, Named{"check": c.ID}, "%s", safetext.Of(c.Message))})
		default:
			hidden = hidden || hidesMarkers(c)
			if hidesFiles(c) {
				cut = safetext.Of(c.Message).String()
			}
			bad = append(bad, Reason{*problem(metadata, Named{"check": c.ID}, "%s", safetext.Of(c.Message))})
		}
	}
	corrupt := r.q.PointErr != nil && fault.KindOf(r.q.PointErr) == fault.Corrupt
	if corrupt && len(bad) == 0 {
		bad = append(bad, Reason{*problem(metadata, nil, "%s", safetext.Error(r.q.PointErr))})
	}
	r.markersKnown = len(r.q.Markers) > 0 || r.q.PointErr == nil && !hidden
	r.markersWhole = r.markersKnown && r.q.PointErr == nil && !hidden

	switch {
	case len(bad) > 0:
		r.book.fail(metadata, metadataTitle, evidence(bad), bounded(bad)...)
	case r.q.PointErr != nil:
		r.book.skip(metadata, metadataTitle, unread("the recovery point", r.q.PointErr))
	case doubt != "":
		r.book.skip(metadata, metadataTitle, doubt)
	case slices.ContainsFunc(r.q.Markers, isUnread):
		// No check calls it damage: it holds something that this program can't
		// decode, and what the job would make of it is not known.
		at := slices.IndexFunc(r.q.Markers, isUnread)
		r.book.skip(metadata, metadataTitle, safetext.Of(r.q.Markers[at].Problem.Message).String())
	default:
		r.book.pass(metadata, metadataTitle, "%s", r.q.metadataFacts())
	}
	r.loadRules()
	switch {
	case len(lost) > 0:
		r.book.fail(files, filesTitle, evidence(lost), bounded(lost)...)
	case r.q.PointErr != nil:
		r.book.skip(files, filesTitle, unread("the recovery point", r.q.PointErr))
	case cut != "":
		r.book.skip(files, filesTitle, "which files it refers to is not known: "+cut)
	case len(failed) > 0:
		r.book.skip(files, filesTitle, strings.Join(slices.Concat(failed, unreachable), "; "))
	case len(unreachable) > 0:
		r.book.leave(files, filesTitle, strings.Join(unreachable, "; "))
	default:
		r.book.pass(files, filesTitle, "%s", r.q.fileFacts())
	}
	r.kryoRule()
}

// isFileCheck reports whether a check is about a referenced file: absent, or not
// of the length that the metadata states.
func isFileCheck(c Check) bool { return slices.Contains([]string{"F1", "F2", "F3", "F4"}, c.ID) }

// judgesMarkers reports whether a check speaks about what markers hold. The
// rules of a restore judge that themselves, in the order of the real code.
func judgesMarkers(c Check) bool { return slices.Contains([]string{"U9", "U10", "U11", "U12"}, c.ID) }

// judgesKeys reports whether a check speaks about what keyed state holds: wrong as
// it is, a restore does not look at it.
func judgesKeys(c Check) bool { return slices.Contains([]string{"K5", "K6"}, c.ID) }

// hidesMarkers reports whether a failing check means that markers may be
// missing: the place, the metadata or an operator's list state is not readable.
func hidesMarkers(c Check) bool {
	return !isFileCheck(c) && !judgesMarkers(c) && c.ID != CheckProperties && strings.ContainsAny(c.ID[:min(1, len(c.ID))], "LMUF")
}

// hidesFiles reports whether a failing check means that the list of referenced
// files may not be whole: there is no metadata, or it could not be read to its
// end.
func hidesFiles(c Check) bool {
	return strings.ContainsAny(c.ID[:min(1, len(c.ID))], "LM") && c.ID != operatorTwice && c.ID != CheckProperties
}

// operatorTwice fails on metadata that was read to its end.
const operatorTwice = "M10"

// CheckProperties is the check of the checkpoint properties at the end of the
// metadata, behind everything else: an error where Flink does not read them, a
// warning where that is not known.
const CheckProperties = "M11"

// isUnread reports whether it is not known what a marker holds. A problem that
// the marker rules find too is no such case.
func isUnread(m Marker) bool {
	return m.Problem != nil && !slices.Contains([]string{
		"marker-null", "marker-type-unsupported", "marker-schema-unsupported", "legacy-marker-types", "legacy-marker-negative",
	}, m.Problem.Code)
}

// configurationRules are asked before any network access.
func (r *restore) configurationRules() {
	if !r.configured() {
		return
	}
	name := r.controlName()
	if isBlank(name) {
		r.book.refuse("control-topic-blank", "control topic has a name", problem("control-topic-blank", nil, "a control topic is configured and its name is blank"))
	} else {
		r.book.pass("control-topic-blank", "control topic has a name", "%s", safetext.Of(name))
	}
	if r.q.Job.Tombstones {
		r.book.refuse("tombstones-on", "tombstones are off", problem("tombstones-on", nil,
			"the job has tombstones on and a control topic: the two recovery policies exclude each other"))
	} else {
		r.book.pass("tombstones-on", "tombstones are off", "off")
	}
	if name == r.q.Job.Topic {
		r.book.refuse("control-topic-same-as-data", "control topic is not the data topic", problem("control-topic-same-as-data", nil,
			"the control topic %s is the data topic", quote(name)))
	} else {
		r.book.pass("control-topic-same-as-data", "control topic is not the data topic", "%s", quote(name))
	}
}

// controlTopicRules judge the control topic's shape.
func (r *restore) controlTopicRules() {
	if !r.configured() {
		return
	}
	rules := [][2]string{
		{"control-topic-missing", "control topic exists"},
		{"control-topic-partitions", "control topic has one partition"},
		{"control-topic-policy", "control topic is compacted only"},
	}
	skip := func(why string, rules [][2]string) {
		for _, rule := range rules {
			r.book.skip(rule[0], rule[1], why)
		}
		r.boundary.why = why
	}
	c := r.q.Control
	switch {
	case r.book.failed("control-topic-blank"):
		skip("the control topic has no name", rules)
		return
	case r.book.failed("control-topic-same-as-data"):
		skip("the control topic is the data topic", rules)
		return
	case r.q.ControlErr != nil:
		skip(unread("the control topic", r.q.ControlErr), rules)
		return
	}
	if c.Name == "" {
		c.Name = r.controlName()
	}
	p := controlShape(c)
	for i, rule := range rules {
		if p != nil && p.Code == rule[0] {
			r.book.refuse(rule[0], rule[1], p)
			why := "the control topic does not exist"
			if c.Exists {
				why = "the control topic is not fit"
			}
			skip(why, rules[i+1:])
			return
		}
		r.book.pass(rule[0], rule[1], "%s", [...]string{quote(c.Name), "partition 0", "compact"}[i])
	}
	r.shapeKnown = true
}

// evidence is the first reason's sentence, and how many there are.
func evidence(reasons []Reason) string {
	if len(reasons) == 1 {
		return reasons[0].Message
	}
	return fmt.Sprintf("%s (and %d more)", reasons[0].Message, len(reasons)-1)
}

// maxReasons bounds how many reasons one rule gives. Its evidence counts all.
const maxReasons = 256

func bounded(reasons []Reason) []Reason { return reasons[:min(len(reasons), maxReasons)] }

// assumed lists what was taken from the profile or flags.
func (r *restore) assumed() []string {
	j := r.q.Job
	release := "release not known"
	if j.Runtime != ReleaseUnknown {
		release = "release " + safetext.Of(string(j.Runtime)).String()
	}
	tombstones := "tombstones off"
	if j.Tombstones {
		tombstones = "tombstones on"
	}
	control := "no control topic"
	if j.ControlTopic != nil {
		control = "control topic " + quote(*j.ControlTopic)
	}
	out := []string{release, tombstones, control}
	if j.MaxParallelism > 0 && (r.q.WindowRead != nil || r.book.asked(parallelismCode)) {
		out = append(out, "max parallelism "+group(int64(j.MaxParallelism)))
	}
	if j.FlinkVersion != "" {
		out = append(out, "Flink "+safetext.Of(j.FlinkVersion).String())
	}
	if j.Operator.ID != "" {
		out = append(out, "agent operator "+j.Operator.String())
	}
	return out
}

func (q RestoreQuestion) metadataFacts() string {
	if q.MetadataVersion == 0 {
		return "no check failed"
	}
	return fmt.Sprintf("version %d, checkpoint %d", q.MetadataVersion, q.CheckpointID)
}

func (q RestoreQuestion) fileFacts() string {
	if q.Files.Referenced == 0 {
		return "no file is missing"
	}
	return fmt.Sprintf("%d of %d", q.Files.Referenced, q.Files.Referenced)
}
