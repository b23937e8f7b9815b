package phrase_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/views/phrase"
)

func TestNames(t *testing.T) {
	tests := map[string]struct {
		uris, want []string
	}{
		"alone, the last part is enough": {
			[]string{"s3://b/ckpt/4f3c/chk-42", "s3://b/ckpt/4f3c/chk-43"}, []string{"chk-42", "chk-43"}},
		"two jobs are told apart by their folders": {
			[]string{"s3://b/4f3c/chk-42", "s3://b/77aa/chk-42", "s3://b/77aa/chk-43"}, []string{"4f3c/chk-42", "77aa/chk-42", "chk-43"}},
		"one inside the other": {
			[]string{"/chk-1", "/a/chk-1"}, []string{"/chk-1", "a/chk-1"}},
		"two that differ in a slash at the end alone": {
			[]string{"/a/chk-1", "/a/chk-1/"}, []string{"/a/chk-1", "/a/chk-1"}},
		"hostile names": {
			[]string{"s3://b/chk-\x1b[2J"}, []string{`chk-\x1b[2J`}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var points []inspect.PointSummary
			for _, uri := range tt.uris {
				points = append(points, inspect.PointSummary{URI: uri})
			}
			names := phrase.Names(points)
			for i, uri := range tt.uris {
				if got := names[uri]; strings.TrimPrefix(got, "/") != strings.TrimPrefix(tt.want[i], "/") {
					t.Errorf("%s is called %q, want %q", uri, got, tt.want[i])
				}
			}
		})
	}
}

func TestWrap(t *testing.T) {
	tests := map[string]struct {
		text  string
		width int
		want  []string
	}{
		"between words":                      {"partition 0 must be read", 12, []string{"partition 0", "must be read"}},
		"spaces inside a line stay":          {"0: 1 < 2   1: 3 < 4", 40, []string{"0: 1 < 2   1: 3 < 4"}},
		"numbers that belong together do so": {"0: 100 < 150   1: 120 < 150   and 2 more", 20, []string{"0: 100 < 150", "1: 120 < 150", "and 2 more"}},
		"an address breaks after a slash":    {"at s3://flink-state/savepoints/chk", 18, []string{"at", "s3://flink-state/", "savepoints/chk"}},
		"a long word breaks where it must":   {"abcdefgh", 3, []string{"abc", "def", "gh"}},
		"nothing is one empty line":          {"", 10, []string{""}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := phrase.Wrap(tt.text, tt.width); !slices.Equal(got, tt.want) {
				t.Errorf("Wrap(%q, %d) = %q, want %q", tt.text, tt.width, got, tt.want)
			}
		})
	}
}

// Wrapped text is whole, and no line of it is too wide.
func TestWrapLosesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOf(rapid.StringMatching(`[a-z0-9/:,<é]{0,12}`)).Draw(t, "words"), " ")
		width := rapid.IntRange(1, 30).Draw(t, "width")
		lines := phrase.Wrap(text, width)
		for _, line := range lines {
			if ansi.StringWidth(line) > width {
				t.Fatalf("%q is wider than %d", line, width)
			}
		}
		squeeze := func(s string) string { return strings.Join(strings.Fields(s), "") }
		if squeeze(strings.Join(lines, "")) != squeeze(text) {
			t.Fatalf("%q became %q", text, lines)
		}
	})
}

func TestClip(t *testing.T) {
	tests := map[string]struct {
		text  string
		width int
		want  string
	}{
		"what fits stays":                 {"the boundary is 150", 19, "the boundary is 150"},
		"a number is never half shown":    {"the boundary is 1,204,118", 20, "the boundary is …"},
		"an address is named by its end":  {"s3://flink-state/savepoints/savepoint-9c/_metadata may not be read", 40, "…/savepoint-9c may not be read"},
		"one word alone is cut":           {"abcdefghijkl", 6, "abcde…"},
		"there is room for the sign only": {"abc def", 1, "…"},
		"there is no room":                {"abc", 0, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := phrase.Clip(tt.text, tt.width, "…")
			if got != tt.want {
				t.Errorf("Clip(%q, %d) = %q, want %q", tt.text, tt.width, got, tt.want)
			}
		})
	}
}

