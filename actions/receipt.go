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
	Kind                string             `json:"kind"` // of the plan, as in "cleanup"
	Began               time.Time          `json:"began"`
	Ended               time.Time          `json:"ended"`
	Reason              string             `json:"reason"`
	PlanID              string             `json:"planId"`
	SourceRecoveryPoint string             `json:"sourceRecoveryPoint"`
	Topic               string             `json:"topic"`
	TopicID             string             `json:"topicId"`
	Target              inspect.PlanTarget `json:"target"`   // what the plan changes; a topic stands in topic and topicId, too
	Accepted            []string           `json:"accepted"` // warnings
	Lost                []string           `json:"lost"`     // recovery points that can never be restored again, with those that are unknown
	Span                *int64             `json:"span"`     // offset span that the plan was to delete; nil: not known
	Verdict             Outcome            `json:"verdict"`
	Message             string             `json:"message"`
	Partitions          []PartitionVerdict `json:"partitions"`
	Facts               []FactVerdict      `json:"facts,omitempty"`     // of a plan that changes other things than offsets
	NextStart           string             `json:"nextStart,omitempty"` // of a producer: what its next start does, as things were re-read
	Report              string             `json:"report"`              // hash of the approved report
}

// Operator is who applies.
type Operator struct {
	User, Host string
	Profile    string // "adhoc" without one
	Job        string
}

// NewReceipt makes the receipt of one apply.
func NewReceipt(who Operator, plan Plan, report Account, approval Approval, verdict OperationVerdict, began, ended time.Time) Receipt {
	r := ReceiptOf(who, subjectOf(plan), verdict)
	r.Began, r.Ended, r.Reason = began, ended, approval.Reason()
	r.Accepted, r.Report = append(r.Accepted, approval.Accepted()...), approval.ReportHash()
	if report != nil {
		report.enter(&r)
	}
	return r
}

// ReceiptOf is the receipt of an operation that was verified, without what only
// its apply knows: when, why, what was accepted, what was lost.
func ReceiptOf(who Operator, about inspect.PlanSubject, verdict OperationVerdict) Receipt {
	r := Receipt{
		User: who.User, Host: who.Host, Profile: who.Profile, Kind: about.Kind, PlanID: verdict.PlanID,
		SourceRecoveryPoint: about.Source, Target: about.Target, Accepted: []string{}, Lost: []string{},
		Verdict: verdict.Verdict, Message: verdict.Message, Partitions: verdict.Partitions, Facts: verdict.Facts, NextStart: verdict.NextStart,
	}
	if about.Target.Object == objectTopic {
		r.Topic, r.TopicID = about.Target.Name, about.Target.ID
	}
	return r
}

const objectTopic = "topic"

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
	line(r.Kind, "%s", r.PlanID)
	line("verdict", "%s: %s", r.Verdict, r.Message)
	line("who", "%s@%s, profile %s", r.User, r.Host, r.Profile)
	line("when", "%s to %s", r.Began.UTC().Format(time.RFC3339), r.Ended.UTC().Format(time.RFC3339))
	line("why", "%s", r.Reason)
	if r.SourceRecoveryPoint != "" {
		line("from", "%s", r.SourceRecoveryPoint)
	}
	line(r.Target.Object, "%s, id %s", r.Target.Name, r.Target.ID)
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
	for _, f := range r.Facts {
		none := "nothing"
		if f.State == FactUnread {
			none = "not read"
		}
		line(f.Name, "now %s; the plan found %s and makes %s of it", factWords(f.Now, none), factWords(f.Before, "nothing"), factWords(f.After, "nothing"))
	}
	if r.NextStart != "" {
		line("next start", "%s", r.NextStart)
	}
	if r.Report != "" {
		line("report", "%s", r.Report)
	}
	return b.String()
}

// factWords is one side of a fact in a line.
func factWords(value *string, none string) string {
	if value == nil {
		return none
	}
	return *value
}
