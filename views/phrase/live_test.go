package phrase_test

import (
	"testing"
	"time"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/views/phrase"
)

// What could not be read never looks like what nobody asked for, and neither
// like a job that is well.
func TestLiveIsNeverSilent(t *testing.T) {
	tests := map[string]struct {
		source inspect.Connection
		live   *inspect.LiveState
		want   string
		tone   theme.Tone
	}{
		"nobody asked":    {inspect.NotConnected, nil, "not connected", theme.Muted},
		"no answer":       {inspect.Unread, nil, "could not be read", theme.Warning},
		"it runs":         {inspect.Read, &inspect.LiveState{State: "RUNNING"}, "RUNNING", theme.Plain},
		"it restarts":     {inspect.Read, &inspect.LiveState{State: "RESTARTING"}, "RESTARTING", theme.Error},
		"a word of later": {inspect.Read, &inspect.LiveState{State: "DREAMING\x1b[2J"}, `DREAMING\x1b[2J`, theme.Warning},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got, tone := phrase.Live(tt.source, tt.live); got != tt.want || tone != tt.tone {
				t.Errorf("%q %d, want %q %d", got, tone, tt.want, tt.tone)
			}
		})
	}
}

func TestLiveInWords(t *testing.T) {
	at := time.Date(2024, 5, 14, 14, 3, 0, 0, time.UTC)
	n := func(n int64) *int64 { return &n }
	s := func(s string) *string { return &s }
	before := func(d time.Duration) *time.Time { t := at.Add(-d); return &t }
	restored := &inspect.LiveCheckpoints{Restored: &inspect.LiveRestore{ID: 1204, Kind: inspect.KindCheckpoint}}
	tests := map[string]struct{ got, want string }{
		"since":                      {phrase.LiveFor(inspect.LiveState{State: "RUNNING", Since: before(4 * time.Minute)}, at), "RUNNING 4m"},
		"since is not known":         {phrase.LiveFor(inspect.LiveState{State: "RUNNING"}, at), "RUNNING"},
		"restarts are not known":     {phrase.Restarts(inspect.LiveState{}), "restarts not known"},
		"none was counted":           {phrase.Restarts(inspect.LiveState{Restarts: n(0)}), "no restart counted"},
		"at least one":               {phrase.Restarts(inspect.LiveState{Restarts: n(1)}), "1+ restart"},
		"at least some":              {phrase.Restarts(inspect.LiveState{Restarts: n(7)}), "7+ restarts"},
		"restored from a path":       {phrase.RestoredFrom(inspect.LiveState{RestoredFrom: s("s3://b/chk-7"), Checkpoints: restored}), "restored from chk-7"},
		"restored, path not said":    {phrase.RestoredFrom(inspect.LiveState{Checkpoints: restored}), "restored from checkpoint 1,204"},
		"never restored":             {phrase.RestoredFrom(inspect.LiveState{Checkpoints: &inspect.LiveCheckpoints{}}), "started without state"},
		"the history was not read":   {phrase.RestoredFrom(inspect.LiveState{}), "restored from: not known"},
		"cause":                      {phrase.Cause(inspect.LiveState{RootCause: &inspect.RootCause{Type: "java.lang.X", Message: "no", Time: before(time.Minute)}}, at), "14:02Z java.lang.X: no"},
		"cause without a message":    {phrase.Cause(inspect.LiveState{RootCause: &inspect.RootCause{Type: "java.lang.X"}}, at), "java.lang.X"},
		"only the line of the cause": {phrase.Cause(inspect.LiveState{LastException: s("boom\n")}, at), `boom\n`},
		"no cause":                   {phrase.Cause(inspect.LiveState{}, at), ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if tt.got != tt.want {
				t.Errorf("%q, want %q", tt.got, tt.want)
			}
		})
	}
}

func TestNextRestoreNamesTheVerdict(t *testing.T) {
	path, id := "s3://b/c/chk-44", int64(44)
	points := []inspect.PointSummary{{URI: path, Verdict: inspect.Rejected}}
	tests := map[string]struct {
		next   inspect.NextRestore
		points []inspect.PointSummary
		want   string
		tone   theme.Tone
	}{
		"a point that is rejected":   {inspect.NextRestore{Source: inspect.SourcePoint, ID: &id, Path: &path}, points, "by itself Flink restores chk-44 (REJECTED)", theme.Error},
		"a point that nobody found":  {inspect.NextRestore{Source: inspect.SourcePoint, ID: &id, Path: &path}, nil, "by itself Flink restores chk-44 (verdict not known)", theme.Warning},
		"a point that has no path":   {inspect.NextRestore{Source: inspect.SourcePoint, ID: &id}, points, "by itself Flink restores checkpoint 44", theme.Plain},
		"no state":                   {inspect.NextRestore{Source: inspect.SourceNoState}, points, "by itself Flink starts it WITHOUT STATE", theme.Warning},
		"it is over":                 {inspect.NextRestore{Source: inspect.SourceNone}, points, "not restarted by Flink itself", theme.Warning},
		"nothing can be said":        {inspect.NextRestore{Source: inspect.SourceUnknown}, points, "what Flink restores by itself is not known", theme.Warning},
		"a source that is not known": {inspect.NextRestore{}, points, "what Flink restores by itself is not known", theme.Warning},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got, tone := phrase.NextRestore(tt.next, tt.points); got != tt.want || tone != tt.tone {
				t.Errorf("%q %d, want %q %d", got, tone, tt.want, tt.tone)
			}
		})
	}
}
