package flink_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/inspect/flink"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/flinkmeta"
	"github.com/recoverctl/recoverctl/internal/objstore"
	"github.com/recoverctl/recoverctl/internal/secret"
	"github.com/recoverctl/recoverctl/internal/testkit/flinkcases"
	"github.com/recoverctl/recoverctl/internal/testkit/s3test"
)

// client reads a test's object store with the key that it knows.
func client(tb testing.TB, s *s3test.Server) *objstore.Client {
	tb.Helper()
	c := objstore.New(objstore.Config{
		Endpoint: s.URL, Region: "eu-west-1", PathStyle: true, Timeout: time.Minute, Attempts: 2,
		Keys: func(context.Context) (objstore.Keys, error) {
			return objstore.Keys{ID: s3test.KeyID, Secret: secret.New(s3test.Secret)}, nil
		},
	})
	tb.Cleanup(c.Close)
	return c
}

// systems is a Store's way to an object store.
func systems(tb testing.TB, s *s3test.Server) map[string]flink.FileSystem {
	return map[string]flink.FileSystem{flink.SchemeS3: flink.NewObjects(flink.ObjectStore{Client: client(tb, s)})}
}

// asJSON is a point without the date of its file, with its place as @.
func asJSON(t *testing.T, p inspect.RecoveryPoint, place string) string {
	t.Helper()
	p.Taken = inspect.Taken{}
	var buf bytes.Buffer
	encoder := json.NewEncoder(&buf)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", " ")
	if err := encoder.Encode(p); err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(buf.String(), place, "@")
}

// Every snapshot that a real Flink wrote, read from an object store, is what it
// is on disk: only the place is another.
func TestAnObjectStoreTellsWhatADiskTells(t *testing.T) {
	for _, name := range flinkcases.Names(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := flinkcases.Copy(t, name)
			s := s3test.Start(t, "flink-state")
			s.PutDir("flink-state", "cp", dir)
			s.Break(s3test.RequireKey)
			recorded := flinkcases.RecordedRoot + name
			disk := newStore(t, flink.Options{Mappings: []flink.Mapping{{From: recorded, To: dir}}})
			objects := newStore(t, flink.Options{Mappings: []flink.Mapping{{From: recorded, To: "s3a://flink-state/cp"}}, Systems: systems(t, s)})
			for _, want := range flinkcases.Load(t, name).Snapshots {
				onDisk, diskErr := disk.Point(t.Context(), path.Join(filepath.ToSlash(dir), want.Path))
				there, thereErr := objects.Point(t.Context(), "s3://flink-state/cp/"+want.Path)
				if a, b := asJSON(t, onDisk, filepath.ToSlash(dir)), asJSON(t, there, "s3://flink-state/cp"); a != b || (diskErr == nil) != (thereErr == nil) {
					t.Errorf("%s: on disk %s (%v), in the store %s (%v)", want.Path, a, diskErr, b, thereErr)
				}
				if there.Taken.Source != inspect.TimeFromObject || there.Taken.Time == nil {
					t.Errorf("%s: taken %+v", want.Path, there.Taken)
				}
			}
			onDisk, diskErr := disk.Points(t.Context(), dir)
			there, thereErr := objects.Points(t.Context(), "s3p://flink-state/cp/")
			if len(onDisk) != len(there) || (diskErr == nil) != (thereErr == nil) {
				t.Errorf("%d points on disk (%v), %d in the store (%v)", len(onDisk), diskErr, len(there), thereErr)
			}
		})
	}
}

