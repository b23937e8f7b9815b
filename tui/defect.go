package tui

import "github.com/recoverctl/recoverctl/internal/fault"

// defectSentence begins what is said where this program itself is wrong.
const defectSentence = "a defect in this program"

// defect makes a fault of a recovered panic. It is called by the deferred
// function that recovered it.
func defect(op string, panicked any) *fault.Fault {
	return fault.Wrap(fault.Bug, op, fault.Panicked(panicked), "%s", defectSentence).
		WithHint("report this sentence; the same answers are available as commands")
}
