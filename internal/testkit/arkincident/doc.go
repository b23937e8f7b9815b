// Package arkincident makes the sample behind "recoverctl demo --arkflow": an
// ArkFlow hub in this process, a checkpoint store in a folder, and write-ahead logs
// beside it, in the states that an operator meets at night.
//
// The hub calls every job running and converged. Of its four jobs one is in order.
// payments-agg takes no checkpoint any more: its store takes nothing since twenty
// minutes, and the hub calls each round pending; of the log beside it a start sends
// eight entries again, and the source positions of the checkpoint that is still in
// force cover four of them. refunds-dedup has a newest
// checkpoint whose state is damaged and one before it that holds half of the tasks:
// a start would restore that one, though an older checkpoint is whole. invoices was
// upgraded to version 2 from a savepoint of version 1, began cold without a word,
// and can be rolled back.
//
// Of the streams, payments-eu runs, and what was asked of it last failed for good
// while the hub calls it in sync; heartbeat has no write-ahead log; refunds-eu
// failed on what its log replays. The logs are files that a real engine wrote, and
// one of them was damaged afterwards: payments-eu has entries behind its cursor,
// orders-eu (a copy of an object store's log) lacks two of those, and a page of
// refunds-eu is not what was written, which its engine would not notice.
//
// The past is played to the hub by a clock of its own; from then on it runs with
// the machine's. The hub goes on from there: it takes checkpoints, and jobs can be
// stopped, rolled back and started.
//
// Only the demo and tests may import this package: it writes. It must never write
// outside the folder that it is given, and leaves no goroutine behind.
package arkincident
