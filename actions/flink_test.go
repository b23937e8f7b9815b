package actions_test

import (
	"strings"
	"testing"
	"time"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/inspect"
)

const (
	flinkOld     = "0ddba11000000000000000000000000a"
	flinkNew     = "feedface000000000000000000000001"
	flinkTrigger = "c0ffee00000000000000000000000001"
	flinkPoint   = "s3://state/" + flinkOld + "/chk-7"
)

func running() *inspect.LiveState {
	interval, retained, from := int64(60_000), 3, "s3://state/savepoints/savepoint-1"
	return &inspect.LiveState{
		JobID: flinkOld, Name: "orders", State: "RUNNING", RestoredFrom: &from,
		Settings:    &inspect.CheckpointSettings{IntervalMs: &interval, Retained: &retained, Retention: inspect.RetainOnCancellation},
		Checkpoints: &inspect.LiveCheckpoints{Completed: 9},
	}
}

// flinkEvidence is a job that runs, its jar, and a point that is accepted.
func flinkEvidence() actions.FlinkEvidence {
	return actions.FlinkEvidence{
		Job: inspect.Job{Flink: inspect.RefOf("http://jobmanager:8081", "orders")}, At: time.Unix(1_700_000_000, 0), Address: "http://jobmanager:8081",
		Jobs: []actions.FlinkJob{{ID: flinkOld, Name: "orders", State: "RUNNING"}}, Old: running(), Parallelism: 2,
		Jars: []actions.FlinkJar{{ID: "35efb6bf_job.jar", Name: "job.jar"}}, PointKind: inspect.KindCheckpoint,
		Restore: &inspect.RestoreValidation{Point: flinkPoint, Verdict: inspect.Accepted},
	}
}

func rollbackPlan(t testing.TB) actions.Document {
	t.Helper()
	d, p := actions.RollbackFrom(flinkEvidence(), actions.FlinkAsk{
		Trigger: flinkTrigger, NewJobID: flinkNew, Point: flinkPoint, Arguments: []string{"--name", "it's \"orders\" <é>", ""},
	})
	if p != nil {
		t.Fatal(p.Code, p.Message)
	}
	return d
}

// The file of a plan says all that an apply does, and is read back as it was
// written.
func TestARollbackPlanIsAFile(t *testing.T) {
	d := rollbackPlan(t)
	read, p := actions.ParseDocument(d.Encode())
	if p != nil || read.PlanID != d.PlanID {
		t.Fatalf("read back: %+v", p)
	}
	is := actions.FlinkPlanOf(read)
	if is.JobID != flinkOld || is.State != "RUNNING" || is.NewJobID != flinkNew || is.Point != flinkPoint || is.Trigger != flinkTrigger || is.End != actions.EndByCancel ||
		is.Parallelism != 2 || is.Jar != "35efb6bf_job.jar" || is.AllowLeft || strings.Join(is.Arguments, "|") != `--name|it's "orders" <é>|` {
		t.Errorf("it says %+v", is)
	}
	about := d.Subject()
	if want := "takes a savepoint, trigger " + flinkTrigger + ", cancels the job, starts jar 35efb6bf_job.jar as job " + flinkNew + " from " + flinkPoint; about.Does != want || about.Source != flinkPoint {
		t.Errorf("it is about %+v", about)
	}
}

