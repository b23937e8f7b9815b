package actions_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/testkit/cases"
)

// judged is the verdict on a case's plan as the topics are.
func judged(w *world, plan string) actions.OperationVerdict {
	e := w.evidence(cases.ApplyOptions{})
	return actions.Judge(w.plan(plan), e.Control, e.ControlErr, e.Data, e.DataErr)
}

// After every apply of the Java tool: what it calls APPLIED is applied where the
// log starts are at their targets, as the case has them, and contradicted or
// unknown where they are not; and what failed is not applied.
func TestEveryOutcomeOfTheJavaToolIsJudged(t *testing.T) {
	agreed, falseSuccess := 0, 0
	for _, c := range cases.Applies(t) {
		t.Run(c.Name, func(t *testing.T) {
			w := newWorld(t, c)
			for _, s := range w.c.Steps {
				if s.Apply == "" {
					w.happen(s.Happening)
					continue
				}
				w.after(s)
				v := judged(w, s.Apply)
				trimmed := true
				for p, to := range w.c.Plans[s.Apply].Offsets {
					trimmed = trimmed && s.Expect.LogStart[p] >= to
				}
				recorded := slices.Contains(s.Expect.Control, cases.SeenRecord{Plan: s.Apply, Status: "APPLIED"})
				switch {
				case s.Expect.Success && trimmed && recorded:
					agreed++
					if v.Verdict != actions.Applied {
						t.Errorf("%s is %s (%s), and Java applied it", s.Apply, v.Verdict, v.Message)
					}
				case s.Expect.Success:
					falseSuccess++
					if v.Verdict != actions.Contradicted && v.Verdict != actions.Undecided {
						t.Errorf("%s is %s (%s), and its log is not trimmed or its record not seen", s.Apply, v.Verdict, v.Message)
					}
				case v.Verdict == actions.Applied && !(trimmed && recorded):
					t.Errorf("%s is applied, and Java failed at %s", s.Apply, s.Expect.Stage)
				}
			}
		})
	}
	if agreed != 42 || falseSuccess != 6 {
		t.Errorf("%d agree and %d are false successes", agreed, falseSuccess)
	}
}

func atTargets(v actions.OperationVerdict) bool {
	for _, p := range v.Partitions {
		if p.LogStart == nil || *p.LogStart < p.Target {
			return false
		}
	}
	return true
}

func TestVerdictsOfKnownSituations(t *testing.T) {
	tests := map[string]struct {
		plan string
		want actions.Outcome
		says string
	}{
		"crash-before-delete":                      {"P1", actions.Committed, "the log not trimmed yet"},
		"crash-after-delete":                       {"P1", actions.Committed, "only the record APPLIED is missing"},
		"resume-committed-beyond-log-end":          {"P1", actions.Partial, "the log is not trimmed on partition 1"},
		"applied-already-log-start-not-moved":      {"P1", actions.Contradicted, "APPLIED is recorded, but the log of partitions 0-1 begins before its target"},
		"control-tombstone":                        {"P1", actions.Contradicted, "tombstone"},
		"config-compact-only":                      {"P1", actions.NotStarted, "nothing was changed by it"},
		"topic-deleted-before-delete":              {"P1", actions.Contradicted, "does not exist any more"},
		"recreated-between-commit-and-delete":      {"P1", actions.Contradicted, "has the id 2YgKb1hHSkm0Z8QmYcYh5w"},
		"control-two-partitions":                   {"P1", actions.Undecided, "the control topic is not fit"},
		"control-open-transaction-first":           {"P1", actions.Undecided, "an open transaction hides records there"},
		"control-open-transaction-after-committed": {"P0", actions.Undecided, "more may have been done"},
	}
	for _, c := range cases.Applies(t) {
		tt, ok := tests[c.Name]
		if !ok {
			continue
		}
		delete(tests, c.Name)
		t.Run(c.Name, func(t *testing.T) {
			w := newWorld(t, c)
			w.after(w.c.Steps[0]) // an apply in all of them
			if v := judged(w, tt.plan); v.Verdict != tt.want || !strings.Contains(v.Message, tt.says) {
				t.Errorf("%s: %s, want %s: … %s …", v.Verdict, v.Message, tt.want, tt.says)
			}
		})
	}
	for name := range tests {
		t.Errorf("no case %s", name)
	}
}

