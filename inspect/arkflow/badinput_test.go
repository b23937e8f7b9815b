package arkflow_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/pierrec/lz4/v4"

	"github.com/recoverctl/recoverctl/inspect/arkflow"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

func put(t testing.TB, path string, data []byte) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Each bad file is one sentence of the right kind, with what to do next.
func TestFilesThatAreNoLogs(t *testing.T) {
	whole, err := os.ReadFile(unpackedLog(t, localFixtures+"wal-local/clean-pending"))
	if err != nil {
		t.Fatal(err)
	}
	packed, err := os.ReadFile(localFixtures + "wal-local/clean-pending/wal.redb.gz")
	if err != nil {
		t.Fatal(err)
	}
	noise := make([]byte, 1<<20)
	random := rand.NewChaCha8([32]byte{})
	if _, err := random.Read(noise); err != nil {
		t.Fatal(err)
	}
	header := func(at int, b ...byte) []byte {
		out := slices.Clone(whole)
		copy(out[at:], b)
		return out
	}
	for what, c := range map[string]struct {
		data []byte
		kind fault.Kind
		says string
	}{
		"zeros":               {make([]byte, 1<<20), fault.Corrupt, "begins with zeros"},
		"random":              {noise, fault.Corrupt, "not as a redb database does"},
		"one byte":            {[]byte{'r'}, fault.Corrupt, "has 1 bytes"},
		"the header alone":    {whole[:4096], fault.Corrupt, "outside the file"},
		"an unknown god byte": {header(9, 0xff), fault.Corrupt, "god byte"},
		"a huge page size":    {header(12, 0, 0, 0, 0x7f), fault.Corrupt, "page size"},
		"huge regions":        {header(20, 0xff, 0xff, 0xff, 0xff), fault.Corrupt, "regions"},
		"gzip cut off":        {packed[:len(packed)/2], fault.Corrupt, "can't be unpacked"},
		"gzip of nothing":     {[]byte{0x1f, 0x8b, 8}, fault.Corrupt, "can't be unpacked"},
	} {
		path := put(t, filepath.Join(t.TempDir(), arkflow.FileName), c.data)
		_, err := logReader().Read(context.Background(), path, arkflow.Question{})
		f := fault.Of(err)
		if fault.KindOf(err) != c.kind || !strings.Contains(err.Error(), c.says) || f.Hint == "" || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// What redb 2.6.3 and 4.6.0 made of such files is told, with what to do.
func TestFilesThatAStartReadsOtherwise(t *testing.T) {
	const god, primary, recovery = 9, 1, 2
	for what, c := range map[string]struct {
		fixture  string
		change   func([]byte) []byte
		problems []string
		says     string
	}{
		"closed and opened again, damaged": {"bad-entry-clean", reopened, []string{arkflow.ProblemPage}, "does not look at checksums"},
		"closed and opened again, whole":   {"clean-pending", reopened, nil, ""},
		"closed, a page longer":            {"clean-pending", longer, []string{arkflow.ProblemFileUnopenable}, "cut it to 3,686,400 bytes"},
		"killed, a page longer":            {"unclean-pending", longer, nil, ""},
		"killed, a byte longer":            {"unclean-pending", func(b []byte) []byte { return append(b, 0) }, []string{arkflow.ProblemFileUnopenable}, "cut it to 1,589,248 bytes"},
		"format 3, closed, a page longer":  {"lib-v3-clean", longer, []string{arkflow.ProblemFileLong}, "an engine opens it"},
		"killed, and the mark of that is gone": {"after-hot-kill", func(b []byte) []byte {
			b[god] &^= recovery
			return b
		}, []string{arkflow.ProblemCloseDoubtful}, "redb 2.6 panics"},
		"format 3, the marks of the last commit and of its end are gone": {"lib-v3-reclaimed", func(b []byte) []byte {
			b[god] = primary // redb 4.6.0 reads the newer commit nevertheless: 11 entries, cursor 23
			return b
		}, []string{arkflow.ProblemCloseDoubtful}, ""},
	} {
		t.Run(what, func(t *testing.T) {
			f := logChanged(t, c.fixture, c.change)
			if f.LogFault != nil {
				t.Fatal(f.LogFault)
			}
			if stops := slices.Contains(c.problems, arkflow.ProblemFileUnopenable); stops != strings.HasPrefix(f.Log.Headline(), "an engine may not get over") {
				t.Errorf("%s", f.Log.Headline())
			}
			if got := problemCodes(*f.Log); !slices.Equal(got, append([]string{}, c.problems...)) {
				t.Fatalf("%v: %+v", got, f.Log.Problems)
			}
			if len(c.problems) > 0 && !strings.Contains(f.Log.Problems[0].Message+" "+f.Log.Problems[0].Next, c.says) {
				t.Errorf("%+v", f.Log.Problems[0])
			}
			want := expectedOf[localExpected](t, filepath.Join(localFixtures, "wal-local", c.fixture, "expected.json"))
			says := want.Report.Redb2
			if !says.OK {
				says = want.Report.Redb4
			}
			if *f.Log.Cursor != says.Value.Cursor || *f.Log.Count != uint64(len(says.Value.Entries)) {
				t.Errorf("cursor %d and %d entries; the library has %d and %d", *f.Log.Cursor, *f.Log.Count, says.Value.Cursor, len(says.Value.Entries))
			}
		})
	}
}

func TestPlacesThatAreNoLogs(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "two", "a", "wal.redb"), nil)
	put(t, filepath.Join(dir, "two", "b", "manifest.json"), []byte("{}"))
	put(t, filepath.Join(dir, "none", "x", "notes.txt"), nil)
	put(t, filepath.Join(dir, "one", "streams", "orders", "wal.redb"), nil)
	hidden := put(t, filepath.Join(dir, "hidden.redb"), []byte("x"))
	if err := os.Chmod(hidden, 0); err != nil {
		t.Fatal(err)
	}
	for place, want := range map[string]struct {
		kind fault.Kind
		says string
	}{
		"":                             {fault.Usage, "empty"},
		filepath.Join(dir, "absent"):   {fault.NotFound, "nothing at"},
		filepath.Join(dir, "none"):     {fault.NotFound, "no write-ahead log"},
		filepath.Join(dir, "two"):      {fault.Usage, "2 write-ahead logs"},
		"s3://bucket/key":              {fault.Usage, "can't be read"},
		"http://host/wal.redb":         {fault.Usage, "can't be read"},
		"file:relative":                {fault.Usage, "absolute"},
		filepath.Join(hidden, "below"): {fault.NotFound, "nothing at"},
		"/dev/null":                    {fault.Usage, "no regular file"},
	} {
		_, err := logReader().Read(context.Background(), place, arkflow.Question{})
		if fault.KindOf(err) != want.kind || !strings.Contains(err.Error(), want.says) || fault.Of(err).Hint == "" {
			t.Errorf("%q: %v", place, err)
		}
	}
	if os.Getuid() != 0 { // whom no mode keeps out
		if _, err := logReader().Read(context.Background(), hidden, arkflow.Question{}); fault.KindOf(err) != fault.Denied {
			t.Errorf("%v", err)
		}
	}
	if l, err := logReader().Read(context.Background(), "file:"+filepath.Join(dir, "one"), arkflow.Question{}); err != nil || *l.Tail != 0 {
		t.Errorf("%+v, %v", l, err)
	}
}

