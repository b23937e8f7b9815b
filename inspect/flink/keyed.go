package flink

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/figures"
	"github.com/recoverctl/recoverctl/internal/flinkmeta"
	"github.com/recoverctl/recoverctl/internal/safetext"
	"golang.org/x/sync/errgroup"
)

// What Flink Agents calls the keyed states that matter here.
const (
	messageState   = "messageSequenceNumber"
	completedState = inspect.CompletedState
	tasksState     = "actionTasks"
	pendingState   = "pendingInputEvents"
)

const (
	// smallKeyed is how much keyed state of one recovery point is read without
	// being asked for, in bytes.
	smallKeyed = 4 << 20
	// maxGroupKeys is how many keys of one key group are held in memory.
	maxGroupKeys = 1 << 18
	// parallelKeyed is how many subtasks' keyed state is read at once.
	parallelKeyed = 4
)

const hintCanonical = "take a canonical savepoint to see its keys"

// keyed reads the keyed state of all operators, the agents' first. The error is
// the context's: what could not be read is told in the operators.
func (b *builder) keyed(ctx context.Context) error {
	order := make([]int, len(b.md.Operators))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(x, y int) int {
		return cmp.Compare(boolInt(!isAgent(&b.md.Operators[x])), boolInt(!isAgent(&b.md.Operators[y])))
	})
	room := int64(smallKeyed)
	for _, i := range order {
		o := &b.md.Operators[i]
		r := newKeyedReading(b, o)
		if r.out.Subtasks == 0 {
			continue
		}
		b.point.Operators[i].Keyed = r.out
		b.checkStateFiles(o)
		whole := b.question.Keys || r.out.Bytes <= room
		if err := r.read(ctx, whole); err != nil {
			return err
		}
		if whole {
			room = max(room-r.out.Bytes, 0)
		}
	}
	return nil
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// keyedReading reads the keyed state of one operator.
type keyedReading struct {
	*builder
	operator *flinkmeta.Operator
	agent    bool
	out      *inspect.KeyedState  // by itself: the point that has it must not keep this reading, and with it the file
	handles  []*flinkmeta.Subtask // with keyed state, by index
	damages  map[string]int       // by check
}

func newKeyedReading(b *builder, o *flinkmeta.Operator) *keyedReading {
	r := &keyedReading{builder: b, operator: o, agent: isAgent(o), damages: map[string]int{}}
	r.out = &inspect.KeyedState{Decoded: inspect.DecodedNone, States: []inspect.KeyedStateEntry{}, Sequences: []inspect.KeySequence{}}
	for i := range o.Subtasks {
		t := &o.Subtasks[i]
		if t.ManagedKeyed == nil {
			continue
		}
		r.handles = append(r.handles, t)
		r.out.Bytes = sum(r.out.Bytes, t.ManagedKeyed.StateSize().Bytes)
	}
	r.out.Subtasks = len(r.handles)
	return r
}

// read fills in what the operator's keyed state holds. Only the headers are read
// where whole is false.
func (r *keyedReading) read(ctx context.Context, whole bool) error {
	first := r.handles[0].ManagedKeyed
	switch {
	case first.Changelog != nil, first.InMemory != nil, first.File != nil:
		r.out.Backend, r.out.Why = inspect.BackendChangelog, "the changes of a changelog are not decoded"
		r.skipped()
		return nil
	case first.Incremental != nil:
		r.out.Backend = inspect.BackendFiles
	case first.Kind == flinkmeta.KeyGroupsSavepoint:
		r.out.Backend = inspect.BackendCanonical
	default:
		r.out.Backend = inspect.BackendHeap
	}
	switch {
	case r.brief && !r.inline():
		r.out.Why = "in a list of recovery points only keyed state inside the metadata is read"
		return nil
	case first.Incremental != nil:
		return r.files(ctx, first.Incremental)
	default:
		return r.streams(ctx, whole)
	}
}

// inline reports whether all keyed state that would be read is in the metadata.
func (r *keyedReading) inline() bool {
	return !slices.ContainsFunc(r.handles, func(t *flinkmeta.Subtask) bool {
		var s *flinkmeta.Stream
		switch k := t.ManagedKeyed; {
		case k.KeyGroups != nil:
			s = k.KeyGroups.Stream.Leaf()
		case k.Incremental != nil:
			s = k.Incremental.Meta.Leaf()
		}
		return s != nil && s.Kind != flinkmeta.InlineStream
	})
}

// skipped tells that keys of an agent are not read: check K7.
func (r *keyedReading) skipped() {
	if !r.agent {
		return
	}
	r.add("K7", inspect.SeverityInfo, hintCanonical, "operator %s: per-key checks skipped: %s", r.operator.Label(), r.out.Why)
}

