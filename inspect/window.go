package inspect

import (
	"cmp"
	"context"
	"fmt"
	"hash/maphash"
	"slices"
	"strings"

	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/figures"
)

// WindowFacts is what reading the records of a replay window brought to light.
type WindowFacts struct {
	Records int64  // without the control records of transactions
	Bytes   int64  // of keys and values
	States  *int64 // keys that are left at the end; nil: too many to count

	Refused  int64     // records that stop a restore
	Problems []Problem // the first of them on each partition, ascending; bounded

	// Unjudged counts records with something that only the job can judge; Left
	// says what that is, in the order in which it was met; bounded.
	Unjudged int64
	Left     []string

	MaxParallelism int // what key groups were checked against; 0: not known
	Partitions     int // whose window was read
}

// WindowProgress is how far the reading of a window has come.
type WindowProgress struct {
	Records int64
	Bytes   int64 // of keys and values
	Span    int64 // offsets that were passed …
	Total   int64 // … of those that the window has
}

const (
	// maxStates bounds the memory of a scan: 16 bytes of a key's hash each.
	maxStates = 1 << 22
	maxLeft   = 8
)

// WindowScan judges the records of a replay window one by one, as a restore does.
// It keeps hashes of keys and no record.
type WindowScan struct {
	store   Store
	facts   WindowFacts
	states  map[[2]uint64]struct{} // nil: no longer counted
	seeds   [2]maphash.Seed
	refused map[int32]bool // partitions with a refused record
}

// NewWindowScan returns a scan of a job's log that has seen nothing. A maxParallelism
// of 0 is not known.
func NewWindowScan(store Store, maxParallelism int) *WindowScan {
	return &WindowScan{
		store:   store,
		facts:   WindowFacts{MaxParallelism: maxParallelism},
		states:  map[[2]uint64]struct{}{},
		seeds:   [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()},
		refused: map[int32]bool{},
	}
}

// Visit judges the next record. Records of one partition come in the order of
// their offsets. A nil key or value is a null one; neither is kept.
//
// Of a record with several faults a restore names the value's: its consumer
// decodes the value before anybody looks at the key. Which of two partitions it
// meets first depends on which broker answers first.
func (s *WindowScan) Visit(partition int32, offset int64, key, value []byte) {
	s.facts.Records++
	s.facts.Bytes += int64(len(key) + len(value))
	if p := refusedBy(s.store, key, value, s.facts.MaxParallelism); p != nil {
		s.refuse(partition, offset, p)
		return
	}
	v := CheckReplayValue(value)
	if v.Unjudged != 0 {
		s.facts.Unjudged++
		s.leave(v)
	}
	s.replay(key, v.Removes)
}

// noPayload is what is wrong with a row that has none.
const noPayload = "it has no payload, which the job's store never writes and can't read"

// refusedBy is why a restore stops at a record; nil: nothing is known that stops it.
// A store on Fluss asks nothing of the keys of rows.
func refusedBy(store Store, key, value []byte, maxParallelism int) *Problem {
	if store == StoreFluss {
		if value == nil {
			return problem("record-value-undecodable", nil, "the row can't be decoded: %s", noPayload)
		}
		return CheckReplayValue(value).Problem
	}
	if p := CheckReplayValue(value).Problem; p != nil {
		return p
	}
	return CheckReplayKey(key, maxParallelism)
}

func (s *WindowScan) refuse(partition int32, offset int64, p *Problem) {
	s.facts.Refused++
	if s.refused[partition] || len(s.facts.Problems) == maxReasons {
		return
	}
	s.refused[partition] = true
	part := s.store.Part()
	p.Named[part], p.Named["offset"] = partition, offset
	p.Message = fmt.Sprintf("%s %d, offset %s: %s", part, partition, group(offset), p.Message)
	s.facts.Problems = append(s.facts.Problems, *p)
}

// leave notes what of a value was not judged.
func (s *WindowScan) leave(v ReplayValue) {
	note := func(what string) {
		if len(s.facts.Left) < maxLeft && !slices.Contains(s.facts.Left, what) {
			s.facts.Left = append(s.facts.Left, what)
		}
	}
	if v.Unjudged&UnknownClass != 0 {
		note("events of class " + quoteBytes(v.Class))
	}
	if v.Unjudged&MemoryValue != 0 {
		note("memory values")
	}
	if v.Unjudged&OddForm != 0 {
		note("forms that no known version writes")
	}
	if v.Unjudged&OddEncoding != 0 {
		note("values in UTF-16 or UTF-32")
	}
}

