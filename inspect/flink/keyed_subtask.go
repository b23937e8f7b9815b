package flink

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"slices"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/flinkkey"
	"github.com/recoverctl/recoverctl/internal/flinkmeta"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

// subtaskKeys reads the keyed state of one subtask.
type subtaskKeys struct {
	reading *keyedReading
	subtask *flinkmeta.Subtask
	stream  *flinkmeta.KeyedStream
	keyType flinkmeta.KeyType

	group map[string]*inspect.KeySequence // of the key group that is walked, by the key's bytes
	tally keyTally

	damages []error // of key groups
	why     string  // what kept keys from being told
	err     error   // nothing could be read
}

// open finds the stream and reads its header.
func (s *subtaskKeys) open(ctx context.Context) (stateFile, error) {
	b, handle := s.reading.builder, s.subtask.ManagedKeyed
	if handle.KeyGroups == nil {
		return stateFile{}, fault.New(fault.Unsupported, "read keyed state", "its keyed state lies in %s, other than that of subtask %d",
			handle.Kind, s.reading.handles[0].Index)
	}
	if handle.KeyGroups.Stream.Leaf() == nil {
		return stateFile{}, fault.New(fault.Corrupt, "read keyed state", "the handle has key groups and no stream")
	}
	f, err := b.find(ctx, handle.KeyGroups.Stream, "keyed state")
	if err != nil {
		return f, err
	}
	var src io.ReaderAt = f.ranges(ctx, b.from.uri)
	s.stream, err = flinkmeta.OpenKeyedStream(src, f.size, handle, s.reading.operator.MaxParallelism)
	if err != nil {
		return f, err
	}
	s.keyType = flinkmeta.KeyTypeOf(s.stream.Header.Key)
	return f, nil
}

