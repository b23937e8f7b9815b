package inspect_test

import (
	"strings"
	"testing"
	"time"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/clock"
	"github.com/recoverctl/recoverctl/internal/fault"
)

var errDenied = fault.New(fault.Denied, "read", "not authorised")

const liveID = "37c94a59de3cb061d9e39767aab8b429"

func running(state string, retention inspect.Retention) *inspect.LiveState {
	live := inspect.LiveState{JobID: liveID, Name: "orders", State: state, FlinkVersion: "2.3.0"}
	if retention != "" {
		live.Settings = &inspect.CheckpointSettings{Retention: retention}
	}
	return &live
}

// What must be stopped comes first, and never by a way that deletes the point.
func TestNextSteps(t *testing.T) {
	const (
		chk = "s3://ckpt/" + liveID + "/chk-42"
		sav = "s3://sav/savepoint-37c94a-0123456789ab"
	)
	job := inspect.Job{Profile: "prod", Name: "orders", Flink: inspect.JobRef{REST: "http://jm:8081/"}}
	accepted := inspect.RestoreValidation{Point: chk, Verdict: inspect.Accepted}
	runs := int64(3)
	newer := &inspect.Nearby{URI: chk, Kind: inspect.KindCheckpoint, Span: 1200, RunsAgain: &runs}
	rejected := func(code string) inspect.RestoreValidation {
		return inspect.RestoreValidation{Point: "s3://ckpt/" + liveID + "/chk-1", Verdict: inspect.Rejected, Newer: newer,
			Reasons: []inspect.Reason{{Problem: inspect.Problem{Code: code, Message: "no", Named: inspect.Named{"point": 128}}}}}
	}
	tests := map[string]struct {
		kind inspect.PointKind
		v    inspect.RestoreValidation
		live *inspect.LiveState
		want []string // in this order
		none []string
	}{
		"a checkpoint that is kept": {
			kind: inspect.KindCheckpoint, v: accepted, live: running("RUNNING", inspect.RetainOnCancellation),
			want: []string{
				"cancelling it", "flink cancel " + liveID, "curl -X PATCH 'http://jm:8081/jobs/" + liveID + "?mode=cancel'", "flink run -s " + chk + " JAR",
				`curl -X POST http://jm:8081/jars/JAR_ID/run -H 'Content-Type: application/json' -d '{"savepointPath":"` + chk + `"}'`,
				`kubectl patch flinkdeployment DEPLOYMENT --type merge -p '{"spec":{"job":{"initialSavepointPath":"` + chk + `","savepointRedeployNonce":NONCE,"upgradeMode":"savepoint"}}}'`,
			}, none: []string{"flink stop " + liveID}},
		"a checkpoint that dies with the job": {
			kind: inspect.KindCheckpoint, v: accepted, live: running("RUNNING", inspect.DeleteOnCancellation),
			want: []string{"Do not stop or cancel", "DELETE_ON_CANCELLATION", "keep a copy", "flink run -s " + chk},
			none: []string{"flink stop " + liveID, "flink cancel", "mode=cancel"}},
		"settings that are not known": {
			kind: inspect.KindCheckpoint, v: accepted, live: running("RUNNING", ""),
			want: []string{"once you know", "flink cancel " + liveID}, none: []string{"flink stop " + liveID}},
		"a savepoint of a running job": {
			kind: inspect.KindSavepoint, v: inspect.RestoreValidation{Point: sav, Verdict: inspect.Accepted}, live: running("RUNNING", inspect.RetainOnCancellation),
			want: []string{"a job that finishes deletes them", "flink stop " + liveID, `/stop -H 'Content-Type: application/json' -d '{"drain":false}'`, "flink run -s " + sav}},
		"a savepoint of a failing job": {
			kind: inspect.KindSavepoint, v: inspect.RestoreValidation{Point: sav, Verdict: inspect.Accepted}, live: running("RESTARTING", inspect.NoRetention),
			want: []string{"NO_EXTERNALIZED_CHECKPOINTS) its own checkpoints go", "flink cancel " + liveID, "flink run -s " + sav}, none: []string{"flink stop " + liveID}},
		"a job that has ended": {
			kind: inspect.KindCheckpoint, v: accepted, live: running("FAILED", inspect.RetainOnCancellation),
			want: []string{"Nothing must be stopped", "flink run -s " + chk}, none: []string{"flink cancel", "flink stop"}},
		"a job that is not known": {
			kind: inspect.KindCheckpoint, v: accepted,
			want: []string{"stop orders, if it runs", "flink cancel JOB_ID", "flink run -s " + chk}},
		"a rejected point leads to the nearest accepted one": {
			kind: inspect.KindCheckpoint, v: rejected("below-committed-boundary"), live: running("FAILED", ""),
			want: []string{"Instead: chk-42, the nearest accepted and newer one, replays a span of 1,200 offsets, 3 calls run again",
				"recoverctl validate restore -p prod -j orders " + chk, "flink run -s " + chk}},
		"another max parallelism": {
			kind: inspect.KindCheckpoint, v: rejected("max-parallelism-mismatch"), want: []string{"pipeline.max-parallelism) to 128"}},
		"a damaged point": {
			kind: inspect.KindCheckpoint, v: rejected("state-file-missing"), want: []string{"recoverctl inspect point -p prod -j orders s3://ckpt/" + liveID + "/chk-1"}},
		"nothing is accepted": {
			kind: inspect.KindCheckpoint, v: inspect.RestoreValidation{Point: chk, Verdict: inspect.Unknown},
			want: []string{"Make readable", "No accepted point is known"}, none: []string{"flink run"}},
		"a URI that can't be shown": {
			kind: inspect.KindCheckpoint, v: inspect.RestoreValidation{Point: "s3://b/\x1b[2J/chk-1", Verdict: inspect.Accepted},
			want: []string{"no command is offered"}, none: []string{"flink run", "\x1b"}},
		"an address that only this shell knows": {
			kind: inspect.KindCheckpoint, v: inspect.RestoreValidation{Point: "./chk-1", Verdict: inspect.Accepted},
			want: []string{"Flink does not know ./chk-1"}, none: []string{"flink run", "flink cancel"}},
		"a URI that means something to a shell": {
			kind: inspect.KindCheckpoint, v: inspect.RestoreValidation{Point: `s3://b/o'k"&$(id)/chk-1`, Verdict: inspect.Accepted},
			want: []string{`flink run -s 's3://b/o'\''k"&$(id)/chk-1' JAR`, `-d '{"savepointPath":"s3://b/o'\''k\"&$(id)/chk-1"}'`}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var all strings.Builder
			for _, step := range inspect.NextSteps(job, tt.kind, tt.v, tt.live) {
				if step.What == "" || step.By == "" {
					t.Errorf("a step without words: %+v", step)
				}
				all.WriteString(step.What + "\n" + step.Command + "\n")
			}
			rest := all.String()
			for _, want := range tt.want {
				at := strings.Index(rest, want)
				if at < 0 {
					t.Fatalf("%q is missing, or stands too early:\n%s", want, all.String())
				}
				rest = rest[at:]
			}
			for _, none := range append(tt.none, "flink run -n", "allowNonRestoredState") {
				if strings.Contains(all.String(), none) {
					t.Errorf("%q is offered:\n%s", none, all.String())
				}
			}
		})
	}
}

