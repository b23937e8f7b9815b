package flinkmeta_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/flinkmeta"
)

func markers(offsets ...int64) *flinkmeta.OperatorState {
	return &flinkmeta.OperatorState{States: []flinkmeta.StateOffsets{{Name: "recoveryMarker", Mode: flinkmeta.Union, Offsets: offsets}}}
}

func TestDamagedStreamsAreNamed(t *testing.T) {
	compressed, states, err := vectorStream(t, true)
	if err != nil {
		t.Fatal(err)
	}
	at := states[0].Offsets[0] // the marker's chunk
	with := func(change func(b []byte)) []byte {
		b := slices.Clone(compressed)
		change(b)
		return b
	}
	both := &flinkmeta.OperatorState{States: states}
	tests := map[string]struct {
		data   []byte
		handle *flinkmeta.OperatorState
		check  string
		kind   fault.Kind
		pos    int64
		text   string
	}{
		"an empty stream":               {nil, markers(), "M3", fault.Corrupt, 0, "operator state stream is truncated"},
		"version 4":                     {unhex(t, "00000004 00"), markers(), "U6", fault.Unsupported, 0, "operator state stream version 4 is not supported"},
		"version 7":                     {unhex(t, "00000007 00"), markers(), "U6", fault.Unsupported, 0, "version 7"},
		"no compressed flag":            {unhex(t, "00000006"), markers(), "M3", fault.Corrupt, 4, "compressed flag"},
		"an offset at the end":          {streamVector(t), markers(824), "F9", fault.Corrupt, 824, `offset 824 of state "recoveryMarker" is outside`},
		"a negative offset":             {streamVector(t), markers(-1), "F9", fault.Corrupt, -1, "offset -1"},
		"an offset in the version":      {streamVector(t), markers(4), "F9", fault.Corrupt, 4, "element data lies between 5 and 824"},
		"two elements at one offset":    {streamVector(t), markers(760, 760), "F9", fault.Corrupt, 760, "two elements start at offset 760"},
		"a flipped bit in a marker":     {with(func(b []byte) { b[at+20] ^= 4 }), both, "U13", fault.Corrupt, at, "checksum error in compressed chunk at 770: the chunk says dd92e6a4"},
		"a chunk that is too long":      {with(func(b []byte) { b[at+1]++ }), both, "M3", fault.Corrupt, at, "its length is 36, but its element has only 35 bytes left"},
		"a chunk that is too short":     {with(func(b []byte) { b[at+1]-- }), both, "U13", fault.Corrupt, at, "checksum error"},
		"an offset inside a chunk":      {compressed, &flinkmeta.OperatorState{States: []flinkmeta.StateOffsets{{Name: "recoveryMarker", Offsets: []int64{at + 3}}, states[1]}}, "M3", fault.Corrupt, at + 3, "bad compressed chunk at 773"},
		"a chunk of an unknown type":    {with(func(b []byte) { b[at] = 2 }), both, "M3", fault.Corrupt, at, "chunk type 0x02 is not known"},
		"bytes that are no Snappy":      {with(func(b []byte) { b[at] = 0 }), both, "M3", fault.Corrupt, at, "its Snappy block is damaged"},
		"a chunk without a checksum":    {with(func(b []byte) { copy(b[at:], "\x01\x02\x00\x00ab") }), both, "M3", fault.Corrupt, at, "no room for a checksum"},
		"a block that claims to be big": {with(func(b []byte) { copy(b[at:], "\x00\x23\x00\x00....\xff\xff\xff\x7f") }), both, "M3", fault.Corrupt, at, "at most 65536 are possible"},
		"a foreign identifier":          {with(func(b []byte) { b[at] = 0xff }), both, "M3", fault.Corrupt, at, "no Snappy stream identifier"},
		"the end of a chunk header":     {with(func([]byte) {})[:at+3], markers(at), "M3", fault.Corrupt, at, "3 bytes are left"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s, err := flinkmeta.OpenOperatorStream(tt.data, tt.handle)
			if err == nil {
				_, err = s.Element("recoveryMarker", 0)
			}
			var e *flinkmeta.Error
			if !errors.As(err, &e) {
				t.Fatalf("error %v, want an *Error", err)
			}
			if e.Check != tt.check || e.Kind != tt.kind || e.Pos != tt.pos || !strings.Contains(err.Error(), tt.text) {
				t.Errorf("check %s, kind %s, byte %d: %v\nwant %s, %s, byte %d: … %s …", e.Check, e.Kind, e.Pos, err, tt.check, tt.kind, tt.pos, tt.text)
			}
			if strings.Contains(err.Error(), "bad compressed chunk") && !strings.Contains(fault.Of(err).Hint, "FLINK-34063") {
				t.Errorf("hint %q, want the Flink bug that looks the same", fault.Of(err).Hint)
			}
		})
	}
}