// replay follows the last write of a key.
func (s *WindowScan) replay(key []byte, removes bool) {
	if s.states == nil {
		return
	}
	hash := [2]uint64{maphash.Bytes(s.seeds[0], key), maphash.Bytes(s.seeds[1], key)}
	if removes {
		delete(s.states, hash)
		return
	}
	s.states[hash] = struct{}{}
	if len(s.states) > maxStates {
		s.states = nil
	}
}

// Facts is what was seen so far.
func (s *WindowScan) Facts() WindowFacts {
	facts := s.facts
	if s.states != nil {
		n := int64(len(s.states))
		facts.States = &n
	}
	facts.Problems = slices.SortedFunc(slices.Values(facts.Problems), func(a, b Problem) int {
		return cmp.Compare(a.Named[s.store.Part()].(int32), b.Named[s.store.Part()].(int32))
	})
	return facts
}

// ReadingWindow returns an inspector whose Validate and ValidateMarkers also read
// every record of the replay window, as the restore would. progress, which may be
// nil, is called from time to time while they do, from one goroutine.
func (i *Inspector) ReadingWindow(progress func(WindowProgress)) *Inspector {
	reading := *i
	reading.window = &windowReading{progress: progress}
	return &reading
}

// windowReading is how an inspector reads windows.
type windowReading struct {
	progress func(WindowProgress) // may be nil
}

// validate answers a question, and reads the records of its window first where
// the inspector does that. The error says that they could not be read; it is in
// the answer too.
func (i *Inspector) validate(ctx context.Context, q RestoreQuestion, maxParallelism int) (RestoreValidation, error) {
	v := ValidateRestore(q)
	if i.window != nil {
		q.ReadWindow = true
		q.WindowRead, q.WindowErr = i.readWindow(ctx, q, v.Window, cmp.Or(q.Job.MaxParallelism, maxParallelism))
		v = ValidateRestore(q)
	}
	i.later(q, &v)
	return v, q.WindowErr
}

// readWindow reads a window as far as it is known. One without offsets needs no
// cluster.
func (i *Inspector) readWindow(ctx context.Context, q RestoreQuestion, windows []Window, maxParallelism int) (*WindowFacts, error) {
	if len(windows) == 0 {
		return nil, nil
	}
	if !slices.ContainsFunc(windows, func(w Window) bool { return w.From < w.To }) {
		facts := NewWindowScan(q.Job.Store, maxParallelism).Facts()
		facts.Partitions = len(windows)
		return &facts, nil
	}
	reader, ok := i.log.(WindowReader)
	if !ok {
		return nil, fault.New(fault.Unsupported, "read records", "this backend can't read the records of a replay window")
	}
	scan := NewWindowScan(q.Job.Store, maxParallelism)
	err := reader.ReadWindow(ctx, q.Data, windows, scan.Visit, i.window.progress)
	facts := scan.Facts()
	facts.Partitions = len(windows)
	return &facts, err
}

// maxParallelismOf is the max parallelism of the operators that wrote a point's
// markers; 0 when they differ or it is not known.
func maxParallelismOf(p RecoveryPoint) int {
	found := 0
	for _, m := range p.Markers {
		at := slices.IndexFunc(p.Operators, func(op Operator) bool { return op.ID == m.OperatorID })
		if at < 0 {
			return 0
		}
		if n := p.Operators[at].MaxParallelism; found == 0 {
			found = n
		} else if n != found {
			return 0
		}
	}
	return found
}

// Replayed is what a restore read again: the records of its window and the
// states that they leave, by the last write of each key. States is null when the
// restore stops at a record, and when there are more than can be counted.
type Replayed struct {
	Records int64  `json:"records"`
	Bytes   int64  `json:"bytes"` // of keys and values
	States  *int64 `json:"states"`
}

// replayed is nil until the whole window was read.
func (r *restore) replayed() *Replayed {
	w := r.q.WindowRead
	if r.q.ReadWindow && r.markersKnown && r.fresh() {
		return &Replayed{States: new(int64)} // a fresh start replays nothing
	}
	if w == nil || r.q.WindowErr != nil || w.Partitions < r.windows() {
		return nil
	}
	out := &Replayed{Records: w.Records, Bytes: w.Bytes, States: w.States}
	if w.Refused > 0 {
		out.States = nil
	}
	return out
}

