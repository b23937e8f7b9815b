package figures_test

import (
	"math"
	"testing"

	"github.com/recoverctl/recoverctl/internal/figures"
)

func TestGroup(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0", 7: "7", 999: "999", 1000: "1,000", 12480: "12,480", -1: "-1", -1234567: "-1,234,567",
		math.MaxInt64: "9,223,372,036,854,775,807", math.MinInt64: "-9,223,372,036,854,775,808",
	} {
		if got := figures.Group(n); got != want {
			t.Errorf("Group(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestCount(t *testing.T) {
	for n, want := range map[int]string{0: "0 partitions", 1: "1 partition", 2: "2 partitions", 1024: "1,024 partitions"} {
		if got := figures.Count(n, "partition", "partitions"); got != want {
			t.Errorf("Count(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestBytes(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0 B", 1023: "1,023 B", 1024: "1.0 KiB", 19_083_059: "18.2 MiB", math.MaxInt64: "8.0 EiB",
	} {
		if got := figures.Bytes(n); got != want {
			t.Errorf("Bytes(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestFirst(t *testing.T) {
	texts := []string{"a", "b", "c"}
	for most, want := range map[int]string{1: "a and 2 more", 2: "a, b and 1 more", 3: "a, b, c", 4: "a, b, c"} {
		if got := figures.First(texts, most); got != want {
			t.Errorf("First of %d = %q, want %q", most, got, want)
		}
	}
	if got := figures.First(nil, 2); got != "" {
		t.Errorf("of none %q", got)
	}
}

func TestRanges(t *testing.T) {
	tests := map[string]struct {
		parts []int32
		most  int
		want  string
	}{
		"none":                   {nil, 3, "none"},
		"one":                    {[]int32{5}, 3, "5"},
		"a run and a single one": {[]int32{7, 0, 1, 2, 3}, 3, "0-3, 7"},
		"twice the same":         {[]int32{1, 1, 2}, 3, "1-2"},
		"too many to list":       {[]int32{0, 2, 4, 6, 8}, 3, "0, 2, 4 and 2 more"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := figures.Ranges(tt.parts, tt.most); got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}
