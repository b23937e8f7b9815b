package flink_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/journal"
	"github.com/recoverctl/recoverctl/internal/testkit/flinktest"
)

func always(f flinktest.Fault) func(int, *http.Request) flinktest.Fault {
	return func(int, *http.Request) flinktest.Fault { return f }
}

// at gives one request a fault, counted among those that change something or
// among those that read, from when it is set.
func at(nth int, f flinktest.Fault, write bool) func(int, *http.Request) flinktest.Fault {
	seen := 0
	return func(_ int, r *http.Request) flinktest.Fault {
		if (r.Method != http.MethodGet) != write {
			return flinktest.NoFault
		}
		if seen++; seen-1 == nth {
			return f
		}
		return flinktest.NoFault
	}
}

// Whatever goes wrong with any one request, there are never two jobs and never
// two savepoints, no job ends without its savepoint, and the same plan ends as
// planned when it is applied again.
func TestAFaultAtEachRequest(t *testing.T) {
	faults := map[string]flinktest.Fault{
		"closed before it is done": flinktest.LostBefore, "done, and the answer lost": flinktest.LostAfter, "a page": flinktest.Page,
		"done, and a page": flinktest.PageAfter, "no leader": flinktest.Unavailable,
	}
	for _, way := range []struct {
		kind, point string
		wrote       string
		writes      int
	}{
		{actions.KindRollback, own, "savepoint " + oldID + ",cancel " + oldID + ",run " + newID, 3},
		{actions.KindRollback, saved, "stop " + oldID + ",run " + newID, 2},
		{actions.KindSavepoint, "", "savepoint " + oldID, 1},
		{actions.KindStop, "", "stop " + oldID, 1},
		{actions.KindCancel, "", "cancel " + oldID, 1},
	} {
		for name, f := range faults {
			for _, write := range []bool{true, false} {
				n := way.writes
				if !write {
					n = 6 // of the reading requests, in some of the steps
				}
				for nth := range n {
					t.Run(fmt.Sprintf("%s %s/%s/write %v/%d", way.kind, way.point, name, write, nth), func(t *testing.T) {
						s := newScene(t).mustMake(way.kind, to(way.point))
						step := nth
						if !write {
							step = nth * 17
						}
						s.cluster.Fails(at(step, f, write))
						first, _, firstErr := s.apply()
						s.mustHold()
						s.cluster.Fails(nil)
						if firstErr == nil && first.Verdict == actions.Applied && strings.Join(s.cluster.Writes(), ",") != way.wrote {
							t.Errorf("applied, and the cluster was changed by %v", s.cluster.Writes())
						}
						result, refused, err := s.apply()
						s.mustHold()
						if err != nil || refused != nil || result.Verdict != actions.Applied {
							t.Fatalf("first %v; then %s, %v, %v: %s", firstErr, result.Verdict, refused, err, steps(result))
						}
						s.wrote(strings.Split(way.wrote, ",")...)
					})
				}
			}
		}
	}
}

// A request of which Flink itself says nothing may still come: that nothing is seen of
// it is unknown, and never told as not done. Where Flink says no, nothing can come.
func TestARequestThatMayStillComeIsNotCalledNotDone(t *testing.T) {
	for _, way := range []struct {
		kind, point string
		writes      int
	}{{actions.KindRollback, own, 3}, {actions.KindRollback, saved, 2}, {actions.KindSavepoint, "", 1}, {actions.KindStop, "", 1}, {actions.KindCancel, "", 1}} {
		for f, open := range map[flinktest.Fault]bool{flinktest.LostBefore: true, flinktest.Page: true, flinktest.Unavailable: false} {
			for nth := range way.writes {
				s := newScene(t).mustMake(way.kind, to(way.point))
				s.cluster.Fails(at(nth, f, true))
				result, refused, err := s.apply()
				if refused != nil || err == nil {
					t.Fatalf("%v, %v", refused, err)
				}
				last := ""
				for _, e := range s.lines.all {
					if e.Event == journal.Outcome {
						last = e.Result
					}
				}
				switch {
				case open && (result.Verdict == actions.NotStarted || fault.KindOf(err) != fault.Unknown && fault.KindOf(err) != fault.Partial || last != journal.Unknown || !strings.Contains(err.Error(), "may still come")):
					t.Errorf("%s %s, request %d, fault %d: %s, the journal says %s: %v", way.kind, way.point, nth, f, result.Verdict, last, err)
				case !open && last != journal.Failed:
					t.Errorf("%s %s, request %d, refused by Flink: %s, the journal says %s: %v", way.kind, way.point, nth, result.Verdict, last, err)
				}
			}
		}
	}
}
