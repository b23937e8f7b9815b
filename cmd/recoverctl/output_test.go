package main

import (
	"bytes"
	"context"
	"syscall"
	"testing"

	"github.com/recoverctl/recoverctl/internal/fault"
)

// fullDisk takes nothing.
type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

// A full disk is no defect of this program, and not a result either.
func TestAnOutputThatTakesNothing(t *testing.T) {
	for _, form := range []string{"text", "json"} {
		t.Run(form, func(t *testing.T) {
			var complaint bytes.Buffer
			code := run(context.Background(), []string{"config", "show", "-o", form}, streams{out: fullDisk{}, err: &complaint})
			if code != fault.Unreachable.Exit() || !bytes.Contains(complaint.Bytes(), []byte("the result is not all written")) || !bytes.Contains(complaint.Bytes(), []byte("no space left")) {
				t.Errorf("exit %d, %s", code, &complaint)
			}
		})
	}
}
