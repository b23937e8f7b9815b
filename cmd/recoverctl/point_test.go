package main

import (
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/recoverctl/recoverctl/internal/testkit/flinkcases"
)

type pointJSON struct {
	Kind         string
	CheckpointID int64
	Operators    []struct {
		ID, Name, UID               string
		Parallelism, MaxParallelism int
		States                      []struct {
			Name, Mode string
			Elements   int
		}
	}
	Markers []markerJSON
	Checks  []struct{ ID, Severity, Message string }
	Files   struct{ Missing, Unchecked []string }
}

type markerJSON struct {
	OperatorID    string
	Subtask       int
	Kind, Class   string
	SchemaVersion *int
	Topic         *string
	TopicID       *string
	Offsets       map[string]int64
}

// Every snapshot that a real Flink wrote, asked for as an operator would: the
// operators, their states and the markers are those that Flink itself read back.
// Where Flink's own read failed, the answer says what is wrong.
func TestSnapshotsAreReadAsByFlink(t *testing.T) {
	asked := 0
	for _, name := range flinkcases.Names(t) {
		t.Run(name, func(t *testing.T) {
			dir := flinkcases.Copy(t, name)
			for _, want := range flinkcases.Load(t, name).Snapshots {
				t.Run(filepath.Base(want.Path), func(t *testing.T) {
					asked++
					a, got := ask[pointJSON](t, "RecoveryPoint", "inspect", "point", filepath.Join(dir, want.Path), "--map", "file:/data/checkpoints/"+name+"="+dir)
					if a.Data.CheckpointID != want.CheckpointID || (a.Data.Kind == "savepoint") != want.Savepoint {
						t.Errorf("%s %d, want %d, savepoint %t", a.Data.Kind, a.Data.CheckpointID, want.CheckpointID, want.Savepoint)
					}
					if len(a.Data.Files.Missing)+len(a.Data.Files.Unchecked) > 0 {
						t.Errorf("files %+v: all of them are there", a.Data.Files)
					}
					wantOperators(t, a.Data, want)
					var errs []string
					for _, c := range a.Data.Checks {
						if c.Severity == "error" {
							errs = append(errs, c.ID+" "+c.Message)
						}
					}
					if (got.code != 0) != (len(errs) > 0) {
						t.Errorf("exit %d with the error checks %q", got.code, errs)
					}
					if failed := flinkFailed(want); failed != "" && len(errs) == 0 {
						t.Errorf("Flink could not restore it (%s), and no check says why", failed)
					}
				})
			}
		})
	}
	if asked != 87 {
		t.Errorf("%d snapshots, want 87", asked)
	}
}

// flinkFailed is the error with which Flink itself could not read markers.
func flinkFailed(s flinkcases.Snapshot) string {
	for _, op := range s.Operators {
		for _, subtask := range op.Subtasks {
			if subtask.Markers.Error != "" {
				return subtask.Markers.Error
			}
		}
	}
	return ""
}

func wantOperators(t *testing.T, got pointJSON, want flinkcases.Snapshot) {
	t.Helper()
	if len(got.Operators) != len(want.Operators) {
		t.Fatalf("%d operators, want %d", len(got.Operators), len(want.Operators))
	}
	markers := 0
	for i, op := range want.Operators {
		g := got.Operators[i]
		if g.ID != op.ID || g.Name != orEmpty(op.Name) || g.UID != orEmpty(op.UID) || g.Parallelism != op.Parallelism || g.MaxParallelism != op.MaxParallelism {
			t.Errorf("operator %+v, want %s %s %s %d %d", g, op.ID, orEmpty(op.Name), orEmpty(op.UID), op.Parallelism, op.MaxParallelism)
		}
		states := map[string]int{}
		modes := map[string]string{}
		for _, subtask := range op.Subtasks {
			if subtask.ManagedOperatorState != nil {
				for name, layout := range subtask.ManagedOperatorState.States {
					states[name] += len(layout.Offsets)
					modes[name] = layout.Mode
				}
			}
			markers += wantMarkers(t, got.Markers, op.ID, subtask)
		}
		if len(g.States) != len(states) {
			t.Errorf("%d states, want %d", len(g.States), len(states))
		}
		for _, s := range g.States {
			if s.Elements != states[s.Name] || s.Mode != modes[s.Name] {
				t.Errorf("state %+v, want %s with %d elements", s, modes[s.Name], states[s.Name])
			}
		}
	}
	if len(got.Markers) != markers {
		t.Errorf("%d markers, want %d", len(got.Markers), markers)
	}
}

// wantMarkers compares the markers of one subtask, in list order, and returns
// how many there are. A list that Flink could not read has a null element.
func wantMarkers(t *testing.T, all []markerJSON, operator string, want flinkcases.Subtask) int {
	t.Helper()
	var mine []markerJSON
	for _, m := range all {
		if m.OperatorID == operator && m.Subtask == want.Index {
			mine = append(mine, m)
		}
	}
	if want.Markers.Error != "" {
		if !slices.ContainsFunc(mine, func(m markerJSON) bool { return m.Kind == "null" }) {
			t.Errorf("subtask %d: Flink failed on its null element, and no marker here is null: %+v", want.Index, mine)
		}
		return len(mine)
	}
	for n, element := range want.Markers.List {
		w := markerJSON{
			OperatorID: operator, Subtask: want.Index, Kind: element.Kind, Class: element.Class,
			SchemaVersion: element.SchemaVersion, Topic: element.Topic, TopicID: element.TopicID, Offsets: element.Offsets,
		}
		if element.Kind == "other" && element.Offsets == nil {
			w.Offsets = map[string]int64{} // such an element has no such field
		}
		if n >= len(mine) || !reflect.DeepEqual(mine[n], w) {
			t.Errorf("subtask %d element %d: %+v, want %+v", want.Index, n, mine[min(n, len(mine)):], w)
		}
	}
	return len(want.Markers.List)
}

func orEmpty(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