// files reads the header of state files, whose contents are not decoded.
func (r *keyedReading) files(ctx context.Context, files *flinkmeta.IncrementalKeys) error {
	r.out.Why = "the contents of RocksDB and ForSt files are not decoded"
	defer r.skipped()
	data, err := r.builder.stream(ctx, files.Meta)
	if err == nil {
		var h flinkmeta.KeyedHeader
		if h, err = flinkmeta.DecodeKeyedHeader(data); err == nil {
			r.header(&h)
			r.out.Decoded = inspect.DecodedHeader
			return nil
		}
	}
	if ctx.Err() != nil {
		return accessFault(ctx.Err(), r.from.meta, r.from.uri)
	}
	r.failed(r.handles[0].Index, err)
	return nil
}

// header keeps what the description of the states says.
func (r *keyedReading) header(h *flinkmeta.KeyedHeader) {
	r.out.KeyType = string(flinkmeta.KeyTypeOf(h.Key))
	if r.out.KeyType == "" {
		r.out.KeyType = h.Key.Class
	}
	v2 := false
	for i := range h.States {
		s := &h.States[i]
		kind, _ := s.Option(flinkmeta.OptionKeyedStateType)
		if s.Type == flinkmeta.TypePriorityQueue {
			kind = "TIMERS"
		}
		v2 = v2 || s.Type == flinkmeta.TypeKeyValueV2
		r.out.States = append(r.out.States, inspect.KeyedStateEntry{Name: s.Name, Kind: kind})
	}
	slices.SortFunc(r.out.States, func(x, y inspect.KeyedStateEntry) int { return strings.Compare(x.Name, y.Name) }) // the file's order means nothing
	if v2 {
		r.add("V5", inspect.SeverityInfo, "", "operator %s uses the state V2 API: written by Flink 2.0 or later", r.operator.Label())
	}
}

// failed tells why keyed state could not be read: with a check where its bytes
// are wrong.
func (r *keyedReading) failed(subtask int32, err error) {
	r.out.Why = "subtask " + fmt.Sprint(subtask) + ": " + safetext.Error(err).String()
	r.damage(subtask, err)
}

// damage adds the check of a damaged stream. Offsets outside a stream have one
// already.
func (r *keyedReading) damage(subtask int32, err error) {
	var wrong *flinkmeta.Error
	if !errors.As(err, &wrong) || wrong.Check == flinkmeta.CheckOffset {
		return
	}
	severity := inspect.SeverityError
	if wrong.Kind == fault.Unsupported && wrong.Check != flinkmeta.CheckKeyedVersion {
		severity = inspect.SeverityInfo // a limit of this program
	}
	check := wrong.Check
	if check[0] != 'K' { // of any stream: what is lost here are keys, and no markers
		check = flinkmeta.CheckKeyedEntry
	}
	if r.damages[check]++; r.damages[check] <= maxListed {
		r.add(check, severity, orUseAnother(wrong.Hint), "operator %s, subtask %d: %s", r.operator.Label(), subtask, wrong.Message)
	}
}

// streams reads keyed state that lies in key groups.
func (r *keyedReading) streams(ctx context.Context, whole bool) error {
	if !whole {
		first := &subtaskKeys{reading: r, subtask: r.handles[0]}
		_, err := first.open(ctx)
		switch {
		case ctx.Err() != nil:
			return accessFault(ctx.Err(), r.from.meta, r.from.uri)
		case err != nil:
			r.failed(first.subtask.Index, err)
			return nil
		}
		r.header(&first.stream.Header)
		r.out.Decoded = inspect.DecodedHeader
		r.out.Why = fmt.Sprintf("it has %s, and more than %s of keyed state is read only when all keys are asked for", figures.Bytes(r.out.Bytes), figures.Bytes(smallKeyed))
		if !r.agent {
			return nil
		}
		r.add("K7", inspect.SeverityInfo, "read all of it with recoverctl inspect point --keys", "operator %s: per-key checks skipped: %s", r.operator.Label(), r.out.Why)
		return nil
	}
	r.progress.update(func(p *inspect.PointProgress) { p.BytesTotal = sum(p.BytesTotal, r.out.Bytes) })
	parts := make([]*subtaskKeys, len(r.handles))
	var group errgroup.Group
	group.SetLimit(parallelKeyed)
	for i, t := range r.handles {
		parts[i] = &subtaskKeys{reading: r, subtask: t}
		group.Go(func() error {
			parts[i].err = parts[i].read(ctx)
			return nil
		})
	}
	_ = group.Wait() // the errors are in the parts
	if ctx.Err() != nil {
		return accessFault(ctx.Err(), r.from.meta, r.from.uri)
	}
	r.join(parts)
	return nil
}