func TestElementsThatDoNotExist(t *testing.T) {
	s, err := flinkmeta.OpenOperatorStream(streamVector(t), markers(760))
	if err != nil {
		t.Fatal(err)
	}
	if s.Len("recoveryMarker") != 1 || s.Len("identifier_state") != 0 {
		t.Errorf("%d and %d elements, want 1 and 0", s.Len("recoveryMarker"), s.Len("identifier_state"))
	}
	for _, i := range []int{-1, 1} {
		if _, err := s.Element("recoveryMarker", i); fault.KindOf(err) != fault.Bug {
			t.Errorf("element %d: %v, want a defect of the caller", i, err)
		}
	}
	// Without a handle, as for a subtask whose state is null, there is nothing.
	if s, err = flinkmeta.OpenOperatorStream(streamVector(t), nil); err != nil || s.Len("recoveryMarker") != 0 {
		t.Errorf("without a handle: %v", err)
	}
	if _, ok := s.FirstOffset(); ok {
		t.Error("without a handle there is a first offset")
	}
}

// Elements of more than one block of 64 KiB, and ones that compress well.
func TestLargeElementsSurviveCompression(t *testing.T) {
	random := make([]byte, 200_000)
	for i := range random {
		random[i] = byte(rand.Uint32())
	}
	elements := [][]byte{random, bytes.Repeat([]byte("offsets "), 30_000), {7}, bytes.Repeat([]byte{0}, 64<<10), random[:64<<10+1]}
	for _, compressed := range []bool{false, true} {
		data, states, err := flinkmeta.NewOperatorStreamBuilder(6, compressed).
			Add(flinkmeta.ListState("s", flinkmeta.SplitDistribute, flinkmeta.LongSerializer()), elements...).Build()
		if err != nil {
			t.Fatal(err)
		}
		s, err := flinkmeta.OpenOperatorStream(data, &flinkmeta.OperatorState{States: states})
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range elements {
			if got, err := s.Element("s", i); err != nil || !bytes.Equal(got, want) {
				t.Errorf("compressed %v, element %d: %d bytes (%v), want %d", compressed, i, len(got), err, len(want))
			}
		}
	}
}

func TestStreamOfVersion5(t *testing.T) {
	broadcast := flinkmeta.StateInfo{
		Name: "rules", Type: flinkmeta.TypeBroadcast,
		Options: []flinkmeta.Option{{Key: flinkmeta.OptionDistributionMode, Value: "BROADCAST"}},
		Serializers: []flinkmeta.SerializerInfo{
			{Key: flinkmeta.SerializerKey, Serializer: flinkmeta.StringSerializer()},
			{Key: flinkmeta.SerializerValue, Serializer: flinkmeta.LongSerializer()},
		},
	}
	data, states, err := flinkmeta.NewOperatorStreamBuilder(5, false).
		Add(broadcast, []byte{0, 0, 0, 0}).
		Add(flinkmeta.ListState("s", flinkmeta.Union, flinkmeta.LongSerializer()), []byte("12345678")).Build()
	if err != nil {
		t.Fatal(err)
	}
	if names := []string{states[0].Name, states[1].Name}; !slices.Equal(names, []string{"s", "rules"}) {
		t.Errorf("states in the order %q: list states come first", names)
	}
	s, err := flinkmeta.OpenOperatorStream(data, &flinkmeta.OperatorState{States: states})
	if err != nil || s.Version != 5 || s.Compressed {
		t.Fatalf("stream %+v, %v", s, err)
	}
	if got, err := s.Element("rules", 0); err != nil || !bytes.Equal(got, []byte{0, 0, 0, 0}) {
		t.Errorf("rules: %x, %v", got, err)
	}
	h, err := s.Header()
	if err != nil || len(h.List) != 1 || len(h.Broadcast) != 1 || len(h.Broadcast[0].Serializers) != 2 {
		t.Fatalf("header %+v, %v", h, err)
	}
	if checked, err := s.CheckHeader(h); !checked || err != nil {
		t.Errorf("header check: %v, %v", checked, err)
	}
}

