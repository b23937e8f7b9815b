package inspect_test

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/recoverctl/recoverctl/inspect"
)

// rewriteLog is a log of actions by the keys of the work after release 0.3: each
// text is one record, as "a1" (action a, its first state) or "a." (its end).
func rewriteLog(q inspect.CallQuestion, records ...string) inspect.DurableCalls {
	q.Job.Store, q.Job.Topic = inspect.StoreFluss, "agents.state"
	scan := inspect.NewCallScan(q, []int32{0})
	extent := inspect.ScanExtent{From: inspect.Offsets{0: 0}, To: inspect.Offsets{0: int64(len(records))}, Read: inspect.Offsets{0: int64(len(records))}}
	for range 2 {
		for offset, r := range records {
			agent, state := r[:1], r[1:]
			digest := sha256.Sum256([]byte(agent))
			key := fmt.Sprintf("5_0_%s_%s_%s", "99914b93-2bd3-3a50-b983-c5e7c90ae93b", "aa8af3eb-e148-31a7-8d1b-6d1383a03755", base64.StdEncoding.EncodeToString(digest[:]))
			calls := fmt.Sprintf(`[{"functionId":"charge","argsDigest":"d","resultPayload":%q,"exceptionPayload":null,"status":"SUCCEEDED"}]`, state+"AAA")
			if state == "." {
				calls = "[]"
			}
			scan.Visit(0, int64(offset), 1000, []byte(key), fmt.Appendf(nil, `{"taskEvent":{"type":"t","attributes":{}},"callResults":%s,"completed":%t}`, calls, state == "."))
		}
		if len(scan.Second(extent)) == 0 {
			break
		}
	}
	return scan.Finish(extent)
}

func markersAt(offsets ...int64) (out []inspect.PointMarker) {
	for n, at := range offsets {
		out = append(out, inspect.PointMarker{Point: fmt.Sprintf("file:/chk-%d", n+1), Offsets: inspect.Offsets{0: at}})
	}
	return out
}

// What a store that writes its states anew left behind, and how it is told.
func TestStatesThatWereWrittenAnew(t *testing.T) {
	for name, c := range map[string]struct {
		log      string
		markers  []int64
		release  inspect.Release
		rules    string
		says     string
		open     []int64 // of each point
		found    []int64
		rewrites []int64
	}{
		"each time whole": {
			log: "a1 b1 a1 b1 a1 b1", markers: []int64{2, 4}, release: inspect.ReleaseNext, rules: "states-written-anew",
			says: "2 records", open: []int64{2, 2}, found: []int64{2, 2}, rewrites: []int64{2, 2},
		},
		"the last one in part": {
			log: "a1 b1 a1 b1 a1", markers: []int64{2, 4}, release: inspect.ReleaseNext, rules: "rewritten-in-part states-written-anew",
			says: "behind the marker of \"chk-2\" are 1 of the 2 actions that were open there, 1 of them as they were: its states were written anew in part only, or the store had let go of the others (bucket 0: 1 of 2)",
			open: []int64{2, 2}, found: []int64{2, 1}, rewrites: []int64{2, 1},
		},
		"in part, by a checkpoint that is none": {
			log: "a1 b1 c1 a1 b1 c1 a1", markers: []int64{3}, release: inspect.ReleaseNext, rules: "rewriting-unfinished states-written-anew",
			says: "bucket 0: 1 of 3, from offset 6 to 6", open: []int64{3}, found: []int64{3}, rewrites: []int64{4},
		},
		"one went on instead": {
			log: "a1 b1 a1 b2 b3", markers: []int64{2}, release: inspect.ReleaseNext, rules: "states-written-anew",
			says: "1 record", open: []int64{2}, found: []int64{2}, rewrites: []int64{1},
		},
		"one ended instead": {
			log: "a1 b1 a1 b.", markers: []int64{2}, release: inspect.ReleaseNext, rules: "states-written-anew",
			says: "1 record", open: []int64{2}, found: []int64{2}, rewrites: []int64{1},
		},
		"ends are written anew too": {
			log: "a1 b. a1 b.", markers: []int64{2}, release: inspect.ReleaseNext, rules: "states-written-anew",
			says: "2 records", open: []int64{1}, found: []int64{1}, rewrites: []int64{2},
		},
		"a point from before": {
			log: "a1 b1 c1", markers: []int64{2, 3}, release: inspect.ReleaseNext, rules: "point-before-rewriting",
			says: "\"chk-1\" (2), \"chk-2\" (3). A later release that does so can't repair these points", open: []int64{2, 3}, found: []int64{0, 0}, rewrites: []int64{0, 0},
		},
		"a point from before, and one that is whole": {
			log: "a1 b1 a1 b1", markers: []int64{2, 4}, release: inspect.ReleaseNext, rules: "point-before-rewriting states-written-anew",
			says: "\"chk-2\" (2)", open: []int64{2, 2}, found: []int64{2, 0}, rewrites: []int64{2, 0},
		},
		"a release that writes nothing anew": {
			log: "a1 b1 c1", markers: []int64{2}, release: inspect.Release03, rules: "keys-skip point-before-rewriting",
			says: "release 0.3 writes none of them anew", open: []int64{2}, found: []int64{0}, rewrites: []int64{0},
		},
		"nothing is open": {
			log: "a1 a.", markers: []int64{2}, release: inspect.ReleaseNext, open: []int64{0}, found: []int64{0}, rewrites: []int64{0},
		},
		"a marker behind everything": {
			log: "a1 b1", markers: []int64{1, 9}, release: inspect.ReleaseNext, rules: "point-before-rewriting", says: "\"chk-1\" (1), \"chk-2\" (2)", open: []int64{1, 2}, found: []int64{0, 0}, rewrites: []int64{0, 0},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := rewriteLog(inspect.CallQuestion{Job: inspect.Job{Runtime: c.release}, Points: markersAt(c.markers...)}, strings.Fields(c.log)...)
			var found []string
			cause := ""
			for _, f := range got.Findings {
				found = append(found, f.Rule)
				cause += f.Cause + "\n"
				if f.Next == "" || f.Refs == nil {
					t.Errorf("%+v", f)
				}
			}
			for _, rule := range strings.Fields(c.rules) {
				if rule != "keys-skip" && !slices.Contains(found, rule) {
					t.Errorf("%q, want %s", found, rule)
				}
			}
			for _, rule := range found {
				if !strings.Contains(c.rules, rule) {
					t.Errorf("%s was not expected", rule)
				}
			}
			if !strings.Contains(cause, c.says) {
				t.Errorf("%q is not in %q", c.says, cause)
			}
			for n, p := range got.Points {
				if r := p.Rewritten; r == nil || r.Open != c.open[n] || r.Found != c.found[n] || r.Records != c.rewrites[n] || (r.Bytes > 0) != (r.Records > 0) {
					t.Errorf("%s: %+v", p.Point, r)
				}
			}
		})
	}
}

