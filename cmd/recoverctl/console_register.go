package main

import (
	"context"
	"slices"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/config"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/flussrpc"
)

// sinkTable is the table that a job's sink writes to, as far as its configuration
// says: one that keeps action state has no producer.
func sinkTable(j config.Job) string {
	if keptInFluss(j) {
		return ""
	}
	return j.Fluss.Table
}

// logEnds are what a plan registers where nothing valid is stored: the log ends of
// the tables that the entry which expired is of, else of the one that the job's sink
// writes to.
func (c consoleProducer) logEnds(ctx context.Context) ([]actions.ProducerLog, error) {
	e := c.sources.Look(ctx, c.id, nil)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case e.Err != nil:
		return nil, e.Err
	}
	var names []string
	for _, t := range e.Entry.Tables {
		if t.Table != "" && !slices.Contains(names, t.Table) {
			names = append(names, t.Table)
		}
	}
	if sink := sinkTable(c.job); len(names) == 0 && sink != "" {
		names = []string{sink}
	}
	if len(names) == 0 {
		return nil, fault.New(fault.Config, "make a plan", "which table the sink of producer %s writes to is not known: nothing is stored that names one", safe(c.id)).
			WithHint("recoverctl plan producer-register %s --latest --table DATABASE.TABLE --out FILE", c.id)
	}
	var all []actions.ProducerLog
	for _, name := range names {
		path, err := flussrpc.ParseTablePath(name)
		if err != nil {
			return nil, err
		}
		logs, err := c.sources.Latest(ctx, path)
		if err != nil {
			return nil, err
		}
		all = append(all, logs...)
	}
	return all, nil
}
