package flink

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/figures"
	"github.com/recoverctl/recoverctl/internal/flinkmeta"
	"github.com/recoverctl/recoverctl/internal/kryo"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

// What Flink Agents calls its operator and the operator states that matter here.
const (
	agentOperator   = "action-execute-operator"
	markerState     = "recoveryMarker"
	processingState = "currentProcessingKeys"
	identifierState = "identifier_state"
)

// maxMarkers is how many elements of all agent operators are read. A job has one
// a subtask; lists that were carried over have some more.
const maxMarkers = 1 << 20

const (
	// maxOpened is the largest operator state stream that is kept while its
	// operator is looked at.
	maxOpened = 1 << 20
	// maxProcessing is how many keys with an unfinished run are listed of one
	// operator.
	maxProcessing = 1000
)

// isAgent says that an operator is one of Flink Agents: by its name, which the
// metadata has from version 5 on, or by its states.
func isAgent(o *flinkmeta.Operator) bool {
	if o.Name == agentOperator {
		return true
	}
	for _, t := range o.Subtasks {
		_, marked := t.ManagedOperator.State(markerState)
		keys, processing := t.ManagedOperator.State(processingState)
		if marked || processing && keys.Mode == flinkmeta.Union {
			return true
		}
	}
	return false
}

// agents reads the markers of all agent operators and checks their union state.
// The error is that of markers which can't be read from here, and they are then
// not in the list; damaged ones are in the list and have checks.
func (b *builder) agents(ctx context.Context) error {
	var agents []*flinkmeta.Operator
	for i := range b.md.Operators {
		if isAgent(&b.md.Operators[i]) {
			agents = append(agents, &b.md.Operators[i])
		}
	}
	if len(agents) == 0 {
		b.add("U3", inspect.SeverityInfo, "check that this is a recovery point of the right job",
			"no agent operator is in this snapshot: none is called %s or has a state %s", agentOperator, markerState)
	}
	if len(agents) > 1 {
		b.add("P3", inspect.SeverityInfo, "each restores from its own markers; the merged marker is the lowest of all",
			"%d agent operators are in this snapshot", len(agents))
	}
	var failed error
	for _, o := range agents {
		if b.md.Version >= 5 && o.UID == "" {
			b.add("P7", inspect.SeverityWarning, "restore into the unchanged job, or set a uid",
				"the agent operator has no uid; its id %s changes when the job graph changes. Restoring into a changed job may drop this state.", o.ID)
		}
		if o.FullyFinished {
			b.add("U3", inspect.SeverityInfo, "", "agent operator %s has finished: it has no state to restore", o.Label())
			continue
		}
		b.checkUnion(o)
		at := len(b.point.Markers)
		b.opened = map[*flinkmeta.OperatorState]*flinkmeta.OperatorStream{}
		b.checkIdentifiers(ctx, o)
		b.processing(ctx, o)
		for i := range o.Subtasks {
			if err := b.subtaskMarkers(ctx, o, &o.Subtasks[i]); err != nil && failed == nil {
				failed = err
			}
			if ctx.Err() != nil {
				return accessFault(ctx.Err(), b.from.meta, b.from.uri)
			}
		}
		b.checkMarkers(o, b.point.Markers[at:])
	}
	if slices.ContainsFunc(b.point.Markers, func(m inspect.Marker) bool { return m.Problem == nil && m.Offsets != nil }) {
		by := "1.20 or earlier"
		if generationOf(b.md.Version) == kryo.Gen5 {
			by = "2.0 or later"
		}
		b.add("V6", inspect.SeverityInfo, "", "the markers are of Kryo generation %d: written by Flink %s", generationOf(b.md.Version), by)
	}
	return failed
}

