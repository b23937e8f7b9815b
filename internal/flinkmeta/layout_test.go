package flinkmeta_test

import (
	"bytes"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/recoverctl/recoverctl/internal/flinkmeta"
)

// Pieces of layouts as the format describes them, in hex.
const (
	hexInline   = "01 0001 61 00000003 010203"                                    // name "a", bytes 1 2 3
	hexFile     = "02 0000000000000009 0009 66696c653a2f782f79"                   // 9 bytes in file:/x/y
	hexUnsized  = "02 ffffffffffffffff 0009 66696c653a2f782f79"                   // of a size that is not known
	hexRelative = "06 0001 72 000000000000000a"                                   // 10 bytes in "r"
	hexSegment  = "0f 0000000000000005 000000000000000b 00000001 0001 70 0001 6c" // 11 bytes from 5 in "p"
	hexEmptySeg = "10"
	hexGroups   = "03 00000004 00000002 0000000000000001 0000000000000002 " + hexRelative
	hexID       = "0002 6964"
	hexRange    = "00000040 00000002"
	hexOffsets  = "0000000000000007 0000000000000008"
	hexMemory   = "09 " + hexRange + "0000000000000001 0000000000000002 00000002 ffffffff 00000001 aa 00000040 00000002 bbcc" + hexID
	hexParts    = hexRange + "00000001 0000000000000003" + hexFile + "0000000000000014 0000000000000015" + hexID
)

// withKeyed is a version 3 file with one subtask that has this managed keyed
// state and no other.
func withKeyed(tb testing.TB, keyed string) []byte {
	tb.Helper()
	return subtaskFile(tb, 3, "00000000 00000000"+keyed+"00 00000000 00000000")
}

// subtaskFile is a file with one operator that has one subtask.
func subtaskFile(tb testing.TB, version int, subtask string) []byte {
	tb.Helper()
	names, coordinator, unused, tail := "", "00", "", ""
	if version >= 5 {
		names = "0000 0000"
	}
	if version == 2 {
		coordinator, unused = "00000001", "ffffffffffffffff 00000000"
	}
	if version >= 4 {
		tail = "aced000570"
	}
	return unhex(tb, fmt.Sprintf("4960672d %08x 0000000000000001 00000000 00000001 %s"+
		"000102030405060708090a0b0c0d0e0f 00000002 00000080 %s 00000001 00000001 %s%s%s",
		version, names, coordinator, unused, subtask, tail))
}

func theSubtask(t *testing.T, data []byte) *flinkmeta.Subtask {
	t.Helper()
	m, err := flinkmeta.Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	back, err := flinkmeta.Encode(m)
	if err != nil || !bytes.Equal(back, data) {
		t.Errorf("written back it differs (%v):\n%x\n%x", err, back, data)
	}
	return &m.Operators[0].Subtasks[0]
}

