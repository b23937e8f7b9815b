package artefact_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/recoverctl/recoverctl/internal/arkhub/artefact"
	"github.com/recoverctl/recoverctl/internal/testkit/arkhubtest/recorded"
)

// Every object of every store is read as the engine's own code reads it: the
// same checksums, the same content, and refused where the engine refuses it.
func TestObjectsAsTheEngineReadsThem(t *testing.T) {
	stores, err := recorded.Stores()
	if err != nil {
		t.Fatal(err)
	}
	objects, bad := 0, 0
	for _, s := range stores {
		for _, want := range s.Report {
			data, there := s.Objects[want.Key]
			if !there {
				t.Errorf("%s: the report names %s, which is not there", s.Name, want.Key)
				continue
			}
			objects++
			verify := want.Verify != nil && *want.Verify
			if !verify {
				bad++
			}
			at := s.Name + " " + want.Key
			if want.Kind == "state_snapshot" {
				checkSnapshot(t, at, data, want, verify)
			} else {
				checkManifest(t, at, data, want, verify)
			}
		}
	}
	if len(stores) != 14 || objects < 120 || bad < 4 {
		t.Errorf("%d stores, %d objects, %d bad ones", len(stores), objects, bad)
	}
}

func checkSnapshot(t *testing.T, at string, data []byte, want recorded.Report, verify bool) {
	t.Helper()
	got, err := artefact.ParseSnapshot(data)
	if want.Error != "" {
		if err == nil {
			t.Errorf("%s: read, the engine says %s", at, want.Error)
		}
		return
	}
	if err != nil || got.Sealed() != verify || got.Checksum != want.Checksum || got.Entries != want.Entries ||
		got.FormatVersion != want.FormatVersion || !slices.Equal(got.Namespaces, want.Namespaces) || len(data) != want.Bytes {
		t.Errorf("%s: %+v of %d bytes, error %v, want %+v", at, got, len(data), err, want)
	}
}

func checkManifest(t *testing.T, at string, data []byte, want recorded.Report, verify bool) {
	t.Helper()
	m, err := artefact.ParseManifest(data)
	if want.Error != "" {
		if err == nil {
			t.Errorf("%s: read, the engine says %s", at, want.Error)
		}
		return
	}
	if err != nil {
		t.Errorf("%s: %v", at, err)
		return
	}
	if m.Sealed() != verify || m.Computed() != want.ComputedChecksum || m.Checksum != want.StoredChecksum {
		t.Errorf("%s: computed %d, recorded %d, the engine says %d, %d", at, m.Computed(), m.Checksum, want.ComputedChecksum, want.StoredChecksum)
	}
	var tasks []string
	for _, a := range m.TaskAttempts {
		tasks = append(tasks, a.TaskID)
	}
	if m.CheckpointID != want.CheckpointID || m.JobID != want.JobID || m.JobVersion != want.JobVersion || m.Generation != want.Generation ||
		m.FormatVersion != want.FormatVersion || !slices.Equal(tasks, want.Tasks) || len(m.WatermarksMs) != len(want.WatermarksMs) ||
		len(m.SourcePositions) != len(want.SourcePositions) || len(m.StateSnapshots) != len(want.Snapshots) {
		t.Errorf("%s: %+v, want %+v", at, m, want)
	}
	for i, p := range m.SourcePositions {
		w := want.SourcePositions[i]
		if p.Partition != w.Partition || p.Offset != w.Offset || (p.Topic == nil) != (w.Topic == nil) || p.Topic != nil && *p.Topic != *w.Topic {
			t.Errorf("%s: position %d is %+v, want %+v", at, i, p, w)
		}
	}
	if again := m.Append(nil); !bytes.Equal(again, data) {
		t.Errorf("%s: written again it is\n%s\nnot\n%s", at, again, data)
	}
}