// The one log that was found below a folder stands for it only where all was looked at.
func TestALogBelowAFolderThatWasNotSearchedWhole(t *testing.T) {
	file, err := os.ReadFile(unpackedLog(t, localFixtures+"wal-local/clean-acked"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	put(t, filepath.Join(dir, "a", arkflow.FileName), file)
	if l, err := logReader().Read(context.Background(), dir, arkflow.Question{}); err != nil || l.Cursor == nil {
		t.Fatalf("%+v, %v", l, err)
	}
	for n := range 600 {
		if err := os.MkdirAll(filepath.Join(dir, fmt.Sprintf("n%03d", n)), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	put(t, filepath.Join(dir, "z", arkflow.FileName), file)
	_, err = logReader().Read(context.Background(), dir, arkflow.Question{})
	if fault.KindOf(err) != fault.Usage || !strings.Contains(err.Error(), "may not be the only one") || !strings.Contains(fault.Of(err).Hint, dir) {
		t.Errorf("%v, %s", err, fault.Of(err).Hint)
	}
	if err := os.Remove(filepath.Join(dir, "a", arkflow.FileName)); err != nil {
		t.Fatal(err)
	}
	if _, err := logReader().Read(context.Background(), dir, arkflow.Question{}); fault.KindOf(err) != fault.Usage {
		t.Errorf("%v", err)
	}
}

// A redb file of something else is not called an empty log.
func TestARedbFileOfAnotherKind(t *testing.T) {
	_, err := logReader().Read(context.Background(), "testdata/state.redb.gz", arkflow.Question{})
	if fault.KindOf(err) != fault.Corrupt || !strings.Contains(err.Error(), "job_state") {
		t.Errorf("%v", err)
	}
}

// A page that hides the cursor, or entries, makes them unknown, and no cursor of 0 and
// no empty window. A newest commit that is not flushed is told.
func TestPagesThatHideWhatCounts(t *testing.T) {
	file, err := os.ReadFile(unpackedLog(t, localFixtures+"wal-local/clean-pending"))
	if err != nil {
		t.Fatal(err)
	}
	// The newest page that holds a text is the one in force: older ones are copies.
	page := func(text string) (at int) {
		return bytes.LastIndex(file, []byte(text)) &^ 4095
	}
	for name, c := range map[string]struct {
		change  func([]byte)
		cursor  bool
		partial bool
	}{
		"as it was written":           {func([]byte) {}, true, false},
		"the page of the cursor":      {func(b []byte) { b[page("\x0e\x00\x00\x00cursor")] = 9 }, false, false},
		"the page of the tables":      {func(b []byte) { b[page("entriesmeta")] = 9 }, false, true},
		"a page of entries":           {func(b []byte) { b[page("__value__")] = 9 }, true, true},
		"a commit that isn't flushed": {func(b []byte) { b[9] = 8 | 2 | b[9]&1 }, true, false},
		"the older commit is named":   {func(b []byte) { b[9] ^= 1 }, true, false}, // of a file that was closed cleanly
	} {
		t.Run(name, func(t *testing.T) {
			data := bytes.Clone(file)
			c.change(data)
			l, err := logReader().Read(context.Background(), put(t, filepath.Join(t.TempDir(), arkflow.FileName), data), arkflow.Question{})
			if err != nil {
				t.Fatal(err)
			}
			if (l.Cursor != nil) != c.cursor || l.Partial != c.partial || c.partial && (l.ReplaysNothing() || !strings.Contains(l.Headline(), "not")) {
				t.Errorf("cursor %v, partial %t: %s, %v", l.Cursor, l.Partial, l.Headline(), problemCodes(l))
			}
			if quiet := len(l.Problems) == 0; quiet != (name == "as it was written") {
				t.Errorf("%v", l.Problems)
			}
		})
	}
}

// While a writer is at work, an answer is that of one moment, or there is none.
func TestAFileThatAWriterChanges(t *testing.T) {
	a, err := os.ReadFile(unpackedLog(t, localFixtures+"wal-local/unclean-pending"))
	if err != nil {
		t.Fatal(err)
	}
	torn, err := os.ReadFile(unpackedLog(t, localFixtures+"wal-local/hot-copy-corrupt"))
	if err != nil {
		t.Fatal(err)
	}
	path := put(t, filepath.Join(t.TempDir(), arkflow.FileName), torn)
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	// The transaction's number moves on, as a writer's does, and pages never fit.
	var n atomic.Uint64
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		for ctx.Err() == nil {
			var b [8]byte
			binary.LittleEndian.PutUint64(b[:], n.Add(1))
			if _, err := file.WriteAt(b[:], 64+104); err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	l, err := logReader().Read(context.Background(), path, arkflow.Question{})
	stop()
	if writeErr := <-done; writeErr != nil {
		t.Fatal(writeErr)
	}
	if err != nil || l.Stable || l.Cursor != nil || l.Tail != nil || l.Count != nil || problemCodes(l)[0] != arkflow.ProblemUnstable {
		t.Errorf("%+v, %v", l, err)
	}
	// The same file at rest is corrupt, and a whole one is a log again.
	if _, err := logReader().Read(context.Background(), path, arkflow.Question{}); fault.KindOf(err) != fault.Corrupt {
		t.Errorf("%v", err)
	}
	put(t, path, a)
	if l, err := logReader().Read(context.Background(), path, arkflow.Question{}); err != nil || !l.Stable || *l.Cursor != 13 {
		t.Errorf("%+v, %v", l, err)
	}
}

func TestReadingALogCanBeEnded(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, place := range []string{unpackedLog(t, localFixtures+"wal-local/deep"), localFixtures + "wal-local/deep", "testdata/wal-s3/s3-pending/bucket"} {
		if _, err := logReader().Read(ctx, place, arkflow.Question{}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", place, err)
		}
	}
}

// record is one of a segment, as the engine writes it.
func record(n uint64, payload string) []byte {
	b := binary.BigEndian.AppendUint64(nil, n)
	b = binary.BigEndian.AppendUint32(b, uint32(len(payload)))
	b = append(b, payload...)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE([]byte(payload)))
}

// bucketOf writes a log of segments, of which each is the records of sequences.
func bucketOf(t testing.TB, manifest string, segments map[string][]byte) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "node-a", "orders")
	for name, data := range segments {
		put(t, filepath.Join(dir, "segments", name), data)
	}
	if manifest != "" {
		put(t, filepath.Join(dir, "manifest.json"), []byte(manifest))
	}
	return dir
}

func records(sequences ...uint64) []byte {
	var out []byte
	for _, n := range sequences {
		out = append(out, record(n, "\x00\x00\x00\x00x")...)
	}
	return out
}

// lz4Of packs as the engine's encoder does: one raw block, without its size.
func lz4Of(tb testing.TB, data []byte) []byte {
	tb.Helper()
	out := make([]byte, lz4.CompressBlockBound(len(data)))
	n, err := lz4.CompressBlock(data, out, nil)
	if err != nil || n == 0 {
		tb.Fatalf("%d bytes, %v", n, err)
	}
	return out[:n]
}

// What a packed segment would hold is told, though no engine replays it.
func TestAPackedSegmentIsUnpacked(t *testing.T) {
	const manifest = `{"version":2,"cursor":0,"max_sealed_seq":900,"active_segment":"00000001.wal","active_segment_compression":"lz4","sealed_segments":[]}`
	var sequences []uint64
	for n := range uint64(900) {
		sequences = append(sequences, n+1)
	}
	dir := bucketOf(t, manifest, map[string][]byte{"00000001.wal": lz4Of(t, records(sequences...))})
	l, err := logReader().Read(context.Background(), dir, arkflow.Question{})
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(l.Problems, func(p arkflow.Problem) bool { return p.Code == arkflow.ProblemSegmentCompacted })
	if at < 0 || !strings.Contains(l.Problems[at].Message, "packed by lz4") || !strings.Contains(l.Problems[at].Message, "900 entries") || *l.Tail != 0 {
		t.Errorf("tail %d, %+v", *l.Tail, l.Problems)
	}
}

// Logs of an object store that no fixture has: each with the problems that it must
// have, and no others but those of payloads that are none.
func TestObjectLogsWithDefects(t *testing.T) {
	const manifest = `{"version":2,"cursor":4,"max_sealed_seq":9,"active_segment":"00000003.wal","sealed_segments":["00000001.wal","00000002.wal"]}`
	packed := strings.Replace(manifest, `"sealed`, `"active_segment_compression":"lz4","sealed`, 1)
	three := func(change func(map[string][]byte)) map[string][]byte {
		m := map[string][]byte{"00000001.wal": records(1, 2, 3), "00000002.wal": records(4, 5, 6), "00000003.wal": records(7, 8, 9)}
		change(m)
		return m
	}
	flip := func(name string, at int) func(map[string][]byte) {
		return func(m map[string][]byte) { m[name][at] ^= 1 }
	}
	for what, c := range map[string]struct {
		manifest string
		change   func(map[string][]byte)
		want     []string
		tail     uint64
	}{
		"whole":                          {manifest, func(map[string][]byte) {}, nil, 9},
		"overlap":                        {manifest, func(m map[string][]byte) { m["00000003.wal"] = records(6, 7, 8, 9) }, []string{arkflow.ProblemOverlap}, 9},
		"a sequence of a later segment":  {manifest, func(m map[string][]byte) { m["00000001.wal"] = records(1, 2, 19) }, []string{arkflow.ProblemOutOfOrder, arkflow.ProblemGap, arkflow.ProblemGapBelowCursor}, 19},
		"a record twice":                 {manifest, func(m map[string][]byte) { m["00000003.wal"] = records(7, 8, 8, 9) }, []string{arkflow.ProblemOutOfOrder, arkflow.ProblemOverlap}, 9},
		"torn in the middle":             {manifest, func(m map[string][]byte) { m["00000002.wal"] = m["00000002.wal"][:25] }, []string{arkflow.ProblemGap, arkflow.ProblemSegmentCorrupt}, 9},
		"a flipped payload":              {manifest, flip("00000002.wal", 13), []string{arkflow.ProblemGap, arkflow.ProblemSegmentCorrupt, arkflow.ProblemGapBelowCursor}, 9},
		"a flipped length":               {manifest, flip("00000003.wal", 8), []string{arkflow.ProblemSealedPastTail, arkflow.ProblemSegmentTorn}, 6},
		"an empty segment":               {manifest, func(m map[string][]byte) { m["00000002.wal"] = nil }, []string{arkflow.ProblemGap, arkflow.ProblemGapBelowCursor}, 9},
		"the newest is gone":             {manifest, func(m map[string][]byte) { delete(m, "00000003.wal") }, []string{arkflow.ProblemSegmentMissing, arkflow.ProblemSealedPastTail}, 6},
		"the oldest is gone":             {manifest, func(m map[string][]byte) { delete(m, "00000001.wal") }, []string{arkflow.ProblemSegmentMissing}, 9},
		"packed by zstd":                 {manifest, func(m map[string][]byte) { m["00000003.wal"] = []byte("\x28\xb5\x2f\xfd\x00") }, []string{arkflow.ProblemSealedPastTail, arkflow.ProblemSegmentCompacted}, 6},
		"packed by lz4":                  {packed, func(m map[string][]byte) { m["00000003.wal"] = lz4Of(t, m["00000003.wal"]) }, []string{arkflow.ProblemSealedPastTail, arkflow.ProblemSegmentCompacted}, 6},
		"lz4 in the manifest alone":      {packed, func(map[string][]byte) {}, nil, 9},
		"packed by lz4 without a word":   {manifest, func(m map[string][]byte) { m["00000003.wal"] = lz4Of(t, m["00000003.wal"]) }, []string{arkflow.ProblemSealedPastTail, arkflow.ProblemSegmentTorn}, 6},
		"lz4 that is cut off":            {packed, func(m map[string][]byte) { m["00000003.wal"] = lz4Of(t, m["00000003.wal"])[:13] }, []string{arkflow.ProblemSealedPastTail, arkflow.ProblemSegmentTorn}, 6},
		"a name that is none":            {manifest, func(m map[string][]byte) { m["00000004.tmp"] = nil }, []string{arkflow.ProblemSegmentName}, 9},
		"a manifest of nothing":          {" ", func(map[string][]byte) {}, []string{arkflow.ProblemManifestInvalid}, 9},
		"a manifest that is a page":      {"<html>", func(map[string][]byte) {}, []string{arkflow.ProblemManifestInvalid}, 9},
		"a manifest with another cursor": {`{"cursor":"4"}`, func(map[string][]byte) {}, []string{arkflow.ProblemManifestInvalid}, 9},
		"a manifest without a cursor":    {`{}`, func(map[string][]byte) {}, []string{arkflow.ProblemManifestInvalid}, 9},
		"a negative cursor":              {`{"cursor":-1}`, func(map[string][]byte) {}, []string{arkflow.ProblemManifestInvalid}, 9},
		"two documents":                  {manifest + "{}", func(map[string][]byte) {}, []string{arkflow.ProblemManifestInvalid}, 9},
		"a cursor past the tail":         {strings.Replace(manifest, `"cursor":4`, `"cursor":12`, 1), func(map[string][]byte) {}, []string{arkflow.ProblemCursorPastTail}, 9},
		"the greatest cursor":            {strings.Replace(manifest, `"cursor":4`, `"cursor":18446744073709551615`, 1), func(map[string][]byte) {}, []string{arkflow.ProblemCursorPastTail}, 9},
	} {
		t.Run(what, func(t *testing.T) {
			l, err := logReader().Read(context.Background(), bucketOf(t, c.manifest, three(c.change)), arkflow.Question{})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, p := range l.Problems {
				if p.Code != arkflow.ProblemUndecodable { // these payloads are no batches
					got = append(got, p.Code)
				}
				if p.Message == "" || p.Next == "" || safetext.Of(p.Message).String() != p.Message {
					t.Errorf("%+v", p)
				}
			}
			slices.Sort(got)
			want := slices.Clone(c.want)
			slices.Sort(want)
			if !slices.Equal(got, want) || *l.Tail != c.tail {
				t.Errorf("%v, tail %d, want %v, %d", got, *l.Tail, want, c.tail)
			}
		})
	}
}

// FuzzSegment changes a segment: what is read of it lies in it, and reading it
// twice says the same.
func FuzzSegment(f *testing.F) {
	for _, path := range []string{"s3-pending", "s3-gap", "s3-multi-row"} {
		data, err := os.ReadFile("testdata/wal-s3/" + path + "/bucket/wal/node-a/orders-eu/segments/00000001.wal")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add(records(1, 2, 2, 1))
	f.Fuzz(func(t *testing.T, data []byte) {
		dir := bucketOf(t, `{"cursor":1,"sealed_segments":["00000001.wal"]}`, map[string][]byte{"00000001.wal": data})
		l, err := logReader().Read(context.Background(), dir, arkflow.Question{Entries: true})
		if err != nil {
			t.Fatal(err)
		}
		var size int64
		for _, e := range l.Listed {
			size += e.PayloadBytes + 16
		}
		if size > int64(len(data)) && !strings.HasPrefix(string(data), "\x28\xb5\x2f\xfd") {
			t.Errorf("records of %d bytes in a segment of %d", size, len(data))
		}
		for _, g := range l.Gaps {
			if g.To < g.From || g.From <= *l.Cursor || g.To > *l.Tail {
				t.Errorf("gap %+v, cursor %d, tail %d", g, *l.Cursor, *l.Tail)
			}
		}
	})
}

// FuzzPackedSegment changes a segment that its manifest calls packed: nothing is read
// of it that no engine would replay, and it is unpacked within bounds.
func FuzzPackedSegment(f *testing.F) {
	f.Add(lz4Of(f, records(1, 2, 3, 4, 5, 6, 7, 8, 9)))
	f.Add(records(1, 2, 3))
	f.Add([]byte("\x28\xb5\x2f\xfd\x00"))
	f.Add([]byte{0x1f, 0, 1, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0x10})
	f.Fuzz(func(t *testing.T, data []byte) {
		dir := bucketOf(t, `{"cursor":0,"active_segment":"00000001.wal","active_segment_compression":"lz4"}`, map[string][]byte{"00000001.wal": data})
		l, err := logReader().Read(context.Background(), dir, arkflow.Question{Entries: true})
		if err != nil {
			t.Fatal(err)
		}
		packed := slices.ContainsFunc(l.Problems, func(p arkflow.Problem) bool { return p.Code == arkflow.ProblemSegmentCompacted })
		var size int64
		for _, e := range l.Listed {
			size += e.PayloadBytes + 16
		}
		if packed && len(l.Listed) > 0 || size > int64(len(data)) {
			t.Errorf("%d entries of %d bytes in a segment of %d, packed %v", len(l.Listed), size, len(data), packed)
		}
	})
}

// FuzzManifest changes a manifest: the log is told, whatever it says.
func FuzzManifest(f *testing.F) {
	for _, path := range []string{"s3-pending", "s3-bad-manifest", "s3-empty"} {
		data, err := os.ReadFile("testdata/wal-s3/" + path + "/bucket/wal/node-a/orders-eu/manifest.json")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, manifest []byte) {
		dir := bucketOf(t, "x", map[string][]byte{"00000001.wal": records(1, 2)})
		put(t, filepath.Join(dir, "manifest.json"), manifest)
		l, err := logReader().Read(context.Background(), dir, arkflow.Question{})
		if err != nil {
			t.Fatal(err)
		}
		if l.Stable && *l.Tail != 2 {
			t.Errorf("tail %d", *l.Tail)
		}
	})
}
