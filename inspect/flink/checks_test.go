package flink_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/inspect/flink"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/flinkmeta"
	"github.com/recoverctl/recoverctl/internal/kryo"
	"github.com/recoverctl/recoverctl/internal/safetext"
	"github.com/recoverctl/recoverctl/internal/testkit/flinkcases"
)

// changed reads a snapshot of a case after change was made to its metadata. The
// folder has the given name, or the right one of a checkpoint.
func changed(t *testing.T, caseName, folder string, change func(*flinkmeta.Metadata)) inspect.RecoveryPoint {
	t.Helper()
	md, err := flinkmeta.Decode(flinkcases.Metadata(t, caseName, flinkcases.Load(t, caseName).Snapshots[0]))
	if err != nil {
		t.Fatal(err)
	}
	change(md)
	data, err := flinkmeta.Encode(md)
	if err != nil {
		t.Fatal(err)
	}
	if folder == "" {
		folder = fmt.Sprintf("chk-%d", md.CheckpointID)
	}
	dir := write(t, map[string][]byte{folder + "/_metadata": data})
	p, err := newStore(t, flink.Options{}).Point(context.Background(), filepath.Join(dir, folder))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range p.Checks {
		if safetext.Of(c.Message).String() != c.Message {
			t.Errorf("check %s is not safe for a terminal: %q", c.ID, c.Message)
		}
		if c.Severity != inspect.SeverityInfo && c.Hint == "" {
			t.Errorf("check %s has no hint: %s", c.ID, c.Message)
		}
	}
	return p
}

func agentOf(md *flinkmeta.Metadata) *flinkmeta.Operator {
	for i := range md.Operators {
		if md.Operators[i].Name == "action-execute-operator" {
			return &md.Operators[i]
		}
		for _, s := range md.Operators[i].Subtasks {
			if _, ok := s.ManagedOperator.State("recoveryMarker"); ok {
				return &md.Operators[i]
			}
		}
	}
	panic("no agent operator")
}

// state gives a subtask's recoveryMarker state to change.
func state(md *flinkmeta.Metadata, subtask int) *flinkmeta.StateOffsets {
	states := agentOf(md).Subtasks[subtask].ManagedOperator.States
	for i := range states {
		if states[i].Name == "recoveryMarker" {
			return &states[i]
		}
	}
	panic("no recoveryMarker")
}

// inline gives a copy of the bytes of a subtask's operator state to change.
func inline(md *flinkmeta.Metadata, subtask int, change func([]byte) []byte) {
	stream := agentOf(md).Subtasks[subtask].ManagedOperator.Stream
	stream.Data = change(bytes.Clone(stream.Data))
}

// element puts one element in the place of a subtask's marker.
func element(md *flinkmeta.Metadata, subtask int, data []byte) {
	s, states, err := flinkmeta.NewOperatorStreamBuilder(6, false).
		Add(flinkmeta.ListState("recoveryMarker", flinkmeta.Union, flinkmeta.KryoSerializer()), data).
		Add(flinkmeta.ListState("currentProcessingKeys", flinkmeta.Union, flinkmeta.KryoSerializer())).Build()
	if err != nil {
		panic(err)
	}
	o := agentOf(md).Subtasks[subtask].ManagedOperator
	o.States, o.Stream.Data = states, s
}

func value(v kryo.Value) []byte {
	data, err := kryo.Encode(kryo.Gen5, v, nil)
	if err != nil {
		panic(err)
	}
	return data
}

