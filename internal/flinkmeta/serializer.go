package flinkmeta

import "strings"

const (
	serializerFormat = 2       // in front of every outermost serializer snapshot
	compositeMagic   = 911108  // in front of a composite snapshot's own part
	nestedMagic      = 1333245 // in front of its nested snapshots
	optionalMapMagic = 0x000004F2C69A3D70
)

const (
	basePackage    = "org.apache.flink.api.common.typeutils.base."
	runtimePackage = "org.apache.flink.api.java.typeutils.runtime."
	ttlPackage     = "org.apache.flink.runtime.state.ttl."
)

// The classes that appear by name below and in the builder.
const (
	classKryoSnapshot   = runtimePackage + "kryo.KryoSerializerSnapshot"
	classStringSnapshot = basePackage + "StringSerializer$StringSerializerSnapshot"
	classLongSnapshot   = basePackage + "LongSerializer$LongSerializerSnapshot"
	classIntSnapshot    = basePackage + "IntSerializer$IntSerializerSnapshot"
	classListSnapshot   = basePackage + "ListSerializerSnapshot"
	classMapSnapshot    = basePackage + "MapSerializerSnapshot"
	classTupleSnapshot  = runtimePackage + "TupleSerializerSnapshot"
	classTTLSnapshot    = ttlPackage + "TtlStateFactory$TtlSerializerSnapshot"
	classTTLAware       = ttlPackage + "TtlAwareSerializerSnapshot"
	classTimerSnapshot  = "org.apache.flink.streaming.api.operators.TimerSerializerSnapshot"
	classVoidNamespace  = "org.apache.flink.runtime.state.VoidNamespaceSerializer$VoidNamespaceSerializerSnapshot"
	classTimeWindow     = "org.apache.flink.streaming.api.windowing.windows.TimeWindow$Serializer$TimeWindowSerializerSnapshot"
)

// serializer reads a versioned snapshot: class, version and a body whose length
// only its class knows.
func (w *headerWalker) serializer() Serializer {
	w.depth++
	defer func() { w.depth-- }()
	s := Serializer{Class: w.UTF("serializer snapshot class"), Version: w.I32("serializer snapshot version")}
	if w.depth > maxDepth {
		w.corrupt(w.Pos(), "serializer snapshot", "snapshots are nested too deep")
	}
	if !w.going() {
		return s
	}
	start := w.pos
	w.body(&s)
	if w.going() {
		s.Body = w.buf[start:w.pos:w.pos]
	}
	return s
}

func (w *headerWalker) body(s *Serializer) {
	switch own, composite := compositeBodies[s.Class]; {
	case composite && s.Version == 3:
		w.composite(s, own)
	case s.Class == classKryoSnapshot && s.Version == 2:
		w.kryo(s)
	case s.Class == runtimePackage+"PojoSerializerSnapshot" && s.Version == 2:
		w.pojo(s)
	case s.Class == basePackage+"EnumSerializer$EnumSerializerSnapshot" && s.Version == 3:
		w.UTF("enum class")
		for n := w.Count(2, "number of enum constants"); n > 0 && w.OK(); n-- {
			w.UTF("enum constant")
		}
	case s.Class == classTTLAware && s.Version == 1:
		w.Bool("TTL flag")
		s.Nested = append(s.Nested, w.serializer())
	case isSimple(s.Class) && s.Version == 3: // empty
	case isSimple(s.Class) && s.Version == 2:
		w.UTF("serializer class")
	default:
		w.unknown = s.Class
	}
}

// composite reads a snapshot that is made of its own part and nested ones.
func (w *headerWalker) composite(s *Serializer, own func(*headerWalker, int32)) {
	pos := w.Pos()
	if w.I32("composite snapshot") != compositeMagic {
		w.corrupt(pos, "composite serializer snapshot", "its magic number is wrong")
	}
	own(w, w.I32("composite snapshot version"))
	pos = w.Pos()
	if w.I32("nested snapshots") != nestedMagic {
		w.corrupt(pos, "nested serializer snapshots", "their magic number is wrong")
	}
	pos = w.Pos()
	if v := w.I32("nested snapshots version"); w.OK() && v != 1 {
		w.corrupt(pos, "nested serializer snapshots", "their version is not 1")
	}
	for n := w.Count(6, "number of nested snapshots"); n > 0 && w.going(); n-- {
		s.Nested = append(s.Nested, w.serializer())
	}
}

