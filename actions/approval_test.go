package actions_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/access"
	"github.com/recoverctl/recoverctl/internal/fault"
)

// question is the incident's plan, with the one warning points-lost.
func question(t *testing.T) actions.Question {
	t.Helper()
	plan, e := incident()
	q := actions.Question{Plan: plan, Report: actions.NewReport(plan, e), Environment: access.Production, Profile: "orders", Subject: names.Data}
	if len(q.Report.Raised()) != 1 || q.Report.Raised()[0].Name != actions.PointsLost {
		t.Fatalf("warnings %v", q.Report.Raised())
	}
	return q
}

func answer(q actions.Question) actions.Answer {
	return actions.Answer{Digits: q.Plan.Subject().PlanID, Reason: "disk pressure INC-2231", Accept: []string{actions.PointsLost}, At: at}
}

func approve(t *testing.T, q actions.Question) actions.Approval {
	t.Helper()
	a, _, err := actions.Ask(q, answer(q))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestWhatApprovesAPlan(t *testing.T) {
	tests := map[string]struct {
		env     access.Environment
		given   func(q actions.Question, a *actions.Answer)
		kind    fault.Kind
		message string // empty: it is approved
	}{
		"all 64 digits in production": {access.Production, func(actions.Question, *actions.Answer) {}, 0, ""},
		"8 digits in production":      {access.Production, func(q actions.Question, a *actions.Answer) { a.Digits = q.Plan.Subject().PlanID[:8] }, fault.Denied, "8 digits of the plan id are not enough: production asks for 64"},
		"8 digits in staging":         {access.Staging, func(q actions.Question, a *actions.Answer) { a.Digits = q.Plan.Subject().PlanID[:8] }, 0, ""},
		"64 digits in staging":        {access.Staging, func(actions.Question, *actions.Answer) {}, 0, ""},
		"9 digits in staging":         {access.Staging, func(q actions.Question, a *actions.Answer) { a.Digits = q.Plan.Subject().PlanID[:9] }, fault.Denied, "9 digits of the plan id are not enough: staging asks for 8"},
		"7 digits":                    {access.Development, func(q actions.Question, a *actions.Answer) { a.Digits = q.Plan.Subject().PlanID[:7] }, fault.Denied, "7 digits of the plan id are not enough: development asks for 8"},
		"another plan":                {access.Staging, func(q actions.Question, a *actions.Answer) { a.Digits = "00000000" }, fault.Denied, `"00000000" is not the id of this plan`},
		"upper case":                  {access.Production, func(q actions.Question, a *actions.Answer) { a.Digits = strings.ToUpper(a.Digits) }, fault.Denied, `" is not the id of this plan`},
		"nothing":                     {access.Staging, func(q actions.Question, a *actions.Answer) { a.Digits = "" }, fault.Denied, "nobody approved the plan"},
		"the phrase in production": {access.Production, func(q actions.Question, a *actions.Answer) {
			a.Digits, a.Phrase = "", "orders/action-state "+q.Plan.Subject().PlanID[:8]
		}, 0, ""},
		"the digits alone as the phrase in production": {access.Production, func(q actions.Question, a *actions.Answer) { a.Digits, a.Phrase = "", q.Plan.Subject().PlanID[:8] }, fault.Denied, "the phrase does not fit this plan"},
		"the digits as the phrase in staging":          {access.Staging, func(q actions.Question, a *actions.Answer) { a.Digits, a.Phrase = "", q.Plan.Subject().PlanID[:8] }, 0, ""},
		"a phrase with a blank behind it":              {access.Staging, func(q actions.Question, a *actions.Answer) { a.Digits, a.Phrase = "", q.Plan.Subject().PlanID[:8]+" " }, fault.Denied, "the phrase does not fit this plan"},
		"a phrase and digits, which disagree": {access.Staging, func(q actions.Question, a *actions.Answer) {
			a.Digits, a.Phrase = "00000000", q.Plan.Subject().PlanID[:8]
		}, fault.Denied, `"00000000" is not the id`},
		"a warning that is left open":          {access.Production, func(q actions.Question, a *actions.Answer) { a.Accept = nil }, fault.Denied, "1 warning is not accepted: points-lost"},
		"another warning than the one raised":  {access.Production, func(q actions.Question, a *actions.Answer) { a.Accept = []string{actions.NotChecked} }, fault.Denied, "1 warning is not accepted: points-lost"},
		"a name that no warning has":           {access.Production, func(q actions.Question, a *actions.Answer) { a.Accept = append(a.Accept, "point-lost") }, fault.Usage, `"point-lost" is not the name of a warning`},
		"a point without an address":           {access.Production, func(q actions.Question, a *actions.Answer) { a.Accept = append(a.Accept, "point-unknown:") }, fault.Usage, `"point-unknown:" is not the name of a warning`},
		"no reason":                            {access.Production, func(q actions.Question, a *actions.Answer) { a.Reason = " \t" }, fault.Usage, "a reason is required"},
		"a reason with a control character":    {access.Production, func(q actions.Question, a *actions.Answer) { a.Reason = "a\x1b[2J" }, fault.Usage, "the reason holds a control character"},
		"a reason that is not text":            {access.Production, func(q actions.Question, a *actions.Answer) { a.Reason = "a\xff" }, fault.Usage, "the reason is not UTF-8"},
		"a reason that reads other than it is": {access.Production, func(q actions.Question, a *actions.Answer) { a.Reason = "a\u202eb" }, fault.Usage, "the reason holds a character that does not show"},
		"a reason that is too long":            {access.Production, func(q actions.Question, a *actions.Answer) { a.Reason = strings.Repeat("é", 501) }, fault.Usage, "the reason has 501 characters, and 500 are kept"},
		"the longest reason":                   {access.Production, func(q actions.Question, a *actions.Answer) { a.Reason = strings.Repeat("é", 500) }, 0, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			q := question(t)
			q.Environment = tt.env
			a := answer(q)
			tt.given(q, &a)
			approval, _, err := actions.Ask(q, a)
			if tt.message == "" {
				if err != nil {
					t.Fatalf("refused: %v", err)
				}
				if err := approval.Covers(q.Plan, q.Report); err != nil {
					t.Errorf("it covers nothing: %v", err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), tt.message) || fault.KindOf(err) != tt.kind || fault.Of(err).Hint == "" {
				t.Errorf("error %v (%s), want %s (%s) with a hint", err, fault.KindOf(err), tt.message, tt.kind)
			}
			if approval.Covers(q.Plan, q.Report) == nil {
				t.Error("a refused approval covers the plan")
			}
		})
	}
}

func TestAnApprovalCoversOnePlanAndOneReport(t *testing.T) {
	q := question(t)
	a := approve(t, q)
	plan, e := incident()
	e.Points = e.Points[1:]
	if err := a.Covers(plan, actions.NewReport(plan, e)); fault.KindOf(err) != fault.Denied || !strings.Contains(err.Error(), "not the one that was approved") {
		t.Errorf("another report: %v", err)
	}
	other, _ := actions.CleanupFrom(point(43, 200, 150).Markers, "file:/ck/job/chk-43")
	if err := a.Covers(other, actions.NewReport(other, e)); fault.KindOf(err) != fault.Denied {
		t.Errorf("another plan: %v", err)
	}
	if err := (actions.Approval{}).Covers(q.Plan, q.Report); fault.KindOf(err) != fault.Denied || err.Error() != "nobody approved the plan" {
		t.Errorf("no approval: %v", err)
	}
	if _, _, err := actions.Ask(actions.Question{Plan: other, Report: q.Report}, answer(q)); fault.KindOf(err) != fault.Bug {
		t.Errorf("a report of another plan was put before the operator: %v", err)
	}
}

func TestAcceptingMoreThanIsRaisedCoversNothing(t *testing.T) {
	q := question(t)
	a := answer(q)
	a.Accept = append(a.Accept, actions.JobStateUnknown, "point-unknown:s3://x")
	approval, unneeded, err := actions.Ask(q, a)
	if err != nil || !slices.Equal(approval.Accepted(), []string{actions.PointsLost}) || !slices.Equal(unneeded, []string{actions.JobStateUnknown, "point-unknown:s3://x"}) {
		t.Errorf("accepted %v, unneeded %v, error %v", approval.Accepted(), unneeded, err)
	}
}

// An unknown point is accepted by its exact address.
func TestAnUnknownPointIsAcceptedByName(t *testing.T) {
	plan, e := incident()
	e.Points[3] = inspect.RecoveryPoint{URI: "s3://b/chk-41", CheckpointID: -1, Err: fault.New(fault.Denied, "", "denied")}
	q := actions.Question{Plan: plan, Report: actions.NewReport(plan, e), Profile: "orders", Subject: names.Data}
	a := answer(q)
	a.Accept = []string{"point-unknown:s3://b/chk-4"}
	if _, _, err := actions.Ask(q, a); fault.KindOf(err) != fault.Denied {
		t.Errorf("another address was taken: %v", err)
	}
	a.Accept = []string{"point-unknown:s3://b/chk-41"}
	if _, _, err := actions.Ask(q, a); err != nil {
		t.Error(err)
	}
}
