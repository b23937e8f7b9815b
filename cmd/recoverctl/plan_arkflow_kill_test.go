package main

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/internal/arkhub"
	"github.com/recoverctl/recoverctl/internal/testkit/arkhubtest"
)

// killed is a plan whose process is killed.
type killed struct {
	verb, of string
	writes   int // each has an intent and an outcome, after the line that begins
	did      map[string]int
	accept   string // the plan's own warning; empty: none
	// keyed: the hub does what has the plan's key once, so that the same plan may ask
	// again by itself.
	keyed bool
	// of an upgrade: its phase before.
	phase string
}

// A process that is killed at any line of the journal, before the hub has the next
// request or when it has done it, leaves each thing done once: the same command goes
// on, and where it can't be told whether a request went out, only after somebody has
// settled that.
func TestAnArkFlowApplyIsKilled(t *testing.T) {
	t.Parallel()
	path := asProcess(t)
	for _, k := range []killed{
		{verb: "rollback", of: "orders", writes: 3, did: map[string]int{"savepoint orders": 1, "stop orders": 1, "version 1 orders": 1, "start orders": 1}},
		{verb: "savepoint", of: "orders", writes: 1, did: map[string]int{"savepoint orders": 1}},
		{verb: "checkpoint", of: "orders", writes: 1, did: map[string]int{}}, // counted by itself: the hub takes some, too
		{verb: "pause", of: "orders", writes: 1, did: map[string]int{"upgrade pause orders": 1}, accept: "job-may-stand-still", phase: "verifying"},
		{verb: "resume", of: "orders", writes: 1, did: map[string]int{"upgrade pause orders": 1, "upgrade resume orders": 1}, phase: "saving_savepoint"},
		{verb: "cancel", of: "orders", writes: 1, did: map[string]int{"upgrade cancel orders": 1}, accept: "upgrade-unwatched", phase: "committing_version"},
		{verb: "restart", of: "node-a/heartbeat", writes: 1, did: map[string]int{"running node-a/heartbeat": 1}, accept: "stream-not-covered", keyed: true},
	} {
		for line := 1; line <= 1+2*k.writes; line++ {
			for _, done := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s, line %d, done %v", k.verb, line, done), func(t *testing.T) {
					t.Parallel()
					s := k.begun(t)
					file := s.plan(k.verb, k.of)
					lines := journalLines(t, filepath.Join(s.home, "state"))
					wrote := s.kill(path, k.applyArgs(s, file), lines+line, done && line%2 == 0, done)
					s.resume(k, file, s.lastIsIntent() && !wrote)
					if got := s.did(); !maps.Equal(got, k.did) {
						t.Errorf("the hub did %v, want %v", got, k.did)
					}
					if n := s.byHand(); n != 1 && k.verb == "checkpoint" {
						t.Errorf("%d checkpoints were begun", n)
					}
				})
			}
		}
	}
}

// begun is the hub before the plan is made.
func (k killed) begun(t *testing.T) hubScene {
	t.Helper()
	o := arkhubtest.Options{}
	if k.phase != "" {
		o.Generation = arkhub.GenerationUpgrades
	}
	s := startHubScene(t, o)
	s.set(1)
	before := func(verb string) {
		if got := s.apply(s.plan(verb, k.of)); got.code != 0 {
			t.Fatalf("%s: exit %d\n%s%s", verb, got.code, got.out, got.errOut)
		}
	}
	if k.phase != "" {
		s.hub.SetUpgrade(k.of, "job-upgrade-12", k.phase, 1, 2)
	}
	switch k.verb {
	case "rollback":
		before("savepoint")
		s.set(2)
	case "resume":
		before("pause")
	}
	return s
}

// applyArgs approve the plan in a file with its own warning.
func (k killed) applyArgs(s hubScene, file string, accept ...string) []string {
	s.t.Helper()
	return append(s.applyArgs(file, append(accept, strings.Fields(k.accept)...)...), "--hub", s.url)
}

