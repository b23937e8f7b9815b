package actions_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/fault"
)

var at = time.Date(2026, 3, 1, 14, 3, 0, 0, time.UTC)

// point is a sound recovery point whose job has read two partitions so far.
func point(id int64, p0, p1 int64) inspect.RecoveryPoint {
	topic, topicID, schema := names.Data, names.DataID, int32(1)
	m := inspect.Marker{OperatorID: "bc764cd8ddf7a0cff126f51c16239658", Kind: inspect.MarkerVersioned, SchemaVersion: &schema,
		Class: "x.Marker", Topic: &topic, TopicID: &topicID, Offsets: inspect.Offsets{0: p0, 1: p1}}
	return inspect.RecoveryPoint{
		URI: fmt.Sprintf("file:/ck/job/chk-%d", id), Kind: inspect.KindCheckpoint, CheckpointID: id, MetadataVersion: 4,
		Markers: []inspect.Marker{m}, Merged: inspect.Merge([]inspect.Marker{m}), Files: inspect.Files{Referenced: 3},
	}
}

// incident is a job with four checkpoints and an older cleanup, and the plan
// that makes chk-42 the oldest one to restore from.
func incident() (inspect.CleanupPlan, actions.Evidence) {
	own := point(42, 100, 150)
	plan, _ := actions.CleanupFrom(own.Markers, own.URI)
	older, _ := actions.CleanupFrom(point(30, 10, 10).Markers, "file:/ck/job/chk-30")
	control, one := names.Control, 1
	e := actions.Evidence{
		Job:         inspect.Job{Topic: names.Data, ControlTopic: &control, KeepRecoveryPoints: 2, Runtime: inspect.ReleaseNext},
		At:          at,
		Replication: &one,
		Data: inspect.DataTopic{Name: names.Data, Exists: true, TopicID: names.DataID,
			Partitions: []inspect.Partition{{ID: 0, Log: inspect.LogRange{Start: 10, End: 500}}, {ID: 1, Log: inspect.LogRange{Start: 10, End: 500}}},
			Settings:   settings(map[string]string{"cleanup.policy": "compact,delete", "retention.ms": "-1", "retention.bytes": "-1"})},
		Control: inspect.ControlTopic{Name: control, Exists: true, Partitions: []int32{0}, CleanupPolicy: "compact", LastStable: 2, LogEnd: 2,
			Records: []inspect.ControlRecord{record(older, inspect.StatusCommitted, 0), record(older, inspect.StatusApplied, 1)}},
		Own:      &own,
		Points:   []inspect.RecoveryPoint{point(44, 300, 300), point(43, 200, 150), own, point(41, 90, 149)},
		Searched: []actions.Searched{{Place: "file:/ck/job", At: at, Found: 4}},
		Live:     &inspect.LiveState{State: "RUNNING"},
	}
	return plan, e
}

func record(plan inspect.CleanupPlan, status inspect.OperationStatus, offset int64) inspect.ControlRecord {
	return inspect.ControlRecord{Offset: offset, Key: []byte(plan.PlanID), Value: actions.EncodeRecord(plan, status)}
}

// committed adds the plan to the control topic.
func committed(e *actions.Evidence, plan inspect.CleanupPlan, status inspect.OperationStatus) {
	e.Control.Records = append(slices.Clone(e.Control.Records), record(plan, status, e.Control.LogEnd))
	e.Control.LogEnd++
	e.Control.LastStable++
}

