// Package rollback shows a plan that rolls a Flink job back to a recovery point, or
// an ArkFlow job to a lower version, before anything is done with it: how the job is
// ended, from what it is started again and how, each step with its own way back, and
// what nobody knows.
//
// What Flink does not tell is asked for here: the program's arguments, the jar
// where several are uploaded, and whether a safety savepoint is taken. The plan is
// put to the operator and carried out by the dialogs and the screen of package
// apply. It writes to no system itself.
package rollback
