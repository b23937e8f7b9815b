package bundle_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"testing"
	"time"

	"github.com/recoverctl/recoverctl/internal/bundle"
)

var made = time.Date(2026, 3, 1, 14, 3, 0, 5, time.UTC)

func encode(t *testing.T, names ...string) []byte {
	t.Helper()
	var b bundle.Bundle
	for _, name := range names {
		if err := b.Add(name, []byte("of "+name)); err != nil {
			t.Fatal(err)
		}
	}
	out, err := b.Encode(bundle.Manifest{Made: made, Version: "v", Profile: "p", Job: "j", Faults: []string{"f"}})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Every member is there with the hash that the manifest has of it, the manifest
// first, and the order in which they were added changes nothing.
func TestABundleIsWhatItsManifestSays(t *testing.T) {
	data := encode(t, "b.json", "a.json", "c.jsonl")
	if again := encode(t, "c.jsonl", "b.json", "a.json"); !bytes.Equal(data, again) {
		t.Error("the same members gave other bytes")
	}
	zipped, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	var manifest bundle.Manifest
	archive := tar.NewReader(zipped)
	for n := 0; ; n++ {
		header, err := archive.Next()
		if err == io.EOF {
			if n != 4 {
				t.Errorf("%d members", n)
			}
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(archive)
		if err != nil {
			t.Fatal(err)
		}
		if header.Mode != 0o600 || !header.ModTime.Equal(made.Truncate(time.Second)) || header.Uname != "" {
			t.Errorf("%s: %+v", header.Name, header)
		}
		if n == 0 {
			if header.Name != "recoverctl-bundle/manifest.json" {
				t.Fatalf("the first member is %s", header.Name)
			}
			if err := json.Unmarshal(content, &manifest); err != nil {
				t.Fatal(err)
			}
			if manifest.Schema != bundle.Schema || len(manifest.Members) != 3 || manifest.LeftOut == nil {
				t.Errorf("manifest %+v", manifest)
			}
			continue
		}
		m := manifest.Members[n-1]
		sum := sha256.Sum256(content)
		if header.Name != "recoverctl-bundle/"+m.Name || m.SHA256 != hex.EncodeToString(sum[:]) || m.Bytes != int64(len(content)) {
			t.Errorf("%s is not %+v", header.Name, m)
		}
	}
}

func TestNamesThatNoMemberHas(t *testing.T) {
	var b bundle.Bundle
	if err := b.Add("a", nil); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"", "a", "manifest.json", "../a", "x/y", "/etc/passwd", ".."} {
		if err := b.Add(name, nil); err == nil {
			t.Errorf("%q was taken", name)
		}
	}
}
