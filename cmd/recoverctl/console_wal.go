package main

import (
	"context"

	"github.com/recoverctl/recoverctl/config"
	"github.com/recoverctl/recoverctl/inspect/arkflow"
	"github.com/recoverctl/recoverctl/views/console"
)

// consoleWALs are the write-ahead logs of a profile's jobs, as the console reads
// them.
func (a *app) consoleWALs(profile config.Profile, stores *objectStores) []console.WAL {
	logs := a.logs(stores)
	var all []console.WAL
	for _, j := range profile.Jobs {
		if j.ArkFlow.WAL == "" {
			continue
		}
		name := safe(j.Name)
		if name == "" {
			name = "log"
		}
		all = append(all, console.WAL{Job: name, Source: consoleWAL{logs, j.ArkFlow.WAL}})
	}
	return all
}

// consoleWAL is one log.
type consoleWAL struct {
	logs  *arkflow.Logs
	place string
}

// Read implements wal.Source.
func (w consoleWAL) Read(ctx context.Context) (arkflow.WriteAheadLog, error) {
	return w.logs.Read(ctx, w.place, arkflow.Question{})
}

// Lines implements wal.Source.
func (w consoleWAL) Lines(ctx context.Context, l arkflow.WriteAheadLog, from uint64, limit int) ([]arkflow.Line, bool, error) {
	return w.logs.Lines(ctx, l, from, limit)
}

// Open implements wal.Source.
func (w consoleWAL) Open(ctx context.Context, l arkflow.WriteAheadLog, sequence uint64) (arkflow.Opened, error) {
	return w.logs.Open(ctx, l, sequence)
}
