package flinkmeta

// Header is the description of all states at the start of an operator state
// stream.
type Header struct {
	List      []StateInfo // list states, in the order of their elements
	Broadcast []StateInfo
	Len       int64 // bytes from the stream's start to the header's end, if Unknown is empty

	// Unknown is the class of a serializer snapshot whose length is not known:
	// the walk ended there. Empty if all of the header was walked.
	Unknown string

	bytes []byte // that it was read from; nil where it was not walked to its end
}

// BackendType is Flink's number for the kind of a state.
type BackendType int32

// The backend state types.
const (
	TypeKeyValue      BackendType = 0
	TypeOperator      BackendType = 1
	TypeBroadcast     BackendType = 2
	TypePriorityQueue BackendType = 3
	TypeKeyValueV2    BackendType = 4 // state V2 API, Flink 2.0 and later
)

// StateInfo is the description of one state.
type StateInfo struct {
	Name        string
	Type        BackendType
	Options     []Option
	Serializers []SerializerInfo
}

// Option is a named setting of a state, such as its distribution mode.
type Option struct{ Key, Value string }

// Keys of options and serializers that Flink uses.
const (
	OptionDistributionMode = "OPERATOR_STATE_DISTRIBUTION_MODE"
	OptionKeyedStateType   = "KEYED_STATE_TYPE"
	SerializerKey          = "KEY_SERIALIZER"
	SerializerNamespace    = "NAMESPACE_SERIALIZER"
	SerializerValue        = "VALUE_SERIALIZER"
)

// SerializerInfo is a serializer of a state by its key.
type SerializerInfo struct {
	Key string
	Serializer
}

// Serializer is a serializer snapshot: what Flink stores about how values were
// written.
type Serializer struct {
	Class   string // Java class of the snapshot
	Version int32
	Body    []byte // the snapshot's own bytes, as they are in the stream

	Nested []Serializer  // of an element, key, value or field, in the snapshot's order
	Kryo   *KryoSnapshot // of a KryoSerializerSnapshot
}

// KryoSnapshot says how a Kryo serializer was set up.
type KryoSnapshot struct {
	TypeClass string
	// Registered are the registered classes in order: the first has the
	// registration id 85, the next 86. An entry whose class was not available
	// to the writer is its name.
	Registered []string
}

// FirstKryoID is the registration id of the first entry of
// KryoSnapshot.Registered.
const FirstKryoID = 85

// Option finds an option by its key.
func (s *StateInfo) Option(key string) (string, bool) {
	for _, o := range s.Options {
		if o.Key == key {
			return o.Value, true
		}
	}
	return "", false
}

// Serializer finds a serializer by its key.
func (s *StateInfo) Serializer(key string) (Serializer, bool) {
	for _, e := range s.Serializers {
		if e.Key == key {
			return e.Serializer, true
		}
	}
	return Serializer{}, false
}

// headerWalker reads state descriptions. unknown ends the walk without an error.
type headerWalker struct {
	*Reader
	unknown string
	depth   int
}

func (w *headerWalker) going() bool { return w.OK() && w.unknown == "" }

func (w *headerWalker) states(what string) []StateInfo {
	if !w.going() {
		return nil
	}
	pos := w.Pos()
	n := int(w.I16("number of " + what))
	if w.OK() && (n < 0 || n*14 > w.Len()) {
		w.impossible(pos, "number of "+what, int64(n))
	}
	var out []StateInfo
	for i := 0; i < n && w.going(); i++ {
		out = append(out, w.state())
	}
	return out
}

func (w *headerWalker) state() StateInfo {
	s := StateInfo{Name: w.UTF("state name"), Type: BackendType(w.I32("backend state type"))}
	for n := w.Count(4, "number of options"); n > 0 && w.going(); n-- {
		s.Options = append(s.Options, Option{Key: w.UTF("option key"), Value: w.UTF("option value")})
	}
	for n := w.Count(12, "number of serializers"); n > 0 && w.going(); n-- {
		e := SerializerInfo{Key: w.UTF("serializer key")}
		pos := w.Pos()
		if v := w.I32("version of a serializer snapshot"); w.OK() && v != serializerFormat {
			w.corrupt(pos, "serializer snapshot", "its format is not 2")
		}
		e.Serializer = w.serializer()
		s.Serializers = append(s.Serializers, e)
	}
	return s
}
