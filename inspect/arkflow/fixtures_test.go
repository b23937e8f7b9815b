package arkflow_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/recoverctl/recoverctl/inspect/arkflow"
	"github.com/recoverctl/recoverctl/internal/clock"
	"github.com/recoverctl/recoverctl/internal/fault"
)

// localFixtures are files that a real engine wrote, with what the redb library
// and the engine's own code read of them.
const localFixtures = "../../internal/redbfile/testdata/"

// wantedEntry is an entry as the real code reads it.
type wantedEntry struct {
	Sequence uint64         `json:"seq"`
	Acked    bool           `json:"acked"`
	Length   int64          `json:"payload_len"`
	Hash     string         `json:"payload_sha256"`
	Input    *string        `json:"input_name"`
	Rows     *int64         `json:"rows"`
	Columns  []wantedColumn `json:"columns"`
	Broken   string         `json:"decode_error"`
}

type wantedColumn struct {
	Name   string    `json:"name"`
	Type   string    `json:"type"`
	Values []*string `json:"values"`
}

// library is what one version of the redb library reads.
type library struct {
	OK    bool `json:"ok"`
	Value struct {
		Cursor  uint64        `json:"cursor"`
		Entries []wantedEntry `json:"entries"`
	} `json:"value"`
}

type localExpected struct {
	Report struct {
		Engine struct {
			OK    bool `json:"ok"`
			Value struct {
				Cursor uint64          `json:"cursor"`
				Tail   uint64          `json:"max_seq"`
				Replay json.RawMessage `json:"replay"`
			} `json:"value"`
		} `json:"engine"`
		Redb2 library `json:"redb2"`
		Redb4 library `json:"redb4"`
	} `json:"engine_and_library_report"`
}

func expectedOf[T any](t testing.TB, path string) (out T) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// unpackedLog writes the file of a fixture to a folder of the test.
func unpackedLog(t testing.TB, fixture string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(fixture, "wal.redb.gz"))
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if data, err = io.ReadAll(z); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), arkflow.FileName)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

var night = time.Date(2026, time.November, 30, 3, 0, 0, 0, time.UTC)

func logReader() *arkflow.Logs { return arkflow.NewLogs(arkflow.Options{Clock: clock.NewFake(night)}) }

func problemCodes(l arkflow.WriteAheadLog) []string {
	out := []string{}
	for _, p := range l.Problems {
		out = append(out, p.Code)
	}
	return out
}

// localProblems are what is wrong with the fixtures, besides those that can't be
// read at all. The others have no problem.
var localProblems = map[string][]string{
	"bad-entry-clean":          {arkflow.ProblemPage},
	"bad-slot-primary-clean":   {arkflow.ProblemSlot},
	"bad-slot-primary-unclean": {arkflow.ProblemRolledBack},
	"bad-table-tree-unclean":   {arkflow.ProblemRolledBack},
	"torn-length":              {arkflow.ProblemFileShort},
	"truncated-clean":          {arkflow.ProblemPage, arkflow.ProblemFileShort},
	"truncated-unclean":        {arkflow.ProblemFileShort},
	"zero-length":              {arkflow.ProblemFileEmpty},
	// No engine: the payloads are no batches.
	"example-v2": {arkflow.ProblemUndecodable},
}

