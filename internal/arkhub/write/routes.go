package write

import (
	"context"
	"net/http"
	"strconv"

	"github.com/recoverctl/recoverctl/internal/arkhub"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

// Checkpoint begins a checkpoint of a job. The answer is the job; its CheckpointID
// is that of the round that was begun, which is not proof that it will be
// completed. Every call makes a new round.
func (c *Client) Checkpoint(ctx context.Context, job string) (arkhub.Job, error) {
	return c.job(ctx, request{what: "a checkpoint of " + name(job), method: http.MethodPost, parts: []string{"jobs", job, "checkpoints"}}, job)
}

// Savepoint is Checkpoint for a savepoint.
func (c *Client) Savepoint(ctx context.Context, job string) (arkhub.Job, error) {
	return c.job(ctx, request{what: "a savepoint of " + name(job), method: http.MethodPost, parts: []string{"jobs", job, "savepoints"}}, job)
}

// Start asks for a job to run. The answer is the job before it does.
func (c *Client) Start(ctx context.Context, job string) (arkhub.Job, error) {
	return c.job(ctx, request{what: "the start of " + name(job), method: http.MethodPost, parts: []string{"jobs", job, "actions", "start"}}, job)
}

// Stop asks for a job to stop. The answer is the job before it has.
func (c *Client) Stop(ctx context.Context, job string) (arkhub.Job, error) {
	return c.job(ctx, request{what: "the stop of " + name(job), method: http.MethodPost, parts: []string{"jobs", job, "actions", "stop"}}, job)
}

// Rollback makes a job that of a lower version. It must be started afterwards.
// Hubs that keep no upgrades take the first lower version on record whatever is
// named, check neither its state format nor whether the job runs: the caller does,
// before.
func (c *Client) Rollback(ctx context.Context, job string, version uint64) (arkhub.Job, error) {
	to := "v" + strconv.FormatUint(version, 10)
	return c.job(ctx, request{what: "the rollback of " + name(job) + " to " + to, method: http.MethodPost, parts: []string{"jobs", job, "upgrades", to, "rollback"}}, job)
}

// UpgradeAction is what can be done with an upgrade that is under way.
type UpgradeAction string

// The actions.
const (
	Pause           UpgradeAction = "pause"
	Resume          UpgradeAction = "resume"
	Cancel          UpgradeAction = "cancel"
	RollbackUpgrade UpgradeAction = "rollback"
)

// Act does something with an upgrade. Only the newest generation of hubs can.
func (c *Client) Act(ctx context.Context, job, upgrade string, action UpgradeAction) (arkhub.Upgrade, error) {
	what := string(action) + " of the upgrade " + name(upgrade) + " of " + name(job)
	var u arkhub.Upgrade
	err := c.send(ctx, request{what: what, method: http.MethodPost, parts: []string{"jobs", job, "upgrades", upgrade, "actions"}, body: map[string]string{"action": string(action)}}, &u)
	if err == nil && u.ID != upgrade {
		err = c.http.Unknown(what, "its answer is about another upgrade")
	}
	return u, err
}

// Intent is what a hub makes of a write to a stream: accepted, no more. Older hubs
// never call one converged.
type Intent struct {
	ID         string       `json:"intent_id"`
	Operation  arkhub.Text  `json:"operation_id"`
	Node       arkhub.Text  `json:"node_id"`
	Stream     arkhub.Text  `json:"stream_id"`
	Generation arkhub.Count `json:"generation"`
	Desired    arkhub.Text  `json:"desired_state"`
}

// StreamWrite names a stream, and what guards a write to it.
type StreamWrite struct {
	Node, Stream string
	// Key makes the write idempotent: the same one with the same write is answered
	// with the same intent.
	Key string
	// Generation is the one that was read: another one refuses the write; unset: none
	// is asked for.
	Generation arkhub.Count
}

// RestartStream asks for a stream to be restarted. The write's key is also the id of
// the action, which the answer about the stream has from then on: whether the request
// came can be read.
func (c *Client) RestartStream(ctx context.Context, s StreamWrite) (Intent, error) {
	what := "the restart of the stream " + name(s.Node) + "/" + name(s.Stream)
	if s.Key == "" {
		return Intent{}, fault.New(fault.Bug, op, "%s has no idempotency key", what)
	}
	var i Intent
	err := c.send(ctx, request{
		what: what, method: http.MethodPost, parts: []string{"nodes", s.Node, "streams", s.Stream, "actions", "restart"},
		body: map[string]string{"action_id": s.Key}, key: s.Key, generation: s.Generation,
	}, &i)
	if err == nil && i.ID == "" {
		err = c.http.Unknown(what, "its answer names no intent")
	}
	return i, err
}

// job sends a request that is answered with the job that it is about.
func (c *Client) job(ctx context.Context, r request, id string) (arkhub.Job, error) {
	var j arkhub.Job
	if err := c.send(ctx, r, &j); err != nil {
		return arkhub.Job{}, err
	}
	if j.ID != id {
		return arkhub.Job{}, c.http.Unknown(r.what, "its answer is about another job")
	}
	return j, nil
}

func name(id string) string { return safetext.Of(id).Truncate(100).String() }
