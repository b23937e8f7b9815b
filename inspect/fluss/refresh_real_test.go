//go:build real

package fluss_test

import (
	"encoding/base64"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/inspect/fluss"
	"github.com/recoverctl/recoverctl/internal/clock"
	"github.com/recoverctl/recoverctl/internal/flussrpc"
	"github.com/recoverctl/recoverctl/internal/testkit/flusstest"
)

// States that were written anew to a real table, as a store does it: the log ends
// first, then the states, the second time half-way.
func TestStatesWrittenAnewOnARealCluster(t *testing.T) {
	real := flusstest.Real(t)
	java := real.Java(t)
	path := flussrpc.TablePath{Database: fmt.Sprintf("r%d", time.Now().UnixNano()), Table: "state"}
	java.Do(t, nil, "create", path.Database, path.Table, "states", "1", "1", "")
	store := fluss.New(real.Client(t), clock.System{}, fluss.Remote{})
	put := func(agents ...string) {
		words := []string{"states", path.Database, path.Table}
		for _, agent := range agents {
			key, payload := saved(agent)
			words = append(words, key, base64.StdEncoding.EncodeToString([]byte(payload)), agent)
		}
		java.Do(t, nil, words...)
	}
	ends := func() inspect.Offsets {
		data, err := store.DataTopic(t.Context(), path.String())
		if err != nil || len(data.Partitions) != 1 || data.Partitions[0].Err != nil {
			t.Fatalf("%+v, %v", data, err)
		}
		return inspect.Offsets{0: data.Partitions[0].Log.End}
	}
	put("a", "b", "c")
	first := ends()
	put("a", "b", "c")
	second := ends()
	put("a")
	data, err := store.DataTopic(t.Context(), path.String())
	if err != nil {
		t.Fatal(err)
	}
	job := inspect.Job{Store: inspect.StoreFluss, Topic: path.String(), Runtime: inspect.ReleaseNext}
	got, err := store.ReadCalls(t.Context(), data, inspect.CallQuestion{Job: job, Points: []inspect.PointMarker{{Point: "file:/chk-1", Offsets: first}, {Point: "file:/chk-2", Offsets: second}}}, nil)
	if err != nil || len(got.Actions) != 3 {
		t.Fatal(err, len(got.Actions))
	}
	for n, want := range []inspect.Rewritten{{Open: 3, Found: 3, Again: 3, Records: 3}, {Open: 3, Found: 1, Again: 1, Records: 1}} {
		r := *got.Points[n].Rewritten
		r.Bytes = 0
		if r != want {
			t.Errorf("%s: %+v, want %+v", got.Points[n].Point, r, want)
		}
	}
	at := slices.IndexFunc(got.Findings, func(f inspect.Finding) bool { return f.Rule == "rewritten-in-part" })
	if at < 0 || !slices.Equal(got.Findings[at].Refs, []string{"bucket 0 offset 4", "bucket 0 offset 5"}) {
		t.Errorf("%+v", got.Findings)
	}
	// From the recovery point before, everything is found; what a restore does is judged
	// by it, and it is accepted.
	for _, a := range got.Actions {
		if a.Outcomes[0].Outcome != inspect.CallReused || a.Offset < second[0] != (a.Outcomes[1].Outcome == inspect.CallUnknown) {
			t.Errorf("offset %d: %+v", a.Offset, a.Outcomes)
		}
	}
	if v := inspect.ValidateRestore(inspect.RestoreQuestion{Job: job, Data: data, MarkersOnly: true, Markers: []inspect.Marker{{Kind: inspect.MarkerLegacy, Offsets: first}}}); v.Verdict != inspect.Accepted {
		t.Errorf("%s: %+v", v.Verdict, v.Reasons)
	}
}
