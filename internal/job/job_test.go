package job_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/job"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var scan = safetext.Of("scan action-state")

func untilCancelled(ctx context.Context, _ *job.Progress) error {
	<-ctx.Done()
	return ctx.Err()
}

func TestAJobEndsWithItsWorkersError(t *testing.T) {
	broken := errors.New("broker closed the connection")
	for _, want := range []error{nil, broken} {
		j := job.Start(t.Context(), scan, func(context.Context, *job.Progress) error { return want })
		if got := j.Wait(); got != want || j.Err() != want {
			t.Errorf("Wait %v, Err %v, want %v", got, j.Err(), want)
		}
		select {
		case <-j.Done():
		default:
			t.Error("Done is open after Wait")
		}
	}
}

func TestCancelStopsTheWork(t *testing.T) {
	j := job.Start(t.Context(), scan, untilCancelled)
	if j.Err() != nil || j.Snapshot().State == job.Ended {
		t.Error("it ended by itself")
	}
	j.Cancel()
	if err := j.Wait(); fault.KindOf(err) != fault.Cancelled {
		t.Errorf("error %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	j = job.Start(ctx, scan, untilCancelled)
	cancel()
	if err := j.Wait(); !errors.Is(err, context.Canceled) {
		t.Errorf("the parent's end: error %v", err)
	}
}

func TestProgressIsReadWhileTheWorkGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := job.Start(t.Context(), scan, func(ctx context.Context, p *job.Progress) error {
			p.SetTotal(4000)
			p.SetLabel(safetext.Of("partition 3"))
			for range 20 { // 1000 a second, then 100 a second
				time.Sleep(100 * time.Millisecond)
				p.Add(100)
			}
			for range 20 {
				time.Sleep(100 * time.Millisecond)
				p.Add(10)
			}
			return nil
		})
		read := func(after time.Duration) job.Snapshot {
			time.Sleep(after)
			synctest.Wait()
			return j.Snapshot()
		}
		s := read(500 * time.Millisecond)
		want := job.Snapshot{State: job.Running, Done: 500, Total: 4000, Rate: 1000, Label: safetext.Of("partition 3"), Elapsed: 500 * time.Millisecond}
		if s != want {
			t.Errorf("after 0.5 s: %+v, want %+v", s, want)
		}
		if part, known := s.Fraction(); part != 0.125 || !known {
			t.Errorf("fraction %v, known %t", part, known)
		}
		for range 15 { // ten times a second, to 2 s
			s = read(100 * time.Millisecond)
		}
		if s.Rate != 1000 || s.Done != 2000 {
			t.Errorf("after 2 s: %+v", s)
		}
		for range 11 { // to 3.1 s: the rate follows within about a second
			s = read(100 * time.Millisecond)
		}
		if s.Rate != 100 || s.Done != 2110 {
			t.Errorf("after 3.1 s: %+v", s)
		}
		if err := j.Wait(); err != nil {
			t.Fatal(err)
		}
		s = read(time.Hour)
		if s.State != job.Ended || s.Done != 2200 || s.Elapsed != 4*time.Second || s.Rate != 550 {
			t.Errorf("after the end: %+v", s)
		}
	})
}

func TestAFractionNeedsATotal(t *testing.T) {
	if _, known := (job.Snapshot{Done: 5}).Fraction(); known {
		t.Error("a fraction of an unknown total")
	}
	if part, _ := (job.Snapshot{Done: 12, Total: 10}).Fraction(); part != 1 {
		t.Errorf("more done than there was: %v", part)
	}
}

func TestManyReadersAndWritersAtOnce(t *testing.T) {
	const workers, each = 4, 10_000
	j := job.Start(t.Context(), scan, func(ctx context.Context, p *job.Progress) error {
		done := make(chan struct{})
		for range workers {
			go func() {
				for i := range each {
					p.Add(1)
					p.SetLabel(safetext.Sprintf("record %d", i))
				}
				done <- struct{}{}
			}()
		}
		for range workers {
			<-done
		}
		return nil
	})
	last := int64(0)
	for j.Err() == nil {
		s := j.Snapshot()
		if s.Done < last {
			t.Fatalf("the count went from %d back to %d", last, s.Done)
		}
		if last = s.Done; s.State == job.Ended {
			break
		}
	}
	if got := j.Snapshot().Done; got != workers*each {
		t.Errorf("%d done, want %d", got, workers*each)
	}
}

func explode(offsets []int64) int64 { return offsets[len(offsets)] }

