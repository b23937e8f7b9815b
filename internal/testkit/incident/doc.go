// Package incident makes the sample incident behind "recoverctl demo": a Kafka
// cluster in this process and recovery points in a folder, as a cleanup leaves
// them that stopped half-way.
//
// The story: job order-agent keeps its action state on a topic of 64
// partitions. Nine days were quiet, then a large batch of orders came in. A
// first cleanup was applied eight days ago. A second one, made from chk-42, was
// committed 21 minutes ago and stopped before partitions 0 and 1 were trimmed.
// Of the calls since, two would run again from chk-44, one from chk-43 and none
// from chk-42, and one action has begun of which no call is on record yet.
//
// Six days ago a rollback to release 0.3 was tried and given up. Of that, two
// charges are left on the partitions that were not trimmed: one was PENDING until
// the release overwrote it, and one belongs to a JVM that was started anew and
// charged again. No restore finds either, so both would run again from every
// checkpoint, and finishing the cleanup deletes their records.
//
// Beside the three good checkpoints lie a checkpoint and a pinned savepoint
// below the boundary, an unfinished checkpoint, a savepoint with markers of an
// old release and one of a topic that was deleted and made anew.
//
// Everything that a reader may look at is in the real formats: record keys with
// their digests, key groups, partitions and name-based ids, control records with
// the ids of their plans, and snapshots as Flink 2.3 lays them out. All of it
// follows from a seed; only the topic's id, which the cluster chooses, and the
// folder differ from one start to the next.
//
// Only the demo and tests may import this package: it writes. It must never
// write outside the folder that it is given, and leaves no goroutine behind.
package incident
