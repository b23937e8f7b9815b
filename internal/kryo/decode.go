package kryo

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// maxDepth is how deep objects may lie in each other. Markers need three.
const maxDepth = 64

// maxNulls is how many elements a list of nothing but nulls may claim: they take
// no bytes that could bound them.
const maxNulls = 1 << 16

// Element is a decoded element.
type Element struct {
	Value Value

	// Rest is the number of bytes that were not consumed. Other than zero means
	// that the element was not understood, unless Unknown says why.
	Rest int

	// Unknown is set when decoding ended at a class whose body is not known.
	// Value then holds what came before it, and the Unknown in its place.
	Unknown *Unknown
}

// fits says that the whole element was understood.
func (e Element) fits() bool { return e.Rest == 0 && e.Unknown == nil }

// Decode reads one element, written by Kryo's writeClassAndObject, by the rules
// of one generation. The error is an *Error with the byte position.
func Decode(gen Generation, data []byte, registered Registered) (Element, error) {
	if gen != Gen2 && gen != Gen5 {
		return Element{}, fmt.Errorf("kryo generation %d is not known", gen)
	}
	d := decoder{reader: reader{data: data}, gen: gen, registered: registered}
	v := d.object(0)
	if d.err != nil {
		return Element{}, d.err
	}
	return Element{Value: v, Rest: d.left(), Unknown: d.unknown}, nil
}

// DecodeAny reads an element of unknown generation. It returns the generations
// whose rules consume the element exactly: a number or a string is the same in
// both, a map or a list in one only. The element is read by the newest of them.
// When an element ends in an unknown class under every rule that reads it, that
// element is returned with no generation. The error joins those of both.
func DecodeAny(data []byte, registered Registered) (Element, []Generation, error) {
	var (
		fitting []Generation
		best    Element
		partial *Element
		errs    []error
	)
	for _, gen := range []Generation{Gen2, Gen5} {
		e, err := Decode(gen, data, registered)
		switch {
		case err != nil:
			errs = append(errs, fmt.Errorf("as Kryo %d: %w", gen, err))
		case e.fits():
			fitting, best = append(fitting, gen), e
		case e.Unknown != nil:
			partial = &e
		default:
			errs = append(errs, fmt.Errorf("as Kryo %d: %w", gen,
				&Error{Pos: len(data) - e.Rest, What: fmt.Sprintf("%d bytes are left over", e.Rest)}))
		}
	}
	switch {
	case len(fitting) > 0:
		return best, fitting, nil
	case partial != nil:
		return *partial, nil, nil
	default:
		return Element{}, nil, errors.Join(errs...)
	}
}

type decoder struct {
	reader
	gen        Generation
	registered Registered
	names      []string // class names seen, by name id
	objects    []Value  // by reference number; nil while being read
	unknown    *Unknown
}

func (d *decoder) stopped() bool { return d.err != nil || d.unknown != nil }

// object reads a class and an object of it.
func (d *decoder) object(depth int) Value {
	pos := d.pos
	c, null := d.class()
	if null || d.err != nil {
		return Null{}
	}
	if c.shape == shapeUnknown {
		return d.stop(c, pos)
	}
	return d.instance(c, false, depth)
}

func (d *decoder) stop(c class, pos int) Value {
	u := Unknown{JavaClass: c.name, ID: c.id, Pos: pos}
	if c.name != "" {
		u.ID = -1
	}
	d.unknown = &u
	return u
}

func (d *decoder) class() (c class, null bool) {
	pos := d.pos
	n := d.uvarint32("a class")
	switch n {
	case 0:
		return class{}, true
	case 1:
		return d.classByName(), false
	}
	if n-2 > math.MaxInt32 {
		d.fail(pos, "%d is no class number", n-2)
		return class{}, false
	}
	return d.registered.byID(int(n - 2)), false
}