func TestManifestsThatAreNone(t *testing.T) {
	good := string(artefact.Manifest{CheckpointID: "c", WatermarksMs: map[string]int64{}}.Append(nil))
	for text, want := range map[string]string{
		"":                         "ends in the middle, after 0 bytes",
		"[]":                       "is not a JSON object",
		"<Error>NoSuchKey</Error>": "is not JSON at byte 0 of 24",
		good[:40]:                  "ends in the middle, after 40 bytes",
		good + "{}":                "has something after its end",
		strings.Replace(good, `"job_version":0`, `"job_version":-1`, 1):                   "job_version is not a whole number of 64 bits",
		strings.Replace(good, `"job_version":0`, `"job_version":1.0`, 1):                  "job_version is not a whole number of 64 bits",
		strings.Replace(good, `"format_version":0`, `"format_version":4294967296`, 1):     "format_version is not a whole number of 32 bits",
		strings.Replace(good, `"job_version":0,`, ``, 1):                                  "has no field job_version",
		strings.Replace(good, `"job_version"`, `"Job_version"`, 1):                        "has no field job_version",
		strings.Replace(good, `"job_version":0`, `"job_version":0,"job_version":0`, 1):    "has the field job_version twice",
		strings.Replace(good, `"task_attempts":[]`, `"task_attempts":[{"task_id":7}]`, 1): "task_attempts [0] task_id is not text",
		strings.Replace(good, `"checkpoint_id":"c"`, `"checkpoint_id":null`, 1):           "checkpoint_id is not text",
	} {
		if _, err := artefact.ParseManifest([]byte(text)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%.60s: %v, want %s", text, err, want)
		}
	}
	if _, err := artefact.ParseManifest([]byte(strings.Replace(good, `{"ch`, `{"later":{"x":[1]},"ch`, 1))); err != nil {
		t.Errorf("a field of later engines: %v", err)
	}
}

func TestSnapshotsThatAreNone(t *testing.T) {
	for text, want := range map[string]string{
		`{"format_version":1,"entries":[{"namespace":"n","key":[256],"value":[]}],"checksum":1}`: "entries [0] key holds a number above 255",
		`{"format_version":1,"entries":[{"namespace":"n","key":"AA","value":[]}],"checksum":1}`:  "entries [0] key is not an array of bytes",
		`{"format_version":1,"entries":[{"namespace":"n","key":[-1],"value":[]}],"checksum":1}`:  "entries [0] key holds something that is no number",
		`{"format_version":1,"entries":[{"namespace":"n","key":[]}],"checksum":1}`:               "entries [0] has no field value",
		`{"format_version":1,"entries":[`:   "entries",
		`{"format_version":1,"entries":[]}`: "has no field checksum",
	} {
		if _, err := artefact.ParseSnapshot([]byte(text)); err == nil || !strings.Contains(err.Error(), strings.TrimPrefix(want, "entries")) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// What is written can be read, and is sealed: for every byte that may stand in a
// name or a value.
func TestWhatIsWrittenIsRead(t *testing.T) {
	name := "a\"b\\c\b\f\n\r\t\x01\x7f\u2028<&>é"
	m := artefact.Manifest{CheckpointID: name, JobID: "j", WatermarksMs: map[string]int64{name: -5, "a": 1}, TaskAttempts: []artefact.TaskAttempt{{TaskID: name}}}
	m.Checksum = m.Computed()
	got, err := artefact.ParseManifest(m.Append(nil))
	if err != nil || !got.Sealed() || got.CheckpointID != name || got.WatermarksMs[name] != -5 {
		t.Errorf("%+v, error %v", got, err)
	}
	if !bytes.Contains(m.Append(nil), []byte(`a\"b\\c\b\f\n\r\t\u0001`+"\x7f\u2028<&>é")) {
		t.Errorf("%s", m.Append(nil))
	}
	s, err := artefact.ParseSnapshot(artefact.AppendSnapshot(nil, 1, []artefact.Entry{{Namespace: name, Key: []byte{0, 255, 10}, Value: nil, ExpiresAtMs: 7}, {Namespace: "a"}}))
	if err != nil || !s.Sealed() || s.Entries != 2 || s.Namespaces[1] != name {
		t.Errorf("%+v, error %v", s, err)
	}
	empty, err := artefact.ParseSnapshot(artefact.AppendSnapshot(nil, 1, nil))
	if err != nil || empty.Checksum != 14695981039346656037 { // as every empty one of the engine's
		t.Errorf("%+v, error %v", empty, err)
	}
}

func FuzzManifest(f *testing.F) {
	stores, err := recorded.Stores()
	if err != nil {
		f.Fatal(err)
	}
	for _, s := range stores {
		for key, data := range s.Objects {
			if strings.HasSuffix(key, "manifest.json") {
				f.Add(data)
			}
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := artefact.ParseManifest(data)
		if err != nil {
			return
		}
		again, err := artefact.ParseManifest(m.Append(nil))
		if err != nil || again.Computed() != m.Computed() {
			t.Fatalf("%+v written and read again is %+v, error %v", m, again, err)
		}
	})
}

func FuzzSnapshot(f *testing.F) {
	stores, err := recorded.Stores()
	if err != nil {
		f.Fatal(err)
	}
	for _, s := range stores {
		for key, data := range s.Objects {
			if strings.Contains(key, "/state-") {
				f.Add(data)
			}
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := artefact.ParseSnapshot(data)
		if err == nil && (s.Entries < len(s.Namespaces) || s.Entries > len(data)) {
			t.Fatalf("%+v of %d bytes", s, len(data))
		}
	})
}
