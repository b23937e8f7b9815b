package kryo

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"unicode/utf16"
	"unicode/utf8"
)

// Encode writes a value as Kryo's writeClassAndObject of one generation does.
// One pointer in two places becomes a back reference. Unknown, a class whose
// body is not known, fields that do not match their class's layout, and text
// that is not WTF-8 are errors.
func Encode(gen Generation, v Value, registered Registered) ([]byte, error) {
	if gen != Gen2 && gen != Gen5 {
		return nil, fmt.Errorf("kryo generation %d is not known", gen)
	}
	e := encoder{gen: gen, registered: registered, names: map[string]int{}, numbers: map[Value]int{}}
	if err := e.object(v, 0); err != nil {
		return nil, err
	}
	return e.out, nil
}

type encoder struct {
	out        []byte
	gen        Generation
	registered Registered
	names      map[string]int
	numbers    map[Value]int // reference numbers of the pointers written
}

func isNull(v Value) bool { return v == nil || v == Null{} }

func (e *encoder) object(v Value, depth int) error {
	if isNull(v) {
		e.out = append(e.out, 0)
		return nil
	}
	c, err := e.class(v)
	if err != nil {
		return err
	}
	return e.instance(c, v, false, depth)
}

// class writes the class of a value that is not null.
func (e *encoder) class(v Value) (class, error) {
	if _, unknown := v.(Unknown); unknown {
		return class{}, errors.New("an unknown object can't be written")
	}
	c := e.registered.byName(v.Class())
	if c.shape == shapeUnknown {
		return class{}, fmt.Errorf("the body of class %q is not known", c.name)
	}
	if c.id >= 0 {
		e.uvarint(uint64(c.id + 2))
		return c, nil
	}
	e.out = append(e.out, 1)
	if id, seen := e.names[c.name]; seen {
		e.uvarint(uint64(id))
		return c, nil
	}
	id := len(e.names)
	e.names[c.name] = id
	e.uvarint(uint64(id))
	return c, e.className(c.name)
}

// instance writes the reference marker where one is written, then the body.
func (e *encoder) instance(c class, v Value, nullable bool, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("objects lie more than %d deep in each other", maxDepth)
	}
	switch {
	case nullable && isNull(v):
		e.out = append(e.out, 0)
		return nil
	case c.shape.tracked():
		if n, seen := e.numbers[v]; seen {
			e.uvarint(uint64(n) + 2)
			return nil
		}
		e.numbers[v] = len(e.numbers)
		e.out = append(e.out, 1)
	case nullable:
		e.out = append(e.out, 1)
	}
	return e.body(c, v, false, depth)
}

// body writes a value without class and marker. Typed maps are declared
// Map<Integer, Long>.
func (e *encoder) body(c class, v Value, typed bool, depth int) error {
	switch v := v.(type) {
	case Int8:
		e.out = append(e.out, byte(v))
	case Int16:
		e.fixed(uint64(uint16(v)), 2)
	case Int32:
		e.uvarint(uint64(uint32(v<<1) ^ uint32(v>>31)))
	case Int64:
		e.uvarint(uint64(v<<1) ^ uint64(v>>63))
	case Char:
		e.fixed(uint64(v), 2)
	case Bool:
		e.bool(bool(v))
	case Float32:
		e.fixed(uint64(math.Float32bits(float32(v))), 4)
	case Float64:
		e.fixed(math.Float64bits(float64(v)), 8)
	case *String:
		return e.text(v.Text)
	case *Map:
		return e.mapBody(c, v, typed, depth)
	case *List:
		return e.listBody(c, v, depth)
	case *Object:
		return e.fields(v, depth)
	default:
		return fmt.Errorf("a value of type %T can't be written", v)
	}
	return nil
}

