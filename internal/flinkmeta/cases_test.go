package flinkmeta_test

import (
	"bytes"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/recoverctl/recoverctl/internal/flinkmeta"
	"github.com/recoverctl/recoverctl/internal/testkit/flinkcases"
)

// everySnapshot runs a test for each snapshot that a real Flink wrote.
func everySnapshot(t *testing.T, test func(t *testing.T, caseName string, want flinkcases.Snapshot, data []byte, m *flinkmeta.Metadata)) {
	t.Helper()
	for _, name := range flinkcases.Names(t) {
		for _, snapshot := range flinkcases.Load(t, name).Snapshots {
			t.Run(name+"/"+path.Base(snapshot.Path), func(t *testing.T) {
				data := flinkcases.Metadata(t, name, snapshot)
				m, err := flinkmeta.Decode(data)
				if err != nil {
					t.Fatal(err)
				}
				test(t, name, snapshot, data, m)
			})
		}
	}
}

func TestDecodeAgreesWithFlink(t *testing.T) {
	everySnapshot(t, func(t *testing.T, caseName string, want flinkcases.Snapshot, _ []byte, m *flinkmeta.Metadata) {
		wantVersion := int32(6)
		if strings.HasPrefix(caseName, "flink120-") {
			wantVersion = 4
		}
		if m.Version != wantVersion {
			t.Errorf("metadata version %d, want %d", m.Version, wantVersion)
		}
		if m.CheckpointID != want.CheckpointID || len(m.MasterStates) != want.MasterStates {
			t.Errorf("checkpoint %d with %d master states, want %d with %d", m.CheckpointID, len(m.MasterStates), want.CheckpointID, want.MasterStates)
		}
		compareProperties(t, m.Properties, want)
		if len(m.Operators) != len(want.Operators) {
			t.Fatalf("%d operators, want %d", len(m.Operators), len(want.Operators))
		}
		for _, w := range want.Operators {
			i := slices.IndexFunc(m.Operators, func(o flinkmeta.Operator) bool { return o.ID.String() == w.ID })
			if i < 0 {
				t.Fatalf("operator %s is missing", w.ID)
			}
			compareOperator(t, &m.Operators[i], w)
		}
	})
}

func compareProperties(t *testing.T, got flinkmeta.Properties, want flinkcases.Snapshot) {
	t.Helper()
	if got.Name != want.Kind || got.Unknown != "" || got.Null {
		t.Errorf("properties %+v, want the name %s", got, want.Kind)
	}
	if !want.Savepoint {
		if got.Kind != flinkmeta.KindCheckpoint || got.Sharing != want.SharingFilesStrategy || got.Format != "" {
			t.Errorf("properties %+v, want a checkpoint with %s", got, want.SharingFilesStrategy)
		}
		return
	}
	// expected.json does not name the format, but only a canonical savepoint
	// holds this class of handle.
	format := flinkmeta.FormatNative
	for _, op := range want.Operators {
		for _, s := range op.Subtasks {
			if s.ManagedKeyedState != nil && s.ManagedKeyedState.Handle == "KeyGroupsSavepointStateHandle" {
				format = flinkmeta.FormatCanonical
			}
		}
	}
	if got.Kind != flinkmeta.KindSavepoint || got.Format != format || got.PostAction != "NONE" {
		t.Errorf("properties %+v, want a savepoint in format %s", got, format)
	}
}

func compareOperator(t *testing.T, got *flinkmeta.Operator, want flinkcases.Operator) {
	t.Helper()
	if got.Name != deref(want.Name) || got.UID != deref(want.UID) || int(got.Parallelism) != want.Parallelism ||
		int(got.MaxParallelism) != want.MaxParallelism || got.FullyFinished != want.FullyFinished {
		t.Errorf("operator %+v, want %+v", got, want)
	}
	if (got.Coordinator != nil) != (want.CoordinatorStateBytes != nil) {
		t.Errorf("operator %s: coordinator state %v, want %v", want.ID, got.Coordinator, want.CoordinatorStateBytes)
	}
	if size := got.StateSize(); size != (flinkmeta.Size{Bytes: want.StateSize}) {
		t.Errorf("operator %s: state size %+v, want %d", want.ID, size, want.StateSize)
	}
	if len(got.Subtasks) != len(want.Subtasks) {
		t.Fatalf("operator %s: %d subtasks, want %d", want.ID, len(got.Subtasks), len(want.Subtasks))
	}
	for _, w := range want.Subtasks {
		i := slices.IndexFunc(got.Subtasks, func(s flinkmeta.Subtask) bool { return int(s.Index) == w.Index })
		if i < 0 {
			t.Fatalf("operator %s: subtask %d is missing", want.ID, w.Index)
		}
		compareSubtask(t, &got.Subtasks[i], w)
	}
}

