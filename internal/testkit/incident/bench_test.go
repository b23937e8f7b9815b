package incident_test

import (
	"os"
	"testing"
	"time"

	"github.com/recoverctl/recoverctl/internal/testkit/incident"
)

// BenchmarkStart is how long the demo waits before its first screen. The goal
// is less than 1.5 s.
func BenchmarkStart(b *testing.B) {
	now := time.Now()
	root := b.TempDir()
	for b.Loop() {
		dir, err := os.MkdirTemp(root, "demo")
		if err != nil {
			b.Fatal(err)
		}
		in, err := incident.Start(b.Context(), dir, now)
		if err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		in.Close()
		b.StartTimer()
	}
}
