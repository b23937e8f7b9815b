package flusstest

import "context"

// TB is what of testing.TB is used here: package testing stays out of the program
// that runs the demo.
type TB interface {
	Helper()
	Errorf(format string, args ...any)
	Fatal(args ...any)
	Fatalf(format string, args ...any)
	Cleanup(f func())
	Context() context.Context
	TempDir() string
}
