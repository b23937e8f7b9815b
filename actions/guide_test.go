package actions_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/fault"
)

// walk is a procedure on its way: each stage changes the world, and the steps
// that are done by then are named.
type walk struct {
	*testing.T
	guide string
	e     actions.GuideEvidence
}

// states are the steps by state, as in "done stop point".
func (w *walk) states() map[actions.GuideState][]string {
	w.Helper()
	r, ok := actions.Guide(w.guide, w.e)
	if !ok {
		w.Fatalf("no procedure %s", w.guide)
	}
	out := make(map[actions.GuideState][]string)
	for i, s := range r.Steps {
		if s.Number != i+1 || s.Evidence == "" || s.Title == "" || s.Do == "" {
			w.Errorf("step %+v", s)
		}
		out[s.State] = append(out[s.State], s.Name)
	}
	return out
}

func (w *walk) wants(when string, done, open, unknown string) {
	w.Helper()
	got := w.states()
	for state, want := range map[actions.GuideState]string{actions.GuideDone: done, actions.GuideOpen: open, actions.GuideUnknown: unknown} {
		if text := strings.Join(got[state], " "); text != want {
			w.Errorf("%s: %s are %q, want %q", when, state, text, want)
		}
	}
}

// says is the evidence of a step.
func (w *walk) says(step, text string) {
	w.Helper()
	r, _ := actions.Guide(w.guide, w.e)
	i := slices.IndexFunc(r.Steps, func(s actions.GuideStep) bool { return s.Name == step })
	if i < 0 || !strings.Contains(r.Steps[i].Evidence, text) {
		w.Errorf("step %s says %q, want %q", step, r.Steps[i].Evidence, text)
	}
}

func (w *walk) next() string {
	r, _ := actions.Guide(w.guide, w.e)
	return r.Next
}

// existingJob is a job that was never cleaned, on a topic as its release made it.
func existingJob() actions.GuideEvidence {
	_, e := incident()
	control := names.Control
	e.Job.ControlTopic, e.Job.Tombstones = nil, false
	e.Data.Settings = settings(map[string]string{"cleanup.policy": "compact"})
	e.Data.ClusterID = "4L6g3nShT-eMCtK--X86sw"
	for i := range e.Data.Partitions {
		e.Data.Partitions[i].Log.Start = 0
	}
	e.Control = inspect.ControlTopic{Name: control}
	e.Own, e.Live = nil, &inspect.LiveState{State: "RUNNING"}
	return actions.GuideEvidence{Evidence: e}
}

// commit puts the plan of the chosen point on the control topic.
func commit(control *inspect.ControlTopic, plan inspect.CleanupPlan, status inspect.OperationStatus, when time.Time) {
	if !control.Exists {
		control.Exists, control.Partitions, control.CleanupPolicy = true, []int32{0}, "compact"
	}
	r := record(plan, status, control.LogEnd)
	r.Time = when
	control.Records = append(slices.Clone(control.Records), r)
	control.LogEnd++
	control.LastStable++
}

func restored(uri string, when time.Time) *inspect.LiveState {
	return &inspect.LiveState{State: "RUNNING", RestoredFrom: &uri,
		Checkpoints: &inspect.LiveCheckpoints{Restored: &inspect.LiveRestore{Path: &uri, Time: &when}}}
}

