package actions_test

import (
	"strings"
	"testing"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/inspect/arkflow"
)

// A rollback's report says what is processed again, by the positions of the point and
// of the newest one since, and what is lost.
func TestWhatARollbackOfArkFlowProcessesAgain(t *testing.T) {
	two, one, generation := uint64(2), uint64(1), uint64(7)
	running, topic := "running", "orders"
	at := func(id string, version *uint64, status string, offsets ...uint64) arkflow.Point {
		p := arkflow.Point{ID: id, Kind: inspect.KindCheckpoint, Status: status, JobVersion: version, Verdict: inspect.Accepted}
		for i, o := range offsets {
			p.Positions = append(p.Positions, arkflow.SourcePosition{Topic: &topic, Partition: uint64(i), Offset: o})
		}
		return p
	}
	for name, tt := range map[string]struct {
		points []arkflow.Point
		says   []string
	}{
		"read since": {
			[]arkflow.Point{at("checkpoint-orders-9-3", &two, "pending"), at("checkpoint-orders-9-2", &two, "completed", 1500, 70), at("checkpoint-orders-9-1", &two, "completed", 1200, 60), at("savepoint-1-1", &one, "completed", 1000, 50)},
			[]string{"Its sources go on at orders/0 from 1,000, orders/1 from 50.", "By checkpoint-orders-9-2 at least 520 records were read since", "2 completed points of later versions stay in the store, and version 1 restores none of them."},
		},
		"a later run that began elsewhere": {
			[]arkflow.Point{at("checkpoint-orders-9-1", &two, "completed", 1500, 20), at("savepoint-1-1", &one, "completed", 1000, 50)},
			[]string{"The positions of checkpoint-orders-9-1 lie before these: the job read from elsewhere since"},
		},
		"nothing read since": {
			[]arkflow.Point{at("checkpoint-orders-9-1", &two, "completed", 1000, 50), at("savepoint-1-1", &one, "completed", 1000, 50)},
			[]string{"By checkpoint-orders-9-1 nothing was read since."},
		},
		"no later positions": {
			[]arkflow.Point{at("checkpoint-orders-9-1", &two, "completed"), at("savepoint-1-1", &one, "completed", 1000)},
			[]string{"How much was read since is not exposed", "1 completed point of a later version stays"},
		},
		"a point without positions": {[]arkflow.Point{at("savepoint-1-1", &one, "completed")}, []string{"The point holds no source positions", "What the job's state held since then is lost."}},
		"many partitions":           {[]arkflow.Point{at("savepoint-1-1", &one, "completed", 1, 2, 3, 4, 5, 6, 7, 8)}, []string{"orders/5 from 6, and 2 more."}},
	} {
		e := actions.ArkFlowEvidence{Job: &arkflow.JobDetail{
			Hub: arkflow.HubState{Address: "http://hub:8080"}, Job: arkflow.JobState{ID: "orders", Version: &two, Desired: &running, Observed: &running, Generation: &generation},
			Versions: []arkflow.VersionState{
				{Version: 2, FormatVersion: &one, Current: true, Selection: arkflow.Selection{Known: true}},
				{Version: 1, FormatVersion: &one, Restorable: "savepoint-1-1", Selection: arkflow.Selection{Known: true, ID: "savepoint-1-1"}},
			},
			Points: arkflow.PointList{Points: tt.points},
		}}
		d, p := actions.ArkFlowRollbackFrom(e, 0, "")
		if p != nil {
			t.Fatal(p.Message)
		}
		does := strings.Join(actions.ArkFlowReport(d, e).Does, "\n")
		for _, says := range tt.says {
			if !strings.Contains(does, says) {
				t.Errorf("%s: it does not say %q:\n%s", name, says, does)
			}
		}
	}
}