// checkUnion looks at which subtasks have which states: U1 to U4.
func (b *builder) checkUnion(o *flinkmeta.Operator) {
	var without, live, marked int64
	first := int32(-1)
	lacks := func(index int32) {
		if without++; first < 0 || index < first {
			first = index
		}
	}
	present := map[int32]bool{}
	for _, t := range o.Subtasks {
		present[t.Index] = true
		if t.Finished {
			continue
		}
		live++
		if _, ok := t.ManagedOperator.State(processingState); !ok {
			lacks(t.Index)
		}
		if s, ok := t.ManagedOperator.State(markerState); ok {
			marked++
			if s.Mode != flinkmeta.Union {
				b.add("U4", inspect.SeverityError, hintDamaged, "operator %s, subtask %d: state %s has mode %s, expected UNION",
					o.Label(), t.Index, markerState, s.Mode)
			}
		}
	}
	for i := range min(o.Parallelism, flinkmeta.MaxParallelism) {
		if !present[i] {
			live++
			lacks(i)
		}
	}
	if without > 0 {
		b.add("U1", inspect.SeverityError, "use another recovery point",
			"operator %s: subtask %d has no state %s, as %s of %s: the snapshot is not from a running agent operator",
			o.Label(), first, processingState, group(without), figures.Count(live, "subtask", "subtasks"))
	}
	switch {
	case live > 0 && marked == 0:
		b.add("U3", inspect.SeverityInfo, "a restore from here begins without replaying action state",
			"operator %s has no %s state: the job ran without an action state store", o.Label(), markerState)
	case marked > 0 && marked < live:
		b.add("U2", inspect.SeverityError, "use another recovery point",
			"operator %s: the state %s exists on %s of %s", o.Label(), markerState, group(marked), figures.Count(live, "subtask", "subtasks"))
	}
}

// subtaskMarkers reads the markers of one subtask. Each element of the list
// becomes a marker, readable or not.
func (b *builder) subtaskMarkers(ctx context.Context, o *flinkmeta.Operator, t *flinkmeta.Subtask) error {
	state, ok := t.ManagedOperator.State(markerState)
	if !ok {
		return nil
	}
	if room := maxMarkers - len(b.point.Markers); len(state.Offsets) > room {
		b.add("U5", inspect.SeverityError, "take a new snapshot with the action state store on",
			"operator %s, subtask %d: more than %s markers in all", o.Label(), t.Index, group(maxMarkers))
		b.unread(o, t.Index, 1, "there are more markers than are read")
		return nil
	}
	stream, err := b.open(ctx, t.ManagedOperator)
	if err != nil {
		return b.unopened(o, t, len(state.Offsets), err)
	}
	registered := b.header(o, t, stream)
	gen := generationOf(b.md.Version)
	for i := range state.Offsets {
		data, err := stream.Element(markerState, i)
		if err != nil {
			b.unread(o, t.Index, 1, safetext.Error(err).String())
			var wrong *flinkmeta.Error
			id := "U8"
			if errors.As(err, &wrong) {
				id = wrong.Check
			}
			b.add(id, inspect.SeverityError, orUseAnother(""), "operator %s, marker of subtask %d: %s", o.Label(), t.Index, safetext.Error(err))
			continue
		}
		e := decodeMarker(gen, data, registered)
		e.marker.OperatorID, e.marker.Subtask = o.ID.String(), int(t.Index)
		if e.check != "" {
			e.marker.Problem = &inspect.Problem{Code: CodeUnreadable,
				Message: fmt.Sprintf("the marker of subtask %d of operator %s %s", t.Index, o.ID, e.cause)}
			b.add(e.check, inspect.SeverityError, e.hint, "operator %s: the marker of subtask %d %s", o.Label(), t.Index, e.cause)
		}
		b.point.Markers = append(b.point.Markers, e.marker)
	}
	return nil
}

// processing lists the keys with an unfinished run. What can't be read has a
// check from the markers, or is of a kind that only its job knows.
func (b *builder) processing(ctx context.Context, o *flinkmeta.Operator) {
	if b.brief {
		return
	}
	at := slices.IndexFunc(b.point.Operators, func(p inspect.Operator) bool { return p.ID == o.ID.String() })
	out := &b.point.Operators[at]
	gen := generationOf(b.md.Version)
	for i := range o.Subtasks {
		t := &o.Subtasks[i]
		state, ok := t.ManagedOperator.State(processingState)
		if !ok || len(state.Offsets) == 0 {
			continue
		}
		stream, err := b.open(ctx, t.ManagedOperator)
		if err != nil {
			if _, marked := t.ManagedOperator.State(markerState); !marked { // else the markers tell it
				_ = b.unopened(o, t, 0, err) // no marker is lost: nothing to return
			}
			continue
		}
		for e := range state.Offsets {
			if len(out.Processing) == maxProcessing {
				return
			}
			key := inspect.ProcessingKey{Subtask: int(t.Index)}
			data, err := stream.Element(processingState, e)
			if err == nil {
				key.Type, key.Text = processingKey(gen, data)
			}
			out.Processing = append(out.Processing, key)
		}
	}
}

