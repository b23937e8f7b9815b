package job_test

import (
	"context"
	"slices"
	"testing"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/views/job"
	"github.com/recoverctl/recoverctl/views/plan"
	"github.com/recoverctl/recoverctl/views/viewtest"
)

// noCleanup is there, so that what uses it could be offered.
type noCleanup struct{ plan.Source }

// Of a job on Fluss, which has no cleanups, neither keys nor commands offer one.
func TestAJobOnFlussOffersNoCleanup(t *testing.T) {
	source := viewtest.Incident()
	for _, store := range []inspect.Store{inspect.StoreKafka, inspect.StoreFluss} {
		j := viewtest.Job()
		j.Store = store
		o := job.Options{Theme: viewtest.Plain(), Now: viewtest.Clock, Job: j, Source: source, Plans: noCleanup{}, Settings: noSettings{}, Guides: &asked{}}
		o.Reading.Overview, o.Reading.Err = source.Overview(context.Background(), viewtest.Job())
		var offered []string
		for _, c := range job.Commands(o) {
			offered = append(offered, c.Name)
		}
		for _, k := range job.New(o).Keys() {
			offered = append(offered, k.Help)
		}
		for _, name := range []string{"operations", plan.SettingsCommand, "guide", "plan"} {
			if has := slices.Contains(offered, name); has != (store == inspect.StoreKafka) {
				t.Errorf("%s: %s is offered: %t", store, name, has)
			}
		}
		if !slices.Contains(offered, "findings") || !slices.Contains(offered, "point") {
			t.Errorf("%s: %q", store, offered)
		}
	}
}
