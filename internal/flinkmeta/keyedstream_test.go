package flinkmeta_test

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/recoverctl/recoverctl/internal/flinkkey"
	"github.com/recoverctl/recoverctl/internal/flinkmeta"
	"github.com/recoverctl/recoverctl/internal/testkit/flinkcases"
)

// sequences are the keys of one operator's keyed state with their sequence
// numbers, in the order of expected.json.
func sequences(t *testing.T, caseName, dir string, o *flinkmeta.Operator) []flinkcases.KeyedSequences {
	t.Helper()
	found := map[string]*flinkcases.KeyedSequences{}
	for i := range o.Subtasks {
		sub := &o.Subtasks[i]
		if sub.ManagedKeyed == nil || sub.ManagedKeyed.KeyGroups == nil {
			continue
		}
		stream := sub.ManagedKeyed.KeyGroups.Stream.Leaf()
		data := stream.Data
		if stream.Kind == flinkmeta.RelativeStream {
			data = flinkcases.Read(t, caseName, path.Join(dir, stream.Path))
		}
		s, err := flinkmeta.OpenKeyedStream(bytes.NewReader(data), int64(len(data)), sub.ManagedKeyed, o.MaxParallelism)
		if err != nil {
			t.Fatal(err)
		}
		keyType := flinkmeta.KeyTypeOf(s.Header.Key)
		groups := s.Groups(flinkmeta.KeyedVisitor{
			Values: func(state *flinkmeta.StateInfo) bool { return strings.HasSuffix(state.Name, "SequenceNumber") },
			Entry: func(e flinkmeta.KeyedEntry) error {
				key, err := flinkmeta.DecodeKey(keyType, e.Key)
				if err != nil {
					return err
				}
				if got := flinkkey.Group(key.Hash, int(o.MaxParallelism)); got != e.KeyGroup {
					t.Errorf("key %s hashes to key group %d, it is in %d", key.Text, got, e.KeyGroup)
				}
				k := found[key.Text]
				if k == nil {
					kind := map[flinkmeta.KeyType]string{flinkmeta.KeyString: "String", flinkmeta.KeyLong: "Long", flinkmeta.KeyInt: "Integer"}[keyType]
					k = &flinkcases.KeyedSequences{KeyType: kind, Key: key.Text, KeyGroup: int(e.KeyGroup), Subtask: int(sub.Index)}
					found[key.Text] = k
				}
				switch s.Header.States[e.State].Name {
				case "messageSequenceNumber":
					n := int64(binary.BigEndian.Uint64(e.Value))
					k.MessageSequenceNumber = &n
				case "lastCompletedSequenceNumber":
					n := int64(binary.BigEndian.Uint64(e.Value))
					k.LastCompletedSequenceNumber = &n
				}
				return nil
			},
		})
		for content, err := range groups {
			if err != nil {
				t.Fatal(err)
			}
			if content.Ambiguous {
				t.Errorf("%s/%s: subtask %d, key group %d is ambiguous", caseName, dir, sub.Index, content.KeyGroup)
			}
		}
	}
	var all []flinkcases.KeyedSequences
	for _, k := range found {
		all = append(all, *k)
	}
	return all
}

