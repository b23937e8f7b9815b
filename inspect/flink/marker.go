package flink

import (
	"fmt"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/kryo"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

// CodeUnreadable is the problem of a marker that could not be read, and of a
// recovery point whose markers are not known.
const CodeUnreadable = "marker-unreadable"

// element is a decoded element of the recoveryMarker list: the marker, and what
// is wrong with its bytes.
type element struct {
	marker inspect.Marker
	check  string // id of the failed check; empty where the bytes are sound
	cause  string // a clause without a subject
	hint   string
}

// generationOf is the Kryo generation that the Flink of a metadata version
// writes.
func generationOf(metadataVersion int32) kryo.Generation {
	if metadataVersion <= 4 {
		return kryo.Gen2
	}
	return kryo.Gen5
}

// decodeMarker reads one element. Its bytes must be consumed exactly by the
// generation of the metadata: the other one can give plausible wrong numbers.
func decodeMarker(gen kryo.Generation, data []byte, registered kryo.Registered) element {
	decoded, err := kryo.Decode(gen, data, registered)
	if err == nil && decoded.Rest == 0 && decoded.Unknown == nil {
		return toMarker(decoded.Value)
	}
	other := kryo.Gen2
	if gen == kryo.Gen2 {
		other = kryo.Gen5
	}
	if swapped, err := kryo.Decode(other, data, registered); err == nil && swapped.Rest == 0 && swapped.Unknown == nil {
		return unreadable("V6", swapped.Value.Class(), fmt.Sprintf("is of Kryo generation %d, and the metadata version goes with generation %d: the files do not belong together", other, gen),
			"use another recovery point; this one is put together of files of two Flink versions, and Flink would read wrong offsets from it")
	}
	switch {
	case err != nil:
		return unreadable("U8", "", "can't be decoded at "+safetext.Error(err).String(), "use another recovery point: the bytes are damaged or of a kind that is not known")
	case decoded.Unknown != nil:
		class := decoded.Unknown.JavaClass
		shown := safetext.Of(class).String()
		if class == "" {
			shown = fmt.Sprintf("number %d", decoded.Unknown.ID)
		}
		if decoded.Unknown.Pos > 0 {
			class = decoded.Value.Class()
		}
		return unreadable("U9", class, fmt.Sprintf("holds an object of class %s at byte %d, whose content is not known", shown, decoded.Unknown.Pos),
			"recovery markers are maps of Integer to Long or versioned markers: find out which program wrote this")
	default:
		return unreadable("U8", decoded.Value.Class(), fmt.Sprintf("has %d bytes left after decoding (Kryo generation %d)", decoded.Rest, gen),
			"use another recovery point: the bytes are damaged or of a kind that is not known")
	}
}

func unreadable(check, class, cause, hint string) element {
	return element{
		marker: inspect.Marker{Kind: inspect.MarkerOther, Class: class},
		check:  check, cause: cause, hint: hint,
	}
}

// toMarker judges only what the element is; the rules of a restore judge its
// values.
func toMarker(v kryo.Value) element {
	switch v := v.(type) {
	case kryo.Null:
		return element{marker: inspect.Marker{Kind: inspect.MarkerNull}}
	case *kryo.Map:
		return element{marker: mapMarker(v)}
	case *kryo.Object:
		return versionedMarker(v)
	default:
		return element{marker: inspect.Marker{Kind: inspect.MarkerOther, Class: v.Class()}}
	}
}

// offsetsOf is a map of Integer to Long; a later entry of one key replaces the
// earlier one, as in Java.
func offsetsOf(m *kryo.Map) (inspect.Offsets, bool) {
	if len(m.Entries) > 0 {
		return nil, false
	}
	offsets := make(inspect.Offsets, len(m.Longs))
	for _, e := range m.Longs {
		offsets[e.Key] = e.Value
	}
	return offsets, true
}

func mapMarker(m *kryo.Map) inspect.Marker {
	if offsets, ok := offsetsOf(m); ok {
		return inspect.Marker{Kind: inspect.MarkerLegacy, Class: m.JavaClass, Offsets: offsets}
	}
	out := inspect.Marker{Kind: inspect.MarkerLegacyTyped, Class: m.JavaClass, Entries: make([]inspect.TypedEntry, 0, len(m.Entries))}
	for _, e := range m.Entries {
		out.Entries = append(out.Entries, inspect.TypedEntry{Key: typedValue(e.Key), Value: typedValue(e.Value)})
	}
	return out
}

func typedValue(v kryo.Value) inspect.TypedValue {
	switch v := v.(type) {
	case kryo.Null:
		return inspect.TypedValue{Type: "null"}
	case kryo.Int32:
		n := int32(v)
		return inspect.TypedValue{Int: &n}
	case kryo.Int64:
		n := int64(v)
		return inspect.TypedValue{Long: &n}
	case *kryo.String:
		s := v.Text
		return inspect.TypedValue{String: &s}
	default:
		return inspect.TypedValue{Type: v.Class()}
	}
}

func versionedMarker(o *kryo.Object) element {
	m := inspect.Marker{Kind: inspect.MarkerVersioned, Class: o.JavaClass}
	for _, f := range o.Fields {
		switch v := f.Value.(type) {
		case kryo.Int32:
			n := int32(v)
			m.SchemaVersion = &n
		case *kryo.String:
			s := v.Text
			if f.Name == "topic" {
				m.Topic = &s
			} else {
				m.TopicID = &s
			}
		case *kryo.Map:
			offsets, ok := offsetsOf(v)
			if !ok {
				return unreadable("U9", o.JavaClass, "is a versioned marker whose offsets are not all of Integer to Long",
					"find out which program wrote this")
			}
			m.Offsets = offsets
		}
	}
	return element{marker: m}
}
