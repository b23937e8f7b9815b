package flink

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/flinkmeta"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

// builder makes a recovery point of parsed metadata: what it holds, its markers,
// and the checks.
type builder struct {
	store         *Store
	from          candidate
	file          *metadataFile
	md            *flinkmeta.Metadata
	point         inspect.RecoveryPoint
	streamVersion int32                                                  // of the first operator state stream that was opened
	opened        map[*flinkmeta.OperatorState]*flinkmeta.OperatorStream // of the operator that is looked at
	lastMerged    *merging                                               // of the last agent operator
	lastHeader    flinkmeta.Header
	asked
}

// merging is what the markers of one operator amount to, and how many they are.
type merging struct {
	inspect.Merged
	of int
}

func (b *builder) build(ctx context.Context) (inspect.RecoveryPoint, error) {
	b.point.CheckpointID = b.md.CheckpointID
	b.point.MetadataVersion = int(b.md.Version)
	// The file's own order is that of a hash map.
	slices.SortStableFunc(b.md.Operators, func(x, y flinkmeta.Operator) int { return bytes.Compare(x.ID[:], y.ID[:]) })
	for i := range b.md.Operators {
		o := &b.md.Operators[i]
		slices.SortStableFunc(o.Subtasks, func(x, y flinkmeta.Subtask) int { return cmp.Compare(x.Index, y.Index) })
		b.point.Operators = append(b.point.Operators, operator(o))
	}
	b.kind()
	b.checkPlace()
	b.checkMetadata()
	b.checkMoved(ctx)
	b.checkVersions()
	if err := b.checkFiles(ctx); err != nil {
		return b.point, accessFault(err, b.from.meta, b.from.uri)
	}
	b.checkOffsets()
	b.checkSavepoint()
	b.checkOperators()
	if err := b.keyed(ctx); err != nil {
		return b.point, err
	}
	err := b.agents(ctx)
	if err != nil {
		return b.point, err // the merged marker stays unknown: some marker is not in the list
	}
	if last := b.lastMerged; last != nil && last.of == len(b.point.Markers) {
		b.point.Merged = last.Merged // the operator has all markers, as most jobs have only one
	} else {
		b.point.Merged = inspect.Merge(b.point.Markers)
	}
	return b.point, nil
}

// kind takes checkpoint or savepoint from the properties, else from the
// folder's name.
func (b *builder) kind() {
	switch p := b.md.Properties; p.Kind {
	case flinkmeta.KindSavepoint:
		b.point.Kind = inspect.KindSavepoint
	case flinkmeta.KindCheckpoint:
		b.point.Kind = inspect.KindCheckpoint
	default:
		if p.Null && b.from.number() < 0 {
			b.point.Kind = inspect.KindSavepoint // the State Processor API writes no properties
		}
	}
	switch b.md.Properties.Format {
	case flinkmeta.FormatCanonical:
		b.point.Format = inspect.FormatCanonical
	case flinkmeta.FormatNative:
		b.point.Format = inspect.FormatNative
	}
}

func operator(o *flinkmeta.Operator) inspect.Operator {
	out := inspect.Operator{
		ID: o.ID.String(), Name: o.Name, UID: o.UID,
		Parallelism: int(o.Parallelism), MaxParallelism: int(o.MaxParallelism),
		States: []inspect.OperatorState{}, Processing: []inspect.ProcessingKey{},
	}
	for i := range o.Subtasks {
		if o.Subtasks[i].ManagedOperator == nil {
			continue
		}
		for _, state := range o.Subtasks[i].ManagedOperator.States {
			at := slices.IndexFunc(out.States, func(s inspect.OperatorState) bool {
				return s.Name == state.Name && s.Mode == state.Mode.String()
			})
			if at < 0 {
				at = len(out.States)
				kind := "list"
				if state.Mode == flinkmeta.Broadcast {
					kind = "broadcast"
				}
				out.States = append(out.States, inspect.OperatorState{Name: state.Name, Mode: state.Mode.String(), Kind: kind})
			}
			out.States[at].Elements += len(state.Offsets)
		}
	}
	slices.SortFunc(out.States, func(x, y inspect.OperatorState) int {
		return cmp.Or(strings.Compare(x.Name, y.Name), strings.Compare(x.Mode, y.Mode))
	})
	return out
}

// add appends a check. Its message passes safetext, whatever is in it.
func (b *builder) add(id string, severity inspect.Severity, hint, format string, args ...any) {
	b.point.Checks = append(b.point.Checks, inspect.Check{
		ID: id, Severity: severity, Message: safetext.Sprintf(format, args...).String(), Hint: safetext.Of(hint).String(),
	})
}

// quote makes a name from outside fit for a sentence.
func quote(name string) string { return `"` + safetext.Of(name).String() + `"` }
