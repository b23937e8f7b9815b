package flinkmeta

import "strings"

// passer passes over values of one serializer.
type passer struct {
	pass func(*Reader)
	min  int // bytes of the shortest value, at least 1
}

// passerOf tells how to pass over the values of a serializer. Some can't be:
// Kryo's have no length, and a POJO's fields are not read here.
func passerOf(s *Serializer) (passer, bool) {
	if name, ok := strings.CutPrefix(s.Class, basePackage); ok {
		name, _, _ = strings.Cut(name, "$")
		if n, ok := fixedSizes[name]; ok {
			return fixed(n), true
		}
	}
	switch s.Class {
	case classStringSnapshot:
		return passer{func(r *Reader) { r.passString("string") }, 1}, true
	case basePackage + "array.BytePrimitiveArraySerializer$BytePrimitiveArraySerializerSnapshot":
		return passer{func(r *Reader) { r.Bytes32("byte array") }, 4}, true
	case classVoidNamespace:
		return fixed(1), true
	case classTimeWindow:
		return fixed(16), true
	case classTupleSnapshot, classTTLSnapshot, classTTLAware:
		return sequence(s.Nested)
	case classTimerSnapshot: // time, key, namespace
		rest, ok := sequence(s.Nested)
		return passer{func(r *Reader) { r.I64("time of a timer"); rest.pass(r) }, rest.min + 8}, ok
	case classListSnapshot:
		return listPasser(s)
	case classMapSnapshot:
		return mapPasser(s)
	default:
		return passer{}, false
	}
}

// fixedSizes are the sizes of values, in bytes, by serializer of basePackage.
var fixedSizes = map[string]int{
	"BooleanSerializer": 1, "ByteSerializer": 1, "ShortSerializer": 2, "CharSerializer": 2, "IntSerializer": 4,
	"FloatSerializer": 4, "LongSerializer": 8, "DoubleSerializer": 8, "DateSerializer": 8, "InstantSerializer": 12,
}

func fixed(n int) passer { return passer{func(r *Reader) { r.Take(n, "value") }, n} }

// sequence passes over values of several serializers, one behind the other.
func sequence(parts []Serializer) (passer, bool) {
	if len(parts) == 0 {
		return passer{}, false // values without bytes can't be counted by their bytes
	}
	all, least := make([]passer, len(parts)), 0
	for i := range parts {
		p, ok := passerOf(&parts[i])
		if !ok {
			return passer{}, false
		}
		all[i] = p
		least += p.min
	}
	return passer{func(r *Reader) {
		for _, p := range all {
			p.pass(r)
		}
	}, least}, true
}

func listPasser(s *Serializer) (passer, bool) {
	if len(s.Nested) != 1 {
		return passer{}, false
	}
	element, ok := passerOf(&s.Nested[0])
	return passer{func(r *Reader) {
		for n := r.Count(element.min, "number of list elements"); n > 0 && r.OK(); n-- {
			element.pass(r)
		}
	}, 4}, ok
}

func mapPasser(s *Serializer) (passer, bool) {
	if len(s.Nested) != 2 {
		return passer{}, false
	}
	key, keyOK := passerOf(&s.Nested[0])
	value, valueOK := passerOf(&s.Nested[1])
	return passer{func(r *Reader) {
		for n := r.Count(key.min+1, "number of map entries"); n > 0 && r.OK(); n-- {
			key.pass(r)
			if !r.Bool("null flag of a map value") {
				value.pass(r)
			}
		}
	}, 4}, keyOK && valueOK
}
