package flink_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/inspect/flink"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/flinkmeta"
	"github.com/recoverctl/recoverctl/internal/testkit/s3test"
)

// The thousands of files of an incremental checkpoint are found by listing their
// folder; what the listing does not show is asked for before it is called
// missing.
func TestManyFilesAreFoundByListing(t *testing.T) {
	const job, files = "cp/aaaaaa6789abcdef0123456789abcdef", 1500
	s := s3test.Start(t, "b")
	keys := &flinkmeta.IncrementalKeys{CheckpointID: 3, BackendID: "x", CheckpointedSize: 1,
		Meta: &flinkmeta.Stream{Kind: flinkmeta.InlineStream, Path: "file:/x", Data: []byte{}}}
	for i := range files {
		name := fmt.Sprintf("%08d-0000-4000-8000-000000000000", i)
		keys.Shared = append(keys.Shared, flinkmeta.NamedStream{Name: fmt.Sprintf("%06d.sst", i),
			Stream: &flinkmeta.Stream{Kind: flinkmeta.FileStream, Path: "s3p://b/" + job + "/shared/" + name, Size: 5}})
		if i != 7 {
			s.Put("b", job+"/shared/"+name, []byte("12345")[:5-i/(files-1)])
		}
	}
	for i := range 500 { // of other checkpoints
		s.Put("b", fmt.Sprintf("%s/shared/x-%d", job, i), nil)
	}
	data, err := flinkmeta.Encode(&flinkmeta.Metadata{Version: 6, CheckpointID: 3, Properties: flinkmeta.CheckpointProperties(), Operators: []flinkmeta.Operator{{
		Name: "o", Parallelism: 1, MaxParallelism: 128, Subtasks: []flinkmeta.Subtask{{ManagedKeyed: &flinkmeta.KeyedState{
			Kind: flinkmeta.IncrementalV2, HandleID: "0", Range: flinkmeta.KeyGroupRange{Count: 128}, Incremental: keys}}}}}})
	if err != nil {
		t.Fatal(err)
	}
	s.Put("b", job+"/chk-3/_metadata", data)
	c := client(t, s)
	store := newStore(t, flink.Options{Systems: map[string]flink.FileSystem{flink.SchemeS3: flink.NewObjects(flink.ObjectStore{Client: c})}})
	p, err := store.Point(t.Context(), "s3://b/"+job+"/chk-3")
	if err != nil || p.Files.Referenced != files || len(p.Files.Missing) != 2 || len(p.Files.Unchecked) != 0 {
		t.Errorf("%d files, missing %v, %v", p.Files.Referenced, p.Files.Missing, err)
	}
	if m := check(t, p, "F2"); !strings.Contains(m.Message, "/00000007-") {
		t.Errorf("%s", m.Message)
	}
	if m := check(t, p, "F3"); !strings.Contains(m.Message, "has 4 bytes, the metadata says 5") {
		t.Errorf("%s", m.Message)
	}
	if u := c.Usage(); u.Requests > 20 {
		t.Errorf("%d requests", u.Requests)
	}
	s.Break(s3test.On(s3test.Listing, s3test.Status(403, "AccessDenied", "Access Denied")))
	p, err = store.Point(t.Context(), "s3://b/"+job+"/chk-3") // by its metadata, for the folder can't be seen
	if err != nil || len(p.Files.Missing) != 1 || len(p.Files.Unchecked) != 1 {
		t.Errorf("without listing: missing %v, unchecked %v, %v", p.Files.Missing, p.Files.Unchecked, err)
	}
}

// Files that may not be looked at are told together, with the right that is
// missing.
func TestFilesThatAreDeniedAreToldOnce(t *testing.T) {
	s := s3test.Start(t, "b")
	keys := &flinkmeta.IncrementalKeys{CheckpointID: 3, BackendID: "x", Meta: &flinkmeta.Stream{Kind: flinkmeta.InlineStream, Path: "file:/x", Data: []byte{}}}
	for i := range 12 {
		keys.Shared = append(keys.Shared, flinkmeta.NamedStream{Name: fmt.Sprintf("%06d.sst", i),
			Stream: &flinkmeta.Stream{Kind: flinkmeta.FileStream, Path: fmt.Sprintf("s3://b/closed/%d", i), Size: 5}})
	}
	data, err := flinkmeta.Encode(&flinkmeta.Metadata{Version: 6, CheckpointID: 3, Properties: flinkmeta.CheckpointProperties(), Operators: []flinkmeta.Operator{{
		Name: "o", Parallelism: 1, MaxParallelism: 128, Subtasks: []flinkmeta.Subtask{{ManagedKeyed: &flinkmeta.KeyedState{
			Kind: flinkmeta.IncrementalV2, HandleID: "0", Range: flinkmeta.KeyGroupRange{Count: 128}, Incremental: keys}}}}}})
	if err != nil {
		t.Fatal(err)
	}
	s.Put("b", "cp/chk-3/_metadata", data)
	s.Break(s3test.On(func(r *http.Request) bool { return strings.HasPrefix(r.URL.Path, "/b/closed/") }, s3test.Status(403, "AccessDenied", "Access Denied")))
	p, err := newStore(t, flink.Options{Systems: systems(t, s)}).Point(t.Context(), "s3://b/cp/chk-3")
	if err != nil || len(p.Files.Unchecked) != 12 || len(p.Files.Missing) != 0 {
		t.Errorf("%+v, %v", p.Files, err)
	}
	var told []inspect.Check
	for _, c := range p.Checks {
		if c.ID == "F10" {
			told = append(told, c)
		}
	}
	if len(told) != 1 || !strings.Contains(told[0].Message, "12 files could not be checked: s3://b/closed/") || !strings.Contains(told[0].Hint, "s3:GetObject") {
		t.Errorf("%+v", told)
	}
}

