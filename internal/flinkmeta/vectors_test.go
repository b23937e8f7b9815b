package flinkmeta_test

import (
	"bytes"
	_ "embed"
	"encoding/hex"
	"slices"
	"strings"
	"testing"

	"github.com/recoverctl/recoverctl/internal/flinkmeta"
)

// The vectors of Flink's formats: one agent operator with the recovery marker
// {0: 100, 1: 150}, decoded by the reader that also reads Flink's own samples.
//
//go:embed testdata/operator-stream-v6.hex
var streamVectorHex string

const (
	// What is in front of and behind the stream in the _metadata around it.
	metadataFront = "4960672d 00000006 0000000000000007 00000000 00000001" +
		"0017 616374696f6e2d657865637574652d6f70657261746f72 0000" + operatorToEnd
	operatorToEnd = "4ace61fb6ad1d83b06b085d33c808b93 00000001 00000080 00 00000001 00000000 00000001" +
		"04 00000002" +
		"000e 7265636f766572794d61726b6572 01 00000001 00000000000002f8" +
		"0010 6964656e7469666965725f7374617465 01 00000001 0000000000000317" +
		"01 0056 66696c653a2f636b70742f30313233343536373839616263646566303132333435363738396162636465662f63686b2d372f36663164326333622d303030302d343030302d383030302d303030303030303030303031" +
		"00000338"
	metadataBack = "00000000 00 00 00000000 00000000 aced000570"

	kryoMarker   = "01006a6176612e7574696c2e486173684d61f00103020009c801020209ac02"
	idElementHex = "213031323334353637383961626364656630313233343536373839616263646566"
)

func unhex(tb testing.TB, s string) []byte {
	tb.Helper()
	b, err := hex.DecodeString(strings.Join(strings.Fields(s), ""))
	if err != nil {
		tb.Fatalf("test hex: %v", err)
	}
	return b
}

func streamVector(tb testing.TB) []byte { return unhex(tb, streamVectorHex) }

// metadataVector is the whole _metadata in version 4, 5 or 6.
func metadataVector(tb testing.TB, version byte) []byte {
	tb.Helper()
	front := unhex(tb, metadataFront)
	if version == 4 {
		front = unhex(tb, "4960672d 00000004 0000000000000007 00000000 00000001"+operatorToEnd)
	}
	front[7] = version
	return slices.Concat(front, streamVector(tb), unhex(tb, metadataBack))
}

func TestMetadataVectorIsReadAndWrittenBack(t *testing.T) {
	lengths := map[byte]int{4: 1062, 5: 1089, 6: 1089}
	for version, length := range lengths {
		data := metadataVector(t, version)
		if len(data) != length {
			t.Fatalf("version %d: the vector has %d bytes, want %d", version, len(data), length)
		}
		m, err := flinkmeta.Decode(data)
		if err != nil {
			t.Fatalf("version %d: %v", version, err)
		}
		if m.CheckpointID != 7 || len(m.Operators) != 1 || !m.Properties.Null {
			t.Errorf("version %d: checkpoint %d, %d operators, null properties %v", version, m.CheckpointID, len(m.Operators), m.Properties.Null)
		}
		op := m.Operators[0]
		wantName := "action-execute-operator"
		if version == 4 {
			wantName = ""
		}
		if op.Name != wantName || op.UID != "" || op.ID.String() != "4ace61fb6ad1d83b06b085d33c808b93" || op.Parallelism != 1 || op.MaxParallelism != 128 {
			t.Errorf("version %d: operator %+v", version, op)
		}
		state := op.Subtasks[0].ManagedOperator
		marker, ok := state.State("recoveryMarker")
		if !ok || marker.Mode != flinkmeta.Union || !slices.Equal(marker.Offsets, []int64{760}) {
			t.Errorf("version %d: recoveryMarker %+v", version, marker)
		}
		inline := state.Stream
		if inline.Kind != flinkmeta.InlineStream || !bytes.Equal(inline.Data, streamVector(t)) {
			t.Errorf("version %d: the inline stream differs", version)
		}
		if got := data[inline.DataPos:][:len(inline.Data)]; &got[0] != &inline.Data[0] {
			t.Errorf("version %d: inline data is a copy, or not at byte %d", version, inline.DataPos)
		}
		if version == 6 && inline.DataPos != 246 {
			t.Errorf("inline data at byte %d, want 246", inline.DataPos)
		}
		back, err := flinkmeta.Encode(m)
		if err != nil || !bytes.Equal(back, data) {
			t.Errorf("version %d: written back it differs (%v)", version, err)
		}
	}
}

