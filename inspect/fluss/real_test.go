//go:build real

package fluss_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/inspect/fluss"
	"github.com/recoverctl/recoverctl/internal/clock"
	"github.com/recoverctl/recoverctl/internal/flussrpc"
	"github.com/recoverctl/recoverctl/internal/testkit/flusstest"
)

// states are what a job's own store would write: per action its records, as JSON.
func states() (out [][3]string) {
	put := func(agent string, sequence int, call string, completed bool) {
		calls := "[]"
		if call != "" {
			calls = fmt.Sprintf(`[{"functionId":"charge","argsDigest":"d","resultPayload":null,"exceptionPayload":null,"status":%q}]`, call)
		}
		payload := fmt.Sprintf(`{"taskEvent":{"@class":"x","id":"i","type":"_input_event","attributes":{}},"sensoryMemoryUpdates":[],"shortTermMemoryUpdates":[],"outputEvents":[],"callResults":%s,"completed":%t}`, calls, completed)
		out = append(out, [3]string{fmt.Sprintf("%s_%d_%s_%s", agent, sequence, event, action), base64.StdEncoding.EncodeToString([]byte(payload)), agent})
	}
	for n := range 12 {
		agent := fmt.Sprintf("cust_%d", n) // with the separator of keys in it
		put(agent, 0, "", false)
		put(agent, 0, "PENDING", false)
		switch n % 3 {
		case 0: // stays out
		case 1:
			put(agent, 0, "SUCCEEDED", false)
		default:
			put(agent, 0, "SUCCEEDED", false)
			put(agent, 0, "", true)
		}
	}
	return out
}

// The rows of an action-state table, the calls in them and the judgement of a
// restore agree with what Fluss's own client sees of the same table.
func TestActionStateOnARealCluster(t *testing.T) {
	real := flusstest.Real(t)
	java, cl := real.Java(t), real.Client(t)
	path := flussrpc.TablePath{Database: fmt.Sprintf("a%d", time.Now().UnixNano()), Table: "state"}
	java.Do(t, nil, "create", path.Database, path.Table, "states", "4", "1", "")
	words := []string{"states", path.Database, path.Table}
	wrote := states()
	for _, s := range wrote {
		words = append(words, s[:]...)
	}
	java.Do(t, nil, words...)

	var seen []struct {
		Bucket int32
		End    int64
		Rows   []struct {
			Offset int64
			Row    map[string]json.RawMessage
		}
	}
	java.Do(t, &seen, "scan", path.Database, path.Table)
	ends := inspect.Offsets{}
	byAgent := map[string]int32{}
	rows := 0
	for _, b := range seen {
		ends[b.Bucket] = b.End
		for _, r := range b.Rows {
			var agent string
			if err := json.Unmarshal(r.Row["agent_key"], &agent); err != nil {
				t.Fatal(err)
			}
			byAgent[agent] = b.Bucket
			rows++
		}
	}
	if rows != len(wrote) {
		t.Fatalf("Fluss's own client saw %d of %d rows", rows, len(wrote))
	}
	for agent, bucket := range byAgent {
		if got := flussrpc.BucketOfString(agent, 4); got != bucket {
			t.Errorf("%s computes to bucket %d and lies in %d", agent, got, bucket)
		}
	}

	store := fluss.New(cl, clock.System{}, fluss.Remote{})
	data, err := store.DataTopic(t.Context(), path.String())
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range data.Partitions {
		if p.Err != nil || p.Log != (inspect.LogRange{End: ends[p.ID]}) {
			t.Errorf("%+v, want an end of %d", p, ends[p.ID])
		}
	}
	job := inspect.Job{Store: inspect.StoreFluss, Topic: path.String(), BucketOf: flussrpc.BucketOfString, Runtime: inspect.Release03}
	got, err := store.ReadCalls(t.Context(), data, inspect.CallQuestion{Job: job, Points: []inspect.PointMarker{{Point: "file:/p", Offsets: ends}}}, nil)
	if err != nil || got.Scanned.Records != int64(rows) || got.Unattributable != 0 || got.Unreadable != 0 || got.Counts.Pending != 4 || len(got.Actions) != 8 {
		t.Errorf("%v, %+v, %+v, %d actions", err, got.Scanned, got.Counts, len(got.Actions))
	}
	for _, a := range got.Actions {
		if a.Elsewhere != nil || byAgent[*a.Key.Text] != a.Partition || a.Outcomes[0].Outcome != inspect.CallRunsAgain {
			t.Errorf("%+v", a)
		}
	}

	other := inspect.Offsets{0: 0, 1: 0, 2: 0}
	behind := inspect.Offsets{0: ends[0] + 1, 1: 0, 2: 0, 3: 0}
	for name, c := range map[string]struct {
		marker  inspect.Offsets
		verdict inspect.Verdict
		reason  string
	}{
		"everything is there": {inspect.Offsets{0: 0, 1: 0, 2: 0, 3: 0}, inspect.Accepted, ""},
		"nobody wrote since":  {ends, inspect.Accepted, ""},
		"other buckets":       {other, inspect.Rejected, "fluss-bucket-set"},
		"behind the end":      {behind, inspect.Rejected, "fluss-data-loss"},
	} {
		v := inspect.ValidateRestore(inspect.RestoreQuestion{Job: job, Data: data, MarkersOnly: true, Markers: []inspect.Marker{{Kind: inspect.MarkerLegacy, Offsets: c.marker}}})
		if v.Verdict != c.verdict || c.reason != "" && v.Reasons[0].Code != c.reason {
			t.Errorf("%s: %s, %+v", name, v.Verdict, v.Reasons)
		}
	}

	// Beside it, what the cluster is.
	began := time.Now()
	state, faults, err := store.Cluster(t.Context())
	if err != nil || len(faults) > 0 || len(state.Tablets) != 2 || !state.Tablets[0].Reached || !state.Coordinator.Reached {
		t.Errorf("%+v, %v, %v", state, faults, err)
	}
	t.Logf("the state of the cluster took %s", time.Since(began).Round(time.Millisecond))
	b, faults, err := store.Buckets(t.Context(), path, flussrpc.NoPartition, "file:/p", ends)
	if err != nil || len(faults) > 0 {
		t.Error(faults, err)
	}
	for _, x := range b.Buckets {
		if x.State != fluss.BucketIdle || x.Latest == nil || *x.Latest != ends[x.Bucket] || len(x.Replicas) != 1 || x.Replicas[0].End == nil || *x.Replicas[0].End != ends[x.Bucket] || ends[x.Bucket] > 0 && x.Oldest == nil {
			t.Errorf("%+v", x)
		}
	}

	// And a producer's entry against it.
	var result struct{ Result string }
	id := path.Database + "-sink"
	java.Do(t, &result, "register", id, path.Database, path.Table)
	java.Do(t, nil, "states", path.Database, path.Table, wrote[0][0], wrote[0][1], wrote[0][2])
	p, faults, err := store.Producer(t.Context(), id)
	if err != nil || len(faults) > 0 || p.Verdict != fluss.Safe || p.Undo == nil || *p.Undo != 1 || p.Tables[0].Table != path.String() {
		t.Errorf("%+v, %v, %v", p, faults, err)
	}
	listed, faults, err := store.ListProducers(t.Context())
	if err != nil || len(faults) > 0 || len(listed.IDs) == 0 {
		t.Error(listed, faults, err)
	}
}
