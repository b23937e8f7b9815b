// Package calls is the screen of a job's durable calls: which external calls may
// have happened without anyone knowing, and what a restore would do to each. The
// worst stands first.
//
// It shows what a scan of the topic has found, also while that runs, and judges
// nothing itself. What was not read is never shown as nothing.
package calls