func TestEachCheckSpeaks(t *testing.T) {
	const versioned, file = "versioned-p2", "/_metadata"
	notNew := func(b []byte) []byte { // the byte that says "a new object" behind the class name
		class := []byte("KafkaActionStateRecoveryMarke\xf2")
		b[bytes.Index(b, class)+len(class)] = 0x7f
		return b
	}
	tests := map[string]struct {
		check, says string
		severity    inspect.Severity
		folder      string
		change      func(*flinkmeta.Metadata)
	}{
		"renamed folder":          {"M8", "chk-77 but the metadata says checkpoint", inspect.SeverityWarning, "chk-77", func(*flinkmeta.Metadata) {}},
		"operator twice":          {"M10", "occurs twice", inspect.SeverityError, "", func(md *flinkmeta.Metadata) { md.Operators = append(md.Operators, *agentOf(md)) }},
		"checkpoint as savepoint": {"S3", "the metadata says that it is a checkpoint", inspect.SeverityWarning, "savepoint-37c94a-0123456789ab", func(*flinkmeta.Metadata) {}},
		"entropy marker":          {"L5", "_entropy_", inspect.SeverityWarning, "_entropy_/chk-2", func(*flinkmeta.Metadata) {}},
		"savepoint with files elsewhere": {"S1", "1 reference to files elsewhere", inspect.SeverityWarning, "savepoint-x", func(md *flinkmeta.Metadata) {
			md.Properties = flinkmeta.SavepointProperties(flinkmeta.FormatNative)
			agentOf(md).Subtasks[0].RawOperator = &flinkmeta.OperatorState{Stream: &flinkmeta.Stream{Kind: flinkmeta.FileStream, Path: "s3://b/k", Size: 3}}
		}},
		"savepoint with in-flight data": {"S2", "in-flight data of 1 channel", inspect.SeverityWarning, "savepoint-x", func(md *flinkmeta.Metadata) {
			md.Properties = flinkmeta.SavepointProperties(flinkmeta.FormatCanonical)
			agentOf(md).Subtasks[0].InputChannels = []flinkmeta.ChannelState{{Kind: flinkmeta.InputChannel, Offsets: []int64{0}, Size: 3,
				Stream: &flinkmeta.Stream{Kind: flinkmeta.InlineStream, Path: "x", Data: []byte{1, 2, 3}}}}
		}},
		"other scheme": {"F6", "s3: is not reachable", inspect.SeverityWarning, "", func(md *flinkmeta.Metadata) {
			agentOf(md).Subtasks[0].RawOperator = &flinkmeta.OperatorState{Stream: &flinkmeta.Stream{Kind: flinkmeta.FileStream, Path: "s3://b/k", Size: 3}}
		}},
		"recorded path that starts nowhere": {"F6", `the recorded path "data/x" is relative`, inspect.SeverityWarning, "", func(md *flinkmeta.Metadata) {
			agentOf(md).Subtasks[0].RawOperator = &flinkmeta.OperatorState{Stream: &flinkmeta.Stream{Kind: flinkmeta.FileStream, Path: "data/x", Size: 3}}
		}},
		"recorded path of another host": {"F6", "names the host otherhost", inspect.SeverityWarning, "", func(md *flinkmeta.Metadata) {
			agentOf(md).Subtasks[0].RawOperator = &flinkmeta.OperatorState{Stream: &flinkmeta.Stream{Kind: flinkmeta.FileStream, Path: "file://otherhost/x", Size: 3}}
		}},
		"relative path that climbs": {"F5", `"../../etc/passwd" leaves`, inspect.SeverityError, "", func(md *flinkmeta.Metadata) {
			agentOf(md).Subtasks[0].RawOperator = &flinkmeta.OperatorState{Stream: &flinkmeta.Stream{Kind: flinkmeta.RelativeStream, Path: "../../etc/passwd", Size: 3}}
		}},
		"relative path with escapes": {"F1", `missing state file "x\x1b[2J"`, inspect.SeverityError, "", func(md *flinkmeta.Metadata) {
			agentOf(md).Subtasks[0].RawOperator = &flinkmeta.OperatorState{Stream: &flinkmeta.Stream{Kind: flinkmeta.RelativeStream, Path: "x\x1b[2J", Size: 3}}
		}},
		"two sizes of one file": {"F3", "s3://b/k has two sizes in the metadata, 99 and 1,048,576 bytes", inspect.SeverityError, "", func(md *flinkmeta.Metadata) {
			for i, size := range []int64{99, 1 << 20} {
				agentOf(md).Subtasks[i].RawOperator = &flinkmeta.OperatorState{Stream: &flinkmeta.Stream{Kind: flinkmeta.FileStream, Path: "s3://b/k", Size: size}}
			}
		}},
		"the metadata as state": {"F3", "the metadata says 3", inspect.SeverityError, "", func(md *flinkmeta.Metadata) {
			agentOf(md).Subtasks[0].RawOperator = &flinkmeta.OperatorState{Stream: &flinkmeta.Stream{Kind: flinkmeta.RelativeStream, Path: file[1:], Size: 3}}
		}},
		"offset outside":                {"F9", "is outside", inspect.SeverityError, "", func(md *flinkmeta.Metadata) { state(md, 0).Offsets[0] = 1 << 40 }},
		"offsets backwards":             {"F9", "follows offset", inspect.SeverityError, "", func(md *flinkmeta.Metadata) { s := state(md, 0); s.Offsets = append(s.Offsets, s.Offsets[0]-1) }},
		"no parallelism":                {"P1", "parallelism 0", inspect.SeverityError, "", func(md *flinkmeta.Metadata) { agentOf(md).Parallelism = 0 }},
		"too many key groups":           {"P1", "max parallelism 32769", inspect.SeverityError, "", func(md *flinkmeta.Metadata) { agentOf(md).MaxParallelism = 32769 }},
		"subtask twice":                 {"P2", "out of range or repeated", inspect.SeverityError, "", func(md *flinkmeta.Metadata) { agentOf(md).Subtasks[1].Index = 0 }},
		"subtask out of range":          {"P2", "lists subtask 9", inspect.SeverityError, "", func(md *flinkmeta.Metadata) { agentOf(md).Subtasks[1].Index = 9 }},
		"wrong key groups":              {"P5", "holds key groups 1-64, expected 0-63", inspect.SeverityError, "", func(md *flinkmeta.Metadata) { agentOf(md).Subtasks[0].ManagedKeyed.Range.Start = 1 }},
		"key group twice":               {"P6", "key group 64 is stored twice, by subtasks 0 and 1", inspect.SeverityError, "", func(md *flinkmeta.Metadata) { agentOf(md).Subtasks[0].ManagedKeyed.Range.Start = 1 }},
		"half finished":                 {"P8", "1 of its 2 subtasks are finished", inspect.SeverityError, "", func(md *flinkmeta.Metadata) { agentOf(md).Subtasks[1] = flinkmeta.Subtask{Index: 1, Finished: true} }},
		"subtask without state":         {"U1", "subtask 1 has no state currentProcessingKeys", inspect.SeverityError, "", func(md *flinkmeta.Metadata) { agentOf(md).Subtasks[1] = flinkmeta.Subtask{Index: 1} }},
		"subtask not listed":            {"U1", "subtask 1 has no state currentProcessingKeys, as 1 of 2 subtasks", inspect.SeverityError, "", func(md *flinkmeta.Metadata) { agentOf(md).Subtasks = agentOf(md).Subtasks[:1] }},
		"stream of Flink 1.18 or later": {"V2", "stream version 6: written by Flink 1.18 or later", inspect.SeverityInfo, "", func(*flinkmeta.Metadata) {}},
		"marker on one of two":          {"U2", "exists on 1 of 2 subtasks", inspect.SeverityError, "", func(md *flinkmeta.Metadata) { state(md, 1).Name = "otherState" }},
		"no agent operator":             {"U3", "no agent operator is in this snapshot", inspect.SeverityInfo, "", func(md *flinkmeta.Metadata) { md.Operators = nil }},
		"finished agent":                {"U3", "has finished", inspect.SeverityInfo, "", func(md *flinkmeta.Metadata) { o := agentOf(md); o.FullyFinished, o.Subtasks = true, nil }},
		"split markers":                 {"U4", "has mode SPLIT_DISTRIBUTE, expected UNION", inspect.SeverityError, "", func(md *flinkmeta.Metadata) { state(md, 1).Mode = flinkmeta.SplitDistribute }},
		"other stream version":          {"U6", "stream version 9 is not supported", inspect.SeverityError, "", func(md *flinkmeta.Metadata) { inline(md, 0, func(b []byte) []byte { b[3] = 9; return b }) }},
		"element too early":             {"U7", "element data starts at", inspect.SeverityError, "", func(md *flinkmeta.Metadata) { state(md, 0).Offsets[0]-- }},
		"bytes left over":               {"U8", "the marker of subtask 0 has 1 bytes left after decoding", inspect.SeverityError, "", func(md *flinkmeta.Metadata) { inline(md, 0, func(b []byte) []byte { return append(b, 0) }) }},
		"element cut":                   {"U8", "the marker of subtask 0 can't be decoded at byte", inspect.SeverityError, "", func(md *flinkmeta.Metadata) { inline(md, 0, func(b []byte) []byte { return b[:len(b)-1] }) }},
		"element damaged":               {"U8", "a reference to object 125", inspect.SeverityError, "", func(md *flinkmeta.Metadata) { inline(md, 0, notNew) }},
		"text keys": {"U9", "whose entries are not all of Integer to Long", inspect.SeverityError, "", func(md *flinkmeta.Metadata) {
			element(md, 1, value(&kryo.Map{JavaClass: "java.util.HashMap", Entries: []kryo.Entry{{Key: kryo.Text("0"), Value: kryo.Int64(5)}}}))
		}},
		"a class that nobody knows": {"U9", "holds an object of class com.example.Order at byte 0", inspect.SeverityError, "", func(md *flinkmeta.Metadata) {
			element(md, 1, append([]byte("\x01\x00com.example.Orde\xf2\x01"), 1, 2, 3))
		}},
		"a list": {"U9", "is a java.util.ArrayList; expected a map", inspect.SeverityError, "", func(md *flinkmeta.Metadata) {
			element(md, 1, value(&kryo.List{JavaClass: "java.util.ArrayList"}))
		}},
		"marker of Flink 1.x": {"V6", "is of Kryo generation 2, and the metadata version goes with generation 5: the files do not belong together", inspect.SeverityError, "", func(md *flinkmeta.Metadata) {
			data, err := kryo.Encode(kryo.Gen2, &kryo.Map{JavaClass: "java.util.HashMap", Entries: []kryo.Entry{{Key: kryo.Int32(0), Value: kryo.Int64(5)}}}, nil)
			if err != nil {
				panic(err)
			}
			element(md, 1, data)
		}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			p := changed(t, versioned, tt.folder, tt.change)
			for _, c := range p.Checks {
				if c.ID == tt.check && c.Severity == tt.severity && strings.Contains(c.Message, tt.says) {
					return
				}
			}
			t.Errorf("no %s %s that says %q in %+v", tt.check, tt.severity, tt.says, p.Checks)
		})
	}
}

