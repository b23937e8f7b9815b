package inspect

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/recoverctl/recoverctl/internal/safetext"
)

// ExpectedOperator is the agent operator of the job that would be restored. Flink
// looks for state by its id alone.
type ExpectedOperator struct {
	ID  string // 32 lower-case hex digits; empty: not known
	UID string // that the id is the hash of; empty where the id itself was given
}

// The rules of Flink's own: it loads the metadata, maps each operator's state to
// the job, and opens state files only then.
const (
	versionCode, versionTitle         = "metadata-version-unsupported", "metadata version read by the job's Flink"
	operatorCode, operatorTitle       = "operator-missing", "the job's agent operator is in the recovery point"
	parallelismCode, parallelismTitle = "max-parallelism-mismatch", "max parallelism is the job's"
	kryoCode, kryoTitle               = "kryo-generation", "markers readable by the job's Flink"
)

// agentName is the name that Flink Agents gives its operator, and markerState that
// of its union list of markers.
const (
	agentName   = "action-execute-operator"
	markerState = "recoveryMarker"
	// processingState is the union list of keys with an unfinished run, which every agent
	// operator has, with an action state store or without.
	processingState = "currentProcessingKeys"
	unionMode       = "UNION"
)

// loadRules are what Flink asks before it opens a state file: that it knows the
// metadata's version, and that the state fits the job.
func (r *restore) loadRules() {
	r.versionRule()
	r.operatorRule()
	r.parallelismRule()
}

// neverRead says why nothing is known of what the metadata holds; empty where it
// is known.
func (r *restore) neverRead() string {
	switch {
	case r.q.MarkersOnly:
		return "the markers came from a file: no recovery point was read"
	case r.q.PointErr != nil:
		return unread("the recovery point", r.q.PointErr)
	case r.q.MetadataVersion == 0:
		return "the metadata could not be read"
	}
	return ""
}

// without adds a rule that lacks evidence: it decides nothing where markers are
// judged alone, and leaves the verdict open where a point is.
func (r *restore) without(code, title, why string) {
	if r.q.MarkersOnly {
		r.book.leave(code, title, why)
		return
	}
	r.book.skip(code, title, why)
}

// unstated adds a rule of which the job's side is not known. Only a whole answer
// names it: a list of points would repeat it for each.
func (r *restore) unstated(code, title, why string) {
	if r.q.Whole {
		r.book.leave(code, title, why)
	}
}

// Unstated are the rules of Flink's own that are not among those asked, because
// nothing says what Flink, what operator or what max parallelism the job has.
func (v RestoreValidation) Unstated() []string {
	var titles []string
	for _, rule := range [][2]string{{versionCode, versionTitle}, {operatorCode, operatorTitle}, {parallelismCode, parallelismTitle}} {
		if !slices.ContainsFunc(v.Rules, func(r Rule) bool { return r.Code == rule[0] }) {
			titles = append(titles, rule[1])
		}
	}
	return titles
}

// flinkVersion is that of the Flink that would restore, and where that is known
// from.
func (q RestoreQuestion) flinkVersion() (version flinkVersion, from string, known bool) {
	from = "the job's"
	text := q.Job.FlinkVersion
	if text == "" {
		text, from = q.RunningFlink, "the running job's"
	}
	version, known = parseFlinkVersion(text)
	return version, from, known
}

type flinkVersion struct{ major, minor int }

func (v flinkVersion) String() string { return fmt.Sprintf("%d.%d", v.major, v.minor) }

// KnowsFlinkVersion reports whether text is a version of Flink, as in 2.3 or
// 1.20.5, of which it is known what metadata it reads.
func KnowsFlinkVersion(text string) bool {
	v, ok := parseFlinkVersion(text)
	return ok && v.reads() > 0
}

func parseFlinkVersion(text string) (flinkVersion, bool) {
	var v flinkVersion
	n, err := fmt.Sscanf(text, "%d.%d", &v.major, &v.minor)
	return v, n == 2 && err == nil && v.major > 0 && v.minor >= 0
}

// reads is the newest metadata version that a Flink reads, 0 where that is not
// known. Each reads what older ones write.
func (v flinkVersion) reads() int {
	switch {
	case v.major == 1 && v.minor >= 16:
		return 4
	case v.major == 1 && v.minor >= 11:
		return 3
	case v.major == 2 && v.minor == 0:
		return 5
	case v.major == 2:
		return 6
	}
	return 0
}

// writers are the releases of Flink that write a metadata version.
func writers(metadata int) string {
	switch metadata {
	case 2:
		return "1.3 to 1.10"
	case 3:
		return "1.11 to 1.15"
	case 4:
		return "1.16 to 1.20"
	case 5:
		return "2.0"
	case 6:
		return "2.1 to 2.3"
	}
	return "a newer release"
}

