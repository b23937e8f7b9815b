package inspect_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/recoverctl/recoverctl/inspect"
)

func TestNewestFirst(t *testing.T) {
	at := func(uri string, kind inspect.PointKind, id int64, minute int) inspect.RecoveryPoint {
		p := inspect.RecoveryPoint{URI: uri, Kind: kind, CheckpointID: id, MetadataVersion: 6}
		if id < 0 {
			p.MetadataVersion = 0
		}
		if minute >= 0 {
			taken := now.Add(time.Duration(minute) * time.Minute)
			p.Taken.Time = &taken
		}
		return p
	}
	const chk, sav = inspect.KindCheckpoint, inspect.KindSavepoint
	tests := map[string]struct {
		points []inspect.RecoveryPoint
		want   string
	}{
		"by id, whatever the dates of copied files say": {
			[]inspect.RecoveryPoint{at("/a/chk-3", chk, 3, 0), at("/a/chk-1", chk, 1, 5), at("/a/chk-2", chk, 2, 9)}, "/a/chk-3 /a/chk-2 /a/chk-1"},
		"damaged ones by the names of their folders": {
			[]inspect.RecoveryPoint{at("/a/chk-41", chk, -1, 9), at("/a/chk-42", chk, -1, -1), at("/a/chk-44", chk, 44, 9), at("/a/chk-12", chk, 12, 9)}, "/a/chk-44 /a/chk-42 /a/chk-41 /a/chk-12"},
		"jobs and savepoints by time": {
			[]inspect.RecoveryPoint{at("/a/chk-9", chk, 9, 1), at("/b/chk-2", chk, 2, 3), at("/s/savepoint-1", sav, 1, 2)}, "/b/chk-2 /s/savepoint-1 /a/chk-9"},
		"a savepoint between copied checkpoints does not part them": {
			[]inspect.RecoveryPoint{at("/a/chk-44", chk, 44, 1), at("/a/chk-43", chk, 43, 3), at("/s/savepoint-1", sav, 40, 2)}, "/a/chk-44 /a/chk-43 /s/savepoint-1"},
		"savepoints of other jobs in one folder by time": {
			[]inspect.RecoveryPoint{at("/s/savepoint-4f3c92-a1d7c0e52b94", sav, 33, 9), at("/s/savepoint-c07ad2-9c41be6f07d3", sav, 60, 2), at("/s/savepoint-71d0e4-5d20f3c4e8b1", sav, 71, 1)},
			"/s/savepoint-4f3c92-a1d7c0e52b94 /s/savepoint-c07ad2-9c41be6f07d3 /s/savepoint-71d0e4-5d20f3c4e8b1"},
		"a job's savepoint stands among its checkpoints": {
			[]inspect.RecoveryPoint{at("/c/4f3c92d07be1458a96c0d1e2f3a4b5c6/chk-44", chk, 44, 1), at("/s/savepoint-4f3c92-a1d7c0e52b94", sav, 43, 9), at("/c/4f3c92d07be1458a96c0d1e2f3a4b5c6/chk-42", chk, 42, 1)},
			"/c/4f3c92d07be1458a96c0d1e2f3a4b5c6/chk-44 /s/savepoint-4f3c92-a1d7c0e52b94 /c/4f3c92d07be1458a96c0d1e2f3a4b5c6/chk-42"},
		"without a time last": {
			[]inspect.RecoveryPoint{at("/s/x", sav, -1, -1), at("/s/y", sav, -1, 1)}, "/s/y /s/x"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			for range len(tt.points) { // in whichever order they come
				tt.points = append(tt.points[1:], tt.points[0])
				points := slices.Clone(tt.points)
				inspect.NewestFirst(points)
				var got []string
				for _, p := range points {
					got = append(got, p.URI)
				}
				if text := strings.Join(got, " "); text != tt.want {
					t.Errorf("%s, want %s", text, tt.want)
				}
			}
		})
	}
}
