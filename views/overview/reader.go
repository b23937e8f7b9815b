package overview

import (
	"context"
	"time"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/tui"
)

// Source reads overviews. *inspect.Inspector is one.
type Source interface {
	// OverviewSoon is the state of a job's recovery as of now. The error says what
	// could not be read, beside what could. show gets what there is when patience
	// is over and something is still awaited, at most once.
	OverviewSoon(ctx context.Context, job inspect.Job, patience time.Duration,
		show func(inspect.JobOverview, inspect.Awaited, error)) (inspect.JobOverview, error)
}

// patience is how long the recovery points wait for the brokers and the
// JobManager, to be shown together with what those say. One that hangs does so for
// the whole of a network step.
const patience = time.Second

// early is an overview without what is awaited. It is nil where all answered in
// time.
type early struct {
	overview *inspect.JobOverview
	awaited  inspect.Awaited
	err      error
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

// Read starts a read. The screen gives its results to Take.
func (r *Reader) Read() tui.Cmd {
	r.started, r.reading = r.now(), true
	job, source := r.job, r.source
	parts := make(chan early, 1)
	return tui.Batch(
		tui.Load(r.earlySlot(), func(ctx context.Context) (early, error) {
			select {
			case e := <-parts: // none once the whole is there
				return e, nil
			case <-ctx.Done():
				return early{}, ctx.Err()
			}
		}),
		tui.Load(r.slot, func(ctx context.Context) (inspect.JobOverview, error) {
			defer close(parts)
			return source.OverviewSoon(ctx, job, patience, func(o inspect.JobOverview, awaited inspect.Awaited, err error) {
				parts <- early{&o, awaited, err}
			})
		}))
}

func (r *Reader) earlySlot() string { return r.slot + " without what is awaited" }

// Now is the reader's clock.
func (r *Reader) Now() time.Time { return r.now() }

// Busy reports whether a read was started and has brought no result yet.
func (r *Reader) Busy() bool { return r.reading }

// Answered reports whether a read has ended, whatever it brought.
func (r *Reader) Answered() bool { return r.answers > 0 }

// Take takes a result of a read; false if msg is none of this reader's. A read
// that brought nothing leaves what was known before, and says that it failed.
func (r *Reader) Take(msg tui.Msg) bool {
	if loaded, ok := msg.(tui.Loaded[early]); ok && loaded.Slot == r.earlySlot() {
		return r.takeEarly(loaded.Value)
	}
	loaded, ok := msg.(tui.Loaded[inspect.JobOverview])
	if !ok || loaded.Slot != r.slot {
		return false
	}
	r.reading = false
	r.answers++
	nothing := loaded.Err != nil && loaded.Value.Empty()
	switch {
	case nothing && r.Reading.Known():
		r.Reading.Err, r.Reading.Failed, r.Reading.Awaited = loaded.Err, true, inspect.Awaited{}
	case nothing:
		r.Reading = Reading{Overview: loaded.Value, Err: loaded.Err, Failed: false, Scans: r.Reading.Scans}
	default:
		r.Reading = Reading{Overview: loaded.Value, Err: loaded.Err, At: r.started, Scans: r.Reading.Scans}
		r.Renew()
	}
	return true
}

// Renew takes what the newest scan of the topic has found by now; false where
// nothing is new. It reads nothing: a screen calls it before it is drawn.
func (r *Reader) Renew() bool {
	renewed, ok := r.Reading.Renewed(r.job)
	r.Reading = renewed
	return ok
}

// takeEarly shows what there is while a system is awaited. What is known already
// of that system is worth more than fresher facts without it.
func (r *Reader) takeEarly(e early) bool {
	switch {
	case e.overview == nil, !r.reading, e.err != nil && e.overview.Empty(),
		e.awaited.Live && r.Reading.Overview.Live != nil, e.awaited.Log && r.Reading.Overview.TopicID != "":
		return false
	}
	r.Reading = Reading{Overview: *e.overview, Err: e.err, At: r.started, Awaited: e.awaited, Scans: r.Reading.Scans}
	r.Renew()
	return true
}