// processingKey reads a key that Kryo wrote. text is nil where the key is of a
// class that is not known here, or its bytes are none of Kryo's.
func processingKey(gen kryo.Generation, data []byte) (kind string, text *string) {
	decoded, err := kryo.Decode(gen, data, nil)
	if err != nil || decoded.Rest != 0 && decoded.Unknown == nil {
		return "", nil
	}
	shown := ""
	switch v := decoded.Value.(type) {
	case *kryo.String:
		kind, shown = string(flinkmeta.KeyString), v.Text
	case kryo.Int64:
		kind, shown = string(flinkmeta.KeyLong), fmt.Sprint(int64(v))
	case kryo.Int32:
		kind, shown = string(flinkmeta.KeyInt), fmt.Sprint(int32(v))
	case *kryo.Unknown:
		return v.JavaClass, nil
	default:
		return v.Class(), nil
	}
	return kind, &shown
}

// unopened tells why a list could not be opened. Damage makes n markers that
// can't be read; anything else is returned, because nothing can be said then.
func (b *builder) unopened(o *flinkmeta.Operator, t *flinkmeta.Subtask, n int, err error) error {
	var wrong *flinkmeta.Error
	switch {
	case errors.As(err, &wrong):
		b.add(wrong.Check, inspect.SeverityError, orUseAnother(wrong.Hint), "operator %s, subtask %d: %s", o.Label(), t.Index, wrong.Message)
	case fault.KindOf(err) == fault.Corrupt, fault.KindOf(err) == fault.NotFound:
		b.add("U1", inspect.SeverityError, "use another recovery point, or put the file back",
			"operator %s, subtask %d: its operator state could not be read: %s", o.Label(), t.Index, safetext.Error(err))
	case n == 0:
		return nil
	default:
		return err
	}
	b.unread(o, t.Index, n, "its state could not be read: "+safetext.Error(err).String())
	return nil
}

func orUseAnother(hint string) string {
	if hint != "" {
		return hint
	}
	return "use another recovery point, or copy this one again from its origin"
}

// open reads the stream of an operator state handle. The first one tells which
// Flink wrote it.
func (b *builder) open(ctx context.Context, handle *flinkmeta.OperatorState) (*flinkmeta.OperatorStream, error) {
	if s := b.opened[handle]; s != nil {
		return s, nil
	}
	data, err := b.stream(ctx, handle.Stream)
	if err != nil {
		return nil, err
	}
	s, err := flinkmeta.OpenOperatorStream(data, handle)
	if err == nil && len(data) <= maxOpened {
		b.opened[handle] = s
	}
	if err == nil && b.streamVersion == 0 {
		b.streamVersion = s.Version
		by := "1.18 or later"
		if s.Version == 5 {
			by = "1.7 to 1.17"
		}
		b.add("V2", inspect.SeverityInfo, "", "operator state stream version %d: written by Flink %s", s.Version, by)
	}
	return s, err
}

// header walks the stream's header, which says which classes are registered and
// where the elements must begin.
func (b *builder) header(o *flinkmeta.Operator, t *flinkmeta.Subtask, stream *flinkmeta.OperatorStream) kryo.Registered {
	var err error
	if !stream.Begins(b.lastHeader) {
		b.lastHeader, err = stream.Header()
	}
	h := b.lastHeader
	if err == nil {
		_, err = stream.CheckHeader(h)
	}
	var wrong *flinkmeta.Error
	if errors.As(err, &wrong) {
		b.add(wrong.Check, inspect.SeverityError, orUseAnother(wrong.Hint), "operator %s, subtask %d: %s", o.Label(), t.Index, wrong.Message)
	}
	for i := range h.List {
		if s, ok := h.List[i].Serializer(flinkmeta.SerializerValue); ok && h.List[i].Name == markerState && s.Kryo != nil {
			return kryo.Registered(s.Kryo.Registered)
		}
	}
	return nil
}

// unread stands for n elements that could not be read, so that they are never
// taken for absent.
func (b *builder) unread(o *flinkmeta.Operator, subtask int32, n int, why string) {
	for range n {
		b.point.Markers = append(b.point.Markers, inspect.Marker{
			OperatorID: o.ID.String(), Subtask: int(subtask), Kind: inspect.MarkerOther,
			Problem: &inspect.Problem{Code: CodeUnreadable, Message: fmt.Sprintf("the marker of subtask %d of operator %s can't be read: %s", subtask, o.ID, why)},
		})
	}
}

