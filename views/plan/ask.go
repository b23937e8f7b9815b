package plan

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/access"
	"github.com/recoverctl/recoverctl/internal/figures"
	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/views/apply"
	"github.com/recoverctl/recoverctl/views/phrase"
)

// CreateControl is the name of the consent to making a missing control topic; its
// value is the number of replicas.
const CreateControl = "create-control-topic"

// verb is what applying the plan is called.
func (s *Screen) verb() string {
	if s.known && s.made.Report.Recorded == inspect.StatusCommitted {
		return "finish"
	}
	return "apply"
}

// cannotAsk is why the plan is not put to the operator.
func (s *Screen) cannotAsk() string {
	switch why := s.cannotApply(); {
	case why != "":
		return why
	case s.asking, s.busy:
		return "the plan is being judged again"
	default:
		return s.options.Source.Busy()
	}
}

// prepare judges the plan once more: what is put to the operator is as things are
// now.
func (s *Screen) prepare(steps bool) tui.Cmd {
	s.asking, s.steps = true, steps
	source, job, made := s.options.Source, s.options.Job, s.made
	read := tui.Load(slotPrepare, func(ctx context.Context) (Made, error) {
		return source.Prepare(ctx, job, made.Plan, &made.Report)
	})
	return tui.Batch(read, tui.Say(theme.Plain, "judging the plan once more, as things are now"))
}

// ask puts the plan to the operator, or says why not. What differs from what was
// shown is looked at first.
func (s *Screen) ask(fresh Made) tui.Cmd {
	no := func(text string) tui.Cmd { return tui.Say(theme.Error, "not asked: "+phrase.Safe(text)) }
	if fresh.Plan.PlanID == "" {
		if s.err != nil {
			return no(phrase.Told(s.err))
		}
		return nil
	}
	if fresh.Held != nil {
		return no(phrase.Told(fresh.Held))
	}
	if why := s.cannotApply(); why != "" {
		return no(why)
	}
	if i := slices.IndexFunc(fresh.Drift, func(d actions.Drift) bool { return !d.Allowed }); i >= 0 {
		s.Top()
		return no("it is not as it was shown: " + fresh.Drift[i].Message + ". Look at the plan as it is now")
	}
	p, err := s.proposal(fresh)
	if err != nil {
		return no(phrase.Told(err))
	}
	return apply.Ask(p, s.steps, func(answer apply.Answer) tui.Cmd {
		return tui.Load(slotStart, func(ctx context.Context) (*apply.Running, error) { return p.Start(ctx, answer) })
	})
}

// proposal is the plan in the words of the dialog.
func (s *Screen) proposal(made Made) (apply.Proposal, error) {
	source, job := s.options.Source, s.options.Job
	q := source.Question(made)
	typed, err := q.Phrase()
	if err != nil {
		return apply.Proposal{}, err
	}
	p := apply.Proposal{
		Title: "Apply cleanup " + phrase.Short(made.Plan.PlanID), Subject: phrase.Safe(q.Profile) + " / " + phrase.Safe(q.Subject),
		Environment: q.Environment.String(), Production: q.Environment == access.Production, Phrase: typed.String(), Action: "Apply",
		Lines: lines(made), Warnings: made.Report.Warnings,
		Start: func(ctx context.Context, a apply.Answer) (*apply.Running, error) {
			return source.Start(ctx, job, made, a)
		},
	}
	if made.Report.Recorded == inspect.StatusCommitted {
		p.Title = "Finish cleanup " + phrase.Short(made.Plan.PlanID)
	}
	if makesControl(made) {
		p.Extras = []apply.Extra{controlTopic(job)}
	}
	return p, nil
}

// lines are what the plan means, in the order in which an operator needs it.
func lines(made Made) []string {
	r := made.Report
	out := []string{deletion(r)}
	names := namesOf(r)
	for _, f := range r.Lost {
		out = append(out, names[f.URI]+pinned(f)+" can never be restored again.")
	}
	if len(r.Lost) > 0 && r.Recorded == inspect.StatusCommitted {
		out = append(out, "A restore from there is rejected since COMMITTED; finishing destroys what it would read.")
	}
	for _, f := range r.Unknown {
		out = append(out, names[f.URI]+pinned(f)+" counts as lost: nothing is known of it.")
	}
	if len(r.Lost)+len(r.Unknown) == 0 {
		out = append(out, "No recovery point that was found becomes unrestorable; those elsewhere are not known.")
	}
	if made.CutOff != "" {
		out = append(out, phrase.Safe(made.CutOff)+".")
	}
	for _, note := range r.Notes {
		out = append(out, phrase.Safe(note))
	}
	if r.Calls == nil {
		out = append(out, "Calls were not scanned: whether one depends on what is deleted is not known.")
	}
	return append(out, "Kafka deletes by topic name: identity is checked before and after, not during it.")
}

// deletion is what is deleted in one sentence.
func deletion(r actions.Report) string {
	var parts []int32
	for _, p := range r.Deletes.Partitions {
		if p.Span == nil || *p.Span > 0 {
			parts = append(parts, p.Partition)
		}
	}
	if len(parts) == 0 {
		return "Deletes nothing: the log begins at or past every target already."
	}
	const most = 6
	where := "partition " + figures.Ranges(parts, most)
	if len(parts) > 1 {
		where = "partitions " + figures.Ranges(parts, most)
	}
	least := ""
	if len(r.Deletes.Unread) > 0 {
		least = "at least "
	}
	return fmt.Sprintf("Deletes an offset span of %s%s on %s (records not counted).", least, figures.Group(r.Deletes.Span), where)
}

func pinned(f actions.PointFate) string {
	if f.Pinned {
		return ", which is PINNED,"
	}
	return ""
}

// makesControl reports whether an apply has to make the control topic.
func makesControl(made Made) bool {
	return slices.ContainsFunc(made.Steps, func(s actions.Step) bool { return s.Name == actions.StepCreateControl })
}

// controlTopic is the consent to making the control topic.
func controlTopic(job inspect.Job) apply.Extra {
	name := ""
	if job.ControlTopic != nil {
		name = phrase.Safe(*job.ControlTopic)
	}
	return apply.Extra{
		Name: CreateControl, Title: "Make control topic " + name, Label: "Replicas", Action: "Make it",
		Lines: []string{
			"It does not exist. If it never did, the apply makes it, directly before COMMITTED.",
			"If it did, its boundary is lost: find out first who deleted it.",
			"How many replicas shall it have?",
		},
		Check: func(text string) string {
			const most = 32767 // the protocol's
			if n, err := strconv.Atoi(text); err != nil || n < 1 || n > most {
				return "a number of replicas from 1 on is needed, 3 where there are three brokers"
			}
			return ""
		},
		Confirm: func(text string) []string {
			return []string{
				"Control topic " + name + " is made with one partition, cleanup.policy=compact and " + text + " replicas, as step 6c of the apply, and not before.",
				"Say so only where there never was one: the boundary of a control topic that was deleted is lost, and jobs know nothing of it any more.",
			}
		},
	}
}
