package flink_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/actions/flink"
	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/testkit/flinktest"
)

// A job that is rolled back to a checkpoint of its own is never stopped, which
// would delete that: it takes a savepoint, and is cancelled.
func TestBackToACheckpointOfTheJobsOwn(t *testing.T) {
	s := newScene(t).mustMake(actions.KindRollback, to(own))
	s.markers(own, inspect.Offsets{0: 100, 1: 120}, inspect.Offsets{0: 100, 1: 150})
	s.verdict(actions.NotStarted, "was not rolled back")
	result, refused, err := s.apply()
	if err != nil || refused != nil {
		t.Fatal(err, refused)
	}
	s.wrote("savepoint "+oldID, "cancel "+oldID, "run "+newID)
	const want = "plan done, job done, restore-check done, jar done, savepoint done, savepoint-ready done, cancel done, ended done, submit done, new-running done, checkpoint done, restored done"
	if steps(result) != want || result.Verdict != actions.Applied {
		t.Errorf("%s: %s", result.Verdict, steps(result))
	}
	last := result.Steps[len(result.Steps)-1].Detail
	if !strings.Contains(last, "restored from "+own) || !strings.Contains(last, "markers moved on 1 of 2 partitions, and back on none") {
		t.Errorf("proof: %s", last)
	}
	if got, want := facts(result.Facts), "job planned: "+newID+"; restored-from planned: "+own+"; parallelism planned: 2; savepoint planned: s3://state/savepoints/savepoint-0ddba1-000000000001"; got != want {
		t.Errorf("facts %s, want %s", got, want)
	}
	started, _ := s.cluster.Job(newID)
	if started.Restored != own || started.Parallelism != 2 || started.AllowLeft || strings.Join(started.Arguments, " ") != "--name orders" {
		t.Errorf("started %+v", started)
	}
	s.mustHold()

	t.Run("the same plan again asks for nothing more", func(t *testing.T) {
		result, _, err := s.apply()
		if err != nil || result.Verdict != actions.Applied {
			t.Errorf("%s, %v", result.Verdict, err)
		}
		s.wrote("savepoint "+oldID, "cancel "+oldID, "run "+newID)
	})
	t.Run("a job that restarted by itself since was restored as planned", func(t *testing.T) {
		s.cluster.Change(newID, func(j *flinktest.Job) { j.Restarts = 1 })
		s.verdict(actions.Applied, "restored from "+own)
	})
}

// Any other point outlives the job: one request takes the savepoint and ends it.
func TestBackToASavepoint(t *testing.T) {
	s := newScene(t).mustMake(actions.KindRollback, to(saved))
	result, _, err := s.apply()
	if err != nil || result.Verdict != actions.Applied {
		t.Fatalf("%s, %v", result.Verdict, err)
	}
	s.wrote("stop "+oldID, "run "+newID)
	if old, _ := s.cluster.Job(oldID); old.State != "FINISHED" {
		t.Errorf("the old job is %s", old.State)
	}
	s.mustHold()
}

func TestTheOtherKinds(t *testing.T) {
	for kind, wrote := range map[string]string{actions.KindSavepoint: "savepoint ", actions.KindStop: "stop ", actions.KindCancel: "cancel "} {
		t.Run(kind, func(t *testing.T) {
			s := newScene(t).mustMake(kind, ask)
			s.verdict(actions.NotStarted, "")
			for range 2 { // a second time changes nothing
				result, refused, err := s.apply()
				if err != nil || refused != nil || result.Verdict != actions.Applied {
					t.Fatalf("%s, %v, %v: %s", result.Verdict, refused, err, steps(result))
				}
			}
			s.wrote(wrote + oldID)
			s.cluster.Forget() // as Flink does after five minutes
			s.verdict(actions.Applied, "")
		})
	}
}

// A job that has ended already needs no end; one that Flink has forgotten is
// started by its name.
func TestAJobThatHasEnded(t *testing.T) {
	for name, change := range map[string]func(*scene){
		"failed": func(s *scene) {
			s.cluster.Change(oldID, func(j *flinktest.Job) {
				j.State, j.Cause = "FAILED", "java.lang.IllegalStateException: broken"
			})
		},
		"forgotten": func(s *scene) { s.cluster.Remove(oldID) },
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			change(s)
			s.mustMake(actions.KindRollback, to(own))
			result, refused, err := s.apply()
			if err != nil || refused != nil || result.Verdict != actions.Applied {
				t.Fatalf("%s, %v, %v: %s", result.Verdict, refused, err, steps(result))
			}
			s.wrote("run " + newID)
		})
	}
}

