package journal_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/recoverctl/recoverctl/internal/clock"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/journal"
)

var march = time.Date(2026, 3, 31, 23, 59, 58, 0, time.UTC)

func open(t *testing.T) (*journal.Journal, *clock.Fake) {
	t.Helper()
	c := clock.NewFake(march)
	j, err := journal.Open(t.TempDir(), c)
	if err != nil {
		t.Fatal(err)
	}
	return j, c
}

func appendAll(t *testing.T, j *journal.Journal, entries ...journal.Entry) {
	t.Helper()
	for _, e := range entries {
		if _, err := j.Append(e); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAnEntryIsReadBack(t *testing.T) {
	j, _ := open(t)
	e := journal.Entry{
		Run: "r1", Event: journal.Intent, User: "ops", Host: "bastion", PID: 7, Profile: "orders", Job: "order-agent",
		PlanID: strings.Repeat("3f", 32), Topic: "action-state", TopicID: "6wBnCDrXRZCpbWKBbvCNbQ", Step: "delete",
		Offsets: map[int32]int64{0: 150, 10: 1 << 62}, Reason: "disk pressure", Accept: []string{"points-lost"}, Report: "ab", Message: "m",
	}
	written, err := j.Append(e)
	if err != nil {
		t.Fatal(err)
	}
	e.Time = march
	if !reflect.DeepEqual(written, e) {
		t.Errorf("written %+v, want %+v", written, e)
	}
	entries, damage, err := j.Read(journal.Filter{})
	if err != nil || len(damage) != 0 || len(entries) != 1 || !reflect.DeepEqual(entries[0], e) {
		t.Errorf("read %+v, damage %v, error %v", entries, damage, err)
	}
	path := filepath.Join(j.Dir(), "2026-03.jsonl")
	info, err := os.Stat(path)
	if err != nil || info.Mode() != 0o600 {
		t.Errorf("mode %v, error %v", info.Mode(), err)
	}
	if info, err = os.Stat(j.Dir()); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the folder's mode %v, error %v", info.Mode(), err)
	}
}

func TestAnOpenFolderIsMadePrivate(t *testing.T) {
	state := t.TempDir()
	if err := os.Mkdir(filepath.Join(state, "journal"), 0o755); err != nil {
		t.Fatal(err)
	}
	j, err := journal.Open(state, clock.System{})
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(j.Dir()); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("mode %v, error %v", info.Mode(), err)
	}
}

func TestMonthsAreFilesAndOneHistory(t *testing.T) {
	j, c := open(t)
	appendAll(t, j, journal.Entry{Run: "a", Event: journal.Begin, PlanID: "3f9c", Profile: "orders", Job: "x"})
	c.Advance(4 * time.Second)
	appendAll(t, j,
		journal.Entry{Run: "a", Event: journal.Intent, Step: "commit", PlanID: "3f9c", Profile: "orders", Job: "x"},
		journal.Entry{Run: "b", Event: journal.Begin, PlanID: "77aa", Profile: "other", Job: "y"},
	)
	if _, err := os.Stat(filepath.Join(j.Dir(), "2026-04.jsonl")); err != nil {
		t.Error(err)
	}
	tests := map[string]struct {
		filter journal.Filter
		want   string // run and event of each
	}{
		"all":                 {journal.Filter{}, "a begin, a intent, b begin"},
		"a plan by its start": {journal.Filter{Plan: "3f"}, "a begin, a intent"},
		"a run":               {journal.Filter{Run: "b"}, "b begin"},
		"a profile":           {journal.Filter{Profile: "other"}, "b begin"},
		"a job":               {journal.Filter{Job: "x"}, "a begin, a intent"},
		"since April":         {journal.Filter{Since: time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC)}, "a intent, b begin"},
		"until April":         {journal.Filter{Until: time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC)}, "a begin"},
		"the last two":        {journal.Filter{Last: 2}, "a intent, b begin"},
		"nobody's":            {journal.Filter{Plan: "zz"}, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			entries, damage, err := j.Read(tt.filter)
			var got []string
			for _, e := range entries {
				got = append(got, e.Run+" "+string(e.Event))
			}
			if text := strings.Join(got, ", "); err != nil || len(damage) != 0 || text != tt.want {
				t.Errorf("%q, damage %v, error %v, want %q", text, damage, err, tt.want)
			}
		})
	}
}

