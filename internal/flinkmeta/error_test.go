package flinkmeta_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/flinkmeta"
	"github.com/recoverctl/recoverctl/internal/testkit/flinkcases"
)

func TestDamageIsNamed(t *testing.T) {
	vector := func(change func(b []byte) []byte) []byte { return change(metadataVector(t, 6)) }
	tests := map[string]struct {
		data  []byte
		check string
		kind  fault.Kind
		pos   int64
		text  string
	}{
		"an empty file":             {nil, "M1", fault.Corrupt, 0, "the file is empty"},
		"a file of seven bytes":     {unhex(t, "4960672d 000000"), "M1", fault.Corrupt, 0, "only 7 bytes (4960672d000000)"},
		"a zip archive":             {[]byte("PK\x03\x04 and so on"), "M1", fault.Corrupt, 0, "starts with 504b0304, expected 4960672d"},
		"version 1":                 {unhex(t, "4960672d 00000001"), "M2", fault.Unsupported, 4, "metadata version 1 is not supported (known: 2 to 6)"},
		"version 7":                 {unhex(t, "4960672d 00000007 00"), "M2", fault.Unsupported, 4, "metadata version 7 is not supported (known: 2 to 6)"},
		"version -1":                {unhex(t, "4960672d ffffffff 00"), "M2", fault.Unsupported, 4, "metadata version -1"},
		"nothing after the version": {unhex(t, "4960672d 00000006"), "M3", fault.Corrupt, 8, "truncated or corrupt at byte 8 while reading checkpoint id"},
		"a negative checkpoint id":  {unhex(t, "4960672d 00000006 ffffffffffffffff 00000000 00000000 aced000570"), "M7", fault.Corrupt, 8, "invalid checkpoint id -1"},
		"cut in the inline stream": {
			vector(func(b []byte) []byte { return b[:600] }), "M5", fault.Corrupt, 242,
			`impossible length 824 at byte 242 while reading inline bytes of managed operator state: 354 bytes are left in the metadata (operator "action-execute-operator", subtask 0)`,
		},
		"cut in the last count": {
			vector(func(b []byte) []byte { return b[:len(b)-7] }), "M3", fault.Corrupt, 1080,
			`truncated or corrupt at byte 1080 while reading number of states of result subpartitions: 4 bytes are needed, 2 are left (operator "action-execute-operator", subtask 0)`,
		},
		"no properties": {
			vector(func(b []byte) []byte { return b[:len(b)-5] }), "M6", fault.Corrupt, 1084, "the checkpoint properties after the last operator are missing",
		},
		"other bytes for properties": {
			vector(func(b []byte) []byte { return append(b[:len(b)-5], "hello"...) }), "M6", fault.Corrupt, 1084, "5 unexpected bytes after the last operator",
		},
		"a byte after the end of version 3": {append(withKeyed(t, "00"), 0), "M6", fault.Corrupt, 75, "1 unexpected bytes"},
		"an unknown stream tag":             {withKeyed(t, "07 00000000 00000000 04"), "M4", fault.Corrupt, 74, "unknown stream handle tag 4 at byte 74"},
		"an unknown keyed tag":              {withKeyed(t, "0f"), "M4", fault.Corrupt, 65, "unknown keyed state handle tag 15 at byte 65"},
		"an unknown operator tag":           {subtaskFile(t, 3, "00000001 05 000000000000"), "M4", fault.Corrupt, 61, "unknown operator state handle tag 5 at byte 61"},
		"an output tag among the inputs":    {subtaskFile(t, 6, "00000000 00000000 00 00 00000001 02 0000000000000000000000000000000000"), "M4", fault.Corrupt, 75, "unknown channel state handle tag 2 at byte 75"},
		"keyed state as a changelog part":   {withKeyed(t, "0e"+hexRange+"0000000000000000 00000000 00000001 07 00000000 00000000 00 0000000000000000"), "M4", fault.Corrupt, 90, "unknown changelog part tag 7"},
		"a negative count":                  {unhex(t, "4960672d 00000006 0000000000000001 ffffffff"), "M5", fault.Corrupt, 16, "impossible length -1 at byte 16"},
		"more operators than bytes":         {unhex(t, "4960672d 00000006 0000000000000001 00000000 7fffffff 00"), "M5", fault.Corrupt, 20, "impossible length 2147483647 at byte 20"},
		"more subtasks than Flink can have": {unhex(t, "4960672d 00000003 0000000000000001 00000000 00000001 000102030405060708090a0b0c0d0e0f 00000002 00000080 00 00008001"+strings.Repeat("fffffffe", 0x8001)), "M5", fault.Corrupt, 49, "impossible length 32769 at byte 49"},
		"a name longer than the file":       {withKeyed(t, "0c 00000000 00000000 00 ffff 61"), "M5", fault.Corrupt, 75, "impossible length 65535 at byte 75"},
		"a file of less than no bytes":      {withKeyed(t, "07 00000000 00000000 02 fffffffffffffffe 0000"), "M5", fault.Corrupt, 75, "impossible length -2"},
		"a fourth distribution mode":        {subtaskFile(t, 3, "00000001 04 00000001 0001 73 03 00000000 00"), "M3", fault.Corrupt, 69, "while reading distribution mode of managed operator state: mode 3 does not exist"},
		"coordinator state in a file":       {unhex(t, "4960672d 00000003 0000000000000001 00000000 00000001 000102030405060708090a0b0c0d0e0f 00000002 00000080"+hexFile+"00000000"), "M3", fault.Corrupt, 48, "only inline bytes are possible"},
		"legacy state of Flink 1.1":         {unhex(t, "4960672d 00000002 0000000000000001 00000000 00000001 000102030405060708090a0b0c0d0e0f 00000002 00000080 00000001 00000001 00000001 ffffffffffffffff 00000001"), "M3", fault.Corrupt, 68, "legacy states of Flink 1.1"},
		"a master state of another length":  {unhex(t, "4960672d 00000006 0000000000000001 00000001 c96b1696 0000000e 00000003 0001 6d 00000002 0809 00000000 aced000570"), "M3", fault.Corrupt, 20, "its length does not fit"},
		"a master state without its magic":  {unhex(t, "4960672d 00000006 0000000000000001 00000001 c96b1697 0000000d 00000003 0001 6d 00000002 0809 00000000 aced000570"), "M3", fault.Corrupt, 20, "magic number"},
		"handles nested without end":        {withKeyed(t, "07 00000000 00000000"+strings.Repeat("03 00000000 00000000", 1000)), "M3", fault.Corrupt, 218, "nested too deep"},
		"changelogs nested without end":     {withKeyed(t, strings.Repeat("0e"+hexRange+"0000000000000000 00000001", 1000)), "M3", fault.Corrupt, 401, "nested too deep"},
		"properties that end in the middle": {vector(func(b []byte) []byte { return append(b[:len(b)-1], 0x73, 0x72, 0x00, 0x38) }), "M5", fault.Corrupt, 1090, "impossible length 56"},
		"properties that refer to nowhere":  {vector(func(b []byte) []byte { return append(b[:len(b)-1], 0x71, 0x00, 0x7e, 0x00, 0x05) }), "M3", fault.Corrupt, 1089, "points nowhere"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			m, err := flinkmeta.Decode(tt.data)
			var e *flinkmeta.Error
			if m != nil || !errors.As(err, &e) {
				t.Fatalf("decoded %+v, error %v", m, err)
			}
			if e.Check != tt.check || e.Kind != tt.kind || e.Pos != tt.pos || !strings.Contains(err.Error(), tt.text) {
				t.Errorf("check %s, kind %s, byte %d: %v\nwant %s, %s, byte %d: … %s …", e.Check, e.Kind, e.Pos, err, tt.check, tt.kind, tt.pos, tt.text)
			}
			if f := fault.Of(fmt.Errorf("wrapped: %w", err)); f.Kind != tt.kind || f.Error() != err.Error() {
				t.Errorf("as a fault: %s %q", f.Kind, f.Error())
			}
		})
	}
}

