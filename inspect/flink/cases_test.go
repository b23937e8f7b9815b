package flink_test

import (
	"context"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/inspect/flink"
	"github.com/recoverctl/recoverctl/internal/flinkmeta"
	"github.com/recoverctl/recoverctl/internal/testkit/flinkcases"
)

// open copies a case and returns its folder and a store that maps the recorded
// paths to it.
func open(tb testing.TB, caseName string) (string, *flink.Store) {
	tb.Helper()
	dir := flinkcases.Copy(tb, caseName)
	s, err := flink.New(flink.Options{Mappings: []flink.Mapping{{From: flinkcases.RecordedRoot + caseName, To: dir}}})
	if err != nil {
		tb.Fatal(err)
	}
	return dir, s
}

// Every snapshot that a real Flink wrote, compared with what Flink's own classes
// read back from it.
func TestPointsAsFlinkReadThem(t *testing.T) {
	for _, name := range flinkcases.Names(t) {
		t.Run(name, func(t *testing.T) {
			dir, store := open(t, name)
			for _, want := range flinkcases.Load(t, name).Snapshots {
				got, err := store.Point(context.Background(), filepath.Join(dir, filepath.FromSlash(want.Path)))
				if err != nil {
					t.Errorf("%s: %v", want.Path, err)
					continue
				}
				comparePoint(t, want, got)
				compareSizes(t, name, want)
				compareFiles(t, name, want.Path, got)
			}
		})
	}
}

