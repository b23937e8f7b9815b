package flussincident_test

import (
	"os"
	"testing"

	"github.com/recoverctl/recoverctl/internal/testkit/flussincident"
)

// BenchmarkStart is how long the demo waits before its first screen. The goal is less
// than 1.5 s.
func BenchmarkStart(b *testing.B) {
	root := b.TempDir()
	for b.Loop() {
		dir, err := os.MkdirTemp(root, "demo")
		if err != nil {
			b.Fatal(err)
		}
		in, err := flussincident.Start(b.Context(), dir, now)
		if err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		in.Close()
		b.StartTimer()
	}
}
