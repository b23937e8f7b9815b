package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/secret"
	"github.com/recoverctl/recoverctl/internal/shellword"
)

func newPlanSettings(a *app) *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use: "settings", Short: "Make a plan that gives the data topic the settings that a cleanup needs", Args: noArgs,
		Long: `Reads the data topic's settings, with where each comes from, and writes a plan to
a new file: an existing one is never overwritten. The plan sets cleanup.policy to
compact and delete, retention.ms and retention.bytes to -1, each as the topic's
own, and nothing else; what is so already is left out. Nothing is changed before
the plan is applied with recoverctl apply, which compares every setting with what
the plan found.

A cleanup needs this because a topic that is only compacted lets no records be
deleted, and a retention limit would delete records that no reviewed plan names.
The releases 0.1 to 0.3 make their topic with cleanup.policy=compact alone.

Exit codes: 0 the plan is written, or none is needed; 1 the cleanup.policy holds
what is not known here; 5 the file exists already, or the settings may not be
read; 6 there is no such topic; 10 the cluster has no topic ids.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if out == "" || out == "-" {
				return fault.New(fault.Usage, "read flags", "a plan is written to a file").WithHint("name a new one with --out FILE")
			}
			if err := a.load(); err != nil {
				return err
			}
			return a.planSettings(cmd.Context(), out)
		},
	}
	cmd.Flags().StringVar(&out, "out", "", "write the plan to this new `FILE`")
	return cmd
}

// isFree refuses the name of a file that exists.
func isFree(path string) error {
	if _, err := os.Lstat(path); err == nil {
		return fault.Wrap(fault.Denied, "write the plan", fs.ErrExist, "%s is not overwritten", safe(path)).
			WithHint("give --out a new file").WithRef("file " + safe(path))
	}
	return nil
}

// documentMade is the JSON form of a plan of recoverctl.plan/v1 that was written.
// Without one, all but Message and the empty lists is null: none is needed.
type documentMade struct {
	File     *string                 `json:"file"`
	PlanID   *string                 `json:"planId"`
	Kind     string                  `json:"kind"`
	Target   *inspect.PlanTarget     `json:"target"`
	Facts    []actions.Fact          `json:"facts"`
	Warnings []string                `json:"warnings"` // names; the report has their sentences
	Report   *actions.DocumentReport `json:"report"`
	Next     []string                `json:"next"` // commands
	Message  string                  `json:"message"`
}

func (a *app) planSettings(ctx context.Context, out string) error {
	if err := isFree(out); err != nil {
		return err
	}
	e, err := a.settingsEvidence(ctx, "plan settings", terminalPrompt{})
	if err != nil {
		return err
	}
	made := documentMade{Kind: actions.KindTopicSettings, Facts: []actions.Fact{}, Warnings: []string{}, Next: []string{}}
	if e.DataErr != nil && len(e.Data.Settings) == 0 {
		return e.DataErr
	}
	d, p := actions.SettingsFrom(e.Data)
	switch {
	case p != nil && p.Code == actions.SettingsAsNeeded:
		made.Message = p.Message + ": no plan is needed, and none is written"
		return a.printer().result("SettingsPlan", made, []error{e.DataErr}, func(t *table) { t.line("✔ " + made.Message) })
	case p != nil:
		return noSettingsPlan(p)
	}
	report := actions.SettingsReport(d, e)
	if report.Refused != nil {
		return actions.Refuse(report.Refused.Stage, &report.Refused.Problem)
	}
	if err := actions.WriteDocument(out, d); err != nil {
		return err
	}
	made.File, made.PlanID, made.Target, made.Facts, made.Report = &out, &d.PlanID, &d.Target, d.Facts, &report
	made.Warnings, made.Next, made.Message = names(report.Warnings), a.nextOfDocument(out, report.Warnings), "the plan is written"
	return a.printer().result("SettingsPlan", made, []error{e.DataErr}, func(t *table) {
		t.line("wrote " + safe(out))
		renderDocument(t, report)
		t.line("")
		t.line("next:")
		for _, command := range made.Next {
			t.line("  " + command)
		}
	})
}

// noSettingsPlan is the fault where no plan can be made.
func noSettingsPlan(p *inspect.Problem) error {
	kind, hint := fault.Problem, "ask who set it: a plan takes no policy away"
	switch p.Code {
	case "broker-unknown-topic":
		kind, hint = fault.NotFound, "check the topic's name, and whether this user may see it"
	case "zero-topic-id", "cluster-id-unknown":
		kind, hint = fault.Unsupported, "such a cluster's settings are changed with its own tools"
	case "setting-unknown":
		kind, hint = fault.Denied, "ask for an ACL that allows DescribeConfigs on the topic"
	}
	return fault.Wrap(kind, "make a plan", &actions.Refusal{Stage: planStage, Problem: *p}, "no plan can be made").WithHint("%s", hint)
}

// settingsEvidence reads the data topic as it is now. What could not be read is in
// the evidence; the error is why nothing was asked.
func (a *app) settingsEvidence(ctx context.Context, op string, prompt secret.Prompter) (actions.SettingsEvidence, error) {
	job, err := a.kafkaJob(op)
	if err != nil {
		return actions.SettingsEvidence{}, err
	}
	in, systems, err := a.inspector(a.selection.Profile, prompt)
	if err != nil {
		return actions.SettingsEvidence{}, err
	}
	defer systems.close()
	e := actions.SettingsEvidence{Job: job, At: a.clock.Now()}
	e.Data, e.DataErr = in.Topic(ctx, job)
	if ctx.Err() != nil {
		return e, ctx.Err()
	}
	return e, nil
}

// nextOfDocument are the commands that follow, as they can be pasted. Warnings that ask
// for a look at somewhere else are accepted by nothing that is shown.
func (a *app) nextOfDocument(file string, warnings []actions.Warning) []string {
	suffix := a.sameFlags()
	apply := "recoverctl apply " + shellword.Quote(file) + ` --reason "…"`
	for _, w := range warnings {
		if actions.NeedsLooking(w.Name) {
			continue
		}
		apply += " --accept " + shellword.Quote(safe(w.Name))
	}
	return []string{"recoverctl plan show " + shellword.Quote(file) + suffix, apply + " --access operate" + suffix}
}

// showDocument is plan show for a plan of recoverctl.plan/v1.
func (a *app) showDocument(ctx context.Context, file string, data []byte) error {
	review := actions.ReviewDocument(data, nil)
	var unread error
	if review.Valid && len(a.selection.Profile.Kafka.Brokers) > 0 {
		e, err := a.settingsEvidence(ctx, "plan show", terminalPrompt{})
		if err != nil {
			return err
		}
		unread = e.DataErr
		review = actions.ReviewDocument(data, func(d actions.Document) actions.DocumentReport { return actions.SettingsReport(d, e) })
	}
	if err := a.printer().result("PlanReview", review, []error{unread}, func(t *table) { renderDocumentReview(t, file, review) }); err != nil {
		return err
	}
	return reviewStatus(review.Valid, review.Drift, unread)
}

func renderDocumentReview(t *table, file string, r actions.DocumentReview) {
	if !r.Valid {
		t.line(fmt.Sprintf("✖ %s is not a valid plan (%s): %s", safe(file), r.Problem.Code, r.Problem.Message))
		return
	}
	if r.Report == nil {
		renderDocumentHead(t, r.Kind, r.PlanID, r.Target)
		t.line("")
		for _, f := range r.Facts {
			was := "was " + pointed(f.Before)
			if f.Before != nil && f.Source != "" {
				was = "was " + actions.ValueFrom(*f.Before, f.Source)
			}
			t.row(text(f.Name), text("becomes "+pointed(f.After)), text(was))
		}
		t.line("")
		t.line("? the file alone was looked at: nobody is configured who could be asked, so nothing is said about how it stands now")
		return
	}
	if len(r.Drift) == 0 {
		t.line("· nothing that was read differs from the plan")
	}
	for _, d := range r.Drift {
		renderDrift(t, d)
	}
	t.line("")
	renderDocument(t, *r.Report)
}

func renderDocumentHead(t *table, kind, id string, target inspect.PlanTarget) {
	t.line(kind + " plan " + id)
	t.row(text(target.Object), text(target.Name))
	t.row(text(target.Object+" id"), text(target.ID))
	t.row(text("cluster"), text(target.Cluster))
}

// renderDocument writes what a plan does, what it leaves, and what nobody knows.
func renderDocument(t *table, r actions.DocumentReport) {
	renderDocumentHead(t, r.Kind, r.PlanID, r.Target)
	t.line("")
	if r.Refused != nil {
		t.line(fmt.Sprintf("✖ apply would refuse this plan now, at %s (%s): %s", r.Refused.Stage, r.Refused.Problem.Code, r.Refused.Problem.Message))
	}
	for _, w := range r.Warnings {
		t.line(fmt.Sprintf("! %s: %s", safe(w.Name), w.Message))
	}
	for _, note := range r.Notes {
		t.line("· " + note)
	}
	renderFacts(t, r.Facts)
	t.line("")
	for _, sentence := range r.Does {
		t.line("→ " + sentence)
	}
	for _, sentence := range r.Stays {
		t.line("= " + sentence)
	}
	for _, sentence := range r.NotKnown {
		t.line("? " + sentence)
	}
	if r.NextStart != "" {
		t.line("")
		t.line("then, the producer's next start: " + r.NextStart)
	}
}

// renderFacts writes one row for each fact of a plan.
func renderFacts(t *table, facts []actions.FactVerdict) {
	if len(facts) == 0 {
		return
	}
	t.line("")
	t.row(text("FACT"), text("NOW"), text("FROM"), text("PLAN FOUND"), text("PLAN MAKES"), text("STATE"))
	for _, f := range facts {
		now, source := orNothing(""), ""
		if f.Now != nil {
			now = *f.Now
			if f.NowSource != "" {
				source = actions.SourceWords(f.NowSource)
			}
		}
		t.row(text(f.Name), text(now), text(source), text(pointed(f.Before)), text(pointed(f.After)), text(string(f.State)))
	}
}

func pointed(value *string) string {
	if value == nil {
		return nothing
	}
	return *value
}

// parsePlanFile is readPlanFile with a plan of any kind that is valid.
func parsePlanFile(path string) (actions.Plan, error) {
	data, err := readPlanFile(path)
	if err != nil {
		return nil, err
	}
	plan, p := actions.ParsePlanFile(data)
	if p != nil {
		return nil, notAPlan(path, p)
	}
	return plan, nil
}

// notAPlan is the fault for a file that is no valid plan.
func notAPlan(path string, p *inspect.Problem) error {
	f := fault.Wrap(fault.Corrupt, "read the plan", &actions.Refusal{Stage: planStage, Problem: *p}, "%s is not a valid plan", safe(path))
	if p.Code == "plan-schema-unsupported" || p.Code == "plan-kind-unknown" {
		f.Kind = fault.Unsupported
		return f.WithHint("it was made by another release: apply it with that one").WithRef("file " + safe(path))
	}
	return f.WithHint("make the plan again; a plan file is never edited").WithRef("file " + safe(path))
}
