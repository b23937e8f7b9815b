package main

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/recoverctl/recoverctl/config"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/tui"
	views "github.com/recoverctl/recoverctl/views/connections"
)

// asking notes that a table is asked about, and how that went: it is called with the
// error when it is known.
func (l *lazyFluss) asking(ctx context.Context) (answered func(error)) {
	before := l.link.now()
	l.link.trying()
	return func(err error) {
		switch {
		case err == nil:
			l.link.up()
		case fault.KindOf(err) == fault.Cancelled || ctx.Err() != nil:
			l.link.back(before)
		default:
			l.link.failed(err)
		}
	}
}

// logConnections are where action state is read from, as the console's header shows
// them: the brokers, the Fluss clusters, or both. Of several clusters the worst state
// is shown.
func (c connections) logConnections() []tui.Connection {
	var out []tui.Connection
	if c.log.configured() || len(c.tables.tables) == 0 {
		out = append(out, c.log.connection())
	}
	if len(c.tables.tables) > 0 {
		worst := connIdle
		for _, t := range c.tables.tables {
			worst = max(worst, t.link.now().state)
		}
		out = append(out, worst.header("fluss"))
	}
	return out
}

// flussConnections are the tables that action state is read from.
func flussConnections(jobs []config.Job, tables logs, known func(kind, address, about string, f linkFacts) views.Connection) (out []views.Connection) {
	for _, name := range slices.Sorted(maps.Keys(tables.tables)) {
		var servers, users []string
		for _, j := range jobs {
			if keptInFluss(j) && j.Fluss.Table == name {
				servers, users = j.Fluss.Servers, append(users, "job "+j.Name)
			}
		}
		out = append(out, known("fluss", name+" at "+strings.Join(servers, ", "), strings.Join(users, ", "), tables.tables[name].link.now()))
	}
	return out
}
