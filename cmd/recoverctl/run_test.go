package main

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"
)

// outcome is what a run of the program left behind.
type outcome struct {
	code        int
	out, errOut string
}

// command runs the program in this process, with no configuration of the
// machine's user and no terminal.
func command(t *testing.T, args ...string) outcome {
	t.Helper()
	return commandIn(t, []string{"HOME=" + t.TempDir()}, "", args...)
}

func commandIn(t *testing.T, environ []string, stdin string, args ...string) outcome {
	t.Helper()
	var out, errOut bytes.Buffer
	code := run(context.WithoutCancel(t.Context()), args, streams{in: strings.NewReader(stdin), out: &out, err: &errOut, environ: environ})
	return outcome{code, out.String(), errOut.String()}
}

// answer is the JSON envelope of a run, with numbers kept as they are written.
type answer[T any] struct {
	Schema string
	Kind   string
	Data   T
	Faults []faultJSON
}

// ask runs a command with -o json and reads its answer.
func ask[T any](t *testing.T, kind string, args ...string) (answer[T], outcome) {
	t.Helper()
	got := command(t, append(slices.Clone(args), "-o", "json")...)
	return decodeAnswer[T](t, kind, got), got
}

// decodeAnswer reads the answer that a command printed with -o json.
func decodeAnswer[T any](t *testing.T, kind string, got outcome) answer[T] {
	t.Helper()
	var a answer[T]
	dec := json.NewDecoder(strings.NewReader(got.out))
	dec.UseNumber()
	if err := dec.Decode(&a); err != nil {
		t.Fatalf("no JSON (%v), exit %d\nstdout %s\nstderr %s", err, got.code, got.out, got.errOut)
	}
	if a.Schema != "recoverctl/v1" || a.Kind != kind {
		t.Fatalf("schema %q kind %q, want kind %q", a.Schema, a.Kind, kind)
	}
	return a
}

// cleanupContext is for work after the test, whose own context has ended.
func cleanupContext(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}