// Two jobs' identifiers in one list make a restore fail.
func TestIdentifiersThatDiffer(t *testing.T) {
	p := changed(t, "agent-sync-hashmap", "", func(*flinkmeta.Metadata) {})
	for _, c := range p.Checks {
		if c.ID == "U14" {
			t.Errorf("equal identifiers: %s", c.Message)
		}
	}
	identifier := func(md *flinkmeta.Metadata) []byte { // of subtask 0, in place
		o := agentOf(md).Subtasks[0].ManagedOperator
		s, ok := o.State("identifier_state")
		if !ok {
			t.Fatal("no identifier_state")
		}
		o.Stream.Data = bytes.Clone(o.Stream.Data)
		return o.Stream.Data[s.Offsets[0]:]
	}
	p = changed(t, "agent-sync-hashmap", "", func(md *flinkmeta.Metadata) { identifier(md)[1] ^= 1 })
	if c := check(t, p, "U14"); !strings.Contains(c.Message, "holds different values") {
		t.Errorf("%+v", c)
	}
	p = changed(t, "agent-sync-hashmap", "", func(md *flinkmeta.Metadata) { identifier(md)[0] = 200 })
	if c := check(t, p, "U14"); !strings.Contains(c.Message, "can't be read") {
		t.Errorf("%+v", c)
	}
}

