package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/recoverctl/recoverctl/internal/testkit/kafkatest"
)

// interviewed runs config init with answers typed at a terminal.
func interviewed(t *testing.T, path string, answers ...string) outcome {
	t.Helper()
	var out, errOut bytes.Buffer
	s := streams{in: strings.NewReader(strings.Join(answers, "\n") + "\n"), out: &out, err: &errOut, environ: []string{"HOME=" + t.TempDir()}, inTTY: true}
	code := run(context.WithoutCancel(t.Context()), []string{"config", "init", "--config", path}, s)
	return outcome{code, out.String(), errOut.String()}
}

func TestInitAsksTriesAndWrites(t *testing.T) {
	cluster := kafkatest.StartFake(t)
	topic := cluster.Topic(t, 3, nil)
	path := filepath.Join(t.TempDir(), "deep", "config.yaml")
	got := interviewed(t, path, "orders", "somewhere", "staging", "", cluster.Brokers()[0], "n", "", "order-agent", topic, "", "0.3", "", "", "y")
	if got.code != 0 {
		t.Fatalf("exit %d\n%s", got.code, got.errOut)
	}
	for _, want := range []string{"one of: production, staging, development", "this is needed", "✔", "3 partitions"} {
		if !strings.Contains(got.errOut, want) {
			t.Errorf("it does not say %q:\n%s", want, got.errOut)
		}
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("%v, %v", info, err)
	}
	used := command(t, "inspect", "job", "--config", path, "--fail-on", "never")
	if used.code != 0 || !strings.Contains(used.out, topic) {
		t.Errorf("the file does not lead to the topic: exit %d\n%s%s", used.code, used.out, used.errOut)
	}
}

// Saying no, or nothing, writes nothing and is no success.
func TestInitWritesNothingUnasked(t *testing.T) {
	cluster := kafkatest.StartFake(t)
	all := []string{"orders", "", cluster.Brokers()[0], "n", "", "order-agent", "absent", "", "", "", ""}
	for name, answers := range map[string][]string{"no": append(all, "n"), "the answers end": all[:4]} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "config.yaml")
			if got := interviewed(t, path, answers...); got.code != 130 {
				t.Errorf("exit %d, want 130\n%s", got.code, got.errOut)
			}
			if _, err := os.Stat(path); !os.IsNotExist(err) {
				t.Errorf("something was written: %v", err)
			}
		})
	}
}
