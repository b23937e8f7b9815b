package tui

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

// defectSentence begins what is said where this program itself is wrong.
const defectSentence = "a defect in this program"

// defect makes a fault of a recovered panic. It is called by the deferred
// function that recovered it.
func defect(op string, panicked any) *fault.Fault {
	return fault.New(fault.Bug, op, "%s: %s (%s)",
		defectSentence, safetext.Sprintf("%v", panicked), panicPlace()).
		WithHint("report this sentence; the same answers are available as commands")
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
