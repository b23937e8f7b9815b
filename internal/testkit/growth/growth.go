// Package growth tells tests whether work grows in proportion to what it is done
// on. A limit in seconds fails on a busy machine and holds nothing on a fast one;
// how much longer four times as much takes is the same on both.
package growth

import (
	"testing"
	"time"
)

const (
	// most is how many times as long four times as much may take: twice and a half
	// what is in proportion, and well below the sixteen times of a square.
	most = 10
	// soon is what is quick in any case, and too short to be compared.
	soon = time.Second
	// tries is how often it is measured before it counts: another process may have
	// taken its time from one side alone.
	tries = 3
)

// InProportion fails the test where run on size takes out of proportion longer than
// on a quarter of it.
func InProportion(t testing.TB, size int, run func(size int)) {
	t.Helper()
	var quarter, whole time.Duration
	for range tries {
		quarter, whole = took(run, size/4), took(run, size)
		if whole < soon || whole <= most*quarter {
			return
		}
	}
	t.Errorf("%d took %s, and %d took %s", size/4, quarter, size, whole)
}

func took(run func(int), size int) time.Duration {
	began := time.Now()
	run(size)
	return time.Since(began)
}