// A JobManager's login is no part of a command that is shown.
func TestCommandsHoldNoLogin(t *testing.T) {
	job := inspect.Job{Name: "orders", Flink: inspect.JobRef{REST: "http://me:secret@jm:8081"}}
	for _, step := range inspect.NextSteps(job, inspect.KindSavepoint, inspect.RestoreValidation{Point: "s3://b/sav", Verdict: inspect.Accepted}, nil) {
		if strings.Contains(step.Command, "secret") {
			t.Error(step.Command)
		}
	}
}

// A check asks the running job too: its Flink decides whether the metadata can be
// read, and it is what must be stopped first.
func TestACheckAsksTheRunningJob(t *testing.T) {
	log := broker{
		Data:    data(inspect.LogRange{Start: 150, End: 200}, inspect.LogRange{Start: 250, End: 300}),
		Control: controlTopicOf(inspect.Offsets{0: 150, 1: 250}),
	}
	newest, oldest := point(44, time.Minute, inspect.Offsets{0: 180, 1: 260}), point(12, time.Hour, inspect.Offsets{0: 100, 1: 260})
	store := shelf{Places: map[string][]inspect.RecoveryPoint{"ckpt": {newest, oldest}}}
	state := *running("RESTARTING", inspect.RetainOnCancellation)
	ask := func(live flink, uri string) (inspect.RestoreValidation, []error) {
		t.Helper()
		v, faults, err := inspect.New(store, log, clock.NewFake(now)).WithLive(live).Validate(t.Context(), inFlink(agentJob()), uri)
		if err != nil {
			t.Fatal(err)
		}
		return v, faults
	}

	v, faults := ask(flink{state: state}, oldest.URI)
	if v.Verdict != inspect.Rejected || v.Newer == nil || len(faults) > 0 {
		t.Fatalf("%s %+v, %v", v.Verdict, v.Newer, faults)
	}
	if rule := ruleOf(t, v, "metadata-version-unsupported"); rule.Result != inspect.Passed {
		t.Errorf("metadata version 6 in Flink 2.3.0: %+v", rule)
	}
	byFlink := inspect.StepsBy(v.Next, inspect.ByCLI)
	if len(byFlink) != 2 || byFlink[0].Command != "flink cancel "+liveID || byFlink[1].Command != "flink run -s "+newest.URI+" JAR" {
		t.Errorf("steps %+v", byFlink)
	}

	state.FlinkVersion = "1.20.5"
	if v, _ = ask(flink{state: state}, newest.URI); v.Verdict != inspect.Rejected || v.Reasons[0].Code != "metadata-version-unsupported" || v.Older != nil || v.Newer != nil {
		t.Errorf("%s %+v: no point of version 6 is restored by Flink 1.20", v.Verdict, v.Reasons)
	}
	v, faults = ask(flink{err: errDenied}, newest.URI)
	if v.Verdict != inspect.Accepted || len(faults) != 1 || inspect.StepsBy(v.Next, inspect.ByCLI)[0].Command != "flink cancel JOB_ID" {
		t.Errorf("%s, %v, %+v: a JobManager that does not answer decides nothing", v.Verdict, faults, v.Next)
	}
}