func TestBuilderRefusesWhatCannotBeReadBack(t *testing.T) {
	list := flinkmeta.ListState("s", flinkmeta.Union, flinkmeta.LongSerializer())
	tests := map[string]struct {
		b    *flinkmeta.OperatorStreamBuilder
		text string
	}{
		"version 4":            {flinkmeta.NewOperatorStreamBuilder(4, false), "stream version 4 cannot be written"},
		"version 5 compressed": {flinkmeta.NewOperatorStreamBuilder(5, true), "cannot be compressed"},
		"an empty element":     {flinkmeta.NewOperatorStreamBuilder(6, false).Add(list, nil), "is empty"},
		"a state without mode": {flinkmeta.NewOperatorStreamBuilder(6, false).Add(flinkmeta.StateInfo{Name: "s"}), "names no distribution mode"},
		"two broadcast maps":   {flinkmeta.NewOperatorStreamBuilder(6, false).Add(flinkmeta.ListState("s", flinkmeta.Broadcast, flinkmeta.LongSerializer()), []byte{1}, []byte{2}), "it needs one"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if _, _, err := tt.b.Build(); err == nil || !strings.Contains(err.Error(), tt.text) {
				t.Errorf("error %v, want … %s …", err, tt.text)
			}
		})
	}
}

// The header of a state with each serializer snapshot whose layout is known,
// followed by a simple one that can only be found if the first ended right.
func TestHeaderWalkKnowsItsSerializers(t *testing.T) {
	const (
		base    = "org.apache.flink.api.common.typeutils.base."
		runtime = "org.apache.flink.api.java.typeutils.runtime."
		long    = "%long 00000003"
		one     = "001457fd 00000001 00000001" + long
		two     = "001457fd 00000001 00000002" + long + long
		emptyMp = "000004f2c69a3d70 00000000"
	)
	tests := map[string]struct {
		class   string
		version int32
		body    string
		nested  int
	}{
		"long":            {base + "LongSerializer$LongSerializerSnapshot", 3, "", 0},
		"long, version 2": {base + "LongSerializer$LongSerializerSnapshot", 2, "0001 78", 0},
		"bytes":           {base + "array.BytePrimitiveArraySerializer$BytePrimitiveArraySerializerSnapshot", 3, "", 0},
		"void namespace":  {"org.apache.flink.runtime.state.VoidNamespaceSerializer$VoidNamespaceSerializerSnapshot", 3, "", 0},
		"time window":     {"org.apache.flink.streaming.api.windowing.windows.TimeWindow$Serializer$TimeWindowSerializerSnapshot", 3, "", 0},
		"list":            {base + "ListSerializerSnapshot", 3, "000de704 00000001" + one, 1},
		"map":             {base + "MapSerializerSnapshot", 3, "000de704 00000001" + two, 2},
		"list of lists":   {base + "ListSerializerSnapshot", 3, "000de704 00000001 001457fd 00000001 00000001 %list 00000003 000de704 00000001" + one, 1},
		"state with TTL":  {"org.apache.flink.runtime.state.ttl.TtlStateFactory$TtlSerializerSnapshot", 3, "000de704 00000002" + two, 2},
		"tuple":           {runtime + "TupleSerializerSnapshot", 3, "000de704 00000002 0003 542e32" + two, 2},
		"row":             {runtime + "RowSerializer$RowSerializerSnapshot", 3, "000de704 00000004 01" + one, 1},
		"old row":         {runtime + "RowSerializer$RowSerializerSnapshot", 3, "000de704 00000003" + one, 1},
		"nullable":        {runtime + "NullableSerializer$NullableSerializerSnapshot", 3, "000de704 00000001 00000000" + one, 1},
		"enum":            {base + "EnumSerializer$EnumSerializerSnapshot", 3, "0001 45 00000002 0001 41 0001 42", 0},
		"TTL aware":       {"org.apache.flink.runtime.state.ttl.TtlAwareSerializerSnapshot", 1, "01" + long, 1},
		"POJO":            {runtime + "PojoSerializerSnapshot", 2, "0001 50 000004f2c69a3d70 00000001 0001 66 01 00000002 aabb 00" + emptyMp + emptyMp, 0},
		"Kryo":            {runtime + "kryo.KryoSerializerSnapshot", 2, "0001 4f 000004f2c69a3d70 00000001 0001 52 01 00000003 000152 01 00000007 0001 52 00000000" + emptyMp + emptyMp, 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			h, err := walk(t, tt.class, tt.version, tt.body)
			if err != nil || h.Unknown != "" {
				t.Fatalf("unknown %q, %v", h.Unknown, err)
			}
			if len(h.List) != 2 || h.List[1].Name != "after" {
				t.Fatalf("states %+v, want the one after it", h.List)
			}
			if got := h.List[0].Serializers[0]; len(got.Nested) != tt.nested || got.Class != tt.class {
				t.Errorf("serializer %+v, want %d nested", got, tt.nested)
			}
		})
	}
	for name, class := range map[string]string{
		"a user's class": "com.example.MySerializer$MySerializerSnapshot", "an unknown one of Flink": base + "NewSerializer$NewSerializerSnapshot",
	} {
		t.Run(name, func(t *testing.T) {
			h, err := walk(t, class, 3, "")
			if err != nil || h.Unknown != class {
				t.Errorf("unknown %q (%v), want %s and no error", h.Unknown, err, class)
			}
		})
	}
	for name, body := range map[string]string{
		"a composite without its magic": "000de705 00000001" + one, "a nested list without its magic": "000de704 00000001 00000000",
		"nested snapshots of version 2": "000de704 00000001 001457fd 00000002 00000000", "more nested snapshots than bytes": "000de704 00000001 001457fd 00000001 7fffffff",
		"lists within lists without end": strings.Repeat("000de704 00000001 001457fd 00000001 00000001 %list 00000003", 40),
	} {
		t.Run(name, func(t *testing.T) {
			var e *flinkmeta.Error
			if _, err := walk(t, base+"ListSerializerSnapshot", 3, body); !errors.As(err, &e) || e.Kind != fault.Corrupt {
				t.Errorf("error %v, want a corrupt header", err)
			}
		})
	}
}