// told is a report in a few words: what stays, is lost, is unknown, was lost
// already, and its warnings.
func told(r actions.Report) string {
	list := func(points []actions.PointFate) string {
		var ids []string
		for _, f := range points {
			ids = append(ids, strings.TrimPrefix(f.URI, "file:/ck/job/"))
		}
		return strings.Join(ids, " ")
	}
	var warnings []string
	for _, w := range r.Warnings {
		warnings = append(warnings, w.Name)
	}
	text := "stays " + list(r.Survives) + " | lost " + list(r.Lost) + " | unknown " + list(r.Unknown) + " | already " + list(r.Already) +
		" | warns " + strings.Join(warnings, " ")
	if r.Keep.Problem != nil {
		text += " | keep " + r.Keep.Problem.Code
	}
	if r.Refused != nil && r.Refused.Stage != actions.StageSurvivors {
		text += " | refused " + r.Refused.Problem.Code
	}
	return text
}

func TestWhatAReportSays(t *testing.T) {
	broken := fault.New(fault.Denied, "read", "access denied")
	tests := map[string]struct {
		given func(plan inspect.CleanupPlan, e *actions.Evidence)
		want  string
	}{
		"a running job": {
			func(inspect.CleanupPlan, *actions.Evidence) {},
			"stays chk-44 chk-43 chk-42 | lost chk-41 | unknown  | already  | warns points-lost"},
		"a point that was below the boundary before": {
			func(_ inspect.CleanupPlan, e *actions.Evidence) {
				e.Points = []inspect.RecoveryPoint{point(43, 200, 150), point(44, 300, 300), point(20, 5, 200)}
			},
			"stays chk-42 chk-43 chk-44 | lost  | unknown  | already chk-20 | warns "},
		"the first cleanup: nothing is accepted before it": {
			func(_ inspect.CleanupPlan, e *actions.Evidence) {
				e.Control = inspect.ControlTopic{Name: names.Control}
			},
			"stays chk-44 chk-43 chk-42 | lost chk-41 | unknown  | already  | warns points-lost"},
		"a legacy point, whose records go too": {
			func(_ inspect.CleanupPlan, e *actions.Evidence) {
				old := point(41, 90, 149)
				old.Markers = []inspect.Marker{{Kind: inspect.MarkerLegacy, Class: "java.util.HashMap", Offsets: inspect.Offsets{0: 90, 1: 149}}}
				e.Points[3] = old
			},
			"stays chk-44 chk-43 chk-42 | lost chk-41 | unknown  | already  | warns points-lost"},
		"a point of another topic loses nothing": {
			func(_ inspect.CleanupPlan, e *actions.Evidence) {
				other := "another-topic"
				e.Points[3].Markers[0].Topic = &other
			},
			"stays chk-44 chk-43 chk-42 | lost  | unknown  | already chk-41 | warns "},
		"a point with a missing file, of which a backup may hold a copy": {
			func(_ inspect.CleanupPlan, e *actions.Evidence) {
				e.Points[3].Checks = []inspect.Check{{ID: "F1", Severity: inspect.SeverityError, Message: "gone"}}
			},
			"stays chk-44 chk-43 chk-42 | lost chk-41 | unknown  | already  | warns points-lost"},
		"a damaged survivor": {
			func(_ inspect.CleanupPlan, e *actions.Evidence) {
				e.Points[1].Checks = []inspect.Check{{ID: "F1", Severity: inspect.SeverityError, Message: "gone"}}
			},
			"stays chk-44 chk-42 | lost chk-41 | unknown  | already chk-43 | warns points-lost | keep too-few-survivors"},
		"a survivor whose files can't be looked at": {
			func(_ inspect.CleanupPlan, e *actions.Evidence) {
				e.Points[1].Checks = []inspect.Check{{ID: "F6", Severity: inspect.SeverityWarning, Message: "no way there"}}
			},
			"stays chk-44 chk-43 chk-42 | lost chk-41 | unknown  | already  | warns points-lost | keep too-few-survivors"},
		"a copy is not another survivor": {
			func(_ inspect.CleanupPlan, e *actions.Evidence) {
				e.Points[1] = point(44, 300, 300)
				e.Points[1].URI = "s3://backup/chk-44"
			},
			"stays chk-44 s3://backup/chk-44 chk-42 | lost chk-41 | unknown  | already  | warns points-lost | keep too-few-survivors"},
		"a point that can't be read": {
			func(_ inspect.CleanupPlan, e *actions.Evidence) {
				e.Points[3] = inspect.RecoveryPoint{URI: "file:/ck/job/chk-41", CheckpointID: -1, Err: broken}
			},
			"stays chk-44 chk-43 chk-42 | lost  | unknown chk-41 | already  | warns point-unknown:file:/ck/job/chk-41"},
		"pinned points": {
			func(_ inspect.CleanupPlan, e *actions.Evidence) {
				e.Job.Pinned = []string{"/ck/job/chk-41/", "file:/ck/job/chk-44"}
			},
			"stays chk-44 chk-43 chk-42 | lost chk-41 | unknown  | already  | warns points-lost pinned-point-lost"},
		"a pinned point that nobody found": {
			func(_ inspect.CleanupPlan, e *actions.Evidence) { e.Job.Pinned = []string{"s3://x/savepoint-1"} },
			"stays chk-44 chk-43 chk-42 | lost chk-41 | unknown  | already  | warns points-lost pinned-point-lost"},
		"no place to search": {
			func(_ inspect.CleanupPlan, e *actions.Evidence) { e.Points, e.Searched = nil, nil },
			"stays chk-42 | lost  | unknown  | already  | warns points-unknown"},
		"a place that was not read whole": {
			func(_ inspect.CleanupPlan, e *actions.Evidence) { e.Searched[0].Problem = "access denied" },
			"stays chk-44 chk-43 chk-42 | lost chk-41 | unknown  | already  | warns points-unknown points-lost"},
		"a plan from markers": {
			func(_ inspect.CleanupPlan, e *actions.Evidence) { e.Own, e.Points = nil, e.Points[:2] },
			"stays chk-44 chk-43 | lost  | unknown  | already  | warns points-unknown"},
		"its own point is gone": {
			func(_ inspect.CleanupPlan, e *actions.Evidence) {
				e.Own, e.OwnErr = nil, fault.New(fault.NotFound, "read", "no such folder")
				e.Points = slices.Delete(slices.Clone(e.Points), 2, 3)
			},
			"stays chk-44 chk-43 | lost chk-41 | unknown  | already  | warns points-lost | keep own-point-lost"},
		"its own point can't be read": {
			func(_ inspect.CleanupPlan, e *actions.Evidence) {
				e.Own, e.OwnErr = nil, broken
				e.Points = e.Points[:2]
			},
			"stays chk-44 chk-43 | lost  | unknown chk-42 | already  | warns points-unknown point-unknown:file:/ck/job/chk-42"},
		"its own point has lost a file": {
			func(_ inspect.CleanupPlan, e *actions.Evidence) {
				own := *e.Own
				own.Checks = []inspect.Check{{ID: "F1", Severity: inspect.SeverityError, Message: "gone"}}
				e.Own = &own
			},
			"stays chk-44 chk-43 | lost chk-41 | unknown  | already chk-42 | warns points-lost | keep own-point-lost"},
		"its own point's files can't be looked at": {
			func(_ inspect.CleanupPlan, e *actions.Evidence) {
				own := *e.Own
				own.Checks = []inspect.Check{{ID: "F6", Severity: inspect.SeverityWarning, Message: "no way there"}}
				e.Own = &own
			},
			"stays chk-44 chk-43 chk-42 | lost chk-41 | unknown  | already  | warns not-checked points-lost"},
		"calls without an outcome": {
			func(_ inspect.CleanupPlan, e *actions.Evidence) {
				e.Calls = &actions.CallsBefore{Pending: 2, Overwritten: 1}
			},
			"stays chk-44 chk-43 chk-42 | lost chk-41 | unknown  | already  | warns points-lost pending-before-target"},
		"a scan that found none": {
			func(_ inspect.CleanupPlan, e *actions.Evidence) { e.Calls = &actions.CallsBefore{} },
			"stays chk-44 chk-43 chk-42 | lost chk-41 | unknown  | already  | warns points-lost"},
		"no Flink": {
			func(_ inspect.CleanupPlan, e *actions.Evidence) { e.Live = nil },
			"stays chk-44 chk-43 chk-42 | lost chk-41 | unknown  | already  | warns points-lost job-state-unknown"},
		"a job that is being stopped": {
			func(_ inspect.CleanupPlan, e *actions.Evidence) { e.Live.State = "CANCELLING" },
			"stays chk-44 chk-43 chk-42 | lost chk-41 | unknown  | already  | warns points-lost job-state-unknown"},
		"a job that restarts": {
			func(_ inspect.CleanupPlan, e *actions.Evidence) { e.Live.State = "RESTARTING" },
			"stays chk-44 chk-43 chk-42 | lost chk-41 | unknown  | already  | warns points-lost job-restarting"},
		"a job that has ended": {
			func(_ inspect.CleanupPlan, e *actions.Evidence) { e.Live.State = "FAILED" },
			"stays chk-44 chk-43 chk-42 | lost chk-41 | unknown  | already  | warns points-lost"},
		"nothing but the point was asked": {
			func(_ inspect.CleanupPlan, e *actions.Evidence) {
				e.Offline, e.Live, e.Points, e.Searched = true, nil, nil, nil
			},
			"stays  | lost  | unknown chk-42 | already  | warns not-checked points-unknown point-unknown:file:/ck/job/chk-42 job-state-unknown"},
		"a cluster that does not answer": {
			func(_ inspect.CleanupPlan, e *actions.Evidence) {
				e.DataErr, e.ControlErr = errors.New("timed out"), errors.New("timed out")
			},
			"stays  | lost chk-41 | unknown chk-44 chk-43 chk-42 | already  | warns not-checked points-lost point-unknown:file:/ck/job/chk-44 point-unknown:file:/ck/job/chk-43 point-unknown:file:/ck/job/chk-42"},
		"a plan that is COMMITTED already": {
			func(plan inspect.CleanupPlan, e *actions.Evidence) { committed(e, plan, inspect.StatusCommitted) },
			"stays chk-44 chk-43 chk-42 | lost chk-41 | unknown  | already  | warns points-lost"},
		"a plan that is COMMITTED, and half of the log is trimmed": {
			func(plan inspect.CleanupPlan, e *actions.Evidence) {
				committed(e, plan, inspect.StatusCommitted)
				e.Data.Partitions[0].Log.Start = 100
			},
			"stays chk-44 chk-43 chk-42 | lost chk-41 | unknown  | already  | warns points-lost"},
		"a plan that is APPLIED": {
			func(plan inspect.CleanupPlan, e *actions.Evidence) {
				committed(e, plan, inspect.StatusCommitted)
				committed(e, plan, inspect.StatusApplied)
				e.Data.Partitions[0].Log.Start, e.Data.Partitions[1].Log.Start = 100, 150
			},
			"stays chk-44 chk-43 chk-42 | lost chk-41 | unknown  | already  | warns "},
		"settings that let the broker delete by itself": {
			func(_ inspect.CleanupPlan, e *actions.Evidence) { e.Data.Settings = settings(nil) },
			"stays chk-44 chk-43 chk-42 | lost chk-41 | unknown  | already  | warns points-lost | refused data-topic-config-unsafe"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			plan, e := incident()
			tt.given(plan, &e)
			r := actions.NewReport(plan, e)
			if got := told(r); got != tt.want {
				t.Errorf("told\n%s\nwant\n%s", got, tt.want)
			}
			if keeps := r.Refused != nil && r.Refused.Stage == actions.StageSurvivors; keeps != (r.Keep.Problem != nil) {
				t.Errorf("refused %+v, keep %+v", r.Refused, r.Keep)
			}
			for _, f := range append(slices.Concat(r.Lost, r.Unknown), r.Already...) {
				if f.Message == "" {
					t.Errorf("%s: nobody says why", f.URI)
				}
			}
		})
	}
}