func TestClipFits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[a-z /é]{0,60}`).Draw(t, "text")
		width := rapid.IntRange(0, 40).Draw(t, "width")
		if got := phrase.Clip(text, width, "…"); ansi.StringWidth(got) > width {
			t.Fatalf("Clip(%q, %d) = %q", text, width, got)
		}
	})
}

func TestFaultsAreToldOnce(t *testing.T) {
	gone := fault.New(fault.Unreachable, "connect", "no broker answers")
	denied := fault.New(fault.Denied, "read", "may not be read")
	var got []string
	for _, f := range phrase.Faults(errors.Join(gone, errors.Join(denied, gone), errors.New("plain"))) {
		got = append(got, f.Error())
	}
	if want := []string{"no broker answers", "may not be read", "plain"}; !slices.Equal(got, want) {
		t.Errorf("faults %q, want %q", got, want)
	}
	if phrase.Faults(nil) != nil {
		t.Error("no error has faults")
	}
}

func TestAgeIsNeverInvented(t *testing.T) {
	at := time.Date(2024, 5, 14, 14, 3, 0, 0, time.UTC)
	before, after := at.Add(-22*time.Minute), at.Add(time.Minute)
	for want, taken := range map[string]inspect.Taken{"22m": {Time: &before}, "?": {Time: &after}} {
		if got := phrase.Age(taken, at); got != want {
			t.Errorf("age %q, want %q", got, want)
		}
	}
	if got := phrase.Age(inspect.Taken{}, at); got != "?" {
		t.Errorf("the age of a point without a time is %q", got)
	}
	if zero := int64(0); phrase.Calls(nil) != "not scanned" || phrase.Calls(&zero) != "0" {
		t.Error("not scanned and 0 look alike")
	}
}

// A release that starts and reads from elsewhere never agrees with a verdict.
func TestAgrees(t *testing.T) {
	tests := []struct {
		verdict inspect.Verdict
		outcome inspect.RuntimeOutcome
		want    bool
	}{
		{inspect.Accepted, inspect.ReleaseAccepts, true},
		{inspect.Accepted, inspect.ReleaseRejects, false},
		{inspect.Accepted, inspect.ReleaseSkipsSilently, false},
		{inspect.Rejected, inspect.ReleaseRejects, true},
		{inspect.Rejected, inspect.ReleaseAccepts, false},
		{inspect.Rejected, inspect.ReleaseSkipsSilently, false},
		{inspect.Unknown, inspect.ReleaseOutcomeUnknown, true},
		{inspect.Unknown, inspect.ReleaseAccepts, false},
	}
	for _, tt := range tests {
		if got := phrase.Agrees(tt.verdict, inspect.Runtime{Outcome: tt.outcome}); got != tt.want {
			t.Errorf("%s and %s: agrees %v, want %v", tt.verdict, tt.outcome, got, tt.want)
		}
	}
}

func TestFlowKeepsFactsWhole(t *testing.T) {
	got := phrase.Flow([]string{"live RUNNING 4m", "7+ restarts", "calls not scanned"}, "   ", 36)
	if want := "   live RUNNING 4m   7+ restarts|   calls not scanned"; strings.Join(got, "|") != want {
		t.Errorf("%q, want %q", strings.Join(got, "|"), want)
	}
	if got := phrase.Flow([]string{"one that is too long by itself"}, " ", 10); len(got) != 1 {
		t.Errorf("%q", got)
	}
}

// What is cut keeps what tells it from others: a class's own name, not its
// package.
func TestClipNamesClasses(t *testing.T) {
	tests := map[string]struct {
		text  string
		width int
		want  string
	}{
		"it fits":                 {"job a: java.lang.IllegalStateException: x", 80, "job a: java.lang.IllegalStateException: x"},
		"a class":                 {"job a: java.lang.IllegalStateException: the marker", 33, "job a: …IllegalStateException: …"},
		"a nested class":          {"org.apache.flink.runtime.Outer$Inner: no", 20, "…Outer$Inner: no"},
		"a host name is no class": {"broker k1.kafka.prod.example.com is gone", 30, "broker …"},
		"nor is a number":         {"span 1.000.000.000.000.000.000.000 of it", 30, "span …"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := phrase.Clip(tt.text, tt.width, "…"); got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}