// walk reads the header of a stream whose first state has a serializer of this
// class. %long and %list in body stand for the names of those classes.
func walk(t *testing.T, class string, version int32, body string) (flinkmeta.Header, error) {
	t.Helper()
	const base = "org.apache.flink.api.common.typeutils.base."
	name := func(s string) string {
		const digits = "0123456789abcdef"
		b := []byte{0, byte(len(s))}
		b = append(b, s...)
		var out strings.Builder
		for _, c := range b {
			out.WriteByte(digits[c>>4])
			out.WriteByte(digits[c&15])
		}
		return out.String()
	}
	body = strings.NewReplacer("%long", name(base+"LongSerializer$LongSerializerSnapshot"), "%list", name(base+"ListSerializerSnapshot")).Replace(body)
	data, states, err := flinkmeta.NewOperatorStreamBuilder(6, false).
		Add(flinkmeta.ListState("first", flinkmeta.Union, flinkmeta.Serializer{Class: class, Version: version, Body: unhex(t, body)})).
		Add(flinkmeta.ListState("after", flinkmeta.Union, flinkmeta.LongSerializer()), []byte("12345678")).Build()
	if err != nil {
		t.Fatal(err)
	}
	s, err := flinkmeta.OpenOperatorStream(data, &flinkmeta.OperatorState{States: states})
	if err != nil {
		t.Fatal(err)
	}
	h, err := s.Header()
	if err == nil && h.Unknown == "" {
		if checked, err := s.CheckHeader(h); !checked || err != nil {
			t.Errorf("header check: %v, %v", checked, err)
		}
	}
	return h, err
}

func TestCheckHeaderFindsElementsThatStartElsewhere(t *testing.T) {
	s, err := flinkmeta.OpenOperatorStream(streamVector(t), markers(761))
	if err != nil {
		t.Fatal(err)
	}
	h, err := s.Header()
	if err != nil {
		t.Fatal(err)
	}
	checked, err := s.CheckHeader(h)
	var e *flinkmeta.Error
	if !checked || !errors.As(err, &e) || e.Check != "U7" || err.Error() != "element data starts at 761, header ends at 760" {
		t.Errorf("checked %v, error %v", checked, err)
	}
}

func TestStreamsThatBeginAlikeHaveOneHeader(t *testing.T) {
	stream := func(state string, version int32, compressed bool, elements ...[]byte) *flinkmeta.OperatorStream {
		t.Helper()
		data, states, err := flinkmeta.NewOperatorStreamBuilder(version, compressed).
			Add(flinkmeta.ListState(state, flinkmeta.Union, flinkmeta.LongSerializer()), elements...).Build()
		if err != nil {
			t.Fatal(err)
		}
		s, err := flinkmeta.OpenOperatorStream(data, &flinkmeta.OperatorState{States: states})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	one := stream("offsets", 6, false, []byte("12345678"))
	header, err := one.Header()
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		other *flinkmeta.OperatorStream
		want  bool
	}{
		"itself":              {one, true},
		"other elements":      {stream("offsets", 6, false, []byte("87654321"), []byte("12345678")), true},
		"compressed elements": {stream("offsets", 6, true, []byte("12345678")), true},
		"another version":     {stream("offsets", 5, false, []byte("12345678")), false},
		"another state":       {stream("offset", 6, false, []byte("12345678")), false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := tt.other.Begins(header); got != tt.want {
				t.Fatalf("it begins alike: %t", got)
			}
			own, err := tt.other.Header()
			if err != nil || reflect.DeepEqual(own, header) != tt.want {
				t.Errorf("its own header is %+v (%v), the other %+v", own, err, header)
			}
		})
	}
	if one.Begins(flinkmeta.Header{}) {
		t.Error("it begins like a header that nobody walked")
	}
}