func TestWhatIsDeleted(t *testing.T) {
	plan, e := incident()
	d := actions.NewReport(plan, e).Deletes
	if d.Span != 90+140 || *d.Partitions[0].Span != 90 || *d.Partitions[1].Span != 140 || d.ByBoundary || d.Records != nil {
		t.Errorf("deletes %+v", d)
	}
	lost := actions.NewReport(plan, e).Lost[0]
	if lost.Now != inspect.Accepted || lost.After != inspect.Rejected || *lost.Reason != "below-committed-boundary" ||
		!strings.Contains(lost.Message, "partition 0 must be read from 90, cleanup "+plan.PlanID[:8]+" committed 100") {
		t.Errorf("lost %+v", lost)
	}
	newer, _ := actions.CleanupFrom(point(45, 120, 160).Markers, "file:/ck/job/chk-45")
	committed(&e, plan, inspect.StatusCommitted)
	committed(&e, newer, inspect.StatusCommitted)
	e.Data.Partitions[1].Err = errors.New("no leader")
	r := actions.NewReport(plan, e)
	if d = r.Deletes; !d.ByBoundary || d.Span != 110 || len(d.Unread) != 1 || d.Unread[0] != 1 || d.Partitions[1].Span != nil {
		t.Errorf("with a newer boundary and an unread partition: %+v", d)
	}
	if len(r.Finishes) != 1 || r.Finishes[0] != newer.PlanID {
		t.Errorf("finishes %v", r.Finishes)
	}
}