// A plan that was changed by hand is refused before its id is compared: it would
// do something that no planner says.
func TestRollbackPlansThatNobodyMade(t *testing.T) {
	for name, tt := range map[string]struct {
		from, to string
		code     string
	}{
		"no such way to end":             {`"end":"cancel"`, `"end":"kill"`, "parameter-value"},
		"a stop of nothing":              {`"end":"cancel"`, `"end":"none"`, "parameter-value"},
		"a trigger that is none":         {`"trigger":"` + flinkTrigger, `"trigger":"../../cluster`, "parameter-value"},
		"a new job that is the old one":  {`"after":"` + flinkNew, `"after":"` + flinkOld, "fact-not-allowed"},
		"a job that is no id":            {`"id":"` + flinkOld, `"id":"orders`, "plan-target-unknown"},
		"arguments in another form":      {`"arguments":"[\"--name\"`, `"arguments":"[ \"--name\"`, "parameter-value"},
		"a parallelism that is no count": {`"parallelism":"2"`, `"parallelism":"+2"`, "parameter-value"},
		"a parameter too many":           {`"parameters":{`, `"parameters":{"aaa":"x",`, "parameter-unknown"},
		"a parameter missing":            {`"entry-class":"",`, ``, "parameter-missing"},
		"a savepoint somewhere else":     {`"a newer one, in the job's default folder"`, `"an older one"`, "fact-not-allowed"},
		"a restore from nothing":         {`"after":"` + flinkPoint + `"`, `"after":""`, "fact-not-allowed"},
		"another backend":                {`"backend":"flink"`, `"backend":"kafka"`, "plan-target-unknown"},
		"a fact of another kind":         {`"name":"parallelism"`, `"name":"memory"`, "fact-not-allowed"},
		"the kind of another":            {`"kind":"rollback"`, `"kind":"cancel"`, "parameter-unknown"},
		"all as it was, but one letter":  {`state/` + flinkOld + `/chk-7`, `state/` + flinkOld + `/chk-8`, "plan-id-mismatch"},
	} {
		t.Run(name, func(t *testing.T) {
			file := string(rollbackPlan(t).Encode())
			if !strings.Contains(file, tt.from) {
				t.Fatalf("%s is not in %s", tt.from, file)
			}
			if _, p := actions.ParseDocument([]byte(strings.ReplaceAll(file, tt.from, tt.to))); p == nil || p.Code != tt.code {
				t.Errorf("problem %+v, want %s", p, tt.code)
			}
		})
	}
}

// How a job is ended follows from what becomes of the point.
func TestHowAJobIsEnded(t *testing.T) {
	for name, tt := range map[string]struct {
		change  func(*actions.FlinkEvidence, *actions.FlinkAsk)
		end     actions.EndBy
		saves   bool
		warning string
	}{
		"its own checkpoint": {func(*actions.FlinkEvidence, *actions.FlinkAsk) {}, actions.EndByCancel, true, actions.PointMayGo},
		"a checkpoint of the run before": {func(_ *actions.FlinkEvidence, a *actions.FlinkAsk) {
			a.Point = "s3://state/0ddba11000000000000000000000000f/chk-7"
		}, actions.EndByStop, true, ""},
		"a savepoint": {func(e *actions.FlinkEvidence, a *actions.FlinkAsk) {
			a.Point, e.PointKind = "s3://state/savepoints/savepoint-1", inspect.KindSavepoint
		}, actions.EndByStop, true, ""},
		"nobody wants a savepoint":     {func(_ *actions.FlinkEvidence, a *actions.FlinkAsk) { a.NoSavepoint = true }, actions.EndByCancel, false, actions.NoSafetySavepoint},
		"a job that restarts has none": {func(e *actions.FlinkEvidence, _ *actions.FlinkAsk) { e.Old.State = "RESTARTING" }, actions.EndByCancel, false, actions.NoSafetySavepoint},
		"one that failed":              {func(e *actions.FlinkEvidence, _ *actions.FlinkAsk) { e.Old.State = "FAILED" }, actions.EndByNone, false, ""},
		"one that Flink forgot":        {func(e *actions.FlinkEvidence, _ *actions.FlinkAsk) { e.Old, e.Jobs = nil, nil }, actions.EndByNone, false, ""},
		"state is left out":            {func(_ *actions.FlinkEvidence, a *actions.FlinkAsk) { a.AllowLeft = true }, actions.EndByCancel, true, actions.StateLeftOut},
	} {
		t.Run(name, func(t *testing.T) {
			e, ask := flinkEvidence(), actions.FlinkAsk{Trigger: flinkTrigger, NewJobID: flinkNew, Point: flinkPoint, Arguments: []string{"x"}}
			tt.change(&e, &ask)
			d, p := actions.RollbackFrom(e, ask)
			if p != nil {
				t.Fatal(p.Code, p.Message)
			}
			if is := actions.FlinkPlanOf(d); is.End != tt.end || is.Savepoints() != tt.saves {
				t.Errorf("ended by %s, savepoint %v", is.End, is.Savepoints())
			}
			var raised []string
			for _, w := range actions.FlinkReport(d, e).Warnings {
				raised = append(raised, w.Name)
			}
			if got := strings.Join(raised, ","); tt.warning == "" && got != "" || !strings.Contains(got, tt.warning) {
				t.Errorf("warnings %q, want %q", got, tt.warning)
			}
		})
	}
}