// s3, s3a and s3p are three names of one place, as they are for Flink, and a
// mapping leads from a folder into a store and back.
func TestOneStoreUnderManyNames(t *testing.T) {
	s := s3test.Start(t, "flink-state")
	s.Put("flink-state", "cp/job/chk-3/_metadata", sample(t))
	dir := write(t, map[string][]byte{"chk-3/_metadata": sample(t)})
	store := newStore(t, flink.Options{Systems: systems(t, s), Mappings: []flink.Mapping{
		{From: "file:/data/checkpoints", To: "s3://flink-state/cp"},
		{From: "s3a://elsewhere/cp", To: dir},
		{From: "hdfs://namenode:8020/cp", To: "s3p://flink-state/cp/job"},
	}})
	for name, uri := range map[string]string{
		"s3":                     "s3://flink-state/cp/job/chk-3",
		"s3a":                    "s3a://flink-state/cp/job/chk-3",
		"s3p":                    "s3p://flink-state/cp/job/chk-3/",
		"its file":               "s3://flink-state//cp/job/chk-3/_metadata",
		"upper case":             "S3A://flink-state/cp/job/chk-3",
		"a folder into a store":  "file:///data/checkpoints/job/chk-3",
		"a store into a folder":  "s3a://elsewhere/cp/chk-3",
		"its other name":         "s3://elsewhere/cp/chk-3",
		"HDFS into a store":      "hdfs://namenode:8020/cp/chk-3",
		"a folder that has been": "s3://flink-state/cp/x/../job/chk-3",
	} {
		p, err := store.Point(t.Context(), uri)
		if err != nil || len(p.Markers) != 2 || p.URI != uri {
			t.Errorf("%s: %d markers of %q (%v), want 2 of %q", name, len(p.Markers), p.URI, err, uri)
		}
	}
	for _, uri := range []string{"s3:///x", "s3://key:secret@flink-state/x"} {
		if _, err := store.Point(t.Context(), uri); fault.KindOf(err) != fault.Usage || strings.Contains(err.Error(), "secret@") {
			t.Errorf("%s: %v", uri, err)
		}
	}
	if _, err := store.Point(t.Context(), "s3://flink-state/cp/none/chk-9"); fault.KindOf(err) != fault.NotFound {
		t.Errorf("what is not there: %v", err)
	}
	if _, err := store.Points(t.Context(), "s3://none/cp"); fault.KindOf(err) != fault.NotFound || !strings.Contains(err.Error(), `no bucket "none"`) {
		t.Errorf("a bucket that is not there: %v", err)
	}
}

// The longest match reads a place, and a place that none matches is not missing.
func TestTheLongestMatchReadsAPlace(t *testing.T) {
	far, near := s3test.Start(t, "flink-state"), s3test.Start(t, "flink-state")
	far.Put("flink-state", "cp/chk-1/_metadata", sample(t))
	near.Put("flink-state", "deep/chk-2/_metadata", sample(t))
	store := newStore(t, flink.Options{Systems: map[string]flink.FileSystem{flink.SchemeS3: flink.NewObjects(
		flink.ObjectStore{Match: "s3a://flink-state/", Client: client(t, far)},
		flink.ObjectStore{Match: "s3://flink-state/deep/", Client: client(t, near)},
	)}})
	for _, uri := range []string{"s3://flink-state/cp/chk-1", "s3a://flink-state/deep/chk-2"} {
		if _, err := store.Point(t.Context(), uri); err != nil {
			t.Errorf("%s: %v", uri, err)
		}
	}
	for place, want := range map[string]int{"s3://flink-state": 1, "s3p://flink-state/deep": 1} {
		if points, err := store.Points(t.Context(), place); err != nil || len(points) != want {
			t.Errorf("%s: %d points, %v", place, len(points), err)
		}
	}
	if _, err := store.Point(t.Context(), "s3://other/chk-1"); fault.KindOf(err) != fault.Unsupported || !strings.Contains(fault.Of(err).Hint, "match: s3://other/") {
		t.Errorf("%v (%s)", err, fault.Of(err).Hint)
	}
}

