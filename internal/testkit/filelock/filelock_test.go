package filelock_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/recoverctl/recoverctl/internal/testkit/filelock"
)

func TestOneAfterTheOther(t *testing.T) {
	name := filepath.Join(t.TempDir(), "lock")
	release, err := filelock.Wait(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	short, cancel := context.WithTimeout(t.Context(), 60*time.Millisecond)
	defer cancel()
	if _, err := filelock.Wait(short, name); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the second has it too: %v", err)
	}
	release()
	again, err := filelock.Wait(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	again()
}