// The per-key sequence numbers of every canonical savepoint and heap checkpoint
// are those that Flink's State Processor API reads, in-flight tasks between them
// or not.
func TestKeyedSequencesAreThoseThatFlinkReads(t *testing.T) {
	compared := 0
	for _, name := range flinkcases.Names(t) {
		for _, snapshot := range flinkcases.Load(t, name).Snapshots {
			md, err := flinkmeta.Decode(flinkcases.Metadata(t, name, snapshot))
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range snapshot.Operators {
				if len(want.KeyedSequences) == 0 {
					continue
				}
				at := slices.IndexFunc(md.Operators, func(o flinkmeta.Operator) bool { return o.ID.String() == want.ID })
				if md.Operators[at].Subtasks[0].ManagedKeyed.KeyGroups == nil {
					continue // RocksDB files
				}
				got := sequences(t, name, snapshot.Path, &md.Operators[at])
				order := func(x, y flinkcases.KeyedSequences) int {
					return cmp.Or(cmp.Compare(x.KeyGroup, y.KeyGroup), cmp.Compare(x.Key, y.Key))
				}
				slices.SortFunc(got, order)
				expected := slices.SortedFunc(slices.Values(want.KeyedSequences), order)
				if !slices.EqualFunc(got, expected, func(x, y flinkcases.KeyedSequences) bool { return show(x) == show(y) }) {
					t.Errorf("%s/%s:\n got %v\nwant %v", name, snapshot.Path, showAll(got), showAll(expected))
				}
				compared++
			}
		}
	}
	if compared != 19 {
		t.Errorf("%d snapshots with readable keyed sequences were compared, want 19", compared)
	}
}

func show(k flinkcases.KeyedSequences) string {
	text := func(n *int64) string {
		if n == nil {
			return "none"
		}
		return fmt.Sprint(*n)
	}
	return fmt.Sprintf("%s %q in %d of %d: %s, %s", k.KeyType, k.Key, k.KeyGroup, k.Subtask, text(k.MessageSequenceNumber), text(k.LastCompletedSequenceNumber))
}

func showAll(all []flinkcases.KeyedSequences) []string {
	out := make([]string, len(all))
	for i, k := range all {
		out[i] = show(k)
	}
	return out
}

// The example of the reference: key group 19, one state, key "k1" with 5.
func TestOneKeyInEachLayout(t *testing.T) {
	for _, layout := range []flinkmeta.KeyedLayout{flinkmeta.CanonicalLayout, flinkmeta.HeapLayout} {
		b := flinkmeta.NewKeyedStreamBuilder(layout, false, flinkmeta.KeyGroupRange{Start: 19, Count: 1}, 128, flinkmeta.StringSerializer())
		b.Put(19, b.State(flinkmeta.KeyedValueState("n", flinkmeta.LongSerializer())), []byte("\x03k1"), binary.BigEndian.AppendUint64(nil, 5))
		data, offsets, err := b.Build()
		if err != nil {
			t.Fatal(err)
		}
		want := unhex(t, "0000 00000005 93036b3100 00000008 0000000000000005 ffff")
		if layout == flinkmeta.HeapLayout {
			want = unhex(t, "00000013 0000 00000001 00 036b31 0000000000000005")
		}
		if got := data[offsets[0]:]; !bytes.Equal(got, want) {
			t.Errorf("layout %d: % x, want % x", layout, got, want)
		}
	}
}

// agentStream is a keyed state stream as an agent operator has it: two sequence
// numbers and a list whose elements only Kryo understands.
func agentStream(tb testing.TB, layout flinkmeta.KeyedLayout, compressed bool, keys []string, taskBytes int) ([]byte, *flinkmeta.KeyedState) {
	tb.Helper()
	groups := flinkmeta.KeyGroupRange{Start: 0, Count: 128}
	b := flinkmeta.NewKeyedStreamBuilder(layout, compressed, groups, 128, flinkmeta.StringSerializer())
	message := b.State(flinkmeta.KeyedValueState("messageSequenceNumber", flinkmeta.LongSerializer()))
	tasks := b.State(flinkmeta.KeyedListState("actionTasks", flinkmeta.KryoSerializer()))
	completed := b.State(flinkmeta.KeyedValueState("lastCompletedSequenceNumber", flinkmeta.LongSerializer()))
	for i, key := range keys {
		stored := append([]byte{byte(len(key) + 1)}, key...)
		decoded, err := flinkmeta.DecodeKey(flinkmeta.KeyString, stored)
		if err != nil {
			tb.Fatal(err)
		}
		group := flinkkey.Group(decoded.Hash, 128)
		b.Put(group, message, stored, binary.BigEndian.AppendUint64(nil, uint64(i+1)))
		if i%2 == 0 {
			b.Put(group, completed, stored, binary.BigEndian.AppendUint64(nil, uint64(i)))
		}
		if taskBytes > 0 {
			task := append([]byte("\x01\x00org.example.Tas\xeb\x01"), bytes.Repeat([]byte{0x41}, taskBytes)...)
			list := append(append(append([]byte{}, task...), ','), task...)
			if layout == flinkmeta.HeapLayout {
				list = append(append([]byte{0, 0, 0, 2}, task...), task...)
			}
			b.Put(group, tasks, stored, list)
		}
	}
	data, offsets, err := b.Build()
	if err != nil {
		tb.Fatal(err)
	}
	kind := flinkmeta.KeyGroupsSavepoint
	if layout == flinkmeta.HeapLayout {
		kind = flinkmeta.KeyGroupsV2
	}
	return data, &flinkmeta.KeyedState{Kind: kind, Range: groups, KeyGroups: &flinkmeta.KeyGroups{Offsets: offsets}}
}

