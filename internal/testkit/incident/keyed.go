package incident

import (
	_ "embed"
	"encoding/binary"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/flinkmeta"
	"github.com/recoverctl/recoverctl/internal/testkit/orders"
)

// keyedHeader is the start of every keyed state stream of the agent operator:
// the description of its states, as Flink 2.3 writes it for keys that are
// strings.
//
//go:embed keyed_header.bin
var keyedHeader []byte

// States of keyedHeader by their place in it.
const (
	stateLastCompleted = 3 // lastCompletedSequenceNumber
	stateMessage       = 4 // messageSequenceNumber
)

// heapOrder is an order in which the heap backend writes its states.
var heapOrder = [...]uint16{2, 0, stateLastCompleted, 1, stateMessage, 5}

// Progress is how far a key had come.
type Progress struct {
	Key       orders.Key
	Message   int64 // latest input that was started
	Completed int64 // latest input whose actions have all ended; -1: none
}

// ProgressAt is how far each key had come when the logs had the given ends, and the
// keys with an unfinished input. Turns are those of each partition or bucket.
func ProgressAt(turns [][]Turn, at inspect.Offsets) (all []Progress, running []orders.Key) {
	for p := range turns {
		places := map[string]int{}
		end := at[int32(p)]
		for _, t := range turns[p] {
			if t.First >= end {
				break
			}
			i, seen := places[t.Key.Text]
			if !seen {
				i = len(all)
				places[t.Key.Text] = i
				all = append(all, Progress{Key: t.Key, Completed: -1})
			}
			all[i].Message = t.Seq
			if t.Done && t.Last < end {
				all[i].Completed = t.Seq
			} else {
				running = append(running, t.Key)
			}
		}
	}
	return all, running
}

// progressAt is ProgressAt of whole partitions.
func progressAt(logs []partitionLog, at inspect.Offsets) (all []Progress, running []orders.Key) {
	turns := make([][]Turn, len(logs))
	for p := range logs {
		turns[p] = logs[p].turns
	}
	return ProgressAt(turns, at)
}

// keyGroups is the range of key groups of a subtask.
func keyGroups(subtask int32) flinkmeta.KeyGroupRange {
	const each = orders.MaxParallelism / orders.Parallelism
	return flinkmeta.KeyGroupRange{Start: subtask * each, Count: each}
}

// entry is a key with a sequence number.
type entry struct {
	key string
	seq int64
}

// groupEntries are the entries of one key group, by state.
type groupEntries map[uint16][]entry

// byGroup sorts progress into the key groups of a range.
func byGroup(all []Progress, r flinkmeta.KeyGroupRange) []groupEntries {
	groups := make([]groupEntries, r.Count)
	for i := range groups {
		groups[i] = groupEntries{}
	}
	for _, p := range all {
		if p.Key.Group < r.Start || p.Key.Group > r.End() {
			continue
		}
		g := groups[p.Key.Group-r.Start]
		g[stateMessage] = append(g[stateMessage], entry{p.Key.Text, p.Message})
		if p.Completed >= 0 {
			g[stateLastCompleted] = append(g[stateLastCompleted], entry{p.Key.Text, p.Completed})
		}
	}
	return groups
}

// heapStream writes key groups as the heap backend does for a checkpoint: every
// group, in each of them every state.
func heapStream(groups []groupEntries, start int32) (stream []byte, offsets []int64) {
	out := append([]byte(nil), keyedHeader...)
	for i, g := range groups {
		offsets = append(offsets, int64(len(out)))
		out = binary.BigEndian.AppendUint32(out, uint32(start)+uint32(i))
		for _, state := range heapOrder {
			out = binary.BigEndian.AppendUint16(out, state)
			out = binary.BigEndian.AppendUint32(out, uint32(len(g[state])))
			for _, e := range g[state] {
				out = append(out, 0) // namespace
				out = append(out, orders.StringBytes(e.key)...)
				out = binary.BigEndian.AppendUint64(out, uint64(e.seq))
			}
		}
	}
	return out, offsets
}

// canonicalStream writes key groups as a canonical savepoint has them: only
// those with entries, in each of them only such states. The offset of an empty
// one is 0.
func canonicalStream(groups []groupEntries, start int32) (stream []byte, offsets []int64) {
	const (
		endOfState = 0x80
		endOfGroup = 0xFFFF
	)
	out := append([]byte(nil), keyedHeader...)
	for i, g := range groups {
		if len(g[stateMessage]) == 0 {
			offsets = append(offsets, 0)
			continue
		}
		offsets = append(offsets, int64(len(out)))
		for _, state := range []uint16{stateLastCompleted, stateMessage} {
			if len(g[state]) == 0 {
				continue
			}
			out = binary.BigEndian.AppendUint16(out, state)
			for j, e := range g[state] {
				name := orders.StringBytes(e.key)
				out = binary.BigEndian.AppendUint32(out, uint32(len(name)+2))
				group := byte(start) + byte(i)
				if j == len(g[state])-1 {
					group |= endOfState
				}
				out = append(out, group)
				out = append(out, name...)
				out = append(out, 0) // namespace
				out = binary.BigEndian.AppendUint32(out, 8)
				out = binary.BigEndian.AppendUint64(out, uint64(e.seq))
			}
		}
		out = binary.BigEndian.AppendUint16(out, endOfGroup)
	}
	return out, offsets
}
