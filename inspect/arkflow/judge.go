package arkflow

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/figures"
)

// Bounds of an answer.
const (
	maxGaps      = 1000 // listed
	gapsAsWords  = 20   // told as problems of their own
	maxCorrupt   = 1000
	problemWords = 20 // of one code
)

// Codes of problems.
const (
	ProblemUnstable         = "unstable"
	ProblemGap              = "gap"
	ProblemGapBelowCursor   = "gap-below-cursor"
	ProblemCursorPastTail   = "cursor-past-tail"
	ProblemUndecodable      = "entry-undecodable"
	ProblemPage             = "page-damaged"
	ProblemSlot             = "commit-slot-damaged"
	ProblemRolledBack       = "rolled-back"
	ProblemRefused          = "engine-refuses"
	ProblemFileShort        = "file-short"
	ProblemFileLong         = "file-long"
	ProblemFileUnopenable   = "file-unopenable"
	ProblemCloseDoubtful    = "close-doubtful"
	ProblemFileEmpty        = "file-empty"
	ProblemManifestMissing  = "manifest-missing"
	ProblemManifestInvalid  = "manifest-invalid"
	ProblemSegmentTorn      = "segment-torn"
	ProblemSegmentCorrupt   = "segment-corrupt"
	ProblemSegmentMissing   = "segment-missing"
	ProblemSegmentOrphan    = "segment-unreferenced"
	ProblemSegmentName      = "segment-name"
	ProblemSealedPastTail   = "sealed-past-tail"
	ProblemOverlap          = "segments-overlap"
	ProblemOutOfOrder       = "sequence-out-of-order"
	ProblemTwoWriters       = "two-writers"
	ProblemPlaceholder      = "placeholder-in-key"
	ProblemNotRead          = "segment-unreadable"
	ProblemSequenceZero     = "sequence-zero"
	ProblemSegmentCompacted = "segment-compressed"
)

// problem adds a problem.
func (l *WriteAheadLog) problem(code string, severity inspect.Severity, sequence *uint64, next, format string, args ...any) {
	l.Problems = append(l.Problems, Problem{Code: code, Severity: severity, Sequence: sequence, Message: fmt.Sprintf(format, args...), Next: next})
}

// newLog is a log of which nothing is known, with no list that is nil.
func newLog(place string, backend Backend) WriteAheadLog {
	return WriteAheadLog{
		Place: place, Backend: backend, Gaps: []Span{}, Corrupt: []Corrupt{}, Unchecked: []string{}, Segments: []Segment{},
		Problems: []Problem{}, CursorRule: CursorRule{Rule: RuleUnknown, Why: "nothing could be read that shows which engine wrote the log"},
	}
}

// place computes what follows from the sequences that are there and the cursor:
// tail, window and gaps. A nil cursor is not known.
// Unread are sequences that may be there and were not read.
func (l *WriteAheadLog) place(r *runs, cursor *uint64, complete bool, unread []Span) {
	l.Cursor, l.Runs, l.Partial = cursor, r.spans, l.Partial || r.cut
	tail := r.last
	l.Tail = &tail
	if len(r.spans) > 0 && complete {
		first := r.first
		l.First = &first
	}
	if complete && !r.cut {
		count := r.count
		l.Count = &count
	}
	if cursor == nil {
		l.Partial = l.Partial || len(unread) > 0
		return
	}
	l.Partial = l.Partial || slices.ContainsFunc(unread, func(s Span) bool { return s.To > *cursor })
	gaps, there := r.missing(*cursor)
	gaps = slices.DeleteFunc(gaps, func(g Span) bool { return meets(g, unread) })
	if tail > *cursor {
		l.Window = &Window{From: *cursor + 1, To: tail, Entries: there}
	}
	l.MoreGaps = r.cut || len(gaps) > maxGaps
	l.Gaps = append(l.Gaps, gaps[:min(len(gaps), maxGaps)]...)
	l.judgeGaps(gaps, slices.DeleteFunc(r.before(*cursor), func(g Span) bool { return meets(g, unread) }), r.cut)
	if *cursor > tail && len(r.spans) > 0 {
		l.problem(ProblemCursorPastTail, inspect.SeverityWarning, nil,
			"Find out whether the end of the log is lost: an engine that counts on from the highest entry gives new records sequences that already count as acknowledged, and a crash loses them.",
			"the cursor is %s, and the highest entry is %s", sequence(*cursor), sequence(tail))
	}
	if len(r.spans) == 0 && *cursor > 0 {
		l.problem(ProblemCursorPastTail, inspect.SeverityWarning, nil,
			"Don't start the stream before it is known where the entries went: an engine that counts on from the highest entry begins at 1 again, below the cursor, and a crash then loses new records.",
			"the cursor is %s, and the log has no entry at all", sequence(*cursor))
	}
	if r.has(0) {
		zero := uint64(0)
		l.problem(ProblemSequenceZero, inspect.SeverityWarning, &zero, "An engine counts from 1 and never replays this entry: look at what else was written by another program.",
			"an entry has the sequence 0")
	}
}

