package fluss_test

import (
	"strings"
	"testing"
	"time"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/actions/fluss"
	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/flussrpc"
	"github.com/recoverctl/recoverctl/internal/journal"
	"github.com/recoverctl/recoverctl/internal/testkit/flusstest"
)

// An entry is deleted: the receipt says what the next start does, the journal holds
// what the entry was, and the plan's own file is the way back.
func TestAnEntryIsDeletedAndRegisteredAgain(t *testing.T) {
	s := newScene(t)
	s.stored(sink, 0, 8, 4)
	s.deletes()
	report := s.report()
	if got := warnings(report); got != "job-state-unknown unfinished-rows-stay" {
		t.Errorf("warnings: %s", got)
	}
	s.says(report.Warnings[1].Message, "2 rows since the stored offsets")
	s.says(report.NextStart, "registers the log ends as they are then", "unfinished rows before them stay")
	s.says(strings.Join(report.Notes, "\n"), "keeps the stored offsets and undoes the 2 rows written since")
	result := s.applied()
	s.keeps(sink)
	s.keeps(other, 1, 1)
	if got := steps(result); got != "plan done, identity done, entry done, delete-entry done, entry-reread done" {
		t.Error(got)
	}
	s.says(result.Receipt.Text(), "producer-delete", "producer     orders-sink", "next start   A start without a checkpoint registers the log ends as they are then")
	s.says(s.intents(), "delete-entry deletes the entry of producer orders-sink", "table 0 0=8 1=4")

	again, refused, err := s.apply()
	if err != nil || refused != nil || again.Verdict != actions.Applied {
		t.Fatal(again, refused, err)
	}
	if deletes, _ := s.wrote(); deletes != 1 {
		t.Errorf("%d deletes were sent", deletes)
	}

	file, err := fluss.ParseOffsets(s.plan.Encode())
	if err != nil {
		t.Fatal(err)
	}
	logs, err := s.sources().Resolve(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	if p := s.registers(actions.ProducerAsk{Logs: logs, TTL: time.Hour}); p != nil {
		t.Fatal(p)
	}
	report = s.report()
	if got := warnings(report); got != "job-state-unknown rows-undone" {
		t.Errorf("warnings: %s", got)
	}
	s.says(report.NextStart, "keeps the stored offsets and undoes the 2 rows written since")
	result = s.applied()
	s.keeps(sink, 8, 4)
	s.says(result.Receipt.Text(), "expires", "table 0", "next start   A start without a checkpoint before")
}

// intents are what the journal says that was about to be written.
func (s *scene) intents() string {
	var out []string
	for _, e := range s.lines.all {
		if e.Event == journal.Intent {
			out = append(out, e.Step+" "+e.Message)
		}
	}
	return strings.Join(out, "\n")
}

// Log ends are registered for a producer that has nothing valid. What they cost has
// a name of its own.
func TestLogEndsAreRegistered(t *testing.T) {
	s := newScene(t).registersLatest()
	report := s.report()
	if got := warnings(report); got != "job-state-unknown unfinished-rows-stay" {
		t.Errorf("warnings: %s", got)
	}
	s.says(report.Warnings[1].Message, "are never undone")
	s.says(report.NextStart, "nothing was written since, so it undoes nothing")
	result := s.applied()
	s.keeps(sink, 10, 4)
	if got := steps(result); got != "plan done, identity done, entry done, offsets done, register done, entry-reread done" {
		t.Error(got)
	}
	if again := s.applied(); !strings.Contains(steps(again), "register skipped") {
		t.Error(steps(again))
	}
	if _, registers := s.wrote(); registers != 2 { // the other producer's and this
		t.Errorf("%d registers were sent", registers)
	}
}

// A log end that moved after the plan was made refuses it: its rows would be undone.
func TestLogEndsThatMovedRefuseThePlan(t *testing.T) {
	s := newScene(t).registersLatest()
	s.rows(1, 3)
	_, refused, err := s.apply()
	if err != nil || refused == nil || refused.Problem.Code != "log-end-moved" || refused.Stage != actions.StageOffsets {
		t.Fatal(refused, err)
	}
	s.says(refused.Problem.Message, "bucket 1 of shop.orders was 4 and is 7")

	// And one that moves while the plan is applied, too.
	s = newScene(t).registersLatest()
	s.opened = func(n int) {
		if n == 4 { // of the step that writes
			s.rows(0, 1)
		}
	}
	_, _, err = s.apply()
	if fault.KindOf(err) != fault.Drift || actions.StageOf(err) != actions.StageRegister {
		t.Fatal(err)
	}
	s.keeps(sink)
}

// A register changes nothing where a valid entry is there: before the plan, before
// the apply, and where one appears between the last look and the call.
func TestAValidEntryIsNeverReplaced(t *testing.T) {
	s := newScene(t)
	s.stored(sink, 0, 3, 3)
	if p := s.registers(actions.ProducerAsk{Logs: []actions.ProducerLog{offsets(s.table, 10, 4)}}); p == nil || p.Code != "producer-entry-valid" {
		t.Fatal(p)
	}
	s.deleted(sink)
	s.registersLatest()
	s.stored(sink, 0, 3, 3)
	_, refused, err := s.apply()
	if err != nil || refused == nil || refused.Problem.Code != "producer-entry-valid" {
		t.Fatal(refused, err)
	}
	s.says(refused.Problem.Message, "ALREADY_EXISTS")
	s.keeps(sink, 3, 3)

	s.deleted(sink)
	raced := make(chan struct{})
	s.cluster.On(func(c flusstest.Call) flusstest.Reaction {
		if c.API == flussrpc.APIRegisterProducer {
			select {
			case <-raced:
			default:
				close(raced)
				s.stored(sink, 0, 5, 4) // by a call that comes first
			}
		}
		return flusstest.Reaction{}
	})
	result, _, err := s.apply()
	if fault.KindOf(err) != fault.Drift || actions.StageOf(err) != actions.StageRegister || result.Verdict != actions.Contradicted {
		t.Fatal(result.Verdict, err)
	}
	s.says(err.Error(), "ALREADY_EXISTS", "nothing was changed")
	s.keeps(sink, 5, 4)
}

// An entry that is not the one of the plan is never deleted.
func TestAChangedEntryIsRefused(t *testing.T) {
	s := newScene(t)
	s.stored(sink, 0, 8, 4)
	s.deletes()
	s.deleted(sink)
	s.stored(sink, 3*time.Hour, 8, 4) // the same offsets, and another expiry
	_, refused, err := s.apply()
	if err != nil || refused == nil || refused.Problem.Code != "producer-entry-changed" {
		t.Fatal(refused, err)
	}
	s.keeps(sink, 8, 4)

	s.deletes()
	s.opened = func(n int) {
		if n == 3 { // of the step that writes
			s.deleted(sink)
			s.stored(sink, 0, 9, 4)
		}
	}
	result, _, err := s.apply()
	if fault.KindOf(err) != fault.Drift || actions.StageOf(err) != actions.StageDeleteEntry || result.Verdict != actions.Contradicted {
		t.Fatal(result.Verdict, err)
	}
	s.keeps(sink, 9, 4)
}

// A sink that registers anew as soon as the entry is gone is told, and not called
// applied.
func TestASinkThatRegistersAnewIsTold(t *testing.T) {
	s := newScene(t)
	s.stored(sink, 0, 8, 4)
	s.deletes()
	s.opened = func(n int) {
		if n == 4 { // the re-read from a fresh connection
			s.stored(sink, 0, 10, 4)
		}
	}
	result, _, err := s.apply()
	if fault.KindOf(err) != fault.Drift || result.Verdict != actions.Contradicted {
		t.Fatal(result.Verdict, err)
	}
	s.says(err.Error(), "something registered since")
	s.says(result.Receipt.NextStart, "nothing was written since")
}

// Whether the sink runs is asked of Flink: by the job's name, and by the producer's
// id, which is the job's id where nobody chose another.
func TestARunningSinkIsWarnedOf(t *testing.T) {
	const id = "0ddba11000000000000000000000000a"
	running := inspect.LiveState{JobID: id, Name: "orders", State: "RUNNING"}
	for name, c := range map[string]struct {
		live live
		want string
	}{
		"runs":      {live{{Name: "orders"}: running}, "sink-running unfinished-rows-stay"},
		"has ended": {live{{Name: "orders"}: {JobID: id, Name: "orders", State: "FINISHED"}}, "unfinished-rows-stay"},
		"not known": {live{}, "job-state-unknown unfinished-rows-stay"},
	} {
		s := newScene(t)
		s.live = c.live
		if got := warnings(s.registersLatest().report()); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
	s := newScene(t)
	s.live = live{{ID: id}: running}
	e := s.sources().Look(t.Context(), id, nil)
	if len(e.Sinks) != 1 || e.Sinks[0].JobID != id || e.SinksErr != nil {
		t.Errorf("by the producer's id: %+v, %v", e.Sinks, e.SinksErr)
	}
}

// A sink that was started after the approval stops the apply.
func TestASinkThatWasStartedMeanwhileStopsIt(t *testing.T) {
	s := newScene(t)
	ended := live{{Name: "orders"}: {JobID: "a", Name: "orders", State: "FINISHED"}}
	s.live = ended
	s.stored(sink, 0, 8, 4)
	s.deletes()
	s.opened = func(n int) {
		if n == 3 { // of the step that writes
			ended[inspect.JobRef{Name: "orders"}] = inspect.LiveState{JobID: "b", Name: "orders", State: "RUNNING"}
		}
	}
	_, _, err := s.apply()
	if fault.KindOf(err) != fault.Drift || actions.StageOf(err) != actions.StageDeleteEntry {
		t.Fatal(err)
	}
	s.says(err.Error(), "since the report was approved there is sink-running")
	s.keeps(sink, 8, 4)
}

// An expired entry counts for nothing: the coordinator replaces it.
func TestAnExpiredEntryIsReplaced(t *testing.T) {
	s := newScene(t)
	now := time.Now()
	s.now = func() time.Time { return now }
	s.stored(sink, time.Minute, 3, 3)
	now = now.Add(2 * time.Minute)
	s.registersLatest()
	s.says(strings.Join(s.report().Notes, "\n"), "is still there: the coordinator replaces it")
	s.applied()
	s.keeps(sink, 10, 4)
	now = now.Add(25 * time.Hour)
	v := fluss.Verify(t.Context(), s.sources(), s.plan)
	if v.Verdict != actions.Undecided || !strings.Contains(v.Message, "expired at") { // it was registered: not started would be wrong
		t.Errorf("%s: %s", v.Verdict, v.Message)
	}
}

// What is approved is what was shown, however long somebody reads it.
func TestAReportDoesNotChangeWhileItIsRead(t *testing.T) {
	s := newScene(t)
	now := time.Now()
	s.now = func() time.Time { return now }
	s.stored(sink, 30*time.Minute, 8, 4)
	s.deletes()
	shown := s.report().Hash()
	now = now.Add(10 * time.Minute)
	if again := s.report().Hash(); again != shown || shown == "" {
		t.Errorf("%s, and ten minutes later %s", shown, again)
	}
	s.deleted(sink)
	s.registersLatest()
	shown = s.report().Hash()
	now = now.Add(10 * time.Minute)
	if again := s.report().Hash(); again != shown || shown == "" {
		t.Errorf("%s, and ten minutes later %s", shown, again)
	}
}

// Offsets with which the next start would fail are never registered.
func TestOffsetsThatAStartCannotUseAreRefused(t *testing.T) {
	negative := int64(-3)
	for name, c := range map[string]struct {
		log  func(*scene) actions.ProducerLog
		code string
		says string
	}{
		"past the end":    {func(s *scene) actions.ProducerLog { return offsets(s.table, 11, 4) }, "next-start-fails", "its log ends at 10"},
		"no such table":   {func(*scene) actions.ProducerLog { return offsets(77, 1) }, "next-start-fails", "which is not there"},
		"before the log":  {func(s *scene) actions.ProducerLog { s.trim(0, 6); return offsets(s.table, 2, 4) }, "next-start-fails", "its log starts at 6"},
		"negative":        {func(s *scene) actions.ProducerLog { return offsets(s.table, negative) }, "offset-not-allowed", "no offset from 0 on"},
		"no such segment": {func(s *scene) actions.ProducerLog { l := offsets(s.table, 10, 4); l.Partition = 9; return l }, "next-start-fails", "partition"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			p := s.registers(actions.ProducerAsk{Logs: []actions.ProducerLog{c.log(s)}})
			if p == nil || p.Code != c.code {
				t.Fatalf("%+v", p)
			}
			s.says(p.Message, c.says)
		})
	}
	s := newScene(t)
	if p := s.registers(actions.ProducerAsk{Logs: []actions.ProducerLog{offsets(s.table, 10)}}); p != nil {
		t.Fatal(p)
	}
	if got := warnings(s.report()); got != "job-state-unknown rows-undone buckets-missing" && got != "job-state-unknown buckets-missing" {
		t.Errorf("warnings: %s", got)
	}
}

func (s *scene) trim(bucket int32, to int64) {
	s.cluster.Trim(flussrpc.Log{Table: s.table, Partition: flussrpc.NoPartition}, bucket, to)
}

// A cluster whose cleanup deletes live files is told before anything is entrusted
// to it, and afterwards the entry that nobody can read is what it is.
func TestARemoteDirWithoutASchemeIsToldBefore(t *testing.T) {
	s := newScene(t, "remote.data.dir", "/data/remote").registersLatest()
	report := s.report()
	if got := warnings(report); got != "job-state-unknown remote-dir-without-scheme unfinished-rows-stay" {
		t.Errorf("warnings: %s", got)
	}
	s.says(report.Warnings[1].Message, "without a scheme", "file:///data/remote")
	s.applied()

	s.cluster.LoseOffsetFiles(sink)
	if p := s.registers(actions.ProducerAsk{Logs: []actions.ProducerLog{offsets(s.table, 10, 4)}}); p == nil || p.Code != "producer-entry-unreadable" {
		t.Fatal(p)
	}
	s.deletes()
	report = s.report()
	if got := warnings(report); got != "job-state-unknown offsets-unreadable" {
		t.Errorf("warnings: %s", got)
	}
	s.says(strings.Join(report.Does, "\n"), "Where the cluster has an authorizer the coordinator refuses this", "/producers/orders-sink")
	s.says(strings.Join(report.Notes, "\n"), "waits 5 minutes for offsets that nobody can read")
	s.applied()
	s.keeps(sink)
}

// With an authorizer the coordinator can't delete such an entry, even for a super
// user.
func TestAnAuthorizerKeepsAnUnreadableEntry(t *testing.T) {
	s := newScene(t)
	s.stored(sink, 0, 8, 4)
	s.cluster.LoseOffsetFiles(sink)
	s.deletes()
	s.cluster.On(func(c flusstest.Call) flusstest.Reaction {
		if c.API == flussrpc.APIDeleteProducer {
			return flusstest.Reaction{Refuse: &flussrpc.Error{Code: flussrpc.UnknownServerError, Message: "java.io.IOException: Offsets file not found: /data/remote/producers/orders-sink/0/0.offsets"}}
		}
		return flusstest.Reaction{}
	})
	result, _, err := s.apply()
	if err == nil || result.Verdict != actions.NotStarted {
		t.Fatal(result.Verdict, err)
	}
	s.says(err.Error(), "was not done", "only the expiry frees the id then, or removing its node in ZooKeeper")
}

// A denial names the table and the right, and says that nothing was changed.
func TestADenialNamesTableAndRight(t *testing.T) {
	for _, api := range []flussrpc.API{flussrpc.APIDeleteProducer, flussrpc.APIRegisterProducer} {
		s := newScene(t)
		if api == flussrpc.APIDeleteProducer {
			s.stored(sink, 0, 8, 4)
			s.deletes()
		} else {
			s.registersLatest()
		}
		s.cluster.On(func(c flusstest.Call) flusstest.Reaction {
			if c.API == api {
				return flusstest.Reaction{Refuse: &flussrpc.Error{Code: flussrpc.Authorization, Message: "Principal FlussPrincipal{name='ops', type='User'} have no authorization to operate WRITE on resource Resource{type=TABLE, name='shop.orders'}"}}
			}
			return flusstest.Reaction{}
		})
		_, _, err := s.apply()
		if fault.KindOf(err) != fault.Denied {
			t.Fatal(err)
		}
		s.says(err.Error(), "nothing was changed: the right WRITE is needed on shop.orders", "name='ops'")
	}
}

// Fluss tells no id of a cluster: a plan is for the coordinator that it was made
// with.
func TestAnotherClusterIsRefused(t *testing.T) {
	s := newScene(t)
	s.stored(sink, 0, 8, 4)
	s.deletes()
	elsewhere := newScene(t)
	elsewhere.plan = s.plan
	_, refused, err := elsewhere.apply()
	if err != nil || refused == nil || refused.Problem.Code != "plan-cluster-mismatch" || refused.Stage != actions.StageIdentity {
		t.Fatal(refused, err)
	}
	if v := fluss.Verify(t.Context(), elsewhere.sources(), s.plan); v.Verdict != actions.Contradicted {
		t.Errorf("%s: %s", v.Verdict, v.Message)
	}
}

// Without its coordinator nobody is told anything, however many tablet servers go
// on naming it.
func TestWithoutACoordinatorNothingIsSaid(t *testing.T) {
	s := newScene(t)
	s.stored(sink, 0, 8, 4)
	s.deletes()
	s.cluster.KillCoordinator()
	s.timeout = time.Second
	if _, _, err := s.apply(); fault.KindOf(err) != fault.Unreachable {
		t.Error(err)
	}
	if v := fluss.Verify(t.Context(), s.sources(), s.plan); v.Verdict != actions.Undecided {
		t.Errorf("%s: %s", v.Verdict, v.Message)
	}
}