// Every file of a real engine gives the cursor, tail and entries that the real
// code reads, or is refused as the real code refuses it; and is not touched.
func TestLocalLogsAreReadAsByTheEngine(t *testing.T) {
	fixtures, err := filepath.Glob(localFixtures + "*/*")
	if err != nil || len(fixtures) < 40 {
		t.Fatal(len(fixtures), err)
	}
	for _, fixture := range fixtures {
		name := filepath.Base(fixture)
		if name == "FuzzRead" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			want := expectedOf[localExpected](t, filepath.Join(fixture, "expected.json"))
			path := unpackedLog(t, fixture)
			before := fileAt(t, path)
			ask := arkflow.Question{Entries: true}
			got, err := logReader().Read(context.Background(), path, ask)
			if after := fileAt(t, path); after != before {
				t.Error("the file is no longer what it was")
			}
			packed, packedErr := logReader().Read(context.Background(), fixture, ask)
			if (err == nil) != (packedErr == nil) || err == nil && !slices.Equal(got.Listed, packed.Listed) {
				t.Errorf("the packed file: %v, the file: %v", packedErr, err)
			}
			says := want.Report.Redb2
			if !says.OK && want.Report.Redb4.OK {
				says = want.Report.Redb4
			}
			problems := localProblems[name]
			if !says.OK && problems == nil {
				if fault.KindOf(err) != fault.Corrupt || fault.Of(err).Hint == "" {
					t.Fatalf("%v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(problemCodes(got), append([]string{}, problems...)) {
				for _, p := range got.Problems {
					t.Errorf("%s %s: %s", p.Severity, p.Code, p.Message)
				}
			}
			if !got.Stable {
				t.Error("not stable")
			}
			if !says.OK {
				return // shorter than its header says, or empty: the library panics or refuses
			}
			if *got.Cursor != says.Value.Cursor || *got.Count != uint64(len(says.Value.Entries)) {
				t.Errorf("cursor %d, %d entries, want %d and %d", *got.Cursor, *got.Count, says.Value.Cursor, len(says.Value.Entries))
			}
			if e := want.Report.Engine; e.OK && (*got.Cursor != e.Value.Cursor || *got.Tail != e.Value.Tail) {
				t.Errorf("cursor %d, tail %d; the engine says %d and %d", *got.Cursor, *got.Tail, e.Value.Cursor, e.Value.Tail)
			}
			compareEntries(t, got.Listed, says.Value.Entries)
			var replay []uint64
			if err := json.Unmarshal(want.Report.Engine.Value.Replay, &replay); err == nil {
				compareWindow(t, got, replay)
			}
		})
	}
}

type fileSnapshot struct {
	modified time.Time
	data     string
}

func fileAt(t testing.TB, path string) fileSnapshot {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return fileSnapshot{info.ModTime(), string(data)}
}

func compareEntries(t *testing.T, got []arkflow.Entry, want []wantedEntry) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d entries, want %d", len(got), len(want))
	}
	for i, e := range got {
		if w := want[i]; e.Sequence != w.Sequence || e.Acked != w.Acked || e.PayloadBytes != w.Length || e.PayloadSHA256 != w.Hash {
			t.Errorf("%+v, want %+v", e, w)
		}
	}
}

// compareWindow compares the replay window with what the engine would replay.
func compareWindow(t *testing.T, got arkflow.WriteAheadLog, replay []uint64) {
	t.Helper()
	if len(replay) == 0 {
		if got.Window != nil {
			t.Errorf("%+v, and the engine replays nothing", got.Window)
		}
		return
	}
	slices.Sort(replay)
	if got.Window == nil || got.Window.Entries != uint64(len(replay)) || got.Window.To != replay[len(replay)-1] {
		t.Fatalf("%+v, and the engine replays %v", got.Window, replay)
	}
	var gaps []arkflow.Span
	for next := got.Window.From; len(replay) > 0; replay = replay[1:] {
		if replay[0] != next {
			gaps = append(gaps, arkflow.Span{From: next, To: replay[0] - 1})
		}
		next = replay[0] + 1
	}
	if !slices.Equal(gaps, append([]arkflow.Span(nil), got.Gaps...)) {
		t.Errorf("gaps %v, want %v", got.Gaps, gaps)
	}
}

type objectExpected struct {
	Prefix   string `json:"prefix"`
	Node     string `json:"node_id"`
	Stream   string `json:"stream_id"`
	Recovery struct {
		Cursor *uint64  `json:"cursor"`
		Replay []uint64 `json:"replay"`
		Error  string   `json:"open_error"`
	} `json:"engine_recovery"`
	Segments map[string]struct {
		Bytes    int64         `json:"object_bytes"`
		Consumed int64         `json:"bytes_consumed"`
		Torn     bool          `json:"torn"`
		Entries  []wantedEntry `json:"entries"`
	} `json:"engine_segment_decode"`
}

