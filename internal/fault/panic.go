package fault

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/recoverctl/recoverctl/internal/safetext"
)

// Panic is a panic that was recovered: a defect of this program.
type Panic struct {
	Value any
	Place string // file and line, as in "run_step.go:187"
}

// Panicked is a panic of that value. It is called by the deferred function that
// recovered it: the place is looked for above it.
func Panicked(value any) *Panic { return &Panic{Value: value, Place: panicPlace()} }

// Error is the value, made safe, with its place.
func (p *Panic) Error() string {
	return safetext.Sprintf("%v", p.Value).String() + " (" + p.Place + ")"
}

// Unwrap is the value where it is an error, as runtime errors are.
func (p *Panic) Unwrap() error {
	err, _ := p.Value.(error)
	return err
}

// panicPlace is the file and line that panicked.
func panicPlace() string {
	callers := make([]uintptr, 32)
	frames := runtime.CallersFrames(callers[:runtime.Callers(1, callers)])
	panicking := false
	for {
		frame, more := frames.Next()
		inRuntime := strings.HasPrefix(frame.Function, "runtime.")
		panicking = panicking || frame.Function == "runtime.gopanic"
		if panicking && !inRuntime {
			return fmt.Sprintf("%s:%d", filepath.Base(frame.File), frame.Line)
		}
		if !more {
			return "place unknown"
		}
	}
}
