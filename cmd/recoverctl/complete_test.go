package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/recoverctl/recoverctl/internal/testkit/flinkcases"
)

// complete is what a shell is offered for the last argument, without
// descriptions, and whether it may offer files too.
func complete(t *testing.T, line ...string) (offers []string, files bool) {
	t.Helper()
	got := command(t, append([]string{"__completeNoDesc"}, line...)...)
	lines := strings.Split(strings.TrimSuffix(got.out, "\n"), "\n")
	last := lines[len(lines)-1]
	if got.code != 0 || !strings.HasPrefix(last, ":") || !strings.HasPrefix(got.errOut, "Completion ended with directive: ") || strings.Count(got.errOut, "\n") != 1 {
		t.Fatalf("%q: exit %d\n%s%s", line, got.code, got.out, got.errOut)
	}
	var directive int
	if _, err := fmt.Sscanf(last, ":%d", &directive); err != nil {
		t.Fatalf("%q: directive %q", line, last)
	}
	const noFiles, failed = 4, 1
	if directive&failed != 0 {
		t.Errorf("%q: the directive %d is that of an error", line, directive)
	}
	return lines[:len(lines)-1], directive&noFiles == 0
}

func TestTheShellKnowsWordsProfilesAndJobs(t *testing.T) {
	file := configured(t, `
profiles:
  - {name: orders, environment: staging, jobs: [{name: order-agent, action-state: {topic: action-state}}, {name: order-audit}, {name: refunds}]}
  - {name: shipping, jobs: [{name: parcels}]}
`)
	tests := map[string]struct {
		line  []string
		want  []string
		files bool
	}{
		"profiles":                         {[]string{file, "-p", ""}, []string{"orders", "shipping"}, false},
		"profiles that begin so":           {[]string{file, "inspect", "job", "--profile", "sh"}, []string{"shipping"}, false},
		"jobs of the profile":              {[]string{file, "inspect", "job", "-p", "orders", "-j", ""}, []string{"order-agent", "order-audit", "refunds"}, false},
		"jobs that begin so":               {[]string{file, "-p", "orders", "-j", "order"}, []string{"order-agent", "order-audit"}, false},
		"jobs of no profile":               {[]string{file, "-j", ""}, nil, false},
		"jobs of an unknown profile":       {[]string{file, "-p", "x", "-j", ""}, nil, false},
		"outputs":                          {[]string{"-o", ""}, []string{"text", "json"}, false},
		"access":                           {[]string{"--access", ""}, []string{"read-only", "operate"}, false},
		"environments":                     {[]string{"--environment", ""}, []string{"production", "staging", "development"}, false},
		"releases":                         {[]string{"validate", "restore", "--runtime", ""}, []string{"0.1", "0.2", "0.3", "next"}, false},
		"severities":                       {[]string{"inspect", "points", "--fail-on", ""}, []string{"error", "warning", "info", "never"}, false},
		"a topic is not known":             {[]string{"--topic", ""}, nil, false},
		"brokers are not known":            {[]string{"--brokers", ""}, nil, false},
		"a number":                         {[]string{"--max-parallelism", ""}, nil, false},
		"a file":                           {[]string{"--config", ""}, nil, true},
		"a file of markers":                {[]string{"validate", "restore", "--markers", ""}, nil, true},
		"a place to search":                {[]string{"--points", ""}, nil, true},
		"a job in Flink":                   {[]string{"inspect", "flink", "job", ""}, nil, false},
		"no argument at all":               {[]string{"version", ""}, nil, false},
		"commands":                         {[]string{"inspect", "flink", ""}, []string{"checkpoint", "checkpoints", "exceptions", "job", "jobs"}, false},
		"a file that is not there":         {[]string{"--config", "/absent.yaml", "-p", ""}, nil, false},
		"a flag that says what can't be":   {[]string{file, "-o", "yaml", "-p", ""}, nil, false},
		"a file that is no configuration":  {[]string{configured(t, "profiles: ["), "-p", ""}, nil, false},
		"a job of a broken configuration":  {[]string{configured(t, "nonsense: 1"), "-j", ""}, nil, false},
		"a point of a broken one":          {[]string{configured(t, "nonsense: 1"), "inspect", "point", ""}, nil, true},
		"a second point, where one can be": {[]string{"inspect", "point", "a", ""}, nil, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, files := complete(t, tt.line...)
			slices.Sort(got)
			slices.Sort(tt.want)
			if !slices.Equal(got, tt.want) || files != tt.files {
				t.Errorf("%q, files %t; want %q, %t", got, files, tt.want, tt.files)
			}
		})
	}
}

