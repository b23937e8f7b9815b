package console

import (
	"context"
	"strings"
	"time"

	"github.com/recoverctl/recoverctl/inspect"
	messages "github.com/recoverctl/recoverctl/inspect/explain"
	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/views/connections"
	"github.com/recoverctl/recoverctl/views/document"
	"github.com/recoverctl/recoverctl/views/explain"
	"github.com/recoverctl/recoverctl/views/guide"
	"github.com/recoverctl/recoverctl/views/jobs"
	"github.com/recoverctl/recoverctl/views/phrase"
	"github.com/recoverctl/recoverctl/views/plan"
	"github.com/recoverctl/recoverctl/views/records"
	"github.com/recoverctl/recoverctl/views/rollback"
	"github.com/recoverctl/recoverctl/views/scan"
)

// Options are what a console of a profile needs.
type Options struct {
	Theme  theme.Theme
	Now    func() time.Time // time.Now if nil
	Jobs   []inspect.Job    // in the order of the profile
	Source jobs.Source
	// LiveEvery is how often a running job is read again while its own screen
	// shows it, live.Usual as a rule; 0: only when asked.
	LiveEvery time.Duration
	// Plans makes cleanup plans; nil: none are made here.
	Plans plan.Source
	// Settings makes plans of a topic's settings; nil: none are made here.
	Settings document.Source
	// Rollbacks makes plans that roll a job back; nil: none are made here.
	Rollbacks rollback.Source
	// Guides checks the steps of guided procedures; nil: none are shown here.
	Guides guide.Source
	// Scans holds the scans for durable calls; nil: none are made here.
	Scans *scan.Scans
	// FindKey says what is known of a key as it was typed; nil: none is looked for.
	FindKey func(ctx context.Context, job inspect.Job, typed string) (inspect.KeyState, error)
	// Records opens a topic to browse its records; nil: none are shown.
	Records records.Open
	// WALs are the write-ahead logs of the profile's jobs.
	WALs []WAL
	// Fluss are the Fluss clusters of the profile's jobs.
	Fluss []Fluss
	// Others are the jobs among Jobs of another engine, by their place.
	Others map[int]jobs.Other
	// Explained are the profile's jobs as a pasted message may speak of them.
	Explained []messages.Job
	// Connections says what the console is connected to. It is called from the
	// console's goroutine and must answer at once.
	Connections func() []connections.Connection
}

// New is the first screen, and the commands that the palette has on every screen.
func New(o Options) (tui.Screen, []tui.Command) {
	root := jobs.New(jobs.Options{Theme: o.Theme, Now: o.Now, Jobs: o.Jobs, Others: o.Others, Source: o.Source, LiveEvery: o.LiveEvery, Plans: o.Plans, Settings: o.Settings, Rollbacks: o.Rollbacks, Guides: o.Guides, Scans: o.Scans, FindKey: o.FindKey, Records: o.Records})
	names := make([]string, 0, len(o.Jobs))
	for _, j := range o.Jobs {
		names = append(names, phrase.Job(j))
	}
	commands := []tui.Command{explainCommand(o.Theme, o.Explained), {
		Name: "connections", Help: "brokers, JobManagers, places and path mappings",
		Run: func(string) tui.Cmd {
			return tui.Push(connections.New(connections.Options{Theme: o.Theme, Now: o.Now, List: o.Connections}))
		},
	}}
	commands = append(commands, walCommand(o)...)
	commands = append(commands, flussCommands(o)...)
	if len(names) == 0 {
		return root, commands
	}
	return root, append(commands, tui.Command{
		Name: "job", Args: "NAME", Choices: names, Help: "open a job: " + strings.Join(names, ", "),
		Run: func(name string) tui.Cmd {
			screen, ok := root.Open(name)
			if !ok {
				return tui.Say(theme.Warning, "jobs: "+strings.Join(names, ", "))
			}
			return tui.Push(screen)
		},
	})
}

// explainCommand opens the screen that takes a pasted log.
func explainCommand(th theme.Theme, jobs []messages.Job) tui.Command {
	return tui.Command{
		Name: "explain", Help: "paste a log or an exception: which rule spoke, and what now",
		Run: func(string) tui.Cmd { return tui.Push(explain.New(explain.Options{Theme: th, Jobs: jobs})) },
	}
}