func compareSubtask(t *testing.T, got *flinkmeta.Subtask, want flinkcases.Subtask) {
	t.Helper()
	if size := got.StateSize(); size != (flinkmeta.Size{Bytes: want.StateSize}) {
		t.Errorf("subtask %d: state size %+v, want %d", want.Index, size, want.StateSize)
	}
	if got.Finished || len(got.InputChannels) != want.InputChannelStates || len(got.ResultSubpartitions) != want.ResultSubpartitionStates {
		t.Errorf("subtask %d: finished %v, %d input and %d output channel states", want.Index, got.Finished, len(got.InputChannels), len(got.ResultSubpartitions))
	}
	if got.RawOperator != nil || got.RawKeyed != nil {
		t.Errorf("subtask %d has raw state, Flink read none", want.Index)
	}
	compareOperatorState(t, got.ManagedOperator, want.ManagedOperatorState)
	compareKeyed(t, got.ManagedKeyed, want.ManagedKeyedState)
}

func compareOperatorState(t *testing.T, got *flinkmeta.OperatorState, want *flinkcases.OperatorState) {
	t.Helper()
	if got == nil || want == nil {
		if (got == nil) != (want == nil) {
			t.Errorf("managed operator state %v, want %v", got, want)
		}
		return
	}
	class := map[flinkmeta.StreamKind]string{
		flinkmeta.InlineStream: "ByteStreamStateHandle", flinkmeta.RelativeStream: "RelativeFileStateHandle",
		flinkmeta.SegmentStream: "SegmentFileStateHandle", flinkmeta.EmptySegmentStream: "EmptySegmentFileStateHandle",
	}[got.Stream.Kind]
	if class != want.Handle || got.Stream.StateSize() != want.Size {
		t.Errorf("stream %s of %d bytes, want %s of %d", class, got.Stream.StateSize(), want.Handle, want.Size)
	}
	if merged := got.Merged != nil; merged != strings.HasSuffix(want.Handle, "SegmentFileStateHandle") {
		t.Errorf("file merging %v with a %s", merged, want.Handle)
	}
	if len(got.States) != len(want.States) {
		t.Errorf("%d states, want %v", len(got.States), slices.Sorted(maps.Keys(want.States)))
	}
	for name, w := range want.States {
		g, ok := got.State(name)
		if !ok || g.Mode.String() != w.Mode || !slices.Equal(g.Offsets, w.Offsets) {
			t.Errorf("state %s: %+v, want %+v", name, g, w)
		}
	}
}