var objectProblems = map[string][]string{
	"s3-bad-manifest":    {arkflow.ProblemManifestInvalid},
	"s3-bad-middle":      {arkflow.ProblemGap, arkflow.ProblemSegmentCorrupt, arkflow.ProblemGapBelowCursor},
	"s3-bad-sequence":    {arkflow.ProblemGap, arkflow.ProblemOutOfOrder},
	"s3-gap":             {arkflow.ProblemGap},
	"s3-missing-segment": {arkflow.ProblemGap, arkflow.ProblemSegmentMissing, arkflow.ProblemGapBelowCursor},
	"s3-no-manifest":     {arkflow.ProblemManifestMissing},
	"s3-torn-newest":     {arkflow.ProblemSealedPastTail, arkflow.ProblemSegmentTorn},
	"s3-unreferenced":    {arkflow.ProblemSegmentOrphan},
}

// Every bucket that the engine's own code wrote gives what that code reads of it.
func TestObjectLogsAreReadAsByTheEngine(t *testing.T) {
	fixtures, err := filepath.Glob("testdata/wal-s3/*")
	if err != nil || len(fixtures) != 17 {
		t.Fatal(len(fixtures), err)
	}
	for _, fixture := range fixtures {
		name := filepath.Base(fixture)
		t.Run(name, func(t *testing.T) {
			want := expectedOf[objectExpected](t, filepath.Join(fixture, "expected.json"))
			place := filepath.Join(fixture, "bucket")
			if len(want.Segments) > 0 { // also by the log's own folder
				place = filepath.Join(place, want.Prefix, want.Node, want.Stream)
			}
			got, err := logReader().Read(context.Background(), place, arkflow.Question{Entries: true})
			if err != nil {
				t.Fatal(err)
			}
			compareObjects(t, name, got, want)
		})
	}
}

func compareObjects(t *testing.T, name string, got arkflow.WriteAheadLog, want objectExpected) {
	t.Helper()
	if !slices.Equal(problemCodes(got), append([]string{}, objectProblems[name]...)) {
		for _, p := range got.Problems {
			t.Errorf("%s %s: %s", p.Severity, p.Code, p.Message)
		}
	}
	if got.Node != want.Node || got.Stream != want.Stream || got.Backend != arkflow.ObjectStore {
		t.Errorf("node %s, stream %s", got.Node, got.Stream)
	}
	var entries []wantedEntry
	for key, s := range want.Segments {
		i := slices.IndexFunc(got.Segments, func(g arkflow.Segment) bool { return strings.HasSuffix(key, "/"+g.Name) })
		if i < 0 {
			t.Errorf("%s is not there", key)
			continue
		}
		g := got.Segments[i]
		if g.Bytes != s.Bytes || *g.Entries != uint64(len(s.Entries)) || (g.State == arkflow.SegmentWhole) == s.Torn {
			t.Errorf("%+v, want %+v", g, s)
		}
		for _, c := range got.Corrupt {
			if c.Source == g.Name && c.Offset != s.Consumed {
				t.Errorf("damaged at byte %d, and the engine reads %d", c.Offset, s.Consumed)
			}
		}
		entries = append(entries, s.Entries...)
	}
	slices.SortFunc(entries, func(a, b wantedEntry) int { return int(a.Sequence) - int(b.Sequence) })
	if want.Recovery.Error != "" {
		if got.Cursor != nil || *got.Count != uint64(len(entries)) {
			t.Errorf("cursor %v, %d entries; the engine says %s", got.Cursor, *got.Count, want.Recovery.Error)
		}
		return
	}
	for i := range entries {
		entries[i].Acked = entries[i].Sequence <= *want.Recovery.Cursor
	}
	if *got.Cursor != *want.Recovery.Cursor || *got.Count != uint64(len(entries)) {
		t.Errorf("cursor %d, %d entries, want %d and %d", *got.Cursor, *got.Count, *want.Recovery.Cursor, len(entries))
	}
	compareEntries(t, got.Listed, entries)
	compareWindow(t, got, want.Recovery.Replay)
}

// What the cursor means is told by what only one generation of the engine does.
func TestWhatTheCursorMeans(t *testing.T) {
	for name, want := range map[string]arkflow.Rule{
		"skipped-record":          arkflow.HighWater, // 20, and record 9 was never delivered
		"clean-pending":           arkflow.HighWater,
		"empty-unclean":           arkflow.HighWater,
		"lib-v2-reclaimed":        arkflow.Contiguous,
		"lib-v2-all-committed":    arkflow.Contiguous,
		"lib-v3-clean":            arkflow.Contiguous,
		"lib-v3-reclaimed":        arkflow.Contiguous,
		"lib-v3-by-redb2-unclean": arkflow.RuleUnknown,
	} {
		got, err := logReader().Read(context.Background(), localFixtures+"wal-local/"+name, arkflow.Question{})
		if err != nil || got.CursorRule.Rule != want || got.CursorRule.Why == "" {
			t.Errorf("%s: %+v, want %s, %v", name, got.CursorRule, want, err)
		}
	}
}

