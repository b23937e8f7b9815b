package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/recoverctl/recoverctl/internal/journal"
	"github.com/recoverctl/recoverctl/internal/testkit/incident"
	"github.com/recoverctl/recoverctl/internal/testkit/kafkatest"
)

// scene is the sample incident: a job of 64 partitions whose second cleanup, from
// chk-42, is committed and not trimmed on two of them. Its profile counts as
// production.
type scene struct {
	t       *testing.T
	cluster *kafkatest.Cluster
	config  string
	state   string
	points  string // folder of the checkpoints, as a URI
}

// startScene starts it. Each edit replaces one text of the profile by another.
func startScene(t *testing.T, edits ...string) scene {
	t.Helper()
	sample, err := incident.Start(t.Context(), t.TempDir(), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(sample.Close)
	cluster, err := kafkatest.NewCluster(sample.Brokers()...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Close)
	s := scene{t: t, cluster: cluster, config: filepath.Join(t.TempDir(), "config.yaml"), state: t.TempDir(), points: sample.Places[0]}
	s.configure(strings.NewReplacer(append(edits, "keep-recovery-points: 2", "keep-recovery-points: 1")...).Replace(string(sample.ConfigYAML())))
	return s
}

func (s scene) configure(profile string) {
	s.t.Helper()
	if err := os.WriteFile(s.config, []byte(profile), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

func (s scene) environ() []string {
	return []string{"HOME=" + s.state, "XDG_STATE_HOME=" + s.state, "USER=ops"}
}

func (s scene) run(args ...string) outcome {
	s.t.Helper()
	return commandIn(s.t, s.environ(), "", append(args, "--config", s.config)...)
}

// plan makes a plan from a checkpoint and returns its file and its id.
func (s scene) plan(checkpoint string) (file, id string) {
	s.t.Helper()
	file = filepath.Join(s.t.TempDir(), "plan.json")
	a := decodeAnswer[planJSON](s.t, "CleanupPlan", s.run("plan", "cleanup", "--point", s.points+"/"+checkpoint, "--out", file, "-o", "json"))
	return file, a.Data.PlanID
}

// approved is a whole apply of a plan, as a script gives it.
func (s scene) approved(file, id string, more ...string) outcome {
	s.t.Helper()
	args := []string{"apply", file, "--approve", id, "--reason", "disk pressure, INC-7", "--access", "operate",
		"--accept", "points-lost", "--accept", "pending-before-target", "--accept", "job-state-unknown"}
	return s.run(append(args, more...)...)
}

// offsets are the log starts of the data topic and the end of the control topic:
// what an apply changes.
func (s scene) offsets() string {
	s.t.Helper()
	starts, err := s.cluster.Admin().ListStartOffsets(s.t.Context(), incident.Topic)
	if err != nil {
		s.t.Fatal(err)
	}
	var parts []string
	for p := range int32(incident.Partitions) {
		at, ok := starts.Lookup(incident.Topic, p)
		if !ok || at.Err != nil {
			s.t.Fatalf("partition %d: %v", p, at.Err)
		}
		parts = append(parts, fmt.Sprint(at.Offset))
	}
	ends, err := s.cluster.Admin().ListEndOffsets(s.t.Context(), incident.ControlTopic)
	if err != nil {
		s.t.Fatal(err)
	}
	end, _ := ends.Lookup(incident.ControlTopic, 0)
	return strings.Join(parts, " ") + fmt.Sprintf(" | control %d", end.Offset)
}

type appliedJSON struct {
	PlanID, Verdict, Message, Stage string
	Steps                           []struct{ Name, State, Detail string }
	Partitions                      []partitionJSON
	Receipt                         *receiptJSON
	Problem                         problemJSON
}

type partitionJSON struct {
	Partition        int32
	Target, LogStart int64
}

type receiptJSON struct {
	User, Profile, Reason, Verdict, PlanID, SourceRecoveryPoint string
	Accepted, Lost                                              []string
}

func (a appliedJSON) state(step string) string {
	for _, s := range a.Steps {
		if s.Name == step {
			return s.State
		}
	}
	return ""
}

type verdictJSON struct {
	PlanID, Verdict, Message string
	Partitions               []partitionJSON
	Receipt                  *receiptJSON
}

// The whole way of a cleanup: planned, reviewed, applied, verified. Afterwards
// the older point is rejected with both numbers, the chosen one is accepted, and
// applying the plan once more sends nothing.
func TestACleanupFromThePlanToTheReceipt(t *testing.T) {
	s := startScene(t)
	before := s.offsets()
	if got := s.run("validate", "restore", s.points+"/chk-42"); got.code != 0 {
		t.Fatalf("chk-42 is to be accepted before: exit %d\n%s", got.code, got.out)
	}
	file, id := s.plan("chk-43")
	show := s.run("plan", "show", file)
	if show.code != 0 || !strings.Contains(show.out, "can never be restored again: 1") || !strings.Contains(show.out, "chk-42") {
		t.Errorf("show: exit %d\n%s", show.code, show.out)
	}
	if got := s.run("verify", file); got.code != 1 || !strings.Contains(got.out, "not-started") {
		t.Errorf("verify before: exit %d\n%s", got.code, got.out)
	}
	if s.offsets() != before {
		t.Fatal("planning, reviewing and verifying changed the topics")
	}

	got := s.approved(file, id, "-o", "json")
	done := decodeAnswer[appliedJSON](t, "ApplyResult", got).Data
	if got.code != 0 || done.Verdict != "applied" || done.Stage != "" || len(done.Partitions) != incident.Partitions {
		t.Fatalf("apply: exit %d, %+v\n%s", got.code, done, got.errOut)
	}
	for _, p := range done.Partitions {
		if p.LogStart < p.Target {
			t.Errorf("partition %d begins at %d, before its target %d", p.Partition, p.LogStart, p.Target)
		}
	}
	r := done.Receipt
	if r == nil || r.Reason != "disk pressure, INC-7" || r.PlanID != id || r.Profile != "demo" || r.Verdict != "applied" ||
		!slices.Equal(r.Accepted, []string{"points-lost", "pending-before-target", "job-state-unknown"}) || !slices.Equal(r.Lost, []string{s.points + "/chk-42"}) {
		t.Errorf("receipt %+v", r)
	}

	for _, what := range []string{file, id, id[:8]} {
		got := s.run("verify", what, "-o", "json")
		v := decodeAnswer[verdictJSON](t, "OperationVerdict", got).Data
		if got.code != 0 || v.Verdict != "applied" || v.PlanID != id || v.Receipt == nil || v.Receipt.Reason != "disk pressure, INC-7" ||
			v.Receipt.SourceRecoveryPoint != s.points+"/chk-43" {
			t.Errorf("verify %s: exit %d, %+v", what, got.code, v)
		}
	}
	refused := s.run("validate", "restore", s.points+"/chk-42", "-o", "json")
	v := decodeAnswer[struct {
		Verdict string
		Reasons []problemJSON
	}](t, "RestoreValidation", refused).Data
	if refused.code != 1 || v.Verdict != "rejected" || len(v.Reasons) == 0 || v.Reasons[0].code() != "below-committed-boundary" ||
		v.Reasons[0]["requested"] == nil || v.Reasons[0]["boundary"] == nil {
		t.Errorf("chk-42: exit %d, %+v", refused.code, v)
	}
	for _, number := range []string{"requested", "boundary"} {
		if text := fmt.Sprint(v.Reasons[0][number]); !strings.Contains(ungroup(v.Reasons[0]["message"]), text) {
			t.Errorf("%q does not name %s %s", v.Reasons[0]["message"], number, text)
		}
	}
	if got := s.run("validate", "restore", s.points+"/chk-43"); got.code != 0 {
		t.Errorf("chk-43: exit %d\n%s", got.code, got.out)
	}

	after := s.offsets()
	again := s.approved(file, id)
	for _, line := range []string{"recorded  APPLIED", "step 5: applied before?: done, the plan is recorded as APPLIED", "step 7: write COMMITTED: skipped"} {
		if !strings.Contains(again.errOut, line) {
			t.Errorf("progress does not say %q:\n%s", line, again.errOut)
		}
	}
	if again.code != 0 || !strings.Contains(again.out, "it was applied already: nothing was sent") || s.offsets() != after {
		t.Errorf("again: exit %d\n%s%s", again.code, again.out, again.errOut)
	}
	if list := s.run("journal", "list"); strings.Count(list.out, id[:8]) != 2 || strings.Contains(list.out, "has no outcome") {
		t.Errorf("journal list\n%s", list.out)
	}
}

// A cleanup that stopped half-way is finished by its plan, made a second time.
// The boundary was in force all the time: COMMITTED is not written again.
func TestACleanupThatStoppedIsFinished(t *testing.T) {
	s := startScene(t)
	file, id := s.plan("chk-42")
	if got := s.run("verify", id[:8]); got.code != 8 || !strings.Contains(got.out, "the log is not trimmed on partitions 0-1") {
		t.Fatalf("verify: exit %d\n%s", got.code, got.out)
	}
	if got := s.approved(file, id, "-o", "json"); got.code != 5 || !strings.Contains(got.failure(t).Error.Message, "not accepted: pinned-point-lost") {
		t.Errorf("a warning more than was accepted: exit %d\n%s", got.code, got.errOut)
	}
	got := s.approved(file, id, "-o", "json", "--accept", "pinned-point-lost")
	done := decodeAnswer[appliedJSON](t, "ApplyResult", got).Data
	if got.code != 0 || got.errOut != "" || done.Verdict != "applied" || done.state("commit") != "skipped" || done.state("delete") != "done" || done.state("applied") != "done" {
		t.Errorf("exit %d, %+v\n%s", got.code, done, got.errOut)
	}
	if got := s.run("verify", file); got.code != 0 {
		t.Errorf("verify: exit %d\n%s", got.code, got.out)
	}
}

// The first cleanup of a job: there is no control topic yet, and it is made with
// the operator's consent only. A development cluster without a profile asks for
// eight digits, and the variable grants the access.
func TestTheFirstCleanupMakesItsControlTopic(t *testing.T) {
	s := startScene(t)
	adhoc := func(args ...string) outcome {
		t.Helper()
		return commandIn(t, append(s.environ(), "RECOVERCTL_ACCESS=operate", "RECOVERCTL_ENVIRONMENT=development",
			"RECOVERCTL_TOPIC="+incident.Topic, "RECOVERCTL_CONTROL_TOPIC=a-new-one", "RECOVERCTL_POINTS="+s.points,
			"RECOVERCTL_BROKERS="+strings.Join(s.cluster.Brokers(), ","), "RECOVERCTL_MAX_PARALLELISM=128"), "", args...)
	}
	file := filepath.Join(t.TempDir(), "plan.json")
	made := adhoc("plan", "cleanup", "--point", s.points+"/chk-43", "--out", file)
	if made.code != 0 || !strings.Contains(made.out, "control topic a-new-one does not exist") || !strings.Contains(made.out, "--create-control-topic") {
		t.Fatalf("plan: exit %d\n%s%s", made.code, made.out, made.errOut)
	}
	plan := decodeAnswer[reviewJSON](t, "PlanReview", adhoc("plan", "show", file, "-o", "json")).Data
	apply := []string{"apply", file, "--reason", "first", "--accept", "points-lost", "--accept", "pending-before-target", "--accept", "job-state-unknown", "--approve", plan.PlanID[:8]}
	if got := adhoc(apply...); got.code != 5 || !strings.Contains(got.errOut, "control-topic-missing") {
		t.Errorf("without consent: exit %d\n%s", got.code, got.errOut)
	}
	got := adhoc(append(apply, "--create-control-topic", "1")...)
	if got.code != 0 || !strings.Contains(got.out, "profile adhoc") {
		t.Errorf("exit %d\n%s%s", got.code, got.out, got.errOut)
	}
	if got := adhoc("verify", plan.PlanID[:8]); got.code != 0 {
		t.Errorf("verify: exit %d\n%s", got.code, got.out)
	}
}

// What keeps an apply from beginning, and the code that says so. Nothing is
// touched, and no line is in the journal.
func TestApplyIsRefusedBeforeAnythingIsTouched(t *testing.T) {
	s := startScene(t)
	profile, err := os.ReadFile(s.config)
	if err != nil {
		t.Fatal(err)
	}
	file, id := s.plan("chk-43")
	before := s.offsets()
	whole := []string{"apply", file, "--approve", id, "--reason", "x", "--access", "operate", "--accept", "points-lost", "--accept", "pending-before-target", "--accept", "job-state-unknown"}
	without := func(flag string) []string {
		at := slices.Index(whole, flag)
		return slices.Delete(slices.Clone(whole), at, at+2)
	}
	with := func(more ...string) []string { return append(slices.Clone(whole), more...) }
	tests := map[string]struct {
		args    []string
		profile []string // replacements
		environ []string
		code    int
		says    string
	}{
		"a read-only profile":                      {whole, []string{"access: operate", "access: read-only"}, nil, 5, "access is read-only"},
		"a profile that says nothing about access": {whole, []string{"    access: operate\n", ""}, nil, 5, "access is read-only"},
		"a read-only variable":                     {whole, nil, []string{"RECOVERCTL_ACCESS=read-only"}, 5, "access is read-only"},
		"a read-only flag":                         {append(without("--access"), "--access", "read-only"), nil, nil, 5, "access is read-only"},
		"production without the flag":              {without("--access"), nil, nil, 5, "need --access operate"},
		"production with the variable alone":       {without("--access"), nil, []string{"RECOVERCTL_ACCESS=operate"}, 5, "need --access operate"},
		"no reason":                                {without("--reason"), nil, nil, 2, "a reason is required"},
		"no approval and no terminal":              {without("--approve"), nil, nil, 5, "there is no terminal to ask at"},
		"an approval of another plan":              {append(without("--approve"), "--approve", strings.Repeat("0", 64)), nil, nil, 5, "is not the id of this plan"},
		"8 digits in production":                   {append(without("--approve"), "--approve", id[:8]), nil, nil, 5, "production asks for 64"},
		"a warning that is not accepted":           {without("--accept"), nil, nil, 5, "--accept points-lost"},
		"a name that no warning has":               {with("--accept", "everything"), nil, nil, 2, "is not the name of a warning"},
		"step mode without a terminal":             {with("--step"), nil, nil, 2, "there is no terminal"},
		"no control topic":                         {whole, []string{", control-topic: action-state-control", ""}, nil, 2, "control-topic-not-configured"},
		"the job's tombstones":                     {with("--tombstones"), nil, nil, 2, "tombstones-on"},
		"a number of replicas that can't be":       {with("--create-control-topic", "0"), nil, nil, 2, "replication-factor-range"},
		"a control topic that nobody made":         {with("--control-topic", "nowhere"), nil, nil, 5, "control-topic-missing"},
		"a control topic of another shape":         {with("--control-topic", "action-state-wide"), nil, nil, 9, "control-topic-partitions"},
		"another data topic":                       {with("--topic", "action-state-wide"), nil, nil, 7, "plan-topic-mismatch"},
		"too few recovery points left":             {whole, []string{"keep-recovery-points: 1", "keep-recovery-points: 2"}, nil, 5, "too-few-survivors"},
		"a broker that does not answer":            {with("--brokers", "127.0.0.1:1", "--timeout", "1s"), nil, nil, 4, "127.0.0.1:1"},
		"no file of that name":                     {append([]string{"apply", file + "x"}, whole[2:]...), nil, nil, 6, "there is no file"},
	}
	if err := s.cluster.CreateTopic(t.Context(), "action-state-wide", 2, map[string]string{"cleanup.policy": "compact"}); err != nil {
		t.Fatal(err)
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := s
			s.t, s.config = t, filepath.Join(t.TempDir(), "config.yaml")
			s.configure(strings.NewReplacer(tt.profile...).Replace(string(profile)))
			got := commandIn(t, append(s.environ(), tt.environ...), "", append(tt.args, "--config", s.config)...)
			if got.code != tt.code || !strings.Contains(got.errOut, tt.says) {
				t.Errorf("exit %d, want %d and %q:\n%s", got.code, tt.code, tt.says, got.errOut)
			}
		})
	}
	if after := s.offsets(); after != before {
		t.Errorf("the topics were changed:\n%s\n%s", before, after)
	}
	if left, err := os.ReadDir(filepath.Join(s.state, "recoverctl", "journal")); !os.IsNotExist(err) && len(left) > 0 {
		t.Errorf("the journal has lines: %v, %v", left, err)
	}
}

// One apply of a job at a time on one machine.
func TestASecondApplyOfAJobIsRefused(t *testing.T) {
	s := startScene(t)
	file, id := s.plan("chk-43")
	metadata, err := s.cluster.Admin().Metadata(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	lock, err := journal.Acquire(filepath.Join(s.state, "recoverctl"), "kafka "+metadata.Cluster+" "+incident.Topic,
		journal.Owner{User: "anna", Host: "bastion", Since: time.Now(), Doing: "cleanup 12345678"})
	if err != nil {
		t.Fatal(err)
	}
	before := s.offsets()
	got := s.approved(file, id)
	if got.code != 11 || !strings.Contains(got.errOut, "anna@bastion applies cleanup 12345678") || s.offsets() != before {
		t.Errorf("exit %d\n%s", got.code, got.errOut)
	}
	if err := lock.Release(); err != nil {
		t.Fatal(err)
	}
	if got := s.approved(file, id); got.code != 0 {
		t.Errorf("after it: exit %d\n%s", got.code, got.errOut)
	}
}

// What has changed since a plan was made is shown field by field, and keeps it
// from being applied.
func TestDriftIsShownAndRefused(t *testing.T) {
	tests := map[string]struct {
		change func(s scene) error
		field  string
		code   string
		stage  string
		exit   int
	}{
		"a retention limit was set": {func(s scene) error { return s.cluster.Set(s.t.Context(), incident.Topic, "retention.ms", "3600000") },
			"settings.retention.ms", "data-topic-config-unsafe", "settings", 7},
		"partitions were added": {func(s scene) error {
			return s.cluster.AddPartitions(s.t.Context(), incident.Topic, incident.Partitions+1)
		},
			"partitions", "plan-partition-set-mismatch", "identity", 7},
		"the topic was made again": {func(s scene) error {
			return s.cluster.RecreateTopic(s.t.Context(), incident.Topic, incident.Partitions, map[string]string{"cleanup.policy": "compact,delete", "retention.ms": "-1", "retention.bytes": "-1"})
		}, "topicId", "plan-topic-id-mismatch", "identity", 7},
		"the plan's own point was deleted": {func(s scene) error {
			return os.RemoveAll(strings.TrimPrefix(s.points, "file:") + "/chk-43")
		}, "point", "own-point-lost", "survivors", 7},
		"a tombstone on the control topic": {func(s scene) error {
			_, err := s.cluster.Write(s.t.Context(), incident.ControlTopic, 0, kafkatest.Tombstone("x"))
			return err
		}, "operations.control-tombstone", "control-tombstone", "operations", 9},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := startScene(t)
			file, id := s.plan("chk-43")
			if err := tt.change(s); err != nil {
				t.Fatal(err)
			}
			show := s.run("plan", "show", file, "-o", "json")
			review := decodeAnswer[reviewJSON](t, "PlanReview", show).Data
			at := slices.IndexFunc(review.Drift, func(d driftJSON) bool { return d.Field == tt.field })
			if show.code != 7 || !review.Valid || at < 0 || review.Drift[at].Allowed {
				t.Errorf("show: exit %d, drift %+v, want %s", show.code, review.Drift, tt.field)
			}
			before := s.offsets()
			got := s.approved(file, id, "-o", "json")
			result, failed := decodeAnswer[appliedJSON](t, "ApplyResult", got).Data, got.failure(t)
			if got.code != tt.exit || result.Stage != tt.stage || result.Problem.code() != tt.code || failed.Error.Problem.code() != tt.code || s.offsets() != before {
				t.Errorf("apply: exit %d, want %d; stage %s, problem %v, error %+v", got.code, tt.exit, result.Stage, result.Problem, failed.Error)
			}
		})
	}
}
