// Package write changes what an ArkFlow hub's jobs and streams do: it begins
// checkpoints and savepoints, starts and stops jobs, rolls them back, and acts on
// upgrades and streams.
//
// It sends each request once and over a connection of its own, follows no redirect
// and no leader, and never tries again: a request whose answer was lost is a fault
// of kind Unknown, and what became of it is found by reading. Only what was never
// sent, or was refused by the hub's own words, is another kind.
//
// An answer is not what was asked for: a trigger is answered with the job, an
// upgrade or rollback with a job that must be started, a stream's write with an
// intent that older hubs never call converged. Who needs to know reads on.
package write