func compareKeyed(t *testing.T, got *flinkmeta.KeyedState, want *flinkcases.KeyedState) {
	t.Helper()
	if got == nil || want == nil {
		if (got == nil) != (want == nil) {
			t.Errorf("managed keyed state %v, want %v", got, want)
		}
		return
	}
	class := map[flinkmeta.KeyedKind]string{
		flinkmeta.KeyGroupsV2: "KeyGroupsStateHandle", flinkmeta.KeyGroupsSavepoint: "KeyGroupsSavepointStateHandle",
		flinkmeta.IncrementalV2: "IncrementalRemoteKeyedStateHandle",
	}[got.Kind]
	if class != want.Handle || got.StateSize() != (flinkmeta.Size{Bytes: want.Size}) {
		t.Errorf("keyed state %s of %+v, want %s of %d bytes", class, got.StateSize(), want.Handle, want.Size)
	}
	if int(got.Range.Start) != want.StartKeyGroup || int(got.Range.End()) != want.EndKeyGroup {
		t.Errorf("key groups %d to %d, want %d to %d", got.Range.Start, got.Range.End(), want.StartKeyGroup, want.EndKeyGroup)
	}
	if got.KeyGroups != nil && len(got.KeyGroups.Offsets) != int(got.Range.Count) {
		t.Errorf("%d key group offsets for %d key groups", len(got.KeyGroups.Offsets), got.Range.Count)
	}
	if in := got.Incremental; in != nil &&
		(in.BackendID != want.BackendID || len(in.Shared) != want.SharedFiles || len(in.Private) != want.PrivateFiles) {
		t.Errorf("incremental state %s with %d shared and %d private files, want %+v", in.BackendID, len(in.Shared), len(in.Private), want)
	}
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func TestEncodeWritesFlinksBytes(t *testing.T) {
	everySnapshot(t, func(t *testing.T, _ string, _ flinkcases.Snapshot, data []byte, m *flinkmeta.Metadata) {
		got, err := flinkmeta.Encode(m)
		if err != nil || !bytes.Equal(got, data) {
			t.Errorf("written back the file differs (%v)", err)
		}
		// The properties again, from their fields instead of their bytes.
		raw := m.Properties.Raw
		m.Properties.Raw = nil
		if got, err = flinkmeta.Encode(m); err != nil || !bytes.Equal(got, data) {
			t.Errorf("with properties written from their fields the file differs (%v): want a tail of %d bytes", err, len(raw))
		}
	})
}

// Every file that a handle names is in the case, with the size that the handle
// says.
func TestStreamsNameTheFilesThatFlinkWrote(t *testing.T) {
	seen := map[flinkmeta.StreamKind]int{}
	roles := map[flinkmeta.Role]int{}
	everySnapshot(t, func(t *testing.T, caseName string, want flinkcases.Snapshot, _ []byte, m *flinkmeta.Metadata) {
		var total int64
		for ref := range m.Streams() {
			seen[ref.Stream.Kind]++
			roles[ref.Role]++
			total += ref.Stream.StateSize()
			data := bytesOf(t, caseName, want, ref.Stream)
			if int64(len(data)) != ref.Stream.StateSize() {
				t.Errorf("%s %s: %d bytes, the handle says %d", ref.Role, ref.Stream.Path, len(data), ref.Stream.StateSize())
			}
		}
		if size := m.StateSize(); size.Bytes != total || size.Unknown != 0 {
			t.Errorf("state size %+v, the streams have %d bytes", size, total)
		}
	})
	for _, kind := range []flinkmeta.StreamKind{flinkmeta.InlineStream, flinkmeta.FileStream, flinkmeta.RelativeStream, flinkmeta.SegmentStream, flinkmeta.EmptySegmentStream} {
		if seen[kind] == 0 {
			t.Errorf("no snapshot has a stream of kind %s", kind)
		}
	}
	for _, role := range []flinkmeta.Role{flinkmeta.RoleManagedOperator, flinkmeta.RoleManagedKeyed, flinkmeta.RoleIncrementalMeta, flinkmeta.RoleIncrementalShared, flinkmeta.RoleIncrementalPrivate} {
		if roles[role] == 0 {
			t.Errorf("no snapshot has a stream with the role %s", role)
		}
	}
}

// A caller may stop at any stream, wherever in the structure it lies.
func TestStreamsStopWhereTheCallerStops(t *testing.T) {
	const channels = "00000001 01 00000001 00000002 00000003 00000000 0000000000000005" + hexFile
	datas := [][]byte{
		subtaskFile(t, 6, "00000000 00000000 0e"+hexRange+"0000000000000000 00000001 07 00000000 00000000"+hexFile+
			"00000001 0d"+hexParts+"0000 0000000000000006 0000000000000007 0000 00"+channels+"00000000"),
	}
	for _, name := range []string{"rocksdb-files-p2", "file-merging-p2"} {
		datas = append(datas, flinkcases.Metadata(t, name, flinkcases.Load(t, name).Snapshots[0]))
	}
	for _, data := range datas {
		m, err := flinkmeta.Decode(data)
		if err != nil {
			t.Fatal(err)
		}
		all := slices.Collect(m.Streams())
		if len(all) < 3 {
			t.Errorf("%d streams, want some", len(all))
		}
		for stop := 1; stop <= len(all); stop++ {
			seen := 0
			for ref := range m.Streams() {
				if ref != all[seen] {
					t.Fatalf("stream %d is %+v, want %+v", seen, ref, all[seen])
				}
				if seen++; seen == stop {
					break
				}
			}
		}
	}
}

// bytesOf reads what a handle means from the files of a case.
func bytesOf(tb testing.TB, caseName string, s flinkcases.Snapshot, stream *flinkmeta.Stream) []byte {
	tb.Helper()
	read := func(name string) []byte {
		data, err := fs.ReadFile(flinkcases.FS(), name)
		if err != nil {
			tb.Fatal(err)
		}
		return data
	}
	recorded := func() string { return strings.TrimPrefix(stream.Path, flinkcases.RecordedRoot) }
	switch stream.Kind {
	case flinkmeta.InlineStream:
		return stream.Data
	case flinkmeta.RelativeStream:
		return read(path.Join(caseName, s.Path, stream.Path))
	case flinkmeta.FileStream:
		return read(recorded())
	case flinkmeta.SegmentStream:
		return read(recorded())[stream.Segment.Start:][:stream.Size]
	default:
		return nil
	}
}

// The stream of each real subtask is taken apart by header and offsets and put
// together again: the same bytes mean that no byte was cut wrong.
func TestOperatorStreamsAreTakenApartAndRebuilt(t *testing.T) {
	var streams, compressed, identifiers int
	everySnapshot(t, func(t *testing.T, caseName string, want flinkcases.Snapshot, _ []byte, m *flinkmeta.Metadata) {
		for _, op := range m.Operators {
			for _, sub := range op.Subtasks {
				if sub.ManagedOperator == nil || sub.ManagedOperator.Stream.StateSize() == 0 {
					continue
				}
				streams++
				data := bytesOf(t, caseName, want, sub.ManagedOperator.Stream)
				s, err := flinkmeta.OpenOperatorStream(data, sub.ManagedOperator)
				if err != nil {
					t.Fatal(err)
				}
				if s.Compressed {
					compressed++
				}
				rebuild(t, s, data)
				identifiers += compareIdentifiers(t, s, want, op.ID.String(), int(sub.Index))
			}
		}
	})
	if streams != 168 || compressed == 0 || identifiers == 0 {
		t.Errorf("%d streams, %d compressed, %d identifiers: want 168 streams and some of the others", streams, compressed, identifiers)
	}
}

func rebuild(t *testing.T, s *flinkmeta.OperatorStream, data []byte) {
	t.Helper()
	h, err := s.Header()
	if err != nil || h.Unknown != "" {
		t.Fatalf("header: unknown %q, %v", h.Unknown, err)
	}
	if _, err := s.CheckHeader(h); err != nil {
		t.Error(err)
	}
	b := flinkmeta.NewOperatorStreamBuilder(s.Version, s.Compressed)
	for _, info := range slices.Concat(h.List, h.Broadcast) {
		var elements [][]byte
		for i := range s.Len(info.Name) {
			e, err := s.Element(info.Name, i)
			if err != nil {
				t.Fatal(err)
			}
			elements = append(elements, e)
		}
		b.Add(info, elements...)
	}
	got, states, err := b.Build()
	if err != nil || !bytes.Equal(got, data) {
		t.Errorf("the rebuilt stream differs (%v): %d bytes, want %d", err, len(got), len(data))
	}
	for _, st := range states {
		if len(st.Offsets) != s.Len(st.Name) {
			t.Errorf("state %s has %d offsets, want %d", st.Name, len(st.Offsets), s.Len(st.Name))
		}
	}
}

// compareIdentifiers compares the strings of identifier_state with those that
// Flink restored: short ASCII ones, one length byte in front.
func compareIdentifiers(t *testing.T, s *flinkmeta.OperatorStream, want flinkcases.Snapshot, operatorID string, index int) int {
	t.Helper()
	for _, op := range want.Operators {
		for _, sub := range op.Subtasks {
			if op.ID != operatorID || sub.Index != index {
				continue
			}
			var got []string
			for i := range s.Len("identifier_state") {
				e, err := s.Element("identifier_state", i)
				if err != nil {
					t.Fatal(err)
				}
				if int(e[0]) != len(e) {
					t.Fatalf("identifier element %x is no short string", e)
				}
				got = append(got, string(e[1:]))
			}
			if !slices.Equal(got, sub.IdentifierState.List) {
				t.Errorf("identifier_state %q, want %q", got, sub.IdentifierState.List)
			}
			return len(got)
		}
	}
	return 0
}