func (d *decoder) classByName() class {
	pos := d.pos
	id := int(d.uvarint32("the number of a class name"))
	switch {
	case d.err != nil:
		return class{}
	case id < len(d.names):
		return d.registered.byName(d.names[id])
	case id > len(d.names):
		d.fail(pos, "class name number %d follows number %d", id, len(d.names)-1)
		return class{}
	}
	pos = d.pos
	name, _ := d.string("a class name")
	if d.err == nil && name == "" {
		d.fail(pos, "a class has no name")
	}
	d.names = append(d.names, name)
	return d.registered.byName(name)
}

// instance reads an object of a known class: the reference marker where one is
// written, then the body. A nullable object has the marker in any case.
func (d *decoder) instance(c class, nullable bool, depth int) Value {
	if depth > maxDepth {
		d.fail(d.pos, "objects lie more than %d deep in each other", maxDepth)
		return Null{}
	}
	tracked := c.shape.tracked()
	if !tracked && !nullable {
		return d.body(c, depth)
	}
	pos := d.pos
	n := d.uvarint32("a reference marker")
	switch {
	case d.err != nil:
		return Null{}
	case n == 0 && nullable:
		return Null{}
	case n == 1:
		if !tracked {
			return d.body(c, depth)
		}
		return d.numbered(func() Value { return d.body(c, depth) })
	case n >= 2 && tracked:
		return d.reference(n-2, pos)
	default:
		d.fail(pos, "%d is no reference marker of a %s", n, c.name)
		return Null{}
	}
}

// numbered gives the next reference number to what read returns.
func (d *decoder) numbered(read func() Value) Value {
	slot := len(d.objects)
	d.objects = append(d.objects, nil)
	v := read()
	d.objects[slot] = v
	return v
}

func (d *decoder) reference(n uint32, pos int) Value {
	switch {
	case uint64(n) >= uint64(len(d.objects)):
		d.fail(pos, "a reference to object %d, and there are %d", n, len(d.objects))
	case d.objects[n] == nil:
		d.fail(pos, "object %d contains itself", n)
	default:
		return d.objects[n]
	}
	return Null{}
}

func (d *decoder) body(c class, depth int) Value {
	switch c.shape {
	case shapeInt8:
		return Int8(d.byte("a byte"))
	case shapeInt16:
		return Int16(d.fixed(d.gen, 2, "a short"))
	case shapeInt32:
		return Int32(d.int32("an int"))
	case shapeInt64:
		return Int64(d.int64("a long"))
	case shapeChar:
		return Char(d.fixed(d.gen, 2, "a char"))
	case shapeBool:
		return d.bool("a boolean")
	case shapeFloat32:
		return Float32(math.Float32frombits(uint32(d.fixed(d.gen, 4, "a float"))))
	case shapeFloat64:
		return Float64(math.Float64frombits(d.fixed(d.gen, 8, "a double")))
	case shapeString:
		return d.text("a string")
	case shapeMap, shapeSortedMap, shapeSingletonMap, shapeEmptyMap:
		return d.mapBody(c, d.object, depth)
	case shapeObject:
		return d.fields(c, depth)
	default:
		return d.listBody(c, depth)
	}
}

func (d *decoder) bool(what string) Bool {
	pos := d.pos
	b := d.byte(what)
	if b > 1 {
		d.fail(pos, "%s is %d", what, b)
	}
	return b == 1
}

func (d *decoder) text(what string) Value {
	pos := d.pos
	s, ok := d.string(what)
	if d.err == nil && !ok {
		d.fail(pos, "%s is null behind a marker that says it is not", what)
	}
	return &String{Text: s}
}

// fields reads an object that is stored field by field.
func (d *decoder) fields(c class, depth int) Value {
	layout := layouts[c.name]
	o := &Object{JavaClass: c.name, Fields: make([]Field, 0, len(layout))}
	for _, f := range layout {
		if d.stopped() {
			break
		}
		var v Value
		switch f.declared {
		case fieldInt:
			v = Int32(d.int32("field " + f.name))
		case fieldString:
			pos := d.pos
			v = d.instance(d.registered.byName(classString), true, depth+1)
			if _, isString := v.(*String); !isString && v != (Null{}) {
				d.fail(pos, "field %s refers to a %s", f.name, v.Class())
			}
		case fieldOffsetsMap:
			v = d.offsets(depth + 1)
		}
		o.Fields = append(o.Fields, Field{f.name, v})
	}
	return o
}

