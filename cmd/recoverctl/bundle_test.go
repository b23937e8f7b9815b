package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/recoverctl/recoverctl/internal/bundle"
)

// unpacked reads a bundle, and checks it against its own manifest.
func unpacked(t *testing.T, file string) (manifest bundle.Manifest, members map[string]string) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	zipped, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	members = map[string]string{}
	archive := tar.NewReader(zipped)
	for {
		header, err := archive.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(archive)
		if err != nil {
			t.Fatal(err)
		}
		members[path.Base(header.Name)] = string(content)
	}
	if err := json.Unmarshal([]byte(members["manifest.json"]), &manifest); err != nil {
		t.Fatal(err)
	}
	if len(members) != len(manifest.Members)+1 {
		t.Errorf("%d members beside a manifest of %d", len(members)-1, len(manifest.Members))
	}
	for _, m := range manifest.Members {
		sum := sha256.Sum256([]byte(members[m.Name]))
		if hex.EncodeToString(sum[:]) != m.SHA256 {
			t.Errorf("%s is not what the manifest says", m.Name)
		}
	}
	return manifest, members
}

// All that the other commands say is in the file, and what records hold only
// where it was asked for.
func TestABundleHoldsWhatIsKnown(t *testing.T) {
	s := startScene(t)
	plain, whole := filepath.Join(t.TempDir(), "a.tar.gz"), filepath.Join(t.TempDir(), "b.tar.gz")
	got := s.run("bundle", "--out", plain)
	if got.code != 0 || !strings.Contains(got.out, "wrote "+plain) || !strings.Contains(got.out, "left out: values of records") {
		t.Fatalf("exit %d\n%s%s", got.code, got.out, got.errOut)
	}
	if info, err := os.Stat(plain); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	manifest, members := unpacked(t, plain)
	if manifest.Schema != bundle.Schema || manifest.Profile != "demo" || manifest.Job != "order-agent" || manifest.Version != version {
		t.Errorf("manifest %+v", manifest)
	}
	for name, want := range map[string][]string{
		"overview.json":        {`"kind": "JobOverview"`, `"runsAgain": 2`, `"pending": 6`},
		"overview.txt":         {`! 4 calls would run again from "chk-44", 3 from "chk-43", 2 from "chk-42"`},
		"findings.json":        {`"rule": "in-force-not-trimmed"`, `"rule": "calls-run-again"`},
		"restores.json":        {`"code": "below-committed-boundary"`, `"verdict": "accepted"`},
		"recovery-points.json": {`"operators"`, `"metadataVersion": 6`},
		"operations.json":      {`"status": "COMMITTED"`},
		"calls.json":           {`"functionId": "payments.charge"`, `"outcome": "runs-again"`},
		"versions.json":        {`"recoverctl"`, `"topicId"`},
		"journal.json":         {`"entries": []`},
		"configuration.json":   {`"key": `, `"origin": `},
	} {
		for _, text := range want {
			if !strings.Contains(members[name], text) {
				t.Errorf("%s does not hold %s: %.300s", name, text, members[name])
			}
		}
	}
	const value = "_input_event\"}" // of a record's value alone
	for name, content := range members {
		if strings.Contains(content, value) || strings.Contains(content, "taskEvent") {
			t.Errorf("%s holds the value of a record", name)
		}
	}
	if got = s.run("bundle", "--out", whole, "--payloads"); got.code != 0 {
		t.Fatalf("exit %d\n%s", got.code, got.errOut)
	}
	if _, members = unpacked(t, whole); strings.Count(members["records.jsonl"], "taskEvent") < 7 || !strings.Contains(members["records.jsonl"], `\"orderId\"`) {
		t.Errorf("records.jsonl is %.300s", members["records.jsonl"])
	}

	before, err := os.ReadFile(plain)
	if err != nil {
		t.Fatal(err)
	}
	if got = s.run("bundle", "--out", plain); got.code != 5 || !strings.Contains(got.errOut, "is not overwritten") {
		t.Errorf("exit %d: %s", got.code, got.errOut)
	}
	if after, err := os.ReadFile(plain); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the file was changed, %v", err)
	}
	if got = s.run("bundle"); got.code != 2 {
		t.Errorf("without a file: exit %d", got.code)
	}
}

// What could not be read is a fault of its part and of the whole, and the rest is
// written all the same.
func TestABundleOfWhatCouldBeRead(t *testing.T) {
	s, sample := startFaulty(t)
	onFetch(sample.Kafka().Kfake(), func(partition int32, _ int64) *kerr.Error {
		if partition == 37 {
			return kerr.TopicAuthorizationFailed
		}
		return nil
	})
	file := filepath.Join(t.TempDir(), "a.tar.gz")
	if got := s.run("bundle", "--out", file); got.code != 8 || !strings.Contains(got.errOut, "partition 37") {
		t.Fatalf("exit %d\n%s%s", got.code, got.out, got.errOut)
	}
	manifest, members := unpacked(t, file)
	if faults, ok := manifest.Faults.([]any); !ok || len(faults) == 0 {
		t.Errorf("the manifest has the faults %v", manifest.Faults)
	}
	if !strings.Contains(members["calls.json"], `"partial": true`) || !strings.Contains(members["calls.json"], `"code": "denied"`) || !strings.Contains(members["findings.json"], "calls-partly-scanned") {
		t.Error("the part does not say what is missing")
	}
}

// Brokers that don't answer leave the configuration, and no secret is in it nor
// anywhere else.
func TestABundleHoldsNoSecret(t *testing.T) {
	dir := t.TempDir()
	config, file := filepath.Join(dir, "config.yaml"), filepath.Join(dir, "a.tar.gz")
	const secret = "hunter2-the-secret"
	profile := `profiles:
  - name: orders
    kafka:
      brokers: ["127.0.0.1:1"]
      sasl: {mechanism: plain, username: ops, password: {env: THE_PASSWORD}}
    jobs:
      - name: order-agent
        engine: flink-agents
        action-state: {store: kafka, topic: t}
`
	if err := os.WriteFile(config, []byte(profile), 0o600); err != nil {
		t.Fatal(err)
	}
	got := commandIn(t, []string{"HOME=" + dir, "THE_PASSWORD=" + secret}, "", "bundle", "--config", config, "--out", file, "--timeout", "2s")
	if got.code != 8 || strings.Contains(got.out+got.errOut, secret) {
		t.Fatalf("exit %d\n%s%s", got.code, got.out, got.errOut)
	}
	manifest, members := unpacked(t, file)
	for name, content := range members {
		if strings.Contains(content, secret) {
			t.Errorf("%s holds the password", name)
		}
	}
	if !strings.Contains(members["configuration.json"], `"*** from variable THE_PASSWORD"`) || !slices.ContainsFunc(manifest.LeftOut, func(s string) bool { return strings.HasPrefix(s, "cleanup operations") }) {
		t.Errorf("configuration %s, left out %q", members["configuration.json"], manifest.LeftOut)
	}
}
