package flinkrest

import (
	"context"

	"github.com/recoverctl/recoverctl/internal/fault"
)

// Savepoint is how far a savepoint is, or a stop with one, by the id that its
// trigger gave it. Flink keeps it in the JobManager's memory, for five minutes
// after it was ready (option rest.async.store-duration).
type Savepoint struct {
	Status struct {
		ID string `json:"id"` // IN_PROGRESS or COMPLETED, which says nothing of success
	} `json:"status"`
	Operation struct {
		Location string        `json:"location"`      // of the savepoint; empty: none was made
		Failure  *FailureCause `json:"failure-cause"` // nil: it has not failed
	} `json:"operation"`
}

// FailureCause is why an operation failed.
type FailureCause struct {
	Class      string `json:"class"`
	StackTrace string `json:"stack-trace"`
}

// Ready reports whether the operation has ended, well or not.
func (s Savepoint) Ready() bool { return s.Status.ID == "COMPLETED" }

// Savepoint asks what has become of a trigger. One that Flink never got, or has
// forgotten, is NotFound.
func (c *Client) Savepoint(ctx context.Context, job, trigger string) (Savepoint, error) {
	s, err := get[Savepoint](ctx, c, "", "jobs", job, "savepoints", trigger)
	if err == nil && s.Status.ID == "" {
		return Savepoint{}, c.notFlink("its answer about a savepoint has no status")
	}
	return s, err
}

// Jar is a program that was uploaded to the JobManager.
type Jar struct {
	ID       string `json:"id"`       // by which it is run
	Name     string `json:"name"`     // of the file that was uploaded
	Uploaded int64  `json:"uploaded"` // ms since 1970
	Entries  []struct {
		Class string `json:"name"`
	} `json:"entry"` // main classes that its manifest names
}

// Jars lists the uploaded jars. A JobManager that takes no uploads (option
// web.submit.enable) has no such page: the error is then NotFound.
func (c *Client) Jars(ctx context.Context) ([]Jar, error) {
	answer, err := get[struct {
		Files Bounded[Jar] `json:"files"`
	}](ctx, c, "", "jars")
	switch {
	case err != nil:
		return nil, err
	case answer.Files.Cut() > 0:
		return nil, fault.New(fault.Unsupported, op, "%s has %d uploaded jars, and the first %d are read", c.Address(), answer.Files.Total, MaxItems).
			WithHint("delete those that nobody needs").WithRef(c.Address().String())
	}
	return answer.Files.Items, nil
}