func TestWhatCantBeReadIsUnknownUnlessItIsContradicted(t *testing.T) {
	plan, e := incident()
	committed(&e, plan, inspect.StatusCommitted)
	committed(&e, plan, inspect.StatusApplied)
	e.Data.Partitions[0].Log.Start, e.Data.Partitions[1].Log.Start = 100, 150
	gone := errors.New("no leader")
	judge := func() actions.OperationVerdict {
		return actions.Judge(plan, e.Control, e.ControlErr, e.Data, e.DataErr)
	}
	if v := judge(); v.Verdict != actions.Applied || v.Recorded != "APPLIED" || len(v.Partitions) != 2 || *v.Partitions[1].LogStart != 150 {
		t.Fatalf("%+v", v)
	}
	e.Data.Partitions[1].Err = gone
	if v := judge(); v.Verdict != actions.Undecided || v.Partitions[1].LogStart != nil || !strings.Contains(v.Message, "log start of partition 1 could not be read") {
		t.Errorf("one partition unread: %+v", v)
	}
	e.Data.Partitions[0].Log.Start = 99
	if v := judge(); v.Verdict != actions.Contradicted {
		t.Errorf("and another one short of its target: %+v", v)
	}
	e.DataErr = gone
	if v := judge(); v.Verdict != actions.Undecided || !strings.Contains(v.Message, "no leader") {
		t.Errorf("the topic unread: %+v", v)
	}
	e.ControlErr = gone
	if v := judge(); v.Verdict != actions.Undecided || v.Recorded != "" {
		t.Errorf("the control topic unread: %+v", v)
	}
}

func TestVerdictsExit(t *testing.T) {
	for outcome, want := range map[actions.Outcome]int{
		actions.NotStarted: 1, actions.Committed: 1, actions.Contradicted: 7, actions.Partial: 8, actions.Undecided: 12,
	} {
		kind, bad := outcome.Exit()
		if !bad || kind.Exit() != want {
			t.Errorf("%s exits %d, want %d", outcome, kind.Exit(), want)
		}
	}
	if _, bad := actions.Applied.Exit(); bad {
		t.Error("applied is not a success")
	}
}

// Whatever was read, applied needs every log start at or past its target.
func TestAppliedIsSaidOnlyAtTheTargets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		plan, e := incident()
		for _, status := range rapid.SliceOfN(rapid.SampledFrom([]inspect.OperationStatus{inspect.StatusCommitted, inspect.StatusApplied}), 0, 3).Draw(t, "records") {
			committed(&e, plan, status)
		}
		for i := range e.Data.Partitions {
			e.Data.Partitions[i].Log.Start = rapid.Int64Range(90, 160).Draw(t, "start")
			if rapid.IntRange(0, 9).Draw(t, "unread") == 0 {
				e.Data.Partitions[i].Err = errors.New("no leader")
			}
		}
		if rapid.IntRange(0, 9).Draw(t, "recreated") == 0 {
			e.Data.TopicID = names.DataID2
		}
		e.Control.LogEnd += int64(rapid.IntRange(0, 1).Draw(t, "hidden"))
		v := actions.Judge(plan, e.Control, nil, e.Data, nil)
		if v.Message == "" {
			t.Fatal("a verdict without a sentence")
		}
		recordedApplied := v.Recorded == "APPLIED"
		if v.Verdict == actions.Applied && (!recordedApplied || !atTargets(v) || e.Data.TopicID != names.DataID) {
			t.Fatalf("applied: %+v", v)
		}
	})
}

