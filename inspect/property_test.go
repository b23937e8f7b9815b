package inspect_test

import (
	"fmt"
	"math/rand"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/testkit/cases"
)

func TestTheFirstPartitionsAreThoseOfAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		offsets := inspect.Offsets(rapid.MapOf(rapid.Int32Range(-3, 20), rapid.Int64()).Draw(t, "offsets"))
		n := rapid.IntRange(0, 25).Draw(t, "n")
		if got, all := offsets.First(n), offsets.Partitions(); !slices.Equal(got, all[:min(n, len(all))]) {
			t.Fatalf("the first %d of %v are %v", n, all, got)
		}
	})
}

// Markers merge if and only if all name the same partitions and nothing is
// negative, wherever among them the odd one stands.
func TestOnlyEvenMarkersMerge(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		markers := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) inspect.Marker {
			offsets := rapid.MapOfN(rapid.Int32Range(0, 2), rapid.Int64Range(0, 9), 1, 3).Draw(t, "offsets")
			if rapid.IntRange(0, 9).Draw(t, "is one below zero") == 0 {
				offsets[rapid.Int32Range(-1, 2).Draw(t, "partition")] = -1
			}
			return versioned(offsets)[0]
		}), 1, 5).Draw(t, "markers")
		first := markers[0].Offsets.Partitions()
		odd := func(m inspect.Marker) bool {
			for _, p := range m.Offsets.Partitions() {
				if p < 0 || m.Offsets[p] < 0 {
					return true
				}
			}
			return !slices.Equal(m.Offsets.Partitions(), first)
		}
		merged := inspect.Merge(markers)
		if refused := merged.Kind == inspect.MergedInvalid; refused != slices.ContainsFunc(markers, odd) || refused != (merged.Problem != nil) {
			t.Fatalf("%+v of %+v", merged, markers)
		}
	})
}

func TestMergeDoesNotDependOnTheOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		partitions := rapid.IntRange(1, 4).Draw(t, "partitions")
		markers := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) inspect.Marker {
			return versioned(drawOffsets(t, partitions))[0]
		}), 1, 6).Draw(t, "markers")
		shuffled := slices.Clone(markers)
		rand.New(rand.NewSource(rapid.Int64().Draw(t, "seed"))).Shuffle(len(shuffled), func(i, j int) {
			shuffled[i], shuffled[j] = shuffled[j], shuffled[i]
		})
		a, b := inspect.Merge(markers), inspect.Merge(shuffled)
		if !reflect.DeepEqual(a.Offsets, b.Offsets) || a.Kind != b.Kind {
			t.Fatalf("%+v in one order, %+v in another", a, b)
		}
		for p, at := range a.Offsets {
			if !slices.ContainsFunc(markers, func(m inspect.Marker) bool { return m.Offsets[p] == at }) {
				t.Fatalf("no marker holds %d for partition %d", at, p)
			}
			if slices.ContainsFunc(markers, func(m inspect.Marker) bool { return m.Offsets[p] < at }) {
				t.Fatalf("a marker is below %d for partition %d", at, p)
			}
		}
	})
}

// A green word is never given for a rule that did not pass, except for those
// that are said to be unchecked.
func TestAcceptedMeansThatEveryRulePassed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := drawQuestion(t)
		v := inspect.ValidateRestore(q)
		if v.Verdict != inspect.Accepted {
			return
		}
		for _, r := range v.Rules {
			if r.Result != inspect.Passed && (r.Result != inspect.NotChecked || !slices.Contains(v.Unchecked, r.Title)) {
				t.Fatalf("accepted although %s is %s", r.Title, r.Result)
			}
		}
		if q.DataErr != nil && len(q.Markers) > 0 || q.PointErr != nil || q.Job.ControlTopic != nil && q.ControlErr != nil {
			t.Fatal("accepted although something could not be read")
		}
	})
}