func TestTheFirstCleanupOfAnExistingJob(t *testing.T) {
	w := &walk{T: t, guide: actions.GuideFirstCleanup, e: existingJob()}
	w.wants("at the beginning", "tombstones", "control-topic settings stop", "point accepted-before committed applied accepted-after restart")
	w.says("control-topic", "no control topic is configured")
	w.says("settings", "cleanup.policy is compact instead of compact,delete")
	w.says("stop", "the job is RUNNING")
	w.says("point", "name it with --point URI")

	name := names.Control
	w.e.Job.ControlTopic = &name
	w.e.Data.Settings = settings(map[string]string{"cleanup.policy": "compact,delete", "retention.ms": "-1"})
	w.e.Live.State = "FINISHED"
	w.wants("the job is stopped, the topic fit", "tombstones control-topic settings stop", "restart", "point accepted-before committed applied accepted-after")
	w.says("control-topic", "does not exist yet: apply makes it")
	if w.next() != "point" {
		t.Errorf("next is %s", w.next())
	}

	own := point(42, 100, 150)
	w.e.Chosen, w.e.Own = own.URI, &own
	w.wants("the point is chosen", "tombstones control-topic settings stop point accepted-before", "committed applied accepted-after restart", "")
	w.says("point", `checkpoint "chk-42" has 1 versioned marker of topic "action-state"`)
	w.says("committed", "does not exist yet")
	// The job can't start with the control topic before the first COMMITTED.
	w.says("accepted-after", "rejected")

	plan, _ := actions.CleanupFrom(own.Markers, own.URI)
	commit(&w.e.Control, plan, inspect.StatusCommitted, at)
	w.wants("COMMITTED", "tombstones control-topic settings stop point accepted-before committed accepted-after", "applied restart", "")
	w.says("committed", "is COMMITTED, at offset 0")
	w.says("applied", "committed: the boundary is in force, the log not trimmed yet")

	commit(&w.e.Control, plan, inspect.StatusApplied, at.Add(time.Second))
	w.e.Data.Partitions[0].Log.Start, w.e.Data.Partitions[1].Log.Start = 100, 150
	w.wants("APPLIED", "tombstones control-topic settings stop point accepted-before committed applied accepted-after", "restart", "")

	w.e.Live = restored("file:/ck/job/chk-41", at.Add(time.Minute))
	w.wants("started from another point", "tombstones control-topic settings point accepted-before committed applied accepted-after", "stop restart", "")
	w.says("restart", `restored from "file:/ck/job/chk-41"`)

	w.e.Live = restored(own.URI, at.Add(-time.Minute))
	w.wants("never stopped since", "tombstones control-topic settings point accepted-before committed applied accepted-after", "stop restart", "")
	w.says("restart", "before the boundary of")

	w.e.Live = restored(own.URI, at.Add(time.Minute))
	w.wants("started from the point", "tombstones control-topic settings stop point accepted-before committed applied accepted-after restart", "", "")
	w.says("restart", "Flink does not say which options")
	if w.next() != "" {
		t.Errorf("next is %s", w.next())
	}
}

// What nobody could read is unknown, and never done.
func TestAStepThatCouldNotBeCheckedIsUnknown(t *testing.T) {
	denied := fault.New(fault.Denied, "read", "the cluster denies the right Describe")
	own := point(42, 100, 150)
	plan, _ := actions.CleanupFrom(own.Markers, own.URI)
	whole := func() actions.GuideEvidence {
		e := existingJob()
		name := names.Control
		e.Job.ControlTopic, e.Chosen, e.Own = &name, own.URI, &own
		e.Data.Settings = settings(map[string]string{"cleanup.policy": "compact,delete", "retention.ms": "-1"})
		e.Data.Partitions[0].Log.Start, e.Data.Partitions[1].Log.Start = 100, 150
		commit(&e.Control, plan, inspect.StatusCommitted, at)
		commit(&e.Control, plan, inspect.StatusApplied, at)
		e.Live = restored(own.URI, at.Add(time.Minute))
		return e
	}
	for name, tt := range map[string]struct {
		given   func(*actions.GuideEvidence)
		unknown string
		says    map[string]string
	}{
		"everything is read": {func(*actions.GuideEvidence) {}, "", nil},
		"no Flink":           {func(e *actions.GuideEvidence) { e.Live = nil }, "stop restart", map[string]string{"stop": "no Flink said"}},
		"no topic": {func(e *actions.GuideEvidence) { e.Data, e.DataErr = inspect.DataTopic{}, denied },
			"settings accepted-before applied accepted-after", map[string]string{"settings": "denies the right Describe"}},
		"no settings": {func(e *actions.GuideEvidence) { e.Data.Settings, e.DataErr = nil, denied },
			"settings", map[string]string{"settings": "denies the right Describe"}},
		"no control topic": {func(e *actions.GuideEvidence) { e.Control, e.ControlErr = inspect.ControlTopic{}, denied },
			"control-topic committed applied accepted-after", map[string]string{"committed": "denies the right Describe"}},
		"no point": {func(e *actions.GuideEvidence) { e.Own, e.OwnErr = nil, denied },
			"point accepted-before committed applied accepted-after", map[string]string{"point": "denies the right Describe"}},
		"a point of another machine": {func(e *actions.GuideEvidence) { e.Own = nil },
			"point accepted-before committed applied accepted-after", map[string]string{"point": "can't be read from here"}},
		"no time of the restore": {func(e *actions.GuideEvidence) { e.Live.Checkpoints = nil }, "restart",
			map[string]string{"restart": "whether before or after the boundary is not known"}},
		"no word about a restore": {func(e *actions.GuideEvidence) { e.Live = &inspect.LiveState{State: "RUNNING"} }, "restart",
			map[string]string{"restart": "does not say what it was restored from"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := &walk{T: t, guide: actions.GuideFirstCleanup, e: whole()}
			tt.given(&w.e)
			if got := strings.Join(w.states()[actions.GuideUnknown], " "); got != tt.unknown {
				t.Errorf("unknown are %q, want %q", got, tt.unknown)
			}
			for step, text := range tt.says {
				w.says(step, text)
			}
		})
	}
}

