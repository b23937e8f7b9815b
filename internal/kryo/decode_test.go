package kryo_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/recoverctl/recoverctl/internal/kryo"
)

func TestGenerationIsToldByExactConsumption(t *testing.T) {
	two, five := []kryo.Generation{kryo.Gen2}, []kryo.Generation{kryo.Gen5}
	tests := map[string]struct {
		data string
		want []kryo.Generation
	}{
		"a map of Kryo 2":       {headHashMap + "02 0200 09c801 0202 09ac02", two},
		"a map of Kryo 5":       {headHashMap + "03 0200 09c801 0202 09ac02", five},
		"an empty map, Kryo 2":  {headHashMap + "00", two},
		"an empty map, Kryo 5":  {headHashMap + "01", five},
		"a string says nothing": {"0301 61e2", []kryo.Generation{kryo.Gen2, kryo.Gen5}},
		"an unknown class":      {byName("com.example.Order") + "0102", nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, got, err := kryo.DecodeAny(unhex(t, tt.data), nil)
			if err != nil || !reflect.DeepEqual(got, tt.want) {
				t.Errorf("generations %v (%v), want %v", got, err, tt.want)
			}
		})
	}
	if _, _, err := kryo.DecodeAny(unhex(t, headHashMap+"03 0200 09c801"), nil); err == nil {
		t.Error("half a map was read")
	}
}

// Kryo 5 rules applied to Kryo 2 bytes give a plausible map of one entry: only
// the bytes left over tell.
func TestWrongGenerationLeavesBytes(t *testing.T) {
	e, err := kryo.Decode(kryo.Gen5, unhex(t, headHashMap+"02 0200 09c801 0202 09ac02"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if want := mapOf(hashMap, kryo.Int32(0), kryo.Int64(100)); !reflect.DeepEqual(e.Value, want) {
		t.Errorf("read %#v, want %#v", e.Value, want)
	}
	if e.Rest != 5 {
		t.Errorf("%d bytes left, want 5", e.Rest)
	}
}

func TestUnknownClassEndsTheElement(t *testing.T) {
	tests := map[string]struct {
		data string
		want kryo.Unknown
	}{
		"at the top":       {byName("com.example.Order") + "0102", kryo.Unknown{JavaClass: "com.example.Order", ID: -1, Pos: 0}},
		"as a map value":   {headHashMap + "02 0200 0101" + ascii("com.example.Order") + "0102", kryo.Unknown{JavaClass: "com.example.Order", ID: -1, Pos: 23}},
		"in a list":        {headArrayList + "82 0101" + ascii("com.example.Order") + "00", kryo.Unknown{JavaClass: "com.example.Order", ID: -1, Pos: 23}},
		"Flink's own UUID": {"5401", kryo.Unknown{JavaClass: "java.util.UUID", ID: -1, Pos: 0}},
		"only a number":    {"5701", kryo.Unknown{ID: 85, Pos: 0}},
		"a comparator":     {byName("java.util.TreeMap") + "02 0101" + ascii("com.example.Down") + "01", kryo.Unknown{JavaClass: "com.example.Down", ID: -1, Pos: 21}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			e, err := kryo.Decode(kryo.Gen5, unhex(t, tt.data), nil)
			if err != nil {
				t.Fatal(err)
			}
			if e.Unknown == nil || *e.Unknown != tt.want {
				t.Errorf("unknown %+v, want %+v", e.Unknown, tt.want)
			}
		})
	}
}

func TestRegisteredClassesHaveNumbers(t *testing.T) {
	table := kryo.Registered{"java.lang.Object", hashMap}
	want := mapOf(hashMap, kryo.Int32(0), kryo.Int64(100))
	data := unhex(t, "58 01 02 0200 09c801") // 88 - 2 = 86, the second of the table
	e, err := kryo.Decode(kryo.Gen5, data, table)
	if err != nil || !reflect.DeepEqual(e.Value, want) || e.Rest != 0 {
		t.Errorf("read %#v, %d bytes left (%v), want %#v", e.Value, e.Rest, err, want)
	}
	out, err := kryo.Encode(kryo.Gen5, want, table)
	if err != nil || !reflect.DeepEqual(out, data) {
		t.Errorf("wrote %x (%v), want %x", out, err, data)
	}
}

func TestDamagedElements(t *testing.T) {
	tests := map[string]struct {
		data string
		pos  int
		says string
	}{
		"nothing at all":              {"", 0, "ends where a class"},
		"a class without its name":    {"0100", 2, "ends where a class name"},
		"a class with a null name":    {"010080", 2, "no name"},
		"a class name without an end": {"01006a6176", 2, "no end"},
		"a skipped name number":       {"0105", 1, "class name number 5"},
		"more entries than bytes":     {headHashMap + "ffffffff0f", 20, "can't lie in the 0 bytes"},
		"a size past 32 bits":         {headHashMap + "ffffffff7f", 20, "does not fit 32 bits"},
		"a null behind a marker":      {headHashMap + "00", 20, "null behind a marker"},
		"a reference to nothing":      {headHashMap + "02 0305 00", 22, "reference to object 3"},
		"a list in itself":            {headArrayList + "03 0100 02 00", 25, "object 0 contains itself"},
		"a map that holds itself":     {headHashMap + "02 010002 0200", 23, "object 0 contains itself"},
		"a long string":               {"0301 fa03 61", 2, "has 249 characters and only 1 bytes"},
		"a broken character":          {"0301 83 c3 61", 4, "inside a character"},
		"a byte that begins nothing":  {"0301 82 ff", 3, "where a character should begin"},
		"a boolean of two":            {"0502", 1, "a boolean is 2"},
		"an int of six bytes":         {"02ffffffffffff", 1, "does not fit 32 bits"},
		"a list of endless nulls":     {headArrayList + "ffffffff7f00", 22, "nulls and nothing else"},
		"a marker with a list":        {byName(kryo.MarkerClass) + "0101" + ascii(arrayList) + "01", 77, "not a map"},
		"a marker with a wrong key":   {byName(kryo.MarkerClass) + offsetsHead + "02 0500 0100", 98, "5 is no reference marker of a java.lang.Integer"},
		"topic refers to the map":     {byName(kryo.MarkerClass) + offsetsHead + "01 02 03 00", 99, "field topic refers to a java.util.HashMap"},
		"too deep":                    {byName("java.util.Collections$SingletonList") + strings.Repeat("010001", 80), -1, "more than 64 deep"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := kryo.Decode(kryo.Gen5, unhex(t, tt.data), nil)
			var e *kryo.Error
			if !errors.As(err, &e) {
				t.Fatalf("error %v, want one with a position", err)
			}
			if tt.pos >= 0 && e.Pos != tt.pos {
				t.Errorf("position %d, want %d (%v)", e.Pos, tt.pos, err)
			}
			if !strings.Contains(e.What, tt.says) {
				t.Errorf("error %q, want it to say %q", e.What, tt.says)
			}
		})
	}
}

