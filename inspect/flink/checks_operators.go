package flink

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/figures"
	"github.com/recoverctl/recoverctl/internal/flinkmeta"
)

const hintDamaged = "use another recovery point: no Flink writes this"

func (b *builder) checkOperators() {
	for i := range b.md.Operators {
		o := &b.md.Operators[i]
		if o.Parallelism < 1 || o.MaxParallelism < o.Parallelism || o.MaxParallelism > flinkmeta.MaxParallelism {
			b.add("P1", inspect.SeverityError, hintDamaged, "operator %s has parallelism %d and max parallelism %d; expected 1 ≤ parallelism ≤ max parallelism ≤ %d",
				o.Label(), o.Parallelism, o.MaxParallelism, flinkmeta.MaxParallelism)
		}
		b.checkSubtasks(o)
		b.checkKeyGroups(o)
		b.checkFinished(o)
	}
}

func (b *builder) checkSubtasks(o *flinkmeta.Operator) {
	var wrong []int32
	for i, t := range o.Subtasks {
		if t.Index < 0 || t.Index >= o.Parallelism || i > 0 && o.Subtasks[i-1].Index == t.Index {
			wrong = append(wrong, t.Index)
		}
	}
	if len(wrong) > 0 {
		b.add("P2", inspect.SeverityError, hintDamaged, "operator %s has parallelism %d and lists subtask %d out of range or repeated (%s in all)",
			o.Label(), o.Parallelism, wrong[0], figures.Count(int64(len(wrong)), "such subtask", "such subtasks"))
	}
}

// keyGroups is the range of key groups of a subtask, last one included.
func keyGroups(subtask, parallelism, maxParallelism int32) (first, last int32) {
	i, p, m := int64(subtask), int64(parallelism), int64(maxParallelism)
	return int32((i*m + p - 1) / p), int32(((i+1)*m - 1) / p)
}

func (b *builder) checkKeyGroups(o *flinkmeta.Operator) {
	if o.Parallelism < 1 || o.MaxParallelism < o.Parallelism || o.MaxParallelism > flinkmeta.MaxParallelism {
		return // named by P1
	}
	type held struct {
		first, last int64
		subtask     int32
	}
	var all []held
	wrong := 0
	var firstWrong string
	for _, t := range o.Subtasks {
		if t.ManagedKeyed == nil || t.Index < 0 || t.Index >= o.Parallelism {
			continue
		}
		r := t.ManagedKeyed.Range
		last := int64(r.Start) + int64(r.Count) - 1
		all = append(all, held{int64(r.Start), last, t.Index})
		first, end := keyGroups(t.Index, o.Parallelism, o.MaxParallelism)
		if r.Start != first || last != int64(end) {
			if wrong++; wrong == 1 {
				firstWrong = fmt.Sprintf("subtask %d holds key groups %d-%d, expected %d-%d", t.Index, r.Start, last, first, end)
			}
		}
	}
	if wrong > 0 {
		b.add("P5", inspect.SeverityError, hintDamaged, "operator %s: %s (%s with a wrong range)", o.Label(), firstWrong, figures.Count(int64(wrong), "subtask", "subtasks"))
	}
	slices.SortFunc(all, func(x, y held) int { return cmp.Or(cmp.Compare(x.first, y.first), cmp.Compare(x.subtask, y.subtask)) })
	for i := 1; i < len(all); i++ {
		if x, y := all[i-1], all[i]; y.first <= x.last {
			b.add("P6", inspect.SeverityError, hintDamaged, "operator %s: key group %d is stored twice, by subtasks %d and %d",
				o.Label(), y.first, x.subtask, y.subtask)
			return
		}
	}
}

// checkFinished looks for union state of which only a part would be restored.
func (b *builder) checkFinished(o *flinkmeta.Operator) {
	finished, union := int64(0), false
	for _, t := range o.Subtasks {
		if t.Finished {
			finished++
		}
		if t.ManagedOperator != nil {
			union = union || slices.ContainsFunc(t.ManagedOperator.States, func(s flinkmeta.StateOffsets) bool { return s.Mode == flinkmeta.Union })
		}
	}
	if union && finished > 0 && finished < int64(o.Parallelism) {
		b.add("P8", inspect.SeverityError, hintDamaged, "operator %s has union state, and %d of its %d subtasks are finished: Flink does not complete such checkpoints",
			o.Label(), finished, o.Parallelism)
	}
}

// checkOffsets looks at the places of elements and key groups: inside their
// stream, and in order.
func (b *builder) checkOffsets() {
	wrong := 0
	report := func(o *flinkmeta.Operator, subtask int32, what string) {
		if wrong++; wrong <= maxListed {
			b.add("F9", inspect.SeverityError, hintDamaged, "operator %s, subtask %d: %s", o.Label(), subtask, what)
		}
	}
	for i := range b.md.Operators {
		o := &b.md.Operators[i]
		for j := range o.Subtasks {
			t := &o.Subtasks[j]
			for _, s := range []*flinkmeta.OperatorState{t.ManagedOperator, t.RawOperator} {
				if what := wrongElement(s); what != "" {
					report(o, t.Index, what)
				}
			}
			for _, k := range []*flinkmeta.KeyedState{t.ManagedKeyed, t.RawKeyed} {
				if what := wrongKeyGroup(k); what != "" {
					report(o, t.Index, what)
				}
			}
		}
	}
	if wrong > maxListed {
		b.add("F9", inspect.SeverityError, hintDamaged, "%s more offsets are wrong", group(wrong-maxListed))
	}
}

func wrongElement(s *flinkmeta.OperatorState) string {
	if s == nil {
		return ""
	}
	size := s.Stream.StateSize()
	for _, state := range s.States {
		last := int64(-1)
		for _, offset := range state.Offsets {
			switch {
			case offset < 0 || size != flinkmeta.UnknownSize && offset >= size:
				return fmt.Sprintf("offset %d of state %s is outside its stream of %s bytes", offset, quote(state.Name), group(size))
			case offset <= last:
				return fmt.Sprintf("offset %d of state %s follows offset %d", offset, quote(state.Name), last)
			}
			last = offset
		}
	}
	return ""
}

func wrongKeyGroup(k *flinkmeta.KeyedState) string {
	if k == nil || k.KeyGroups == nil {
		return ""
	}
	size := k.KeyGroups.Stream.StateSize()
	last := int64(-1)
	for i, offset := range k.KeyGroups.Offsets {
		switch {
		case offset == 0 && k.Kind == flinkmeta.KeyGroupsSavepoint: // an empty key group
			continue
		case offset < 0 || size != flinkmeta.UnknownSize && offset >= size && size > 0:
			return fmt.Sprintf("offset %d of key group %d is outside its stream of %s bytes", offset, int64(k.Range.Start)+int64(i), group(size))
		case offset <= last:
			return fmt.Sprintf("offset %d of key group %d follows offset %d", offset, int64(k.Range.Start)+int64(i), last)
		}
		last = offset
	}
	return ""
}
