package overview

import (
	"context"
	"time"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/tui"
)

// Source reads overviews. *inspect.Inspector is one.
type Source interface {
	// Overview is the state of a job's recovery as of now. The error says what
	// could not be read, beside what could.
	Overview(ctx context.Context, job inspect.Job) (inspect.JobOverview, error)
}

// Reader reads one job's overview for a screen, as often as asked, and keeps the
// newest that brought something.
type Reader struct {
	Reading Reading

	slot    string
	job     inspect.Job
	source  Source
	now     func() time.Time
	started time.Time
	reading bool
	answers int
}

// NewReader makes a reader that has read nothing yet. Its reads run in slot.
func NewReader(slot string, job inspect.Job, source Source, now func() time.Time) *Reader {
	return &Reader{slot: slot, job: job, source: source, now: now}
}

// Read starts a read. The screen gives its result to Take.
func (r *Reader) Read() tui.Cmd {
	r.started, r.reading = r.now(), true
	job, source := r.job, r.source
	return tui.Load(r.slot, func(ctx context.Context) (inspect.JobOverview, error) {
		return source.Overview(ctx, job)
	})
}

// Now is the reader's clock.
func (r *Reader) Now() time.Time { return r.now() }

// Busy reports whether a read was started and has brought no result yet.
func (r *Reader) Busy() bool { return r.reading }

// Answered reports whether a read has ended, whatever it brought.
func (r *Reader) Answered() bool { return r.answers > 0 }

// Take takes a read's result; false if msg is none of this reader's. A read that
// brought nothing leaves what was known before, and says that it failed.
func (r *Reader) Take(msg tui.Msg) bool {
	loaded, ok := msg.(tui.Loaded[inspect.JobOverview])
	if !ok || loaded.Slot != r.slot {
		return false
	}
	r.reading = false
	r.answers++
	nothing := loaded.Err != nil && loaded.Value.Empty()
	switch {
	case nothing && r.Reading.Known():
		r.Reading.Err, r.Reading.Failed = loaded.Err, true
	case nothing:
		r.Reading = Reading{Overview: loaded.Value, Err: loaded.Err, Failed: false}
	default:
		r.Reading = Reading{Overview: loaded.Value, Err: loaded.Err, At: r.started}
	}
	return true
}