func (r *restore) versionRule() {
	target, from, known := r.q.flinkVersion()
	reads := target.reads()
	if !known || reads == 0 {
		r.unstated(versionCode, versionTitle, "which Flink would restore it is not known: give --flink-version, or --flink-rest of its JobManager")
		return
	}
	if why := r.neverRead(); why != "" {
		r.without(versionCode, versionTitle, why)
		return
	}
	version := r.q.MetadataVersion
	if version > reads {
		r.book.refuse(versionCode, versionTitle, problem(versionCode, Named{"version": version, "newest": reads},
			"the metadata has version %d, written by Flink %s, and %s Flink %s reads none above %d: it stops with \"Unrecognized checkpoint version number: %d\"",
			version, writers(version), from, target, reads, version))
		return
	}
	r.book.pass(versionCode, versionTitle, "version %d, and %s Flink %s reads all up to %d", version, from, target, reads)
}

// kryoRule is about what the operator meets once Flink has opened the state.
func (r *restore) kryoRule() {
	target, from, known := r.q.flinkVersion()
	if !known || r.q.MetadataVersion == 0 || len(r.q.Markers) == 0 && len(r.agents()) == 0 || r.q.PointErr != nil {
		return
	}
	if r.q.MetadataVersion <= 4 && target.major >= 2 {
		what := "the markers are Kryo 2 data"
		if len(r.q.Markers) == 0 {
			what = "the agent operator's state is Kryo 2 data"
		}
		r.book.refuse(kryoCode, kryoTitle, problem(kryoCode, Named{"version": r.q.MetadataVersion},
			"%s, written by Flink %s, and %s Flink %s uses Kryo 5: it cannot restore that, or takes other values for it without a word",
			what, writers(r.q.MetadataVersion), from, target))
		return
	}
	if len(r.q.Markers) == 0 {
		return
	}
	r.book.pass(kryoCode, kryoTitle, "written by Flink %s", writers(r.q.MetadataVersion))
}

// agents are the agent operators of the point.
func (r *restore) agents() []Operator {
	var out []Operator
	for _, op := range r.q.Operators {
		if op.Name == agentName || slices.ContainsFunc(op.States, func(s OperatorState) bool {
			return s.Name == markerState || s.Name == processingState && s.Mode == unionMode
		}) {
			out = append(out, op)
		}
	}
	return out
}

func (e ExpectedOperator) String() string {
	if e.UID == "" {
		return e.ID
	}
	return fmt.Sprintf("%s (uid %s)", e.ID, quote(e.UID))
}

// operatorRule asks whether Flink finds the agent operator's state. It maps state
// by id alone, and refuses state that no operator of the job takes.
func (r *restore) operatorRule() {
	want := r.q.Job.Operator
	if want.ID == "" {
		r.unstated(operatorCode, operatorTitle, "the job's agent operator is not known: give --operator-uid, or flink.operator-uid in the profile, if the job sets one")
		return
	}
	if why := r.neverRead(); why != "" {
		r.without(operatorCode, operatorTitle, why)
		return
	}
	agents := r.agents()
	at := slices.IndexFunc(r.q.Operators, func(op Operator) bool { return op.ID == want.ID })
	if at >= 0 && (len(agents) == 0 || slices.ContainsFunc(agents, func(op Operator) bool { return op.ID == want.ID })) {
		fact := operatorWords(r.q.Operators[at])
		if len(agents) == 0 {
			fact += ", without a state of an agent operator"
		}
		r.book.pass(operatorCode, operatorTitle, "%s", fact)
		return
	}
	if at < 0 && r.book.failed("metadata-unreadable") {
		r.book.skip(operatorCode, operatorTitle, "the list of operators may not be whole")
		return
	}
	numbers := Named{"operatorId": want.ID, "present": operatorIDs(r.q.Operators)}
	if at >= 0 {
		r.book.refuse(operatorCode, operatorTitle, problem(operatorCode, numbers,
			"operator %s is in the recovery point and holds no agent's state, which is that of %s: Flink refuses to leave that out, and with --allowNonRestoredState it would be lost",
			want, operatorList(agents)))
		return
	}
	lost := "the agent would start without its state"
	if len(agents) > 0 {
		lost = "Flink refuses state that the job does not take, and with --allowNonRestoredState that of " + operatorList(agents) + " would be lost"
	}
	r.book.refuse(operatorCode, operatorTitle, problem(operatorCode, numbers,
		"operator %s is not in the recovery point: the job graph or the uid changed, and %s. Present: %s", want, lost, operatorList(r.q.Operators)))
}

