package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/recoverctl/recoverctl/internal/testkit/flussincident"
)

// Nothing that is about cleanups of a topic is begun for a job on Fluss, and each
// says why in one sentence.
func TestAJobOnFlussHasNoCleanups(t *testing.T) {
	in := startFlussIncident(t)
	out := filepath.Join(t.TempDir(), "plan.json")
	for _, args := range [][]string{
		{"plan", "cleanup", "--point", "file:/p", "--out", out},
		{"plan", "cleanup", "--point", "file:/p", "--out", out, "--offline"},
		{"plan", "settings", "--out", out},
		{"inspect", "control"},
		{"guide", "first-cleanup"},
		{"guide", "leave-tombstones"},
	} {
		got := in.run(t, args...)
		if got.code != 2 || !strings.Contains(got.errOut, "lies in Fluss, where rows expire by themselves") || !strings.Contains(got.errOut, "table.log.ttl") {
			t.Errorf("%s: exit %d\n%s%s", strings.Join(args, " "), got.code, got.out, got.errOut)
		}
	}
}

// Commands about a job on Fluss speak of tables and buckets.
func TestCommandsOnFlussSpeakOfTablesAndBuckets(t *testing.T) {
	dir := t.TempDir()
	sample, err := flussincident.Start(t.Context(), dir, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(sample.Close)
	config := filepath.Join(dir, "config.yaml")
	if err := os.WriteFile(config, sample.ConfigYAML(), 0o600); err != nil {
		t.Fatal(err)
	}
	newest, err := filepath.Glob(filepath.Join(dir, "checkpoints", "*", "chk-58"))
	if err != nil || len(newest) != 1 {
		t.Fatal(newest, err)
	}
	point := "file:" + newest[0]
	for name, c := range map[string]struct {
		args []string
		code int
		says string
	}{
		"job":      {[]string{"inspect", "job", "--calls"}, 0, "their records stay in the table until they expire (table.log.ttl)"},
		"points":   {[]string{"inspect", "points", "--calls"}, 0, "the table has the buckets 0-7"},
		"no calls": {[]string{"inspect", "key", "string:nobody"}, 0, "no action of it is in the table"},
		"a key":    {[]string{"inspect", "key", "string:alice"}, 0, "bucket"},
		"offline":  {[]string{"inspect", "key", "string:alice", "--offline"}, 0, "no table was asked for its actions"},
		"calls":    {[]string{"inspect", "calls"}, 0, "BUCKET"},
		"a point":  {[]string{"inspect", "point", point}, 0, "legacy, 8 buckets, no table identity"},
		"validate": {[]string{"validate", "restore", point, "--calls"}, 0, "BUCKET"},
		"records":  {[]string{"inspect", "records"}, 0, "bucket 7: offsets"},
		"buckets":  {[]string{"inspect", "fluss", "buckets", "--point", point}, 0, "idle"},
	} {
		got := commandIn(t, []string{"HOME=" + t.TempDir()}, "", append([]string{"--config", config}, c.args...)...)
		if got.code != c.code || !strings.Contains(got.out, c.says) {
			t.Errorf("%s: exit %d\n%s%s", name, got.code, got.out, got.errOut)
		}
		for _, never := range []string{"topic", "kafka", "broker", "cleanup"} {
			if strings.Contains(strings.ToLower(got.out), never) {
				t.Errorf("%s speaks of %q:\n%s", name, never, got.out)
			}
		}
	}
}
