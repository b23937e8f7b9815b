package main

import (
	"context"

	"github.com/recoverctl/recoverctl/actions"
	change "github.com/recoverctl/recoverctl/actions/fluss"
	"github.com/recoverctl/recoverctl/config"
	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/inspect/fluss"
	"github.com/recoverctl/recoverctl/internal/flussrpc"
	"github.com/recoverctl/recoverctl/internal/secret"
	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/views/apply"
	"github.com/recoverctl/recoverctl/views/console"
	"github.com/recoverctl/recoverctl/views/document"
	screens "github.com/recoverctl/recoverctl/views/fluss"
)

// consoleFluss are the Fluss clusters of a profile's jobs, as the console reads
// them and makes plans about their producers.
func (a *app) consoleFluss(p config.Profile, stores *objectStores, prompt secret.Prompter, look theme.Theme, applies *apply.Current) []console.Fluss {
	var all []console.Fluss
	for _, j := range p.Jobs {
		if len(j.Fluss.Servers) == 0 {
			continue
		}
		name := safe(j.Name)
		if name == "" {
			name = "job"
		}
		job, sources := jobOf(p.Name, j), a.producerSources(j, prompt)
		all = append(all, console.Fluss{Job: name, Options: screens.Options{
			Theme: look, Now: a.clock.Now, Job: name, Table: j.Fluss.Table, Sink: sinkTable(j), Nodes: len(j.Fluss.ZooKeeper.Servers) > 0,
			Source: consoleCluster{app: a, profile: p, job: j, stores: stores, prompt: prompt},
			Plan: func(id string, register bool) tui.Screen {
				return document.New(document.Options{Theme: look, Job: job, Words: producerWords(id, register),
					Source: consoleProducer{consoleDocuments: consoleDocuments{a, applies}, sources: sources, job: j, id: id, register: register}})
			},
		}})
	}
	return all
}

// producerWords are what the screen calls a plan about a producer.
func producerWords(id string, register bool) document.Words {
	w := document.Words{
		Plan: "producer-delete plan", Action: "Delete offsets", Making: "reading the entry of producer " + safe(id),
		About: "deletes what is kept for producer " + safe(id), Done: "nothing is stored for the producer any more", Column: "ENTRY", ID: "entry",
		Race: "Fluss deletes by producer id and compares nothing: the entry is read directly before and after, not during it.",
	}
	if register {
		w.Plan, w.Action, w.About, w.Done = "producer-register plan", "Register offsets", "registers the log ends for producer "+safe(id), "exactly these offsets are stored already"
		w.Race = "Fluss takes whatever offsets it is given: entry and logs are read directly before and after, not during it."
	}
	return w
}

// consoleCluster is one job's cluster. It is connected to for each answer.
type consoleCluster struct {
	app     *app
	profile config.Profile
	job     config.Job
	stores  *objectStores
	prompt  secret.Prompter
}

var _ screens.Source = consoleCluster{}

// Producers implements the screens' source.
func (c consoleCluster) Producers(ctx context.Context) ([]fluss.Producer, []error, error) {
	at, err := c.app.openFluss(c.profile, c.job.Fluss, c.stores, c.prompt)
	if err != nil {
		return nil, nil, err
	}
	defer at.close()
	listed, unlisted, err := at.store.ListProducers(ctx)
	if err != nil {
		return nil, nil, err
	}
	list, faults := at.store.Producers(ctx, listed.IDs)
	return list, append(unlisted, faults...), ctx.Err()
}

// Producer implements the screens' source.
func (c consoleCluster) Producer(ctx context.Context, id string) (fluss.Producer, []error, error) {
	at, err := c.app.openFluss(c.profile, c.job.Fluss, c.stores, c.prompt)
	if err != nil {
		return fluss.Producer{}, nil, err
	}
	defer at.close()
	return at.store.Producer(ctx, id)
}

// Buckets implements the screens' source.
func (c consoleCluster) Buckets(ctx context.Context) (fluss.Buckets, []error, error) {
	path, err := flussTable(nil, c.job)
	if err != nil {
		return fluss.Buckets{}, nil, err
	}
	at, err := c.app.openFluss(c.profile, c.job.Fluss, c.stores, c.prompt)
	if err != nil {
		return fluss.Buckets{}, nil, err
	}
	defer at.close()
	return at.store.Buckets(ctx, path, flussrpc.NoPartition, "", nil)
}

// consoleProducer makes, judges and applies one plan about a producer for the
// console as the commands do.
type consoleProducer struct {
	consoleDocuments
	sources  change.Sources
	job      config.Job
	id       string
	register bool
}

var _ document.Source = consoleProducer{}

// Make implements document.Source.
func (c consoleProducer) Make(ctx context.Context, _ inspect.Job) (document.Made, error) {
	if err := flussrpc.CheckProducerID(c.id); err != nil {
		return document.Made{}, err
	}
	kind, ask := actions.KindProducerDelete, actions.ProducerAsk{}
	if c.register {
		kind, ask.Latest = actions.KindProducerRegister, true
		var err error
		if ask.Logs, err = c.logEnds(ctx); err != nil {
			return document.Made{}, err
		}
	}
	e := c.sources.Look(ctx, c.id, ask.Logs)
	switch {
	case ctx.Err() != nil:
		return document.Made{}, ctx.Err()
	case e.Err != nil:
		return document.Made{}, e.Err
	}
	d, p := makeProducerPlan(kind, e, ask)
	if p != nil {
		return document.Made{}, noProducerPlan(p)
	}
	return c.judge(d, e)
}

// Review implements document.Source.
func (c consoleProducer) Review(ctx context.Context, _ inspect.Job, of actions.Document) (document.Made, error) {
	e := c.sources.Gather(ctx, of)
	if ctx.Err() != nil {
		return document.Made{}, ctx.Err()
	}
	return c.judge(of, e)
}

func (c consoleProducer) judge(of actions.Document, e actions.FlussEvidence) (document.Made, error) {
	made := document.Made{Plan: of, Report: actions.ProducerReport(of, c.app.withProducerJournal(e, of)), Steps: actions.ProducerSteps(of), At: e.At, Cluster: of.Target.Cluster, Unread: e.Err}
	return c.made(made, of.Kind, e.Job, e.Err, e.EntryErr, e.SupposedErr)
}

// Start implements document.Handler.
func (c consoleProducer) Start(_ context.Context, job inspect.Job, made document.Made, answer apply.Answer) (*apply.Running, error) {
	return c.start(job, made, answer, made.Plan.Kind, c.app.beginProducer(c.sources))
}