// The files of a point are named in the way in which its URI is written.
func TestMissingFilesAreNamedAsThePointIs(t *testing.T) {
	md, err := flinkmeta.Decode(sample(t))
	if err != nil {
		t.Fatal(err)
	}
	agentOf(md).Subtasks[0].RawOperator = &flinkmeta.OperatorState{Stream: &flinkmeta.Stream{Kind: flinkmeta.RelativeStream, Path: "gone", Size: 3}}
	data, err := flinkmeta.Encode(md)
	if err != nil {
		t.Fatal(err)
	}
	dir := write(t, map[string][]byte{"chk-2/_metadata": data, "chk-2/copy": data})
	t.Chdir(filepath.Join(dir, "chk-2"))
	for uri, want := range map[string]string{
		dir + "/chk-2":                       dir + "/chk-2/gone",
		"file:" + dir + "/chk-2/":            "file:" + dir + "/chk-2/gone",
		"file://" + dir + "/chk-2/_metadata": "file://" + dir + "/chk-2/gone",
		dir + "/chk-2/copy":                  dir + "/chk-2/gone",
		"_metadata":                          "./gone",
	} {
		p, err := newStore(t, flink.Options{}).Point(context.Background(), uri)
		if err != nil || len(p.Files.Missing) != 1 || p.Files.Missing[0] != want {
			t.Errorf("%s: missing %v (%v), want %s", uri, p.Files.Missing, err, want)
		}
	}
}