func TestMetadataVectorIsBuiltFromParts(t *testing.T) {
	stream, states, err := vectorStream(t, false)
	if err != nil {
		t.Fatal(err)
	}
	id, err := flinkmeta.ParseOperatorID("4ace61fb6ad1d83b06b085d33c808b93")
	if err != nil {
		t.Fatal(err)
	}
	got, err := flinkmeta.Encode(&flinkmeta.Metadata{
		Version: 6, CheckpointID: 7,
		Operators: []flinkmeta.Operator{{
			Name: "action-execute-operator", ID: id, Parallelism: 1, MaxParallelism: 128,
			Subtasks: []flinkmeta.Subtask{{ManagedOperator: &flinkmeta.OperatorState{
				States: states,
				Stream: &flinkmeta.Stream{
					Kind: flinkmeta.InlineStream, Data: stream,
					Path: "file:/ckpt/0123456789abcdef0123456789abcdef/chk-7/6f1d2c3b-0000-4000-8000-000000000001",
				},
			}}},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, metadataVector(t, 6)) {
		t.Errorf("built metadata differs from the vector:\n%x", got)
	}
}

func vectorStream(tb testing.TB, compressed bool) ([]byte, []flinkmeta.StateOffsets, error) {
	tb.Helper()
	return flinkmeta.NewOperatorStreamBuilder(6, compressed).
		Add(flinkmeta.ListState("recoveryMarker", flinkmeta.Union, flinkmeta.KryoSerializer()), unhex(tb, kryoMarker)).
		Add(flinkmeta.ListState("identifier_state", flinkmeta.Union, flinkmeta.StringSerializer()), unhex(tb, idElementHex)).
		Build()
}

func TestStreamVector(t *testing.T) {
	plain := streamVector(t)
	compressed := slices.Concat(plain[:760], unhex(t, "ff060000734e61507059"+
		"01 230000 a4e692dd"+kryoMarker+"01 250000 80cdbf0d"+idElementHex))
	compressed[4] = 1

	tests := map[string]struct {
		data       []byte
		compressed bool
		offsets    [2]int64
		length     int
	}{
		"uncompressed": {plain, false, [2]int64{760, 791}, 824},
		"compressed":   {compressed, true, [2]int64{770, 809}, 850},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if len(tt.data) != tt.length {
				t.Fatalf("the vector has %d bytes, want %d", len(tt.data), tt.length)
			}
			built, states, err := vectorStream(t, tt.compressed)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(built, tt.data) {
				t.Errorf("the built stream differs from the vector:\n%x", built)
			}
			if states[0].Offsets[0] != tt.offsets[0] || states[1].Offsets[0] != tt.offsets[1] {
				t.Errorf("offsets %v and %v, want %v", states[0].Offsets, states[1].Offsets, tt.offsets)
			}
			s, err := flinkmeta.OpenOperatorStream(tt.data, &flinkmeta.OperatorState{States: []flinkmeta.StateOffsets{
				{Name: "identifier_state", Mode: flinkmeta.Union, Offsets: tt.offsets[1:]},
				{Name: "recoveryMarker", Mode: flinkmeta.Union, Offsets: tt.offsets[:1]},
			}})
			if err != nil {
				t.Fatal(err)
			}
			if s.Version != 6 || s.Compressed != tt.compressed {
				t.Errorf("version %d, compressed %v", s.Version, s.Compressed)
			}
			for state, want := range map[string]string{"recoveryMarker": kryoMarker, "identifier_state": idElementHex} {
				got, err := s.Element(state, 0)
				if err != nil || hex.EncodeToString(got) != want {
					t.Errorf("%s: %x (%v), want %s", state, got, err, want)
				}
			}
			h, err := s.Header()
			if err != nil || h.Unknown != "" || h.Len != 760 {
				t.Fatalf("header of %d bytes, unknown %q (%v), want 760 bytes", h.Len, h.Unknown, err)
			}
			if checked, err := s.CheckHeader(h); !checked || err != nil {
				t.Errorf("header check: %v, %v", checked, err)
			}
			kryo, _ := h.List[0].Serializer(flinkmeta.SerializerValue)
			if kryo.Kryo == nil || kryo.Kryo.TypeClass != "java.lang.Object" || !slices.Equal(kryo.Kryo.Registered, []string{
				"java.lang.Object", "org.apache.flink.api.java.typeutils.runtime.kryo.Serializers$DummyAvroRegisteredClass",
			}) {
				t.Errorf("Kryo serializer %+v", kryo.Kryo)
			}
		})
	}
}
