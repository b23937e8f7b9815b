package kryo

// Generation is the major version of the format.
type Generation uint8

// The generations. Gen2 is Kryo 2.24 (Flink up to 1.20), Gen5 is Kryo 5.6
// (Flink 2.x).
const (
	Gen2 Generation = 2
	Gen5 Generation = 5
)

// Value is a Java object as it was stored. Pointers carry identity: one pointer
// in two places is one Java object, and is written once. Values read by Decode
// contain no cycles, but a small element can share one object so often that
// walking all paths takes exponential time: walk each pointer once.
type Value interface {
	// Class is the Java class name; empty for Null.
	Class() string
}

// Null is Java's null.
type Null struct{}

// The boxed Java types. Char is one UTF-16 code unit.
type (
	Int8    int8
	Int16   int16
	Int32   int32
	Int64   int64
	Char    uint16
	Bool    bool
	Float32 float32
	Float64 float64
)

// String is a java.lang.String. Text is UTF-8, with surrogates that have no
// partner as three bytes each (WTF-8).
type String struct{ Text string }

// Map is any java.util.Map. Entries are in stored order; a later entry with an
// equal key replaces an earlier one, as putting them into a Java map does.
// Sorted maps have the natural order: another comparator ends in Unknown.
//
// The entries of a map of nothing but Integers and Longs, as recovery markers
// are, are its Longs: there are hundreds of thousands of them. Decode leaves
// Entries nil then, and Longs nil in all other maps; an empty map has Entries.
type Map struct {
	JavaClass string
	Entries   []Entry
	Longs     []LongEntry
}

// LongEntry is one entry of a map of Integers and Longs.
type LongEntry struct {
	Key   int32
	Value int64
}

// Entry is one entry of a map.
type Entry struct{ Key, Value Value }

// List is any java.util.Collection, sets too, in stored order.
type List struct {
	JavaClass string
	Elements  []Value
}

// Object is an instance of a class that is stored field by field, in
// alphabetical order of the fields' names.
type Object struct {
	JavaClass string
	Fields    []Field
}

// Field is one field of an Object.
type Field struct {
	Name  string
	Value Value
}

// Unknown stands where decoding ended: at an object of a class whose body is
// not known here. JavaClass is empty when only a number stands for the class,
// one that is in no table; that number is ID, else -1.
type Unknown struct {
	JavaClass string
	ID        int
	Pos       int // byte position of the class in the element
}

// Class names of the values.
func (Null) Class() string      { return "" }
func (Int8) Class() string      { return "java.lang.Byte" }
func (Int16) Class() string     { return "java.lang.Short" }
func (Int32) Class() string     { return "java.lang.Integer" }
func (Int64) Class() string     { return "java.lang.Long" }
func (Char) Class() string      { return "java.lang.Character" }
func (Bool) Class() string      { return "java.lang.Boolean" }
func (Float32) Class() string   { return "java.lang.Float" }
func (Float64) Class() string   { return "java.lang.Double" }
func (*String) Class() string   { return classString }
func (m *Map) Class() string    { return m.JavaClass }
func (l *List) Class() string   { return l.JavaClass }
func (o *Object) Class() string { return o.JavaClass }
func (u Unknown) Class() string { return u.JavaClass }

// Text makes a String.
func Text(s string) *String { return &String{Text: s} }

// Field returns a field's value by name, and whether there is one.
func (o *Object) Field(name string) (Value, bool) {
	for _, f := range o.Fields {
		if f.Name == name {
			return f.Value, true
		}
	}
	return nil, false
}