func TestWhatFlinkWouldRestoreByItselfIsSaid(t *testing.T) {
	plan, e := incident()
	path := "/ck/job/chk-41"
	e.Live.NextRestore.Path = &path
	notes := strings.Join(actions.NewReport(plan, e).Notes, "\n")
	if !strings.Contains(notes, `Flink would restart the job by itself from "file:/ck/job/chk-41"`) {
		t.Errorf("notes %q", notes)
	}
}

func TestTheHashIsOfWhatIsSaidAndNotOfWhen(t *testing.T) {
	plan, e := incident()
	hash := actions.NewReport(plan, e).Hash()
	e.At, e.Searched[0].At = at.Add(time.Hour), at.Add(time.Hour)
	if again := actions.NewReport(plan, e).Hash(); again != hash {
		t.Error("reading the same facts later gives another hash")
	}
	r := actions.NewReport(plan, e)
	if r.Searched[0].At.IsZero() || r.At.IsZero() {
		t.Error("hashing changed the report")
	}
	for name, change := range map[string]func(*actions.Evidence){
		"a point less":    func(e *actions.Evidence) { e.Points = e.Points[1:] },
		"a warning more":  func(e *actions.Evidence) { e.Live = nil },
		"a log that grew": func(e *actions.Evidence) { e.Data.Partitions[0].Log.End++ },
		"a place more":    func(e *actions.Evidence) { e.Searched = append(e.Searched, actions.Searched{Place: "s3://x"}) },
	} {
		plan, e := incident()
		change(&e)
		if actions.NewReport(plan, e).Hash() == hash {
			t.Errorf("%s: the hash is the same", name)
		}
	}
}

