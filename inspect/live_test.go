package inspect_test

import (
	"strings"
	"testing"
	"time"

	"github.com/recoverctl/recoverctl/inspect"
)

func TestWhatFlinkRestoresByItself(t *testing.T) {
	path := func(s string) *string { return &s }
	interval := int64(60000)
	timed := &inspect.CheckpointSettings{IntervalMs: &interval, Retention: inspect.RetainOnCancellation}
	chk := func(id int64) *inspect.LiveCheckpoint {
		return &inspect.LiveCheckpoint{ID: id, Kind: inspect.KindCheckpoint, Status: inspect.CheckpointCompleted, Path: path("file:/c/j/chk")}
	}
	restored := func(id int64, kind inspect.PointKind) *inspect.LiveRestore {
		return &inspect.LiveRestore{ID: id, Kind: kind, Path: path("file:/s/savepoint")}
	}
	discarded := chk(9)
	discarded.Discarded = true
	inMemory := chk(9)
	inMemory.Path = nil

	const strategy, store = "restart strategy", "high-availability store"
	tests := map[string]struct {
		state    string
		points   *inspect.LiveCheckpoints
		settings *inspect.CheckpointSettings
		source   inspect.RestoreSource
		id       int64 // 0: none
		field    string
		why      []string // parts of the sentence
		unknown  []string // parts, in order
	}{
		"running, with checkpoints": {"RUNNING", &inspect.LiveCheckpoints{LatestCompleted: chk(9)}, timed,
			inspect.SourcePoint, 9, "latest.completed", []string{"checkpoint 9 is the newest completed one"}, []string{strategy, store}},
		"restarting: the strategy has already agreed": {"RESTARTING", &inspect.LiveCheckpoints{LatestCompleted: chk(9)}, timed,
			inspect.SourcePoint, 9, "latest.completed", nil, []string{store}},
		"restored, and none completed since": {"RUNNING", &inspect.LiveCheckpoints{Restored: restored(14, inspect.KindSavepoint)}, timed,
			inspect.SourcePoint, 14, "latest.restored", []string{"no checkpoint was completed since the job was restored from savepoint 14"}, []string{strategy, store}},
		"restored from a point newer than the history's": {"RUNNING", &inspect.LiveCheckpoints{LatestCompleted: chk(9), Restored: restored(14, inspect.KindCheckpoint)}, timed,
			inspect.SourcePoint, 14, "latest.restored", []string{"restored from checkpoint 14"}, []string{strategy, store}},
		"restored, and completed since": {"RUNNING", &inspect.LiveCheckpoints{LatestCompleted: chk(15), Restored: restored(14, inspect.KindSavepoint)}, timed,
			inspect.SourcePoint, 15, "latest.completed", nil, []string{strategy, store}},
		"a savepoint is newer and no help": {"RUNNING", &inspect.LiveCheckpoints{LatestCompleted: chk(9), LatestSavepoint: chk(10)}, timed,
			inspect.SourcePoint, 9, "latest.completed", []string{"savepoint 10 is newer, and Flink does not use it by itself"}, []string{strategy, store}},
		"only a savepoint": {"RUNNING", &inspect.LiveCheckpoints{LatestSavepoint: chk(1)}, timed,
			inspect.SourceNoState, 0, "", []string{"started without state", "savepoint 1 is newer"}, []string{strategy, store}},
		"nothing at all": {"RUNNING", &inspect.LiveCheckpoints{}, &inspect.CheckpointSettings{},
			inspect.SourceNoState, 0, "", []string{"no checkpoint was completed", "none are taken by time"}, []string{strategy, store}},
		"replaced while it was read": {"RUNNING", &inspect.LiveCheckpoints{LatestCompleted: discarded}, timed,
			inspect.SourcePoint, 9, "latest.completed", []string{"discarded meanwhile"}, []string{strategy, store, "which newer checkpoint replaced it"}},
		"kept in memory": {"RUNNING", &inspect.LiveCheckpoints{LatestCompleted: inMemory}, timed,
			inspect.SourcePoint, 9, "latest.completed", nil, []string{strategy, store, "only in the JobManager's memory"}},
		"failed for good": {"FAILED", &inspect.LiveCheckpoints{LatestCompleted: chk(9)}, &inspect.CheckpointSettings{Retention: inspect.DeleteOnCancellation},
			inspect.SourceNone, 0, "", []string{"FAILED", "(DELETE_ON_CANCELLATION) checkpoint 9 is kept"}, nil},
		"failed, and nothing is retained": {"FAILED", &inspect.LiveCheckpoints{LatestCompleted: chk(9)}, &inspect.CheckpointSettings{Retention: inspect.NoRetention},
			inspect.SourceNone, 0, "", []string{"checkpoint 9 is deleted"}, nil},
		"cancelled, retained": {"CANCELED", &inspect.LiveCheckpoints{LatestCompleted: chk(9)}, timed,
			inspect.SourceNone, 0, "", []string{"checkpoint 9 is kept"}, nil},
		"cancelled, not retained": {"CANCELED", &inspect.LiveCheckpoints{LatestCompleted: chk(9)}, &inspect.CheckpointSettings{Retention: inspect.DeleteOnCancellation},
			inspect.SourceNone, 0, "", []string{"checkpoint 9 is deleted"}, nil},
		"finished": {"FINISHED", &inspect.LiveCheckpoints{LatestCompleted: chk(9)}, timed,
			inspect.SourceNone, 0, "", []string{"checkpoint 9 is deleted"}, nil},
		"ended, and nothing else is known": {"CANCELED", nil, nil, inspect.SourceNone, 0, "", []string{"start it again from a recovery point"}, nil},
		"suspended": {"SUSPENDED", &inspect.LiveCheckpoints{LatestCompleted: chk(9)}, timed,
			inspect.SourceUnknown, 0, "", []string{"the job is SUSPENDED"}, []string{store}},
		"a history that could not be read": {"RUNNING", nil, timed, inspect.SourceUnknown, 0, "", []string{"could not be read"}, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := inspect.NextOf(tt.state, tt.points, tt.settings)
			id := int64(0)
			if got.ID != nil {
				id = *got.ID
			}
			if got.Source != tt.source || id != tt.id || got.Field != tt.field || len(got.Unknown) != len(tt.unknown) || got.Unknown == nil {
				t.Fatalf("got %+v", got)
			}
			if tt.source != inspect.SourcePoint && got.Path != nil {
				t.Errorf("a path without a point: %s", *got.Path)
			}
			for _, part := range tt.why {
				if !strings.Contains(got.Why, part) {
					t.Errorf("why %q, want %q in it", got.Why, part)
				}
			}
			for i, part := range tt.unknown {
				if !strings.Contains(got.Unknown[i], part) {
					t.Errorf("unknown %q, want %q", got.Unknown[i], part)
				}
			}
		})
	}
}