// A plan that advances the boundary can make a recovery point unrestorable, and
// never the other way round.
func TestRaisingTheBoundaryNeverHelps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := drawQuestion(t)
		name := "control"
		q.Job.ControlTopic = &name
		q.ControlErr = nil
		partitions := len(q.Data.Partitions)
		low, more := drawOffsets(t, partitions), drawOffsets(t, partitions)
		high := inspect.Offsets{}
		for p := range low {
			high[p] = low[p] + more[p]
		}
		before := inspect.ValidateRestore(withBoundary(q, low))
		after := inspect.ValidateRestore(withBoundary(q, low, high))
		if before.Verdict == inspect.Rejected && after.Verdict != inspect.Rejected {
			t.Fatalf("%s at %v, %s after the boundary rose to %v", before.Verdict, low, after.Verdict, high)
		}
	})
}

// Whatever could not be read, what refuses goes on refusing.
func TestMissingEvidenceNeverTurnsARefusalIntoConsent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := drawQuestion(t)
		q.DataErr, q.ControlErr, q.PointErr = nil, nil, nil
		whole := inspect.ValidateRestore(q)
		if rapid.Bool().Draw(t, "data topic not readable") {
			q.Data, q.DataErr = inspect.DataTopic{}, fmt.Errorf("timed out")
		}
		if rapid.Bool().Draw(t, "control topic not readable") {
			q.Control, q.ControlErr = inspect.ControlTopic{}, fmt.Errorf("timed out")
		}
		part := inspect.ValidateRestore(q)
		if whole.Verdict == inspect.Rejected && part.Verdict == inspect.Accepted {
			t.Fatalf("accepted on less evidence: %+v", part.Rules)
		}
		if whole.Verdict == inspect.Accepted && part.Verdict == inspect.Rejected {
			t.Fatalf("rejected for want of evidence: %+v", part.Reasons)
		}
	})
}

func drawOffsets(t *rapid.T, partitions int) inspect.Offsets {
	out := inspect.Offsets{}
	for p := range partitions {
		out[int32(p)] = rapid.Int64Range(0, 12).Draw(t, "offset")
	}
	return out
}

// drawQuestion is a small world with markers, a log and a boundary that are near
// each other, and sometimes something wrong.
func drawQuestion(t *rapid.T) inspect.RestoreQuestion {
	partitions := rapid.IntRange(1, 3).Draw(t, "partitions")
	q := inspect.RestoreQuestion{
		Job:  inspect.Job{Topic: names.Data, Partitions: 2, Tombstones: rapid.IntRange(0, 9).Draw(t, "tombstones") == 0},
		Data: inspect.DataTopic{Exists: rapid.IntRange(0, 9).Draw(t, "missing") > 0, TopicID: names.DataID},
	}
	for p := range partitions {
		start := rapid.Int64Range(0, 8).Draw(t, "start")
		end := start + rapid.Int64Range(0, 8).Draw(t, "length")
		q.Data.Partitions = append(q.Data.Partitions, inspect.Partition{ID: int32(p), Log: inspect.LogRange{Start: start, End: end}})
	}
	for range rapid.IntRange(0, 3).Draw(t, "markers") {
		m := versioned(drawOffsets(t, partitions))[0]
		if rapid.IntRange(0, 9).Draw(t, "legacy") == 0 {
			m = inspect.Marker{Kind: inspect.MarkerLegacy, Class: "java.util.HashMap", Offsets: m.Offsets}
		}
		q.Markers = append(q.Markers, m)
	}
	if rapid.Bool().Draw(t, "control topic") {
		name := "control"
		q.Job.ControlTopic = &name
		q = withBoundary(q, drawOffsets(t, partitions))
	}
	failing := fmt.Errorf("timed out")
	switch rapid.IntRange(0, 9).Draw(t, "failure") {
	case 0:
		q.DataErr = failing
	case 1:
		q.ControlErr = failing
	case 2:
		q.PointErr = failing
	}
	return q
}

func withBoundary(q inspect.RestoreQuestion, boundaries ...inspect.Offsets) inspect.RestoreQuestion {
	q.Control = inspect.ControlTopic{Name: "control", Exists: true, Partitions: []int32{0}, CleanupPolicy: "compact"}
	for i, b := range boundaries {
		offsets := map[string]int64{}
		for p, at := range b {
			offsets[fmt.Sprint(p)] = at
		}
		q.Control.Records = append(q.Control.Records, history(cases.Plan{Source: fmt.Sprint("chk-", i), Topic: names.Data, TopicID: names.DataID, Offsets: offsets})...)
	}
	return q
}
