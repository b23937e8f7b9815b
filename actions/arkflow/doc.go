// Package arkflow applies plans about jobs and streams of ArkFlow: it begins a
// checkpoint or a savepoint and follows it, takes a job back to a lower version
// (stopped, rolled back, started, and proved as far as a hub lets it be proved),
// pauses, resumes or cancels an upgrade, or restarts a stream.
//
// A hub's answer is never taken for what was done. Each step that writes reads
// directly before, sends one request, and where the answer is lost finds the outcome
// by reading. Where nothing is seen of it the outcome is unknown, because a request
// may come late: nothing more is sent then, in this apply or in a later one, before
// an operator has settled it. Only the restart of a stream carries a key with which
// a hub does it once, and may be asked for again.
//
// It must never start a job that a start would begin cold.
package arkflow
