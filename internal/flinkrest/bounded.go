package flinkrest

import (
	"bytes"
	"encoding/json"
)

// MaxItems is how many entries of a long list are kept.
const MaxItems = 500

// Bounded is a list of which only the first MaxItems entries are kept. Total
// counts them all. A null is an empty list.
type Bounded[T any] struct {
	Items []T
	Total int
}

// Cut is how many entries were left out.
func (b Bounded[T]) Cut() int { return b.Total - len(b.Items) }

// UnmarshalJSON reads a JSON array.
func (b *Bounded[T]) UnmarshalJSON(data []byte) error {
	*b = Bounded[T]{}
	if bytes.Equal(data, []byte("null")) {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(data))
	start, err := d.Token()
	if err != nil {
		return err
	}
	if start != json.Delim('[') {
		return json.Unmarshal(data, &b.Items) // for the error that names both types
	}
	for d.More() {
		if len(b.Items) < MaxItems {
			var item T
			if err := d.Decode(&item); err != nil {
				return err
			}
			b.Items = append(b.Items, item)
		} else {
			var skipped skip
			if err := d.Decode(&skipped); err != nil {
				return err
			}
		}
		b.Total++
	}
	return nil
}

// skip is any JSON value, of which nothing is kept.
type skip struct{}

func (*skip) UnmarshalJSON([]byte) error { return nil }
