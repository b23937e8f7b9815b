package flink_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/inspect/flink"
	"github.com/recoverctl/recoverctl/internal/clock"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/safetext"
	"github.com/recoverctl/recoverctl/internal/testkit/flinkcases"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func newStore(tb testing.TB, o flink.Options) *flink.Store {
	tb.Helper()
	s, err := flink.New(o)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// sample is a real _metadata file with everything inline.
func sample(tb testing.TB) []byte {
	tb.Helper()
	return flinkcases.Metadata(tb, "versioned-p2", flinkcases.Load(tb, "versioned-p2").Snapshots[0])
}

// write makes files below a temporary folder and returns it. A name that ends in
// a slash is a folder.
func write(tb testing.TB, files map[string][]byte) string {
	tb.Helper()
	dir := tb.TempDir()
	for name, data := range files {
		full := filepath.Join(dir, filepath.FromSlash(name))
		if strings.HasSuffix(name, "/") {
			if err := os.MkdirAll(full, 0o700); err != nil {
				tb.Fatal(err)
			}
			continue
		}
		if err := os.MkdirAll(filepath.Dir(full), 0o700); err != nil {
			tb.Fatal(err)
		}
		if err := os.WriteFile(full, data, 0o600); err != nil {
			tb.Fatal(err)
		}
	}
	return dir
}

func TestOnePointUnderManyNames(t *testing.T) {
	dir := write(t, map[string][]byte{"job/chk-3/_metadata": sample(t), "copied.meta": sample(t)})
	point := path.Join(filepath.ToSlash(dir), "job/chk-3")
	store := newStore(t, flink.Options{Mappings: []flink.Mapping{
		{From: "file:///recorded", To: "/nowhere"},
		{From: "/recorded/longer", To: dir},
		{From: "s3://bucket/checkpoints", To: "file:" + dir},
	}})
	for name, uri := range map[string]string{
		"a folder":                 point,
		"a folder with a slash":    point + "/",
		"one slash":                "file:" + point,
		"three slashes":            "file://" + point,
		"localhost":                "file://localhost" + point,
		"the metadata file":        point + "/_metadata",
		"the file as a URI":        "file:" + point + "/_metadata",
		"a copy of another name":   dir + "/copied.meta",
		"a mapped prefix":          "file:/recorded/longer/job/chk-3",
		"a mapped prefix, slashes": "file:///recorded//longer/job/chk-3/",
		"a mapped object store":    "s3://bucket/checkpoints/job/chk-3",
		"an upper-case scheme":     "FILE:" + point,
	} {
		p, err := store.Point(context.Background(), uri)
		if err != nil || len(p.Markers) != 2 || p.URI != uri {
			t.Errorf("%s: %d markers of %q (%v), want 2 of %q", name, len(p.Markers), p.URI, err, uri)
		}
	}
}

func TestAMappingEndsAtAFolder(t *testing.T) {
	dir := write(t, map[string][]byte{"chk-3/_metadata": sample(t)})
	store := newStore(t, flink.Options{Mappings: []flink.Mapping{{From: "file:/data/check", To: dir}}})
	if _, err := store.Point(context.Background(), "file:/data/checkpoints/chk-3"); fault.KindOf(err) != fault.NotFound {
		t.Errorf("half a name was mapped: %v", err)
	}
}

func TestOtherSchemesAreNotMissing(t *testing.T) {
	store := newStore(t, flink.Options{})
	for _, uri := range []string{"s3://b/k", "s3a://b/k", "hdfs://n:8020/x", "gs://b/k", "abfs://c@a.dfs.core.windows.net/x", "abfss://x/y", "oss://b/k", "wasb://x/y", "viewfs://x/y", "cosn://b/k"} {
		p, err := store.Point(context.Background(), uri)
		if fault.KindOf(err) != fault.Unsupported || !strings.Contains(err.Error(), "not readable from here") {
			t.Errorf("%s: %v (%s), want unsupported: not readable from here", uri, err, fault.KindOf(err))
		}
		if strings.Contains(err.Error(), "no such file") || len(p.Checks) != 0 || p.Merged.Kind != inspect.MergedInvalid {
			t.Errorf("%s: %+v says more than is known", uri, p)
		}
		if _, err := store.Points(context.Background(), uri); fault.KindOf(err) != fault.Unsupported {
			t.Errorf("%s: listed with %v", uri, err)
		}
	}
}

// The old name of S3 has no file system in any Flink of today: what to write is
// said.
func TestTheOldNameOfS3(t *testing.T) {
	_, err := newStore(t, flink.Options{}).Point(context.Background(), "s3n://b/chk-3")
	if f := fault.Of(err); f.Kind != fault.Unsupported || !strings.Contains(f.Error(), "not readable from here") || f.Hint != "write s3://b/chk-3" {
		t.Errorf("%v (%s)", err, f.Hint)
	}
}

func TestURIsThatCannotBe(t *testing.T) {
	store := newStore(t, flink.Options{})
	for _, uri := range []string{"", "  ", "file://otherhost/data/chk-1", "file:relative/chk-1"} {
		if _, err := store.Point(context.Background(), uri); fault.KindOf(err) != fault.Usage {
			t.Errorf("%q: %v (%s), want a usage fault", uri, err, fault.KindOf(err))
		}
	}
	if _, err := store.Point(context.Background(), "a\x00b"); fault.KindOf(err) != fault.NotFound {
		t.Errorf("a name with a zero byte: %v", err)
	}
	if _, err := store.Point(context.Background(), "/tmp/"+strings.Repeat("x", 5000)); fault.KindOf(err) != fault.NotFound {
		t.Errorf("an endless name: %v", err)
	}
	for _, m := range []flink.Mapping{{From: "", To: "/x"}, {From: "/x", To: ""}, {From: "file://host/x", To: "/x"}} {
		if _, err := flink.New(flink.Options{Mappings: []flink.Mapping{m}}); fault.KindOf(err) != fault.Config {
			t.Errorf("mapping %+v: %v, want a config fault", m, err)
		}
	}
}

func TestMissing(t *testing.T) {
	p, err := newStore(t, flink.Options{}).Point(context.Background(), filepath.Join(t.TempDir(), "chk-9"))
	if fault.KindOf(err) != fault.NotFound || p.CheckpointID != -1 {
		t.Errorf("%+v, %v", p, err)
	}
	check(t, p, "L1")
	if fault.Of(err).Hint == "" {
		t.Error("no hint")
	}
}

func withVersion(data []byte, version uint32) []byte {
	out := bytes.Clone(data)
	binary.BigEndian.PutUint32(out[4:], version)
	return out
}

func TestDamagedMetadata(t *testing.T) {
	whole := sample(t)
	tests := map[string]struct {
		data  []byte
		kind  fault.Kind
		check string
	}{
		"empty":         {nil, fault.Corrupt, "M1"},
		"four bytes":    {whole[:4], fault.Corrupt, "M1"},
		"another magic": {append([]byte("PK\x03\x04"), whole[4:]...), fault.Corrupt, "M1"},
		"version 7":     {withVersion(whole, 7), fault.Unsupported, "M2"},
		"version 99":    {withVersion(whole, 99), fault.Unsupported, "M2"},
		"version 1":     {withVersion(whole, 1), fault.Unsupported, "M2"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			dir := write(t, map[string][]byte{"chk-3/_metadata": tt.data})
			p, err := newStore(t, flink.Options{}).Point(context.Background(), dir+"/chk-3")
			expectDamaged(t, p, err)
			if fault.KindOf(err) != tt.kind {
				t.Errorf("kind %s, want %s: %v", fault.KindOf(err), tt.kind, err)
			}
			check(t, p, tt.check)
			if !strings.Contains(err.Error(), "chk-3/_metadata") {
				t.Errorf("the file is not named: %v", err)
			}
		})
	}
}