// Recovery points come from the job's places on this machine, newest first, and
// from nowhere else.
func TestTheShellKnowsRecoveryPoints(t *testing.T) {
	root := flinkcases.Copy(t, "versioned-p2")
	job := root + "/37c94a59de3cb061d9e39767aab8b429"
	for name, ago := range map[string]time.Duration{job + "/chk-2": 3 * time.Hour, job + "/chk-3": time.Hour, root + "/savepoint-37c94a-3793c261e148": 2 * time.Hour, root + "/savepoint-37c94a-39bc660a2102": 26 * time.Hour} {
		at := time.Now().Add(-ago)
		if err := os.Chtimes(filepath.Join(name, "_metadata"), at, at); err != nil {
			t.Fatal(err)
		}
	}
	key := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(key, []byte("k"), 0o600); err != nil {
		t.Fatal(err)
	}
	var asked atomic.Int64
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	t.Cleanup(elsewhere.Close)
	file := configured(t, fmt.Sprintf(`
profiles:
  - name: orders
    path-mappings: [{from: "file:/data/checkpoints", to: %q}]
    object-stores: [{match: "s3://bucket/", endpoint: %q, region: r, path-style: true, credentials: {access-key: {file: %q}, secret-key: {file: %q}}}]
    jobs:
      - name: order-agent
        recovery-points: ["file:/data/checkpoints", "s3://bucket/none", "hdfs://192.0.2.1/none", %q]
        pinned: ["file:/data/checkpoints/savepoint-37c94a-3793c261e148"]
        flink: {rest: %q}
      - {name: other, recovery-points: [%q]}
`, root, elsewhere.URL, key, key, job+"/chk-3", elsewhere.URL, job))
	mapped := []string{
		"file:/data/checkpoints/37c94a59de3cb061d9e39767aab8b429/chk-3", job + "/chk-3", "file:/data/checkpoints/savepoint-37c94a-3793c261e148",
		"file:/data/checkpoints/37c94a59de3cb061d9e39767aab8b429/chk-2", "file:/data/checkpoints/savepoint-37c94a-39bc660a2102",
	}
	for _, tt := range []struct {
		name  string
		line  []string
		want  []string
		files bool
	}{
		{"of a job", []string{"inspect", "point", file, "-j", "order-agent", ""}, mapped, false},
		{"of a job, to be judged", []string{"validate", "restore", file, "-j", "order-agent", ""}, mapped, false},
		{"that begin so", []string{"inspect", "point", file, "-j", "order-agent", "file:/data/checkpoints/save"}, []string{mapped[2], mapped[4]}, false},
		{"of another job", []string{"inspect", "points", file, "-j", "other", ""}, []string{job + "/chk-3", job + "/chk-2"}, false},
		{"none that begins so", []string{"inspect", "point", file, "-j", "other", "/mnt/"}, nil, true},
		{"of a flag's place", []string{"inspect", "point", "--points", job, ""}, []string{job + "/chk-3", job + "/chk-2"}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, files := complete(t, tt.line...)
			// The first two have one date: the same point under two names.
			if tt.name != "that begin so" && len(tt.want) == len(mapped) && len(got) == len(mapped) && got[0] == mapped[1] {
				got[0], got[1] = got[1], got[0]
			}
			if !slices.Equal(got, tt.want) || files != tt.files {
				t.Errorf("%q, files %t; want %q, %t", got, files, tt.want, tt.files)
			}
			if n := asked.Load(); n > 0 {
				t.Errorf("something else than a folder was asked, %d times", n)
			}
		})
	}
	command(t, "inspect", "points", file, "-j", "order-agent")
	if asked.Load() == 0 {
		t.Error("nobody would have seen that something else was asked")
	}
	described := command(t, "__complete", "inspect", "point", file, "-j", "other", "")
	if !strings.Contains(described.out, job+"/chk-2\tcheckpoint, file of 3h ago\n") {
		t.Errorf("%s%s", described.out, described.errOut)
	}
}

// A folder's name that can't be shown can't be typed either, and a long list is
// cut.
func TestTheShellIsOfferedNothingThatItCouldNotUse(t *testing.T) {
	place := t.TempDir()
	for i := range 130 {
		dir := filepath.Join(place, fmt.Sprintf("chk-%d", i))
		if i == 7 {
			dir = filepath.Join(place, "savepoint-\x1b[2J")
		}
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "_metadata"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got, _ := complete(t, "inspect", "point", "--points", place, ""); len(got) != 100 || strings.Contains(strings.Join(got, ""), "\x1b") {
		t.Errorf("%d offers, %q", len(got), got)
	}
	if got, files := complete(t, "inspect", "point", "--points", place, place+"/savepoint"); len(got) != 0 || !files {
		t.Errorf("%q", got)
	}
}