// What no plan is made for.
func TestNoPlanIsMade(t *testing.T) {
	for name, tt := range map[string]struct {
		kind   string
		ask    actions.FlinkAsk
		change func(*scene)
		code   string
	}{
		"a job that restarts gives no savepoint": {actions.KindSavepoint, ask, func(s *scene) { s.cluster.Change(oldID, func(j *flinktest.Job) { j.State = "RESTARTING" }) }, "job-state"},
		"a job that is being cancelled":          {actions.KindRollback, to(own), func(s *scene) { s.cluster.Change(oldID, func(j *flinktest.Job) { j.State = "SUSPENDED" }) }, "job-state"},
		"a job that has ended is not cancelled":  {actions.KindCancel, ask, func(s *scene) { s.cluster.Change(oldID, func(j *flinktest.Job) { j.State = "FINISHED" }) }, "job-ended"},
		"a job that nobody knows":                {actions.KindStop, ask, func(s *scene) { s.cluster.Remove(oldID) }, "job-unknown"},
		"a point that is rejected": {actions.KindRollback, to(own), func(s *scene) {
			s.points.say(inspect.Rejected, "partition 0 must be read from 100")
		}, "below-committed-boundary"},
		"a point of which nothing is known": {actions.KindRollback, to(own), func(s *scene) { s.points.say(inspect.Unknown, "") }, "restore-not-accepted"},
		"a checkpoint that goes with the job": {actions.KindRollback, to(own), func(s *scene) {
			s.cluster.Change(oldID, func(j *flinktest.Job) { j.Retain = false })
		}, "point-goes-with-job"},
		"no jar":           {actions.KindRollback, to(own), func(s *scene) { s.cluster.Delete(jarID) }, "jar-gone"},
		"two jars":         {actions.KindRollback, to(own), func(s *scene) { s.cluster.Upload("another_other.jar") }, "jar-ambiguous"},
		"a jar by no name": {actions.KindRollback, func() actions.FlinkAsk { a := to(own); a.Jar = "x.jar"; return a }(), func(*scene) {}, "jar-gone"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			tt.change(s)
			if p := s.make(tt.kind, tt.ask); p == nil || p.Code != tt.code {
				t.Errorf("problem %+v, want %s", p, tt.code)
			}
			s.wrote()
		})
	}
}

// Two jobs of one name: which is meant is asked before anything else.
func TestTwoJobsOfOneName(t *testing.T) {
	s := newScene(t)
	s.cluster.Add(flinktest.Job{ID: "0ddba11000000000000000000000000b", Name: name})
	e, _ := s.sources().Look(t.Context(), own)
	if fault.KindOf(e.Err) != fault.Usage || !strings.Contains(e.Err.Error(), "2 jobs") {
		t.Fatalf("by its name: %v", e.Err)
	}
	sources := s.sources()
	sources.Job.Flink = inspect.JobRef{REST: s.cluster.URL, ID: oldID}
	e, _ = sources.Look(t.Context(), own)
	if _, p := actions.RollbackFrom(e, to(own)); p == nil || p.Code != "two-jobs" {
		t.Errorf("by its id: %+v", p)
	}
}

// What has changed since the plan was made is seen before anything is written.
func TestWhatChangedSinceThePlan(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*scene)
		stage  actions.Stage
		code   string
	}{
		"the job failed":           {func(s *scene) { s.cluster.Change(oldID, func(j *flinktest.Job) { j.State = "FAILED" }) }, actions.StageJob, "job-changed"},
		"somebody cancelled it":    {func(s *scene) { s.cluster.Change(oldID, func(j *flinktest.Job) { j.State = "CANCELED" }) }, actions.StageJob, "job-changed"},
		"it restarts":              {func(s *scene) { s.cluster.Change(oldID, func(j *flinktest.Job) { j.State = "RESTARTING" }) }, actions.StageJob, "job-changed"},
		"Flink forgot it":          {func(s *scene) { s.cluster.Remove(oldID) }, actions.StageJob, "job-unknown"},
		"another was started":      {func(s *scene) { s.cluster.Add(flinktest.Job{ID: "0ddba11000000000000000000000000b", Name: "orders"}) }, actions.StageJob, "two-jobs"},
		"the point was rejected":   {func(s *scene) { s.points.say(inspect.Rejected, "gone") }, actions.StageRestore, "below-committed-boundary"},
		"its retention changed":    {func(s *scene) { s.cluster.Change(oldID, func(j *flinktest.Job) { j.Retain = false }) }, actions.StageRestore, "point-goes-with-job"},
		"somebody deleted the jar": {func(s *scene) { s.cluster.Delete(jarID) }, actions.StageJar, "jar-gone"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t).mustMake(actions.KindRollback, to(own))
			tt.change(s)
			_, refused, err := s.apply()
			if err != nil || refused == nil || refused.Stage != tt.stage || refused.Problem.Code != tt.code {
				t.Errorf("refused %+v, error %v", refused, err)
			}
			s.wrote()
		})
	}
}

