package inspect

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// Compaction leaves the last record of an action, and the last one of a completed
// action has no calls: that none runs again is then not known.
func TestCompletedActionsWhoseHistoryIsGone(t *testing.T) {
	const (
		first  = "00000001-0000-3000-8000-000000000001_00000002-0000-3000-8000-000000000001"
		digest = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
	)
	open := `{"callResults":[{"functionId":"pay","argsDigest":"","resultPayload":null,"exceptionPayload":null,"status":"SUCCEEDED"}],"completed":false}`
	done := `{"callResults":[],"completed":true}`
	old, newer := "alice_1_"+first, "5_1_"+first+"_"+digest
	for name, c := range map[string]struct {
		job     Job
		records [][2]string
		marker  int64
		again   int64 // -1: not known
		hidden  int64
	}{
		"all is there":                        {Job{Runtime: Release03}, [][2]string{{old, open}, {old, done}}, 0, 1, 0},
		"only the end is":                     {Job{Runtime: Release03}, [][2]string{{old, done}}, 0, -1, 1},
		"the end twice":                       {Job{Runtime: Release03}, [][2]string{{old, done}, {old, done}}, 0, -1, 1},
		"before the marker":                   {Job{Runtime: Release03}, [][2]string{{old, done}}, 1, 0, 0},
		"an old key in the next version":      {Job{Runtime: ReleaseNext}, [][2]string{{old, done}}, 0, -1, 1},
		"one that is matched":                 {Job{Runtime: ReleaseNext}, [][2]string{{newer, done}}, 0, 0, 0},
		"one that the release does not match": {Job{Runtime: Release03}, [][2]string{{newer, done}}, 0, -1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			point := PointMarker{Point: "file:/p/chk-1", Offsets: Offsets{0: c.marker}}
			scan := NewCallScan(CallQuestion{Job: c.job, Points: []PointMarker{point}}, []int32{0})
			for i, r := range c.records {
				scan.Visit(0, int64(i), 0, []byte(r[0]), []byte(r[1]))
			}
			out := scan.Finish(ScanExtent{})
			if again := out.Points[0].Known(); out.Points[0].Hidden != c.hidden || (again == nil) != (c.again < 0) || again != nil && *again != c.again {
				t.Errorf("%+v", out.Points[0])
			}
			told := slices.ContainsFunc(out.Findings, func(f Finding) bool { return f.Rule == "completed-without-history" })
			count := CallCount{Calls: out}
			v := RestoreValidation{Point: point.Point, Verdict: Accepted}
			count.judge(&v, StoreKafka)
			if noted := strings.Contains(fmt.Sprint(v.Notes), "only their last record left"); told != (c.hidden > 0) || noted != told {
				t.Errorf("%+v\n%q", out.Findings, v.Notes)
			}
		})
	}
}
