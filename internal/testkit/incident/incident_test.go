package incident_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"go.uber.org/goleak"

	"github.com/recoverctl/recoverctl/config"
	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/inspect/flink"
	"github.com/recoverctl/recoverctl/inspect/kafka"
	"github.com/recoverctl/recoverctl/internal/access"
	"github.com/recoverctl/recoverctl/internal/clock"
	"github.com/recoverctl/recoverctl/internal/kafkaconn"
	"github.com/recoverctl/recoverctl/internal/testkit/incident"
)

var now = time.Date(2026, 11, 29, 14, 3, 0, 0, time.UTC)

// demo starts the incident and connects to it as the program does. Nothing may
// be left when the test is over.
func demo(t *testing.T) (*incident.Incident, *kafka.Store, inspect.Job) {
	t.Helper()
	t.Cleanup(func() { goleak.VerifyNone(t) })
	in, err := incident.Start(t.Context(), t.TempDir(), now)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(in.Close)
	conn, err := kafkaconn.Open(t.Context(), kafkaconn.Config{Brokers: in.Brokers()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	return in, kafka.New(conn, clock.System{}), jobOf(t, in)
}

// jobOf loads the configuration file and chooses the only job in it.
func jobOf(t *testing.T, in *incident.Incident) inspect.Job {
	t.Helper()
	file := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(file, in.ConfigYAML(), 0o600); err != nil {
		t.Fatal(err)
	}
	loaded, err := config.Load(config.Options{File: file})
	if err != nil {
		t.Fatalf("%v\n%s", err, in.ConfigYAML())
	}
	if len(loaded.Warnings) > 0 {
		t.Errorf("the configuration warns: %q", loaded.Warnings)
	}
	sel, err := loaded.Select("", "")
	if err != nil {
		t.Fatal(err)
	}
	p, j := sel.Profile, sel.Job
	if p.Name != "demo" || p.Environment != access.Production || p.Access != access.Operate || !slices.Equal(p.Kafka.Brokers, in.Brokers()) || j == nil {
		t.Fatalf("profile %+v, job %v", p, j)
	}
	return inspect.Job{
		Profile: p.Name, Name: j.Name, Runtime: inspect.Release(j.Runtime),
		Topic: j.ActionState.Topic, ControlTopic: j.ActionState.ControlTopic, Tombstones: j.ActionState.JobTombstones,
		Partitions: j.Partitions, MaxParallelism: j.MaxParallelism,
		RecoveryPoints: j.RecoveryPoints, Pinned: j.Pinned, KeepRecoveryPoints: j.KeepRecoveryPoints,
	}
}

func TestTheConfigurationIsThatOfTheJob(t *testing.T) {
	in, _, job := demo(t)
	control := "action-state-control"
	want := inspect.Job{
		Profile: "demo", Name: "order-agent", Runtime: inspect.ReleaseNext, Topic: "action-state", ControlTopic: &control,
		Partitions: 64, MaxParallelism: 128, RecoveryPoints: in.Places, Pinned: in.Pinned, KeepRecoveryPoints: 2,
	}
	if !reflect.DeepEqual(job, want) {
		t.Errorf("job %+v, want %+v", job, want)
	}
	if len(in.Places) != 2 || len(in.Pinned) != 1 {
		t.Errorf("places %q, pinned %q", in.Places, in.Pinned)
	}
}

func TestTheTopicIsTrimmedOnAllButTwoPartitions(t *testing.T) {
	in, store, job := demo(t)
	topic, err := store.DataTopic(t.Context(), job.Topic)
	if err != nil {
		t.Fatal(err)
	}
	if topic.TopicID != in.TopicID || len(topic.Partitions) != 64 {
		t.Fatalf("topic id %s, want %s; %d partitions", topic.TopicID, in.TopicID, len(topic.Partitions))
	}
	for name, want := range map[string]string{"cleanup.policy": "compact,delete", "retention.ms": "-1", "retention.bytes": "-1"} {
		if got, _ := topic.Setting(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	control, err := store.ControlTopic(t.Context(), *job.ControlTopic)
	if err != nil {
		t.Fatal(err)
	}
	b := inspect.JudgeControl(control, inspect.History{Topic: job.Topic, TopicID: topic.TopicID, Partitions: topic.IDs()})
	if b.Problem != nil || len(b.Operations) != 2 {
		t.Fatalf("problem %v, operations %+v", b.Problem, b.Operations)
	}
	applied, committed := b.Operations[0], b.Operations[1]
	if applied.Status != inspect.StatusApplied || committed.Status != inspect.StatusCommitted || !strings.HasSuffix(committed.SourceRecoveryPoint, "/chk-42") {
		t.Errorf("operations %+v", b.Operations)
	}
	if age := now.Sub(committed.Time); age != 21*time.Minute {
		t.Errorf("the second cleanup was committed %s ago, want 21m", age)
	}
	for p, log := range topic.Ranges() {
		want := committed.Offsets[p]
		if p < 2 {
			want = applied.Offsets[p]
		}
		if log.Start != want || log.End <= committed.Offsets[p] || applied.Offsets[p] >= committed.Offsets[p] {
			t.Errorf("partition %d: log %+v, want it to start at %d; boundaries %d and %d", p, log, want, applied.Offsets[p], committed.Offsets[p])
		}
	}
}

func TestTheClusterHoldsTheRecordsWithTheirTimes(t *testing.T) {
	in, store, job := demo(t)
	topic, err := store.DataTopic(t.Context(), job.Topic)
	if err != nil {
		t.Fatal(err)
	}
	left := int64(0)
	for _, l := range topic.Ranges() {
		left += l.End - l.Start
	}
	if left < 10_000 {
		t.Fatalf("only %d records are left", left)
	}
	client, err := kgo.NewClient(kgo.SeedBrokers(in.Brokers()...), kgo.ConsumeTopics(job.Topic), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	next := map[int32]int64{}
	oldest := now
	for read := int64(0); read < left; {
		fetches := client.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			t.Fatalf("after %d of %d records: %v", read, left, err)
		}
		for r := range fetches.RecordsAll() {
			if at, ok := next[r.Partition]; !ok && r.Offset != topic.Ranges()[r.Partition].Start || ok && r.Offset != at {
				t.Fatalf("partition %d: offset %d follows %d", r.Partition, r.Offset, at-1)
			}
			next[r.Partition] = r.Offset + 1
			if r.Timestamp.Before(oldest) {
				oldest = r.Timestamp
			}
			if r.Timestamp.After(now) || len(r.Key) == 0 || len(r.Value) == 0 {
				t.Fatalf("partition %d, offset %d: %+v", r.Partition, r.Offset, r)
			}
			read++
		}
	}
	if age := now.Sub(oldest); age < 7*24*time.Hour || age > 8*24*time.Hour {
		t.Errorf("the oldest record that is left is %s old, want between seven and eight days", age)
	}
}

func TestEightRecoveryPointsGetTheirVerdicts(t *testing.T) {
	in, log, job := demo(t)
	points, err := flink.New(flink.Options{})
	if err != nil {
		t.Fatal(err)
	}
	topic, err := log.DataTopic(t.Context(), job.Topic)
	if err != nil {
		t.Fatal(err)
	}
	control, err := log.ControlTopic(t.Context(), *job.ControlTopic)
	if err != nil {
		t.Fatal(err)
	}
	type found struct {
		name    string
		age     time.Duration
		merged  inspect.MergedKind
		verdict inspect.Verdict
		reason  string
		worst   inspect.Severity
	}
	var got []found
	seen := map[string]inspect.RecoveryPoint{}
	for _, place := range in.Places {
		list, err := points.Points(t.Context(), place)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range list {
			v := inspect.ValidateRestore(inspect.RestoreQuestion{
				Point: p.URI, Job: job, PointChecks: p.Checks, Markers: p.Markers, Data: topic, Control: control,
			})
			f := found{name: strings.TrimPrefix(p.URI, place+"/"), age: now.Sub(*p.Taken.Time), merged: p.Merged.Kind, verdict: v.Verdict, worst: p.WorstCheck()}
			if len(v.Reasons) > 0 {
				f.reason = v.Reasons[0].Code
			}
			got = append(got, f)
			seen[f.name] = p
		}
	}
	const day = 24 * time.Hour
	// The warning of a sound one is that the agent operator has no uid.
	want := []found{
		{"chk-44", 2 * time.Minute, inspect.MergedVersioned, inspect.Accepted, "", inspect.SeverityWarning},
		{"chk-43", 12 * time.Minute, inspect.MergedVersioned, inspect.Accepted, "", inspect.SeverityWarning},
		{"chk-42", 22 * time.Minute, inspect.MergedVersioned, inspect.Accepted, "", inspect.SeverityWarning},
		{"chk-41", 32 * time.Minute, inspect.MergedInvalid, inspect.Rejected, "metadata-unreadable", inspect.SeverityError},
		{"chk-12", day, inspect.MergedVersioned, inspect.Rejected, "below-committed-boundary", inspect.SeverityWarning},
		{"savepoint-4f3c92-a1d7c0e52b94", 3 * time.Hour, inspect.MergedVersioned, inspect.Rejected, "below-committed-boundary", inspect.SeverityWarning},
		{"savepoint-c07ad2-9c41be6f07d3", 9*day + 5*time.Hour, inspect.MergedVersioned, inspect.Rejected, "marker-topic-id-mismatch", inspect.SeverityWarning},
		{"savepoint-71d0e4-5d20f3c4e8b1", 12 * day, inspect.MergedLegacy, inspect.Rejected, "legacy-marker-with-cleanup", inspect.SeverityWarning},
	}
	if !slices.Equal(got, want) {
		for _, f := range got {
			t.Logf("%+v %+v", f, seen[f.name].Checks)
		}
		t.Errorf("recovery points differ")
	}
	for _, name := range []string{"chk-44", "chk-12", "savepoint-4f3c92-a1d7c0e52b94"} {
		p := seen[name]
		if len(p.Operators) != 3 || len(p.Markers) != 2 || p.Files.Referenced == 0 || len(p.Files.Missing)+len(p.Files.Unchecked) != 0 {
			t.Errorf("%s: %d operators, %d markers, files %+v", name, len(p.Operators), len(p.Markers), p.Files)
		}
	}
	old := seen["chk-12"].Merged.Offsets
	for p, l := range topic.Ranges() {
		if still := old[p] >= l.Start; still != (p < 2) {
			t.Errorf("partition %d: the records of chk-12 from %d on still exist: %v", p, old[p], still)
		}
	}
	if p := seen["savepoint-4f3c92-a1d7c0e52b94"]; p.Kind != inspect.KindSavepoint || p.Format != inspect.FormatCanonical || p.CheckpointID != 33 || p.URI != in.Pinned[0] {
		t.Errorf("pinned savepoint %+v", p)
	}
}

func TestNothingIsLeftBehind(t *testing.T) {
	defer goleak.VerifyNone(t)
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	dir := filepath.Join(t.TempDir(), "a folder: with # and \"quotes\"")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	in, err := incident.Start(t.Context(), dir, now)
	if err != nil {
		t.Fatal(err)
	}
	job := jobOf(t, in)
	in.Close()
	if !slices.Equal(job.RecoveryPoints, in.Places) {
		t.Errorf("the configuration searches %q, want %q", job.RecoveryPoints, in.Places)
	}
	for _, folder := range []string{temp, filepath.Dir(dir)} {
		entries, err := os.ReadDir(folder)
		if err != nil || len(entries) > 0 && folder == temp || len(entries) > 1 {
			t.Errorf("%s holds %v (%v)", folder, entries, err)
		}
	}
	files := 0
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files++
		info, err := d.Info()
		if err == nil && info.Mode().Perm() != 0o600 {
			t.Errorf("%s has the mode %s", path, info.Mode())
		}
		return err
	})
	if err != nil || files < 16 {
		t.Errorf("%d files (%v)", files, err)
	}
}

func TestAStartThatIsStoppedLeavesNothing(t *testing.T) {
	defer goleak.VerifyNone(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if in, err := incident.Start(ctx, t.TempDir(), now); in != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("incident %v, error %v", in, err)
	}
}

func TestAFolderThatIsAbsentIsAnError(t *testing.T) {
	defer goleak.VerifyNone(t)
	file := filepath.Join(t.TempDir(), "a file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if in, err := incident.Start(t.Context(), file, now); in != nil || err == nil {
		t.Errorf("incident %v, error %v", in, err)
	}
}
