package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/recoverctl/recoverctl/internal/testkit/cases"
	"github.com/recoverctl/recoverctl/internal/testkit/flinkcases"
)

type planJSON struct {
	File, PlanID, SourceRecoveryPoint, Topic, TopicID string
	Offsets                                           map[string]int64
	Warnings                                          []string
	Next                                              []string
}

type errorJSON struct {
	Kind  string
	Error struct {
		Code, Message, Hint string
		Exit                int
		Problem             problemJSON
	}
}

// failure reads the error envelope of a run with -o json.
func (o outcome) failure(t *testing.T) errorJSON {
	t.Helper()
	var e errorJSON
	if err := json.Unmarshal([]byte(o.errOut), &e); err != nil || e.Kind != "Error" {
		t.Fatalf("no error envelope (%v), exit %d\nstdout %s\nstderr %s", err, o.code, o.out, o.errOut)
	}
	return e
}

// markersFile is a set of markers of a case as an operator would keep it.
func markersFile(t *testing.T, markers json.RawMessage, source string) string {
	t.Helper()
	doc, err := json.Marshal(map[string]any{"markers": markers, "sourceRecoveryPoint": source})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "markers.json")
	if err := os.WriteFile(path, doc, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// The plan file of each set of markers is the Java tool's, byte for byte, and
// what it refuses is refused here for the same reason.
func TestPlanFilesAreThoseOfTheJavaTool(t *testing.T) {
	for _, c := range cases.Goldens(t) {
		t.Run(c.Name, func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "plan.json")
			args := []string{"plan", "cleanup", "--markers", markersFile(t, c.Markers, c.Source), "--offline", "--out", out}
			if !c.Accepted {
				got := command(t, append(args, "-o", "json")...)
				failed := got.failure(t)
				if got.code != 1 || got.out != "" {
					t.Errorf("exit %d, want 1; stdout %q", got.code, got.out)
				}
				wantProblem(t, failed.Error.Problem, c.Reason, c.Named)
				if _, err := os.Lstat(out); !os.IsNotExist(err) {
					t.Errorf("a plan was written (%v)", err)
				}
				return
			}
			made, got := ask[planJSON](t, "CleanupPlan", args...)
			if got.code != 0 || made.Data.PlanID != c.PlanID || made.Data.File != out || !slices.Contains(made.Data.Warnings, "not-checked") {
				t.Errorf("exit %d, %+v, want the id %s and the warning not-checked", got.code, made.Data, c.PlanID)
			}
			written, err := os.ReadFile(out)
			if err != nil || !bytes.Equal(written, c.Content(t)) {
				t.Errorf("written (%v)\n%s\nwant\n%s", err, written, c.Content(t))
			}
			again := command(t, args...)
			if after, err := os.ReadFile(out); again.code != 5 || err != nil || !bytes.Equal(after, written) {
				t.Errorf("the second time: exit %d, want 5; the file is now %s (%v)", again.code, after, err)
			}
		})
	}
}

// A plan's source is the argument's text, and no other spelling of it.
func TestTheSourceOfAPlanIsTheArgumentsText(t *testing.T) {
	const name = "versioned-p2"
	dir := flinkcases.Copy(t, name)
	want := flinkcases.Load(t, name).Snapshots[0]
	recorded := flinkcases.RecordedRoot + name + "/" + want.Path
	out := filepath.Join(t.TempDir(), "plan.json")
	made, got := ask[planJSON](t, "CleanupPlan", "plan", "cleanup", "--point", recorded, "--offline", "--out", out, "--map", flinkcases.RecordedRoot+name+"="+dir)
	if got.code != 0 || made.Data.SourceRecoveryPoint != recorded {
		t.Errorf("exit %d, source %q, want %q", got.code, made.Data.SourceRecoveryPoint, recorded)
	}
}

// planID is the formula of the format, written a second time.
func planID(p planJSON) string {
	lines := "1\n" + p.SourceRecoveryPoint + "\n" + p.Topic + "\n" + p.TopicID + "\n"
	partitions := make([]int, 0, len(p.Offsets))
	for name := range p.Offsets {
		n, err := strconv.Atoi(name)
		if err != nil {
			return err.Error()
		}
		partitions = append(partitions, n)
	}
	slices.Sort(partitions)
	for _, n := range partitions {
		lines += strconv.Itoa(n) + "=" + strconv.FormatInt(p.Offsets[strconv.Itoa(n)], 10) + "\n"
	}
	sum := sha256.Sum256([]byte(lines))
	return hex.EncodeToString(sum[:])
}

