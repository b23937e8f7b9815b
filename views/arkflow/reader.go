package arkflow

import (
	"context"
	"time"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/views/phrase"
)

// reader reads one answer for a screen, as often as asked, and keeps the newest
// that brought something.
type reader[T any] struct {
	slot string
	ask  func(context.Context) (T, error)
	some func(T) bool // whether an answer that came with an error holds anything
	now  func() time.Time

	started time.Time
	busy    bool

	value T
	known bool      // something was read
	at    time.Time // when that was asked for
	err   error     // of the newest read
	stale bool      // that brought nothing: value is older
}

// when is when what is known was asked for.
func (r *reader[T]) when() time.Time { return r.at }

// read starts a read. The screen gives its result to take.
func (r *reader[T]) read() tui.Cmd {
	r.started, r.busy = r.now(), true
	return tui.Load(r.slot, r.ask)
}

// take takes the result of a read; false if msg is none of this reader's.
func (r *reader[T]) take(msg tui.Msg) bool {
	loaded, ok := msg.(tui.Loaded[T])
	if !ok || loaded.Slot != r.slot {
		return false
	}
	r.busy, r.err = false, loaded.Err
	if loaded.Err != nil && !r.some(loaded.Value) {
		r.stale = r.known
		return true
	}
	r.value, r.known, r.at, r.stale = loaded.Value, true, r.started, false
	return true
}

// problems are what could not be read and what was found, the worst first.
func (r *reader[T]) problems(findings []inspect.Finding) []inspect.Finding {
	var worth []inspect.Finding
	for _, f := range findings {
		if f.Severity != inspect.SeverityInfo {
			worth = append(worth, f)
		}
	}
	if r.err == nil {
		return worth
	}
	return phrase.WithFaults(worth, r.err, r.stale)
}