func TestEveryStreamHandle(t *testing.T) {
	tests := map[string]struct {
		hex  string
		want *flinkmeta.Stream
		size int64
	}{
		"null":              {"00", nil, 0},
		"inline":            {hexInline, &flinkmeta.Stream{Kind: flinkmeta.InlineStream, Path: "a", Data: []byte{1, 2, 3}, Size: 3}, 3},
		"file":              {hexFile, &flinkmeta.Stream{Kind: flinkmeta.FileStream, Path: "file:/x/y", Size: 9}, 9},
		"file without size": {hexUnsized, &flinkmeta.Stream{Kind: flinkmeta.FileStream, Path: "file:/x/y", Size: -1}, flinkmeta.UnknownSize},
		"relative file":     {hexRelative, &flinkmeta.Stream{Kind: flinkmeta.RelativeStream, Path: "r", Size: 10}, 10},
		"segment": {hexSegment, &flinkmeta.Stream{
			Kind: flinkmeta.SegmentStream, Path: "p", Size: 11, Segment: &flinkmeta.Segment{Start: 5, Scope: 1, LogicalFileID: "l"},
		}, 11},
		"empty segment": {hexEmptySeg, &flinkmeta.Stream{Kind: flinkmeta.EmptySegmentStream}, 0},
		"key groups around a file": {hexGroups, &flinkmeta.Stream{
			Kind: flinkmeta.KeyGroupsStream, KeyGroups: &flinkmeta.KeyGroupStream{
				Range: flinkmeta.KeyGroupRange{Start: 4, Count: 2}, Offsets: []int64{1, 2},
				Inner: &flinkmeta.Stream{Kind: flinkmeta.RelativeStream, Path: "r", Size: 10},
			},
		}, 10},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			sub := theSubtask(t, withKeyed(t, "07 00000000 00000000"+tt.hex))
			got := sub.ManagedKeyed.KeyGroups.Stream
			if size := got.StateSize(); size != tt.size {
				t.Errorf("state size %d, want %d", size, tt.size)
			}
			forgetPositions(got)
			if !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
}

func TestEveryKeyedStateHandle(t *testing.T) {
	relative := &flinkmeta.Stream{Kind: flinkmeta.RelativeStream, Path: "r", Size: 10}
	file := &flinkmeta.Stream{Kind: flinkmeta.FileStream, Path: "file:/x/y", Size: 9}
	span := flinkmeta.KeyGroupRange{Start: 64, Count: 2}
	groups := &flinkmeta.KeyGroups{Offsets: []int64{7, 8}, Stream: relative}
	files := func(checkpointed int64) *flinkmeta.IncrementalKeys {
		return &flinkmeta.IncrementalKeys{
			CheckpointID: 5, BackendID: "be", CheckpointedSize: checkpointed, Meta: relative,
			Shared:  []flinkmeta.NamedStream{{Name: "1.sst", Stream: file}, {Name: "2.sst", Stream: nil}},
			Private: []flinkmeta.NamedStream{{Name: "M", Stream: &flinkmeta.Stream{Kind: flinkmeta.InlineStream, Path: "a", Data: []byte{1, 2, 3}, Size: 3}}},
		}
	}
	memory := &flinkmeta.KeyedState{
		Kind: flinkmeta.InMemoryChanges, Range: span, HandleID: "id",
		InMemory: &flinkmeta.MemoryChanges{From: 1, To: 2, Changes: []flinkmeta.Change{{KeyGroup: -1, Data: []byte{0xaa}}, {KeyGroup: 64, Data: []byte{0xbb, 0xcc}}}},
	}
	changes := func(storage string) *flinkmeta.FileChanges {
		return &flinkmeta.FileChanges{Parts: []flinkmeta.ChangesPart{{Offset: 3, Stream: file}}, Size: 20, CheckpointedSize: 21, StorageID: storage}
	}
	const (
		pairs    = "00000002 0005 312e737374" + hexFile + "0005 322e737374 00 00000001 0001 4d" + hexInline
		backend  = "0000000000000005 0002 6265" + hexRange
		children = hexRange + "0000000000000030 00000001 07" + hexRange + hexOffsets + hexRelative + "00000002" + hexMemory + "0d" + hexParts + "0002 6673 0000000000000006"
	)
	changelog := func(checkpoint int64) *flinkmeta.Changelog {
		return &flinkmeta.Changelog{
			CheckpointedSize: 48, MaterializationID: 6, CheckpointID: checkpoint,
			Materialized: []*flinkmeta.KeyedState{{Kind: flinkmeta.KeyGroupsSavepoint, Range: span, KeyGroups: groups}},
			Changes:      []*flinkmeta.KeyedState{memory, {Kind: flinkmeta.FileChangesV2, Range: span, HandleID: "id", File: changes("fs")}},
		}
	}

	tests := map[string]struct {
		hex   string
		want  *flinkmeta.KeyedState
		size  flinkmeta.Size
		roles []flinkmeta.Role
	}{
		"none":                       {"00", nil, flinkmeta.Size{}, nil},
		"key groups, old":            {"03" + hexRange + hexOffsets + hexRelative, &flinkmeta.KeyedState{Kind: 3, Range: span, KeyGroups: groups}, flinkmeta.Size{Bytes: 10}, []flinkmeta.Role{flinkmeta.RoleManagedKeyed}},
		"key groups of a savepoint":  {"07" + hexRange + hexOffsets + hexRelative, &flinkmeta.KeyedState{Kind: 7, Range: span, KeyGroups: groups}, flinkmeta.Size{Bytes: 10}, []flinkmeta.Role{flinkmeta.RoleManagedKeyed}},
		"key groups":                 {"0c" + hexRange + hexOffsets + hexRelative + hexID, &flinkmeta.KeyedState{Kind: 12, Range: span, HandleID: "id", KeyGroups: groups}, flinkmeta.Size{Bytes: 10}, []flinkmeta.Role{flinkmeta.RoleManagedKeyed}},
		"incremental, old":           {"05" + backend + hexRelative + pairs, &flinkmeta.KeyedState{Kind: 5, Range: span, Incremental: files(-1)}, flinkmeta.Size{Bytes: 22}, []flinkmeta.Role{flinkmeta.RoleIncrementalMeta, flinkmeta.RoleIncrementalShared, flinkmeta.RoleIncrementalPrivate}},
		"incremental":                {"0b" + backend + "0000000000000011" + hexRelative + pairs + hexID, &flinkmeta.KeyedState{Kind: 11, Range: span, HandleID: "id", Incremental: files(17)}, flinkmeta.Size{Bytes: 22}, []flinkmeta.Role{flinkmeta.RoleIncrementalMeta, flinkmeta.RoleIncrementalShared, flinkmeta.RoleIncrementalPrivate}},
		"changelog, old":             {"08" + children + hexID, &flinkmeta.KeyedState{Kind: 8, Range: span, HandleID: "id", Changelog: changelog(0)}, flinkmeta.Size{Bytes: 33}, []flinkmeta.Role{flinkmeta.RoleManagedKeyed, flinkmeta.RoleChangelog}},
		"changelog":                  {"0e" + children + "0000000000000007" + hexID, &flinkmeta.KeyedState{Kind: 14, Range: span, HandleID: "id", Changelog: changelog(7)}, flinkmeta.Size{Bytes: 33}, []flinkmeta.Role{flinkmeta.RoleManagedKeyed, flinkmeta.RoleChangelog}},
		"changes in memory":          {hexMemory, memory, flinkmeta.Size{Bytes: 3}, nil},
		"changes in files, old":      {"0a" + hexParts, &flinkmeta.KeyedState{Kind: 10, Range: span, HandleID: "id", File: changes("")}, flinkmeta.Size{Bytes: 20}, []flinkmeta.Role{flinkmeta.RoleChangelog}},
		"changes in files":           {"0d" + hexParts + "0002 6673", &flinkmeta.KeyedState{Kind: 13, Range: span, HandleID: "id", File: changes("fs")}, flinkmeta.Size{Bytes: 20}, []flinkmeta.Role{flinkmeta.RoleChangelog}},
		"key groups of unknown size": {"07 00000000 00000000" + hexUnsized, &flinkmeta.KeyedState{Kind: 7, KeyGroups: &flinkmeta.KeyGroups{Stream: &flinkmeta.Stream{Kind: flinkmeta.FileStream, Path: "file:/x/y", Size: -1}}}, flinkmeta.Size{Unknown: 1}, []flinkmeta.Role{flinkmeta.RoleManagedKeyed}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			data := withKeyed(t, tt.hex)
			sub := theSubtask(t, data)
			if size := sub.StateSize(); size != tt.size {
				t.Errorf("state size %+v, want %+v", size, tt.size)
			}
			m, err := flinkmeta.Decode(data)
			if err != nil {
				t.Fatal(err)
			}
			var roles []flinkmeta.Role
			for ref := range m.Streams() {
				if ref.Subtask != 1 {
					t.Errorf("a stream of subtask %d, want 1", ref.Subtask)
				}
				roles = append(roles, ref.Role)
			}
			if !slices.Equal(roles, tt.roles) {
				t.Errorf("streams with the roles %q, want %q", roles, tt.roles)
			}
			forgetPositions(sub.ManagedKeyed)
			want := tt.want
			forgetPositions(want)
			if !reflect.DeepEqual(sub.ManagedKeyed, want) {
				t.Errorf("got %+v, want %+v", sub.ManagedKeyed, want)
			}
		})
	}
}