// read walks all key groups.
func (s *subtaskKeys) read(ctx context.Context) error {
	f, err := s.open(ctx)
	if err != nil {
		return err
	}
	h := &s.stream.Header
	if h.Unknown != "" {
		return fault.New(fault.Unsupported, "read keyed state", "a serializer of class %s is not known, so that the keys behind it can't be found", safetext.Of(h.Unknown))
	}
	s.tally.states = make(map[string]*stateTally, len(h.States))
	for i := range h.States {
		s.tally.states[h.States[i].Name] = &stateTally{}
	}
	passed := int64(0)
	visitor := flinkmeta.KeyedVisitor{
		Values: func(state *flinkmeta.StateInfo) bool {
			return state.Name == messageState || state.Name == completedState
		},
		Entry: s.entry,
	}
	s.group = map[string]*inspect.KeySequence{}
	for content, err := range s.stream.Groups(visitor) {
		var wrong *flinkmeta.Error
		switch {
		case errors.As(err, &wrong):
			s.damages = append(s.damages, err)
			s.lost("key group " + group(content.KeyGroup) + " can't be read")
		case err != nil:
			return err
		}
		s.endOfGroup(content)
		passed += content.Bytes
		s.reading.walked(content.Bytes)
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	s.reading.walked(f.size - passed)
	return nil
}

// lost notes that not all keys are known, and why.
func (s *subtaskKeys) lost(why string) {
	s.tally.unknown = true
	if s.why == "" {
		s.why = why
	}
}

// entry takes one entry of a key group.
func (s *subtaskKeys) entry(e flinkmeta.KeyedEntry) error {
	if e.Key == nil {
		return nil
	}
	k := s.group[string(e.Key)]
	if k == nil {
		if len(s.group) >= maxGroupKeys {
			s.lost("a key group has more than " + group(maxGroupKeys) + " keys")
			return nil
		}
		k = &inspect.KeySequence{KeyGroup: e.KeyGroup, Subtask: int(s.subtask.Index)}
		s.group[string(e.Key)] = k
	}
	if !s.reading.agent {
		return nil
	}
	switch s.stream.Header.States[e.State].Name {
	case messageState:
		k.MessageSequenceNumber = number(e)
	case completedState:
		k.LastCompletedSequenceNumber = number(e)
	case tasksState:
		k.ActionTasks = list(e)
	case pendingState:
		k.PendingInputEvents = list(e)
	}
	return nil
}

// number is the value of a state of longs.
func number(e flinkmeta.KeyedEntry) *int64 {
	if len(e.Value) != 8 {
		return nil
	}
	n := int64(binary.BigEndian.Uint64(e.Value))
	return &n
}

func list(e flinkmeta.KeyedEntry) *inspect.KeyedList {
	l := &inspect.KeyedList{}
	if e.Elements >= 0 {
		l.Elements = &e.Elements
	}
	if e.Size >= 0 {
		l.Bytes = &e.Size
	}
	return l
}

// endOfGroup counts a key group and forgets its entries.
func (s *subtaskKeys) endOfGroup(content flinkmeta.KeyGroupContent) {
	states := s.stream.Header.States
	message := s.stream.Header.State(messageState)
	for i := range states {
		s.tally.states[states[i].Name].add(content.Entries[i], content.Sizes[i])
		// The keys of a state that can't be told apart are those of the message
		// numbers too, which every key of an agent has.
		if content.Closed[i] && (message < 0 || content.Closed[message] || states[i].Name == completedState) {
			s.lost("the entries of state " + quote(states[i].Name) + " can't be told apart in this format")
		}
	}
	if content.Ambiguous {
		s.lost("the states of key group " + group(content.KeyGroup) + " can't be told apart in this format")
	}
	s.tally.keys += int64(len(s.group))
	if s.reading.agent {
		s.sequences()
	}
	clear(s.group)
}

// sequences takes the keys of one key group, in the order of their bytes.
func (s *subtaskKeys) sequences() {
	keys := make([]string, 0, len(s.group))
	for key := range s.group {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	maxParallelism := s.reading.operator.MaxParallelism
	for _, stored := range keys {
		k := s.group[stored]
		k.Key.Digest = flinkkey.Key{Serialized: []byte(stored)}.Digest()
		k.Type = s.reading.typeName(s)
		if s.keyType != flinkmeta.KeyOther {
			key, err := flinkmeta.DecodeKey(s.keyType, []byte(stored))
			switch {
			case err != nil:
				s.damages = append(s.damages, err)
				s.lost("a key of key group " + group(k.KeyGroup) + " can't be read")
			default:
				k.Key.Text = &key.Text
				if belongs := flinkkey.Group(key.Hash, int(maxParallelism)); belongs != k.KeyGroup && len(s.tally.misplaced) < maxListed {
					s.tally.misplaced = append(s.tally.misplaced, misplacedKey{key.Text, belongs, k.KeyGroup})
				}
			}
		}
		s.tally.take(*k)
		if index := s.reading.question.Index; index != nil {
			index.Add(*k)
		}
	}
}

// typeName is the type of the keys as it is told.
func (r *keyedReading) typeName(s *subtaskKeys) string {
	if s.keyType != flinkmeta.KeyOther {
		return string(s.keyType)
	}
	return s.stream.Header.Key.Class
}

// stateTally counts one state; -1 is not known.
type stateTally struct{ entries, bytes int64 }

func (t *stateTally) add(entries, bytes int64) {
	t.entries, t.bytes = plus(t.entries, entries), plus(t.bytes, bytes)
}

func plus(a, b int64) int64 {
	if a < 0 || b < 0 {
		return -1
	}
	return sum(a, b)
}

type misplacedKey struct {
	text            string
	belongs, stored int32
}

// keyTally counts the keys of a subtask or of an operator.
type keyTally struct {
	unknown   bool // not all keys are in it
	failed    bool // nothing of a subtask could be read
	keys      int64
	open      int64
	states    map[string]*stateTally
	openKeys  []inspect.KeySequence // the first of them …
	otherKeys []inspect.KeySequence // … and of the others
	misplaced []misplacedKey
	reversed  []inspect.KeySequence // completed beyond what was started
}

func (t *keyTally) take(k inspect.KeySequence) {
	to := &t.otherKeys
	if k.IsOpen() {
		t.open++
		to = &t.openKeys
	}
	if len(*to) < inspect.MaxListedKeys {
		*to = append(*to, k)
	}
	m, c := k.MessageSequenceNumber, k.LastCompletedSequenceNumber
	if c != nil && (m == nil || *c > *m) && len(t.reversed) < maxListed {
		t.reversed = append(t.reversed, k)
	}
}

// merge adds the keys of a subtask to those of an operator.
func (t *keyTally) merge(o *keyTally) {
	t.unknown = t.unknown || o.unknown
	t.keys, t.open = t.keys+o.keys, t.open+o.open
	if t.states == nil {
		t.states = map[string]*stateTally{}
	}
	for name, n := range o.states {
		if t.states[name] == nil {
			t.states[name] = &stateTally{}
		}
		t.states[name].add(n.entries, n.bytes)
	}
	t.openKeys = append(t.openKeys, o.openKeys[:min(len(o.openKeys), inspect.MaxListedKeys-len(t.openKeys))]...)
	t.otherKeys = append(t.otherKeys, o.otherKeys[:min(len(o.otherKeys), inspect.MaxListedKeys-len(t.otherKeys))]...)
	t.misplaced = append(t.misplaced, o.misplaced[:min(len(o.misplaced), maxListed-len(t.misplaced))]...)
	t.reversed = append(t.reversed, o.reversed[:min(len(o.reversed), maxListed-len(t.reversed))]...)
}

// of is what is known of a state.
func (t *keyTally) of(name string) (entries, bytes *int64) {
	n := t.states[name]
	if n == nil || t.failed {
		return nil, nil
	}
	if n.entries >= 0 {
		entries = &n.entries
	}
	if n.bytes >= 0 {
		bytes = &n.bytes
	}
	return entries, bytes
}

// listed are the keys that are listed: open ones first, each in the order of
// their key groups.
func (t *keyTally) listed() []inspect.KeySequence {
	out := append([]inspect.KeySequence{}, t.openKeys...)
	out = append(out, t.otherKeys[:min(len(t.otherKeys), inspect.MaxListedKeys-len(out))]...)
	slices.SortStableFunc(out, func(x, y inspect.KeySequence) int {
		return cmp.Or(cmp.Compare(boolInt(!x.IsOpen()), boolInt(!y.IsOpen())), cmp.Compare(x.KeyGroup, y.KeyGroup))
	})
	return out
}