// counting is a source that knows how much was read of it.
type counting struct {
	*bytes.Reader
	read int
}

func (c *counting) ReadAt(b []byte, at int64) (int, error) {
	n, err := c.Reader.ReadAt(b, at)
	c.read += n
	return n, err
}

// walkKeyed reads all of a stream and returns entries by state name, list elements,
// and the first error of any key group.
func walkKeyed(data []byte, handle *flinkmeta.KeyedState) (entries map[string]int64, elements int64, ambiguous int, err error) {
	s, err := flinkmeta.OpenKeyedStream(bytes.NewReader(data), int64(len(data)), handle, 128)
	if err != nil {
		return nil, 0, 0, err
	}
	entries = map[string]int64{}
	v := flinkmeta.KeyedVisitor{Entry: func(e flinkmeta.KeyedEntry) error {
		elements += max(e.Elements, 0)
		return nil
	}}
	for content, wrong := range s.Groups(v) {
		if wrong != nil && err == nil {
			err = wrong
		}
		if content.Ambiguous {
			ambiguous++
		}
		for i, n := range content.Entries {
			if n > 0 {
				entries[s.Header.States[i].Name] += n
			}
		}
	}
	return entries, elements, ambiguous, err
}

func TestEveryLayoutTellsTheSameKeys(t *testing.T) {
	keys := []string{"alice", "bob", "carol", "dora", "erin", "frank", "a,b", ""}
	for _, compressed := range []bool{false, true} {
		for _, layout := range []flinkmeta.KeyedLayout{flinkmeta.CanonicalLayout, flinkmeta.HeapLayout} {
			data, handle := agentStream(t, layout, compressed, keys, 200)
			entries, elements, ambiguous, err := walkKeyed(data, handle)
			if err != nil || ambiguous > 0 {
				t.Fatalf("layout %d, compressed %v: %d ambiguous, %v", layout, compressed, ambiguous, err)
			}
			if entries["messageSequenceNumber"] != 8 || entries["lastCompletedSequenceNumber"] != 4 || entries["actionTasks"] != 8 || elements != 16 {
				t.Errorf("layout %d, compressed %v: %v with %d tasks", layout, compressed, entries, elements)
			}
			if len(data) == 0 {
				t.Fatal("nothing was built")
			}
		}
	}
}

// Values that nobody asked for are not read: a savepoint may have 50 GB of them.
func TestValuesThatAreNotWantedAreNotRead(t *testing.T) {
	data, handle := agentStream(t, flinkmeta.CanonicalLayout, false, []string{"alice", "bob"}, 4<<20)
	src := &counting{Reader: bytes.NewReader(data)}
	s, err := flinkmeta.OpenKeyedStream(src, int64(len(data)), handle, 128)
	if err != nil {
		t.Fatal(err)
	}
	keys := 0
	for _, err := range s.Groups(flinkmeta.KeyedVisitor{Entry: func(flinkmeta.KeyedEntry) error { keys++; return nil }}) {
		if err != nil {
			t.Fatal(err)
		}
	}
	if keys != 5 || src.read > len(data)/8 {
		t.Errorf("%d entries by reading %d of %d bytes", keys, src.read, len(data))
	}
}

