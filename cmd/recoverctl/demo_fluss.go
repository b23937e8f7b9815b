package main

import (
	"context"
	"time"

	"github.com/recoverctl/recoverctl/config"
	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/inspect/fluss"
	"github.com/recoverctl/recoverctl/internal/testkit/flussincident"
)

// flussSample is the sample on Apache Fluss.
func (a *app) flussSample() staged {
	return staged{
		flag: "fluss", usage: "show the sample on Apache Fluss",
		story: `With --fluss it is a Fluss cluster instead, with the action state of a job that
failed while its store wrote its states anew, seven recovery points, and what the
coordinator keeps for eight producers of sinks: one can be restarted as it is, one
undoes unfinished rows first, and of six why not is told.`,
		start: func(ctx context.Context, dir string, now time.Time) (sample, error) {
			return flussincident.Start(ctx, dir, now)
		},
		plain: a.demoFlussPlain, first: "inspect job",
	}
}

// demoFlussPlain is inspect job and inspect fluss producers on the sample. Their
// findings are the point of the demo, not a failure of it.
func (a *app) demoFlussPlain(ctx context.Context) error {
	return a.withChosen(func(in *inspect.Inspector, job inspect.Job) error {
		o, err := in.Overview(ctx, job)
		faults := []error{err}
		return a.withFluss(nothingToCheck, func(s *fluss.Store, _ config.Job) error {
			list, unread := s.Producers(ctx, flussincident.Producers())
			data := struct {
				Job       inspect.JobOverview `json:"job"`
				Producers []fluss.Producer    `json:"producers"`
			}{o, list}
			return a.printer().result("FlussSample", data, append(faults, unread...), func(t *table) {
				renderOverview(t, o, a.clock.Now())
				t.line("")
				t.line("PRODUCERS")
				renderFlussProducers(t, list, listNamed, a.clock.Now())
			})
		})
	})
}