// meets reports whether a span has a sequence with one of others in common.
func meets(s Span, others []Span) bool {
	return slices.ContainsFunc(others, func(o Span) bool { return s.From <= o.To && o.From <= s.To })
}

func (l *WriteAheadLog) judgeGaps(gaps, below []Span, cut bool) {
	for i, g := range gaps {
		from := g.From
		if i == gapsAsWords {
			l.problem(ProblemGap, inspect.SeverityError, &from, nextGap, "and %d more gaps in the replay window", len(gaps)-i)
			break
		}
		l.problem(ProblemGap, inspect.SeverityError, &from, nextGap, "%s %s not in the log, and would be replayed if %s were: possibly lost, or never serialised",
			spanText(g), are(g), they(g))
	}
	if cut {
		l.problem(ProblemGap, inspect.SeverityError, nil, nextGap, "the log is in more than %s pieces: not all gaps are listed, and the number of entries is not known", figures.Group(maxRuns))
	}
	if len(below) > 0 {
		var missing uint64
		for _, g := range below {
			missing += g.Len()
		}
		from := below[0].From
		l.problem(ProblemGapBelowCursor, inspect.SeverityInfo, &from, "Nothing: they are not replayed, and whether they were deleted or never written can't be told.",
			"%s at or below the cursor %s not in the log", plural(missing, "sequence", "sequences"), areN(missing))
	}
}

const nextGap = "Delete nothing. Compare with the source's offsets, and read these records again from the source if it still has them."

// windowFacts tells of the window's entries.
func (l *WriteAheadLog) windowFacts(w *windowReading, now time.Time) {
	if l.Window == nil {
		return
	}
	if !w.cut {
		bytes := w.bytes
		l.Window.Bytes = &bytes
	}
	for _, b := range w.broken {
		n := b.sequence
		l.problem(ProblemUndecodable, inspect.SeverityError, &n,
			"Keep a copy of the log. The stream can't start with this entry in its window: move the log away and read the record again from the source.",
			"entry %s can't be decoded, and a start of the stream fails on it: %s", sequence(n), b.why)
	}
	if w.first == 0 {
		return
	}
	p, err := ParsePayload(w.payload)
	if err != nil {
		return // told above
	}
	if at, column, ok := p.Oldest(); ok {
		l.Oldest = &Oldest{Sequence: w.first, Time: at, AgeMs: now.Sub(at).Milliseconds(), Source: column}
	}
}

// finish puts the worst problems first, and keeps lists within bounds.
func (l *WriteAheadLog) finish() {
	seen := map[string]int{}
	kept := l.Problems[:0]
	for _, p := range l.Problems {
		if seen[p.Code]++; seen[p.Code] <= problemWords+1 {
			kept = append(kept, p)
		}
	}
	for i, p := range kept {
		if n := seen[p.Code]; n > problemWords+1 && p.Code != ProblemGap {
			kept[i].Message += fmt.Sprintf(" (one of %d problems of this kind)", n)
			seen[p.Code] = 0
		}
	}
	l.Problems = kept
	slices.SortStableFunc(l.Problems, func(a, b Problem) int { return cmp.Compare(worse(a.Severity), worse(b.Severity)) })
	for i := range l.Listed {
		e := &l.Listed[i]
		e.Acked, e.Suspect = l.Cursor != nil && e.Sequence <= *l.Cursor, l.Suspect(e.Sequence)
	}
}

// Suspect reports whether an entry lies in a page that is not what was written.
func (l *WriteAheadLog) Suspect(sequence uint64) bool {
	return l.Backend == LocalFile && slices.ContainsFunc(l.Corrupt, func(c Corrupt) bool {
		return c.From != nil && c.To != nil && *c.From <= sequence && sequence <= *c.To
	})
}

