// Package live is the screen of what a job does now, as Flink says it: its state,
// the root cause of its newest failure, its checkpoint history beside the places
// that were searched, and what Flink would restore it from by itself.
//
// It reads again while it is shown, and never while nobody looks. It starts and
// stops no job.
package live