// Elements that can't be read stay in the list, so that the merged marker is
// never the minimum of the others.
func TestUnreadableMarkersAreNotAbsent(t *testing.T) {
	for name, change := range map[string]func(*flinkmeta.Metadata){
		"bytes left over":      func(md *flinkmeta.Metadata) { inline(md, 0, func(b []byte) []byte { return append(b, 0) }) },
		"element cut":          func(md *flinkmeta.Metadata) { inline(md, 0, func(b []byte) []byte { return b[:len(b)-1] }) },
		"stream version":       func(md *flinkmeta.Metadata) { inline(md, 0, func(b []byte) []byte { b[3] = 9; return b }) },
		"offset outside":       func(md *flinkmeta.Metadata) { state(md, 0).Offsets[0] = 1 << 40 },
		"the stream is absent": func(md *flinkmeta.Metadata) { agentOf(md).Subtasks[0].ManagedOperator.Stream = nil },
		"the file is absent": func(md *flinkmeta.Metadata) {
			agentOf(md).Subtasks[0].ManagedOperator.Stream = &flinkmeta.Stream{Kind: flinkmeta.RelativeStream, Path: "gone", Size: 1300}
		},
		"the file has a hostile name": func(md *flinkmeta.Metadata) {
			agentOf(md).Subtasks[0].ManagedOperator.Stream = &flinkmeta.Stream{Kind: flinkmeta.RelativeStream, Path: "../_metadata", Size: 1300}
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := changed(t, "versioned-p2", "", change)
			if len(p.Markers) != 2 || p.Markers[0].Problem == nil || p.Markers[0].Kind != inspect.MarkerOther || p.Markers[1].Problem != nil {
				t.Errorf("markers %+v, want two, the first one unreadable", p.Markers)
			}
			if p.Merged.Kind != inspect.MergedInvalid || p.Merged.Problem == nil || p.Merged.Problem.Code != flink.CodeUnreadable {
				t.Errorf("merged %+v", p.Merged)
			}
			if p.WorstCheck() != inspect.SeverityError {
				t.Errorf("no failing check: %+v", p.Checks)
			}
		})
	}
}

// Metadata of Flink 1.20 relabelled as version 5: its markers are Kryo 2.
func TestFilesOfTwoFlinkVersions(t *testing.T) {
	for _, name := range []string{"flink120-legacy-p2", "flink120-versioned-p2"} {
		p := changed(t, name, "", func(md *flinkmeta.Metadata) { md.Version = 5 })
		if c := check(t, p, "V6"); !strings.Contains(c.Message, "do not belong together") {
			t.Errorf("%s: %+v", name, c)
		}
		if p.Merged.Kind != inspect.MergedInvalid {
			t.Errorf("%s: merged %+v", name, p.Merged)
		}
	}
}

func TestDamagedCompressedChunk(t *testing.T) {
	p := changed(t, "compressed-p2", "", func(md *flinkmeta.Metadata) {
		inline(md, 0, func(b []byte) []byte { b[len(b)-3] ^= 1; return b })
	})
	check(t, p, "U13")
	if p.Merged.Kind != inspect.MergedInvalid {
		t.Errorf("merged %+v", p.Merged)
	}
}