// offsets reads a field declared Map<Integer, Long>. Kryo knows the types of the
// entries from the declaration and writes, in place of each class, a byte that
// says whether there is a value. Maps of one or no entry that have a body of
// their own keep the classes.
func (d *decoder) offsets(depth int) Value {
	pos := d.pos
	c, null := d.class()
	switch {
	case null || d.err != nil:
		return Null{}
	case c.shape == shapeUnknown:
		return d.stop(c, pos)
	case c.shape < shapeMap || c.shape > shapeEmptyMap:
		d.fail(pos, "field offsets holds a %q and not a map", c.name)
		return Null{}
	}
	marker := d.pos
	switch n := d.uvarint32("a reference marker"); {
	case d.err != nil:
		return Null{}
	case n == 1:
	case n >= 2:
		return d.reference(n-2, marker)
	default:
		d.fail(marker, "%d is no reference marker of a %s", n, c.name)
		return Null{}
	}
	return d.numbered(func() Value { return d.mapBody(c, nil, depth) })
}

// mapBody reads a map whose keys and values are read by object; nil stands for
// keys declared Integer and values declared Long.
func (d *decoder) mapBody(c class, object func(depth int) Value, depth int) Value {
	m := &Map{JavaClass: c.name}
	key, value, plain := object, object, longsWithClasses
	if object == nil {
		plain = declaredLongs
		key = func(depth int) Value { return d.instance(builtin[0], true, depth) }
		value = func(depth int) Value { return d.instance(builtin[7], true, depth) }
	}
	var size int
	switch c.shape {
	case shapeEmptyMap:
		return m
	case shapeSingletonMap:
		size, key, value, plain = 1, d.object, d.object, longsWithClasses
	case shapeSortedMap:
		if d.gen == Gen2 {
			d.comparator(depth)
			size = d.size(2)
		} else {
			size = d.size(2)
			d.comparator(depth)
		}
	default:
		size = d.size(2)
	}
	longs := d.longs(size, plain)
	if size > 0 && len(longs) == size {
		m.Longs = longs
		return m
	}
	m.Entries = make([]Entry, 0, min(size, 1024))
	for _, e := range longs {
		m.Entries = append(m.Entries, Entry{Int32(e.Key), Int64(e.Value)})
	}
	for i := len(longs); i < size && !d.stopped(); i++ {
		var e Entry
		e.Key = key(depth + 1)
		if d.unknown != nil {
			e.Value = Null{}
		} else {
			e.Value = value(depth + 1)
		}
		m.Entries = append(m.Entries, e)
	}
	m.settle()
	return m
}

// settle makes Longs of entries that are nothing else, which longs left because
// of how they were written: a number of nine bytes, a class by its name.
func (m *Map) settle() {
	longs := make([]LongEntry, 0, len(m.Entries))
	for _, e := range m.Entries {
		key, isInt := e.Key.(Int32)
		value, isLong := e.Value.(Int64)
		if !isInt || !isLong {
			return
		}
		longs = append(longs, LongEntry{int32(key), int64(value)})
	}
	if len(longs) > 0 {
		m.Entries, m.Longs = nil, longs
	}
}

// heads are the bytes before the number of a key and of a value.
type heads struct{ key, value byte }

// The heads of an Integer and a Long: the numbers of their classes, or, where
// both are declared, the byte that says that there is a value.
var (
	longsWithClasses = heads{key: 0 + 2, value: 7 + 2}
	declaredLongs    = heads{key: 1, value: 1}
)