func TestOperatorStateInMergedFiles(t *testing.T) {
	data := subtaskFile(t, 6, "00000001 11 00000001 0001 73 00 00000001 0000000000000002 0001 74 0001 75 00"+hexSegment+
		"00000001 11 00000000 0001 74 0001 75 01"+hexEmptySeg+"00 00 00000000 00000000")
	sub := theSubtask(t, data)
	got := sub.ManagedOperator
	want := flinkmeta.MergedFiles{TaskOwnedDir: "t", SharedDir: "u"}
	if got.Merged == nil || *got.Merged != want || got.Stream.Segment.Start != 5 {
		t.Errorf("managed operator state %+v", got)
	}
	if s, ok := got.State("s"); !ok || s.Mode != flinkmeta.SplitDistribute || !slices.Equal(s.Offsets, []int64{2}) {
		t.Errorf("state s: %+v", s)
	}
	if raw := sub.RawOperator; raw.Merged == nil || !raw.Merged.Empty || raw.Stream.Kind != flinkmeta.EmptySegmentStream {
		t.Errorf("raw operator state %+v", raw)
	}
	if size := sub.StateSize(); size.Bytes != 11 {
		t.Errorf("state size %+v, want the segment's 11 bytes", size)
	}
}

func TestChannelStateInEveryVersion(t *testing.T) {
	const (
		nothing = "00000000 00000000 00 00"
		single  = "00000001 00000002 00000003 00000001 0000000000000004 0000000000000005" + hexFile
		merged  = "00000001 0000000000000006" + hexFile + "00000004 deadbeef"
	)
	for _, version := range []int{3, 4, 5} {
		sub := theSubtask(t, subtaskFile(t, version, nothing+"00000001"+single+"00000001"+single))
		in, out := sub.InputChannels[0], sub.ResultSubpartitions[0]
		if in.Kind != flinkmeta.InputChannel || out.Kind != flinkmeta.ResultSubpartition {
			t.Errorf("version %d: kinds %d and %d", version, in.Kind, out.Kind)
		}
		if in.SubtaskIndex != 1 || in.First != 2 || in.Second != 3 || in.Size != 5 || !slices.Equal(in.Offsets, []int64{4}) {
			t.Errorf("version %d: input channel %+v", version, in)
		}
		if size := sub.StateSize(); size.Bytes != 10 {
			t.Errorf("version %d: state size %+v, want the two shares of 5 bytes", version, size)
		}
	}
	sub := theSubtask(t, subtaskFile(t, 6, nothing+"00000002 01"+single+"03"+merged+"00000002 02"+single+"04"+merged))
	kinds := []flinkmeta.ChannelKind{sub.InputChannels[0].Kind, sub.InputChannels[1].Kind, sub.ResultSubpartitions[0].Kind, sub.ResultSubpartitions[1].Kind}
	if !slices.Equal(kinds, []flinkmeta.ChannelKind{1, 3, 2, 4}) {
		t.Errorf("kinds %v", kinds)
	}
	if m := sub.InputChannels[1]; m.Size != 6 || !bytes.Equal(m.MergedInfo, []byte{0xde, 0xad, 0xbe, 0xef}) {
		t.Errorf("merged input channels %+v", m)
	}
}

