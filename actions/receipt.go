package actions

import (
	"fmt"
	"strings"
	"time"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

// Receipt is the block for the ticket: who did what, when and why, and what has
// become of it as re-read.
type Receipt struct {
	User                string             `json:"user"`
	Host                string             `json:"host"`
	Profile             string             `json:"profile"`
	Began               time.Time          `json:"began"`
	Ended               time.Time          `json:"ended"`
	Reason              string             `json:"reason"`
	PlanID              string             `json:"planId"`
	SourceRecoveryPoint string             `json:"sourceRecoveryPoint"`
	Topic               string             `json:"topic"`
	TopicID             string             `json:"topicId"`
	Accepted            []string           `json:"accepted"` // warnings
	Lost                []string           `json:"lost"`     // recovery points that can never be restored again, with those that are unknown
	Span                *int64             `json:"span"`     // offset span that the plan was to delete; nil: not known
	Verdict             Outcome            `json:"verdict"`
	Message             string             `json:"message"`
	Partitions          []PartitionVerdict `json:"partitions"`
	Report              string             `json:"report"` // hash of the approved report
}

// Operator is who applies.
type Operator struct {
	User, Host string
	Profile    string // "adhoc" without one
	Job        string
}

// NewReceipt makes the receipt of one apply.
func NewReceipt(who Operator, plan inspect.CleanupPlan, report Report, approval Approval, verdict OperationVerdict, began, ended time.Time) Receipt {
	r := Receipt{
		User: who.User, Host: who.Host, Profile: who.Profile, Began: began, Ended: ended,
		Reason: approval.Reason(), PlanID: plan.PlanID, SourceRecoveryPoint: plan.SourceRecoveryPoint,
		Topic: plan.Topic, TopicID: plan.TopicID, Accepted: append([]string{}, approval.Accepted()...), Lost: []string{},
		Span: &report.Deletes.Span, Verdict: verdict.Verdict, Message: verdict.Message, Partitions: verdict.Partitions, Report: approval.ReportHash(),
	}
	for _, list := range [][]PointFate{report.Lost, report.Unknown} {
		for _, f := range list {
			r.Lost = append(r.Lost, f.URI)
		}
	}
	return r
}

// Text is the receipt as one block of lines, safe to print, without an end of
// line at its end.
func (r Receipt) Text() string {
	var b strings.Builder
	line := func(name, format string, args ...any) {
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "%-12s %s", name, safetext.Sprintf(format, args...))
	}
	line("cleanup", "%s", r.PlanID)
	line("verdict", "%s: %s", r.Verdict, r.Message)
	line("who", "%s@%s, profile %s", r.User, r.Host, r.Profile)
	line("when", "%s to %s", r.Began.UTC().Format(time.RFC3339), r.Ended.UTC().Format(time.RFC3339))
	line("why", "%s", r.Reason)
	if r.SourceRecoveryPoint != "" {
		line("from", "%s", r.SourceRecoveryPoint)
	}
	line("topic", "%s, id %s", r.Topic, r.TopicID)
	if r.Span != nil {
		line("deletes", "an offset span of %s (records not counted)", group(*r.Span))
	}
	for _, uri := range r.Lost {
		line("lost", "%s", uri)
	}
	if len(r.Accepted) > 0 {
		line("accepted", "%s", strings.Join(r.Accepted, ", "))
	}
	for _, p := range r.Partitions {
		start := "not read"
		if p.LogStart != nil {
			start = group(*p.LogStart)
		}
		line("partition", "%d: log start %s, target %s", p.Partition, start, group(p.Target))
	}
	if r.Report != "" {
		line("report", "%s", r.Report)
	}
	return b.String()
}