// fresh reports whether no marker is one that the job's store takes.
func (r *restore) fresh() bool {
	if r.q.Job.Store == StoreFluss {
		return len(r.wanted()) == 0
	}
	return len(r.q.Markers) == 0
}

// windows is how many partitions or buckets the markers name.
func (r *restore) windows() int {
	if r.q.Job.Store == StoreFluss {
		return len(r.wanted())
	}
	return len(Lowest(r.q.Markers))
}

// released reports whether the job runs a release whose restore judges no record
// by these rules.
func (r *restore) released() bool {
	return slices.Contains([]Release{Release01, Release02, Release03}, r.q.Job.Runtime)
}

// windowRule judges the records of the window, or names what a validation
// without them leaves open.
func (r *restore) windowRule() {
	const code, title = "window-records", windowRecords
	if r.markersKnown && len(r.q.Markers) == 0 {
		return
	}
	w := r.q.WindowRead
	switch {
	case !r.q.ReadWindow:
		r.book.leave(code, title, "not read: one record with a key or value that the job refuses stops a restore")
		return
	case r.released():
		r.book.leave(code, title, r.releasedWindow())
		return
	default:
		r.windowAnswer(code, title)
	}
	if w == nil {
		return
	}
	if w.MaxParallelism <= 0 && w.Records > 0 {
		r.book.leave("window-key-groups", "key groups against the job's max parallelism",
			fmt.Sprintf("only checked to be below %s, the most that Flink allows: give --max-parallelism", group(maxKeyGroups)))
	}
	r.leftOfWindow()
}

// windowAnswer says what the records that were read come to.
func (r *restore) windowAnswer(code, title string) {
	w, store := r.q.WindowRead, r.q.Job.Store
	switch {
	case w != nil && w.Refused > 0:
		reasons := make([]Reason, 0, len(w.Problems))
		for _, p := range w.Problems {
			reasons = append(reasons, Reason{p})
		}
		r.book.fail(code, title, w.refusals(), reasons...)
	case r.q.WindowErr != nil:
		r.book.skip(code, title, unread("the replay window", r.q.WindowErr))
	case w == nil:
		r.book.skip(code, title, "which records a restore reads is not known")
	case w.Partitions < r.windows():
		r.book.skip(code, title, fmt.Sprintf("the window of %s is known and holds %s that pass; that of the others is not known",
			countOf(w.Partitions, r.windows(), store.Part(), store.Part()+"s"), w.size()))
	default:
		r.book.pass(code, title, "%s", w.size())
	}
}

// leftOfWindow names what of the records only the job can judge.
func (r *restore) leftOfWindow() {
	if w := r.q.WindowRead; w != nil && w.Unjudged > 0 {
		r.book.leave("window-classes", "classes and memory values in those records",
			fmt.Sprintf("%s with what only the job can decode: %s", records(w.Unjudged), strings.Join(w.Left, ", ")))
	}
}

// releasedWindow is what is said where the job's release has other rules.
func (r *restore) releasedWindow() string {
	what := fmt.Sprintf("not judged: release %s takes other keys and has no such rules", r.q.Job.Runtime)
	switch w := r.q.WindowRead; {
	case r.q.WindowErr != nil:
		return what + "; " + unread("the replay window", r.q.WindowErr)
	case w == nil:
		return what
	case w.Refused > 0:
		return what + "; in the next version " + w.refusals()
	default:
		return what + "; the next version would take " + w.size()
	}
}

// refusals says how many records are refused, and the first reason.
func (w *WindowFacts) refusals() string {
	word := "are"
	if w.Refused == 1 {
		word = "is"
	}
	return fmt.Sprintf("%s of %s %s refused; %s", group(w.Refused), records(w.Records), word, w.Problems[0].Message)
}

func (w *WindowFacts) size() string {
	states := "more states than can be counted"
	if w.States != nil && *w.States == 1 {
		states = "1 state"
	} else if w.States != nil {
		states = group(*w.States) + " states"
	}
	return fmt.Sprintf("%s, %s, %s", records(w.Records), figures.Bytes(w.Bytes), states)
}

func records(n int64) string { return figures.Count(n, "record", "records") }