func TestSurvivorsAreComparedBeforeTheBoundaryIsCommitted(t *testing.T) {
	tests := map[string]struct {
		now  func(plan inspect.CleanupPlan, e *actions.Evidence)
		want string
		kind fault.Kind
	}{
		"all as before":         {func(inspect.CleanupPlan, *actions.Evidence) {}, "", 0},
		"the log grew":          {func(_ inspect.CleanupPlan, e *actions.Evidence) { e.Data.Partitions[0].Log.End += 1000 }, "", 0},
		"a checkpoint more":     {func(_ inspect.CleanupPlan, e *actions.Evidence) { e.Points = append(e.Points, point(45, 400, 400)) }, "", 0},
		"a survivor is gone":    {func(_ inspect.CleanupPlan, e *actions.Evidence) { e.Points = e.Points[1:] }, "survivor-lost", fault.Drift},
		"a lost point is gone":  {func(_ inspect.CleanupPlan, e *actions.Evidence) { e.Points = e.Points[:3] }, "", 0},
		"Flink does not answer": {func(_ inspect.CleanupPlan, e *actions.Evidence) { e.Live = nil }, "new-warning", fault.Drift},
		"its own point has gone": {func(_ inspect.CleanupPlan, e *actions.Evidence) {
			e.Own, e.OwnErr, e.Points = nil, fault.New(fault.NotFound, "", "gone"), e.Points[:2]
		}, "survivor-lost", fault.Drift},
		"a survivor lost a file": {func(_ inspect.CleanupPlan, e *actions.Evidence) {
			e.Points[0].Checks = []inspect.Check{{ID: "F1", Severity: inspect.SeverityError, Message: "gone"}}
		}, "survivor-lost", fault.Drift},
		"a survivor's files are out of reach": {func(_ inspect.CleanupPlan, e *actions.Evidence) {
			e.Points[0].Checks = []inspect.Check{{ID: "F6", Severity: inspect.SeverityWarning, Message: "no way"}}
		}, "survivor-lost", fault.Drift},
		"another point would be lost": {func(_ inspect.CleanupPlan, e *actions.Evidence) { e.Points = append(e.Points, point(40, 50, 50)) }, "survivor-lost", fault.Drift},
		"a resume never refuses": {func(plan inspect.CleanupPlan, e *actions.Evidence) {
			committed(e, plan, inspect.StatusCommitted)
			e.Points = nil
		}, "", 0},
		"the profile keeps more": {func(_ inspect.CleanupPlan, e *actions.Evidence) { e.Job.KeepRecoveryPoints = 3 }, "too-few-survivors", fault.Denied},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			plan, e := incident()
			approved := actions.NewReport(plan, e)
			tt.now(plan, &e)
			p := actions.CheckSurvivors(approved, actions.NewReport(plan, e))
			if tt.want == "" {
				if p != nil {
					t.Errorf("refused: %s", p.Message)
				}
				return
			}
			if p == nil || p.Code != tt.want || fault.KindOf(actions.Refuse(actions.StageSurvivors, p)) != tt.kind {
				t.Errorf("%+v, want %s (%s)", p, tt.want, tt.kind)
			}
		})
	}
}