// A job that runs on changes its figures all the time: what was approved stays
// what was shown.
func TestTheReportOfARunningJobStandsStill(t *testing.T) {
	d, e := rollbackPlan(t), flinkEvidence()
	before := actions.FlinkReport(d, e).Hash()
	e.At = e.At.Add(time.Minute)
	e.Old.Checkpoints = &inspect.LiveCheckpoints{Completed: 12}
	restarts := int64(0)
	e.Old.Restarts = &restarts
	if after := actions.FlinkReport(d, e).Hash(); before == "" || after != before {
		t.Error("the report is another one")
	}
	e.Old.State = "RESTARTING"
	if actions.FlinkReport(d, e).Hash() == before {
		t.Error("a job that restarts has the report of one that runs")
	}
}

// A savepoint that failed half-way, or a job that went another way, is no ground
// to go on.
func TestVerdictsOfARollback(t *testing.T) {
	started := func(change func(*inspect.LiveState)) func(*actions.FlinkEvidence) {
		return func(e *actions.FlinkEvidence) {
			now := running()
			point := flinkPoint
			now.JobID, now.RestoredFrom = flinkNew, &point
			change(now)
			e.New, e.NewParallelism, e.Old.State = now, 2, "CANCELED"
		}
	}
	for name, tt := range map[string]struct {
		change func(*actions.FlinkEvidence)
		want   actions.Outcome
		words  string
	}{
		"nothing was done": {func(*actions.FlinkEvidence) {}, actions.NotStarted, "RUNNING"},
		"the savepoint was taken": {func(e *actions.FlinkEvidence) {
			e.Savepoint = actions.SavepointState{Known: true, Ready: true, Location: "s3://x"}
		}, actions.NotStarted, "its savepoint is s3://x"},
		"the savepoint failed": {func(e *actions.FlinkEvidence) {
			e.Savepoint = actions.SavepointState{Known: true, Ready: true, Failure: "full"}
		}, actions.NotStarted, "failed: full"},
		"it is being cancelled":  {func(e *actions.FlinkEvidence) { e.Old.State = "CANCELLING" }, actions.Partial, "being ended"},
		"it is ended":            {func(e *actions.FlinkEvidence) { e.Old.State = "CANCELED" }, actions.Partial, "was not started again"},
		"Flink forgot both":      {func(e *actions.FlinkEvidence) { e.Old = nil }, actions.Undecided, "does not know job"},
		"it is up":               {started(func(*inspect.LiveState) {}), actions.Applied, "restored from " + flinkPoint},
		"no checkpoint yet":      {started(func(l *inspect.LiveState) { l.Checkpoints.Completed = 0 }), actions.Partial, "no checkpoint yet"},
		"none are taken by time": {started(func(l *inspect.LiveState) { l.Checkpoints.Completed = 0; l.Settings.IntervalMs = nil }), actions.Applied, "no checkpoints by time"},
		"restored from another":  {started(func(l *inspect.LiveState) { other := "s3://state/x/chk-6"; l.RestoredFrom = &other }), actions.Contradicted, "chk-6"},
		"restored from nothing":  {started(func(l *inspect.LiveState) { l.RestoredFrom = nil }), actions.Contradicted, "nothing"},
		"by itself since, from its own": {started(func(l *inspect.LiveState) {
			other := "s3://state/" + flinkNew + "/chk-9"
			l.RestoredFrom, l.Checkpoints.Restores = &other, 2
		}), actions.Applied, "since then by itself"},
		"it failed":              {started(func(l *inspect.LiveState) { why := "java.lang.X: y"; l.State, l.LastException = "FAILED", &why }), actions.Partial, "java.lang.X: y"},
		"it restarts":            {started(func(l *inspect.LiveState) { l.State = "RESTARTING" }), actions.Partial, "came up and failed"},
		"it loops":               {started(func(l *inspect.LiveState) { n := int64(4); l.Restarts = &n }), actions.Partial, "restarted 4 times"},
		"somebody ended it":      {started(func(l *inspect.LiveState) { l.State = "CANCELED" }), actions.Contradicted, "has ended since"},
		"its checkpoints unread": {started(func(l *inspect.LiveState) { l.Checkpoints = nil }), actions.Undecided, "could not be read"},
	} {
		t.Run(name, func(t *testing.T) {
			d, e := rollbackPlan(t), flinkEvidence()
			tt.change(&e)
			if v := actions.JudgeFlink(d, e); v.Verdict != tt.want || !strings.Contains(v.Message, tt.words) {
				t.Errorf("%s: %s; want %s with %q", v.Verdict, v.Message, tt.want, tt.words)
			}
		})
	}
}
