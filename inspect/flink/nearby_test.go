package flink_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/inspect/flink"
	"github.com/recoverctl/recoverctl/internal/testkit/flinkcases"
)

// unreachable is a file system behind a network: asking it anything is a failure.
type unreachable struct {
	flink.FileSystem
	t *testing.T
}

func (u unreachable) Stat(context.Context, string) (flink.Entry, error) {
	u.t.Error("a place elsewhere was asked")
	return flink.Entry{}, os.ErrNotExist
}

func TestPointsNearby(t *testing.T) {
	root := flinkcases.Copy(t, "versioned-p2")
	job := filepath.Join(root, "37c94a59de3cb061d9e39767aab8b429")
	now := time.Now()
	for name, ago := range map[string]time.Duration{job + "/chk-2": 3 * time.Hour, job + "/chk-3": time.Hour, root + "/savepoint-37c94a-3793c261e148": 2 * time.Hour, root + "/savepoint-37c94a-39bc660a2102": 4 * time.Hour} {
		if err := os.Chtimes(filepath.Join(name, "_metadata"), now.Add(-ago), now.Add(-ago)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(job, "chk-4"), 0o700); err != nil { // not complete
		t.Fatal(err)
	}
	store, err := flink.New(flink.Options{
		Mappings: []flink.Mapping{{From: "s3://mapped/", To: root}},
		Systems:  map[string]flink.FileSystem{"s3": unreachable{t: t}},
	})
	if err != nil {
		t.Fatal(err)
	}
	uris := func(place string) []string {
		list := []string{}
		for _, f := range store.Nearby(t.Context(), place) {
			list = append(list, f.URI)
		}
		return list
	}
	under := func(place string) []string {
		return []string{place + "/37c94a59de3cb061d9e39767aab8b429/chk-3", place + "/savepoint-37c94a-3793c261e148", place + "/37c94a59de3cb061d9e39767aab8b429/chk-2", place + "/savepoint-37c94a-39bc660a2102"}
	}
	for _, place := range []string{root, "file:" + root, "s3://mapped"} {
		if got := uris(place); !slices.Equal(got, under(place)) {
			t.Errorf("%s: %q, want %q", place, got, under(place))
		}
	}
	for _, place := range []string{"s3://elsewhere/x", "hdfs://h/x", filepath.Join(root, "absent"), filepath.Join(job, "chk-2", "_metadata"), ""} {
		if got := uris(place); len(got) != 0 {
			t.Errorf("%s: %q", place, got)
		}
	}
	if f := store.Nearby(t.Context(), job+"/chk-3"); len(f) != 1 || f[0].Kind != inspect.KindCheckpoint || f[0].Modified.Sub(now.Add(-time.Hour)).Abs() > time.Second {
		t.Errorf("a point itself: %+v", f)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if got := store.Nearby(ended, root); len(got) != 0 {
		t.Errorf("after the end: %+v", got)
	}
}