// Every snapshot of a real job whose subtasks all wrote versioned markers of one
// topic makes a plan: per partition the lowest offset that Flink read back. All
// others are refused, and nothing is written for them.
func TestSnapshotsOfRealJobsMakePlans(t *testing.T) {
	made := 0
	for _, name := range flinkcases.Names(t) {
		dir := flinkcases.Copy(t, name)
		for _, s := range flinkcases.Load(t, name).Snapshots {
			t.Run(name+"/"+filepath.Base(s.Path), func(t *testing.T) {
				uri, out := filepath.Join(dir, s.Path), filepath.Join(t.TempDir(), "plan.json")
				got := command(t, "plan", "cleanup", "--point", uri, "--offline", "--out", out, "--map", flinkcases.RecordedRoot+name+"="+dir, "-o", "json")
				offsets, topic, versioned := lowest(s)
				if !versioned {
					if _, err := os.Lstat(out); got.code == 0 || !os.IsNotExist(err) {
						t.Errorf("exit %d, and a plan (%v) from markers that authorise none", got.code, err)
					}
					return
				}
				var a answer[planJSON]
				if err := json.Unmarshal([]byte(got.out), &a); err != nil || got.code != 0 {
					t.Fatalf("exit %d (%v): %s%s", got.code, err, got.out, got.errOut)
				}
				made++
				p := a.Data
				if p.SourceRecoveryPoint != uri || p.Topic != topic || p.PlanID != planID(p) {
					t.Errorf("%+v: want topic %s, id %s", p, topic, planID(p))
				}
				if got, err := json.Marshal(p.Offsets); err != nil || string(got) != offsets {
					t.Errorf("offsets %s (%v), want %s", got, err, offsets)
				}
				if info, err := os.Stat(out); err != nil || info.Mode().Perm() != 0o600 {
					t.Errorf("the file: %v, %v", info, err)
				}
			})
		}
	}
	if made < 10 {
		t.Errorf("only %d snapshots made a plan", made)
	}
}

// lowest is the merged marker of a snapshot as Flink read it back, as JSON, and
// its topic; false where not all markers are versioned ones of one topic.
func lowest(s flinkcases.Snapshot) (offsets, topic string, ok bool) {
	merged := map[string]int64{}
	id := ""
	for _, op := range s.Operators {
		for _, sub := range op.Subtasks {
			if sub.Markers.Error != "" {
				return "", "", false
			}
			for _, m := range sub.Markers.List {
				if m.Kind != "versioned" || m.SchemaVersion == nil || *m.SchemaVersion != 1 || m.Topic == nil || m.TopicID == nil || *m.TopicID == "AAAAAAAAAAAAAAAAAAAAAA" ||
					id != "" && (id != *m.TopicID || topic != *m.Topic) {
					return "", "", false
				}
				if id != "" && len(m.Offsets) != len(merged) {
					return "", "", false
				}
				id, topic = *m.TopicID, *m.Topic
				for p, at := range m.Offsets {
					if at < 0 || strings.HasPrefix(p, "-") {
						return "", "", false
					}
					if was, known := merged[p]; !known || at < was {
						merged[p] = at
					}
				}
			}
		}
	}
	text, err := json.Marshal(merged)
	return string(text), topic, err == nil && len(merged) > 0
}

type reviewJSON struct {
	PlanID                   string
	Valid                    bool
	Problem                  problemJSON
	Offsets                  map[string]int64
	Drift                    []driftJSON
	Survives, Lost, Searched []map[string]any
	Report                   map[string]any
}

type driftJSON struct {
	Field        string
	Planned, Now any
	Allowed      bool
}

// Each plan file that the Java code judged is judged alike: its id, or the reason
// word with what the message names, and where in the file it is wrong.
func TestPlanShowJudgesFilesAsTheJavaTool(t *testing.T) {
	position := regexp.MustCompile(`byte \d+`)
	for _, c := range cases.Plans(t) {
		t.Run(c.Name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "plan.json")
			if err := os.WriteFile(path, c.Content(t), 0o600); err != nil {
				t.Fatal(err)
			}
			a, got := ask[reviewJSON](t, "PlanReview", "plan", "show", path)
			if a.Data.Report != nil || a.Data.Drift == nil || a.Data.Lost == nil || a.Data.Survives == nil || a.Data.Searched == nil {
				t.Errorf("without brokers: %+v", a.Data)
			}
			if c.Accepted {
				if got.code != 0 || !a.Data.Valid || a.Data.Problem != nil || a.Data.PlanID != c.PlanID {
					t.Errorf("exit %d, %+v, want valid with the id %s", got.code, a.Data, c.PlanID)
				}
				return
			}
			if got.code != 9 || a.Data.Valid {
				t.Errorf("exit %d, valid %t, want 9", got.code, a.Data.Valid)
			}
			if a.Data.Problem.code() != c.Reason {
				t.Errorf("refused for %s, want %s", a.Data.Problem.code(), c.Reason)
			}
			text := command(t, "plan", "show", path)
			if text.code != 9 || !strings.Contains(text.out, "("+c.Reason+")") {
				t.Errorf("as text: exit %d, %s", text.code, text.out)
			}
			if inJSON := []string{"malformed-json", "duplicate-name", "trailing-content", "not-utf8"}; slices.Contains(inJSON, c.Reason) && !position.MatchString(text.out) {
				t.Errorf("no byte position: %s", text.out)
			}
		})
	}
}
