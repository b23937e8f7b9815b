package arkflow

import (
	"context"
	"time"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/inspect/arkflow"
	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/views/document"
	"github.com/recoverctl/recoverctl/views/rollback"
	"github.com/recoverctl/recoverctl/views/wal"
)

// Source reads one hub, with the write-ahead log of the profile's job beside it
// where there is one. An error says what could not be read, beside what could: an
// answer without the hub's address holds nothing.
type Source interface {
	// Jobs reads every job and every stream.
	Jobs(ctx context.Context) (arkflow.JobList, error)
	// Job reads one job with every point of its store.
	Job(ctx context.Context, id string) (arkflow.JobDetail, error)
	// Replay is what a start would send again if it restored the point of an id of a job
	// that was read: the log is read again, and nothing is asked of the hub.
	Replay(ctx context.Context, d arkflow.JobDetail, id string) (arkflow.ReplayCost, error)
}

// Options are what the screens need.
type Options struct {
	Theme theme.Theme
	Now   func() time.Time // time.Now if nil
	// Job is the profile's. Its name is that of a job or of a stream at the hub;
	// where it is neither, or empty, the hub itself is shown.
	Job    inspect.Job
	Source Source     // nil: no hub is configured
	Log    wal.Source // nil: no write-ahead log is configured
	// Rollbacks makes plans that take a job of the hub, by its id, to a lower
	// version; nil: none are made here.
	Rollbacks func(id string) rollback.Source
	// Plans makes plans of a kind of package actions about a job of the hub, by its id,
	// or about a stream, as NODE/STREAM; nil: none are made here.
	Plans func(kind, id string) document.Source
}

func (o Options) now() time.Time {
	if o.Now == nil {
		return time.Now()
	}
	return o.Now()
}

// log is the screen of the profile's write-ahead log.
func (o Options) log() tui.Screen {
	return wal.New(wal.Options{Theme: o.Theme, Now: o.Now, Name: o.Job.Name, Source: o.Log})
}

// logKey opens it, where there is one.
func (o Options) logKey() []tui.Key {
	if o.Log == nil {
		return nil
	}
	return []tui.Key{{Keys: []string{"L"}, Help: "log", Run: func() tui.Cmd { return tui.Push(o.log()) }}}
}