// Flink restores a file with bytes behind its end; so it is read, and they are told.
func TestBytesBehindTheMetadata(t *testing.T) {
	dir := write(t, map[string][]byte{"chk-2/_metadata": append(sample(t), "left over"...)})
	p, err := newStore(t, flink.Options{}).Point(context.Background(), dir+"/chk-2")
	if err != nil || len(p.Markers) != 2 {
		t.Fatalf("%d markers, %v", len(p.Markers), err)
	}
	if c := check(t, p, "M6"); c.Severity != inspect.SeverityWarning || !strings.Contains(c.Message, "9 bytes behind") {
		t.Errorf("%+v", c)
	}
}

// Where Flink's classes don't hold the checkpoint properties it restores nothing;
// where they are of classes that are not known here, that is not known.
func TestPropertiesThatFlinkDoesNotRead(t *testing.T) {
	for name, c := range map[string]struct {
		old, new string
		severity inspect.Severity
		says     string
	}{
		"a constant that is none": {"FORWARD_BACKWARD", "FORWARD_BACKWARE", inspect.SeverityError, "does not read the checkpoint properties"},
		"another class":           {"checkpoint.CheckpointProperties", "checkpoint.CheckpointProperty_s", inspect.SeverityWarning, "is not known"},
	} {
		t.Run(name, func(t *testing.T) {
			whole := sample(t)
			if !bytes.Contains(whole, []byte(c.old)) {
				t.Fatal("there is no such thing in it")
			}
			dir := write(t, map[string][]byte{"chk-2/_metadata": bytes.Replace(whole, []byte(c.old), []byte(c.new), 1)})
			p, err := newStore(t, flink.Options{}).Point(context.Background(), dir+"/chk-2")
			if err != nil || len(p.Markers) != 2 {
				t.Fatalf("%d markers, %v", len(p.Markers), err)
			}
			if got := check(t, p, inspect.CheckProperties); got.Severity != c.severity || !strings.Contains(got.Message, c.says) || got.Hint == "" {
				t.Errorf("%+v", got)
			}
		})
	}
}