func TestAPanicBecomesAFaultWithItsStack(t *testing.T) {
	j := job.Start(t.Context(), scan, func(context.Context, *job.Progress) error {
		explode(nil)
		return nil
	})
	err := j.Wait()
	if fault.KindOf(err) != fault.Bug || !strings.HasPrefix(err.Error(), "scan action-state was stopped by a defect in this program: panic: runtime error: index out of range") {
		t.Errorf("error %v", err)
	}
	var p *job.PanicError
	if !errors.As(err, &p) || !strings.Contains(string(p.Stack), "job_test.explode") {
		t.Errorf("the stack does not show where: %s", p.Stack)
	}
	var cause runtime.Error
	if !errors.As(err, &cause) {
		t.Error("the runtime's error is lost")
	}
	j = job.Start(t.Context(), scan, func(context.Context, *job.Progress) error { panic("\x1b[2J") })
	if err := j.Wait(); !strings.HasSuffix(err.Error(), `panic: \x1b[2J`) {
		t.Errorf("error %q", err)
	}
	j = job.Start(t.Context(), scan, func(context.Context, *job.Progress) error { runtime.Goexit(); return nil })
	if err := j.Wait(); fault.KindOf(err) != fault.Bug || !strings.Contains(err.Error(), "runtime.Goexit") {
		t.Errorf("error %v", err)
	}
}

func TestAGroupRunsOnlySoManyAtOnce(t *testing.T) {
	const limit = 3
	g := job.NewGroup(t.Context(), limit)
	var now, most atomic.Int64
	release := make(chan struct{})
	var jobs []*job.Job
	for i := range 10 {
		jobs = append(jobs, g.Start(safetext.Sprintf("job %d", i), func(context.Context, *job.Progress) error {
			n := now.Add(1)
			defer now.Add(-1)
			for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
			}
			<-release
			return nil
		}))
	}
	for now.Load() < limit {
		time.Sleep(time.Millisecond)
	}
	states := map[job.State]int{}
	for _, j := range g.Live() {
		states[j.Snapshot().State]++
	}
	if want := fmt.Sprint(map[job.State]int{job.Queued: 7, job.Running: 3}); fmt.Sprint(states) != want {
		t.Errorf("states %v, want %s", states, want)
	}
	close(release)
	g.Wait()
	if most.Load() != limit || len(g.Live()) != 0 {
		t.Errorf("%d ran at once, %d are live", most.Load(), len(g.Live()))
	}
	for _, j := range jobs {
		if j.Err() != nil {
			t.Errorf("%s: %v", j.Name(), j.Err())
		}
	}
	if err := g.Shutdown(time.Second); err != nil {
		t.Error(err)
	}
}

func TestShutdownWaitsForAllAndTakesNoMore(t *testing.T) {
	g := job.NewGroup(t.Context(), 1)
	var finished atomic.Bool
	begun := make(chan struct{})
	first := g.Start(safetext.Of("apply"), func(ctx context.Context, _ *job.Progress) error {
		close(begun)
		<-ctx.Done()
		time.Sleep(20 * time.Millisecond) // goes on to its next safe boundary
		finished.Store(true)
		return nil
	})
	<-begun
	queued := g.Start(scan, func(context.Context, *job.Progress) error { t.Error("a queued job began"); return nil })
	if err := g.Shutdown(10 * time.Second); err != nil {
		t.Fatal(err)
	}
	if !finished.Load() || first.Err() != nil {
		t.Errorf("the running job did not finish: %v", first.Err())
	}
	late := g.Start(scan, func(context.Context, *job.Progress) error { t.Error("a late job began"); return nil })
	for name, j := range map[string]*job.Job{"queued": queued, "late": late} {
		if err := j.Wait(); fault.KindOf(err) != fault.Cancelled || j.Snapshot().State != job.Ended {
			t.Errorf("the %s job: %v", name, err)
		}
	}
}

func TestAQueuedJobCanBeCancelledAlone(t *testing.T) {
	g := job.NewGroup(t.Context(), 1)
	begun := make(chan struct{})
	running := g.Start(safetext.Of("apply"), func(ctx context.Context, p *job.Progress) error {
		close(begun)
		return untilCancelled(ctx, p)
	})
	<-begun
	queued := g.Start(scan, untilCancelled)
	queued.Cancel()
	if err := queued.Wait(); fault.KindOf(err) != fault.Cancelled {
		t.Errorf("error %v", err)
	}
	if s := queued.Snapshot(); s.Elapsed != 0 || s.State != job.Ended {
		t.Errorf("snapshot %+v", s)
	}
	if running.Snapshot().State != job.Running {
		t.Error("the other job ended too")
	}
	if err := g.Shutdown(10 * time.Second); err != nil {
		t.Error(err)
	}
}

func TestShutdownNamesTheJobsThatDoNotEnd(t *testing.T) {
	g := job.NewGroup(t.Context(), 2)
	begun, stuck := make(chan struct{}), make(chan struct{})
	g.Start(safetext.Of("apply 3f9c21aa"), func(context.Context, *job.Progress) error {
		close(begun)
		<-stuck
		return nil
	})
	<-begun
	g.Start(scan, untilCancelled)
	err := g.Shutdown(50 * time.Millisecond)
	if fault.KindOf(err) != fault.Busy || err.Error() != "still running after 50ms: apply 3f9c21aa" {
		t.Errorf("error %v", err)
	}
	close(stuck)
	if err := g.Shutdown(10 * time.Second); err != nil {
		t.Error(err)
	}
}