// Stores have no folders. What marks one, by whatever tool, is no file of it;
// and an object between the folders is none either.
func TestFoldersOfAStore(t *testing.T) {
	const job = "cp/aaaaaa6789abcdef0123456789abcdef"
	s := s3test.Start(t, "b")
	for _, mark := range []string{"cp", "cp/", job, job + "/", job + "/chk-3/", job + "/chk-3_$folder$", job + "/chk-4_$folder$", job + "/shared/", job + "/chk-5/", "cp//odd/chk-9/_metadata", "cp/../chk-8/_metadata"} {
		s.Put("b", mark, nil)
	}
	s.Put("b", job+"/chk-3/_metadata", sample(t))
	s.Put("b", job+"/chk-3/left over", []byte("12345"))
	s.Put("b", job+"/chk-4/_metadata", nil)
	s.Put("b", "cp/ä+b c&d/savepoint-aaaaaa-0123456789ab/_metadata", sample(t))
	s.Put("b", "cp/notes.txt", []byte("x"))
	store := newStore(t, flink.Options{Systems: systems(t, s)})
	points, err := store.Points(t.Context(), "s3://b/cp")
	if err != nil {
		t.Errorf("%v", err)
	}
	got := map[string]inspect.RecoveryPoint{}
	var names []string
	for _, p := range points {
		got[path.Base(p.URI)] = p
		names = append(names, path.Base(p.URI))
	}
	slices.Sort(names)
	if want := []string{"chk-3", "chk-4", "chk-5", "savepoint-aaaaaa-0123456789ab"}; !slices.Equal(names, want) {
		t.Fatalf("points %v, want %v", names, want)
	}
	if c := check(t, got["chk-3"], "F8"); !strings.Contains(c.Message, "1 file ") || !strings.Contains(c.Message, "5 B") {
		t.Errorf("what nothing references: %s", c.Message)
	}
	check(t, got["chk-4"], flinkmeta.CheckMagic)
	check(t, got["chk-5"], "L2")
	if sp := got["savepoint-aaaaaa-0123456789ab"]; len(sp.Markers) != 2 {
		t.Errorf("%+v", sp)
	}
	objects := flink.NewObjects(flink.ObjectStore{Client: client(t, s)})
	for name, want := range map[string]string{
		"s3://b": "dir", "s3://b/": "dir", "s3://b/cp": "dir", "s3://b/" + job + "/shared": "dir", "s3://b/cp/notes.txt": "1", "s3://b/" + job + "/chk-4/_metadata": "0",
		"s3://b/none": "absent", "s3://b/cp/note": "absent", "s3://b/" + strings.Repeat("x", 2000): "absent",
	} {
		e, err := objects.Stat(t.Context(), name)
		is := fmt.Sprint(e.Size)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			is = "absent"
		case err != nil:
			is = err.Error()
		case e.Dir:
			is = "dir"
		}
		if is != want || e.Dir && e.Regular {
			t.Errorf("%.40s is %s, want %s", name, is, want)
		}
	}
	if _, _, err := objects.List(t.Context(), "s3://b/none", 10); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a folder that is not there: %v", err)
	}
}

// Whatever a store refuses, a point is unknown and never damaged or gone, and no
// state file is called missing.
func TestAStoreThatRefusesLeavesPointsUnknown(t *testing.T) {
	const where = "s3://b/cp/file-backed-p2"
	dir := flinkcases.Copy(t, "file-backed-p2")
	snapshot := flinkcases.Load(t, "file-backed-p2").Snapshots[0]
	state := func(f s3test.Fault) s3test.Fault { return s3test.On(isState, f) }
	tests := map[string]struct {
		fault s3test.Fault
		kind  fault.Kind // of reading the point; Bug: it is read
	}{
		"metadata is denied":           {s3test.Key("_metadata", s3test.Status(403, "AccessDenied", "Access Denied")), fault.Denied},
		"metadata is slow":             {s3test.Key("_metadata", s3test.Status(503, "SlowDown", "Slow down")), fault.Unreachable},
		"metadata breaks off":          {s3test.Key("_metadata", s3test.Body(s3test.Cut(20))), fault.Unreachable},
		"metadata is said longer":      {s3test.Key("_metadata", s3test.Sizes(7)), fault.Unreachable},
		"metadata is said shorter":     {s3test.Key("_metadata", s3test.Sizes(-7)), fault.Unreachable},
		"a page in place of all":       {s3test.Page(200), fault.Unsupported},
		"another region":               {s3test.Elsewhere("ap-south-1"), fault.Config},
		"state is denied":              {state(s3test.Status(403, "AccessDenied", "Access Denied")), fault.Bug},
		"state is behind a page":       {state(s3test.Page(404)), fault.Bug},
		"state is in a server's error": {state(s3test.Status(500, "InternalError", "We")), fault.Bug},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := s3test.Start(t, "b")
			s.PutDir("b", "cp/file-backed-p2", dir)
			s.Break(tt.fault)
			store := newStore(t, flink.Options{Systems: systems(t, s), Mappings: []flink.Mapping{{From: flinkcases.RecordedRoot + "file-backed-p2", To: where}}})
			p, err := store.Point(t.Context(), where+"/"+snapshot.Path)
			switch {
			case tt.kind != fault.Bug && (fault.KindOf(err) != tt.kind || p.WorstCheck() == inspect.SeverityError || p.Merged.Kind != inspect.MergedInvalid):
				t.Errorf("%s: %v, %+v", fault.KindOf(err), err, p.Checks)
			case tt.kind == fault.Bug && (len(p.Files.Unchecked) == 0 || hasCheck(p, "F1", inspect.SeverityError) || hasCheck(p, "F3", inspect.SeverityError)):
				t.Errorf("%v, %+v, %+v", err, p.Files, p.Checks)
			}
			if len(p.Files.Missing) > 0 || strings.Contains(fmt.Sprint(err), "no such file") {
				t.Errorf("called missing: %v, %v", p.Files.Missing, err)
			}
		})
	}
	t.Run("a state file is deleted", func(t *testing.T) {
		s := s3test.Start(t, "b")
		s.PutDir("b", "cp/file-backed-p2", dir)
		store := newStore(t, flink.Options{Systems: systems(t, s), Mappings: []flink.Mapping{{From: flinkcases.RecordedRoot + "file-backed-p2", To: where}}})
		for _, r := range stateObjects(t, dir) {
			s.Delete("b", "cp/file-backed-p2/"+r)
		}
		p, _ := store.Point(t.Context(), where+"/"+snapshot.Path)
		if len(p.Files.Missing) == 0 || !hasCheck(p, "F1", inspect.SeverityError) {
			t.Errorf("%+v, %+v", p.Files, p.Checks)
		}
	})
}