// A truncated file is damaged wherever it ends: never a point with fewer
// markers.
func TestTruncatedEverywhere(t *testing.T) {
	whole := sample(t)
	dir := write(t, map[string][]byte{"chk-3/_metadata": whole})
	store := newStore(t, flink.Options{})
	for n := len(whole) - 1; n >= 0; n -= 50 {
		if err := os.Truncate(filepath.Join(dir, "chk-3/_metadata"), int64(n)); err != nil {
			t.Fatal(err)
		}
		p, err := store.Point(context.Background(), dir+"/chk-3")
		expectDamaged(t, p, err)
		if fault.KindOf(err) != fault.Corrupt {
			t.Errorf("cut at %d: %v", n, err)
		}
	}
}

func expectDamaged(t *testing.T, p inspect.RecoveryPoint, err error) {
	t.Helper()
	if err == nil {
		t.Fatalf("read: %+v", p)
	}
	if p.CheckpointID != -1 || len(p.Markers) != 0 || p.Merged.Kind != inspect.MergedInvalid || p.Merged.Problem == nil {
		t.Errorf("a damaged point says %+v", p)
	}
	if p.WorstCheck() != inspect.SeverityError {
		t.Errorf("no failing check: %+v", p.Checks)
	}
}

func TestFoldersThatAreNoPoints(t *testing.T) {
	now := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	dir := write(t, map[string][]byte{
		"root/0123456789abcdef0123456789abcdef/chk-4/_metadata": sample(t),
		"root/0123456789abcdef0123456789abcdef/chk-9/_metadata": sample(t),
		"root/0123456789abcdef0123456789abcdef/shared/x":        {1},
		"root/0123456789abcdef0123456789abcdef/taskowned/":      nil,
		"stopped/chk-5/._metadata.inprogress.11aa-22":           {1, 2},
		"aborted/chk-6/0a0b":  {1},
		"only-aborted/chk-7/": nil,
		"empty/":              nil,
	})
	old := now.Add(-3 * time.Hour)
	for _, name := range []string{"aborted/chk-6/0a0b", "aborted/chk-6", "root/0123456789abcdef0123456789abcdef/chk-9/_metadata"} {
		if err := os.Chtimes(filepath.Join(dir, name), old, old); err != nil {
			t.Fatal(err)
		}
	}
	store := newStore(t, flink.Options{Clock: clock.NewFake(now)})
	tests := map[string]struct {
		folder, check, says, hint string
		kind                      fault.Kind
	}{
		"being finalized":     {"stopped/chk-5", "L3", "._metadata.inprogress.11aa-22", "another", fault.Corrupt},
		"aborted":             {"aborted/chk-6", "L2", "last changed 3h ago", "another", fault.Corrupt},
		"the root":            {"root", "L4", "a folder above 2 completed snapshots", "chk-4", fault.Usage},
		"a job":               {"root/0123456789abcdef0123456789abcdef", "L4", "2 completed snapshots", "chk-4", fault.Usage},
		"only aborted ones":   {"only-aborted", "L4", "none of them is complete", "elsewhere", fault.Usage},
		"an empty folder":     {"empty", "L2", "no _metadata file", "_metadata", fault.NotFound},
		"the shared folder":   {"root/0123456789abcdef0123456789abcdef/shared", "L2", "no _metadata", "", fault.NotFound},
		"a file that is none": {"aborted/chk-6/0a0b", "M1", "not a Flink metadata file", "", fault.Corrupt},
		"an unfinished file":  {"stopped/chk-5/._metadata.inprogress.11aa-22", "M1", "not a Flink metadata file", "", fault.Corrupt},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			p, err := store.Point(context.Background(), filepath.Join(dir, tt.folder))
			if fault.KindOf(err) != tt.kind {
				t.Fatalf("%v (%s), want %s", err, fault.KindOf(err), tt.kind)
			}
			if c := check(t, p, tt.check); !strings.Contains(c.Message, tt.says) {
				t.Errorf("check says %q, want %q in it", c.Message, tt.says)
			}
			if hint := fault.Of(err).Hint; !strings.Contains(hint, tt.hint) {
				t.Errorf("hint %q, want %q in it", hint, tt.hint)
			}
		})
	}
}

