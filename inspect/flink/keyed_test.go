package flink_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/inspect/flink"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/flinkkey"
	"github.com/recoverctl/recoverctl/internal/flinkmeta"
	"github.com/recoverctl/recoverctl/internal/testkit/flinkcases"
)

// javaType is how expected.json names the type of a key.
func javaType(kind string) string {
	return map[string]string{"string": "String", "long": "Long", "int": "Integer"}[kind]
}

// Every key with its sequence numbers, key group and subtask, as the State
// Processor API reads them; the keys with an unfinished run, as Flink restores
// them. Of RocksDB's files the states are named and nothing else is said.
func TestKeyedStateAsFlinkReadsIt(t *testing.T) {
	decoded, files := 0, 0
	for _, name := range flinkcases.Names(t) {
		dir, store := open(t, name)
		for _, want := range flinkcases.Load(t, name).Snapshots {
			p, err := store.Point(context.Background(), filepath.Join(dir, filepath.FromSlash(want.Path)))
			if err != nil {
				t.Fatal(err)
			}
			for _, op := range want.Operators {
				got := p.Operators[slices.IndexFunc(p.Operators, func(o inspect.Operator) bool { return o.ID == op.ID })]
				where := name + "/" + want.Path + " operator " + op.ID
				compareProcessing(t, where, op, got)
				keyed := slices.ContainsFunc(op.Subtasks, func(s flinkcases.Subtask) bool { return s.ManagedKeyedState != nil })
				if keyed != (got.Keyed != nil) {
					t.Errorf("%s: keyed state %v, want %v", where, got.Keyed, keyed)
				}
				if !keyed {
					continue
				}
				if at := slices.IndexFunc(op.Subtasks, func(s flinkcases.Subtask) bool {
					return s.ManagedKeyedState != nil && s.ManagedKeyedState.Handle == "IncrementalRemoteKeyedStateHandle"
				}); at >= 0 {
					files++
					compareNotDecoded(t, where, p, got.Keyed)
					continue
				}
				decoded++
				compareSequences(t, where, op, got.Keyed)
			}
		}
	}
	if decoded < 19 || files < 3 {
		t.Errorf("%d operators with decoded keyed state, %d with files", decoded, files)
	}
}

func compareProcessing(t *testing.T, where string, want flinkcases.Operator, got inspect.Operator) {
	t.Helper()
	var expected, found []string
	for _, s := range want.Subtasks {
		for _, key := range s.CurrentProcessingKeys.List {
			expected = append(expected, fmt.Sprintf("%d %s", s.Index, key))
		}
	}
	for _, k := range got.Processing {
		if k.Text == nil {
			t.Errorf("%s: %+v", where, k)
			continue
		}
		found = append(found, fmt.Sprintf("%d %s:%s", k.Subtask, javaType(k.Type), *k.Text))
	}
	if !slices.Equal(found, expected) {
		t.Errorf("%s: processing %v, want %v", where, found, expected)
	}
}

func compareNotDecoded(t *testing.T, where string, p inspect.RecoveryPoint, got *inspect.KeyedState) {
	t.Helper()
	if got.Backend != inspect.BackendFiles || got.Decoded != inspect.DecodedHeader || got.Keys != nil || len(got.States) == 0 || got.KeyType == "" {
		t.Errorf("%s: %+v", where, got)
	}
	if c := check(t, p, "K7"); !strings.Contains(c.Message, "RocksDB and ForSt files are not decoded") || c.Severity != inspect.SeverityInfo {
		t.Errorf("%s: %+v", where, c)
	}
}

