package inspect

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
)

// Named holds the values that a refusal names, by the words of the pinned JSON
// fields: partition, requested, boundary, logStart, logEnd, markerPartitions,
// topicPartitions, found, schemaVersion, status, field, name. A value is an
// int32, an int64, a string, a []int32 or an Offsets.
type Named map[string]any

// Problem says why something is refused. Code is one of the stable reason
// words; Message is a whole sentence with the numbers in it, safe to print.
type Problem struct {
	Code    string
	Message string
	Named   Named
}

// MarshalJSON writes code, message and then the named values as fields of the
// same object, in alphabetical order.
func (p Problem) MarshalJSON() ([]byte, error) { return marshalNamed(p, nil) }

// Reason is a problem in a list of reasons. Its JSON form always has the fields
// partition, requested, boundary, logStart and logEnd: null where the rule
// names none.
type Reason struct{ Problem }

// MarshalJSON writes the problem with the five pinned fields always present.
func (r Reason) MarshalJSON() ([]byte, error) {
	return marshalNamed(r.Problem, []string{"partition", "requested", "boundary", "logStart", "logEnd"})
}

func marshalNamed(p Problem, always []string) ([]byte, error) {
	fields := Named{}
	for _, name := range always {
		fields[name] = nil
	}
	maps.Copy(fields, p.Named)
	var b bytes.Buffer
	write := func(name string, value any) error {
		key, err := json.Marshal(name)
		if err != nil {
			return err
		}
		text, err := json.Marshal(value)
		if err != nil {
			return err
		}
		if b.Len() > 1 {
			b.WriteByte(',')
		}
		b.Write(key)
		b.WriteByte(':')
		b.Write(text)
		return nil
	}
	b.WriteByte('{')
	if err := write("code", p.Code); err != nil {
		return nil, err
	}
	if err := write("message", p.Message); err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if err := write(name, fields[name]); err != nil {
			return nil, err
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}
