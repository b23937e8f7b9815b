package job

import (
	"context"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

// Work is what a job does. It returns soon after ctx ends.
type Work func(ctx context.Context, p *Progress) error

// Job is one piece of work and how far it is. All methods may be called by
// several goroutines.
type Job struct {
	name     safetext.Text
	progress Progress
	meter    meter
	cancel   context.CancelFunc
	began    atomic.Pointer[time.Time]
	done     chan struct{}

	// Written before done is closed, read after.
	endedAt time.Time
	err     error
}

// Start runs work in its own goroutine. The job is cancelled when ctx is.
func Start(ctx context.Context, name safetext.Text, work Work) *Job {
	ctx, j := prepare(ctx, name)
	go func() {
		defer j.cancel()
		j.run(ctx, work)
	}()
	return j
}

func prepare(ctx context.Context, name safetext.Text) (context.Context, *Job) {
	ctx, cancel := context.WithCancel(ctx)
	return ctx, &Job{name: name, cancel: cancel, done: make(chan struct{})}
}

// run does the work in the calling goroutine. It sets the outcome whatever the
// work does: return, panic, or end the goroutine.
func (j *Job) run(ctx context.Context, work Work) {
	var err error
	returned := false
	defer func() {
		if value := recover(); value != nil {
			err = j.defect(value)
		} else if !returned {
			err = j.defect("the worker's goroutine was ended by runtime.Goexit")
		}
		j.end(err)
	}()
	now := time.Now()
	j.began.Store(&now)
	err = work(ctx, &j.progress)
	returned = true
}

// end sets the outcome. It is called once.
func (j *Job) end(err error) {
	j.endedAt, j.err = time.Now(), err
	close(j.done)
}

// defect is called while the panicking frames are still on the stack.
func (j *Job) defect(value any) error {
	cause := &PanicError{Value: value, Stack: debug.Stack()}
	return fault.Wrap(fault.Bug, j.name.String(), cause, "%s was stopped by a defect in this program", j.name).
		WithHint("what it had done by then stays done; report the defect with its stack")
}

// Name is what the job was called.
func (j *Job) Name() safetext.Text { return j.name }

// Cancel asks the work to stop and returns at once.
func (j *Job) Cancel() { j.cancel() }

// Done is closed when the work has ended.
func (j *Job) Done() <-chan struct{} { return j.done }

// Err is the outcome once the work has ended: nil for success. Before that it
// is nil too; ask Done first.
func (j *Job) Err() error {
	if !j.ended() {
		return nil
	}
	return j.err
}

func (j *Job) ended() bool {
	select {
	case <-j.done:
		return true
	default:
		return false
	}
}

// Wait waits until the work has ended and returns its outcome.
func (j *Job) Wait() error {
	<-j.done
	return j.err
}

// Snapshot is the progress now. It never makes the worker wait.
func (j *Job) Snapshot() Snapshot {
	s := Snapshot{Done: j.progress.done.Load(), Total: j.progress.total.Load()}
	if label := j.progress.label.Load(); label != nil {
		s.Label = *label
	}
	ended := j.ended()
	if ended {
		s.State = Ended
		s.Done = j.progress.done.Load() // the last count, not one from before the end
	}
	began := j.began.Load()
	switch {
	case began == nil:
		// It waits for its turn, or was cancelled before it came.
	case ended:
		s.Elapsed = j.endedAt.Sub(*began)
		s.Rate = perSecond(s.Done, s.Elapsed)
	default:
		now := time.Now()
		s.State = Running
		s.Elapsed = now.Sub(*began)
		s.Rate = j.meter.read(*began, now, s.Done)
	}
	return s
}

// PanicError is a panic of a worker, with the stack where it happened.
type PanicError struct {
	Value any
	Stack []byte
}

// Error is the panic's value, made safe; the stack is left to the one who
// writes the report.
func (e *PanicError) Error() string {
	return "panic: " + safetext.Sprintf("%v", e.Value).String()
}

// Unwrap is the value where it is an error, as runtime errors are.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}