// A clock that goes back over the end of a month puts no line before those that were
// written earlier: what a later line settles is in the order of the writing.
func TestAClockThatGoesBackKeepsTheOrder(t *testing.T) {
	j, c := open(t)
	appendAll(t, j, journal.Entry{Run: "a", Event: journal.Begin})
	c.Advance(4 * time.Second) // April, by a wrong clock
	appendAll(t, j, journal.Entry{Run: "a", Event: journal.Intent}, journal.Entry{Run: "b", Event: journal.Begin})
	c.Advance(-4 * time.Second)
	appendAll(t, j, journal.Entry{Run: "b", Event: journal.Intent})
	if err := os.WriteFile(filepath.Join(j.Dir(), "notes.jsonl"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	appendAll(t, j, journal.Entry{Run: "c", Event: journal.Begin})
	entries, _, err := j.Read(journal.Filter{})
	var got []string
	for _, e := range entries {
		got = append(got, e.Run+" "+string(e.Event))
	}
	if text := strings.Join(got, ", "); err != nil || text != "a begin, a intent, b begin, b intent, c begin" {
		t.Errorf("%s, error %v", text, err)
	}
}

func TestATornLineIsToldAndTheRestIsRead(t *testing.T) {
	j, _ := open(t)
	appendAll(t, j, journal.Entry{Run: "a", Event: journal.Intent})
	path := filepath.Join(j.Dir(), "2026-03.jsonl")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		tail string
		want journal.Damage
	}{
		"a part of a line":                {`{"time":"2026-`, journal.Damage{File: "2026-03.jsonl", Line: 2, Torn: true, Why: "the line is not an entry"}},
		"a whole line without its end":    {strings.TrimSuffix(string(whole), "\n"), journal.Damage{File: "2026-03.jsonl", Line: 2, Torn: true, Why: "the line has no end: it may not be whole"}},
		"another program's line":          {"hello\n", journal.Damage{File: "2026-03.jsonl", Line: 2, Why: "the line is not an entry"}},
		"two entries on one line":         {strings.TrimSuffix(string(whole), "\n") + " {}\n", journal.Damage{File: "2026-03.jsonl", Line: 2, Why: "something follows the entry"}},
		"an entry that says nothing":      {"{}\n", journal.Damage{File: "2026-03.jsonl", Line: 2, Why: "the line has no event or no time"}},
		"a line that is too long to read": {strings.Repeat("x", 3<<20) + "\n", journal.Damage{File: "2026-03.jsonl", Line: 2, Why: "the line is too long"}},
	} {
		t.Run(name, func(t *testing.T) {
			if err := os.WriteFile(path, append(bytes.Clone(whole), tt.tail...), 0o600); err != nil {
				t.Fatal(err)
			}
			entries, damage, err := j.Read(journal.Filter{Plan: ""})
			if err != nil || len(entries) != 1 || len(damage) != 1 || damage[0] != tt.want {
				t.Errorf("%d entries, damage %+v, error %v", len(entries), damage, err)
			}
			appendAll(t, j, journal.Entry{Run: "b", Event: journal.Outcome})
			if entries, _, err = j.Read(journal.Filter{Run: "b"}); err != nil || len(entries) != 1 {
				t.Errorf("after it: %+v, error %v", entries, err)
			}
		})
	}
}

func TestNothingReachesATerminalAsItCame(t *testing.T) {
	j, _ := open(t)
	appendAll(t, j, journal.Entry{Run: "a", Event: journal.Begin, Topic: "t\x1b[2J", Reason: "x\ny", Accept: []string{"point-unknown:\u202e"}})
	raw := `{"time":"2026-03-31T23:59:59Z","event":"end\u001b[31m","run":"b","message":"\u009b2J"}` + "\n"
	path := filepath.Join(j.Dir(), "2026-03.jsonl")
	file, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := file.WriteString(raw); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	entries, damage, err := j.Read(journal.Filter{})
	if err != nil || len(damage) != 0 || len(entries) != 2 {
		t.Fatalf("read %+v, damage %v, error %v", entries, damage, err)
	}
	for got, want := range map[string]string{
		entries[0].Topic: `t\x1b[2J`, entries[0].Reason: `x\ny`, entries[0].Accept[0]: `point-unknown:\u202e`,
		string(entries[1].Event): `end\x1b[31m`, entries[1].Message: `\u009b2J`,
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestAFolderThatIsNotThereHoldsNothing(t *testing.T) {
	entries, damage, err := journal.At(t.TempDir()).Read(journal.Filter{})
	if err != nil || len(entries) != 0 || len(damage) != 0 {
		t.Errorf("%v %v %v", entries, damage, err)
	}
}

func TestAFolderThatCantBeReadIsTold(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	entries, _, err := journal.At(file).Read(journal.Filter{})
	if fault.KindOf(err) != fault.Config || len(entries) != 0 {
		t.Errorf("entries %v, error %v", entries, err)
	}
}

func TestAnIntentWithoutOutcomeIsTheTraceOfACrash(t *testing.T) {
	open := journal.OpenIntents([]journal.Entry{
		{Run: "a", Event: journal.Intent, Step: "commit"}, {Run: "a", Event: journal.Outcome, Step: "commit"},
		{Run: "a", Event: journal.Intent, Step: "delete"},
		{Run: "b", Event: journal.Intent, Step: "commit"}, {Run: "b", Event: journal.Outcome, Step: "commit"},
	})
	if len(open) != 1 || open[0].Run != "a" || open[0].Step != "delete" {
		t.Errorf("open: %+v", open)
	}
}

func TestManyProcessesAppendWholeLines(t *testing.T) {
	j, _ := open(t)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 8 {
				if _, err := j.Append(journal.Entry{Run: "r", Event: journal.Outcome, Message: strings.Repeat("m", 300)}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if entries, damage, err := j.Read(journal.Filter{}); err != nil || len(damage) != 0 || len(entries) != 32 {
		t.Errorf("%d entries, damage %v, error %v", len(entries), damage, err)
	}
}

func TestStateDir(t *testing.T) {
	tests := map[string]struct {
		env  map[string]string
		want string
	}{
		"XDG_STATE_HOME":          {map[string]string{"XDG_STATE_HOME": "/s", "HOME": "/h"}, "/s/recoverctl"},
		"the home folder":         {map[string]string{"HOME": "/h"}, "/h/.local/state/recoverctl"},
		"a relative one is none":  {map[string]string{"XDG_STATE_HOME": "s", "HOME": "/h"}, "/h/.local/state/recoverctl"},
		"neither of them is told": {map[string]string{"HOME": ""}, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := journal.StateDir(func(key string) string { return tt.env[key] })
			if got != tt.want || (err != nil) != (tt.want == "") || err != nil && fault.KindOf(err) != fault.Config {
				t.Errorf("%q, error %v", got, err)
			}
		})
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"time":"2026-03-31T23:59:58Z","event":"intent","run":"a","step":"delete","offsets":{"0":1}}` + "\n"))
	f.Add([]byte("{\"time\":\"2026-03-31T23:59:58Z\",\"event\":\"e\x1b\"}\n\n{\"ti"))
	f.Fuzz(func(t *testing.T, data []byte) {
		state := t.TempDir()
		if err := os.MkdirAll(filepath.Join(state, "journal"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(state, "journal", "2026-03.jsonl"), data, 0o600); err != nil {
			t.Fatal(err)
		}
		entries, damage, err := journal.At(state).Read(journal.Filter{})
		if err != nil {
			t.Fatal(err)
		}
		lines := 0
		for line := range bytes.Lines(data) {
			if len(bytes.TrimSuffix(line, []byte("\n"))) > 0 {
				lines++
			}
		}
		if len(entries)+len(damage) != lines {
			t.Fatalf("%d lines are %d entries and %d damaged", lines, len(entries), len(damage))
		}
		for _, e := range entries {
			text, err := json.Marshal(e)
			if err != nil {
				t.Fatal(err)
			}
			if bytes.ContainsAny(text, "\x1b\n\x7f") {
				t.Fatalf("an entry that a terminal would obey: %q", text)
			}
		}
	})
}