func TestFilesThatAreNotAsRecorded(t *testing.T) {
	tests := map[string]struct {
		caseName, glob string
		change         func(t *testing.T, file string)
		check, says    string
		missing        int
	}{
		"relative file deleted":   {"file-backed-p2", "*/chk-2/[0-9a-f]*", remove, "F1", "missing state file", 1},
		"relative file too short": {"file-backed-p2", "*/chk-2/[0-9a-f]*", truncate, "F3", "bytes, the metadata says", 1},
		"shared file deleted":     {"rocksdb-files-p2", "*/shared/*", remove, "F2", "missing state file file:/data/checkpoints/rocksdb-files-p2/", 1},
		"shared file too short":   {"rocksdb-files-p2", "*/shared/*", truncate, "F3", "bytes, the metadata says", 1},
		"folder in its place":     {"rocksdb-files-p2", "*/shared/*", folder, "F3", "not a regular file", 1},
		"merged file too short":   {"file-merging-p2", "*/taskowned/*/*", truncate, "F4", "its last segment ends at", 1},
		"one more file":           {"file-backed-p2", "*/chk-2/_metadata", addFile, "F8", "1 file in the snapshot's folder that nothing references (3 B)", 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			hit := false
			files, err := filepath.Glob(filepath.Join(flinkcases.Copy(t, tt.caseName), tt.glob))
			if err != nil || len(files) == 0 {
				t.Fatalf("no files: %v", err)
			}
			for i := range files {
				dir, store := open(t, tt.caseName)
				files, _ := filepath.Glob(filepath.Join(dir, tt.glob))
				tt.change(t, files[i])
				for _, s := range flinkcases.Load(t, tt.caseName).Snapshots {
					p, err := store.Point(context.Background(), filepath.Join(dir, s.Path))
					if err != nil {
						t.Fatal(err)
					}
					if len(p.Files.Missing) == 0 && tt.missing > 0 {
						continue // this snapshot does not use that file
					}
					for _, c := range p.Checks {
						hit = hit || c.ID == tt.check && strings.Contains(c.Message, tt.says)
					}
					if len(p.Files.Missing) != tt.missing {
						t.Errorf("missing %v, want %d", p.Files.Missing, tt.missing)
					}
				}
			}
			if !hit {
				t.Errorf("no check %s says %q", tt.check, tt.says)
			}
		})
	}
}

func remove(t *testing.T, file string) {
	t.Helper()
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
}

func truncate(t *testing.T, file string) {
	t.Helper()
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(file, info.Size()-1); err != nil {
		t.Fatal(err)
	}
}

func folder(t *testing.T, file string) {
	t.Helper()
	remove(t, file)
	if err := os.Mkdir(file, 0o700); err != nil {
		t.Fatal(err)
	}
}

func addFile(t *testing.T, file string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(filepath.Dir(file), "left-over"), []byte("abc"), 0o600); err != nil {
		t.Fatal(err)
	}
}

// A machine that lacks the whole recorded tree says nothing about its files.
func TestFilesOfAnotherMachineAreNotMissing(t *testing.T) {
	dir := flinkcases.Copy(t, "rocksdb-files-p2")
	s := flinkcases.Load(t, "rocksdb-files-p2").Snapshots[0]
	p, err := newStore(t, flink.Options{}).Point(context.Background(), filepath.Join(dir, s.Path))
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Files.Missing) != 0 || len(p.Files.Unchecked) == 0 {
		t.Errorf("missing %v, not checked %v", p.Files.Missing, p.Files.Unchecked)
	}
	if c := check(t, p, "F6"); !strings.Contains(c.Message, "/data/checkpoints/rocksdb-files-p2 does not exist on this machine") {
		t.Errorf("F6 says %q", c.Message)
	}
	if c := check(t, p, "F7"); !strings.Contains(c.Message, "/shared/") {
		t.Errorf("F7 says %q", c.Message)
	}
	if p.WorstCheck() == inspect.SeverityError {
		t.Errorf("checks %+v", p.Checks)
	}
}

