package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/recoverctl/recoverctl/internal/testkit/arkhubtest"
)

// All that a hub and a log say is in the file, and what entries hold only where it
// was asked for.
func TestABundleOfArkFlow(t *testing.T) {
	h := newArkHub(t, arkhubtest.Options{})
	h.job(1, 75)
	wal := walFiles + "unclean-pending/wal.redb.gz"
	dir := t.TempDir()
	config := filepath.Join(dir, "config.yaml")
	text := "profiles:\n  - name: edge\n    jobs:\n      - name: orders\n        engine: arkflow\n        arkflow: {hub: '" + h.url + "', wal: '" + mustAbs(t, wal) + "'}\n"
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	plain, whole := filepath.Join(dir, "a.tar.gz"), filepath.Join(dir, "b.tar.gz")
	got := command(t, "bundle", "--config", config, "--profile", "edge", "--out", plain)
	if got.code != 0 || !strings.Contains(got.out, "left out: payloads of entries (--payloads adds") {
		t.Fatalf("exit %d\n%s%s", got.code, got.out, got.errOut)
	}
	manifest, members := unpacked(t, plain)
	if manifest.Profile != "edge" || manifest.Job != "orders" {
		t.Errorf("manifest %+v", manifest)
	}
	for name, want := range map[string][]string{
		"jobs.json":          {`"kind": "ArkFlowJobs"`, `"id": "orders"`, `"outcome": "clear"`},
		"streams.json":       {`"kind": "ArkFlowStreams"`, `"id": "orders-eu"`, `"id": "heartbeat"`},
		"job-1.json":         {`"kind": "ArkFlowJob"`, `"id": "checkpoint-orders-1-`, `"verdict": "accepted"`, `"restorable"`},
		"events.json":        {`"kind": "ArkFlowEvents"`, `"events": [`},
		"audit.json":         {`"kind": "ArkFlowAudit"`},
		"wal.json":           {`"kind": "WriteAheadLog"`, `"cursor": 13`, `"tail": 20`},
		"findings.json":      {`"kind": "Findings"`},
		"versions.json":      {`"hubGeneration": "jobs (v1)"`, `"recoverctl"`},
		"journal.json":       {`"entries": []`},
		"configuration.json": {`arkflow.wal"`, `wal.redb.gz"`},
		"overview.txt":       {"a start restores", "node-a/orders-eu", "data between read and output is lost on a crash"},
	} {
		for _, text := range want {
			if !strings.Contains(members[name], text) {
				t.Errorf("%s does not hold %s: %.600s", name, text, members[name])
			}
		}
	}
	if len(members) != 12 {
		t.Errorf("%d members", len(members))
	}
	if got = command(t, "bundle", "--config", config, "--profile", "edge", "--out", whole, "--payloads"); got.code != 0 {
		t.Fatalf("exit %d\n%s", got.code, got.errOut)
	}
	_, members = unpacked(t, whole)
	want := command(t, "inspect", "arkflow", "entries", wal, "--pending", "-o", "json")
	if members["entries.jsonl"] != want.out || strings.Count(want.out, "\n") != 7 {
		t.Errorf("entries.jsonl is %.300s, and the command says %.300s", members["entries.jsonl"], want.out)
	}
}

func mustAbs(t *testing.T, name string) string {
	t.Helper()
	at, err := filepath.Abs(name)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// What a hub refuses, or a log that is not there, is a fault of its member, and the
// rest is written all the same.
func TestABundleOfArkFlowOfWhatCouldBeRead(t *testing.T) {
	h := newArkHub(t, arkhubtest.Options{Token: "right"})
	out := filepath.Join(t.TempDir(), "a.tar.gz")
	got := command(t, "bundle", "--hub", h.url, "--wal", walFiles+"unclean-pending/wal.redb.gz", "--out", out)
	if got.code != 8 || !strings.Contains(got.errOut, "token") {
		t.Fatalf("exit %d\n%s%s", got.code, got.out, got.errOut)
	}
	manifest, members := unpacked(t, out)
	if faults, _ := json.Marshal(manifest.Faults); !strings.Contains(string(faults), "denied") || !strings.Contains(members["jobs.json"], "denied") {
		t.Errorf("%s, %s", faults, members["jobs.json"])
	}
	if !strings.Contains(members["overview.txt"], "not everything could be read: ") {
		t.Errorf("people are not told: %.300s", members["overview.txt"])
	}
	if !strings.Contains(members["wal.json"], `"tail": 20`) {
		t.Errorf("%.300s", members["wal.json"])
	}
	out = filepath.Join(t.TempDir(), "b.tar.gz")
	if got = command(t, "bundle", "--wal", filepath.Join(t.TempDir(), "wal.redb"), "--out", out); got.code != 8 {
		t.Errorf("exit %d\n%s", got.code, got.errOut)
	}
	manifest, members = unpacked(t, out)
	if !slices.ContainsFunc(manifest.LeftOut, func(s string) bool { return strings.HasPrefix(s, "what the hub says: none") }) || !strings.Contains(members["wal.json"], "not-found") {
		t.Errorf("%+v, %s", manifest, members["wal.json"])
	}
}