// A savepoint of 50 GiB is judged by its metadata and what the store says about
// its files.
func TestALargeSavepointIsReadByKilobytes(t *testing.T) {
	const subtasks = 64
	md, err := flinkmeta.Decode(flinkcases.Large(t, subtasks, 400))
	if err != nil {
		t.Fatal(err)
	}
	s := s3test.Start(t, "b")
	md.Properties = flinkmeta.SavepointProperties(flinkmeta.FormatNative)
	all := int64(0)
	for i := range md.Operators[0].Subtasks {
		name, size := fmt.Sprintf("%08d-0000-4000-8000-000000000000", i), int64(50<<30/subtasks)
		groups := int64(md.Operators[0].MaxParallelism / subtasks)
		keys := &flinkmeta.KeyGroups{Stream: &flinkmeta.Stream{Kind: flinkmeta.RelativeStream, Path: name, Size: size}}
		for g := range groups {
			keys.Offsets = append(keys.Offsets, 100+g)
		}
		md.Operators[0].Subtasks[i].ManagedKeyed = &flinkmeta.KeyedState{Kind: flinkmeta.KeyGroupsV2, HandleID: "0", KeyGroups: keys,
			Range: flinkmeta.KeyGroupRange{Start: int32(int64(i) * groups), Count: int32(groups)}}
		s.PutZeros("b", "sp/savepoint-aaaaaa-0123456789ab/"+name, size)
		all += size
	}
	data, err := flinkmeta.Encode(md)
	if err != nil {
		t.Fatal(err)
	}
	s.Put("b", "sp/savepoint-aaaaaa-0123456789ab/_metadata", data)
	c := client(t, s)
	store := newStore(t, flink.Options{Systems: map[string]flink.FileSystem{flink.SchemeS3: flink.NewObjects(flink.ObjectStore{Client: c})}})
	p, err := store.Point(t.Context(), "s3://b/sp/savepoint-aaaaaa-0123456789ab")
	if err != nil || len(p.Markers) != subtasks || p.Files.Referenced != subtasks || p.Files.Bytes != all || len(p.Files.Missing)+len(p.Files.Unchecked) > 0 {
		t.Fatalf("%d markers, files %+v, %v", len(p.Markers), p.Files, err)
	}
	u := c.Usage()
	if u.Bytes != s.Sent() || u.Bytes*1000 > all || u.Requests > 2*subtasks {
		t.Errorf("read %d bytes in %d requests of a savepoint of %d bytes; the store sent %d", u.Bytes, u.Requests, all, s.Sent())
	}
}

// stateObjects are the files of a case that are no metadata, relative to it.
func stateObjects(t *testing.T, dir string) []string {
	t.Helper()
	var out []string
	for _, pattern := range []string{"*/chk-*/*-*-*-*-*"} {
		found, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range found {
			rel, err := filepath.Rel(dir, f)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, filepath.ToSlash(rel))
		}
	}
	return out
}

// isState reports whether a request is about an object that is no metadata.
func isState(r *http.Request) bool {
	return !s3test.Listing(r) && strings.Contains(r.URL.Path, "-") && !strings.HasSuffix(r.URL.Path, "_metadata") && !strings.Contains(path.Base(r.URL.Path), "chk-")
}