func operatorWords(op Operator) string {
	words := safetext.Of(op.ID).String()
	for _, name := range []string{op.UID, op.Name} {
		if name != "" {
			return words + " " + quote(name)
		}
	}
	return words
}

// maxOperators bounds how many operators a sentence names. The reason's values
// name all of a job that people write.
const maxOperators = 6

func operatorList(ops []Operator) string {
	if len(ops) == 0 {
		return "none"
	}
	words := make([]string, 0, maxOperators)
	for _, op := range ops[:min(len(ops), maxOperators)] {
		words = append(words, operatorWords(op))
	}
	list := strings.Join(words, ", ")
	if more := len(ops) - maxOperators; more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	return list
}

func operatorIDs(ops []Operator) []string {
	ids := make([]string, 0, min(len(ops), maxReasons))
	for _, op := range ops[:min(len(ops), maxReasons)] {
		ids = append(ids, op.ID)
	}
	return ids
}

// judgedAgents are the operators that the job's max parallelism is that of: the
// expected one where it is there, else the point's agents.
func (r *restore) judgedAgents() []Operator {
	agents := r.agents()
	if at := slices.IndexFunc(agents, func(op Operator) bool { return op.ID == r.q.Job.Operator.ID }); at >= 0 {
		return agents[at : at+1]
	}
	return agents
}

// parallelismRule asks whether the max parallelism that the profile or a flag
// states for the job is the point's. Flink never changes it for an operator that
// has state.
func (r *restore) parallelismRule() {
	stated := r.q.Job.MaxParallelism
	agents := r.judgedAgents()
	switch {
	case stated == 0:
		r.runningParallelism(agents)
		return
	case r.q.MarkersOnly || r.neverRead() != "":
		if r.q.Whole {
			r.without(parallelismCode, parallelismTitle, cmp.Or(r.neverRead(), "no recovery point was read"))
		}
		return
	case len(agents) == 0:
		return
	}
	for _, op := range agents {
		if op.MaxParallelism == stated {
			continue
		}
		r.book.refuse(parallelismCode, parallelismTitle, problem(parallelismCode, Named{"point": op.MaxParallelism, "job": stated},
			"max parallelism is %s in the recovery point and %s in the job: not restorable, unless the job's code does not fix it",
			group(int64(op.MaxParallelism)), group(int64(stated))))
		return
	}
	r.book.pass(parallelismCode, parallelismTitle, "%s in both", group(int64(stated)))
}

// runningParallelism compares with the running job. Its figure may be one that
// Flink chose: then a restore takes that of the point, whatever it is.
func (r *restore) runningParallelism(agents []Operator) {
	running := r.q.RunningMaxParallelism
	if running == nil || len(agents) == 0 || r.q.MarkersOnly || r.neverRead() != "" {
		r.unstated(parallelismCode, parallelismTitle, "the job's max parallelism is not known: give --max-parallelism if the job sets one")
		return
	}
	for _, op := range agents {
		if op.MaxParallelism != *running {
			r.unstated(parallelismCode, parallelismTitle, fmt.Sprintf(
				"max parallelism is %s in the recovery point and %s in the running job: Flink refuses that if the job's code sets it, and else takes that of the recovery point. Give --max-parallelism if the job sets one",
				group(int64(op.MaxParallelism)), group(int64(*running))))
			return
		}
	}
	if r.q.Whole {
		r.book.pass(parallelismCode, parallelismTitle, "%s, as in the running job", group(int64(*running)))
	}
}

// flinkNotes are what a change of the job or of its Flink would meet.
func (r *restore) flinkNotes() []string {
	var notes []string
	if target, _, known := r.q.flinkVersion(); known && r.q.Kind != "" && target.reads() > r.q.MetadataVersion && r.q.MetadataVersion > 0 &&
		(r.q.Kind == KindCheckpoint || r.q.Format == FormatNative) {
		notes = append(notes, fmt.Sprintf("It was written by Flink %s and the job's is %s: only a canonical savepoint may change its state backend too, and an unaligned checkpoint may not change the version at all.",
			writers(r.q.MetadataVersion), target))
	}
	if r.q.Job.Operator.ID != "" || r.q.MetadataVersion < 5 {
		return notes
	}
	for _, op := range r.agents() {
		if op.UID == "" {
			return append(notes, fmt.Sprintf("The agent operator has no uid: its id %s comes from the shape of the job graph. Restore into the unchanged job: Flink refuses a changed one, and with --allowNonRestoredState it would start without this state.",
				safetext.Of(op.ID)))
		}
	}
	return notes
}