// What changes while it is applied stops it where nothing is lost.
func TestWhatGoesWrongOnTheWay(t *testing.T) {
	const failed = "java.io.IOException: no space left on device"
	for name, tt := range map[string]struct {
		point   string
		change  func(*scene)
		step    string // that fails
		words   string // in its error
		wrote   []string
		verdict actions.Outcome
		kind    fault.Kind
	}{
		"the savepoint fails, and the job runs on": {own, func(s *scene) { s.cluster.SavepointFails = failed }, "savepoint-ready", "no space left", nil, actions.NotStarted, fault.Drift},
		"the stop fails, and the job runs on":      {saved, func(s *scene) { s.cluster.SavepointFails = failed }, "ended", "no space left", nil, actions.NotStarted, fault.Drift},
		"the point goes while the savepoint is made": {own, func(s *scene) {
			s.after(func() { s.points.say(inspect.Rejected, "files are gone") })
		}, "cancel", "files are gone", []string{"savepoint " + oldID}, actions.NotStarted, fault.Drift},
		"the jar goes while the job ends": {saved, func(s *scene) {
			s.after(func() { s.cluster.Delete(jarID) })
		}, "submit", "no jar is uploaded", []string{"stop " + oldID}, actions.Partial, fault.Partial},
		"Flink rejects the restore at the start": {saved, func(s *scene) {
			s.cluster.StartFails = "java.lang.IllegalStateException: Failed to rollback to checkpoint/savepoint file:/x. Cannot map checkpoint/savepoint state for operator abc to the new program, because the operator is not available in the new program. If you want to allow to skip this, you can set the --allowNonRestoredState option on the CLI."
		}, "new-running", "Cannot map checkpoint/savepoint state", []string{"stop " + oldID, "run " + newID}, actions.Partial, fault.Partial},
		"the job comes up and fails again": {saved, func(s *scene) { s.cluster.Loops = "java.lang.RuntimeException: poison" }, "checkpoint", "comes up and fails again", []string{"stop " + oldID, "run " + newID}, actions.Partial, fault.Partial},
		"it was restored from nothing":     {saved, func(s *scene) { s.cluster.Ignores = true }, "restored", "restored from nothing", []string{"stop " + oldID, "run " + newID}, actions.Contradicted, fault.Drift},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t).mustMake(actions.KindRollback, to(tt.point))
			tt.change(s)
			result, refused, err := s.apply()
			if refused != nil || err == nil {
				t.Fatalf("refused %v, error %v", refused, err)
			}
			if !strings.Contains(steps(result), tt.step+" failed") || !strings.Contains(err.Error(), tt.words) {
				t.Errorf("%s: %v", steps(result), err)
			}
			s.wrote(tt.wrote...)
			s.mustHold()
			if result.Verdict != tt.verdict || fault.KindOf(err) != tt.kind {
				t.Errorf("verdict %s (%s), kind %s", result.Verdict, result.Message, fault.KindOf(err))
			}
			// Whoever reads the error is told the way back, where the job has ended.
			back := "the way back: recoverctl plan rollback --point s3://state/savepoints/savepoint-0ddba1-000000000001"
			if old, _ := s.cluster.Job(oldID); (old.State != "RUNNING") != strings.Contains(fault.Of(err).Hint, back) {
				t.Errorf("the old job is %s, and the hint is %q", old.State, fault.Of(err).Hint)
			}
		})
	}
}

// markers are those of a point, and of every checkpoint that the new job takes.
func (s *scene) markers(point string, before, after inspect.Offsets) {
	s.points.offsets[point] = before
	for chk := range 10 {
		s.points.offsets[fmt.Sprintf("file:/state/%s/chk-%d", newID, chk)] = after
	}
}

// after lets something happen once, at the first request after the cluster was
// asked for a savepoint.
func (s *scene) after(then func()) {
	happened := false
	s.cluster.Fails(func(int, *http.Request) flinktest.Fault {
		if !happened && s.cluster.Savepoints() > 0 {
			happened = true
			then()
		}
		return flinktest.NoFault
	})
}

// A markers' step back is no restore that anybody wanted.
func TestMarkersThatGoBack(t *testing.T) {
	s := newScene(t).mustMake(actions.KindRollback, to(saved))
	s.markers(saved, inspect.Offsets{0: 100}, inspect.Offsets{0: 99})
	_, _, err := s.apply()
	var refusal *actions.Refusal
	if !errors.As(err, &refusal) || refusal.Problem.Code != "markers-backwards" || !strings.Contains(err.Error(), "partition 0 from 99, and the point from 100") {
		t.Errorf("error %v", err)
	}
}

// Nobody who can't ask Flink is told anything about the job.
func TestFlinkThatCannotBeAsked(t *testing.T) {
	s := newScene(t).mustMake(actions.KindRollback, to(own))
	plan := s.plan
	for name, kind := range map[flinktest.Fault]fault.Kind{flinktest.LostBefore: fault.Unreachable, flinktest.Page: fault.Unsupported, flinktest.Unavailable: fault.Unreachable} {
		s.cluster.Fails(always(name))
		e, _ := s.sources().Gather(t.Context(), plan)
		if e.Err == nil || fault.KindOf(e.Err) != kind {
			t.Errorf("fault %d: %v, want %s", name, e.Err, kind)
		}
		if v := flink.Verify(t.Context(), s.sources(), plan); v.Verdict != actions.Undecided || strings.Contains(facts(v.Facts), "planned") {
			t.Errorf("fault %d: %s %s", name, v.Verdict, facts(v.Facts))
		}
	}
	s.cluster.Fails(nil)
	s.wrote()
}
