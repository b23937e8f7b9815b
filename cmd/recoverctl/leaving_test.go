package main

import (
	"os"
	"syscall"
	"testing"

	"github.com/recoverctl/recoverctl/actions"
)

// stopped is a run that somebody tells to stop.
type stopped struct{ stops int }

func (s *stopped) Stop()                           { s.stops++ }
func (s *stopped) Interrupt() actions.Interruption { return actions.StopsAtBoundary }

// A signal that ends the process does so also where it comes just when the apply that
// had the signals has ended.
func TestASignalAtTheEndOfAnApply(t *testing.T) {
	for name, order := range map[string]func(*leaving, *signals, *stopped){
		"before it ends": func(l *leaving, s *signals, run *stopped) { l.signal(run, syscall.SIGTERM); l.ended(s) },
		"after":          func(l *leaving, s *signals, run *stopped) { l.ended(s); l.signal(run, syscall.SIGTERM) },
	} {
		t.Run(name, func(t *testing.T) {
			ctx, s, stop := watchSignals(t.Context())
			defer stop()
			run := &stopped{}
			order(&leaving{}, s, run)
			if ctx.Err() == nil || run.stops != 1 {
				t.Errorf("the process goes on; the run was told to stop %d times", run.stops)
			}
		})
	}
	ctx, s, stop := watchSignals(t.Context())
	defer stop()
	l := &leaving{}
	l.signal(&stopped{}, os.Interrupt)
	l.signal(&stopped{}, syscall.SIGTSTP)
	l.ended(s)
	if ctx.Err() != nil {
		t.Error("the process ends by what only stops the apply")
	}
}
