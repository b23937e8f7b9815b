// Package filelock lets tests of several processes take turns with what they
// share: servers that one of them stops and kills, say. A lock is a file, and
// ends with its process at the latest.
package filelock

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
)

// look is how often it is tried whether another has let go.
const look = 50 * time.Millisecond

// Wait waits until nobody else has the lock of that name, the path of a file that
// is made where it is not there. Whoever has it must not wait for it again.
func Wait(ctx context.Context, name string) (release func(), err error) {
	file, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	for {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return func() { file.Close() }, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			file.Close()
			return nil, fmt.Errorf("lock %s: %w", name, err)
		}
		select {
		case <-ctx.Done():
			file.Close()
			return nil, fmt.Errorf("lock %s, which another test has: %w", name, ctx.Err())
		case <-time.After(look):
		}
	}
}