func TestTimesOfPointsComeFromTheHistory(t *testing.T) {
	at := time.Date(2026, 11, 28, 22, 14, 3, 0, time.UTC)
	later := at.Add(time.Minute)
	chk, savepoint, running := "file:/c/4f3c/chk-7", "s3://state/sp/savepoint-4f3c-a1/", "file:/c/4f3c/chk-8"
	live := inspect.LiveState{Checkpoints: &inspect.LiveCheckpoints{
		History:         []inspect.LiveCheckpoint{{ID: 8, Path: &running}, {ID: 7, Path: &chk, Triggered: &at}, {ID: 6}},
		LatestSavepoint: &inspect.LiveCheckpoint{ID: 3, Path: &savepoint, Triggered: &later},
	}}
	for uri, want := range map[string]*time.Time{
		"file:/c/4f3c/chk-7":                        &at,
		"file:///c/4f3c/chk-7/":                     &at,
		"/c/4f3c/chk-7":                             &at,
		"FILE:/c/4f3c/chk-7/_metadata":              &at,
		"s3://state/sp/savepoint-4f3c-a1":           &later,
		"s3://state/sp/savepoint-4f3c-a1/_metadata": &later,
		"s3://other/sp/savepoint-4f3c-a1":           nil,
		"file:/c/4f3c/chk-70":                       nil,
		"file:/c/4f3c/chk-8":                        nil, // no time is known
		"":                                          nil,
	} {
		taken, ok := live.Taken(uri)
		switch {
		case want == nil && !ok:
		case want != nil && ok && taken.Source == inspect.TimeFromFlink && taken.Time.Equal(*want):
		default:
			t.Errorf("%q: %+v, %t", uri, taken, ok)
		}
	}
	if _, ok := (inspect.LiveState{}).Taken(chk); ok {
		t.Error("a time without a history")
	}
}

func TestAPointGivenByItsPathIsNotAlwaysASavepoint(t *testing.T) {
	for path, want := range map[string]inspect.PointKind{
		"file:/c/4f3c/chk-7":                   inspect.KindCheckpoint, // Flink says savepoint of each of these
		"file:/c/4f3c/chk-7/_metadata":         inspect.KindCheckpoint,
		"s3://state/savepoint-4f3c-a1":         inspect.KindSavepoint,
		"file:/c/chk-":                         inspect.KindSavepoint,
		"file:/c/chk-7a":                       inspect.KindSavepoint,
		"":                                     inspect.KindSavepoint,
		"file:/c/4f3c/chk-7/savepoint-1-2/x-y": inspect.KindSavepoint,
	} {
		if got := inspect.RestoredKind(path, true); got != want {
			t.Errorf("%s: %s", path, got)
		}
	}
	if inspect.RestoredKind("s3://state/savepoint-4f3c-a1", false) != inspect.KindCheckpoint {
		t.Error("Flink's word for a checkpoint was not taken")
	}
}
