package fluss_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/flussrpc"
	"github.com/recoverctl/recoverctl/internal/testkit/flusstest"
)

// Whatever goes wrong with any one request of an apply, what it says has become of
// the entry is what has become of it, the entry of another producer stays, and the
// same plan ends as planned when it is applied again.
func TestAFaultAtEachRequest(t *testing.T) {
	faults := map[string]flusstest.Reaction{
		"cut before it is done":  {HangUp: true},
		"done, and cut":          {HangUp: true, After: true},
		"an error of no meaning": {Refuse: &flussrpc.Error{Code: flussrpc.UnknownServerError, Message: "java.lang.NullPointerException"}},
		"done, and an error":     {Refuse: &flussrpc.Error{Code: flussrpc.UnknownServerError, Message: "KeeperException: ConnectionLoss"}, After: true},
		"no leader any more":     {Refuse: &flussrpc.Error{Code: flussrpc.NotCoordinatorLeader, Message: "not the leader"}},
		"the server gives up":    {Failure: &flussrpc.Error{Code: flussrpc.UnknownServerError, Message: "out of memory"}},
	}
	for _, kind := range []string{actions.KindProducerDelete, actions.KindProducerRegister} {
		for name, f := range faults {
			for _, write := range []bool{true, false} {
				n := 1
				if !write {
					n = 6 // of the coordinator's answers, in some of the steps
				}
				for nth := range n {
					t.Run(fmt.Sprintf("%s/%s/write %v/%d", kind, name, write, nth), func(t *testing.T) {
						t.Parallel()
						oneFault(t, kind, f, nth*7, write)
					})
				}
			}
		}
	}
}

func oneFault(t *testing.T, kind string, f flusstest.Reaction, nth int, writes bool) {
	s := newScene(t)
	planned := []int64{10, 4}
	before := []int64(nil)
	if kind == actions.KindProducerDelete {
		planned, before = nil, []int64{8, 4}
		s.stored(sink, 0, 8, 4)
		s.deletes()
	} else {
		s.registersLatest()
	}
	patient := s.timeout
	if f.Silent {
		s.timeout = 2 * time.Second
	}
	stop := s.breaks(f, nth, writes)
	result, refused, err := s.apply()
	stop()
	s.timeout = patient
	if refused != nil {
		t.Fatal(refused)
	}
	got := s.kept(sink)
	switch {
	case result.Verdict == actions.Applied && fmt.Sprint(got) != fmt.Sprint(planned),
		result.Verdict == actions.NotStarted && fmt.Sprint(got) != fmt.Sprint(before),
		result.Verdict == actions.Contradicted, result.Verdict == actions.Partial:
		t.Errorf("it says %s (%s), and the coordinator keeps %v: %v", result.Verdict, result.Message, got, err)
	case err == nil && result.Verdict != actions.Applied, result.Verdict == actions.Applied && err != nil && fault.KindOf(err) == fault.Unknown:
		t.Errorf("%s, and %v", result.Verdict, err)
	}
	s.keeps(other, 1, 1)
	s.applied()
	s.keeps(sink, planned...)
	s.keeps(other, 1, 1)
}

// breaks makes the nth request from now on of those that write, or of those that
// read, go wrong, until it is stopped.
func (s *scene) breaks(f flusstest.Reaction, nth int, writes bool) (stop func()) {
	var mu sync.Mutex
	seen, over := 0, false
	s.cluster.On(func(c flusstest.Call) flusstest.Reaction {
		mu.Lock()
		defer mu.Unlock()
		is := c.API == flussrpc.APIDeleteProducer || c.API == flussrpc.APIRegisterProducer
		if over || is != writes || c.API == flussrpc.APIVersions {
			return flusstest.Reaction{}
		}
		if seen++; seen-1 == nth {
			return f
		}
		return flusstest.Reaction{}
	})
	return func() {
		mu.Lock()
		defer mu.Unlock()
		over = true
	}
}

// A call that is never answered may still be carried out when reading shows nothing
// of it: that is told as unknown, and the same plan finds out.
func TestSilenceIsUnknownAndNeverGuessed(t *testing.T) {
	for _, done := range []bool{false, true} {
		s := newScene(t)
		s.stored(sink, 0, 8, 4)
		s.deletes()
		s.timeout = 2 * time.Second
		stop := s.breaks(flusstest.Reaction{Silent: true, After: done}, 0, true)
		result, _, err := s.apply()
		stop()
		if done {
			if err != nil || result.Verdict != actions.Applied {
				t.Error("done, and silent:", result.Verdict, err)
			}
			continue
		}
		if fault.KindOf(err) != fault.Unknown || result.Verdict != actions.Undecided {
			t.Error("not done, and silent:", result.Verdict, err)
		}
		s.says(err.Error(), "may still be carried out")
		s.applied()
	}
}
