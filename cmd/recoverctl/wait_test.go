package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// A pipe that nobody writes to can be waited for, as in --config <(command), and
// ctrl-c ends the waiting.
func TestInputThatNeverComesIsNotWaitedForAfterAnInterrupt(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // lets the reader that was left behind end
		if w, err := os.OpenFile(pipe, os.O_WRONLY|syscall.O_NONBLOCK, 0); err == nil {
			w.Close()
		}
	})
	tests := map[string][]string{
		"a configuration file":        {"config", "show", "--config", pipe},
		"markers on standard input":   {"validate", "restore", "--markers", "-", "--topic", "action-state"},
		"a file of markers, a pipe":   {"validate", "restore", "--markers", pipe, "--topic", "action-state"},
		"told as JSON where asked to": {"validate", "restore", "--markers", "-", "--topic", "action-state", "-o", "json"},
	}
	for name, args := range tests {
		t.Run(name, func(t *testing.T) {
			in, typed := io.Pipe()
			defer typed.Close()
			ctx, interrupt := context.WithCancelCause(context.Background())
			var out, complaint bytes.Buffer
			ended := make(chan int, 1)
			go func() { ended <- run(ctx, args, streams{in: in, out: &out, err: &complaint}) }()
			select {
			case code := <-ended:
				t.Fatalf("exit %d before the interrupt: %s", code, &complaint)
			case <-time.After(50 * time.Millisecond):
			}
			interrupt(errors.New("interrupt signal received"))
			select {
			case code := <-ended:
				if code != 130 || out.Len() > 0 || !bytes.Contains(complaint.Bytes(), []byte("stopped before it was done: interrupt signal received")) {
					t.Errorf("exit %d, output %q, complaint %q", code, &out, &complaint)
				}
			case <-time.After(time.Minute):
				t.Fatal("still waiting")
			}
		})
	}
}