func TestVersion2KeepsItsUnusedFields(t *testing.T) {
	sub := theSubtask(t, subtaskFile(t, 2, "00000000 00000000 00 03"+hexRange+hexOffsets+hexInline))
	if sub.Duration != -1 || sub.RawKeyed == nil || sub.RawKeyed.KeyGroups.Stream.Size != 3 {
		t.Errorf("subtask %+v", sub)
	}
}

func TestFinishedOperatorsSubtasksCoordinatorsAndMasterStates(t *testing.T) {
	data := unhex(t, "4960672d 00000006 0000000000000001"+
		"00000001 c96b1696 0000000d 00000003 0001 6d 00000002 0809"+
		"00000002"+
		"0003 6f6e65 0003 756964 000102030405060708090a0b0c0d0e0f 00000002 00000080 00 ffffffff"+
		"0000 0000 100102030405060708090a0b0c0d0e0f 00000002 00000080"+hexInline+"00000001 fffffffe"+
		"aced000570")
	m, err := flinkmeta.Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	if s := m.MasterStates[0]; s.Name != "m" || s.Version != 3 || !bytes.Equal(s.Payload, []byte{8, 9}) {
		t.Errorf("master state %+v", s)
	}
	if o := m.Operators[0]; !o.FullyFinished || o.Name != "one" || o.UID != "uid" || o.Coordinator != nil {
		t.Errorf("finished operator %+v", o)
	}
	o := m.Operators[1]
	if o.FullyFinished || !o.Subtasks[0].Finished || o.Subtasks[0].Index != 1 {
		t.Errorf("operator with a finished subtask %+v", o)
	}
	if size := m.StateSize(); size.Bytes != 3 {
		t.Errorf("state size %+v, want the coordinator's 3 bytes", size)
	}
	for ref := range m.Streams() {
		if ref.Role != flinkmeta.RoleCoordinator || ref.Subtask != flinkmeta.NoSubtask || ref.Operator.ID != o.ID {
			t.Errorf("stream %+v, want the coordinator's", ref)
		}
	}
	if back, err := flinkmeta.Encode(m); err != nil || !bytes.Equal(back, data) {
		t.Errorf("written back it differs (%v)", err)
	}
}

