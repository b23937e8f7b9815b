package inspect_test

import (
	"errors"
	"testing"

	"github.com/recoverctl/recoverctl/inspect"
)

// What the releases do follows from their code: they take only maps for
// markers, check nothing, and fall back to the log start.
func TestWhatTheReleasesDo(t *testing.T) {
	const (
		yes    = inspect.ReleaseAccepts
		no     = inspect.ReleaseRejects
		silent = inspect.ReleaseSkipsSilently
	)
	tests := map[string]struct {
		from            string
		v01, v02, v03   inspect.RuntimeOutcome
		next            inspect.RuntimeOutcome
		wordsOfRelease3 []string
	}{
		"legacy markers inside the log":         {"off-legacy-mid", silent, yes, yes, yes, []string{"for a second"}},
		"a fresh start":                         {"off-no-marker-fresh-start", yes, yes, yes, yes, []string{"replays nothing"}},
		"a legacy marker past the log end":      {"off-legacy-beyond-end", silent, silent, silent, no, []string{"partition 1", "log start", "without a word"}},
		"a legacy marker before the log start":  {"off-log-start-moved-legacy", silent, silent, silent, no, []string{"partition 1", "log start"}},
		"versioned markers":                     {"off-versioned-mid", silent, silent, silent, yes, []string{"only maps", "marker 0"}},
		"versioned markers below the boundary":  {"on-below-p0", silent, silent, silent, no, []string{"only maps"}},
		"legacy markers with a control topic":   {"on-legacy-above", silent, yes, yes, no, nil},
		"a mixture":                             {"off-mixed-legacy-first", silent, silent, silent, no, []string{"marker 1"}},
		"a string":                              {"off-string-marker", silent, silent, silent, no, []string{"java.lang.String"}},
		"a null marker":                         {"off-null-among-versioned", no, no, no, no, []string{"Flink itself"}},
		"a map of the wrong types":              {"off-legacy-int-offset", silent, no, no, no, nil},
		"a negative offset in a map":            {"off-negative-offset-legacy", silent, no, no, no, nil},
		"a map that lacks a partition":          {"off-legacy-partition-subset", silent, silent, silent, no, []string{"partition 0"}},
		"an empty map":                          {"off-legacy-empty-map", silent, silent, silent, no, []string{"partitions 0-1"}},
		"a legacy marker of a topic made again": {"off-topic-recreated-legacy-shorter", silent, silent, silent, no, []string{"log start"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			q := question(t, restoreCase(t, tt.from))
			got := inspect.ValidateRestore(q)
			want := map[inspect.Release]inspect.RuntimeOutcome{
				inspect.Release01: tt.v01, inspect.Release02: tt.v02, inspect.Release03: tt.v03, inspect.ReleaseNext: tt.next,
			}
			if len(got.Runtime) != len(want) {
				t.Fatalf("%d releases, want all four", len(got.Runtime))
			}
			for _, rt := range got.Runtime {
				if rt.Outcome != want[rt.Release] {
					t.Errorf("release %s %s (%s), want %s", rt.Release, rt.Outcome, rt.Message, want[rt.Release])
				}
				if rt.Release == inspect.Release03 {
					wantWords(t, rt.Message, tt.wordsOfRelease3...)
				}
			}
		})
	}
}

func TestOnlyTheJobsOwnReleaseIsToldWhereItIsKnown(t *testing.T) {
	q := question(t, restoreCase(t, "off-legacy-mid"))
	q.Job.Runtime = inspect.Release03
	got := inspect.ValidateRestore(q)
	if len(got.Runtime) != 1 || got.Runtime[0].Release != inspect.Release03 {
		t.Errorf("%+v", got.Runtime)
	}
}

// No release is said to accept what could not be looked at.
func TestOutcomesThatAreNotKnown(t *testing.T) {
	q := question(t, restoreCase(t, "off-legacy-mid"))
	q.Data, q.DataErr = inspect.DataTopic{}, errors.New("timed out")
	for _, rt := range inspect.ValidateRestore(q).Runtime {
		if want := inspect.ReleaseOutcomeUnknown; rt.Release != inspect.Release01 && rt.Outcome != want {
			t.Errorf("release %s %s, want %s", rt.Release, rt.Outcome, want)
		}
	}
	q.Markers, q.PointErr = nil, errors.New("timed out")
	for _, rt := range inspect.ValidateRestore(q).Runtime {
		if rt.Outcome != inspect.ReleaseOutcomeUnknown {
			t.Errorf("release %s %s without a recovery point", rt.Release, rt.Outcome)
		}
	}
}
