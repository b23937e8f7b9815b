package flussincident_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/recoverctl/recoverctl/config"
	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/inspect/flink"
	"github.com/recoverctl/recoverctl/inspect/fluss"
	"github.com/recoverctl/recoverctl/internal/access"
	"github.com/recoverctl/recoverctl/internal/clock"
	"github.com/recoverctl/recoverctl/internal/flussrpc"
	"github.com/recoverctl/recoverctl/internal/testkit/flussincident"
)

var now = time.Date(2026, 11, 29, 14, 3, 0, 0, time.UTC)

// sample is the incident with a connection to it, as the program makes one.
type sample struct {
	*flussincident.Incident
	store *fluss.Store
	job   inspect.Job
	all   *inspect.Inspector
}

// start starts the incident. Nothing may be left when the test is over.
func start(t *testing.T) sample {
	t.Helper()
	t.Cleanup(func() { goleak.VerifyNone(t) })
	in, err := flussincident.Start(t.Context(), t.TempDir(), now)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(in.Close)
	client, err := flussrpc.NewClient(flussrpc.Config{Servers: in.Servers(), Timeout: 5 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	points, err := flink.New(flink.Options{})
	if err != nil {
		t.Fatal(err)
	}
	at := clock.NewFake(now)
	s := sample{Incident: in, store: fluss.New(client, at, fluss.Remote{}), job: jobOf(t, in)}
	s.all = inspect.New(points, s.store, at)
	return s
}

// jobOf loads the configuration file and chooses the only job in it.
func jobOf(t *testing.T, in *flussincident.Incident) inspect.Job {
	t.Helper()
	file := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(file, in.ConfigYAML(), 0o600); err != nil {
		t.Fatal(err)
	}
	loaded, err := config.Load(config.Options{File: file})
	if err != nil {
		t.Fatalf("%v\n%s", err, in.ConfigYAML())
	}
	sel, err := loaded.Select("", "")
	if err != nil || len(loaded.Warnings) > 0 {
		t.Fatal(err, loaded.Warnings)
	}
	p, j := sel.Profile, sel.Job
	if p.Name != "demo" || p.Environment != access.Production || p.Access != access.Operate || j == nil || !slices.Equal(j.Fluss.Servers, in.Servers()) || j.ActionState.Store != "fluss" {
		t.Fatalf("profile %+v, job %v", p, j)
	}
	return inspect.Job{
		Profile: p.Name, Name: j.Name, Runtime: inspect.Release(j.Runtime), Store: inspect.StoreFluss, Topic: j.Fluss.Table, BucketOf: flussrpc.BucketOfString,
		Partitions: j.Partitions, MaxParallelism: j.MaxParallelism, RecoveryPoints: j.RecoveryPoints, Pinned: j.Pinned, KeepRecoveryPoints: j.KeepRecoveryPoints,
	}
}

// Every recovery point gets the verdict that the story gives it, by its newest
// checkpoints first.
func TestSevenRecoveryPointsGetTheirVerdicts(t *testing.T) {
	s := start(t)
	o, err := s.all.Overview(t.Context(), s.job)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"chk-58 3m0s accepted", "chk-57 12m0s accepted", "chk-56 22m0s accepted", "savepoint-7c1b3e-4d90c2a7b81f 26h0m0s accepted pinned",
		"savepoint-2ad85f-91e6b3c05d24 191h0m0s rejected fluss-data-loss", "savepoint-b4e096-c82f07d1a93b 288h0m0s rejected fluss-data-loss", "savepoint-f39c12-06b7e5d89c41 384h0m0s rejected fluss-bucket-set",
	}
	var got []string
	for _, p := range o.Points {
		text := fmt.Sprintf("%s %s %s", filepath.Base(p.URI), now.Sub(*p.Taken.Time), p.Verdict)
		if p.Reason != nil {
			text += " " + *p.Reason
		}
		if p.Pinned {
			text += " pinned"
		}
		got = append(got, text)
	}
	if !slices.Equal(got, want) {
		t.Errorf("recovery points\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for _, p := range o.Points[4:6] {
		says := map[int]string{0: "the rows between expired", 1: "rows were lost with a server"}
		for i, text := range says {
			if (p.URI == o.Points[4+i].URI) != strings.Contains(p.Message, text) {
				t.Errorf("%s: %s", p.URI, p.Message)
			}
		}
	}
	for _, p := range o.Points[:4] {
		if rule := p.Validation.Rules[len(p.Validation.Rules)-1]; !slices.ContainsFunc(p.Validation.Rules, func(r inspect.Rule) bool { return strings.Contains(r.Message, "1 idle") }) {
			t.Errorf("%s: no bucket is idle: %+v", p.URI, rule)
		}
	}
	idle := o.Partitions[flussincident.Idle]
	if *idle.LogStart != *idle.LogEnd || *idle.LogEnd == 0 {
		t.Errorf("the idle bucket holds rows: %+v", idle)
	}
}

// What becomes of each call, from the newest checkpoint, whose states were not all
// written again, and from the one before.
func TestTheCheckpointBeforeTheFailureShowsMore(t *testing.T) {
	s := start(t)
	calls, faults, err := s.all.Calls(t.Context(), s.job, inspect.CallAsk{Points: []string{s.Places[0] + "/chk-58", s.Places[0] + "/chk-57"}}, nil)
	if err != nil || len(faults) > 0 {
		t.Fatal(err, faults)
	}
	var got []string
	for _, a := range calls.Actions {
		if a.Key.Text == nil {
			t.Fatalf("nothing tells the text of %s", a.Key.Digest)
		}
		state := "none"
		if len(a.Calls) > 0 {
			state = fmt.Sprintf("%s %s", a.Calls[0].FunctionID, a.Calls[0].State)
		}
		got = append(got, fmt.Sprintf("%s: %s, %s, %s", *a.Key.Text, state, a.Outcomes[0].Outcome, a.Outcomes[1].Outcome))
	}
	slices.Sort(got)
	want := []string{
		"alice: payments.charge PENDING, reconciler, reconciler",
		"bob: mail.send SAVED, reused, reused",
		"carol: payments.charge SAVED, unknown, reused",
		"dave: payments.charge UNMATCHED, runs-again, runs-again",
		"erin: payments.charge OVERWRITTEN, runs-again, runs-again",
		"grace: none, unknown, unknown",
		"heidi: payments.charge PENDING, unknown, reconciler",
		"judy: payments.charge PENDING, reconciler, reconciler",
		"walk-in-1: payments.charge PENDING, reconciler, reconciler",
		"walk-in-2: payments.charge PENDING, reconciler, reconciler",
	}
	if !slices.EqualFunc(got, want, strings.EqualFold) {
		t.Errorf("calls\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for _, a := range calls.Actions {
		if a.Elsewhere != nil {
			t.Errorf("%s lies in bucket %d and computes to %d", a.Key.Digest, a.Partition, *a.Elsewhere)
		}
	}
	if n := calls.Scanned.Records; n < 2000 || calls.Scanned.Partial || calls.Unreadable > 0 || calls.Unattributable > 0 {
		t.Errorf("%+v, %d unreadable, %d of no layout", calls.Scanned, calls.Unreadable, calls.Unattributable)
	}
}

// Every payload that a restore would read is one that the job's store takes.
func TestARestoreReadsEveryRow(t *testing.T) {
	s := start(t)
	for _, point := range []string{s.Places[0] + "/chk-57", s.Pinned[0]} {
		v, faults, err := s.all.ReadingWindow(nil).Validate(t.Context(), s.job, point)
		if err != nil || len(faults) > 0 || v.Verdict != inspect.Accepted || v.Replayed == nil || v.Replayed.Records < 50 {
			t.Errorf("%s: %s, %+v, %v %v", point, v.Verdict, v.Replayed, faults, err)
		}
	}
}

// Each producer is as the story has it, and those that remote storage has a folder of
// are all that there are.
func TestEightProducersGetTheirVerdicts(t *testing.T) {
	s := start(t)
	list, faults := s.store.Producers(t.Context(), flussincident.Producers())
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	want := map[string]struct {
		verdict fluss.Safety
		rule    string
		undo    int64 // -1: not known
	}{
		flussincident.Ready:      {fluss.Safe, "", 0},
		flussincident.Unfinished: {fluss.Safe, "", 345},
		flussincident.Expired:    {fluss.NotSafe, "entry-expired", 6},
		flussincident.FileGone:   {fluss.NotSafe, "offsets-file-missing", -1},
		flussincident.TableGone:  {fluss.NotSafe, "table-gone", -1},
		flussincident.DayGone:    {fluss.NotSafe, "partition-gone", -1},
		flussincident.RowsGone:   {fluss.NotSafe, "baseline-expired", -1},
		flussincident.NoEntry:    {fluss.UnknownSafety, "no-entry", -1},
	}
	if len(list) != len(want) {
		t.Fatalf("%d producers", len(list))
	}
	var folders []string
	for _, p := range list {
		w, undo := want[p.ID], int64(-1)
		if p.Undo != nil {
			undo = *p.Undo
		}
		var rules []string
		for _, f := range p.Findings {
			if f.Severity != inspect.SeverityInfo || f.Rule == "no-entry" {
				rules = append(rules, f.Rule)
			}
		}
		if p.Verdict != w.verdict || undo != w.undo || strings.Join(rules, " ") != w.rule {
			t.Errorf("%s: %s, undo %d, %q; want %+v", p.ID, p.Verdict, undo, rules, w)
		}
		folders = append(folders, p.ID)
	}
	seen, err := fluss.Remote{}.Folders(t.Context(), s.Remote()+"/producers")
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(folders)
	slices.Sort(seen)
	if !slices.Equal(seen, folders) {
		t.Errorf("folders %q, want %q", seen, folders)
	}
}