// A writer that stops, or a copy that breaks off, leaves a shorter file. No
// length of a real file but its own may pass.
func TestEveryTruncationIsFound(t *testing.T) {
	for name, step := range map[string]int{"legacy-p2": 1, "file-merging-p2": 1, "flink120-legacy-p2": 1, "rocksdb-p2": 31} {
		for _, s := range flinkcases.Load(t, name).Snapshots {
			data := flinkcases.Metadata(t, name, s)
			for n := 0; n < len(data); n += step {
				if _, err := flinkmeta.Decode(data[:n:n]); err == nil {
					t.Fatalf("%s/%s: the first %d of %d bytes pass as a whole file", name, s.Path, n, len(data))
				}
			}
		}
	}
}

// An operator's name comes from the job's code and may hold anything.
func TestErrorsHoldNoControlCharacters(t *testing.T) {
	name := "\x1b]0;owned\x07" + strings.Repeat("é", 200) + "\u202e"
	m := &flinkmeta.Metadata{Version: 6, Operators: []flinkmeta.Operator{{Name: name, Subtasks: []flinkmeta.Subtask{{Index: 3}}}}}
	data, err := flinkmeta.Encode(m)
	if err != nil {
		t.Fatal(err)
	}
	_, err = flinkmeta.Decode(data[:len(data)-12])
	if err == nil || !strings.Contains(err.Error(), `\x1b]0;owned\x07`) || !strings.Contains(err.Error(), "subtask 3") {
		t.Fatalf("error %v, want the quoted name", err)
	}
	if len(err.Error()) > 350 || strings.ContainsAny(err.Error(), "\x1b\x07\u202e") {
		t.Errorf("error of %d bytes: %q", len(err.Error()), err)
	}
}

