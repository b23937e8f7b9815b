// Package operations is the screen of a job's control topic: what both of its
// readers say, the cleanups that it records, and the boundary that they put in
// force on each partition.
//
// It shows a CleanupBoundary and judges nothing itself; it writes nothing.
package operations
