// Package scan runs the scans of jobs' topics for durable calls, and holds what
// they found for every screen that shows it: one scan of a topic is shared by the
// Job screen, Calls and Restore check.
//
// A scan outlives the screen that asked for it and ends with the console. What it
// has found stands in lists that never change, so that a screen takes a newer one
// at once however many rows it has, and that are made beside the console's
// goroutine. A scan that was cancelled or failed keeps what it found and says
// that this is not all.
//
// It reads through a Source and never by itself.
package scan