func compareSequences(t *testing.T, where string, want flinkcases.Operator, got *inspect.KeyedState) {
	t.Helper()
	if got.Decoded != inspect.DecodedAll || got.Why != "" || got.Keys == nil {
		t.Errorf("%s: %+v", where, got)
		return
	}
	if len(want.KeyedSequences) == 0 {
		return // expected.json has them of agents only
	}
	show := func(kind, key string, group, subtask int, message, completed *int64) string {
		text := func(n *int64) string {
			if n == nil {
				return "none"
			}
			return fmt.Sprint(*n)
		}
		return fmt.Sprintf("%05d %s %s of %d: %s, %s", group, kind, key, subtask, text(message), text(completed))
	}
	var expected, found []string
	for _, k := range want.KeyedSequences {
		expected = append(expected, show(k.KeyType, k.Key, k.KeyGroup, k.Subtask, k.MessageSequenceNumber, k.LastCompletedSequenceNumber))
	}
	open := int64(0)
	for _, k := range got.Sequences {
		found = append(found, show(javaType(k.Type), *k.Key.Text, int(k.KeyGroup), k.Subtask, k.MessageSequenceNumber, k.LastCompletedSequenceNumber))
		typed, err := flinkkey.New(k.Type, *k.Key.Text)
		if err != nil || typed.Digest() != k.Key.Digest {
			t.Errorf("%s: key %s has digest %s: %v", where, *k.Key.Text, k.Key.Digest, err)
		}
		if k.IsOpen() {
			open++
		}
	}
	slices.Sort(expected)
	slices.Sort(found)
	if !slices.Equal(found, expected) || *got.Keys != int64(len(expected)) || got.Open == nil || *got.Open != open {
		t.Errorf("%s: %d keys\n got %v\nwant %v", where, *got.Keys, found, expected)
	}
}

// A job without an action state store, or of a release before 0.3, keeps no
// lastCompletedSequenceNumber: nothing says then that a sequence is open.
func TestWhereNoCompletedSequenceIsKeptNoneIsOpen(t *testing.T) {
	for name, kept := range map[string]bool{"versioned-p2": false, "agent-text-hashmap": true} {
		dir, store := open(t, name)
		for _, s := range flinkcases.Load(t, name).Snapshots {
			p, err := store.Point(context.Background(), filepath.Join(dir, filepath.FromSlash(s.Path)))
			if err != nil {
				t.Fatal(err)
			}
			agent := p.Operators[slices.IndexFunc(p.Operators, func(o inspect.Operator) bool { return o.Name == "action-execute-operator" })]
			k := agent.Keyed
			said := strings.Contains(strings.Join(k.Facts(), "\n"), "which of their sequences are completed is not kept")
			if k.KeepsCompleted() != kept || (k.Open != nil) != kept || said == kept || len(k.Sequences) == 0 {
				t.Errorf("%s/%s: keeps completed %t, open %v, said %t", name, s.Path, k.KeepsCompleted(), k.Open, said)
			}
			for _, c := range p.Checks {
				if c.ID == "K6" && !kept {
					t.Errorf("%s/%s: %+v", name, s.Path, c)
				}
			}
			none := map[bool]string{true: "none", false: ""}[kept]
			for _, key := range k.Sequences {
				if key.LastCompletedSequenceNumber == nil && k.CompletedText(key) != none {
					t.Errorf("%s/%s: key %s: %q", name, s.Path, key.Shown(), k.CompletedText(key))
				}
			}
		}
	}
}

// A savepoint that was taken while calls were in flight keeps their tasks: how
// many, and how large.
func TestTasksInFlightAreCounted(t *testing.T) {
	dir, store := open(t, "agent-text-hashmap")
	for _, path := range []string{"a96bf37f5ce266a12f0cbdd1bd7873fc/chk-1", "a96bf37f5ce266a12f0cbdd1bd7873fc/chk-7"} {
		p, err := store.Point(context.Background(), filepath.Join(dir, filepath.FromSlash(path)))
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range p.Operators {
			if o.Name != "action-execute-operator" {
				continue
			}
			busy := map[string]bool{}
			for _, k := range o.Processing {
				busy[*k.Text] = true
			}
			for _, k := range o.Keyed.Sequences {
				if has := k.ActionTasks != nil; has != busy[*k.Key.Text] {
					t.Errorf("%s: key %s has tasks %+v, and is processed: %v", path, *k.Key.Text, k.ActionTasks, busy[*k.Key.Text])
				} else if has && (k.ActionTasks.Elements == nil || *k.ActionTasks.Elements < 1 || k.ActionTasks.Bytes == nil || *k.ActionTasks.Bytes < 300) {
					t.Errorf("%s: key %s: %v tasks of %v bytes", path, *k.Key.Text, *k.ActionTasks.Elements, *k.ActionTasks.Bytes)
				}
			}
		}
	}
}