// compositeBodies are the composite snapshots with what their own part holds.
var compositeBodies = map[string]func(w *headerWalker, version int32){
	classListSnapshot:                              nothing,
	classMapSnapshot:                               nothing,
	basePackage + "SetSerializerSnapshot":          nothing,
	classTTLSnapshot:                               nothing,
	classTimerSnapshot:                             nothing,
	classTupleSnapshot:                             className,
	basePackage + "GenericArraySerializerSnapshot": className,
	runtimePackage + "RowSerializer$RowSerializerSnapshot": func(w *headerWalker, version int32) {
		if version >= 4 {
			w.Bool("row kind flag")
		}
	},
	runtimePackage + "NullableSerializer$NullableSerializerSnapshot": func(w *headerWalker, _ int32) {
		w.I32("padding length")
	},
}

func nothing(*headerWalker, int32)       {}
func className(w *headerWalker, _ int32) { w.UTF("class name") }

// kryo reads the body of a KryoSerializerSnapshot.
func (w *headerWalker) kryo(s *Serializer) {
	k := &KryoSnapshot{TypeClass: w.UTF("Kryo type class")}
	w.optionalMap("Kryo registrations", func(name string, value *Reader) {
		class := name
		if value != nil {
			class = value.UTF("registered class")
			if value.err != nil && w.err == nil {
				w.err = value.err
			}
		}
		k.Registered = append(k.Registered, class)
	})
	w.optionalMap("Kryo default serializers", nil)
	w.optionalMap("Kryo default serializer classes", nil)
	s.Kryo = k
}

// pojo reads the body of a PojoSerializerSnapshot. The serializers of its
// fields lie in frames with a length: they are skipped.
func (w *headerWalker) pojo(*Serializer) {
	w.UTF("POJO class")
	w.optionalMap("POJO fields", nil)
	w.optionalMap("POJO registered subclasses", nil)
	w.optionalMap("POJO other subclasses", nil)
}

// optionalMap reads a map whose keys and values may be absent. each gets a
// reader of the value's frame, nil where it is absent.
func (w *headerWalker) optionalMap(what string, each func(name string, value *Reader)) {
	pos := w.Pos()
	if w.I64(what) != optionalMapMagic {
		w.corrupt(pos, what, "the magic number of the map is wrong")
	}
	for n := w.Count(4, "number of "+what); n > 0 && w.OK(); n-- {
		name := w.UTF("name in " + what)
		if w.Bool("key flag in " + what) {
			w.Bytes32("key in " + what)
		}
		var value *Reader
		if w.Bool("value flag in " + what) {
			frame := w.Bytes32("value in " + what)
			value = NewReader(w.subject, frame, w.Pos()-int64(len(frame)))
		}
		if each != nil && w.OK() {
			each(name, value)
		}
	}
}

// isSimple says that a class is one of Flink's snapshots without a body. Flink
// names them after their serializer: XSerializer$XSerializerSnapshot.
func isSimple(class string) bool {
	outer, inner, ok := strings.Cut(class, "$")
	if !ok {
		return false
	}
	if simple, found := strings.CutPrefix(outer, basePackage); found {
		return inner == simple[strings.LastIndexByte(simple, '.')+1:]+"Snapshot" && simpleBase[simple]
	}
	switch class {
	case classVoidNamespace, classTimeWindow,
		"org.apache.flink.runtime.state.JavaSerializer$JavaSerializerSnapshot",
		"org.apache.flink.streaming.api.windowing.windows.GlobalWindow$Serializer$GlobalWindowSerializerSnapshot":
		return true
	}
	return false
}

// simpleBase are the serializers of basePackage whose snapshots have no body.
var simpleBase = map[string]bool{
	"BigDecSerializer": true, "BigIntSerializer": true, "BooleanSerializer": true, "BooleanValueSerializer": true,
	"ByteSerializer": true, "ByteValueSerializer": true, "CharSerializer": true, "CharValueSerializer": true,
	"DateSerializer": true, "DoubleSerializer": true, "DoubleValueSerializer": true, "FloatSerializer": true,
	"FloatValueSerializer": true, "InstantSerializer": true, "IntSerializer": true, "IntValueSerializer": true,
	"LocalDateSerializer": true, "LocalDateTimeSerializer": true, "LocalTimeSerializer": true, "LongSerializer": true,
	"LongValueSerializer": true, "NullValueSerializer": true, "ShortSerializer": true, "ShortValueSerializer": true,
	"SqlDateSerializer": true, "SqlTimeSerializer": true, "SqlTimestampSerializer": true, "StringSerializer": true,
	"StringValueSerializer": true, "VoidSerializer": true,
	"array.BooleanPrimitiveArraySerializer": true, "array.BytePrimitiveArraySerializer": true,
	"array.CharPrimitiveArraySerializer": true, "array.DoublePrimitiveArraySerializer": true,
	"array.FloatPrimitiveArraySerializer": true, "array.IntPrimitiveArraySerializer": true,
	"array.LongPrimitiveArraySerializer": true, "array.ShortPrimitiveArraySerializer": true,
	"array.StringArraySerializer": true,
}