// join puts together what the subtasks' streams hold. What is not known of one
// of them is not known of the operator.
func (r *keyedReading) join(parts []*subtaskKeys) {
	r.out.Decoded = inspect.DecodedAll
	var all keyTally
	described := false
	for _, p := range parts {
		if p.err != nil {
			r.failed(p.subtask.Index, p.err)
			all.unknown, all.failed = true, true
			continue
		}
		if !described {
			described = true
			r.header(&p.stream.Header)
		}
		for _, err := range p.damages {
			r.damage(p.subtask.Index, err)
		}
		if p.why != "" {
			r.out.Why = fmt.Sprintf("subtask %d: %s", p.subtask.Index, p.why)
		}
		all.merge(&p.tally)
	}
	switch {
	case !described:
		r.out.Decoded = inspect.DecodedNone
	case r.out.Why != "" || all.unknown:
		r.out.Decoded = inspect.DecodedPart
	}
	for i := range r.out.States {
		e := &r.out.States[i]
		e.Entries, e.Bytes = all.of(e.Name)
	}
	if !all.unknown {
		r.out.Keys = new(all.keys)
	}
	if r.agent && described {
		if !all.unknown && r.out.KeepsCompleted() {
			r.out.Open = new(all.open)
		}
		if !r.brief {
			r.out.Sequences = all.listed()
		}
		r.checkSequences(&all)
	}
	for id, n := range r.damages {
		if n > maxListed {
			r.add(id, inspect.SeverityError, orUseAnother(""), "operator %s: %s more like these", r.operator.Label(), group(n-maxListed))
		}
	}
	if r.out.Why != "" {
		r.skipped()
	}
}

// checkSequences tells what is wrong with keys: K5 and K6.
func (r *keyedReading) checkSequences(all *keyTally) {
	for _, k := range all.misplaced {
		r.add("K5", inspect.SeverityError, "the job's key has a hash that is not stable: a restore can't find what belongs to it",
			"operator %s: key %s belongs to key group %d, is stored in %d: non-deterministic key hash", r.operator.Label(), quote(k.text), k.belongs, k.stored)
	}
	for _, k := range all.reversed {
		r.add("K6", inspect.SeverityError, orUseAnother(""), "operator %s: key %s: completed %s, started %s",
			r.operator.Label(), keyShown(k.Key), figures.Group(*k.LastCompletedSequenceNumber), startedShown(k.MessageSequenceNumber))
	}
	if r.out.Open != nil && *r.out.Open > 0 {
		r.add("K6", inspect.SeverityInfo, "", "operator %s: of %s, %s a sequence that was started and is not completed, or triggered no action",
			r.operator.Label(), figures.Count(all.keys, "key", "keys"), has(*r.out.Open))
	}
}

func has(n int64) string {
	if n == 1 {
		return "1 has"
	}
	return group(n) + " have"
}

func startedShown(n *int64) string {
	if n == nil {
		return "none"
	}
	return figures.Group(*n)
}

// keyShown names a key in a message.
func keyShown(k inspect.CallKey) string {
	if k.Text != nil {
		return quote(*k.Text)
	}
	return "with digest " + k.Digest
}

// checkStateFiles looks at the names of state files: check K8.
func (b *builder) checkStateFiles(o *flinkmeta.Operator) {
	told := 0
	for i := range o.Subtasks {
		t := &o.Subtasks[i]
		for _, files := range incrementals(t.ManagedKeyed, nil) {
			if what := wrongFileSet(files); what != "" {
				if told++; told <= maxListed {
					b.add("K8", inspect.SeverityError, orUseAnother(""), "operator %s, subtask %d: the set of state files is incomplete (%s)", o.Label(), t.Index, what)
				}
			}
		}
	}
	if told > maxListed {
		b.add("K8", inspect.SeverityError, orUseAnother(""), "operator %s: the sets of state files of %s more are incomplete", o.Label(), figures.Count(int64(told-maxListed), "subtask", "subtasks"))
	}
}

// incrementals are the sets of state files of a handle, also those below a
// changelog.
func incrementals(k *flinkmeta.KeyedState, found []*flinkmeta.IncrementalKeys) []*flinkmeta.IncrementalKeys {
	switch {
	case k == nil:
	case k.Incremental != nil:
		found = append(found, k.Incremental)
	case k.Changelog != nil:
		for _, m := range k.Changelog.Materialized {
			found = incrementals(m, found)
		}
	}
	return found
}

func wrongFileSet(files *flinkmeta.IncrementalKeys) string {
	seen := map[string]int{}
	manifests := 0
	for _, part := range [][]flinkmeta.NamedStream{files.Shared, files.Private} {
		for _, f := range part {
			if seen[f.Name]++; seen[f.Name] == 2 {
				return "two files are called " + quote(f.Name)
			}
			if strings.HasPrefix(f.Name, "MANIFEST-") {
				manifests++
			}
		}
	}
	switch {
	case seen["CURRENT"] == 0:
		return "there is no CURRENT"
	case manifests != 1:
		return figures.Count(int64(manifests), "file is called", "files are called") + " MANIFEST-…, one is expected"
	default:
		return ""
	}
}
