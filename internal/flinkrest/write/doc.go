// Package write is the half of package flinkrest that changes something: it
// triggers savepoints, stops and cancels jobs, and runs uploaded jars, over the
// REST API of Flink 1.20 and 2.x.
//
// A request that asks Flink to do something is sent once, over a connection of
// its own, and never again by itself. Its fault is of kind Unknown where Flink
// may have done it nevertheless: then the caller finds out by reading. Every
// other kind says that nothing was done.
//
// The caller chooses the ids: of a trigger, and of the job that is started.
// Flink does nothing a second time for a trigger that it knows, and refuses a
// job whose id it knows, so that a request that went through and whose answer
// was lost can't become two savepoints or two jobs.
//
// Only packages below actions import it. It has no opinion about whether
// something should be done.
package write