func TestDamagedKeyedState(t *testing.T) {
	keys := []string{"alice", "bob", "carol"}
	const last = 116 // alice's key group
	tests := map[string]struct {
		layout flinkmeta.KeyedLayout
		check  string
		says   string
		change func(data []byte, offset int64) []byte
	}{
		"header of another version": {flinkmeta.CanonicalLayout, "K1", "version 7 is not supported", func(b []byte, _ int64) []byte { b[3] = 7; return b }},
		"another key group":         {flinkmeta.HeapLayout, "K2", "key group 116: found 117 at its offset", func(b []byte, at int64) []byte { b[at+3]++; return b }},
		"a number too many":         {flinkmeta.HeapLayout, "K3", "undecoded bytes", func(b []byte, at int64) []byte { b[at+9]++; return b }},
		"bytes too many":            {flinkmeta.HeapLayout, "K3", "key group 116 has 1 undecoded bytes", func(b []byte, _ int64) []byte { return append(b, 0) }},
		"an entry of another group": {flinkmeta.CanonicalLayout, "K4", "key group 116: entry of key group 117", func(b []byte, at int64) []byte { b[at+6]++; return b }},
		"a state that is not there": {flinkmeta.CanonicalLayout, "K4", "unknown state id 256", func(b []byte, at int64) []byte { b[at]++; return b }},
		"a length that lies":        {flinkmeta.CanonicalLayout, "K4", "2130706440 bytes are needed", func(b []byte, at int64) []byte { b[at+2] = 0x7f; return b }},
		"a negative length":         {flinkmeta.CanonicalLayout, "K4", "-2147483640 bytes are needed", func(b []byte, at int64) []byte { b[at+2] = 0x80; return b }},
		"no end mark":               {flinkmeta.CanonicalLayout, "K4", "2 bytes are needed, 1 are left", func(b []byte, _ int64) []byte { return b[:len(b)-1] }},
		"bytes behind the end":      {flinkmeta.CanonicalLayout, "K4", "1 bytes are left behind its end mark", func(b []byte, _ int64) []byte { return append(b, 0) }},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			data, handle := agentStream(t, tt.layout, false, keys, 0)
			offset := handle.KeyGroups.Offsets[last]
			if tt.layout == flinkmeta.HeapLayout { // alice's key group is the last one
				handle.KeyGroups.Offsets = handle.KeyGroups.Offsets[:last+1]
				handle.Range.Count = last + 1
				s, err := flinkmeta.OpenKeyedStream(bytes.NewReader(data), int64(len(data)), handle, 128)
				if err != nil || s.Layout != flinkmeta.HeapLayout {
					t.Fatalf("%v", err)
				}
				full, all := agentStream(t, tt.layout, false, keys, 0)
				data = full[:all.KeyGroups.Offsets[last+1]]
			}
			_, _, _, err := walkKeyed(tt.change(bytes.Clone(data), offset), handle)
			var wrong *flinkmeta.Error
			if !errors.As(err, &wrong) || wrong.Check != tt.check || !strings.Contains(wrong.Message, tt.says) {
				t.Errorf("%v, want %s that says %q", err, tt.check, tt.says)
			}
		})
	}
	data, handle := agentStream(t, flinkmeta.CanonicalLayout, true, keys, 300)
	data[len(data)-1] ^= 1
	var wrong *flinkmeta.Error
	if _, _, _, err := walkKeyed(data, handle); !errors.As(err, &wrong) || wrong.Check != flinkmeta.CheckChecksum {
		t.Errorf("a flipped byte of a compressed key group: %v", err)
	}
	handle.KeyGroups.Offsets[last] = 1 << 40
	if _, _, _, err := walkKeyed(data, handle); !errors.As(err, &wrong) || wrong.Check != flinkmeta.CheckOffset {
		t.Errorf("an offset outside: %v", err)
	}
}

