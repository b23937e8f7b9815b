package flinkmeta_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/flinkmeta"
	"github.com/recoverctl/recoverctl/internal/testkit/flinkcases"
)

// FuzzDecode: any bytes are either refused with a position inside them, or make
// a value that is written to bytes which mean the same; and a window over them
// shows nothing else.
func FuzzDecode(f *testing.F) {
	for _, name := range []string{"legacy-p2", "rocksdb-p2", "file-merging-p2", "flink120-versioned-p2", "two-agents-p2"} {
		for _, s := range flinkcases.Load(f, name).Snapshots {
			f.Add(flinkcases.Metadata(f, name, s))
		}
	}
	for version := byte(4); version <= 6; version++ {
		f.Add(metadataVector(f, version))
	}
	f.Add(withKeyed(f, "0e"+hexRange+"0000000000000030 00000001 0c"+hexRange+hexOffsets+hexGroups+hexID+"00000001"+hexMemory+"0000000000000006 0000000000000007"+hexID))
	f.Add(withKeyed(f, "0d"+hexParts+"0002 6673"))
	f.Add(subtaskFile(f, 6, "00000000 00000001 11 00000000 0001 74 0001 75 01"+hexEmptySeg+"00 00"+
		"00000001 03 00000001 0000000000000006"+hexFile+"00000004 deadbeef 00000000"))
	f.Add(subtaskFile(f, 2, "00000000 00000000 00 03"+hexRange+hexOffsets+hexInline))

	f.Fuzz(func(t *testing.T, data []byte) {
		sameThroughWindow(t, data)
		m, err := flinkmeta.Decode(data)
		if err != nil {
			wantPosition(t, err, len(data))
			return
		}
		once, err := flinkmeta.Encode(m)
		if err != nil {
			t.Fatalf("what was decoded cannot be encoded: %v", err)
		}
		again, err := flinkmeta.Decode(once)
		if err != nil {
			t.Fatalf("what was encoded cannot be decoded: %v", err)
		}
		twice, err := flinkmeta.Encode(again)
		if err != nil || !bytes.Equal(once, twice) {
			t.Fatalf("the second encoding differs (%v)", err)
		}
		if a, b := m.StateSize(), again.StateSize(); a != b {
			t.Fatalf("state size %+v, then %+v", a, b)
		}
		for ref := range m.Streams() {
			if ref.Stream == nil || ref.Operator == nil || ref.Stream.Kind == flinkmeta.KeyGroupsStream {
				t.Fatalf("stream %+v", ref)
			}
		}
	})
}

// FuzzOperatorStream: any bytes with any two offsets are refused with a
// position, or give elements; the header walk ends inside the stream.
func FuzzOperatorStream(f *testing.F) {
	for _, name := range []string{"legacy-p2", "compressed-p2", "mixed-p2", "flink120-versioned-p2"} {
		s := flinkcases.Load(f, name).Snapshots[0]
		m, err := flinkmeta.Decode(flinkcases.Metadata(f, name, s))
		if err != nil {
			f.Fatal(err)
		}
		for ref := range m.Streams() {
			if ref.Role == flinkmeta.RoleManagedOperator && ref.Stream.Kind == flinkmeta.InlineStream {
				state, _ := ref.Operator.Subtasks[0].ManagedOperator.State("recoveryMarker")
				f.Add(ref.Stream.Data, state.Offsets[0], state.Offsets[0]+8)
			}
		}
	}
	compressed, states, err := vectorStream(f, true)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(compressed, states[0].Offsets[0], states[1].Offsets[0])
	f.Add(streamVector(f), int64(760), int64(791))

	f.Fuzz(func(t *testing.T, data []byte, first, second int64) {
		s, err := flinkmeta.OpenOperatorStream(data, &flinkmeta.OperatorState{States: []flinkmeta.StateOffsets{
			{Name: "a", Offsets: []int64{first}}, {Name: "b", Offsets: []int64{second}},
		}})
		if err != nil {
			var e *flinkmeta.Error
			if !errors.As(err, &e) {
				t.Fatalf("error of type %T", err)
			}
			return
		}
		for _, state := range []string{"a", "b"} {
			element, err := s.Element(state, 0)
			if err != nil {
				wantPosition(t, err, len(data))
			} else if !s.Compressed && len(element) == 0 {
				t.Fatal("an element without bytes")
			}
		}
		h, err := s.Header()
		if err != nil {
			wantPosition(t, err, len(data))
			return
		}
		if h.Len < 4 || h.Len > int64(len(data)) {
			t.Fatalf("a header of %d bytes in %d", h.Len, len(data))
		}
		if s.Begins(h) != (h.Unknown == "") {
			t.Fatalf("its own header, with the unknown %q: %t", h.Unknown, s.Begins(h))
		}
		if _, err := s.CheckHeader(h); err != nil {
			wantPosition(t, err, len(data))
		}
	})
}

func wantPosition(t *testing.T, err error, size int) {
	t.Helper()
	var e *flinkmeta.Error
	if !errors.As(err, &e) {
		t.Fatalf("error of type %T: %v", err, err)
	}
	if e.Pos < 0 || e.Pos > int64(size) || e.Check == "" || e.Message == "" {
		t.Fatalf("error %+v for %d bytes", e, size)
	}
	if e.Kind != fault.Corrupt && e.Kind != fault.Unsupported {
		t.Fatalf("error of kind %s", e.Kind)
	}
}
