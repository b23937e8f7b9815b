package actions

import (
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/recoverctl/recoverctl/internal/access"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/figures"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

// MaxReason is how many characters a reason may have.
const MaxReason = 500

// Approval is proof that a person approved exactly one plan and one report. It
// is made by Ask only; its zero value covers nothing.
type Approval struct {
	planID, reportHash string
	reason             string
	accepted           []string
	by                 By
	at                 time.Time
}

// By is how an approval was given.
type By string

// The ways.
const (
	ByPhrase By = "phrase" // typed at a terminal
	ByDigits By = "digits" // --approve
)

// Question is what is approved, and under which rules.
type Question struct {
	Plan        Plan
	Report      Account
	Environment access.Environment
	Profile     string // "adhoc" without one
	Subject     string // the topic or job that the phrase names
}

// Answer is what a person gave. Exactly one of Phrase and Digits is set.
type Answer struct {
	Phrase string   // as typed
	Digits string   // of --approve
	Reason string   // for the journal and the receipt
	Accept []string // names of warnings
	At     time.Time
}

// Phrase is what is to be typed. The error is access.Phrase's.
func (q Question) Phrase() (safetext.Text, error) {
	return access.Phrase(q.Environment, q.Profile, q.Subject, subjectOf(q.Plan).PlanID)
}

// Ask turns an answer into an approval. The error is a fault: Usage for a reason
// or a name of a warning that can't be one, Denied for an approval that is not
// of this plan or leaves a warning of its report open.
//
// A name that is accepted and not raised is no error, and covers nothing: should
// the warning come up later, it is a new one. Unneeded lists those.
func Ask(q Question, a Answer) (approval Approval, unneeded []string, err error) {
	hash, id := hashOf(q.Report), subjectOf(q.Plan).PlanID
	if hash == "" || q.Report.About() != id || !isPlanID(id) {
		return Approval{}, nil, fault.New(fault.Bug, "approve", "the report is not of plan %s", safetext.Of(id))
	}
	if err := CheckReason(a.Reason); err != nil {
		return Approval{}, nil, err
	}
	for _, name := range a.Accept {
		if !IsWarningName(name) {
			return Approval{}, nil, fault.New(fault.Usage, "approve", "%s is not the name of a warning", quote(name)).
				WithHint("the names are %s and %s:URI", strings.Join(warningNames(), ", "), PointUnknown)
		}
	}
	approval = Approval{planID: id, reportHash: hash, reason: a.Reason, at: a.At}
	switch {
	case a.Phrase != "" && a.Digits == "":
		approval.by = ByPhrase
		err = q.checkPhrase(a.Phrase)
	default:
		approval.by = ByDigits
		err = q.checkDigits(a.Digits)
	}
	if err != nil {
		return Approval{}, nil, err
	}
	var open []string
	for _, w := range q.Report.Raised() {
		if slices.Contains(a.Accept, w.Name) {
			approval.accepted = append(approval.accepted, w.Name)
		} else {
			open = append(open, safetext.Of(w.Name).String())
		}
	}
	if open != nil {
		return Approval{}, nil, denied("%s not accepted: %s", figures.Count(len(open), "warning is", "warnings are"), strings.Join(open, ", ")).
			WithHint("look at the report; what is accepted is named one by one, as in --accept %s", open[0])
	}
	for _, name := range a.Accept {
		if !slices.Contains(approval.accepted, name) {
			unneeded = append(unneeded, name)
		}
	}
	return approval, unneeded, nil
}

func (q Question) checkPhrase(typed string) error {
	phrase, err := q.Phrase()
	if err != nil {
		return err
	}
	if typed != phrase.String() {
		return denied("the phrase does not fit this plan").WithHint("type it as it stands: %s", phrase)
	}
	return nil
}

func (q Question) checkDigits(digits string) error {
	id := subjectOf(q.Plan).PlanID
	want := access.ApproveDigits(q.Environment)
	if digits == id || digits == id[:want] {
		return nil
	}
	switch {
	case digits == "":
		return denied("nobody approved the plan").WithHint("look at its report, then give --approve with %d digits of its id", want)
	case strings.HasPrefix(id, digits):
		return denied("%s of the plan id are not enough: %s asks for %d", figures.Count(len(digits), "digit", "digits"), q.Environment, want).
			WithHint("give --approve with %d digits of the plan's id", want)
	default:
		return denied("%s is not the id of this plan", quote(digits)).WithHint("look at the plan again: its id is %s", short(id)+"…")
	}
}

func denied(format string, args ...any) *fault.Fault {
	return fault.New(fault.Denied, "approve", format, args...)
}

// CheckReason judges a reason by itself: some text of at most MaxReason
// characters that shows as it is. The error is a fault of kind Usage.
func CheckReason(reason string) error {
	bad := func(format string, args ...any) error {
		return fault.New(fault.Usage, "approve", format, args...).WithHint("say in one line why this is done, as in --reason \"disk pressure, INC-2231\"")
	}
	switch {
	case strings.TrimSpace(reason) == "":
		return bad("a reason is required")
	case !utf8.ValidString(reason):
		return bad("the reason is not UTF-8")
	case utf8.RuneCountInString(reason) > MaxReason:
		return bad("the reason has %d characters, and %d are kept", utf8.RuneCountInString(reason), MaxReason)
	case strings.ContainsFunc(reason, unicode.IsControl):
		return bad("the reason holds a control character")
	case safetext.Of(reason).String() != reason:
		return bad("the reason holds a character that does not show: %s", safetext.Of(reason))
	default:
		return nil
	}
}

// Covers refuses an approval of another plan, of another report, or of none. The
// error is a fault of kind Denied.
func (a Approval) Covers(plan Plan, report Account) error {
	id := subjectOf(plan).PlanID
	switch hash := hashOf(report); {
	case a.planID == "" || hash == "":
		return denied("nobody approved the plan")
	case a.planID != id || report.About() != id:
		return denied("what was approved is plan %s, and not %s", short(a.planID), short(id))
	case a.reportHash != hash:
		return denied("the report is not the one that was approved").WithHint("look at the new report and approve that")
	default:
		return nil
	}
}

// Reason is why it was approved.
func (a Approval) Reason() string { return a.reason }

// Accepted are the names of the warnings that were accepted: all of the report.
func (a Approval) Accepted() []string { return slices.Clone(a.accepted) }

// Method is how it was given.
func (a Approval) Method() By { return a.by }

// At is when it was given.
func (a Approval) At() time.Time { return a.at }

// ReportHash is the hash of the report that was approved.
func (a Approval) ReportHash() string { return a.reportHash }

// PlanID is the id of the plan that was approved.
func (a Approval) PlanID() string { return a.planID }
