package growth_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/recoverctl/recoverctl/internal/testkit/growth"
)

// told is a test that fails without failing this one.
type told struct {
	testing.TB
	failed bool
}

func (t *told) Helper() {}

func (t *told) Errorf(format string, _ ...any) { t.failed = strings.Contains(format, "took") }

func TestInProportion(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		work func(size int) time.Duration
		fail bool
	}{
		"in proportion":      {func(size int) time.Duration { return time.Duration(size) * time.Millisecond }, false},
		"by its square":      {func(size int) time.Duration { return time.Duration(size*size) * time.Microsecond }, true},
		"a square, but soon": {func(size int) time.Duration { return time.Duration(size*size) * time.Microsecond / 4 }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { // its clock goes on by what is slept alone
				got := &told{TB: t}
				growth.InProportion(got, 1100, func(size int) { time.Sleep(tt.work(size)) })
				if got.failed != tt.fail {
					t.Errorf("failed: %t", got.failed)
				}
			})
		})
	}
}