func TestSizesDoNotOverflow(t *testing.T) {
	huge := &flinkmeta.OperatorState{Stream: &flinkmeta.Stream{Kind: flinkmeta.FileStream, Size: math.MaxInt64}}
	sub := flinkmeta.Subtask{ManagedOperator: huge, RawOperator: huge}
	if size := sub.StateSize(); size.Bytes != math.MaxInt64 {
		t.Errorf("state size %+v, want the largest number", size)
	}
}

// Java's strings as writeUTF writes them, and as Go should hold them.
func TestModifiedUTF8(t *testing.T) {
	tests := map[string]struct{ hex, want string }{
		"plain":                     {"0003 616263", "abc"},
		"empty":                     {"0000", ""},
		"U+0000":                    {"0003 61c080", "a\x00"},
		"umlaut and euro sign":      {"0005 c3bce282ac", "ü€"},
		"emoji as two surrogates":   {"0006 eda0bdedb880", "😀"},
		"high surrogate alone":      {"0004 eda0bd61", "\xed\xa0\xbda"},
		"low surrogate in front":    {"0006 edb880eda0bd", "\xed\xb8\x80\xed\xa0\xbd"},
		"two high, then a low one":  {"0009 eda0bdeda0bdedb880", "\xed\xa0\xbd😀"},
		"a replacement is no error": {"0003 efbfbd", "\uFFFD"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := theSubtask(t, withKeyed(t, "0c 00000000 00000000 00"+tt.hex)).ManagedKeyed.HandleID; got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
	for name, bad := range map[string]string{
		"a lone continuation": "0001 80", "a cut sequence": "0002 e282", "a four byte sequence": "0004 f09f9880",
		"a start byte for a continuation": "0002 c361",
	} {
		t.Run(name, func(t *testing.T) {
			_, err := flinkmeta.Decode(withKeyed(t, "0c 00000000 00000000 00"+bad))
			if err == nil || !strings.Contains(err.Error(), "modified UTF-8") {
				t.Errorf("error %v, want one about modified UTF-8", err)
			}
		})
	}
}

// forgetPositions sets every position to zero, so that a decoded value can be
// compared with a written one.
func forgetPositions(v any) { forget(reflect.ValueOf(v)) }

func forget(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			forget(v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			forget(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if name := v.Type().Field(i).Name; name == "Pos" || name == "DataPos" {
				v.Field(i).SetInt(0)
				continue
			}
			forget(v.Field(i))
		}
	}
}