func TestAReportIsWholeJSON(t *testing.T) {
	plan, e := incident()
	e.Data.Settings = settings(nil)
	data, err := json.Marshal(actions.NewReport(plan, e))
	if err != nil {
		t.Fatal(err)
	}
	var r map[string]any
	if err := json.Unmarshal(data, &r); err != nil {
		t.Fatal(err)
	}
	for _, list := range []string{"survives", "lost", "unknown", "already", "finishes", "searched", "notKnown", "notes", "warnings"} {
		if _, ok := r[list].([]any); !ok {
			t.Errorf("%s is %v, not a list", list, r[list])
		}
	}
	refused, _ := r["refused"].(map[string]any)
	if refused["stage"] != "settings" || refused["code"] != "data-topic-config-unsafe" || r["calls"] != nil {
		t.Errorf("refused %v, calls %v", refused, r["calls"])
	}
}

// Whatever points there are, each is in exactly one list, and none that stays is
// below the boundary.
func TestAPointIsNeverInTwoLists(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		plan, e := incident()
		offsets := rapid.Int64Range(0, 520)
		n := rapid.IntRange(0, 6).Draw(t, "points")
		e.Points = nil
		for i := range n {
			p := point(int64(50+rapid.IntRange(0, 3).Draw(t, "id")), offsets.Draw(t, "p0"), offsets.Draw(t, "p1"))
			switch rapid.IntRange(0, 5).Draw(t, "kind") {
			case 0:
				p.Markers[0].Kind, p.Markers[0].Topic = inspect.MarkerLegacy, nil
			case 1:
				p = inspect.RecoveryPoint{URI: p.URI, CheckpointID: -1, Err: errors.New("denied")}
			case 2:
				p.Checks = []inspect.Check{{ID: "F1", Severity: inspect.SeverityError, Message: "gone"}}
			case 3:
				p.Markers = nil
			}
			if rapid.Bool().Draw(t, "elsewhere") {
				p.URI = fmt.Sprintf("s3://copies/%d/chk", i)
			}
			e.Points = append(e.Points, p)
		}
		if rapid.Bool().Draw(t, "resumed") {
			committed(&e, plan, inspect.StatusCommitted)
		}
		e.Data.Partitions[0].Log.Start = rapid.Int64Range(0, 500).Draw(t, "start")
		r := actions.NewReport(plan, e)
		seen := map[string]bool{}
		for _, f := range slices.Concat(r.Survives, r.Lost, r.Unknown, r.Already) {
			if seen[f.URI] {
				t.Fatalf("%s is in two lists", f.URI)
			}
			seen[f.URI] = true
			if f.Now == inspect.Accepted && f.Fate == actions.FateAlready {
				t.Fatalf("%s is accepted now and said to be lost before", f.URI)
			}
		}
		for _, f := range r.Survives {
			for p, at := range f.Offsets {
				if at < plan.Offsets[p] {
					t.Fatalf("%s stays, and partition %d must be read from %d, below %d", f.URI, p, at, plan.Offsets[p])
				}
			}
		}
		for _, p := range e.Points {
			if !seen[p.URI] {
				t.Fatalf("%s is in no list", p.URI)
			}
		}
	})
}

