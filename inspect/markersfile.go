package inspect

import (
	"fmt"

	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/safetext"
	"github.com/recoverctl/recoverctl/internal/strictjson"
)

// Java classes that markers have when a file does not say.
const (
	versionedClass = "org.apache.flink.agents.runtime.actionstate.KafkaActionStateRecoveryMarker"
	legacyClass    = "java.util.HashMap"
	textClass      = "java.lang.String"
)

const readMarkers = "read a file of markers"

// ReadMarkersFile reads markers that were kept as a file: {"markers":[…]},
// optionally with sourceRecoveryPoint, or a whole RecoveryPoint as this program
// prints it. An element is null or an object; nothing in it is judged here, and
// fields that have no meaning for a marker are ignored. The source is empty
// where the file names none.
//
// The error is a fault of kind Corrupt that says which element, which key and
// where. A RecoveryPoint whose metadata could not be read is refused: its empty
// list of markers would pass for a job without any.
func ReadMarkersFile(data []byte) (source string, markers []Marker, err error) {
	doc, err := strictjson.Parse(data)
	if err != nil {
		p := JSONProblem(err, "the file")
		return "", nil, fault.Wrap(fault.Corrupt, readMarkers, err, "%s", p.Code).
			WithHint("expected %s", markersShape)
	}
	place, body := "", doc
	if kind, ok := doc.Get("kind"); ok {
		if kind.Text() != "RecoveryPoint" {
			return "", nil, misshapen(kind, "kind is %s, not RecoveryPoint", quote(kind.Text()))
		}
		if body, ok = doc.Get("data"); !ok || body.Kind() != strictjson.Object {
			return "", nil, misshapen(doc, "a RecoveryPoint without an object data")
		}
		place = "data."
		if err := wholePoint(body); err != nil {
			return "", nil, err
		}
	}
	field := "sourceRecoveryPoint"
	if place != "" {
		field = "uri"
	}
	text, err := optionalText(body, field, place+field)
	if err != nil {
		return "", nil, err
	}
	if text != nil {
		source = *text
	}
	list, ok := body.Get("markers")
	if !ok || list.Kind() != strictjson.Array {
		return "", nil, misshapen(body, "no array %smarkers", place)
	}
	markers = make([]Marker, len(list.Items()))
	for i, item := range list.Items() {
		if markers[i], err = readMarker(item, i); err != nil {
			return "", nil, err
		}
	}
	return source, markers, nil
}

const markersShape = `{"markers":[…]}, optionally with "sourceRecoveryPoint", or the JSON output of "recoverctl inspect point"`

// misshapen is a fault about the shape of the file at a value.
func misshapen(at strictjson.Value, format string, args ...any) error {
	return fault.New(fault.Corrupt, readMarkers, "%s, at byte %d", fmt.Sprintf(format, args...), at.Pos()).
		WithHint("expected %s", markersShape)
}

// wholePoint refuses a recovery point whose own checks say that its markers may
// be missing.
func wholePoint(point strictjson.Value) error {
	checks, ok := point.Get("checks")
	if !ok {
		return nil
	}
	for _, c := range checks.Items() {
		id, _ := c.Get("id")
		severity, _ := c.Get("severity")
		message, _ := c.Get("message")
		check := Check{ID: id.Text(), Severity: Severity(severity.Text()), Message: message.Text()}
		if check.Severity == SeverityError && hidesMarkers(check) {
			return fault.New(fault.Corrupt, readMarkers, "the recovery point in this file could not be read whole (%s: %s), so its markers are not known",
				safetext.Of(check.ID), safetext.Of(check.Message))
		}
	}
	return nil
}

func readMarker(v strictjson.Value, index int) (Marker, error) {
	place := fmt.Sprintf("markers[%d]", index)
	m := Marker{Subtask: index}
	if v.Kind() == strictjson.Null {
		m.Kind = MarkerNull
		return m, nil
	}
	if v.Kind() != strictjson.Object {
		return m, misshapen(v, "%s is %s, not null or an object", place, v.Kind())
	}
	kind, _ := v.Get("kind")
	m.Kind = MarkerKind(kind.Text())
	m.OperatorID, m.Subtask = whereFrom(v, index)
	var err error
	if m.Class, err = markerClass(v, m.Kind, place); err != nil {
		return m, err
	}
	m.Problem = ownProblem(v)
	switch m.Kind {
	case MarkerNull, MarkerOther:
	case MarkerVersioned:
		if m.SchemaVersion, err = markerSchema(v, place); err != nil {
			return m, err
		}
		if m.Topic, err = optionalText(v, "topic", place+".topic"); err != nil {
			return m, err
		}
		if m.TopicID, err = optionalText(v, "topicId", place+".topicId"); err != nil {
			return m, err
		}
		m.Offsets, err = markerOffsets(v, place)
	case MarkerLegacy:
		if m.Offsets, err = markerOffsets(v, place); err == nil && m.Offsets == nil {
			err = misshapen(v, "%s is a legacy marker without offsets", place)
		}
	case MarkerLegacyTyped:
		if m.Entries, err = typedEntries(v, place); err == nil {
			asLegacy(&m)
		}
	default:
		err = misshapen(v, "%s has the kind %s, not versioned, legacy, legacyTyped, null or other", place, quote(kind.Text()))
	}
	return m, err
}

// whereFrom is the operator and subtask of an element of a RecoveryPoint. Other
// files say neither, and what they hold under these names is ignored.
func whereFrom(v strictjson.Value, index int) (operator string, subtask int) {
	id, _ := v.Get("operatorId")
	if id.Kind() == strictjson.String {
		operator = id.Text()
	}
	n, _ := v.Get("subtask")
	if i, ok := n.Int32(); ok && i >= 0 && operator != "" {
		return operator, int(i)
	}
	return operator, index
}