func TestListNewestFirst(t *testing.T) {
	const jobA, jobB = "aaaaaa6789abcdef0123456789abcdef", "bbbbbb6789abcdef0123456789abcdef"
	whole := sample(t)
	withID := func(id byte) []byte {
		out := bytes.Clone(whole)
		binary.BigEndian.PutUint64(out[8:], uint64(id))
		return out
	}
	dir := write(t, map[string][]byte{
		jobA + "/chk-2/_metadata":                 withID(2),
		jobA + "/chk-10/_metadata":                withID(10),
		jobA + "/chk-11/0a0b":                     {1}, // not complete
		jobA + "/chk-9/_metadata":                 withID(9)[:100],
		"savepoint-aaaaaa-0123456789ab/_metadata": withID(5),
		jobB + "/chk-1/_metadata":                 withID(1),
		jobB + "/shared/chk-77/_metadata":         withID(77), // nobody's checkpoint
		"unrelated/notes.txt":                     {1},
	})
	at := time.Date(2026, 11, 29, 0, 0, 0, 0, time.UTC)
	for name, age := range map[string]time.Duration{
		jobA + "/chk-2/_metadata": 9 * time.Hour, jobA + "/chk-10/_metadata": 5 * time.Hour, jobA + "/chk-9/_metadata": 6 * time.Hour,
		"savepoint-aaaaaa-0123456789ab/_metadata": 7 * time.Hour, jobB + "/chk-1/_metadata": time.Hour,
		jobA + "/chk-11": 2 * time.Hour, jobA + "/chk-11/0a0b": 2 * time.Hour,
	} {
		if err := os.Chtimes(filepath.Join(dir, name), at.Add(-age), at.Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	points, err := newStore(t, flink.Options{}).Points(context.Background(), "file:"+dir+"/")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range points {
		got = append(got, strings.TrimPrefix(p.URI, "file:"+dir+"/"))
	}
	want := []string{
		jobB + "/chk-1",
		jobA + "/chk-11", jobA + "/chk-10", jobA + "/chk-9", "savepoint-aaaaaa-0123456789ab", jobA + "/chk-2",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("listed\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for _, p := range points {
		damaged := strings.HasSuffix(p.URI, "chk-11") || strings.HasSuffix(p.URI, "chk-9")
		if damaged != (p.WorstCheck() == inspect.SeverityError) {
			t.Errorf("%s: checks %+v", p.URI, p.Checks)
		}
	}
}

func TestListOfNothing(t *testing.T) {
	store := newStore(t, flink.Options{})
	dir := t.TempDir()
	points, err := store.Points(context.Background(), dir)
	if err != nil || points == nil || len(points) != 0 {
		t.Errorf("an empty folder: %v, %v", points, err)
	}
	if _, err := store.Points(context.Background(), dir+"/none"); fault.KindOf(err) != fault.NotFound {
		t.Errorf("a missing folder: %v", err)
	}
	single := write(t, map[string][]byte{"savepoint-x/_metadata": sample(t)})
	for _, uri := range []string{single + "/savepoint-x", single + "/savepoint-x/_metadata"} {
		if points, err := store.Points(context.Background(), uri); err != nil || len(points) != 1 {
			t.Errorf("%s: %d points, %v", uri, len(points), err)
		}
	}
}

func TestLinksInCircles(t *testing.T) {
	dir := write(t, map[string][]byte{"job/chk-3/_metadata": sample(t)})
	for link, to := range map[string]string{
		"job/again": "..", "self": "self", "job/chk-4": "chk-3", "gone": "nowhere", "job/loop": "../job",
	} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	store := newStore(t, flink.Options{})
	points, err := store.Points(context.Background(), dir)
	if err != nil || len(points) != 1 {
		t.Errorf("%d points, %v; want the one that is there", len(points), err)
	}
	if _, err := store.Point(context.Background(), dir+"/self"); fault.KindOf(err) != fault.NotFound {
		t.Errorf("a link to itself: %v", err)
	}
	if p, err := store.Point(context.Background(), dir+"/job/chk-4"); err != nil || len(p.Markers) != 2 {
		t.Errorf("a link to a checkpoint: %v", err)
	}
}

func TestHostileNamesStayOutOfMessages(t *testing.T) {
	evil := "chk-\x1b]0;owned\x07\u202e"
	dir := write(t, map[string][]byte{evil + "/_metadata": {1}, evil + "/._metadata.inprogress.\x1b[2J": {1}, "savepoint-\x1b[2J/x": {1}})
	store := newStore(t, flink.Options{})
	points, err := store.Points(context.Background(), dir)
	if err != nil || len(points) != 2 {
		t.Fatalf("%d points, %v", len(points), err)
	}
	for _, p := range points {
		_, err := store.Point(context.Background(), p.URI)
		f := fault.Of(err)
		said := append([]string{err.Error(), f.Hint}, f.Refs...)
		for _, c := range p.Checks {
			said = append(said, c.Message, c.Hint)
		}
		for _, s := range said {
			if safetext.Of(s).String() != s {
				t.Errorf("%q is not safe for a terminal", s)
			}
		}
	}
}

func TestTooLargeIsNotRead(t *testing.T) {
	dir := write(t, map[string][]byte{"chk-3/_metadata": nil})
	if err := os.Truncate(dir+"/chk-3/_metadata", 1<<30+1); err != nil {
		t.Fatal(err)
	}
	_, err := newStore(t, flink.Options{}).Point(context.Background(), dir+"/chk-3")
	if fault.KindOf(err) != fault.Unsupported || !strings.Contains(err.Error(), "1.0 GiB") {
		t.Errorf("%v (%s)", err, fault.KindOf(err))
	}
}

func TestCancelled(t *testing.T) {
	dir := write(t, map[string][]byte{"job/chk-3/_metadata": sample(t)})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	store := newStore(t, flink.Options{})
	if _, err := store.Point(ctx, dir+"/job/chk-3"); fault.KindOf(err) != fault.Cancelled {
		t.Errorf("point: %v", err)
	}
	if points, err := store.Points(ctx, dir); fault.KindOf(err) != fault.Cancelled || len(points) != 0 {
		t.Errorf("points: %v, %v", points, err)
	}
}

// broken is a file system around the machine's own in which something goes
// wrong: the way to test that without being another user.
type broken struct {
	flink.Local
	stat, list, read error
	only             string // suffix of the paths that are broken; empty: all
	more             bool
}

func (b broken) hits(path string) bool { return strings.HasSuffix(path, b.only) }
func under(path string) string         { return strings.TrimPrefix(path, "test://") }

func (b broken) Stat(ctx context.Context, path string) (flink.Entry, error) {
	if b.stat != nil && b.hits(path) {
		return flink.Entry{}, b.stat
	}
	return b.Local.Stat(ctx, under(path))
}

func (b broken) List(ctx context.Context, path string, limit int) ([]flink.Entry, bool, error) {
	if b.list != nil && b.hits(path) {
		return nil, false, b.list
	}
	entries, more, err := b.Local.List(ctx, under(path), limit)
	return entries, more || b.more, err
}

func (b broken) Read(ctx context.Context, path string, offset, size int64) ([]byte, error) {
	if b.read != nil && b.hits(path) {
		return nil, b.read
	}
	return b.Local.Read(ctx, under(path), offset, size)
}

func (b broken) Canonical(ctx context.Context, path string) (string, error) {
	return b.Local.Canonical(ctx, under(path))
}

func TestWhatCannotBeReadIsNotDamaged(t *testing.T) {
	const job = "/aaaaaa6789abcdef0123456789abcdef"
	dir := write(t, map[string][]byte{job + "/chk-3/_metadata": sample(t), job + "/chk-4/_metadata": sample(t)})
	tests := map[string]struct {
		system broken
		kind   fault.Kind
	}{
		"metadata may not be read":  {broken{read: fs.ErrPermission, only: "chk-4/_metadata"}, fault.Denied},
		"metadata may not be seen":  {broken{stat: fs.ErrPermission, only: "chk-4/_metadata"}, fault.Denied},
		"the disk fails":            {broken{read: errors.New("input/output error"), only: "chk-4/_metadata"}, fault.Unreachable},
		"deleted while it was read": {broken{read: fs.ErrNotExist, only: "chk-4/_metadata"}, fault.NotFound},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			store := newStore(t, flink.Options{Systems: map[string]flink.FileSystem{"test": tt.system}})
			uri := "test://" + dir + job + "/chk-4"
			p, err := store.Point(context.Background(), uri)
			if fault.KindOf(err) != tt.kind || p.Merged.Kind != inspect.MergedInvalid || len(p.Checks) != 0 {
				t.Errorf("%+v, %v (%s), want %s and no check", p, err, fault.KindOf(err), tt.kind)
			}
			points, err := store.Points(context.Background(), "test://"+dir)
			var whole, unknown []string
			for _, p := range points {
				if p.Err == nil {
					whole = append(whole, filepath.Base(p.URI))
				} else if fault.KindOf(p.Err) == tt.kind {
					unknown = append(unknown, filepath.Base(p.URI))
				}
			}
			wantUnknown := []string{"chk-4"}
			if tt.kind == fault.NotFound { // it is gone: nothing to restore from
				wantUnknown = nil
			}
			if !slices.Equal(whole, []string{"chk-3"}) || !slices.Equal(unknown, wantUnknown) {
				t.Errorf("listed whole %v and unknown %v, want chk-3 and %v", whole, unknown, wantUnknown)
			}
			if f := fault.Of(err); f == nil || f.Kind != tt.kind || len(f.Refs) == 0 || f.Refs[0] != uri {
				t.Errorf("the other point's fault is %+v", f)
			}
		})
	}
	t.Run("shrinks while it is read", func(t *testing.T) {
		store := newStore(t, flink.Options{Systems: map[string]flink.FileSystem{"test": broken{read: io.ErrUnexpectedEOF, only: "chk-4/_metadata"}}})
		p, err := store.Point(context.Background(), "test://"+dir+job+"/chk-4")
		expectDamaged(t, p, err)
		if fault.KindOf(err) != fault.Corrupt || !strings.Contains(err.Error(), "shrank") {
			t.Errorf("%v", err)
		}
	})
	t.Run("a folder may not be listed", func(t *testing.T) {
		store := newStore(t, flink.Options{Systems: map[string]flink.FileSystem{"test": broken{list: fs.ErrPermission, only: job}}})
		points, err := store.Points(context.Background(), "test://"+dir)
		if len(points) != 0 || fault.KindOf(err) != fault.Denied {
			t.Errorf("%d points, %v", len(points), err)
		}
	})
	t.Run("a folder of too many entries", func(t *testing.T) {
		store := newStore(t, flink.Options{Systems: map[string]flink.FileSystem{"test": broken{more: true}}})
		points, err := store.Points(context.Background(), "test://"+dir)
		if len(points) != 2 || fault.KindOf(err) != fault.Partial || points[0].Taken.Source != inspect.TimeFromObject {
			t.Errorf("%d points, %v", len(points), err)
		}
	})
}

// Whoever lists a large store sees how much was found so far.
func TestAListTellsHowFarItIs(t *testing.T) {
	files := map[string][]byte{}
	for n := range 40 {
		files[fmt.Sprintf("job/chk-%d/_metadata", n)] = sample(t)
	}
	files["job/chk-40/half"], files["job/shared/x"] = nil, nil
	dir := write(t, files)
	var last inspect.ListProgress
	told := 0
	store := newStore(t, flink.Options{Clock: clock.System{}})
	points, err := store.ListPoints(t.Context(), dir, func(p inspect.ListProgress) {
		if p.Folders < last.Folders || p.Found < last.Found || p.Read < last.Read || p.Read > p.Found {
			t.Errorf("%+v follows %+v", p, last)
		}
		last = p
		told++
	})
	if err != nil || len(points) != 41 {
		t.Fatalf("%d points, error %v", len(points), err)
	}
	if want := (inspect.ListProgress{Folders: 43, Found: 41, Read: 41}); last != want || told < 2 { // the folder, the job's, and each checkpoint's
		t.Errorf("told %d times, at last %+v, want %+v", told, last, want)
	}
}

// A search that ends above folders says that it did: a recovery point that lies
// deeper is not absent.
func TestFoldersThatLieTooDeepAreTold(t *testing.T) {
	store := newStore(t, flink.Options{})
	deep := write(t, map[string][]byte{"a/b/c/d/e/chk-2/_metadata": sample(t)})
	points, err := store.Points(context.Background(), deep)
	if len(points) != 0 || fault.KindOf(err) != fault.Partial || !strings.Contains(err.Error(), "deeper") || fault.Of(err).Hint == "" {
		t.Errorf("%d points, %v", len(points), err)
	}
	for _, at := range []string{"/a/b", "/a/b/c/d"} {
		if points, err := store.Points(context.Background(), deep+at); len(points) != 1 || err != nil {
			t.Errorf("%s: %d points, %v", at, len(points), err)
		}
	}
	flat := write(t, map[string][]byte{"a/b/c/d/file": {1}, "a/b/c/d/shared/x": {1}, "chk-2/_metadata": sample(t)})
	if points, err := store.Points(context.Background(), flat); len(points) != 1 || err != nil {
		t.Errorf("%d points, %v", len(points), err)
	}
}
