package console

import (
	"strings"

	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/views/wal"
)

// WAL is the write-ahead log of a job.
type WAL struct {
	Job    string // its name
	Source wal.Source
}

// walCommand opens the write-ahead log of a job; of the only one that has one
// without a name. Without any there is no such command.
func walCommand(o Options) []tui.Command {
	if len(o.WALs) == 0 {
		return nil
	}
	var names []string
	for _, w := range o.WALs {
		names = append(names, w.Job)
	}
	open := func(w WAL) tui.Cmd {
		return tui.Push(wal.New(wal.Options{Theme: o.Theme, Now: o.Now, Name: w.Job, Source: w.Source}))
	}
	return []tui.Command{{
		Name: "wal", Args: "JOB", Choices: names, Help: "the write-ahead log of a job: " + strings.Join(names, ", "),
		Run: func(name string) tui.Cmd {
			for _, w := range o.WALs {
				if w.Job == name || name == "" && len(o.WALs) == 1 {
					return open(w)
				}
			}
			return tui.Say(theme.Warning, "jobs with a write-ahead log: "+strings.Join(names, ", "))
		},
	}}
}