// The record that was not written again is named.
func TestARecordThatWasNotWrittenAgainIsNamed(t *testing.T) {
	got := rewriteLog(inspect.CallQuestion{Job: inspect.Job{Runtime: inspect.ReleaseNext}, Points: markersAt(2, 4)}, "a1", "b1", "a1", "b1", "a1")
	if f := got.Findings[0]; f.Rule != "rewritten-in-part" || !slices.Equal(f.Refs, []string{"bucket 0 offset 3"}) || f.Numbers["missing"] != int64(1) {
		t.Errorf("%+v", f)
	}
	got = rewriteLog(inspect.CallQuestion{Job: inspect.Job{Runtime: inspect.ReleaseNext}, Points: markersAt(2)}, "a1", "b1", "a1", "b1", "a1")
	if f := got.Findings[0]; f.Rule != "rewriting-unfinished" || !slices.Equal(f.Refs, []string{"bucket 0 offset 3"}) {
		t.Errorf("%+v", f)
	}
}

// States of earlier generations are matched by nothing after a restart: whether they
// were written anew says nothing.
func TestStatesOfEarlierGenerationsAreNotMissed(t *testing.T) {
	scan := inspect.NewCallScan(inspect.CallQuestion{Job: inspect.Job{Store: inspect.StoreFluss}, Points: markersAt(1)}, []int32{0})
	key := "old_0_99914b93-2bd3-3a50-b983-c5e7c90ae93b_aa8af3eb-e148-31a7-8d1b-6d1383a03755"
	scan.Visit(0, 0, 1000, []byte(key), []byte(`{"taskEvent":{"type":"t","attributes":{}},"callResults":[],"completed":false}`))
	got := scan.Finish(inspect.ScanExtent{})
	if r := got.Points[0].Rewritten; r == nil || *r != (inspect.Rewritten{}) || slices.ContainsFunc(got.Findings, func(f inspect.Finding) bool { return strings.Contains(f.Rule, "rewrit") }) {
		t.Errorf("%+v, %+v", r, got.Findings)
	}
}

// A job on Kafka has no states that are written anew.
func TestNothingIsWrittenAnewOnKafka(t *testing.T) {
	scan := inspect.NewCallScan(inspect.CallQuestion{Points: markersAt(0)}, []int32{0})
	got := scan.Finish(inspect.ScanExtent{})
	if got.Points[0].Rewritten != nil {
		t.Errorf("%+v", got.Points[0].Rewritten)
	}
}

// The counts agree with a model that looks at the whole log for each marker.
func TestRewrittenStatesAgainstAModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var log []string
		for range rapid.IntRange(0, 24).Draw(t, "records") {
			log = append(log, rapid.StringMatching("[abc]").Draw(t, "action")+rapid.SampledFrom([]string{"1", "1", "2", "."}).Draw(t, "state"))
		}
		var at []int64
		for range rapid.IntRange(1, 4).Draw(t, "points") {
			at = append(at, int64(rapid.IntRange(0, len(log)+1).Draw(t, "marker")))
		}
		slices.Sort(at)
		at = slices.Compact(at)
		got := rewriteLog(inspect.CallQuestion{Job: inspect.Job{Runtime: inspect.ReleaseNext}, Points: markersAt(at...)}, log...)
		for n, marker := range at {
			next := int64(len(log))
			if n+1 < len(at) {
				next = min(next, at[n+1])
			}
			want := inspect.Rewritten{}
			for _, action := range []string{"a", "b", "c"} {
				var before, behind string // its last record before the marker, and the next one
				for offset, r := range log {
					switch {
					case !strings.HasPrefix(r, action):
					case int64(offset) < marker:
						before = r
					case behind == "":
						behind = r
					}
				}
				if before == "" || strings.HasSuffix(before, ".") {
					continue
				}
				want.Open++
				if behind != "" {
					want.Found++
				}
				if behind == before {
					want.Again++
				}
			}
			last := map[string]string{}
			for offset, r := range log {
				if last[r[:1]] == r && int64(offset) >= marker && int64(offset) < next {
					want.Records++
				}
				last[r[:1]] = r
			}
			have := *got.Points[n].Rewritten
			have.Bytes = 0
			if have != want {
				t.Fatalf("%q, marker %d: %+v, want %+v", log, marker, have, want)
			}
		}
	})
}