// suspectIn is how many sequences of a window lie in pages that are not what was
// written. Pages that claim the same sequences are counted once.
func (l *WriteAheadLog) suspectIn(w Window) (n uint64) {
	if l.Backend != LocalFile {
		return 0
	}
	ranges := slices.DeleteFunc(slices.Clone(l.Corrupt), func(c Corrupt) bool { return c.From == nil || c.To == nil || *c.To < w.From || *c.From > w.To })
	slices.SortFunc(ranges, func(a, b Corrupt) int { return cmp.Compare(*a.From, *b.From) })
	next := w.From // the first sequence that is not counted yet
	for _, c := range ranges {
		from, to := max(*c.From, next), min(*c.To, w.To)
		if from > to {
			continue
		}
		n += to - from + 1
		if next = to + 1; next == 0 {
			break
		}
	}
	return n
}

// stopping are the problems that an engine ends on at its start, with every stream of
// its node.
var stopping = []string{ProblemRefused, ProblemFileShort, ProblemFileUnopenable, ProblemManifestInvalid}

// Headline is the log in one sentence: what decides first.
func (l *WriteAheadLog) Headline() string {
	if l.any(stopping...) {
		return "an engine may not get over this log at all; otherwise " + l.replayed()
	}
	return l.replayed()
}

// replayed is what a start makes of the log.
func (l *WriteAheadLog) replayed() string {
	switch {
	case !l.Stable:
		return "the log changes under every try to read it: no cursor is given"
	case l.Cursor == nil:
		return fmt.Sprintf("the cursor is not known; entries up to %s are there", sequence(*l.Tail))
	case l.Partial && l.Window == nil:
		return fmt.Sprintf("what a start replays behind the cursor %s is not known: entries may lie in what could not be read", sequence(*l.Cursor))
	case l.Partial:
		return fmt.Sprintf("a start replays %s or more behind the cursor %s: others may lie in what could not be read", plural(l.Window.Entries, "entry", "entries"), sequence(*l.Cursor))
	case len(l.Gaps) > 0:
		return fmt.Sprintf("a start replays %s behind the cursor %s, and entries in between are missing", plural(l.Window.Entries, "entry", "entries"), sequence(*l.Cursor))
	case l.Window != nil:
		text := fmt.Sprintf("a start replays %s: sequences %s to %s", plural(l.Window.Entries, "entry", "entries"), sequence(l.Window.From), sequence(l.Window.To))
		if n := l.suspectIn(*l.Window); n > 0 {
			text += fmt.Sprintf(", %s of them on a damaged page", sequence(n))
		}
		return text
	default:
		return fmt.Sprintf("a start replays nothing: everything up to the cursor %s counts as acknowledged", sequence(*l.Cursor))
	}
}

// ReplaysNothing reports whether it is known that a start sends nothing again.
func (l *WriteAheadLog) ReplaysNothing() bool {
	return l.Stable && l.known() && l.Window == nil && !l.Partial
}

func worse(s inspect.Severity) int {
	return slices.Index([]inspect.Severity{inspect.SeverityError, inspect.SeverityWarning, inspect.SeverityInfo}, s)
}

// Worst is the severity of the worst problem; empty: there is none.
func (l *WriteAheadLog) Worst() inspect.Severity {
	if len(l.Problems) == 0 {
		return ""
	}
	return l.Problems[0].Severity
}

// Words.

// Number is a sequence or a count with its digits in groups, of any size.
func Number(n uint64) string { return sequence(n) }

func sequence(n uint64) string {
	const digits = 1000
	if n > 1<<63-1 { // no signed number
		return fmt.Sprintf("%s%03d", figures.Group(int64(n/digits))+",", n%digits)
	}
	return figures.Group(int64(n))
}

func spanText(s Span) string {
	if s.From == s.To {
		return "sequence " + sequence(s.From)
	}
	return fmt.Sprintf("sequences %s to %s (%s)", sequence(s.From), sequence(s.To), sequence(s.Len()))
}

func are(s Span) string { return areN(s.Len()) }

func areN(n uint64) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

func they(s Span) string {
	if s.Len() == 1 {
		return "it"
	}
	return "they"
}

func plural(n uint64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return sequence(n) + " " + many
}