func TestAReceiptIsOneBlockForTheTicket(t *testing.T) {
	q := question(t)
	start := int64(100)
	v := actions.OperationVerdict{PlanID: q.Plan.Subject().PlanID, Verdict: actions.Partial, Message: "half of it", Partitions: []actions.PartitionVerdict{{Partition: 0, Target: 100, LogStart: &start}, {Partition: 1, Target: 150}}}
	r := actions.NewReceipt(actions.Operator{User: "ops\x1b", Host: "bastion", Profile: "orders"}, q.Plan, q.Report, approve(t, q), v, at, at.Add(90e9))
	want := `cleanup      ` + q.Plan.Subject().PlanID + `
verdict      partial: half of it
who          ops\x1b@bastion, profile orders
when         2026-03-01T14:03:00Z to 2026-03-01T14:04:30Z
why          disk pressure INC-2231
from         file:/ck/job/chk-42
topic        action-state, id 6wBnCDrXRZCpbWKBbvCNbQ
deletes      an offset span of 230 (records not counted)
lost         file:/ck/job/chk-41
accepted     points-lost
partition    0: log start 100, target 100
partition    1: log start not read, target 150
report       ` + q.Report.Hash()
	if got := r.Text(); got != want {
		t.Errorf("receipt\n%s\nwant\n%s", got, want)
	}
	data, err := json.Marshal(r)
	if err != nil || !strings.Contains(string(data), `"verdict":"partial"`) || !strings.Contains(string(data), `"lost":["file:/ck/job/chk-41"]`) {
		t.Errorf("JSON %s, error %v", data, err)
	}
}

func TestAPlanIsReviewed(t *testing.T) {
	plan, e := incident()
	r := actions.ReviewPlan(actions.EncodePlan(plan), &e)
	if !r.Valid || r.PlanID != plan.PlanID || len(r.Survives) != 3 || len(r.Lost) != 1 || len(r.Drift) != 0 || r.Report == nil {
		t.Errorf("review %+v", r)
	}
	if r = actions.ReviewPlan(actions.EncodePlan(plan), nil); !r.Valid || r.Report != nil || r.Drift == nil {
		t.Errorf("without evidence %+v", r)
	}
	if r = actions.ReviewPlan([]byte("{}"), &e); r.Valid || r.Problem == nil || r.Problem.Code != "plan-field-set" || r.Report != nil {
		t.Errorf("an invalid plan: %+v", r)
	}
}