func TestAPointThatIsNotFitIsNamed(t *testing.T) {
	legacy := point(42, 100, 150)
	legacy.Markers = []inspect.Marker{{Kind: inspect.MarkerLegacy, Class: "java.util.HashMap", Offsets: inspect.Offsets{0: 100, 1: 150}}}
	late := point(42, 1000, 150)
	for name, tt := range map[string]struct {
		own        *inspect.RecoveryPoint
		err        error
		step, says string
	}{
		"legacy markers":  {&legacy, nil, "point", "not a versioned marker"},
		"nothing there":   {nil, fault.New(fault.NotFound, "", "there is nothing"), "point", "there is no recovery point at"},
		"past the log":    {&late, nil, "accepted-before", "rejected: "},
		"no plan from it": {&legacy, nil, "committed", "no plan can be made"},
	} {
		t.Run(name, func(t *testing.T) {
			w := &walk{T: t, guide: actions.GuideFirstCleanup, e: existingJob()}
			control := names.Control
			w.e.Job.ControlTopic, w.e.Chosen, w.e.Own, w.e.OwnErr = &control, "file:/ck/job/chk-42", tt.own, tt.err
			if !slices.Contains(w.states()[actions.GuideOpen], tt.step) {
				t.Errorf("%s is not open: %v", tt.step, w.states())
			}
			w.says(tt.step, tt.says)
		})
	}
}

// A history with a cleanup of another plan is not that of a first cleanup.
func TestTheControlTopicOfAFirstCleanupIsItsOwn(t *testing.T) {
	other, _ := actions.CleanupFrom(point(30, 10, 10).Markers, "file:/ck/job/chk-30")
	for name, tt := range map[string]struct {
		given func(*inspect.ControlTopic)
		state actions.GuideState
		says  string
	}{
		"it does not exist": {func(*inspect.ControlTopic) {}, actions.GuideDone, "apply makes it"},
		"it is empty": {func(c *inspect.ControlTopic) {
			c.Exists, c.Partitions, c.CleanupPolicy = true, []int32{0}, "compact"
		}, actions.GuideDone, "holds no record"},
		"two partitions": {func(c *inspect.ControlTopic) {
			c.Exists, c.Partitions, c.CleanupPolicy = true, []int32{0, 1}, "compact"
		}, actions.GuideOpen, "2 partitions"},
		"another policy": {func(c *inspect.ControlTopic) {
			c.Exists, c.Partitions, c.CleanupPolicy = true, []int32{0}, "delete"
		}, actions.GuideOpen, "delete"},
		"another cleanup": {func(c *inspect.ControlTopic) { commit(c, other, inspect.StatusApplied, at) }, actions.GuideOpen, "would not be the first cleanup"},
		"a tombstone": {func(c *inspect.ControlTopic) {
			commit(c, other, inspect.StatusApplied, at)
			c.Records = append(c.Records, inspect.ControlRecord{Offset: 1, Key: []byte(other.PlanID)})
			c.LogEnd, c.LastStable = 2, 2
		}, actions.GuideOpen, ""},
		"an open transaction": {func(c *inspect.ControlTopic) {
			c.Exists, c.Partitions, c.CleanupPolicy, c.LogEnd = true, []int32{0}, "compact", 1
		}, actions.GuideOpen, "an open transaction"},
	} {
		t.Run(name, func(t *testing.T) {
			w := &walk{T: t, guide: actions.GuideFirstCleanup, e: existingJob()}
			control := names.Control
			w.e.Job.ControlTopic = &control
			tt.given(&w.e.Control)
			if !slices.Contains(w.states()[tt.state], "control-topic") {
				t.Errorf("it is not %s: %v", tt.state, w.states())
			}
			w.says("control-topic", tt.says)
		})
	}
	w := &walk{T: t, guide: actions.GuideFirstCleanup, e: existingJob()}
	w.e.Job.ControlTopic = &w.e.Job.Topic
	w.says("control-topic", "is the data topic")
}

