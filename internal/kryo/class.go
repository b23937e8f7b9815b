package kryo

// shape is how the body of a class is laid out.
type shape uint8

const (
	shapeUnknown shape = iota
	shapeInt8
	shapeInt16
	shapeInt32
	shapeInt64
	shapeChar
	shapeBool
	shapeFloat32
	shapeFloat64
	shapeString
	shapeMap
	shapeSortedMap // has a comparator
	shapeSingletonMap
	shapeEmptyMap
	shapeList
	shapeImmutableList // List.of, Set.of: no byte that says whether there are nulls
	shapeSingletonList
	shapeEmptyList
	shapeObject
)

// tracked says whether objects of this shape get a reference number. Boxed
// types do not.
func (s shape) tracked() bool { return s < shapeInt8 || s > shapeFloat64 }

const classString = "java.lang.String"

// MarkerClass is the versioned recovery marker, stored field by field.
const MarkerClass = "org.apache.flink.agents.runtime.actionstate.KafkaActionStateRecoveryMarker"

// class is a class as an object header names it.
type class struct {
	name  string
	id    int // registration number; -1: written by name
	shape shape
}

// builtin are the classes that every Kryo registers, by number. Number 9, void,
// has no instances.
var builtin = [...]class{
	{"java.lang.Integer", 0, shapeInt32},
	{classString, 1, shapeString},
	{"java.lang.Float", 2, shapeFloat32},
	{"java.lang.Boolean", 3, shapeBool},
	{"java.lang.Byte", 4, shapeInt8},
	{"java.lang.Character", 5, shapeChar},
	{"java.lang.Short", 6, shapeInt16},
	{"java.lang.Long", 7, shapeInt64},
	{"java.lang.Double", 8, shapeFloat64},
}

// firstFlinkID is the number of the first class that Flink's own registrar
// adds; their bodies are not known here.
const firstFlinkID = 73

var flinkRegistered = [...]string{
	"java.util.Arrays$ArrayList",
	"java.util.BitSet",
	"java.util.PriorityQueue",
	"java.util.regex.Pattern",
	"java.sql.Date",
	"java.sql.Time",
	"java.sql.Timestamp",
	"java.net.URI",
	"java.net.InetSocketAddress",
	"java.util.UUID",
	"java.util.Locale",
	"java.text.SimpleDateFormat",
}

// FirstRegisteredID is the number of the first class of a Registered table.
const FirstRegisteredID = firstFlinkID + len(flinkRegistered)

// Registered are the classes that a job registers, in the order of the
// registrations in the state's serializer snapshot. The first one has the number
// FirstRegisteredID, which is 85.
type Registered []string

// byID finds the class of a number.
func (r Registered) byID(id int) class {
	switch {
	case id < len(builtin):
		return builtin[id]
	case id >= firstFlinkID && id < FirstRegisteredID:
		return class{flinkRegistered[id-firstFlinkID], id, shapeUnknown}
	case id >= FirstRegisteredID && id-FirstRegisteredID < len(r):
		name := r[id-FirstRegisteredID]
		return class{name, id, shapes[name]}
	default:
		return class{"", id, shapeUnknown}
	}
}

// byName finds how a class is written: by number where it has one, else by
// name.
func (r Registered) byName(name string) class {
	for _, c := range builtin {
		if c.name == name {
			return c
		}
	}
	for i, registered := range r {
		if registered == name {
			return class{name, FirstRegisteredID + i, shapes[name]}
		}
	}
	return class{name, -1, shapes[name]}
}

// shapes are the classes that are known by name.
var shapes = map[string]shape{
	"java.util.HashMap":                                  shapeMap,
	"java.util.LinkedHashMap":                            shapeMap,
	"java.util.concurrent.ConcurrentHashMap":             shapeMap,
	"java.util.Hashtable":                                shapeMap,
	"java.util.Collections$UnmodifiableMap":              shapeMap,
	"java.util.ImmutableCollections$Map1":                shapeMap,
	"java.util.ImmutableCollections$MapN":                shapeMap,
	"java.util.TreeMap":                                  shapeSortedMap,
	"java.util.Collections$SingletonMap":                 shapeSingletonMap,
	"java.util.Collections$EmptyMap":                     shapeEmptyMap,
	"java.util.ArrayList":                                shapeList,
	"java.util.LinkedList":                               shapeList,
	"java.util.HashSet":                                  shapeList,
	"java.util.LinkedHashSet":                            shapeList,
	"java.util.Collections$UnmodifiableCollection":       shapeList,
	"java.util.Collections$UnmodifiableList":             shapeList,
	"java.util.Collections$UnmodifiableRandomAccessList": shapeList,
	"java.util.Collections$UnmodifiableSet":              shapeList,
	"java.util.ImmutableCollections$List12":              shapeImmutableList,
	"java.util.ImmutableCollections$ListN":               shapeImmutableList,
	"java.util.ImmutableCollections$Set12":               shapeImmutableList,
	"java.util.ImmutableCollections$SetN":                shapeImmutableList,
	"java.util.Collections$SingletonList":                shapeSingletonList,
	"java.util.Collections$SingletonSet":                 shapeSingletonList,
	"java.util.Collections$EmptyList":                    shapeEmptyList,
	"java.util.Collections$EmptySet":                     shapeEmptyList,
	MarkerClass:                                          shapeObject,
}

// fieldType is the declared type of a field, which decides its bytes.
type fieldType uint8

const (
	fieldInt        fieldType = iota // int: a zigzag varint and nothing else
	fieldString                      // String: a reference marker, then the string
	fieldOffsetsMap                  // Map<Integer, Long>: keys and values without their classes
)

type fieldLayout struct {
	name     string
	declared fieldType
}

// layouts are the classes stored field by field, in alphabetical order.
var layouts = map[string][]fieldLayout{
	MarkerClass: {
		{"offsets", fieldOffsetsMap},
		{"schemaVersion", fieldInt},
		{"topic", fieldString},
		{"topicId", fieldString},
	},
}