// An error of the source is not taken for damage, and ends the walk.
func TestErrorsOfTheSourceAreItsOwn(t *testing.T) {
	data, handle := agentStream(t, flinkmeta.CanonicalLayout, false, []string{"alice", "bob"}, 0)
	broken := &flaky{data: data, until: handle.KeyGroups.Offsets[87]} // bob's key group
	s, err := flinkmeta.OpenKeyedStream(broken, int64(len(data)), handle, 128)
	if err != nil {
		t.Fatal(err)
	}
	broken.fails = true
	steps := 0
	for _, err := range s.Groups(flinkmeta.KeyedVisitor{}) {
		steps++
		if !errors.Is(err, errFlaky) {
			t.Errorf("%v, want the source's error", err)
		}
	}
	if steps != 1 {
		t.Errorf("the walk went on: %d steps", steps)
	}
}

var errFlaky = errors.New("the store does not answer")

type flaky struct {
	data  []byte
	until int64
	fails bool
}

func (f *flaky) ReadAt(b []byte, at int64) (int, error) {
	if f.fails && at >= f.until {
		return 0, errFlaky
	}
	return bytes.NewReader(f.data).ReadAt(b, at)
}

func FuzzKeyedStream(f *testing.F) {
	for _, layout := range []flinkmeta.KeyedLayout{flinkmeta.CanonicalLayout, flinkmeta.HeapLayout} {
		for _, compressed := range []bool{false, true} {
			data, handle := agentStream(f, layout, compressed, []string{"alice", "bob"}, 30)
			at := handle.KeyGroups.Offsets[116]
			f.Add(data, at, layout == flinkmeta.HeapLayout)
			f.Add(data[:len(data)/2], at, layout == flinkmeta.HeapLayout)
		}
	}
	for _, name := range []string{"agent-text-hashmap", "agent-long-rocksdb"} {
		for _, snapshot := range flinkcases.Load(f, name).Snapshots {
			md, err := flinkmeta.Decode(flinkcases.Metadata(f, name, snapshot))
			if err != nil {
				f.Fatal(err)
			}
			for _, o := range md.Operators {
				for _, t := range o.Subtasks {
					if k := t.ManagedKeyed; k != nil && k.KeyGroups != nil && k.KeyGroups.Stream.Leaf().Kind == flinkmeta.InlineStream {
						offsets := k.KeyGroups.Offsets
						f.Add(k.KeyGroups.Stream.Leaf().Data, offsets[len(offsets)-1], k.Kind == flinkmeta.KeyGroupsV2)
					}
				}
			}
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, offset int64, heap bool) {
		kind := flinkmeta.KeyGroupsSavepoint
		if heap {
			kind = flinkmeta.KeyGroupsV2
		}
		handle := &flinkmeta.KeyedState{Kind: kind, Range: flinkmeta.KeyGroupRange{Start: 116, Count: 1}, KeyGroups: &flinkmeta.KeyGroups{Offsets: []int64{offset}}}
		entries, _, _, err := walkKeyed(data, handle)
		var wrong *flinkmeta.Error
		if err != nil && (!errors.As(err, &wrong) || wrong.Message == "") {
			t.Fatalf("not an *Error: %v", err)
		}
		for name, n := range entries {
			if n > int64(len(data)) && !heap {
				t.Fatalf("%d entries of %q in %d bytes", n, name, len(data))
			}
		}
		for _, keyType := range []flinkmeta.KeyType{flinkmeta.KeyString, flinkmeta.KeyLong, flinkmeta.KeyInt} {
			if key, err := flinkmeta.DecodeKey(keyType, data); err == nil && flinkkey.Group(key.Hash, 128) > 127 {
				t.Fatalf("key %q is in no key group", key.Text)
			}
		}
	})
}
