// Package jobs is the console's first screen: every job of the profile, with the
// state of its recovery in one row.
//
// Each job is read by itself, so that one cluster that does not answer never
// hides another.
package jobs
