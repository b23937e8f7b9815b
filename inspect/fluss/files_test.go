package fluss_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/recoverctl/recoverctl/inspect/flink"
	"github.com/recoverctl/recoverctl/inspect/fluss"
	"github.com/recoverctl/recoverctl/internal/fault"
)

func TestRemoteStorageIsSeenThroughMappings(t *testing.T) {
	here := t.TempDir()
	if err := os.MkdirAll(filepath.Join(here, "producers", "job-1"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(here, "producers", "file"), []byte("abcdef"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := fluss.Remote{Mappings: []flink.Mapping{
		{From: "file:///data/remote", To: here}, {From: "file:/data", To: "/nowhere"}, {From: "s3a://bucket/x/", To: "file:" + here},
	}}
	for _, uri := range []string{"file:/data/remote/producers", "file:///data/remote/producers", "/data/remote/producers", "s3://bucket/x/producers", "file:" + here + "/producers"} {
		got, err := r.Folders(t.Context(), uri)
		if err != nil || !slices.Equal(got, []string{"job-1"}) {
			t.Errorf("%s: %v, %v", uri, got, err)
		}
		data, err := r.Read(t.Context(), uri+"/file", 2, 3)
		if err != nil || string(data) != "cde" {
			t.Errorf("%s: %q, %v", uri, data, err)
		}
	}
	if _, err := r.Folders(t.Context(), "file:/data/remoter"); !os.IsNotExist(err) {
		t.Error("half a name was mapped", err)
	}
	if _, err := r.Read(t.Context(), "oss://bucket/y", 0, 1); fault.KindOf(err) != fault.Unsupported {
		t.Error(err)
	}
}
