package kafka

import (
	"context"
	"fmt"
	"strings"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

// Verify reads the control topic and the data topic from a fresh connection and
// says what has become of a plan. What can't be read makes the verdict unknown.
func Verify(ctx context.Context, connect Connect, job inspect.Job, plan inspect.CleanupPlan) actions.OperationVerdict {
	cluster, err := connect(ctx)
	if err != nil {
		return actions.Judge(plan, inspect.ControlTopic{}, err, inspect.DataTopic{}, err)
	}
	defer cluster.Close()
	control, controlErr := readControl(ctx, cluster, job)
	return judge(ctx, cluster, plan, control, controlErr)
}

// judge reads the data topic of the plan and judges. The control topic is read
// before it: log starts only grow, so what is seen of them is never older than
// the record that promises it.
func judge(ctx context.Context, cluster Cluster, plan inspect.CleanupPlan, control inspect.ControlTopic, controlErr error) actions.OperationVerdict {
	data, err := cluster.DataTopic(ctx, plan.Topic)
	if err != nil && data.Exists {
		err = nil // only the settings are missing, and no verdict hangs on them
	}
	return actions.Judge(plan, control, controlErr, data, err)
}

func readControl(ctx context.Context, cluster Cluster, job inspect.Job) (inspect.ControlTopic, error) {
	if p := actions.CheckConfiguration(inspect.Job{Topic: job.Topic, ControlTopic: job.ControlTopic}, nil); p != nil {
		return inspect.ControlTopic{}, refuse(actions.StageConfiguration, p)
	}
	return cluster.ControlTopic(ctx, *job.ControlTopic)
}

// leastID is how many digits of a plan id name it, at least.
const leastID = 8

// VerifyID is Verify for a plan that only the control topic holds, by its id or
// the first eight or more digits of it. The error is a fault: Usage for text that
// is no such id or names several plans, else why the control topic could not be
// read. A plan that is not there is the verdict not-started, and a plan without an
// id.
func VerifyID(ctx context.Context, connect Connect, job inspect.Job, id string) (actions.OperationVerdict, inspect.CleanupPlan, error) {
	var nobody inspect.CleanupPlan
	none := actions.OperationVerdict{PlanID: id, Verdict: actions.Undecided, Partitions: []actions.PartitionVerdict{}}
	if !isID(id) {
		return none, nobody, fault.New(fault.Usage, "verify", "%s is not the id of a plan: 8 to 64 digits of 0-9 and a-f", quote(id))
	}
	cluster, err := connect(ctx)
	if err != nil {
		return none, nobody, err
	}
	defer cluster.Close()
	control, err := readControl(ctx, cluster, job)
	if err != nil {
		return none, nobody, err
	}
	plans, p := plansOf(control, id)
	switch {
	case len(plans) > 1:
		return none, nobody, fault.New(fault.Usage, "verify", "%d cleanups on the control topic have an id that begins with %s", len(plans), id).
			WithHint("give more digits of the id")
	case len(plans) == 1:
		return judge(ctx, cluster, plans[0], control, nil), plans[0], nil
	case p != nil:
		none.Verdict, none.Message = actions.Contradicted, p.Message
	case control.Exists && control.LastStable < control.LogEnd:
		none.Message = "the plan was not seen on the control topic, and an open transaction hides records there"
	case !control.Exists:
		none.Verdict, none.Message = actions.NotStarted, "the control topic does not exist: nothing is recorded"
	default:
		none.Verdict, none.Message = actions.NotStarted, "the plan is not on the control topic: nothing was changed by it"
	}
	return none, nobody, nil
}

// plansOf are the plans on the control topic whose id begins so. The problem is
// why its records can't be read as operations.
func plansOf(control inspect.ControlTopic, id string) ([]inspect.CleanupPlan, *inspect.Problem) {
	ops, p := inspect.ReadControl(control.Records)
	var out []inspect.CleanupPlan
	for _, op := range ops {
		if strings.HasPrefix(op.PlanID, id) {
			out = append(out, actions.PlanOf(op))
		}
	}
	if p != nil {
		p.Message = fmt.Sprintf("the control topic %s is damaged: %s", quote(control.Name), safetext.Of(p.Message))
	}
	return out, p
}

func isID(text string) bool {
	const most = 64
	return len(text) >= leastID && len(text) <= most && strings.Trim(text, "0123456789abcdef") == ""
}
