package main

import (
	"context"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/actions/fluss"
	"github.com/recoverctl/recoverctl/config"
	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/flussrpc"
	"github.com/recoverctl/recoverctl/internal/secret"
)

func newPlanProducerDelete(a *app) *cobra.Command {
	var ask producerAsk
	cmd := &cobra.Command{
		Use: "producer-delete ID", Short: "Make a plan that deletes what a Fluss cluster keeps for a producer", Args: exactArgs("one producer id"),
		Long: `Reads the entry of a producer and writes a plan to a new file: an existing one is
never overwritten. Nothing is changed before the plan is applied with recoverctl
apply. The plan holds the entry as it is; another one is never deleted by it. Fluss
deletes by the producer's id and compares nothing, so the entry is read directly
before and after.

Once the entry is gone, a start without a checkpoint takes the log ends as they are
then for its baseline: rows since the deleted offsets are never undone. The plan's
own file is the way back until then: plan producer-register ID --offsets takes it.

An entry whose offsets file is gone can be deleted where the cluster has no
authorizer. Where it has one, only the entry's expiry frees the id.

Exit codes: 0 the plan is written, 2 the id is none, 3 no cluster is configured, 4
the coordinator can't be reached, 5 the file exists already or the cluster refuses
this user, 6 nothing is stored for the producer.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			ask.id = args[0]
			if err := ask.check(); err != nil {
				return err
			}
			return a.planProducer(cmd.Context(), actions.KindProducerDelete, ask)
		},
	}
	ask.registerOut(cmd)
	return cmd
}

func newPlanProducerRegister(a *app) *cobra.Command {
	var ask producerAsk
	cmd := &cobra.Command{
		Use: "producer-register ID", Short: "Make a plan that registers offsets for a producer that has none that are valid", Args: exactArgs("one producer id"),
		Long: `Compares offsets with the logs as they are, and writes a plan to a new file: an
existing one is never overwritten. Nothing is changed before the plan is applied
with recoverctl apply. A start without a checkpoint then takes these offsets for its
baseline, and undoes every row since. Offsets with which it would fail are refused.

--latest takes the log ends of the job's table as they are: unfinished rows before
them are never undone, which apply asks to be accepted by name. A log end that has
moved by then refuses the plan. --offsets FILE takes the offsets of a file: the
output of recoverctl inspect fluss producer ID -o json; the file of a plan that
deletes an entry; {"tables": [{"table": "db.t", "buckets": [{"bucket": 0,
"baseline": 12}]}]}; or the coordinator's own file of one table.

While a valid entry is there nothing can be registered: the coordinator answers
ALREADY_EXISTS and changes nothing, and so does this.

Exit codes: 0 the plan is written, 1 a valid entry is there, 2 the id is none, 3 no
cluster is configured, 4 the coordinator can't be reached, 5 the file exists already
or the cluster refuses this user, 6 there is no such table, 7 a start with these
offsets would fail, 9 the offsets file is damaged.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			ask.id = args[0]
			ask.hasTTL = cmd.Flags().Changed("ttl")
			if err := ask.check(); err != nil {
				return err
			}
			if ask.latest == (ask.offsets != "") {
				return fault.New(fault.Usage, "read flags", "offsets are those of a file, or the log ends").WithHint("give --offsets FILE or --latest")
			}
			return a.planProducer(cmd.Context(), actions.KindProducerRegister, ask)
		},
	}
	ask.registerOut(cmd)
	cmd.Flags().StringVar(&ask.offsets, "offsets", "", "register the offsets of this `FILE` (- for standard input)")
	cmd.Flags().BoolVar(&ask.latest, "latest", false, "register the log ends of the job's table as they are now")
	cmd.Flags().DurationVar(&ask.ttl, "ttl", 0, "let the entry expire after this `TIME`, as in 48h; without it, after the coordinator's own")
	return cmd
}

// producerAsk is what a plan about a producer was asked for.
type producerAsk struct {
	id, out, offsets string
	latest, hasTTL   bool
	ttl              time.Duration
}

func (ask *producerAsk) registerOut(cmd *cobra.Command) {
	cmd.Flags().StringVar(&ask.out, "out", "", "write the plan to this new `FILE`")
}

// check judges argument and flags by themselves, before anything is connected to.
func (ask producerAsk) check() error {
	if ask.out == "" || ask.out == "-" {
		return fault.New(fault.Usage, "read flags", "a plan is written to a file").WithHint("name a new one with --out FILE")
	}
	if ask.hasTTL && (ask.ttl < time.Millisecond || ask.ttl > actions.MaxProducerTTL) {
		return fault.New(fault.Usage, "read flags", "--ttl %s is not between 1ms and %s", ask.ttl, actions.MaxProducerTTL)
	}
	return flussrpc.CheckProducerID(ask.id)
}

