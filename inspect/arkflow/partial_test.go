package arkflow

import (
	"fmt"
	"testing"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/arkhub"
)

// That nothing is wrong with a job's points is said where all were read.
func TestPointsThatWereNotReadAreNotClear(t *testing.T) {
	point := func(n int, rules ...inspect.Rule) Point {
		return Point{ID: fmt.Sprint("checkpoint-", n), Status: arkhub.RoundCompleted, Verdict: inspect.Accepted, Rules: rules}
	}
	read := point(1, inspect.Rule{Code: RuleManifestThere, Result: inspect.Passed}, inspect.Rule{Code: RuleStateThere, Result: inspect.Passed})
	denied := point(2, inspect.Rule{Code: RuleManifestThere, Result: inspect.NotChecked, Message: "may not be read"})
	stateless := point(3, inspect.Rule{Code: RuleManifestThere, Result: inspect.Passed}, inspect.Rule{Code: RuleStateThere, Result: inspect.NotChecked})
	other := point(4, inspect.Rule{Code: RuleManifestThere, Result: inspect.Passed}, inspect.Rule{Code: RuleVersion, Result: inspect.NotChecked})
	for name, c := range map[string]struct {
		points []Point
		want   Outcome
	}{
		"all were read":                  {[]Point{read, read}, Clear},
		"one manifest was not":           {[]Point{read, denied}, NotChecked},
		"the state of one was not":       {[]Point{read, stateless}, NotChecked},
		"a version that is not known":    {[]Point{read, other}, Clear},
		"none":                           {nil, Clear},
		"one that is no completed point": {[]Point{read, {ID: "x", Status: "pending", Verdict: inspect.Unknown, Rules: denied.Rules}}, Clear},
	} {
		t.Run(name, func(t *testing.T) {
			points := PointList{Place: "s3://b/store", Points: c.points, Target: Target{Tasks: []string{"a"}}}
			for _, d := range Decide(Facts{Points: &points}, OfJob) {
				if d.Rule == "artefact-invalid" && d.Outcome != c.want {
					t.Errorf("%+v", d)
				}
			}
		})
	}
}

// A list that was cut, or rows of which could not be read, says nothing of what is
// not in it.
func TestRoundsThatMayNotBeAll(t *testing.T) {
	n := func(n uint64) *uint64 { return &n }
	var job arkhub.Job
	facts := Facts{Job: &job, Rounds: []arkhub.Checkpoint{}, Rollback: &Target{Version: n(1), FormatVersion: n(1), Generation: arkhub.GenerationJobs}}
	outcome := func(f Facts) Outcome {
		for _, d := range Decide(f, OfJob) {
			if d.Rule == "rollback-nothing-restorable" {
				return d.Outcome
			}
		}
		return ""
	}
	if got := outcome(facts); got != Holds {
		t.Errorf("all rounds: %s", got)
	}
	facts.RoundsPartial = true
	if got := outcome(facts); got != NotChecked {
		t.Errorf("some rounds: %s", got)
	}
	if s := selectPoint(nil, Target{Version: n(1), FormatVersion: n(1), Recovery: policySavepoint, Generation: arkhub.GenerationJobs, Partial: true}); s.Known {
		t.Errorf("%+v", s)
	}
}