func (e *encoder) fields(o *Object, depth int) error {
	layout := layouts[o.JavaClass]
	if len(o.Fields) != len(layout) {
		return fmt.Errorf("class %s has %d fields, not %d", o.JavaClass, len(layout), len(o.Fields))
	}
	for i, f := range layout {
		if o.Fields[i].Name != f.name {
			return fmt.Errorf("field %d of class %s is %s, not %q", i, o.JavaClass, f.name, o.Fields[i].Name)
		}
		if err := e.field(f, o.Fields[i].Value, depth+1); err != nil {
			return fmt.Errorf("field %s: %w", f.name, err)
		}
	}
	return nil
}

func (e *encoder) field(f fieldLayout, v Value, depth int) error {
	switch f.declared {
	case fieldInt:
		n, isInt := v.(Int32)
		if !isInt {
			return fmt.Errorf("a %T is no int", v)
		}
		return e.body(builtin[0], n, false, depth)
	case fieldString:
		if _, isString := v.(*String); !isString && !isNull(v) {
			return fmt.Errorf("a %T is no string", v)
		}
		return e.instance(builtin[1], v, true, depth)
	default:
		return e.offsets(v, depth)
	}
}

func (e *encoder) offsets(v Value, depth int) error {
	if isNull(v) {
		e.out = append(e.out, 0)
		return nil
	}
	m, isMap := v.(*Map)
	if !isMap {
		return fmt.Errorf("a %T is no map", v)
	}
	c, err := e.class(m)
	if err != nil {
		return err
	}
	if n, seen := e.numbers[m]; seen {
		e.uvarint(uint64(n) + 2)
		return nil
	}
	e.numbers[m] = len(e.numbers)
	e.out = append(e.out, 1)
	return e.mapBody(c, m, true, depth)
}

