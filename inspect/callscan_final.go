package inspect

import "slices"

// Final returns the actions of a partition of which nothing that the scan will
// still read can change a word, in the order of their records; only the three
// lists are filled. It is asked when the partition was read to its end in the first
// pass, and again when it was in the second. Each action is returned once.
//
// Open actions of generation 3 are final at the end of their partition. Completed
// ones are where no second pass needs the partition, else at the end of that. Those
// of generations 1 and 2 are only when all partitions are read: any of them may show
// that their JVM has ended.
func (s *CallScan) Final(id int32) DurableCalls {
	p := s.Partition(id)
	p.Lock()
	defer p.Unlock()
	var out DurableCalls
	if p.second != nil {
		p.settle()
	}
	_, again := p.readAgain(0)
	for i := range p.slab {
		e := &p.slab[i]
		if e.generation != KeyGeneration3 {
			continue
		}
		if !p.toldOpen {
			for _, a := range e.open {
				out.Actions = append(out.Actions, p.actionCalls(e, a))
			}
		}
		if !again && !p.toldDone {
			p.listDone(e, &out)
		}
	}
	if !again && !p.toldDone {
		for _, a := range p.removedActions {
			if a.Generation == KeyGeneration3 {
				a.Calls = slices.Clone(a.Calls)
				out.Removed = append(out.Removed, a)
			}
		}
	}
	p.toldOpen, p.toldDone = true, p.toldDone || !again
	for _, list := range [][]ActionCalls{out.Actions, out.Siblings, out.Removed} {
		slices.SortFunc(list, byPosition)
		for i := range list {
			s.judgeAction(&list[i], nil)
		}
	}
	return out
}