// longs reads at most size entries of an Integer and a Long, up to the first that
// is another, or is damaged: that one is left to those who can name what is wrong.
func (d *decoder) longs(size int, plain heads) []LongEntry {
	if d.stopped() {
		return nil
	}
	longs := make([]LongEntry, 0, min(size, 1024))
	for len(longs) < size {
		data := d.data[d.pos:]
		key, k := headed(data, plain.key, 5)
		value, v := headed(data[k:], plain.value, 8)
		if k == 0 || v == 0 || key > math.MaxUint32 {
			break
		}
		longs = append(longs, LongEntry{int32(key>>1) ^ -int32(key&1), int64(value>>1) ^ -int64(value&1)})
		d.pos += k + v
	}
	return longs
}

// headed reads a byte that must be head and a number of at most so many bytes.
// n is how many bytes both take, 0 where they are not that.
func headed(data []byte, head byte, most int) (number uint64, n int) {
	if len(data) == 0 || data[0] != head {
		return 0, 0
	}
	number, n = binary.Uvarint(data[1:])
	if n < 1 || n > most {
		return 0, 0
	}
	return number, 1 + n
}

func (d *decoder) comparator(depth int) {
	if d.stopped() {
		return
	}
	pos := d.pos
	v := d.object(depth + 1)
	if !d.stopped() && v != (Null{}) {
		d.fail(pos, "a %s is no comparator", v.Class())
	}
}

// size reads the number of entries, each of which takes at least perEntry bytes.
func (d *decoder) size(perEntry int) int {
	if d.stopped() {
		return 0
	}
	pos := d.pos
	n := d.uvarint32("a size")
	if d.gen == Gen5 && d.err == nil {
		if n == 0 {
			d.fail(pos, "a map is null behind a marker that says it is not")
			return 0
		}
		n--
	}
	return d.bounded(uint64(n), perEntry, pos)
}

func (d *decoder) bounded(n uint64, perEntry, pos int) int {
	if d.err != nil {
		return 0
	}
	if n > uint64(d.left()/perEntry) {
		d.fail(pos, "%d entries can't lie in the %d bytes that are left", n, d.left())
		return 0
	}
	return int(n)
}

func (d *decoder) listBody(c class, depth int) Value {
	l := &List{JavaClass: c.name}
	switch {
	case c.shape == shapeEmptyList:
	case c.shape == shapeSingletonList:
		l.Elements = []Value{d.object(depth + 1)}
	case d.gen == Gen2:
		d.elements(l, d.size(1), func() Value { return d.object(depth + 1) })
	default:
		d.flaggedList(c, l, depth)
	}
	return l
}

func (d *decoder) elements(l *List, n int, read func() Value) {
	l.Elements = make([]Value, 0, min(n, 1024))
	for i := 0; i < n && !d.stopped(); i++ {
		l.Elements = append(l.Elements, read())
	}
}

// flaggedList reads a collection of Kryo 5: the flag says that all elements have
// one class, which is then written once.
func (d *decoder) flaggedList(c class, l *List, depth int) {
	pos := d.pos
	same, n := d.flagged("a size")
	switch {
	case d.err != nil:
		return
	case n == 0:
		d.fail(pos, "a collection is null behind a marker that says it is not")
		return
	case !same:
		d.elements(l, d.bounded(n-1, 1, pos), func() Value { return d.object(depth + 1) })
		return
	}
	at := d.pos
	element, null := d.class()
	switch {
	case d.err != nil:
		return
	case null && n-1 > maxNulls:
		d.fail(pos, "a list of %d nulls and nothing else", n-1)
		return
	case null:
		d.elements(l, int(n-1), func() Value { return Null{} })
		return
	case element.shape == shapeUnknown:
		l.Elements = []Value{d.stop(element, at)}
		return
	}
	nullable := false
	if c.shape != shapeImmutableList {
		nullable = bool(d.bool("the flag for null elements"))
	}
	d.elements(l, d.bounded(n-1, 1, pos), func() Value { return d.instance(element, nullable, depth+1) })
}