// Flink's own loader reads one object behind the operators, and no byte further.
func TestBytesBehindTheProperties(t *testing.T) {
	for _, n := range []int{1, 2, 5000} {
		m, err := flinkmeta.Decode(append(metadataVector(t, 6), bytes.Repeat([]byte{0x70}, n)...))
		if err != nil || m.Properties.Behind != n || !m.Properties.Null || m.Properties.Unknown != "" {
			t.Errorf("%d bytes: %+v, %v", n, m, err)
		}
	}
}

// What was changed here was given to the loader of Flink 2.3, which threw the
// exceptions that are named.
func TestPropertiesThatFlinkRefuses(t *testing.T) {
	for name, c := range map[string]struct{ old, new, refused string }{
		"a constant that is none (InvalidObjectException)":         {"FORWARD_BACKWARD", "FORWAZD_BACKWARD", "SnapshotType$SharingFilesStrategy has no constant \"FORWAZD_BACKWARD\""},
		"another serial version (InvalidClassException)":           {"CheckpointProperties\x00\x00\x00\x00\x00\x00\x00\x02", "CheckpointProperties\x00\x00\x00\x00\x00\x00\x00\x03", "CheckpointProperties has the serial version 0000000000000003, and Flink's has 0000000000000002"},
		"a field of a type that is none (InvalidClassException)":   {"Ljava/lang/String;", "\x00java/lang/String;", "which is none"},
		"a flag of another type (StreamCorruptedException)":        {"Z\x00\x06forced", "L\x00\x06forced", ""},
		"a class that is no enum any more (InvalidClassException)": {"SharingFilesStrategy\x00\x00\x00\x00\x00\x00\x00\x00\x12", "SharingFilesStrategy\x00\x00\x00\x00\x00\x00\x00\x00\x02", "has the flags 0x2, and Flink's has 0x12"},
	} {
		t.Run(name, func(t *testing.T) {
			s := flinkcases.Load(t, "versioned-p1").Snapshots[0]
			data := flinkcases.Metadata(t, "versioned-p1", s)
			if !bytes.Contains(data, []byte(c.old)) {
				t.Fatal("there is no such thing in it")
			}
			m, err := flinkmeta.Decode(bytes.Replace(data, []byte(c.old), []byte(c.new), 1))
			switch {
			case err != nil:
				if c.refused != "" {
					t.Fatal(err)
				}
			case c.refused == "" && m.Properties.Unknown == "", !strings.Contains(m.Properties.Refused, c.refused):
				t.Errorf("%+v", m.Properties)
			}
		})
	}
}

// Properties that a later Flink writes in another way make the kind unknown,
// and the rest of the file is still read.
func TestPropertiesThatAreNotUnderstood(t *testing.T) {
	tests := map[string]struct{ tail, unknown string }{
		"an array":                       {"75 7200015b", "object mark 0x75"},
		"a string":                       {"74 0001 61", "an object of another class"},
		"a class with a method":          {"73 72 0001 41 0000000000000001 03 0000 78 70", "class flags 0x3"},
		"an int field":                   {"73 72 0001 41 0000000000000001 02 0001 49 0001 69 78 70 00000001", "a field of type 0x49"},
		"another class":                  {"73 72 0001 41 0000000000000001 02 0000 78 70", "an object of another class"},
		"a class that is its own parent": {"73 72 0001 41 0000000000000001 02 0000 78 71 007e0000", "a class with more than 16 parents"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			front := metadataVector(t, 6)
			data := append(front[:len(front)-1], unhex(t, tt.tail)...)
			m, err := flinkmeta.Decode(data)
			if err != nil {
				t.Fatal(err)
			}
			if p := m.Properties; p.Unknown != tt.unknown || p.Kind != flinkmeta.KindUnknown || p.Null {
				t.Errorf("properties %+v, want unknown %q", p, tt.unknown)
			}
			if len(m.Operators) != 1 {
				t.Errorf("%d operators, want 1", len(m.Operators))
			}
		})
	}
}

