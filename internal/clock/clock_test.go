package clock_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/recoverctl/recoverctl/internal/clock"
)

func TestAgesAreCoarse(t *testing.T) {
	tests := []struct {
		d        time.Duration
		age, old string
	}{
		{0, "<10s", "fresh"},
		{9999 * time.Millisecond, "<10s", "fresh"},
		{10 * time.Second, "10s", "10 s old"},
		{19 * time.Second, "10s", "10 s old"},
		{59 * time.Second, "50s", "50 s old"},
		{time.Minute, "1m", "1 m old"},
		{2*time.Minute + 59*time.Second, "2m", "2 m old"},
		{12 * time.Minute, "12m", "12 m old"},
		{time.Hour, "1h", "1 h old"},
		{3*time.Hour + 40*time.Minute, "3h", "3 h old"},
		{24 * time.Hour, "1d", "1 d old"},
		{400 * 24 * time.Hour, "400d", "400 d old"},
		{-time.Nanosecond, "?", "age unknown"},
	}
	for _, tt := range tests {
		if got := clock.Age(tt.d); got != tt.age {
			t.Errorf("Age(%s) = %q, want %q", tt.d, got, tt.age)
		}
		if got := clock.Old(tt.d); got != tt.old {
			t.Errorf("Old(%s) = %q, want %q", tt.d, got, tt.old)
		}
	}
}

// An idle screen changes at most one line in ten seconds.
func TestAnAgeChangesAtMostOnceInTenSeconds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		from := time.Duration(rapid.Int64Range(0, int64(100*24*time.Hour)).Draw(t, "from"))
		last, changes := clock.Age(from), 0
		for d := from; d < from+10*time.Second; d += 100 * time.Millisecond {
			if now := clock.Age(d); now != last {
				last = now
				changes++
			}
		}
		if changes > 1 {
			t.Fatalf("%d changes in the ten seconds from %s", changes, from)
		}
	})
}

func TestFakeStandsStill(t *testing.T) {
	start := time.Date(2026, 3, 1, 14, 3, 0, 0, time.UTC)
	var c interface {
		clock.Clock
		Advance(time.Duration)
	} = clock.NewFake(start)
	for range 2 {
		if !c.Now().Equal(start) {
			t.Error("it moves by itself")
		}
	}
	c.Advance(time.Hour)
	if got := c.Now().Sub(start); got != time.Hour {
		t.Errorf("it moved by %s", got)
	}
	fake := clock.NewFake(start)
	fake.Set(start.Add(-time.Minute))
	if got := fake.Now(); !got.Equal(start.Add(-time.Minute)) {
		t.Errorf("it shows %s", got)
	}
	before := time.Now()
	if now := (clock.System{}).Now(); now.Before(before) {
		t.Errorf("the system clock shows %s, before %s", now, before)
	}
}
