package kryo_test

import (
	"reflect"
	"testing"

	"github.com/recoverctl/recoverctl/internal/kryo"
	"pgregory.net/rapid"
)

func scalars() *rapid.Generator[kryo.Value] {
	return rapid.OneOf(
		rapid.Map(rapid.Int32(), func(v int32) kryo.Value { return kryo.Int32(v) }),
		rapid.Map(rapid.Int64(), func(v int64) kryo.Value { return kryo.Int64(v) }),
		rapid.Map(rapid.Int16(), func(v int16) kryo.Value { return kryo.Int16(v) }),
		rapid.Map(rapid.Int8(), func(v int8) kryo.Value { return kryo.Int8(v) }),
		rapid.Map(rapid.Uint16(), func(v uint16) kryo.Value { return kryo.Char(v) }),
		rapid.Map(rapid.Bool(), func(v bool) kryo.Value { return kryo.Bool(v) }),
		rapid.Map(rapid.String(), func(s string) kryo.Value { return kryo.Text(s) }),
		rapid.Just(kryo.Value(kryo.Null{})),
	)
}

func values(depth int) *rapid.Generator[kryo.Value] {
	if depth == 0 {
		return scalars()
	}
	inner := values(depth - 1)
	maps := rapid.Custom(func(t *rapid.T) kryo.Value {
		m := mapOf(rapid.SampledFrom([]string{hashMap, "java.util.TreeMap", "java.util.LinkedHashMap",
			"java.util.concurrent.ConcurrentHashMap", "java.util.Collections$UnmodifiableMap"}).Draw(t, "map class"))
		for range rapid.IntRange(0, 4).Draw(t, "entries") {
			m.Entries = append(m.Entries, kryo.Entry{Key: inner.Draw(t, "key"), Value: inner.Draw(t, "value")})
		}
		return asDecoded(m)
	})
	lists := rapid.Custom(func(t *rapid.T) kryo.Value {
		l := listOf(rapid.SampledFrom([]string{arrayList, "java.util.HashSet", "java.util.LinkedList"}).Draw(t, "list class"))
		for range rapid.IntRange(0, 4).Draw(t, "elements") {
			l.Elements = append(l.Elements, inner.Draw(t, "element"))
		}
		if len(l.Elements) > 1 && rapid.Bool().Draw(t, "share one") {
			l.Elements[len(l.Elements)-1] = l.Elements[0]
		}
		return l
	})
	markers := rapid.Custom(func(t *rapid.T) kryo.Value {
		offsets := mapOf(hashMap)
		for range rapid.IntRange(0, 4).Draw(t, "partitions") {
			offsets.Entries = append(offsets.Entries, kryo.Entry{
				Key: kryo.Int32(rapid.Int32().Draw(t, "partition")), Value: kryo.Int64(rapid.Int64().Draw(t, "offset"))})
		}
		return marker(asDecoded(offsets), rapid.Int32().Draw(t, "schema"), kryo.Text(rapid.String().Draw(t, "topic")), kryo.Null{})
	})
	return rapid.OneOf(scalars(), maps, lists, markers)
}

func TestWhatIsWrittenIsReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := values(3).Draw(t, "value")
		gen := rapid.SampledFrom([]kryo.Generation{kryo.Gen2, kryo.Gen5}).Draw(t, "generation")
		data, err := kryo.Encode(gen, v, nil)
		if err != nil {
			t.Fatal(err)
		}
		got, err := kryo.Decode(gen, data, nil)
		if err != nil {
			t.Fatalf("%x: %v", data, err)
		}
		if got.Rest != 0 || !reflect.DeepEqual(got.Value, v) {
			t.Fatalf("%x: read %#v and %d bytes left, want %#v", data, got.Value, got.Rest, v)
		}
		again, err := kryo.Encode(gen, got.Value, nil)
		if err != nil || !reflect.DeepEqual(again, data) {
			t.Fatalf("written again as %x (%v), want %x", again, err, data)
		}
	})
}

func FuzzDecode(f *testing.F) {
	for _, v := range vectors() {
		f.Add(unhex(f, v.gen2))
		f.Add(unhex(f, v.gen5))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, gen := range []kryo.Generation{kryo.Gen2, kryo.Gen5} {
			e, err := kryo.Decode(gen, data, kryo.Registered{hashMap})
			if err != nil {
				continue
			}
			if e.Rest < 0 || e.Rest > len(data) {
				t.Fatalf("%d of %d bytes left", e.Rest, len(data))
			}
			if e.Unknown != nil {
				if e.Unknown.Pos < 0 || e.Unknown.Pos >= len(data) {
					t.Fatalf("unknown class at %d of %d", e.Unknown.Pos, len(data))
				}
				continue
			}
			// What was read can be written, and is then read as the same value.
			out, err := kryo.Encode(gen, e.Value, kryo.Registered{hashMap})
			if err != nil {
				t.Fatalf("read %#v, which can't be written: %v", e.Value, err)
			}
			again, err := kryo.Decode(gen, out, kryo.Registered{hashMap})
			if err != nil || again.Rest != 0 {
				t.Fatalf("written as %x, which is not read: %v, %d left", out, err, again.Rest)
			}
			third, err := kryo.Encode(gen, again.Value, kryo.Registered{hashMap})
			if err != nil || string(third) != string(out) {
				t.Fatalf("written as %x and then as %x (%v)", out, third, err)
			}
		}
	})
}