// The window alone says the same of a file as the whole of it, where nothing
// outside is damaged; and what was not looked at is said.
func TestTheWindowAlone(t *testing.T) {
	for _, name := range []string{"deep", "after-hot-kill", "clean-acked", "no-cursor", "empty-clean", "lib-v3-reclaimed", "lib-v2-rewound", "truncated-unclean"} {
		whole, err := logReader().Read(context.Background(), localFixtures+"wal-local/"+name, arkflow.Question{Extent: arkflow.ReadAll})
		if err != nil {
			t.Fatal(err)
		}
		window, err := logReader().Read(context.Background(), localFixtures+"wal-local/"+name, arkflow.Question{Extent: arkflow.ReadWindow})
		if err != nil {
			t.Fatal(err)
		}
		if window.Read != arkflow.ReadWindow || len(window.Unchecked) == 0 || window.Bytes.Payloads != nil {
			t.Errorf("%s: %s, %v", name, window.Read, window.Unchecked)
		}
		if *window.Cursor != *whole.Cursor || *window.Tail != *whole.Tail || *window.Count != *whole.Count || !slices.Equal(window.Runs, whole.Runs) || !slices.Equal(window.Gaps, whole.Gaps) {
			t.Errorf("%s: %+v, want %+v", name, window, whole)
		}
		if (window.Window == nil) != (whole.Window == nil) || whole.Window != nil && *window.Window.Bytes != *whole.Window.Bytes {
			t.Errorf("%s: %+v, want %+v", name, window.Window, whole.Window)
		}
	}
}

// A file that no start gets over is read where that is asked for.
func TestSalvage(t *testing.T) {
	want := expectedOf[localExpected](t, localFixtures+"wal-local/unclean-pending/expected.json").Report.Redb2.Value.Entries
	got, err := logReader().Read(context.Background(), localFixtures+"wal-local/bad-entry-unclean", arkflow.Question{Salvage: true, Entries: true})
	if err != nil {
		t.Fatal(err)
	}
	if c := problemCodes(got); c[0] != arkflow.ProblemRefused || !slices.Contains(c, arkflow.ProblemPage) || *got.Cursor != 13 || *got.Tail != 20 {
		t.Errorf("%v, cursor %d, tail %d", c, *got.Cursor, *got.Tail)
	}
	if len(got.Listed) != len(want) {
		t.Fatalf("%d entries", len(got.Listed))
	}
	for i, e := range got.Listed {
		same := e.PayloadSHA256 == want[i].Hash
		if same == (e.Sequence == 15) || !same && !e.Suspect {
			t.Errorf("%+v: sequence 15 was changed", e)
		}
	}
}

// The oldest entry's age is what the input has stamped on it.
func TestTheOldestEntry(t *testing.T) {
	got, err := logReader().Read(context.Background(), localFixtures+"wal-local/kafka-meta", arkflow.Question{})
	if err != nil {
		t.Fatal(err)
	}
	stamped := time.Time{}
	for _, e := range expectedOf[localExpected](t, localFixtures+"wal-local/kafka-meta/expected.json").Report.Redb2.Value.Entries {
		if e.Sequence != 11 {
			continue
		}
		for _, c := range e.Columns {
			if c.Name == "__meta_ingest_time" {
				stamped, err = time.Parse("2006-01-02T15:04:05.999999999", *c.Values[0])
			}
		}
	}
	if err != nil || got.Oldest == nil || got.Oldest.Sequence != 11 || !got.Oldest.Time.Equal(stamped) || got.Oldest.AgeMs != night.Sub(stamped).Milliseconds() {
		t.Errorf("%+v, want %s, %v", got.Oldest, stamped, err)
	}
	got, err = logReader().Read(context.Background(), localFixtures+"wal-local/clean-pending", arkflow.Question{})
	if err != nil || got.Oldest != nil {
		t.Errorf("%+v: nothing stamps these, %v", got.Oldest, err)
	}
}