// kill applies a plan in a process of its own, and kills that at its first request
// from when the journal has so many lines: at the first that writes where onlyWrites.
// The hub does what it is asked for where done, and nobody hears of it. Wrote: that
// was to change something.
func (s hubScene) kill(path string, args []string, lines int, onlyWrites, done bool) (wrote bool) {
	s.t.Helper()
	cmd := processOf(s.t, path, s.environ(), args...)
	var once sync.Once
	started, killed := make(chan struct{}), make(chan struct{})
	s.hub.Break(func(w http.ResponseWriter, r *http.Request, hub http.Handler) bool {
		if onlyWrites && r.Method == http.MethodGet || journalLines(s.t, filepath.Join(s.home, "state")) < lines {
			return false
		}
		kills := false
		once.Do(func() {
			<-started
			body, err := io.ReadAll(r.Body) // a request that is there whole is what the hub can do
			if err != nil {
				s.t.Error(err)
			}
			r.Body = io.NopCloser(bytes.NewReader(body))
			if err := cmd.Process.Kill(); err != nil {
				s.t.Error(err)
			}
			wrote = done && r.Method != http.MethodGet
			close(killed)
			kills = true
		})
		switch {
		case !kills:
			return false
		case done:
			return arkhubtest.LoseAnswer(w, r, hub)
		}
		return arkhubtest.LoseRequest(w, r, hub)
	})
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	close(started)
	<-killed
	if err := cmd.Wait(); err == nil {
		s.t.Error("it was not killed")
	}
	s.hub.Break()
	return wrote
}

// lastIsIntent reports whether the journal ends with what was about to be asked for.
func (s hubScene) lastIsIntent() bool {
	s.t.Helper()
	files, err := filepath.Glob(filepath.Join(s.home, "state", "recoverctl", "journal", "*.jsonl"))
	if err != nil || len(files) == 0 {
		s.t.Fatal(files, err)
	}
	data, err := os.ReadFile(files[len(files)-1])
	if err != nil {
		s.t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	return strings.Contains(lines[len(lines)-1], `"event":"intent"`)
}

// resume goes on with a plan whose process was killed. Open: it can't be told whether
// the request that it was about to make went out. Verify says that it is done only
// where the hub has done it.
func (s hubScene) resume(k killed, file string, open bool) {
	s.t.Helper()
	before, point := s.did(), s.pointOf(file)
	v := s.run("verify", file)
	switch done := maps.Equal(before, k.did) && (k.verb != "checkpoint" || s.byHand() == 1); {
	case v.code == 0 && !done:
		s.t.Errorf("verify says that it is done, and the hub did %v:\n%s", before, v.out)
	case v.code == 0 && point != "" && s.hub.Restored("orders") != point:
		s.t.Errorf("verify says that it is restored from %s, and it is from %q:\n%s", point, s.hub.Restored("orders"), v.out)
	}
	again := func(accept ...string) outcome {
		return commandIn(s.t, s.environ(), "", k.applyArgs(s, file, accept...)...)
	}
	got := again()
	if open && !k.keyed {
		if got.code != 5 || !strings.Contains(got.errOut, "request-unsettled") || !maps.Equal(before, s.did()) {
			s.t.Errorf("not settled: exit %d, the hub did %v and then %v\n%s%s", got.code, before, s.did(), got.out, got.errOut)
		}
		if v := s.run("verify", file); v.code == 0 || !strings.Contains(v.out, "the hub shows nothing of it") {
			s.t.Errorf("verify: exit %d\n%s%s", v.code, v.out, v.errOut)
		}
		got = again("request-unsettled")
	}
	if got.code != 0 || !strings.Contains(got.out, "✔ applied") {
		s.t.Errorf("exit %d\n%s%s", got.code, got.out, got.errOut)
	}
	if v := s.run("verify", file); v.code != 0 || !strings.Contains(v.out, "✔ applied") {
		s.t.Errorf("verify: exit %d\n%s%s", v.code, v.out, v.errOut)
	}
	if point != "" && s.hub.Restored("orders") != point {
		s.t.Errorf("the job was restored from %q, and the plan says %s", s.hub.Restored("orders"), point)
	}
}

// pointOf is the point that a plan restores; empty: it restores none.
func (s hubScene) pointOf(file string) string {
	s.t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		s.t.Fatal(err)
	}
	plan, p := actions.ParseDocument(data)
	if p != nil {
		s.t.Fatal(p.Message)
	}
	return actions.ArkFlowPlanOf(plan).Point
}
