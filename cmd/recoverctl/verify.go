package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/actions/kafka"
	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/journal"
)

func newVerify(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "verify FILE|ID", Short: "Say from what the cluster holds now what has become of a plan", Args: exactArgs("one FILE or plan ID"),
		Long: `Reads the control topic and the log starts, and says what they prove. A cleanup
is applied only where APPLIED is on record and every partition's log begins at or
past its target. A cleanup without its file is named by its plan's id, or the
first eight or more digits of it. A plan of settings, which leaves no record on
the cluster, is applied where every setting is the topic's own, as planned. A plan
about a Flink job is applied where Flink says so: of a rollback, where the plan's
job runs, was restored from the plan's point, and has completed a checkpoint since.
A plan that deletes a Fluss producer's entry is applied where nothing is stored for
the producer; one that registers offsets, where exactly these are stored and valid.
A plan about an ArkFlow job is applied where the hub and the checkpoint store show
it: a round completed and whole, an upgrade in the phase that was asked for; of a
rollback, where the job runs in the plan's own run, and a checkpoint since then has
every task and no source position before the point's. No hub says what a job was
restored from: without that proof the answer is unknown, and says what is missing. A
stream that was to be restarted is, where it runs since later than the plan.

Exit codes: 0 applied, 1 not started or committed, 7 contradicted, 8 partial, 12
unknown.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := a.load(); err != nil {
				return err
			}
			return a.verify(cmd.Context(), args[0])
		},
	}
}

func (a *app) verify(ctx context.Context, what string) error {
	var plan inspect.CleanupPlan
	byID, err := isPlanID(what)
	switch {
	case err != nil:
		return err
	case byID:
		err = a.needsFile(what)
	default:
		var read actions.Plan
		if read, err = parsePlanFile(what); err == nil {
			if document, ok := read.(actions.Document); ok {
				if actions.FlinkKind(document.Kind) {
					return a.verifyFlink(ctx, document)
				}
				if actions.ArkFlowKind(document.Kind) {
					return a.verifyArkFlow(ctx, document)
				}
				if actions.ProducerKind(document.Kind) {
					return a.verifyProducer(ctx, document)
				}
				return a.verifySettings(ctx, document)
			}
			plan = read.(inspect.CleanupPlan)
		}
	}
	if err != nil {
		return err
	}
	job, err := a.kafkaJob("verify")
	if err != nil {
		return err
	}
	connect := kafka.Dial(connConfig(a.selection.Profile.Kafka, terminalPrompt{}), a.clock)
	var v actions.OperationVerdict
	if byID {
		v, plan, err = kafka.VerifyID(ctx, connect, job, what)
	} else {
		v = kafka.Verify(ctx, connect, job, plan)
	}
	var faults []error
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil && fault.KindOf(err) != fault.Unreachable && fault.KindOf(err) != fault.Denied:
		return err
	case err != nil:
		// What could not be read is no answer, and no failure of the question.
		v.Message, faults = "the control topic could not be read: "+safe(err.Error()), []error{err}
	}
	return a.verified(ctx, v, plan.Subject(), job, faults...)
}

// isPlanID reports whether an argument is the beginning of a plan's id, and not
// the name of a file. Where it could be both, the file is meant.
func isPlanID(text string) (bool, error) {
	const least, most = 8, 64
	if len(text) < least || len(text) > most || strings.Trim(text, "0123456789abcdef") != "" {
		return false, nil
	}
	_, err := os.Lstat(text)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return true, nil
	case err != nil:
		return false, fault.Wrap(fault.Corrupt, "read the plan", err, "whether %s is a file can't be told", safe(text))
	default:
		return false, nil
	}
}

// kafkaJob is the chosen job where a cluster is configured.
func (a *app) kafkaJob(op string) (inspect.Job, error) {
	job, err := a.jobOrNone()
	if err == nil {
		err = job.HasCleanups(op)
	}
	switch {
	case err != nil:
		return inspect.Job{}, err
	case len(a.selection.Profile.Kafka.Brokers) == 0:
		return inspect.Job{}, fault.New(fault.Config, op, "no brokers are configured").
			WithHint("give --brokers HOST:PORT or set kafka.brokers in the profile")
	}
	return a.job()
}

// verifyReceipt is the receipt of an operation that is verified: who applied it,
// when and why come from this machine's journal. Where that knows nothing of it,
// it is the receipt of the verification.
func (a *app) verifyReceipt(v actions.OperationVerdict, about inspect.PlanSubject, job inspect.Job) (actions.Receipt, error) {
	who, err := a.operator(job)
	if err != nil {
		return actions.Receipt{}, err
	}
	if about.Target.Name == "" { // named by its id alone
		about.Target.Name = job.Topic
	}
	r := actions.ReceiptOf(who, about, v)
	r.Reason = "verified only: this machine's journal holds no apply of this plan"
	r.Began = a.clock.Now()
	r.Ended = r.Began
	read, err := a.readJournal(journal.Filter{Plan: v.PlanID})
	if run := lastRun(read.Entries); len(run) > 0 {
		e := run[0]
		r.User, r.Host, r.Profile, r.Began, r.Ended, r.Reason = e.User, e.Host, e.Profile, e.Time, run[len(run)-1].Time, e.Reason
		r.Accepted, r.Report, r.TopicID, r.Target.ID = append([]string{}, e.Accept...), e.Report, e.TopicID, cmp.Or(e.TopicID, e.ObjectID)
	}
	return r, err
}

// lastRun is the newest run that was to write something, from its beginning;
// where none was, the newest. A plan that is applied once more writes nothing.
func lastRun(entries []journal.Entry) []journal.Entry {
	wrote := ""
	newest := ""
	for _, e := range entries {
		switch e.Event {
		case journal.Begin:
			newest = e.Run
		case journal.Intent:
			wrote = e.Run
		}
	}
	run := cmp.Or(wrote, newest)
	entries = slices.DeleteFunc(slices.Clone(entries), func(e journal.Entry) bool { return e.Run != run })
	if len(entries) > 0 && entries[0].Event != journal.Begin {
		return nil // its beginning, with who and why, is not on record
	}
	return entries
}

// operator is who runs this program.
func (a *app) operator(job inspect.Job) (actions.Operator, error) {
	host, err := os.Hostname()
	if err != nil {
		return actions.Operator{}, fault.Wrap(fault.Config, "find out who this is", err, "this machine does not say its name")
	}
	name := a.variable("USER")
	if me, err := user.Current(); err == nil {
		name = me.Username
	}
	if name == "" {
		name = fmt.Sprintf("uid %d", os.Getuid())
	}
	return actions.Operator{User: name, Host: host, Profile: a.selection.Profile.Name, Job: job.Name}, nil
}

// verdictSign marks a verdict. Only what was read is a tick.
func verdictSign(o actions.Outcome) string {
	switch o {
	case actions.Applied:
		return "✔"
	case actions.NotStarted, actions.Committed:
		return "·"
	case actions.Undecided:
		return "?"
	default:
		return "✖"
	}
}

func renderVerdict(t *table, v actions.OperationVerdict) {
	t.line(fmt.Sprintf("%s %s: %s", verdictSign(v.Verdict), v.Verdict, v.Message))
	renderReceipt(t, v.Receipt)
}
