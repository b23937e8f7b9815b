package write

import (
	"context"
	"net/http"

	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/flinkrest"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

// Savepoint is what a savepoint is asked for with.
type Savepoint struct {
	Trigger   string // 32 hex digits, chosen by the caller
	Directory string // URI of the folder that it is made in; empty: the cluster's default
}

// check refuses what Flink would take for something else: without a trigger it
// would choose one of its own.
func (s Savepoint) check(job string) error {
	if !flinkrest.IsJobID(job) || !flinkrest.IsJobID(s.Trigger) {
		return fault.New(fault.Bug, op, "a job's id and a trigger's have 32 hex digits each: %s, %s", safetext.Of(job), safetext.Of(s.Trigger))
	}
	return nil
}

// triggered is what Flink answers: the id of what it has begun.
type triggered struct {
	ID string `json:"request-id"`
}

func (c *Client) began(what string, answer triggered, trigger string) error {
	if answer.ID != trigger {
		return c.http.Unknown(what, "it answers with the trigger "+safetext.Of(answer.ID).Truncate(64).String()+" where "+trigger+" was asked for")
	}
	return nil
}

// Savepoint asks for a savepoint of a running job, which runs on. A nil error
// says that Flink has begun; flinkrest.Client's Savepoint says what came of it.
// For a trigger that Flink knows nothing is begun a second time.
func (c *Client) Savepoint(ctx context.Context, job string, s Savepoint) error {
	if err := s.check(job); err != nil {
		return err
	}
	what := "a savepoint of job " + job
	var answer triggered
	err := c.send(ctx, request{what: what, method: http.MethodPost, path: []string{"jobs", job, "savepoints"}, body: struct {
		Directory string `json:"target-directory,omitempty"`
		Cancel    bool   `json:"cancel-job"`
		Trigger   string `json:"triggerId"`
	}{s.Directory, false, s.Trigger}}, &answer)
	if err != nil {
		return err
	}
	return c.began(what, answer, s.Trigger)
}

// Stop asks a job to take a savepoint and to finish then, without draining its
// sources. A nil error says that Flink has begun; the job runs on where the
// savepoint fails.
func (c *Client) Stop(ctx context.Context, job string, s Savepoint) error {
	if err := s.check(job); err != nil {
		return err
	}
	what := "a stop with savepoint of job " + job
	var answer triggered
	err := c.send(ctx, request{what: what, method: http.MethodPost, path: []string{"jobs", job, "stop"}, body: struct {
		Directory string `json:"targetDirectory,omitempty"`
		Drain     bool   `json:"drain"`
		Trigger   string `json:"triggerId"`
	}{s.Directory, false, s.Trigger}}, &answer)
	if err != nil {
		return err
	}
	return c.began(what, answer, s.Trigger)
}

// Cancel asks a job to end without a savepoint. A nil error says that Flink has
// begun. A job that has ended otherwise is a fault of kind Drift.
func (c *Client) Cancel(ctx context.Context, job string) error {
	if !flinkrest.IsJobID(job) {
		return fault.New(fault.Bug, op, "a job's id has 32 hex digits: %s", safetext.Of(job))
	}
	return c.send(ctx, request{what: "a cancellation of job " + job, method: http.MethodPatch, query: "?mode=cancel", path: []string{"jobs", job}}, nil)
}

// Run is how an uploaded jar is run.
type Run struct {
	JobID                 string   // that the job gets: 32 hex digits, chosen by the caller
	EntryClass            string   // empty: the one of the jar's manifest
	Arguments             []string // of its main method
	Parallelism           int      // 0: the cluster's default
	Point                 string   // URI of the recovery point that it is restored from; empty: none
	AllowNonRestoredState bool
}

// Run runs a jar's main method and starts the job that it makes. Flink answers
// when the job was prepared, its state found: an answer that is no success leaves
// open whether a job of that id was started, and has failed, so its fault is
// Unknown. A job of an id that Flink knows is never started a second time.
func (c *Client) Run(ctx context.Context, jar string, r Run) error {
	if !flinkrest.IsJobID(r.JobID) || jar == "" {
		return fault.New(fault.Bug, op, "a job's id has 32 hex digits, and a jar has an id: %s, %s", safetext.Of(r.JobID), safetext.Of(jar))
	}
	what := "the start of job " + r.JobID
	var answer struct {
		JobID string `json:"jobid"`
	}
	err := c.send(ctx, request{what: what, method: http.MethodPost, path: []string{"jars", jar, "run"}, unsure: true, body: struct {
		JobID       string   `json:"jobId"`
		EntryClass  string   `json:"entryClass,omitempty"`
		Arguments   []string `json:"programArgsList,omitempty"`
		Parallelism int      `json:"parallelism,omitempty"`
		Point       string   `json:"savepointPath,omitempty"`
		Allow       bool     `json:"allowNonRestoredState"`
	}{r.JobID, r.EntryClass, r.Arguments, r.Parallelism, r.Point, r.AllowNonRestoredState}}, &answer)
	if err != nil {
		return err
	}
	if answer.JobID != r.JobID {
		return c.http.Unknown(what, "it answers with the job "+safetext.Of(answer.JobID).Truncate(64).String())
	}
	return nil
}
