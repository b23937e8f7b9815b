package flink

import (
	"context"
	"slices"
	"strings"

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

// stringValue reads a string of Flink's string serializer, to its exact end.
func stringValue(data []byte) (string, error) {
	key, err := flinkmeta.DecodeKey(flinkmeta.KeyString, data)
	return key.Text, err
}
