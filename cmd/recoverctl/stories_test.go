package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/recoverctl/recoverctl/internal/testkit/kafkatest"
	"github.com/recoverctl/recoverctl/internal/testkit/story"
)

// Situations of cleanups as an operator would tell them. They are played against
// a broker in this process here and, with the tag real, against Kafka.
func TestStories(t *testing.T) {
	t.Parallel()
	stories(t, 5*time.Second, func(t *testing.T) *kafkatest.Cluster { return kafkatest.StartFake(t).Cluster })
}

func stories(t *testing.T, limit time.Duration, cluster func(*testing.T) *kafkatest.Cluster) {
	all := story.Load(t, os.DirFS("testdata/stories"))
	if len(all) < 40 {
		t.Errorf("only %d stories", len(all))
	}
	path := asProcess(t)
	for _, s := range all {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			story.Play(t, s, story.Stage{
				Cluster: cluster(t), Program: inProcess, Process: ownProcess(path), Request: limit,
				Flink: func(t testing.TB, scenario string) (address, jobID string) {
					r := recordedFlink("2.3.0")
					return r.Start(t, scenario), r.JobID(t, scenario)
				},
			})
		})
	}
}

// inProcess runs a command of a story here.
func inProcess(ctx context.Context, environ []string, args ...string) story.Outcome {
	var out, errOut bytes.Buffer
	code := run(ctx, args, streams{in: strings.NewReader(""), out: &out, err: &errOut, environ: environ})
	return story.Outcome{Exit: code, Out: out.String(), Err: errOut.String()}
}

// ownProcess runs a command of a story as the program that path is.
func ownProcess(path string) story.Program {
	return func(ctx context.Context, environ []string, args ...string) story.Outcome {
		var out, errOut bytes.Buffer
		cmd := exec.CommandContext(ctx, path, args...)
		cmd.Env, cmd.Stdout, cmd.Stderr = environ, &out, &errOut
		err := cmd.Run()
		o := story.Outcome{Exit: cmd.ProcessState.ExitCode(), Out: out.String(), Err: errOut.String()}
		if exit, ended := errors.AsType[*exec.ExitError](err); ended {
			status, known := exit.Sys().(syscall.WaitStatus)
			o.Killed = known && status.Signaled() && status.Signal() == syscall.SIGKILL
		}
		return o
	}
}
