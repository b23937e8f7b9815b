package arkhub

import (
	"context"
	"encoding/json"

	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/httpread"
)

// System asks who answers.
func (c *Client) System(ctx context.Context) (System, error) {
	return get[System](ctx, c, at("system"))
}

// Health asks the unprotected probe. Its 503 is an answer, not a failure.
func (c *Client) Health(ctx context.Context) (Health, error) { return c.probe(ctx, "health") }

// Readiness asks whether the hub answers for its nodes yet.
func (c *Client) Readiness(ctx context.Context) (Health, error) { return c.probe(ctx, "readiness") }

func (c *Client) probe(ctx context.Context, name string) (Health, error) {
	r := request{parts: []string{name}, probe: true}
	answer, err := c.ask(ctx, r)
	if err != nil {
		return Health{}, err
	}
	if !answer.Success() && answer.Status != 503 {
		return Health{}, c.refused(r, answer)
	}
	health, err := httpread.Decode[Health](c.http, answer)
	if err == nil && !health.Status.IsKnown() {
		if !answer.Success() {
			return Health{}, c.refused(r, answer)
		}
		return Health{}, c.notAHub("its /" + name + " says no status")
	}
	return health, err
}

// notAHub is the fault of a server that answers, and not as a hub does.
func (c *Client) notAHub(what string) error {
	address, _ := c.Address()
	return fault.New(fault.Unsupported, op, "%s answers, but not as a hub does: %s", address, what).
		WithHint("is this %s?", service).WithRef(address.String())
}

// Nodes lists the engines. Hubs keep them in memory: after a restart they appear
// as they register again.
func (c *Client) Nodes(ctx context.Context) (List[Node], error) {
	return list[Node](ctx, c, at("nodes"))
}

// Streams lists streams, those of one node where it is named.
func (c *Client) Streams(ctx context.Context, node string) (List[Stream], error) {
	return list[Stream](ctx, c, at("streams").with("node_id", node))
}

// Stream reads one stream, with what was asked of it.
func (c *Client) Stream(ctx context.Context, node, id string) (Stream, error) {
	s, err := get[Stream](ctx, c, at("nodes", node, "streams", id))
	if err == nil && s.ID != id {
		return Stream{}, c.notAHub("the stream it answers with is not the one that was asked for")
	}
	return s, err
}

// Configuration reads a node's configuration, secrets masked by the hub.
func (c *Client) Configuration(ctx context.Context, node string) (Configuration, error) {
	return get[Configuration](ctx, c, at("nodes", node, "configuration"))
}

// Jobs lists jobs. A hub without jobs is a fault of kind NotFound.
func (c *Client) Jobs(ctx context.Context) (List[Job], error) { return list[Job](ctx, c, at("jobs")) }

// Job reads one job.
func (c *Client) Job(ctx context.Context, id string) (Job, error) {
	j, err := get[Job](ctx, c, at("jobs", id))
	if err == nil && j.ID != id {
		return Job{}, c.notAHub("the job it answers with is not the one that was asked for")
	}
	return j, err
}

// Detail reads all that a hub says about one job.
func (c *Client) Detail(ctx context.Context, id string) (Detail, error) {
	raw, err := get[json.RawMessage](ctx, c, at("jobs", id, "detail"))
	if err != nil {
		return Detail{}, err
	}
	d, ok := readDetail(raw)
	if !ok || d.Job.ID != id {
		return Detail{}, c.notAHub("the job it answers with is not the one that was asked for")
	}
	return d, nil
}

// readDetail reads each part by itself: one that is not as expected is not
// exposed, and the others are.
func readDetail(raw json.RawMessage) (Detail, bool) {
	var parts struct {
		Detail
		Tasks       json.RawMessage  `json:"tasks"`
		Nodes       json.RawMessage  `json:"nodes"`
		Operations  json.RawMessage  `json:"operations"`
		Checkpoints json.RawMessage  `json:"checkpoints"`
		Metrics     Fact[JobMetrics] `json:"metrics"`
	}
	if json.Unmarshal(raw, &parts) != nil {
		return Detail{}, false
	}
	d := parts.Detail
	d.Tasks, d.Metrics = part[Task](parts.Tasks), parts.Metrics.Or(JobMetrics{})
	d.Nodes, d.Operations, d.Checkpoints = part[Node](parts.Nodes), part[Operation](parts.Operations), part[Checkpoint](parts.Checkpoints)
	var rounds []json.RawMessage
	d.CheckpointsPartial = json.Unmarshal(parts.Checkpoints, &rounds) == nil && len(rounds) != len(d.Checkpoints)
	return d, true
}

