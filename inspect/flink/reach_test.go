package flink_test

import (
	"testing"

	"github.com/recoverctl/recoverctl/inspect/flink"
	"github.com/recoverctl/recoverctl/internal/fault"
)

// A place is reached as a recovery point's is: mapped where it is a URI, and
// refused where no system is its.
func TestReach(t *testing.T) {
	store, err := flink.New(flink.Options{
		Mappings: []flink.Mapping{{From: "file:///srv/ckpt", To: "/mnt/ckpt"}, {From: "hdfs://nn/ckpt", To: "s3://bucket/ckpt"}},
		Systems:  map[string]flink.FileSystem{"s3": flink.NewObjects()},
	})
	if err != nil {
		t.Fatal(err)
	}
	for uri, want := range map[string]string{
		"file:///srv/ckpt/checkpoints": "/mnt/ckpt/checkpoints",
		"/srv/ckpt":                    "/srv/ckpt", // a path of this machine is meant as it stands
		"s3a://b/x/":                   "s3://b/x",
		"hdfs://nn/ckpt/a":             "s3://bucket/ckpt/a",
	} {
		if system, name, err := store.Reach(uri); err != nil || name != want || system == nil {
			t.Errorf("%s: %s, error %v, want %s", uri, name, err, want)
		}
	}
	if _, _, err := store.Reach("gs://b/x"); fault.KindOf(err) != fault.Unsupported {
		t.Errorf("gs: %v", err)
	}
}
