// Package job runs long work that no screen owns: a scan, an apply.
//
// The worker counts into a Progress, which costs it an atomic addition and never
// blocks; whoever wants to know reads a Snapshot, as often as it likes. A job
// ends with the worker's error, or with a fault of kind Bug where the worker
// panicked: a defect in one job must not take the console down in the middle of
// another.
//
// It must never start a goroutine that Wait doesn't wait for, and it knows
// nothing of what the work is.
package job
