package inspect_test

import (
	"context"
	"testing"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/clock"
	"github.com/recoverctl/recoverctl/internal/fault"
)

func TestRunningSaysWhyNothingIsKnown(t *testing.T) {
	gone := fault.New(fault.Unreachable, "ask Flink", "no answer")
	known := inspect.LiveState{JobID: "4f3c92d07be1458a96c0d1e2f3a4b5c6", State: "RUNNING"}
	tests := map[string]struct {
		live   inspect.LiveStore // nil: none
		source inspect.Connection
		state  string
		kind   fault.Kind // of the error; Problem: no error
	}{
		"no Flink is connected":               {nil, inspect.NotConnected, "", fault.Problem},
		"it does not answer":                  {flink{err: gone}, inspect.Unread, "", fault.Unreachable},
		"it answers":                          {flink{state: known}, inspect.Read, "RUNNING", fault.Problem},
		"a part could not be read":            {flink{state: known, err: gone}, inspect.Read, "RUNNING", fault.Unreachable},
		"a store that breaks its own promise": {flink{}, inspect.Unread, "", fault.Bug},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			in := inspect.New(shelf{}, nil, clock.NewFake(now))
			job := agentJob()
			if tt.live != nil {
				in = in.WithLive(tt.live)
				job.Flink.REST = "http://jobmanager:8081"
			}
			got, err := in.Running(context.Background(), job)
			if got.Source != tt.source {
				t.Errorf("source %q, want %q", got.Source, tt.source)
			}
			if (got.Live != nil) != (tt.state != "") || got.Live != nil && got.Live.State != tt.state {
				t.Errorf("state %+v, want %q", got.Live, tt.state)
			}
			if (err != nil) != (tt.kind != fault.Problem) || err != nil && fault.KindOf(err) != tt.kind {
				t.Errorf("error %v", err)
			}
		})
	}
}

// A folder may have another name here than where Flink runs; the names below it
// tell points apart.
func TestPointAt(t *testing.T) {
	const id = "4f3c92d07be1458a96c0d1e2f3a4b5c6"
	points := []inspect.PointSummary{
		{URI: "/mnt/copy/" + id + "/chk-44"},
		{URI: "s3://b/savepoints/savepoint-4f3c92-1a2b3c4d5e6f"},
		{URI: "file:///data/x/chk-7"},
	}
	tests := map[string]struct {
		path string
		want int // -1: none
	}{
		"under another folder":         {"hdfs://nn/ckpt/" + id + "/chk-44", 0},
		"of another job":               {"hdfs://nn/ckpt/00000000000000000000000000000000/chk-44", -1},
		"another number":               {"hdfs://nn/ckpt/" + id + "/chk-45", -1},
		"a savepoint that was copied":  {"file:/elsewhere/savepoint-4f3c92-1a2b3c4d5e6f/", 1},
		"another spelling of a folder": {"/data/x/chk-7/_metadata", 2},
		"another folder, no job's id":  {"/data/y/chk-7", -1},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, ok := inspect.PointAt(points, tt.path)
			if ok != (tt.want >= 0) || ok && got != tt.want {
				t.Errorf("%d %v, want %d", got, ok, tt.want)
			}
		})
	}
}

// tasks is a LiveStore that knows the tasks of one checkpoint.
type tasks struct {
	flink
	details inspect.LiveCheckpointDetails
}

func (s tasks) Checkpoint(_ context.Context, ref inspect.JobRef, id int64) (inspect.LiveCheckpointDetails, error) {
	if id != s.details.ID {
		return inspect.LiveCheckpointDetails{}, fault.New(fault.NotFound, "read live state", "checkpoint %d of %s is not there", id, ref.Name)
	}
	return s.details, nil
}

func TestTheTasksOfACheckpointAreAskedFor(t *testing.T) {
	details := inspect.LiveCheckpointDetails{LiveCheckpoint: inspect.LiveCheckpoint{ID: 15}, Tasks: []inspect.LiveCheckpointTask{{Name: "order agent", Acknowledged: 1, Subtasks: 2}}}
	tests := map[string]struct {
		live inspect.LiveStore
		job  inspect.Job
		id   int64
		kind fault.Kind // Problem: no error
	}{
		"it is there":             {tasks{details: details}, inFlink(agentJob()), 15, fault.Problem},
		"another one":             {tasks{details: details}, inFlink(agentJob()), 16, fault.NotFound},
		"no JobManager":           {tasks{details: details}, agentJob(), 15, fault.Config},
		"a store that can't tell": {flink{}, inFlink(agentJob()), 15, fault.Unsupported},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := inspect.New(shelf{}, nil, clock.NewFake(now)).WithLive(tt.live).Checkpoint(context.Background(), tt.job, tt.id)
			if tt.kind != fault.Problem {
				if err == nil || fault.KindOf(err) != tt.kind {
					t.Errorf("%+v, %v", got, err)
				}
				return
			}
			if err != nil || len(got.Tasks) != 1 || got.Tasks[0].Name != "order agent" {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
}
