package flink

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf16"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/flinkmeta"
)

// checkIdentifiers compares the job identifiers that the subtasks stored: a
// restore fails if they differ.
func (b *builder) checkIdentifiers(ctx context.Context, o *flinkmeta.Operator) {
	var found, shown []string // distinct elements, as bytes and as text
	for i := range o.Subtasks {
		t := &o.Subtasks[i]
		state, ok := t.ManagedOperator.State(identifierState)
		if !ok || len(state.Offsets) == 0 || len(state.Offsets) > maxMarkers {
			continue
		}
		stream, err := b.open(ctx, t.ManagedOperator)
		if err != nil {
			if _, marked := t.ManagedOperator.State(markerState); !marked { // else the markers tell it
				_ = b.unopened(o, t, 0, err) // no marker is lost: nothing to return
			}
			continue
		}
		for e := range state.Offsets {
			data, err := stream.Element(identifierState, e)
			if err == nil && slices.Contains(found, string(data)) {
				continue
			}
			text := ""
			if err == nil {
				text, err = stringValue(data)
			}
			if err != nil {
				b.add("U14", inspect.SeverityError, orUseAnother(""), "operator %s, subtask %d: its %s can't be read: %v",
					o.Label(), t.Index, identifierState, err)
				return
			}
			if found, shown = append(found, string(data)), append(shown, quote(text)); len(found) > maxListed {
				break
			}
		}
	}
	if len(found) > 1 {
		b.add("U14", inspect.SeverityError, "a restore from here fails; use another recovery point",
			"operator %s: %s holds different values: %s", o.Label(), identifierState, strings.Join(shown, ", "))
	}
}

// stringValue reads a string of Flink's string serializer: the number of UTF-16
// code units plus one, then each unit, all in groups of seven bits.
func stringValue(data []byte) (string, error) {
	next := func() (uint32, error) {
		var v uint32
		for shift := 0; shift < 35; shift += 7 {
			if len(data) == 0 {
				return 0, errors.New("the string ends too early")
			}
			c := data[0]
			data = data[1:]
			v |= uint32(c&0x7f) << shift
			if c&0x80 == 0 {
				return v, nil
			}
		}
		return 0, errors.New("the string has a number of more than 32 bits")
	}
	n, err := next()
	switch {
	case err != nil:
		return "", err
	case n == 0:
		return "", errors.New("the string is null")
	case int64(n)-1 > int64(len(data)):
		return "", fmt.Errorf("the string has %d characters and %d bytes", n-1, len(data))
	}
	units := make([]uint16, 0, n-1)
	for range n - 1 {
		unit, err := next()
		if err != nil {
			return "", err
		}
		units = append(units, uint16(unit))
	}
	if len(data) > 0 {
		return "", fmt.Errorf("%d bytes are left behind the string", len(data))
	}
	return string(utf16.Decode(units)), nil
}
