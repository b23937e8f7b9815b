package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/recoverctl/recoverctl/internal/testkit/arkhubtest"
)

// quickClock runs a hundred times as fast as the machine's.
type quickClock struct{ from time.Time }

func (q quickClock) Now() time.Time {
	const times = 100
	return q.from.Add(times * time.Since(q.from))
}

// A savepoint is taken and a job rolled back to it by plans: made, shown, applied,
// verified; and what the hub would accept and nobody should ask for makes none.
func TestArkFlowPlans(t *testing.T) {
	hub := arkhubtest.New(arkhubtest.Options{Clock: quickClock{time.Now()}})
	hub.AddNode("node-a")
	url, store, home := hub.Start(t), t.TempDir(), t.TempDir()
	set := func(version int) {
		t.Helper()
		err := hub.SetJob(fmt.Sprintf(`{"id":"orders","version":%d,"parallelism":2,"operators":[{"id":"src","kind":"source"},{"id":"count","kind":"aggregate","stateful":true}],
			"sources":[{"operator_id":"src","input_type":"kafka"}],"checkpoint":{"interval_ms":4000,"retention":0,"object_store_uri":"file://%s"}}`, version, store), "running")
		if err != nil {
			t.Fatal(err)
		}
		const runs = 200 * time.Millisecond // of the hub's clock: 20 s
		time.Sleep(runs)
	}
	run := func(args ...string) outcome {
		return commandIn(t, []string{"HOME=" + home}, "", append(args, "--hub", url)...)
	}
	apply := func(file string) outcome {
		plan := decodeAnswer[struct{ PlanID string }](t, "PlanReview", run("plan", "show", file, "-o", "json"))
		return run("apply", file, "--access", "operate", "--reason", "INC-2231", "--approve", plan.Data.PlanID)
	}
	file := func(name string) string { return filepath.Join(home, name) }

	set(1)
	if got := run("plan", "arkflow", "rollback", "orders", "--out", file("none")); got.code != 1 || !strings.Contains(got.errOut, "is the lowest on record") {
		t.Errorf("exit %d\n%s%s", got.code, got.out, got.errOut)
	}
	if got := run("plan", "arkflow", "savepoint", "orders", "--out", file("s")); got.code != 0 || !strings.Contains(got.out, "the plan is written to ") {
		t.Fatalf("exit %d\n%s%s", got.code, got.out, got.errOut)
	}
	if got := run("verify", file("s")); got.code != 1 || !strings.Contains(got.out, "no savepoint was begun by it") {
		t.Errorf("exit %d\n%s%s", got.code, got.out, got.errOut)
	}
	if got := apply(file("s")); got.code != 0 {
		t.Fatalf("exit %d\n%s%s", got.code, got.out, got.errOut)
	}
	set(2)
	if got := run("plan", "arkflow", "rollback", "orders", "--out", file("r")); got.code != 0 || !strings.Contains(got.out, "restored from savepoint-") {
		t.Fatalf("exit %d\n%s%s", got.code, got.out, got.errOut)
	}
	if got := apply(file("r")); got.code != 0 || !strings.Contains(got.out, "by the hub's rule it was restored from savepoint-") {
		t.Fatalf("exit %d\n%s%s", got.code, got.out, got.errOut)
	}
	if got := run("verify", file("r")); got.code != 0 {
		t.Errorf("exit %d\n%s%s", got.code, got.out, got.errOut)
	}
	if got := strings.Join(hub.Effects(), ", "); strings.Count(got, "savepoint orders") != 1 || strings.Count(got, "version 1 orders") != 1 || strings.Count(got, "stop orders") != 1 || strings.Count(got, "start orders") != 1 {
		t.Errorf("the hub did %s", got)
	}
	if got := run("apply", file("r"), "--reason", "INC-2231"); got.code != 5 {
		t.Errorf("without the right to write: exit %d\n%s", got.code, got.errOut)
	}
}