// part is a list inside an answer; nil where it is not exposed.
func part[T any](raw json.RawMessage) []T {
	var rows []json.RawMessage
	if len(raw) == 0 || json.Unmarshal(raw, &rows) != nil || rows == nil {
		return nil
	}
	items := make([]T, 0, min(len(rows), MaxItems))
	for _, r := range rows[:min(len(rows), MaxItems)] {
		var item T
		if json.Unmarshal(r, &item) != nil {
			continue
		}
		if keyed, is := any(item).(row); is && keyed.key() == "" {
			continue
		}
		items = append(items, item)
	}
	return items
}

// Versions lists the versions of a job that the hub keeps.
func (c *Client) Versions(ctx context.Context, id string) (List[Version], error) {
	return list[Version](ctx, c, at("jobs", id, "versions"))
}

// Plan reads the tasks that a job must have.
func (c *Client) Plan(ctx context.Context, id string) (Plan, error) {
	answer, err := get[struct {
		Plan Plan `json:"plan"`
	}](ctx, c, at("jobs", id, "plan"))
	return answer.Plan, err
}

// Checkpoints lists a job's rounds, checkpoints and savepoints in one list. Some
// hubs say an empty list where there is no such job.
func (c *Client) Checkpoints(ctx context.Context, id string) (List[Checkpoint], error) {
	return list[Checkpoint](ctx, c, at("jobs", id, "checkpoints"))
}

// Savepoints is the other route to the same list.
func (c *Client) Savepoints(ctx context.Context, id string) (List[Checkpoint], error) {
	return list[Checkpoint](ctx, c, at("jobs", id, "savepoints"))
}

// Upgrade reads one upgrade. Only the newest generation keeps them, and only
// those of its atomic mode.
func (c *Client) Upgrade(ctx context.Context, job, id string) (Upgrade, error) {
	return get[Upgrade](ctx, c, at("jobs", job, "upgrades", id))
}

// OperationFilter narrows a list of operations. Hubs ignore other filters.
type OperationFilter struct{ Node, Resource, Operation string }

// Operations lists the newest operations first, of the 1024 that a hub keeps.
func (c *Client) Operations(ctx context.Context, f OperationFilter) (List[Operation], error) {
	return list[Operation](ctx, c, at("operations").with("node_id", f.Node).with("resource_id", f.Resource).with("operation", f.Operation))
}

// Operation reads one operation.
func (c *Client) Operation(ctx context.Context, id string) (Operation, error) {
	return get[Operation](ctx, c, at("operations", id))
}

// OperationsStatus reads the hub's word on its reconciliation. Without storage
// older hubs refuse it with 400.
func (c *Client) OperationsStatus(ctx context.Context) (OperationsStatus, error) {
	return get[OperationsStatus](ctx, c, at("operations", "status"))
}

// EventFilter narrows a list of events.
type EventFilter struct{ Node, Type, Stream string }

// Events lists the newest events first, each once though nodes resend them. The
// stream of events of these hubs was silent: callers poll, every two to five
// seconds.
func (c *Client) Events(ctx context.Context, f EventFilter) (List[Event], error) {
	return list[Event](ctx, c, at("events").with("node_id", f.Node).with("event_type", f.Type).with("stream_id", f.Stream))
}

// Audit lists what the hub was asked to change, the newest first.
func (c *Client) Audit(ctx context.Context, resource string) (List[AuditRecord], error) {
	return list[AuditRecord](ctx, c, at("audit").with("resource_id", resource))
}

// Rollouts lists changes of configuration.
func (c *Client) Rollouts(ctx context.Context) (List[Rollout], error) {
	return list[Rollout](ctx, c, at("rollouts"))
}