// A store is the same from every machine: where it has nothing of the recorded folder,
// its files are gone, and lie on no other machine.
func TestFilesOfAFolderThatAStoreDoesNotHave(t *testing.T) {
	s := s3test.Start(t, "b")
	data, err := flinkmeta.Encode(&flinkmeta.Metadata{Version: 6, CheckpointID: 3, Properties: flinkmeta.CheckpointProperties(), Operators: []flinkmeta.Operator{{
		Name: "o", Parallelism: 1, MaxParallelism: 128, Subtasks: []flinkmeta.Subtask{{ManagedKeyed: &flinkmeta.KeyedState{
			Kind: flinkmeta.IncrementalV2, HandleID: "0", Range: flinkmeta.KeyGroupRange{Count: 128}, Incremental: &flinkmeta.IncrementalKeys{
				CheckpointID: 3, BackendID: "0", Meta: &flinkmeta.Stream{Kind: flinkmeta.InlineStream, Path: "s3://b/cp/meta"},
				Shared: []flinkmeta.NamedStream{{Name: "000001.sst", Stream: &flinkmeta.Stream{Kind: flinkmeta.FileStream, Path: "s3://b/deleted/37c94a59de3cb061d9e39767aab8b429/shared/1", Size: 5}}},
			}}}}}}})
	if err != nil {
		t.Fatal(err)
	}
	s.Put("b", "cp/chk-3/_metadata", data)
	p, err := newStore(t, flink.Options{Systems: systems(t, s)}).Point(t.Context(), "s3://b/cp/chk-3")
	if err != nil || len(p.Files.Missing) != 1 || len(p.Files.Unchecked) != 0 {
		t.Errorf("%+v, %v", p.Files, err)
	}
	if c := check(t, p, "F2"); c.Severity != inspect.SeverityError || !strings.Contains(c.Message, "s3://b/deleted/") {
		t.Errorf("%+v", c)
	}
}

// crowd is a folder of many checkpoints that have all been aborted.
type crowd struct {
	flink.FileSystem
	folders int
	stats   *atomic.Int64
	at      func(n int64) // called at the nth that is looked at; nil: nothing
}

func (c crowd) Stat(ctx context.Context, p string) (flink.Entry, error) {
	if n := c.stats.Add(1); c.at != nil {
		c.at(n)
	}
	if ctx.Err() != nil {
		return flink.Entry{}, ctx.Err()
	}
	if path.Base(p) == "_metadata" {
		return flink.Entry{}, fs.ErrNotExist
	}
	return flink.Entry{Name: path.Base(p), Dir: true}, nil
}

func (c crowd) List(_ context.Context, p string, limit int) ([]flink.Entry, bool, error) {
	if path.Base(p) != "job" {
		return nil, false, nil
	}
	var out []flink.Entry
	for i := range min(c.folders, limit) {
		out = append(out, flink.Entry{Name: fmt.Sprintf("chk-%d", i), Dir: true})
	}
	return out, c.folders > limit, nil
}

func (c crowd) Canonical(_ context.Context, p string) (string, error) { return p, nil }

// Of a hundred thousand checkpoints the newest are looked at, and it is said that
// there are more.
func TestAHundredThousandCheckpoints(t *testing.T) {
	c := crowd{folders: 100_000, stats: &atomic.Int64{}}
	store := newStore(t, flink.Options{Systems: map[string]flink.FileSystem{"test": c}})
	points, err := store.Points(t.Context(), "test://h/job")
	if fault.KindOf(err) != fault.Partial || !strings.Contains(err.Error(), "more than 20,000 folders") {
		t.Errorf("%v", err)
	}
	if len(points) != 19_999 || points[0].URI != "test://h/job/chk-99999" {
		t.Errorf("%d points, the first %s", len(points), points[0].URI)
	}
	if points[0].WorstCheck() != inspect.SeverityError {
		t.Errorf("%+v", points[0].Checks)
	}
}

func TestASearchOfManyIsCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	c := crowd{folders: 100_000, stats: &atomic.Int64{}, at: func(n int64) {
		if n == 500 {
			cancel()
		}
	}}
	store := newStore(t, flink.Options{Systems: map[string]flink.FileSystem{"test": c}})
	if _, err := store.Points(ctx, "test://h/job"); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if n := c.stats.Load(); n > 2000 {
		t.Errorf("%d folders were looked at", n)
	}
}