func TestLeavingTombstones(t *testing.T) {
	w := &walk{T: t, guide: actions.GuideLeaveTombstones, e: existingJob()}
	w.e.Job.Tombstones = true
	w.wants("at the beginning", "no-control-topic", "stop tombstones first-cleanup", "point accepted-before restart new-point")

	name := names.Control
	w.e.Job.ControlTopic = &name
	w.says("no-control-topic", "with tombstones on, a restore with it is rejected")
	w.e.Job.ControlTopic = nil

	own := point(42, 100, 150)
	own.Markers = []inspect.Marker{{Kind: inspect.MarkerLegacy, Class: "java.util.HashMap", Offsets: inspect.Offsets{0: 100, 1: 150}}}
	w.e.Chosen, w.e.Own, w.e.Live = own.URI, &own, &inspect.LiveState{State: "FINISHED"}
	w.e.Points = []inspect.RecoveryPoint{own}
	w.wants("stopped with a savepoint", "no-control-topic stop point accepted-before", "tombstones restart first-cleanup", "new-point")
	w.says("point", "legacy")

	w.e.Live = restored(own.URI, at)
	w.wants("started, and still with tombstones", "no-control-topic point accepted-before", "stop tombstones restart new-point first-cleanup", "")
	w.e.Job.Tombstones = false
	w.wants("started without", "no-control-topic stop point accepted-before tombstones restart", "new-point first-cleanup", "")

	newer := point(43, 200, 200)
	when := at.Add(time.Minute)
	newer.Taken = inspect.Taken{Time: &when}
	w.e.Points = append(w.e.Points, newer)
	w.wants("a checkpoint was taken", "no-control-topic stop point accepted-before tombstones restart new-point", "first-cleanup", "")
	w.says("new-point", `checkpoint "chk-43", taken at 2026-03-01T14:04:00Z`)

	w.e.Points, w.e.Searched[0].Problem = nil, "access denied"
	w.says("new-point", "not all of")
}