func markerClass(v strictjson.Value, kind MarkerKind, place string) (string, error) {
	class, err := optionalText(v, "class", place+".class")
	if err != nil {
		return "", err
	}
	if class != nil && *class != "" {
		return *class, nil
	}
	switch kind {
	case MarkerVersioned:
		return versionedClass, nil
	case MarkerLegacy, MarkerLegacyTyped:
		return legacyClass, nil
	case MarkerOther:
		return textClass, nil
	default:
		return "", nil
	}
}

// ownProblem keeps why an element could not be read when the file was written.
func ownProblem(v strictjson.Value) *Problem {
	p, ok := v.Get("problem")
	if !ok || p.Kind() != strictjson.Object {
		return nil
	}
	code, _ := p.Get("code")
	message, _ := p.Get("message")
	return problem(code.Text(), nil, "%s", safetext.Of(message.Text()))
}

func markerSchema(v strictjson.Value, place string) (*int32, error) {
	value, ok := v.Get("schemaVersion")
	if !ok {
		known := int32(planSchema)
		return &known, nil
	}
	if value.Kind() == strictjson.Null {
		return nil, nil
	}
	version, ok := value.Int32()
	if !ok {
		return nil, misshapen(value, "%s.schemaVersion is %s, not a 32-bit integer", place, shown(value))
	}
	return &version, nil
}

// markerOffsets is nil where the field is absent or null.
func markerOffsets(v strictjson.Value, place string) (Offsets, error) {
	value, ok := v.Get("offsets")
	if !ok || value.Kind() == strictjson.Null {
		return nil, nil
	}
	if value.Kind() != strictjson.Object {
		return nil, misshapen(value, "%s.offsets is %s, not an object", place, value.Kind())
	}
	out := make(Offsets, len(value.Members()))
	for _, m := range value.Members() {
		p, ok := javaParseInt(m.Name)
		if !ok || fmt.Sprint(p) != m.Name {
			return nil, misshapen(m.Value, "%s.offsets names the partition %s, not a 32-bit integer", place, quote(m.Name))
		}
		offset, ok := m.Value.Int64()
		if !ok {
			return nil, misshapen(m.Value, "%s.offsets[%d] is %s, not a 64-bit integer", place, p, shown(m.Value))
		}
		out[p] = offset
	}
	return out, nil
}

func typedEntries(v strictjson.Value, place string) ([]TypedEntry, error) {
	list, _ := v.Get("entries")
	if list.Kind() != strictjson.Array {
		return nil, misshapen(v, "%s is a legacyTyped marker without an array entries", place)
	}
	out := make([]TypedEntry, len(list.Items()))
	for i, item := range list.Items() {
		at := fmt.Sprintf("%s.entries[%d]", place, i)
		key, hasKey := item.Get("key")
		value, hasValue := item.Get("value")
		if !hasKey || !hasValue {
			return nil, misshapen(item, "%s has no key and value", at)
		}
		var err error
		if out[i].Key, err = typedValue(key, at+".key"); err != nil {
			return nil, err
		}
		if out[i].Value, err = typedValue(value, at+".value"); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// asLegacy turns a typed map of nothing but Integer to Long into the legacy
// marker that it is to a job, which looks at the entries alone. Of a repeated
// key the last entry counts, as in a map.
func asLegacy(m *Marker) {
	offsets := make(Offsets, len(m.Entries))
	for _, e := range m.Entries {
		if e.Key.Int == nil || e.Value.Long == nil {
			return
		}
		offsets[*e.Key.Int] = *e.Value.Long
	}
	m.Kind, m.Offsets, m.Entries = MarkerLegacy, offsets, nil
}

// typedValue reads null, or an object with one of string, int, long and type.
func typedValue(v strictjson.Value, place string) (TypedValue, error) {
	if v.Kind() == strictjson.Null {
		return TypedValue{Type: nullClass}, nil
	}
	if v.Kind() != strictjson.Object || len(v.Members()) != 1 {
		return TypedValue{}, misshapen(v, "%s is not null or an object with one of string, int, long, type", place)
	}
	m := v.Members()[0]
	switch name := m.Name; {
	case name == "string" && m.Value.Kind() == strictjson.String:
		text := m.Value.Text()
		return TypedValue{String: &text}, nil
	case name == "type" && m.Value.Kind() == strictjson.String:
		return TypedValue{Type: m.Value.Text()}, nil
	case (name == "string" || name == "int" || name == "long") && m.Value.Kind() == strictjson.Null:
		return TypedValue{Type: nullClass}, nil
	case name == "int":
		if n, ok := m.Value.Int32(); ok {
			return TypedValue{Int: &n}, nil
		}
	case name == "long":
		if n, ok := m.Value.Int64(); ok {
			return TypedValue{Long: &n}, nil
		}
	}
	return TypedValue{}, misshapen(m.Value, "%s.%s has a value that does not fit its type", place, safetext.Of(m.Name))
}

// optionalText is nil where the field is absent or null.
func optionalText(v strictjson.Value, field, place string) (*string, error) {
	value, ok := v.Get(field)
	if !ok || value.Kind() == strictjson.Null {
		return nil, nil
	}
	if value.Kind() != strictjson.String {
		return nil, misshapen(value, "%s is %s, not a string", place, value.Kind())
	}
	text := value.Text()
	return &text, nil
}
