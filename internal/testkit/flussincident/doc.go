// Package flussincident makes the sample incident behind "recoverctl demo --fluss":
// a Fluss cluster in this process, recovery points in a folder, and what the
// cluster's coordinator keeps for the producers of its sinks.
//
// The story: job order-agent keeps its action state in a table of 8 buckets, whose
// rows expire after seven days. Its store writes the states that it keeps anew with
// each checkpoint. Two minutes ago the job failed, right after checkpoint 58, while
// the store was doing that: of four open actions two were written again. So
// checkpoint 57 shows more than the newer 58: from 57 a saved charge of Carol's is
// replayed and Heidi's pending one is asked about; from 58 what becomes of both is
// not known. Alice's pending charge and Bob's saved mail are found from either, and
// so are three charges that had just begun.
//
// Six days ago a rollback to release 0.3 was tried and given up. Of that, two charges
// are left: Erin's was PENDING until the release overwrote it, and Dave's belongs to
// a JVM that was started anew and charged again. No restore finds either. Their rows
// lie in remote storage by now.
//
// Nobody has written to bucket 5 for eight days: all of its rows have expired, which
// no restore minds. A savepoint of eight days ago is lost with the rows that expired,
// one of twelve days ago is of a table that was dropped and made again since, and one
// of sixteen days ago of a table with four buckets.
//
// Of the producers one can be restarted as it is, one undoes unfinished rows first,
// one has an entry that expired and was not cleaned yet, one lost the file of its
// offsets, one wrote to a table that was dropped, one to a partition that was, one
// has a baseline whose rows expired, and of one only a file is left.
//
// Everything that a reader may look at is in the real formats, as in package
// incident. All of it follows from a seed; only addresses, the folder and some ids
// inside of recovery points differ from one start to the next. What the cluster itself does otherwise than a real one is
// told by package flusstest.
//
// Only the demo and tests may import this package: it writes. It must never write
// outside the folder that it is given, and leaves no goroutine behind.
package flussincident
