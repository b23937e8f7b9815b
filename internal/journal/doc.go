// Package journal keeps, on this machine, what this program was about to change
// and what came of it.
//
// Each line is one JSON object in a file of its month, and is on the disk before
// Append returns. Before a write the intent is appended, after it the outcome.
// An intent without an outcome is the trace of a crash: nobody knows from here
// what became of that write, and the system that it went to has to be read.
//
// The package also holds the lock of a job: on one machine one process at a time
// applies something to it. Nothing here locks across machines.
//
// Files have mode 0600 in folders of mode 0700. What came from outside is made
// safe when it is written and again when it is read, so that a line can be put
// on a terminal.
//
// It must never change or drop a line that was written, never report a line that
// it could not read as absent, and never hold a secret.
package journal