// checkMarkers looks at the markers of one operator: U5, U9 and U10.
func (b *builder) checkMarkers(o *flinkmeta.Operator, markers []inspect.Marker) {
	expected := int64(0)
	hasState := false
	for _, t := range o.Subtasks {
		if _, ok := t.ManagedOperator.State(markerState); ok {
			hasState = true
		}
		if t.Finished {
			expected--
		}
	}
	expected += int64(o.Parallelism)
	switch n := int64(len(markers)); {
	case !hasState:
		return
	case n == 0:
		b.add("U5", inspect.SeverityWarning, "a restore from here is a fresh start; use a later recovery point if there is one",
			"operator %s: %s is empty: no snapshot was taken with the action state store on", o.Label(), markerState)
	case n > expected:
		b.add("U5", inspect.SeverityWarning, "they count as usual; the lowest offset of each partition or bucket is where a restore begins",
			"operator %s: %s for %s. More than one a subtask: the state was carried over by a run without an action state store.",
			o.Label(), figures.Count(n, "marker", "markers"), figures.Count(expected, "subtask", "subtasks"))
	case n < expected:
		b.add("U5", inspect.SeverityWarning, "find out why: a subtask without a marker may lie before the others",
			"operator %s: %s for %s: some subtasks stored none", o.Label(), figures.Count(n, "marker", "markers"), figures.Count(expected, "subtask", "subtasks"))
	}
	merged := inspect.Merge(markers)
	b.lastMerged = &merging{merged, len(markers)}
	if merged.Problem == nil {
		return // none is wrong, and all name the same partitions
	}
	told := 0
	for _, m := range markers {
		if what := wrongMarker(m); what != "" {
			if told++; told <= maxListed {
				b.add("U9", inspect.SeverityError, "use another recovery point, or find out which program wrote this",
					"operator %s: the marker of subtask %d %s", o.Label(), m.Subtask, what)
			}
		}
	}
	if told > maxListed {
		b.add("U9", inspect.SeverityError, "", "operator %s: %s more markers are wrong", o.Label(), group(told-maxListed))
	}
	b.checkKeySets(o, markers)
}

// wrongMarker says what keeps a readable marker from being one.
func wrongMarker(m inspect.Marker) string {
	switch {
	case m.Problem != nil:
		return "" // told with its bytes
	case m.Kind == inspect.MarkerNull:
		return "is null: Flink itself can't restore such a list"
	case m.Kind == inspect.MarkerOther:
		return "is a " + safetext.Of(m.Class).String() + "; expected a map of partition to offset"
	case m.Kind == inspect.MarkerLegacyTyped:
		return "is a " + safetext.Of(m.Class).String() + " whose entries are not all of Integer to Long"
	case m.Kind == inspect.MarkerVersioned && m.Offsets == nil:
		return "has no offsets (null)"
	}
	negative := func(partition int32) bool { return partition < 0 || m.Offsets[partition] < 0 }
	for partition := range m.Offsets {
		if negative(partition) { // rare; told by the lowest one
			all := m.Offsets.Partitions()
			lowest := all[slices.IndexFunc(all, negative)]
			return fmt.Sprintf("has offset %s for partition %d; neither may be negative", figures.Group(m.Offsets[lowest]), lowest)
		}
	}
	return ""
}

// checkKeySets compares the partitions that the markers name.
func (b *builder) checkKeySets(o *flinkmeta.Operator, markers []inspect.Marker) {
	var first *inspect.Marker
	for i := range markers {
		m := &markers[i]
		if m.Offsets == nil {
			continue
		}
		if first == nil {
			first = m
			continue
		}
		if !first.Offsets.SamePartitions(m.Offsets) {
			x, y := first.Offsets.Partitions(), m.Offsets.Partitions()
			b.add("U10", inspect.SeverityWarning, "find out whether partitions or buckets were added while the job ran; a restore needs one set",
				"operator %s: markers disagree about partitions or buckets: subtask %d names %s, subtask %d names %s",
				o.Label(), first.Subtask, figures.Ranges(x, 8), m.Subtask, figures.Ranges(y, 8))
			return
		}
	}
}