func TestKeysOfAPointAreFoundByTheirDigests(t *testing.T) {
	dir, store := open(t, "agent-text-hashmap")
	index := inspect.NewKeyIndex()
	const chk = "a96bf37f5ce266a12f0cbdd1bd7873fc/chk-1"
	if _, err := store.ReadPoint(context.Background(), filepath.Join(dir, filepath.FromSlash(chk)), inspect.PointQuestion{Index: index}, nil); err != nil {
		t.Fatal(err)
	}
	if index.Len() != 6 || index.Full() {
		t.Errorf("%d keys", index.Len())
	}
	for _, name := range []string{"alice", "東京", "größe"} {
		key, err := flinkkey.New("string", name)
		if err != nil {
			t.Fatal(err)
		}
		if got, known := index.KeyText(key.Digest()); !known || got != name {
			t.Errorf("%s: %q, %v", name, got, known)
		}
	}
	zoe, err := flinkkey.New("string", "zoe")
	if err != nil {
		t.Fatal(err)
	}
	if _, known := index.KeyText(zoe.Digest()); known {
		t.Error("a key that no state has is known")
	}
}

// agentPoint writes a checkpoint whose agent operator keeps the keys.
func agentPoint(t *testing.T, layout flinkmeta.KeyedLayout, keys []storedKey, change func([]byte, []int64) []byte) string {
	t.Helper()
	b := flinkmeta.NewKeyedStreamBuilder(layout, false, flinkmeta.KeyGroupRange{Count: 128}, 128, flinkmeta.StringSerializer())
	message := b.State(flinkmeta.KeyedValueState("messageSequenceNumber", flinkmeta.LongSerializer()))
	completed := b.State(flinkmeta.KeyedValueState("lastCompletedSequenceNumber", flinkmeta.LongSerializer()))
	for _, k := range keys {
		stored := append([]byte{byte(len(k.text) + 1)}, k.text...)
		group := flinkkey.Group(flinkkey.JavaHash(k.text), 128) ^ k.astray
		b.Put(group, message, stored, binary.BigEndian.AppendUint64(nil, uint64(k.message)))
		b.Put(group, completed, stored, binary.BigEndian.AppendUint64(nil, uint64(k.completed)))
	}
	data, offsets, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	kind := flinkmeta.KeyGroupsSavepoint
	if layout == flinkmeta.HeapLayout {
		kind = flinkmeta.KeyGroupsV2
	}
	if change != nil {
		data = change(data, offsets)
	}
	stream, states, err := flinkmeta.NewOperatorStreamBuilder(6, false).
		Add(flinkmeta.ListState("currentProcessingKeys", flinkmeta.Union, flinkmeta.KryoSerializer())).Build()
	if err != nil {
		t.Fatal(err)
	}
	md, err := flinkmeta.Encode(&flinkmeta.Metadata{Version: 6, CheckpointID: 2, Properties: flinkmeta.CheckpointProperties(), Operators: []flinkmeta.Operator{{
		Name: "action-execute-operator", UID: "agent", Parallelism: 1, MaxParallelism: 128, Subtasks: []flinkmeta.Subtask{{
			ManagedOperator: &flinkmeta.OperatorState{States: states, Stream: &flinkmeta.Stream{Kind: flinkmeta.InlineStream, Path: "file:/x", Data: stream}},
			ManagedKeyed: &flinkmeta.KeyedState{Kind: kind, Range: flinkmeta.KeyGroupRange{Count: 128}, KeyGroups: &flinkmeta.KeyGroups{Offsets: offsets,
				Stream: &flinkmeta.Stream{Kind: flinkmeta.RelativeStream, Path: "state", Size: int64(len(data))}}},
		}},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(write(t, map[string][]byte{"chk-2/_metadata": md, "chk-2/state": data, "chk-2/left-over": []byte("abc")}), "chk-2")
}

type storedKey struct {
	text               string
	message, completed int64
	astray             int32 // changes the key group that it is put into
}

func TestChecksOfKeyedState(t *testing.T) {
	sound := []storedKey{{text: "alice", message: 3, completed: 3}, {text: "bob", message: 4, completed: 3}}
	tests := map[string]struct {
		check, says string
		severity    inspect.Severity
		layout      flinkmeta.KeyedLayout
		keys        []storedKey
		change      func([]byte, []int64) []byte
	}{
		"another stream version": {"K1", "keyed state version 7 is not supported", inspect.SeverityError, flinkmeta.CanonicalLayout, sound,
			func(b []byte, _ []int64) []byte { b[3] = 7; return b }},
		"another key group's number": {"K2", "key group 116: found 117", inspect.SeverityError, flinkmeta.HeapLayout, sound,
			func(b []byte, at []int64) []byte { b[at[116]+3]++; return b }},
		"a key too many": {"K3", "key group 116 has", inspect.SeverityError, flinkmeta.HeapLayout, sound,
			func(b []byte, at []int64) []byte { b[at[116]+9]++; return b }},
		"an entry of another key group": {"K4", "key group 116: entry of key group 118", inspect.SeverityError, flinkmeta.CanonicalLayout, sound,
			func(b []byte, at []int64) []byte { b[at[116]+6] ^= 2; return b }},
		"a key in the wrong group": {"K5", `key "carol" belongs to key group`, inspect.SeverityError, flinkmeta.CanonicalLayout,
			[]storedKey{{text: "carol", message: 1, completed: 1, astray: 1}}, nil},
		"a flipped byte of a key": {"K5", "non-deterministic key hash", inspect.SeverityError, flinkmeta.HeapLayout, sound,
			func(b []byte, at []int64) []byte { b[at[116]+12] ^= 1; return b }},
		"completed before it was started": {"K6", `key "alice": completed 4, started 3`, inspect.SeverityError, flinkmeta.HeapLayout,
			[]storedKey{{text: "alice", message: 3, completed: 4}}, nil},
		"a run in flight": {"K6", "of 2 keys, 1 has a sequence that was started and is not completed", inspect.SeverityInfo, flinkmeta.CanonicalLayout, sound, nil},
		"a state of the V2 API": {"V5", "uses the state V2 API: written by Flink 2.0 or later", inspect.SeverityInfo, flinkmeta.CanonicalLayout, sound,
			func(b []byte, _ []int64) []byte {
				name := []byte("messageSequenceNumber") // its type follows
				b[bytes.Index(b, name)+len(name)+3] = 4
				return b
			}},
		"a file too many": {"F8", "1 file in the snapshot's folder that nothing references (3 B)", inspect.SeverityInfo, flinkmeta.CanonicalLayout, sound, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			p, err := newStore(t, flink.Options{}).Point(context.Background(), agentPoint(t, tt.layout, tt.keys, tt.change))
			if err != nil {
				t.Fatal(err)
			}
			found := slices.ContainsFunc(p.Checks, func(c inspect.Check) bool {
				return c.ID == tt.check && c.Severity == tt.severity && strings.Contains(c.Message, tt.says)
			})
			if !found {
				t.Errorf("no %s %s that says %q in %+v", tt.check, tt.severity, tt.says, p.Checks)
			}
			keyed := p.Operators[0].Keyed
			if damaged := strings.ContainsAny(tt.check, "1234") && tt.check[0] == 'K'; damaged && (keyed.Keys != nil || keyed.Decoded == inspect.DecodedAll || keyed.Why == "") {
				t.Errorf("numbers of damaged state: %+v", keyed)
			}
			if u := p.Files.Unreferenced; u == nil || u.Files != 1 || u.Bytes != 3 || len(u.List) != 1 || !strings.HasSuffix(u.List[0].URI, "/left-over") {
				t.Errorf("unreferenced: %+v", u)
			}
		})
	}
}

// Large keyed state is described without being read, and read when all keys are
// asked for.
func TestLargeKeyedStateIsReadWhenAskedFor(t *testing.T) {
	var keys []storedKey
	for i := range 18_000 {
		keys = append(keys, storedKey{text: fmt.Sprintf("%s-%06d", strings.Repeat("customer", 12), i), message: int64(i), completed: int64(i)})
	}
	keys[77].completed--
	uri := agentPoint(t, flinkmeta.CanonicalLayout, keys, nil)
	store := newStore(t, flink.Options{})
	p, err := store.Point(context.Background(), uri)
	if err != nil {
		t.Fatal(err)
	}
	if k := p.Operators[0].Keyed; k.Decoded != inspect.DecodedHeader || k.Keys != nil || len(k.Sequences) != 0 || len(k.States) != 2 || k.KeyType != "string" {
		t.Errorf("%+v", k)
	}
	if c := check(t, p, "K7"); !strings.Contains(c.Hint, "--keys") {
		t.Errorf("%+v", c)
	}
	index := inspect.NewKeyIndex()
	var last inspect.PointProgress
	p, err = store.ReadPoint(context.Background(), uri, inspect.PointQuestion{Keys: true, Index: index}, func(p inspect.PointProgress) { last = p })
	if err != nil {
		t.Fatal(err)
	}
	k := p.Operators[0].Keyed
	if k.Decoded != inspect.DecodedAll || *k.Keys != 18_000 || *k.Open != 1 || len(k.Sequences) != 1000 || !strings.HasSuffix(*k.Sequences[0].Key.Text, "-000077") {
		t.Errorf("%+v", k)
	}
	if index.Len() != 18_000 {
		t.Errorf("%d keys in the index", index.Len())
	}
	if last.BytesTotal != k.Bytes || last.FilesTotal != 1 {
		t.Errorf("progress %+v of %d bytes", last, k.Bytes)
	}
	ctx, cancel := context.WithCancel(context.Background())
	_, err = store.ReadPoint(ctx, uri, inspect.PointQuestion{Keys: true}, func(inspect.PointProgress) { cancel() })
	if fault.KindOf(err) != fault.Cancelled {
		t.Errorf("cancelled while it was read: %v", err)
	}
}

// One referenced file is deleted, one byte is flipped, a checkpoint is copied
// elsewhere: each is found and named.
func TestWhatHappensToFilesIsFound(t *testing.T) {
	const name = "agent-long-rocksdb"
	const job = "125578a7fb5317fa3e0dd4b78a5095e4"
	load := func(t *testing.T, dir, path string) inspect.RecoveryPoint {
		t.Helper()
		store := newStore(t, flink.Options{Mappings: []flink.Mapping{{From: flinkcases.RecordedRoot + name, To: dir}}})
		p, err := store.Point(context.Background(), filepath.Join(dir, path))
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	t.Run("a shared file is deleted", func(t *testing.T) {
		dir := flinkcases.Copy(t, name)
		p := load(t, dir, job+"/chk-2")
		victim := ""
		md, err := flinkmeta.Decode(flinkcases.Read(t, name, job+"/chk-2/_metadata"))
		if err != nil {
			t.Fatal(err)
		}
		for ref := range md.Streams() {
			if ref.Stream.Kind == flinkmeta.FileStream {
				victim = filepath.Base(ref.Stream.Path)
			}
		}
		if len(p.Files.Missing) != 0 || victim == "" {
			t.Fatalf("missing before: %v", p.Files.Missing)
		}
		deleteFile(t, filepath.Join(dir, job, "shared", victim))
		p = load(t, dir, job+"/chk-2")
		if c := check(t, p, "F2"); c.Severity != inspect.SeverityError || !strings.Contains(c.Message, victim) || len(p.Files.Missing) != 1 || !strings.HasSuffix(p.Files.Missing[0], victim) {
			t.Errorf("%+v, missing %v", c, p.Files.Missing)
		}
	})
	t.Run("a file of the savepoint is deleted", func(t *testing.T) {
		dir := flinkcases.Copy(t, name)
		victim := "99e747bf-b2b9-44c8-b8ac-bf02decdd7bc"
		deleteFile(t, filepath.Join(dir, "savepoint-125578-988e48816c07", victim))
		p := load(t, dir, "savepoint-125578-988e48816c07")
		if c := check(t, p, "F1"); c.Severity != inspect.SeverityError || !strings.Contains(c.Message, victim) {
			t.Errorf("%+v", c)
		}
	})
	t.Run("a byte of a key group is flipped", func(t *testing.T) {
		dir := flinkcases.Copy(t, name)
		file := filepath.Join(dir, "savepoint-125578-ae050c242990", "16d9d3a4-8b56-4243-b4d2-0a7f33502447")
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		data[bytes.LastIndex(data, []byte{0xff, 0xff})] ^= 1 // of the last end mark
		put(t, file, data)
		p := load(t, dir, "savepoint-125578-ae050c242990")
		if c := check(t, p, "K4"); c.Severity != inspect.SeverityError || !strings.Contains(c.Message, "unknown state id") {
			t.Errorf("%+v", c)
		}
	})
	t.Run("a byte of compressed keyed state is flipped", func(t *testing.T) {
		p := changed(t, "compressed-p2", "", func(md *flinkmeta.Metadata) {
			s := agentOf(md).Subtasks[0].ManagedKeyed.KeyGroups.Stream
			s.Data = bytes.Clone(s.Data)
			s.Data[len(s.Data)-1] ^= 1
		})
		if c := check(t, p, "K4"); c.Severity != inspect.SeverityError || !strings.Contains(c.Message, "checksum error in compressed chunk") {
			t.Errorf("%+v", c)
		}
		if len(p.Markers) == 0 || p.Merged.Kind == inspect.MergedInvalid {
			t.Errorf("the markers are not touched by it: %+v", p.Merged)
		}
	})
	t.Run("a byte of the metadata is flipped", func(t *testing.T) {
		dir := flinkcases.Copy(t, name)
		file := filepath.Join(dir, job, "chk-2", "_metadata")
		data := flinkcases.Read(t, name, job+"/chk-2/_metadata")
		at := bytes.Index(data, []byte("125578a7fb5317fa")) // in a path
		data = bytes.Clone(data)
		data[at] ^= 1
		put(t, file, data)
		p := load(t, dir, job+"/chk-2")
		if c := check(t, p, "F2"); c.Severity != inspect.SeverityError {
			t.Errorf("%+v", c)
		}
	})
	t.Run("a checkpoint is copied elsewhere", func(t *testing.T) {
		dir := flinkcases.Copy(t, name)
		if err := os.CopyFS(filepath.Join(dir, "backup", "chk-99"), os.DirFS(filepath.Join(dir, job, "chk-2"))); err != nil {
			t.Fatal(err)
		}
		p := load(t, dir, "backup/chk-99")
		if c := check(t, p, "M8"); c.Severity != inspect.SeverityWarning || !strings.Contains(c.Message, "chk-99 but the metadata says checkpoint 2") {
			t.Errorf("%+v", c)
		}
	})
}

func deleteFile(t *testing.T, file string) {
	t.Helper()
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
}

func put(t *testing.T, file string, data []byte) {
	t.Helper()
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestStateFilesThatAreNoSet(t *testing.T) {
	rocks := func(change func(*flinkmeta.IncrementalKeys)) func(*flinkmeta.Metadata) {
		return func(md *flinkmeta.Metadata) {
			for i := range md.Operators {
				for j := range md.Operators[i].Subtasks {
					if k := md.Operators[i].Subtasks[j].ManagedKeyed; k != nil && k.Incremental != nil {
						change(k.Incremental)
						return
					}
				}
			}
		}
	}
	named := func(name string) func(flinkmeta.NamedStream) bool {
		return func(f flinkmeta.NamedStream) bool { return strings.HasPrefix(f.Name, name) }
	}
	for says, change := range map[string]func(*flinkmeta.IncrementalKeys){
		"there is no CURRENT":        func(k *flinkmeta.IncrementalKeys) { k.Private = slices.DeleteFunc(k.Private, named("CURRENT")) },
		"0 files are called MANIFES": func(k *flinkmeta.IncrementalKeys) { k.Private = slices.DeleteFunc(k.Private, named("MANIFEST")) },
		"two files are called": func(k *flinkmeta.IncrementalKeys) {
			k.Private = append(k.Private, k.Private[slices.IndexFunc(k.Private, named("CURRENT"))])
		},
	} {
		p := changed(t, "rocksdb-p2", "", rocks(change))
		if c := check(t, p, "K8"); c.Severity != inspect.SeverityError || !strings.Contains(c.Message, says) {
			t.Errorf("%+v, want %s", c, says)
		}
	}
}

// A changelog's keys are not decoded, and that is said.
func TestChangelogIsNotDecoded(t *testing.T) {
	p := changed(t, "rocksdb-p2", "", func(md *flinkmeta.Metadata) {
		for i := range md.Operators {
			for j := range md.Operators[i].Subtasks {
				t := &md.Operators[i].Subtasks[j]
				if t.ManagedKeyed != nil {
					t.ManagedKeyed = &flinkmeta.KeyedState{Kind: flinkmeta.ChangelogV2, Range: t.ManagedKeyed.Range, HandleID: "x",
						Changelog: &flinkmeta.Changelog{Materialized: []*flinkmeta.KeyedState{t.ManagedKeyed}}}
				}
			}
		}
	})
	keyed := p.Operators[slices.IndexFunc(p.Operators, func(o inspect.Operator) bool { return o.Keyed != nil })].Keyed
	if keyed.Backend != inspect.BackendChangelog || keyed.Decoded != inspect.DecodedNone || keyed.Why == "" {
		t.Errorf("%+v", keyed)
	}
	if check(t, p, "V4").Severity != inspect.SeverityInfo || check(t, p, "K7").Severity != inspect.SeverityInfo {
		t.Error("the changelog is not told")
	}
}
