// Package arkflow applies plans about an ArkFlow job: it begins a checkpoint or a
// savepoint and follows it, or takes the job back to a lower version: stopped,
// rolled back, started, and proved as far as a hub lets it be proved.
//
// A hub's answer is never taken for what was done. Each step that writes reads the
// job directly before, sends one request, and where the answer is lost finds the
// outcome by reading; nothing is sent twice in one apply. A rollback whose answer
// was lost, and that the hub shows nothing of, is left unknown where a late request
// would go down one version more.
//
// It must never start a job that a start would begin cold.
package arkflow
