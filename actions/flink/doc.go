// Package flink carries out plans about a Flink job over the JobManager's REST
// API: a savepoint, a stop with one, a cancellation, and a rollback, which ends a
// job and starts it again from a recovery point.
//
// Every id that Flink is asked with is the plan's own: the trigger of a savepoint
// and the id of the job that is started. So what became of a request whose answer
// was lost is asked by that id; and nothing is done twice, also from another
// machine or without this one's journal, because Flink does nothing for a trigger
// that it knows and refuses a job whose id it knows.
//
// A job is ended only where its plan's recovery point outlives that, and, where
// the plan says so, only when its safety savepoint is complete. A new one is
// started only when the old one has ended and no other job has its name.
//
// It must never ask Flink for anything that its plan does not say, never take an
// answer for more than it says, and never look more often than once in Poll.
package flink
