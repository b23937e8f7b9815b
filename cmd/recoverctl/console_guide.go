package main

import (
	"context"
	"errors"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/views/guide"
)

// consoleGuides checks the steps of guided procedures for the console as guide
// does. It only reads.
type consoleGuides struct {
	app     *app
	systems connections
}

var _ guide.Source = consoleGuides{}

func (c consoleGuides) Guide(ctx context.Context, job inspect.Job, name, point, to string) (actions.GuideReport, error) {
	if err := job.HasCleanups("guide"); err != nil {
		return actions.GuideReport{}, err
	}
	report, faults := c.app.guideOf(ctx, c.systems, job, name, point, to)
	if ctx.Err() != nil {
		return actions.GuideReport{}, ctx.Err()
	}
	return report, errors.Join(faults...)
}
