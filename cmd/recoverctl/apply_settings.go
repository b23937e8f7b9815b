package main

import (
	"context"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/actions/kafka"
	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/journal"
	"github.com/recoverctl/recoverctl/internal/secret"
)

// applySettings applies a plan of settings.
func (a *app) applySettings(ctx context.Context, plan actions.Document, ask applyAsk) error {
	return a.applyDocument(ctx, plan, "of settings", ask, func(ctx context.Context, prompt secret.Prompter, proceed func(standing) error) error {
		e, err := a.settingsEvidence(ctx, "apply", prompt)
		if err != nil {
			return err
		}
		s := standing{
			// The same lock as a cleanup's: the two must not change one topic at once.
			job: e.Job, cluster: e.Data.ClusterID, report: actions.SettingsReport(plan, e), begin: a.beginSettings(e.Job, prompt),
			judge: func() actions.OperationVerdict { return actions.JudgeSettings(plan, e.Data, e.DataErr) },
			idle:  "every setting was as planned already: nothing was sent",
		}
		if e.DataErr != nil && !e.Data.Exists {
			s.refused = kafka.At(actions.StageIdentity, e.DataErr)
		}
		return proceed(s)
	})
}

// beginSettings starts an approved change of settings, for the command and for
// the console.
func (a *app) beginSettings(job inspect.Job, prompt secret.Prompter) beginning {
	return func(ctx context.Context, d approvedDocument) (*actions.Run, func(), error) {
		connect := kafka.DialSettings(connConfig(a.selection.Profile.Kafka, prompt), a.clock)
		return a.beginCarrier(ctx, kafka.NewSettings(kafka.SettingsConfig{Connect: connect, Job: job, Plan: d.plan}), d)
	}
}

// verifySettings says from what the topic is now what has become of a plan of
// settings.
func (a *app) verifySettings(ctx context.Context, plan actions.Document) error {
	job, err := a.kafkaJob("verify")
	if err != nil {
		return err
	}
	connect := kafka.DialSettings(connConfig(a.selection.Profile.Kafka, terminalPrompt{}), a.clock)
	return a.verified(ctx, kafka.VerifySettings(ctx, connect, plan), plan.Subject(), job)
}

// needsFile refuses to look for another plan than a cleanup by its id: it leaves no record
// on the cluster, and "not found" would be no answer about it.
func (a *app) needsFile(id string) error {
	read, err := a.readJournal(journal.Filter{Plan: id})
	if err != nil && len(read.Entries) == 0 {
		return nil // what this machine did is not known, and no reason not to ask the cluster
	}
	for _, e := range read.Entries {
		if leavesNoRecord(e.Kind) {
			return fault.New(fault.Usage, "verify", "plan %s is of the kind %s, and leaves no record that could be found by its id", shortID(e.PlanID), safe(e.Kind)).
				WithHint("give the plan's file")
		}
	}
	return nil
}

// leavesNoRecord reports whether plans of a kind are found by their files only.
func leavesNoRecord(kind string) bool {
	return kind == actions.KindTopicSettings || actions.FlinkKind(kind) || actions.ProducerKind(kind) || actions.ArkFlowKind(kind)
}