func TestDriftIsToldFieldByField(t *testing.T) {
	tests := map[string]struct {
		now  func(plan inspect.CleanupPlan, e *actions.Evidence)
		want string // field, and ! where it is not allowed
	}{
		"nothing":                  {func(inspect.CleanupPlan, *actions.Evidence) {}, ""},
		"the topic was made again": {func(_ inspect.CleanupPlan, e *actions.Evidence) { e.Data.TopicID = names.DataID2 }, "topicId!"},
		"partitions were added": {func(_ inspect.CleanupPlan, e *actions.Evidence) {
			e.Data.Partitions = append(e.Data.Partitions, inspect.Partition{ID: 2})
		}, "partitions!"},
		"the topic is gone": {func(_ inspect.CleanupPlan, e *actions.Evidence) { e.Data = inspect.DataTopic{Name: names.Data} }, "topic!"},
		"it is another job": {func(_ inspect.CleanupPlan, e *actions.Evidence) { e.Job.Topic = "other" }, "topic!"},
		"the settings":      {func(_ inspect.CleanupPlan, e *actions.Evidence) { e.Data.Settings = settings(nil) }, "settings.cleanup.policy! settings.retention.ms!"},
		"the control topic": {func(_ inspect.CleanupPlan, e *actions.Evidence) { e.Control.CleanupPolicy = "compact,delete" }, "controlTopic!"},
		"no control topic":  {func(_ inspect.CleanupPlan, e *actions.Evidence) { e.Control = inspect.ControlTopic{} }, "controlTopic"},
		"… and no consent": {func(_ inspect.CleanupPlan, e *actions.Evidence) {
			e.Control, e.Replication = inspect.ControlTopic{}, nil
		}, "controlTopic!"},
		"tombstones":            {func(_ inspect.CleanupPlan, e *actions.Evidence) { e.Job.Tombstones = true }, "configuration!"},
		"the log was trimmed":   {func(_ inspect.CleanupPlan, e *actions.Evidence) { e.Data.Partitions[1].Log.Start = 151 }, "logStart.1!"},
		"the log was truncated": {func(_ inspect.CleanupPlan, e *actions.Evidence) { e.Data.Partitions[0].Log.End = 99 }, "logEnd.0!"},
		"it is COMMITTED, and the log trimmed": {func(plan inspect.CleanupPlan, e *actions.Evidence) {
			committed(e, plan, inspect.StatusCommitted)
			e.Data.Partitions[1].Log.Start = 151
		}, "logStart.1 operations.same"},
		"a newer cleanup": {func(_ inspect.CleanupPlan, e *actions.Evidence) {
			newer, _ := actions.CleanupFrom(point(43, 200, 150).Markers, "file:/ck/job/chk-43")
			committed(e, newer, inspect.StatusCommitted)
		}, "operations.newer!"},
		"an older one that is not finished": {func(_ inspect.CleanupPlan, e *actions.Evidence) {
			older, _ := actions.CleanupFrom(point(41, 90, 149).Markers, "file:/ck/job/chk-41")
			committed(e, older, inspect.StatusCommitted)
		}, "operations.older"},
		"one with the same targets": {func(_ inspect.CleanupPlan, e *actions.Evidence) {
			equal, _ := actions.CleanupFrom(point(42, 100, 150).Markers, "file:/copy/chk-42")
			committed(e, equal, inspect.StatusCommitted)
		}, "operations.equal"},
		"one that can't be ordered": {func(_ inspect.CleanupPlan, e *actions.Evidence) {
			across, _ := actions.CleanupFrom(point(50, 50, 400).Markers, "file:/ck/job/chk-50")
			committed(e, across, inspect.StatusCommitted)
		}, "operations.incomparable!"},
		"its own point is gone": {func(_ inspect.CleanupPlan, e *actions.Evidence) {
			e.Own, e.OwnErr = nil, fault.New(fault.NotFound, "", "gone")
		}, "point!"},
		"its own point is another one": {func(_ inspect.CleanupPlan, e *actions.Evidence) {
			own := point(42, 101, 150)
			e.Own = &own
		}, "point!"},
		"its own point holds no marker": {func(_ inspect.CleanupPlan, e *actions.Evidence) {
			own := point(42, 100, 150)
			own.Markers = nil
			e.Own = &own
		}, "point!"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			plan, e := incident()
			tt.now(plan, &e)
			var got []string
			for _, d := range actions.DriftOf(plan, e, nil) {
				field := d.Field
				if !d.Allowed {
					field += "!"
				}
				if d.Message == "" {
					t.Errorf("%s: no sentence", d.Field)
				}
				got = append(got, field)
			}
			if text := strings.Join(got, " "); text != tt.want {
				t.Errorf("drift %q, want %q", text, tt.want)
			}
		})
	}
}

func TestDriftSinceTheReportWasApproved(t *testing.T) {
	plan, e := incident()
	approved := actions.NewReport(plan, e)
	e.Data.Partitions[0].Log.End, e.Data.Partitions[1].Log.End = 600, 499
	e.Points = e.Points[1:]
	var got []string
	for _, d := range actions.DriftOf(plan, e, &approved) {
		got = append(got, d.Message)
	}
	want := []string{
		`"file:/ck/job/chk-44" was to stay restorable and is not there any more`,
		"the log end grew on 1 partition",
		"the log end went back on partition 1: records were lost or the topic was made again",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("drift\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