// A checkpoint says where it was written: a copy of it is told as one, whatever
// its folder is called, and another name of its own place is none.
func TestACopyIsTold(t *testing.T) {
	const recorded = "/data/checkpoints/versioned-p2"
	s := flinkcases.Load(t, "versioned-p2").Snapshots[0]
	dir, other := flinkcases.Copy(t, "versioned-p2"), flinkcases.Copy(t, "versioned-p2")
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		at, mapped string
		copied     bool
	}{
		"its place":                   {dir, dir, false},
		"its place, by a link":        {link, dir, false},
		"its place, mapped to a link": {dir, link, false},
		"a copy beside it":            {other, dir, true},
		"another machine":             {dir, "", true},
	} {
		t.Run(name, func(t *testing.T) {
			o := flink.Options{}
			if tt.mapped != "" {
				o.Mappings = []flink.Mapping{{From: "file:" + recorded, To: tt.mapped}}
			}
			p, err := newStore(t, o).Point(t.Context(), filepath.Join(tt.at, s.Path))
			if err != nil {
				t.Fatal(err)
			}
			at := slices.IndexFunc(p.Checks, func(c inspect.Check) bool { return c.ID == "M8" })
			switch {
			case (at >= 0) != tt.copied:
				t.Errorf("checks %+v", p.Checks)
			case tt.copied:
				if c := p.Checks[at]; c.Severity != inspect.SeverityInfo || !strings.Contains(c.Message, "written to "+recorded+"/"+s.Path+" and lies at "+filepath.Join(tt.at, s.Path)) {
					t.Errorf("%+v", c)
				}
			}
		})
	}
}

// A state file of another job whose folder was deleted is missing: the folder
// above both jobs is there.
func TestDeletedJobFolderIsMissing(t *testing.T) {
	dir, store := open(t, "rocksdb-files-p2")
	s := flinkcases.Load(t, "rocksdb-files-p2").Snapshots[0]
	old := filepath.Join(dir, filepath.Dir(s.Path))
	moved := filepath.Join(dir, "ffffffffffffffffffffffffffffffff")
	if err := os.MkdirAll(moved, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(dir, s.Path), filepath.Join(moved, "chk-2")); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(old); err != nil {
		t.Fatal(err)
	}
	p, err := store.Point(context.Background(), filepath.Join(moved, "chk-2"))
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Files.Missing) == 0 || len(p.Files.Unchecked) != 0 || p.WorstCheck() != inspect.SeverityError {
		t.Errorf("missing %v, not checked %v", p.Files.Missing, p.Files.Unchecked)
	}
}

// Markers in files that can't be reached make the point unknown, not damaged and
// not empty.
func TestMarkersThatCannotBeReached(t *testing.T) {
	dir := flinkcases.Copy(t, "file-merging-p2")
	s := flinkcases.Load(t, "file-merging-p2").Snapshots[0]
	store := newStore(t, flink.Options{})
	p, err := store.Point(context.Background(), filepath.Join(dir, s.Path))
	if fault.KindOf(err) != fault.Unsupported || !strings.Contains(fault.Of(err).Hint, "--map") {
		t.Errorf("%v (%s), want unsupported with a hint about --map", err, fault.KindOf(err))
	}
	if p.Merged.Kind != inspect.MergedInvalid || p.WorstCheck() == inspect.SeverityError || len(p.Operators) == 0 {
		t.Errorf("%+v", p)
	}
	points, err := store.Points(context.Background(), dir)
	if len(points) == 0 || fault.KindOf(err) != fault.Unsupported {
		t.Fatalf("%d points listed, %v", len(points), err)
	}
	for _, p := range points {
		if fault.KindOf(p.Err) != fault.Unsupported {
			t.Errorf("%s is listed with %v", p.URI, p.Err)
		}
	}
}

// Thousands of lost files are told once each in the list and a few times in
// sentences.
func TestManyMissingFiles(t *testing.T) {
	p := changed(t, "versioned-p2", "", func(md *flinkmeta.Metadata) {
		var files []flinkmeta.NamedStream
		for i := range 5000 {
			files = append(files, flinkmeta.NamedStream{Name: fmt.Sprint(i, ".sst"),
				Stream: &flinkmeta.Stream{Kind: flinkmeta.RelativeStream, Path: fmt.Sprint("f", i), Size: 1}})
		}
		o := agentOf(md)
		o.Subtasks[0].ManagedKeyed = &flinkmeta.KeyedState{Kind: flinkmeta.IncrementalV2, Range: o.Subtasks[0].ManagedKeyed.Range,
			Incremental: &flinkmeta.IncrementalKeys{Private: files}}
	})
	told := 0
	for _, c := range p.Checks {
		if c.ID == "F1" {
			told++
		}
	}
	if len(p.Files.Missing) != 5000 || p.Files.Referenced != 5000 || p.Files.Bytes != 5000 || told != 21 {
		t.Errorf("%d missing of %d with %d bytes, told %d times", len(p.Files.Missing), p.Files.Referenced, p.Files.Bytes, told)
	}
}
