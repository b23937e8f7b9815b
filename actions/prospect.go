package actions

import "github.com/recoverctl/recoverctl/inspect"

// Prospect foretells what a plan leaves to the rules of a restore. Nobody is
// asked for consent to making a control topic: that is asked when the plan is
// applied.
func Prospect(plan inspect.CleanupPlan) inspect.Prospect {
	consent := 1
	return inspect.Prospect{PlanID: plan.PlanID, Targets: plan.Offsets, Leaves: func(q inspect.RestoreQuestion) (inspect.RestoreQuestion, *inspect.Problem) {
		e := Evidence{Job: q.Job, Data: q.Data, DataErr: q.DataErr, Control: q.Control, ControlErr: q.ControlErr, Replication: &consent}
		if refused, _ := Foresee(plan, e); refused != nil { // what could not be read leaves its rules unasked, then as now
			return q, &refused.Problem
		}
		after := e.before(plan).after(plan)
		q.Data, q.Control = after.data, after.control
		return q, nil
	}}
}