func TestEveryPrefixOfAnElementIsAnErrorOrShort(t *testing.T) {
	for name, v := range vectors() {
		for gen, text := range map[kryo.Generation]string{kryo.Gen2: v.gen2, kryo.Gen5: v.gen5} {
			data := unhex(t, text)
			for n := range data {
				if e, err := kryo.Decode(gen, data[:n], nil); err == nil {
					t.Errorf("%s, generation %d: the first %d of %d bytes were read as %#v", name, gen, n, len(data), e.Value)
				}
			}
		}
	}
}

func TestValuesThatCannotBeWritten(t *testing.T) {
	tests := map[string]kryo.Value{
		"unknown":                   kryo.Unknown{JavaClass: "com.example.Order"},
		"a map of a foreign class":  mapOf("com.example.Map"),
		"a list class for a map":    mapOf(arrayList),
		"text that is not UTF-8":    kryo.Text("a\xff"),
		"an empty map with entries": mapOf("java.util.Collections$EmptyMap", kryo.Null{}, kryo.Null{}),
		"a marker without fields":   &kryo.Object{JavaClass: kryo.MarkerClass},
		"a marker with a list":      marker(listOf(arrayList), 1, kryo.Null{}, kryo.Null{}),
		"a marker with text keys":   marker(mapOf(hashMap, kryo.Text("0"), kryo.Int64(1)), 1, kryo.Null{}, kryo.Null{}),
	}
	for name, v := range tests {
		for _, gen := range []kryo.Generation{kryo.Gen2, kryo.Gen5} {
			if out, err := kryo.Encode(gen, v, nil); err == nil {
				t.Errorf("%s, generation %d: written as %x", name, gen, out)
			}
		}
	}
	if _, err := kryo.Encode(3, kryo.Null{}, nil); err == nil {
		t.Error("generation 3 was written")
	}
	if _, err := kryo.Decode(3, []byte{0}, nil); err == nil {
		t.Error("generation 3 was read")
	}
}