func (e *encoder) mapBody(c class, m *Map, typed bool, depth int) error {
	entries := slices.Clip(m.Entries)
	for _, l := range m.Longs {
		entries = append(entries, Entry{Int32(l.Key), Int64(l.Value)})
	}
	n := len(entries)
	switch c.shape {
	case shapeEmptyMap:
		if n != 0 {
			return fmt.Errorf("an empty map has %d entries", n)
		}
		return nil
	case shapeSingletonMap:
		if n != 1 {
			return fmt.Errorf("a map of one entry has %d", n)
		}
		typed = false
	case shapeSortedMap:
		if e.gen == Gen2 {
			e.out = append(e.out, 0)
			e.size(n)
		} else {
			e.size(n)
			e.out = append(e.out, 0)
		}
	case shapeMap:
		e.size(n)
	default:
		return fmt.Errorf("class %s is no map", c.name)
	}
	for _, entry := range entries {
		for side, v := range [2]Value{entry.Key, entry.Value} {
			if !typed {
				if err := e.object(v, depth+1); err != nil {
					return err
				}
				continue
			}
			declared := [2]class{builtin[0], builtin[7]}[side]
			if !isNull(v) && v.Class() != declared.name {
				return fmt.Errorf("a %s stands where a %s is declared", v.Class(), declared.name)
			}
			if err := e.instance(declared, v, true, depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}

func (e *encoder) size(n int) {
	if e.gen == Gen5 {
		n++
	}
	e.uvarint(uint64(n))
}

func (e *encoder) listBody(c class, l *List, depth int) error {
	switch {
	case c.shape == shapeEmptyList:
		if len(l.Elements) != 0 {
			return fmt.Errorf("an empty list has %d elements", len(l.Elements))
		}
		return nil
	case c.shape == shapeSingletonList:
		if len(l.Elements) != 1 {
			return fmt.Errorf("a list of one element has %d", len(l.Elements))
		}
	case c.shape != shapeList && c.shape != shapeImmutableList:
		return fmt.Errorf("class %s is no collection", c.name)
	case e.gen == Gen2:
		e.size(len(l.Elements))
	case len(l.Elements) == 0:
		e.flagged(false, 1)
		return nil
	default:
		return e.flaggedList(c, l, depth)
	}
	for _, v := range l.Elements {
		if err := e.object(v, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// flaggedList writes a collection of Kryo 5 that is not empty.
func (e *encoder) flaggedList(c class, l *List, depth int) error {
	size := uint64(len(l.Elements)) + 1
	var first Value
	same, nulls := true, false
	for _, v := range l.Elements {
		switch {
		case isNull(v):
			nulls = true
		case first == nil:
			first = v
		case v.Class() != first.Class():
			same = false
		}
	}
	if c.shape == shapeImmutableList && nulls {
		same = false // has no byte for it; Java refuses such a list anyway
	}
	e.flagged(same, size)
	if !same {
		for _, v := range l.Elements {
			if err := e.object(v, depth+1); err != nil {
				return err
			}
		}
		return nil
	}
	if first == nil {
		e.out = append(e.out, 0)
		return nil
	}
	element, err := e.class(first)
	if err != nil {
		return err
	}
	if c.shape != shapeImmutableList {
		e.bool(nulls)
	}
	for _, v := range l.Elements {
		if err := e.instance(element, v, nulls, depth+1); err != nil {
			return err
		}
	}
	return nil
}

func (e *encoder) bool(b bool) {
	if b {
		e.out = append(e.out, 1)
	} else {
		e.out = append(e.out, 0)
	}
}

// fixed writes the low n bytes in the byte order of the generation.
func (e *encoder) fixed(v uint64, n int) {
	for i := range n {
		shift := 8 * (n - 1 - i)
		if e.gen == Gen5 {
			shift = 8 * i
		}
		e.out = append(e.out, byte(v>>shift))
	}
}

// uvarint writes at most nine bytes, the ninth with eight bits.
func (e *encoder) uvarint(v uint64) {
	for range 8 {
		if v < 0x80 {
			e.out = append(e.out, byte(v))
			return
		}
		e.out = append(e.out, byte(v)|0x80)
		v >>= 7
	}
	e.out = append(e.out, byte(v))
}

func (e *encoder) flagged(flag bool, v uint64) {
	first := byte(v & 0x3f)
	if flag {
		first |= 0x80
	}
	if v >>= 6; v == 0 {
		e.out = append(e.out, first)
		return
	}
	e.out = append(e.out, first|0x40)
	e.uvarint(v)
}

// className writes a class name: Kryo 5 uses the ASCII form at any length.
func (e *encoder) className(name string) error {
	if e.gen == Gen5 && len(name) >= 2 && isASCII(name) {
		e.ascii(name)
		return nil
	}
	return e.text(name)
}

func (e *encoder) text(s string) error {
	longest := 63
	if e.gen == Gen5 {
		longest = 32
	}
	if len(s) >= 2 && len(s) <= longest && isASCII(s) {
		e.ascii(s)
		return nil
	}
	units, err := utf16Units(s)
	if err != nil {
		return err
	}
	e.flagged(true, uint64(len(units))+1)
	for _, u := range units {
		switch {
		case u < 0x80:
			e.out = append(e.out, byte(u))
		case u < 0x800:
			e.out = append(e.out, 0xc0|byte(u>>6), 0x80|byte(u&0x3f))
		default:
			e.out = append(e.out, 0xe0|byte(u>>12), 0x80|byte(u>>6&0x3f), 0x80|byte(u&0x3f))
		}
	}
	return nil
}

func (e *encoder) ascii(s string) {
	e.out = append(e.out, s...)
	e.out[len(e.out)-1] |= 0x80
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// utf16Units splits WTF-8 text into UTF-16 code units.
func utf16Units(s string) ([]uint16, error) {
	units := make([]uint16, 0, len(s))
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size <= 1 {
			if i+3 > len(s) || s[i] != 0xed || s[i+1]>>5 != 0b101 || s[i+2]>>6 != 0b10 {
				return nil, fmt.Errorf("byte %d of the text is not UTF-8", i)
			}
			r, size = 0xd000|rune(s[i+1]&0x3f)<<6|rune(s[i+2]&0x3f), 3
			units = append(units, uint16(r))
		} else {
			units = utf16.AppendRune(units, r)
		}
		i += size
	}
	return units, nil
}