func TestANewControlTopic(t *testing.T) {
	own := point(42, 100, 150)
	plan, _ := actions.CleanupFrom(own.Markers, own.URI)
	older, _ := actions.CleanupFrom(point(30, 10, 10).Markers, "file:/ck/job/chk-30")
	broken := func() *walk {
		w := &walk{T: t, guide: actions.GuideNewControlTopic, e: existingJob()}
		name := names.Control
		w.e.Job.ControlTopic = &name
		w.e.Data.Settings = settings(map[string]string{"cleanup.policy": "compact,delete", "retention.ms": "-1"})
		w.e.Data.Partitions[0].Log.Start, w.e.Data.Partitions[1].Log.Start = 10, 10
		w.e.Control = inspect.ControlTopic{Name: name}
		commit(&w.e.Control, older, inspect.StatusCommitted, at)
		commit(&w.e.Control, older, inspect.StatusApplied, at)
		commit(&w.e.Control, older, inspect.StatusCommitted, at)
		return w
	}
	w := broken()
	w.wants("COMMITTED after APPLIED", "cause tombstones settings", "stop", "copy nobody-else point accepted-before past-boundaries new-name committed applied accepted-after profile restart")
	w.says("cause", "control-status-regression")
	if w.next() != "stop" { // nobody can see whether a copy was kept: nothing waits for it
		t.Errorf("next is %s", w.next())
	}

	w.e.Live = &inspect.LiveState{State: "FAILED"}
	w.e.Chosen, w.e.Own = own.URI, &own
	w.e.To, w.e.New = "control-2", inspect.ControlTopic{Name: "control-2"}
	w.wants("a point and a name are chosen", "cause stop tombstones point accepted-before past-boundaries settings new-name", "committed applied accepted-after profile restart", "copy nobody-else")
	w.says("past-boundaries", "(3 records)")

	commit(&w.e.New, plan, inspect.StatusCommitted, at)
	commit(&w.e.New, plan, inspect.StatusApplied, at)
	w.e.Data.Partitions[0].Log.Start, w.e.Data.Partitions[1].Log.Start = 100, 150
	w.e.Live = restored(own.URI, at.Add(time.Minute))
	w.wants("applied and started", "cause stop tombstones point accepted-before past-boundaries settings new-name committed applied accepted-after restart", "profile", "copy nobody-else")
	w.says("profile", `the profile names "control"`)

	w.e.Job.ControlTopic = &w.e.To
	w.e.Control = w.e.New
	w.wants("the profile names it", "stop tombstones point accepted-before settings new-name committed applied accepted-after profile restart", "", "cause copy nobody-else past-boundaries")
	w.says("cause", "names the new control topic already")

	for name, tt := range map[string]struct {
		given func(*walk)
		step  string
		state actions.GuideState
		says  string
	}{
		"a history that is sound": {func(w *walk) {
			w.e.Control.Records, w.e.Control.LogEnd, w.e.Control.LastStable = w.e.Control.Records[:2], 2, 2
		}, "cause", actions.GuideOpen, "1 operation can be advanced. Do not go on"},
		"an open transaction alone": {func(w *walk) {
			w.e.Control.Records, w.e.Control.LogEnd, w.e.Control.LastStable = w.e.Control.Records[:2], 3, 2
		}, "cause", actions.GuideOpen, "Do not go on before that is over"},
		"a tombstone": {func(w *walk) {
			w.e.Control.Records[2] = inspect.ControlRecord{Offset: 2, Key: []byte(older.PlanID)}
		}, "cause", actions.GuideDone, "control-tombstone"},
		"a topic that was made again": {func(w *walk) {
			w.e.Control.Records, w.e.Control.LogEnd, w.e.Control.LastStable = w.e.Control.Records[:2], 2, 2
			w.e.Data.TopicID = names.DataID2
		}, "cause", actions.GuideDone, "boundary-of-other-topic"},
		"a control topic that is gone": {func(w *walk) { w.e.Control = inspect.ControlTopic{Name: names.Control} }, "cause", actions.GuideOpen, "its boundary is lost"},
		"a point below an old boundary": {func(w *walk) {
			low := point(29, 5, 150)
			w.e.Chosen, w.e.Own = low.URI, &low
		}, "past-boundaries", actions.GuideOpen, "was committed up to 10 on partition 0, and the point is read from 5 there"},
		"a record that nobody can read": {func(w *walk) {
			w.e.Chosen, w.e.Own = own.URI, &own
			w.e.Control.Records[2].Value = []byte("x")
		}, "past-boundaries", actions.GuideUnknown, "1 record of the old control topic can't be"},
		"a new name that is in use": {func(w *walk) {
			w.e.To, w.e.New = "control-2", inspect.ControlTopic{Name: "control-2"}
			commit(&w.e.New, older, inspect.StatusApplied, at)
		}, "new-name", actions.GuideOpen, "is not new: it holds 1 operation"},
		"the data topic's name": {func(w *walk) { w.e.To = names.Data }, "new-name", actions.GuideOpen, "is the data topic"},
	} {
		t.Run(name, func(t *testing.T) {
			w := broken()
			w.T = t
			tt.given(w)
			if !slices.Contains(w.states()[tt.state], tt.step) {
				t.Errorf("%s is not %s: %v", tt.step, tt.state, w.states())
			}
			w.says(tt.step, tt.says)
		})
	}
}

func TestCommandsOfAProcedureCanBePasted(t *testing.T) {
	e := existingJob()
	e.Chosen = "s3://b/it's here/chk-42"
	r, _ := actions.Guide(actions.GuideFirstCleanup, e)
	var all []string
	for _, s := range r.Steps {
		all = append(all, s.Commands...)
	}
	text := strings.Join(all, "\n")
	for _, want := range []string{`recoverctl inspect point 's3://b/it'\''s here/chk-42'`, "--control-topic CONTROL-TOPIC", "recoverctl plan settings --out"} {
		if !strings.Contains(text, want) {
			t.Errorf("no command has %q:\n%s", want, text)
		}
	}
	if strings.ContainsAny(text, "{}") {
		t.Errorf("a name is left open:\n%s", text)
	}
	if _, ok := actions.Guide("second-cleanup", e); ok {
		t.Error("a procedure that there is not")
	}
	for _, name := range actions.GuideNames() {
		words, ok := actions.GuideWords(name)
		if !ok || words.Guide != name || len(words.Steps) == 0 || words.When == "" {
			t.Errorf("%s: %+v", name, words)
		}
	}
}
