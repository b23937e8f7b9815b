// Package actions carries out what changes a system, in five steps that never
// mix: intent, plan, approval, apply, verify. It is the part that all backends
// share, and it does no I/O on a system itself: the backends below it
// (actions/kafka, …) read and write, and are the only code of this program that
// may write.
//
// # The steps
//
// A Plan is made from what was read, and holds nothing else: CleanupFrom, a pure
// function, whose result is written byte for byte as the Java tool writes it. A
// Report says the same to people: what is deleted, which recovery points stay
// restorable and which never will be again, what nobody knows. It is a pure
// function of Evidence. An Approval is bound to the plan's id and the report's
// hash, so that nothing can be approved that was not shown. A Run carries out
// the steps of a list and belongs to no screen. Verify is a pure function again:
// Judge says from the plan, the control topic and the log starts, as re-read,
// what has become of the operation.
//
// # Why a crash leaves extra data, and never missing data
//
// The boundary is committed before a record is deleted. A crash before COMMITTED
// has changed nothing. A crash after it leaves a boundary in force and a log
// that is not yet trimmed: records that no restore will read, which cost space
// and nothing else. The other way round a crash would leave recovery points that
// look restorable and whose records are gone. APPLIED is written last, when the
// log starts were read again, so it is never a promise.
//
// Before each write the journal holds the intent, on the disk; after it the
// outcome. An intent without an outcome is the trace of a crash, and what became
// of that write is found out by reading. A write whose answer was lost is
// unknown until something was read that settles it; it is never guessed and
// never blindly repeated.
//
// # What it must never do
//
// It never writes without an Approval that covers the plan and every warning of
// its report. It never says "applied" where a log start was not read at or past
// its target. It never keeps a write from being journalled, and it never lets a
// screen, a lost connection or a cancelled context abandon a write half-way
// without a word.
package actions