// withProducers runs do where the evidence for plans about producers of the chosen
// job's cluster is read.
func (a *app) withProducers(op string, prompt secret.Prompter, do func(fluss.Sources) error) error {
	j, err := a.selection.RequireJob()
	if err != nil {
		return err
	}
	if len(j.Fluss.Servers) == 0 {
		return fault.New(fault.Config, op, "no Fluss cluster is configured for the job").
			WithHint("give --fluss HOST:PORT or set fluss.servers of the job in the profile")
	}
	return do(a.producerSources(j, prompt))
}

// producerSources is where evidence about producers is read. Each reading opens a
// connection of its own.
func (a *app) producerSources(j config.Job, prompt secret.Prompter) fluss.Sources {
	p := a.selection.Profile
	sources := fluss.Sources{Job: jobOf(p.Name, j), Clock: a.clock, Connect: func() (*flussrpc.Client, error) {
		return newFlussClient(j.Fluss, prompt, a.loaded.Timeout)
	}}
	if j.Flink.REST != "" {
		sources.Live = newJobManagers(flinkLogins{p.Jobs, prompt}, a.loaded.Timeout, a.clock)
	}
	return sources
}

func (a *app) planProducer(ctx context.Context, kind string, ask producerAsk) error {
	if err := isFree(ask.out); err != nil {
		return err
	}
	if err := a.load(); err != nil {
		return err
	}
	return a.withProducers("plan "+kind, terminalPrompt{}, func(sources fluss.Sources) error {
		register := actions.ProducerAsk{TTL: ask.ttl, Latest: ask.latest}
		if kind == actions.KindProducerRegister {
			var err error
			if register.Logs, err = a.offsetsAsked(ctx, sources, ask); err != nil {
				return err
			}
		}
		e := sources.Look(ctx, ask.id, register.Logs)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case e.Err != nil:
			return e.Err
		}
		d, p := makeProducerPlan(kind, e, register)
		if p != nil {
			return noProducerPlan(p)
		}
		report := actions.ProducerReport(d, a.withProducerJournal(e, d))
		if report.Refused != nil {
			return actions.Refuse(report.Refused.Stage, &report.Refused.Problem)
		}
		if err := actions.WriteDocument(ask.out, d); err != nil {
			return err
		}
		made := documentMade{
			File: &ask.out, PlanID: &d.PlanID, Kind: kind, Target: &d.Target, Facts: d.Facts, Report: &report, Warnings: names(report.Warnings),
			Next: a.nextOfDocument(ask.out, report.Warnings), Message: "the plan is written",
		}
		return a.printer().result("ProducerPlan", made, []error{e.EntryErr, e.SupposedErr}, func(t *table) {
			t.line("wrote " + safe(ask.out))
			renderDocument(t, report)
			t.line("")
			t.line("next:")
			for _, command := range made.Next {
				t.line("  " + command)
			}
		})
	})
}

func makeProducerPlan(kind string, e actions.FlussEvidence, ask actions.ProducerAsk) (actions.Document, *inspect.Problem) {
	if kind == actions.KindProducerDelete {
		return actions.ProducerDeleteFrom(e)
	}
	return actions.ProducerRegisterFrom(e, ask)
}

// offsetsAsked are the offsets to register.
func (a *app) offsetsAsked(ctx context.Context, sources fluss.Sources, ask producerAsk) ([]actions.ProducerLog, error) {
	if ask.latest {
		j, err := a.selection.RequireJob()
		if err != nil {
			return nil, err
		}
		path, err := flussTable(nil, j)
		if err != nil {
			return nil, err
		}
		return sources.Latest(ctx, path)
	}
	var data []byte
	err := a.waitFor(func() (err error) {
		if ask.offsets == "-" {
			data, err = readAtMost(a.in, fluss.MaxOffsetsFile)
		} else {
			data, err = readPlanFile(ask.offsets)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	file, err := fluss.ParseOffsets(data)
	if err != nil {
		return nil, err
	}
	return sources.Resolve(ctx, file)
}

// readAtMost reads standard input; one byte more than the limit is left to be
// refused by whoever parses it.
func readAtMost(in io.Reader, most int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(in, most+1))
	if err != nil {
		return nil, fault.Wrap(fault.Corrupt, "read the offsets file", err, "standard input can't be read")
	}
	return data, nil
}

// noProducerPlan is the fault where no plan can be made.
func noProducerPlan(p *inspect.Problem) error {
	kind := fault.Problem
	switch p.Code {
	case "producer-entry-missing":
		kind = fault.NotFound
	case "offset-not-allowed", "bucket-repeated":
		kind = fault.Corrupt
	}
	refusal := &actions.Refusal{Stage: planStage, Problem: *p}
	return fault.Wrap(kind, "make a plan", refusal, "no plan can be made").WithHint("%s", fault.Of(actions.Refuse(planStage, p)).Hint)
}
