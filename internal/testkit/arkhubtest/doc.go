// Package arkhubtest is an ArkFlow hub in this process, for tests and the demo:
// nodes, streams, jobs, checkpoints, savepoints, upgrades and rollback, with the
// answers, the delays and the traps of real hubs, and with whatever can go wrong
// on the way put in front of it.
//
// It is a model of the hubs that were recorded (package recorded) and of the
// hub's own code at commit c7dd8b4: a round that fails stays pending; a job's
// checkpoint_id names a round that was only begun; metrics are always 0; a write
// to a stream never converges; an upgrade or rollback starts cold where no
// artefact of the very version is there, and says converged; rollback is accepted
// while the job runs and whatever its upgrade id says; after a restart of the hub
// a write stays queued. Its test plays the recorded requests and compares the
// answers.
//
// # Known differences from a real hub
//
//   - Nothing runs: a node is a name with a lease, a job's state is a few counters,
//     and its source positions rise with the clock. Time is the clock's: what is due
//     happens when the hub is asked the next time.
//   - Only one job start a second is tried, and it succeeds; there is no start that
//     fails at first (a real one lost a race with a stream once), and stops are not
//     sent again with each report.
//   - A job's description is taken as it comes: no defaults are added, and only what
//     recovery depends on is checked.
//   - Rollouts, configuration writes, components and metrics as text are not there:
//     404 with an empty body.
//   - The newest generation was never run. What it answers follows the routes and
//     codes of its source: upgrades in atomic mode with their actions, the format
//     check of rollback, rounds that do become failed.
//   - The stream of events says nothing, as real ones did, but it ends at once.
//
// It must never be part of a command but the demo.
package arkhubtest