func TestEncodeRefusesWhatAVersionCannotHold(t *testing.T) {
	inline := &flinkmeta.Stream{Kind: flinkmeta.InlineStream}
	subtask := func(s flinkmeta.Subtask) []flinkmeta.Operator {
		return []flinkmeta.Operator{{Subtasks: []flinkmeta.Subtask{s}}}
	}
	keyed := func(k flinkmeta.KeyedState) []flinkmeta.Operator { return subtask(flinkmeta.Subtask{ManagedKeyed: &k}) }
	tests := map[string]struct {
		m    flinkmeta.Metadata
		text string
	}{
		"version 7":                       {flinkmeta.Metadata{Version: 7}, "version 7 cannot be written"},
		"a negative checkpoint id":        {flinkmeta.Metadata{Version: 6, CheckpointID: -1}, "checkpoint id -1 is negative"},
		"properties in version 3":         {flinkmeta.Metadata{Version: 3, Properties: flinkmeta.CheckpointProperties()}, "cannot hold checkpoint properties"},
		"an unknown snapshot kind":        {flinkmeta.Metadata{Version: 6, Properties: flinkmeta.Properties{Kind: "backup"}}, "snapshot kind"},
		"a name in version 4":             {flinkmeta.Metadata{Version: 4, Operators: []flinkmeta.Operator{{Name: "x"}}}, "has a name or uid"},
		"a coordinator in version 2":      {flinkmeta.Metadata{Version: 2, Operators: []flinkmeta.Operator{{Coordinator: inline}}}, "coordinator state"},
		"a coordinator in a file":         {flinkmeta.Metadata{Version: 6, Operators: []flinkmeta.Operator{{Coordinator: &flinkmeta.Stream{Kind: flinkmeta.FileStream}}}}, "is not inline"},
		"a finished subtask in version 2": {flinkmeta.Metadata{Version: 2, Operators: subtask(flinkmeta.Subtask{Finished: true})}, "is finished"},
		"channels in version 2":           {flinkmeta.Metadata{Version: 2, Operators: subtask(flinkmeta.Subtask{InputChannels: []flinkmeta.ChannelState{{Kind: flinkmeta.InputChannel}}})}, "channel state"},
		"merged channels in version 5":    {flinkmeta.Metadata{Version: 5, Operators: subtask(flinkmeta.Subtask{InputChannels: []flinkmeta.ChannelState{{Kind: flinkmeta.MergedInputChannels}}})}, "merged channel state"},
		"an output among the inputs":      {flinkmeta.Metadata{Version: 6, Operators: subtask(flinkmeta.Subtask{InputChannels: []flinkmeta.ChannelState{{Kind: flinkmeta.ResultSubpartition}}})}, "channel state of kind 2"},
		"a finished operator's subtask":   {flinkmeta.Metadata{Version: 6, Operators: []flinkmeta.Operator{{FullyFinished: true, Subtasks: make([]flinkmeta.Subtask, 1)}}}, "fully finished and has subtasks"},
		"offsets that do not fit":         {flinkmeta.Metadata{Version: 6, Operators: keyed(flinkmeta.KeyedState{Kind: flinkmeta.KeyGroupsV2, Range: flinkmeta.KeyGroupRange{Count: 2}, KeyGroups: &flinkmeta.KeyGroups{}})}, "2 key groups with 0 offsets"},
		"a handle without its part":       {flinkmeta.Metadata{Version: 6, Operators: keyed(flinkmeta.KeyedState{Kind: flinkmeta.IncrementalV2})}, "lacks the fields of its kind"},
		"an unknown keyed kind":           {flinkmeta.Metadata{Version: 6, Operators: keyed(flinkmeta.KeyedState{Kind: 4})}, "keyed state tag 4 cannot be written"},
		"an unknown stream kind":          {flinkmeta.Metadata{Version: 6, Operators: []flinkmeta.Operator{{Subtasks: []flinkmeta.Subtask{{ManagedOperator: &flinkmeta.OperatorState{Stream: &flinkmeta.Stream{Kind: 9}}}}}}}, "stream tag 9 cannot be written"},
		"text that is not UTF-8":          {flinkmeta.Metadata{Version: 6, Operators: []flinkmeta.Operator{{Name: "a\xff"}}}, "is not UTF-8"},
		"a name that is too long":         {flinkmeta.Metadata{Version: 6, Operators: []flinkmeta.Operator{{Name: strings.Repeat("x", 65536)}}}, "takes 65536 bytes"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if _, err := flinkmeta.Encode(&tt.m); err == nil || !strings.Contains(err.Error(), tt.text) {
				t.Errorf("error %v, want … %s …", err, tt.text)
			}
		})
	}
}