func TestPlanIDsFollowFromTheContentAlone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		topic, topicID, schema := rapid.StringN(1, 20, -1).Draw(t, "topic"), rapid.StringN(1, 20, -1).Draw(t, "id"), int32(1)
		partitions := rapid.SliceOfNDistinct(rapid.Int32Range(0, 1<<30), 1, 5, rapid.ID[int32]).Draw(t, "partitions")
		subtasks := rapid.IntRange(1, 4).Draw(t, "subtasks")
		var markers []inspect.Marker
		for i := range subtasks {
			m := inspect.Marker{Subtask: i, Kind: inspect.MarkerVersioned, SchemaVersion: &schema, Topic: &topic, TopicID: &topicID, Offsets: inspect.Offsets{}}
			for _, p := range partitions {
				m.Offsets[p] = rapid.Int64Range(0, 1<<62).Draw(t, "offset")
			}
			markers = append(markers, m)
		}
		source := rapid.StringN(1, 40, -1).Draw(t, "source")
		plan, problem := actions.CleanupFrom(markers, source)
		if problem != nil {
			if problem.Code != "blank-text" {
				t.Fatalf("refused: %+v", problem)
			}
			return
		}
		slices.Reverse(markers)
		again, _ := actions.CleanupFrom(markers, source)
		if again.PlanID != plan.PlanID {
			t.Fatal("the order of the subtasks changes the id")
		}
		parsed, problem := inspect.ParsePlan(actions.EncodePlan(plan))
		if problem != nil || parsed.PlanID != plan.PlanID || parsed.SourceRecoveryPoint != source {
			t.Fatalf("read back as %+v, %+v", parsed, problem)
		}
		p := partitions[0]
		for i := range markers {
			markers[i].Offsets[p]++
		}
		if moved, _ := actions.CleanupFrom(markers, source); moved.PlanID == plan.PlanID {
			t.Fatal("another target has the same id")
		}
	})
}