func comparePoint(t *testing.T, want flinkcases.Snapshot, got inspect.RecoveryPoint) {
	t.Helper()
	if got.CheckpointID != want.CheckpointID {
		t.Errorf("%s: checkpoint id %d, want %d", want.Path, got.CheckpointID, want.CheckpointID)
	}
	if (got.Kind == inspect.KindSavepoint) != want.Savepoint {
		t.Errorf("%s: kind %s, savepoint is %v", want.Path, got.Kind, want.Savepoint)
	}
	if got.Taken.Time == nil || got.Taken.Source != inspect.TimeFromFile {
		t.Errorf("%s: taken %+v", want.Path, got.Taken)
	}
	if len(got.Operators) != len(want.Operators) {
		t.Errorf("%s: %d operators, want %d", want.Path, len(got.Operators), len(want.Operators))
	}
	for _, op := range want.Operators {
		at := slices.IndexFunc(got.Operators, func(o inspect.Operator) bool { return o.ID == op.ID })
		if at < 0 {
			t.Errorf("%s: no operator %s", want.Path, op.ID)
			continue
		}
		compareOperator(t, want.Path, op, got.Operators[at])
		compareMarkers(t, want.Path, op, got)
	}
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func compareOperator(t *testing.T, where string, want flinkcases.Operator, got inspect.Operator) {
	t.Helper()
	if got.Name != text(want.Name) || got.UID != text(want.UID) || got.Parallelism != want.Parallelism || got.MaxParallelism != want.MaxParallelism {
		t.Errorf("%s: operator %+v, want name %q, uid %q, %d of %d", where, got, text(want.Name), text(want.UID), want.Parallelism, want.MaxParallelism)
	}
	states := map[string]string{}
	for _, subtask := range want.Subtasks {
		if subtask.ManagedOperatorState == nil {
			continue
		}
		for name, layout := range subtask.ManagedOperatorState.States {
			key := name + " " + layout.Mode
			n, _ := strconv.Atoi(states[key])
			states[key] = strconv.Itoa(n + len(layout.Offsets))
		}
	}
	found := map[string]string{}
	for _, s := range got.States {
		found[s.Name+" "+s.Mode] = strconv.Itoa(s.Elements)
	}
	if !maps.Equal(states, found) {
		t.Errorf("%s: operator %s has states %v, want %v", where, got.ID, found, states)
	}
}

// The markers in order, by subtask. A list that Flink itself could not read is
// one with a null element.
func compareMarkers(t *testing.T, where string, want flinkcases.Operator, point inspect.RecoveryPoint) {
	t.Helper()
	var got []inspect.Marker
	for _, m := range point.Markers {
		if m.OperatorID == want.ID {
			got = append(got, m)
		}
	}
	at := 0
	for _, subtask := range want.Subtasks {
		if subtask.Markers.Error != "" {
			if at >= len(got) || got[at].Kind != inspect.MarkerNull || got[at].Subtask != subtask.Index {
				t.Fatalf("%s: markers %+v, want a null element of subtask %d", where, got, subtask.Index)
			}
			if !hasCheck(point, "U9", inspect.SeverityError) {
				t.Errorf("%s: no error check for the null element: %+v", where, point.Checks)
			}
			at++
			continue
		}
		for _, m := range subtask.Markers.List {
			if at >= len(got) {
				t.Fatalf("%s: %d markers, want more", where, len(got))
			}
			compareMarker(t, where, subtask.Index, m, got[at])
			at++
		}
	}
	if at != len(got) {
		t.Errorf("%s: %d markers, want %d", where, len(got), at)
	}
}

func compareMarker(t *testing.T, where string, subtask int, want flinkcases.Marker, got inspect.Marker) {
	t.Helper()
	offsets := map[string]int64{}
	for p, o := range got.Offsets {
		offsets[strconv.Itoa(int(p))] = o
	}
	schema := 0
	if got.SchemaVersion != nil {
		schema = int(*got.SchemaVersion)
	}
	wantSchema := 0
	if want.SchemaVersion != nil {
		wantSchema = *want.SchemaVersion
	}
	if string(got.Kind) != want.Kind || got.Class != want.Class || got.Subtask != subtask || got.Problem != nil || schema != wantSchema ||
		!reflect.DeepEqual(got.Topic, want.Topic) || !reflect.DeepEqual(got.TopicID, want.TopicID) ||
		(got.Offsets == nil) != (want.Offsets == nil) || !maps.Equal(offsets, want.Offsets) {
		t.Errorf("%s: marker %+v of subtask %d, want %+v", where, got, subtask, want)
	}
}

// The sizes that files and checks are measured by are Flink's.
func compareSizes(t *testing.T, caseName string, want flinkcases.Snapshot) {
	t.Helper()
	md, err := flinkmeta.Decode(flinkcases.Metadata(t, caseName, want))
	if err != nil {
		t.Fatal(err)
	}
	for _, op := range want.Operators {
		at := slices.IndexFunc(md.Operators, func(o flinkmeta.Operator) bool { return o.ID.String() == op.ID })
		if size := md.Operators[at].StateSize(); size.Bytes != op.StateSize {
			t.Errorf("%s: operator %s has %d bytes of state, want %d", want.Path, op.ID, size.Bytes, op.StateSize)
		}
	}
}

// All files of the cases are there, so nothing is missing, and the only error
// checks are about odd markers.
func compareFiles(t *testing.T, caseName, where string, got inspect.RecoveryPoint) {
	t.Helper()
	if len(got.Files.Missing) != 0 || len(got.Files.Unchecked) != 0 {
		t.Errorf("%s: missing %v, not checked %v", where, got.Files.Missing, got.Files.Unchecked)
	}
	odd := map[string]bool{"null-p2": true, "negative-p1": true, "foreign-element-p1": strings.HasSuffix(where, "chk-2"), "null-fields-p2": true, "flink120-null-fields-p2": true}[caseName]
	var errs []string
	for _, c := range got.Checks {
		if c.Severity == inspect.SeverityError {
			errs = append(errs, c.ID)
		}
	}
	if !odd && len(errs) > 0 {
		t.Errorf("%s: error checks %v: %+v", where, errs, got.Checks)
	}
	for _, id := range errs {
		if id != "U9" {
			t.Errorf("%s: error check %s: %+v", where, id, got.Checks)
		}
	}
}

func hasCheck(p inspect.RecoveryPoint, id string, severity inspect.Severity) bool {
	return slices.ContainsFunc(p.Checks, func(c inspect.Check) bool { return c.ID == id && c.Severity == severity })
}

func check(tb testing.TB, p inspect.RecoveryPoint, id string) inspect.Check {
	tb.Helper()
	for _, c := range p.Checks {
		if c.ID == id {
			return c
		}
	}
	tb.Fatalf("no check %s in %+v", id, p.Checks)
	return inspect.Check{}
}

// What the odd cases are told to be.
func TestChecksOfRealSnapshots(t *testing.T) {
	tests := []struct {
		caseName, check string
		severity        inspect.Severity
		says            string
	}{
		{"null-p2", "U9", inspect.SeverityError, "subtask 1 is null"},
		{"empty-p2", "U5", inspect.SeverityWarning, "recoveryMarker is empty"},
		{"partly-empty-p2", "U5", inspect.SeverityWarning, "1 marker for 2 subtasks"},
		{"no-store-p2", "U3", inspect.SeverityInfo, "without an action state store"},
		{"partitions-differ-p2", "U10", inspect.SeverityWarning, "disagree about partitions or buckets"},
		{"carried-over-2-to-3", "U5", inspect.SeverityWarning, "carried over"},
		{"two-agents-p2", "P3", inspect.SeverityInfo, "2 agent operators"},
		{"versioned-p1", "P7", inspect.SeverityWarning, "no uid"},
		{"file-merging-p2", "V3", inspect.SeverityInfo, "merged files"},
		{"flink120-legacy-p2", "V1", inspect.SeverityInfo, "1.16 to 1.20"},
		{"versioned-p2", "V1", inspect.SeverityInfo, "2.1 to 2.3"},
		{"flink120-versioned-p2", "V6", inspect.SeverityInfo, "Kryo generation 2"},
		{"legacy-p2", "V6", inspect.SeverityInfo, "Kryo generation 5"},
		{"negative-p1", "U9", inspect.SeverityError, "neither may be negative"},
		{"foreign-element-p1", "U9", inspect.SeverityError, "is a java.lang.String"},
		{"legacy-p2", "M9", inspect.SeverityInfo, "metadata version 6"},
	}
	for _, tt := range tests {
		t.Run(tt.caseName+" "+tt.check, func(t *testing.T) {
			dir, store := open(t, tt.caseName)
			for _, s := range flinkcases.Load(t, tt.caseName).Snapshots {
				p, err := store.Point(context.Background(), path.Join(dir, s.Path))
				if err != nil {
					t.Fatal(err)
				}
				for _, c := range p.Checks {
					if c.ID == tt.check && c.Severity == tt.severity && strings.Contains(c.Message, tt.says) {
						return
					}
				}
			}
			t.Errorf("no snapshot of the case says %s %s %q", tt.check, tt.severity, tt.says)
		})
	}
	dir, store := open(t, "with-uid-p2")
	for _, s := range flinkcases.Load(t, "with-uid-p2").Snapshots {
		p, err := store.Point(context.Background(), path.Join(dir, s.Path))
		if err != nil || hasCheck(p, "P7", inspect.SeverityWarning) {
			t.Errorf("%s: an operator with a uid is told to have none (%v)", s.Path, err)
		}
	}
}

func TestMergedMarkersOfRealSnapshots(t *testing.T) {
	tests := []struct {
		caseName string
		want     inspect.MergedKind
	}{
		{"versioned-p3", inspect.MergedVersioned}, {"legacy-p2", inspect.MergedLegacy}, {"no-store-p2", inspect.MergedNone},
		{"empty-p2", inspect.MergedNone}, {"mixed-p2", inspect.MergedInvalid}, {"null-p2", inspect.MergedInvalid},
		{"compressed-p2", inspect.MergedVersioned}, {"flink120-versioned-p2", inspect.MergedVersioned},
	}
	for _, tt := range tests {
		dir, store := open(t, tt.caseName)
		c := flinkcases.Load(t, tt.caseName)
		for _, s := range c.Snapshots {
			p, err := store.Point(context.Background(), path.Join(dir, s.Path))
			if err != nil {
				t.Errorf("%s: %v", s.Path, err)
				continue
			}
			if p.Merged.Kind != tt.want {
				t.Errorf("%s %s: merged %+v, want %s", tt.caseName, s.Path, p.Merged, tt.want)
			}
			if tt.want == inspect.MergedVersioned || tt.want == inspect.MergedLegacy {
				if want := lowest(s); fmt.Sprint(want) != fmt.Sprint(map[int32]int64(p.Merged.Offsets)) {
					t.Errorf("%s %s: merged offsets %v, want %v", tt.caseName, s.Path, p.Merged.Offsets, want)
				}
			}
		}
	}
}

// lowest is the minimum per partition over Flink's own values.
func lowest(s flinkcases.Snapshot) map[int32]int64 {
	out := map[int32]int64{}
	for _, op := range s.Operators {
		for _, subtask := range op.Subtasks {
			for _, m := range subtask.Markers.List {
				for p, offset := range m.Offsets {
					n, _ := strconv.Atoi(p)
					if at, ok := out[int32(n)]; !ok || offset < at {
						out[int32(n)] = offset
					}
				}
			}
		}
	}
	return out
}
