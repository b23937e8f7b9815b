// Package flusstest is a small Apache Fluss cluster inside the process: a
// coordinator and tablet servers, each on a port of its own, with tables of ARROW
// records, offsets, remote segments, producer offsets and SASL/PLAIN, as release
// 0.9.1 was recorded doing it. Tests make it fail: servers die and come back,
// leaders move, calls are refused, left without an answer or cut off.
//
// # What it has of a real cluster's habits
//
// A request that does not parse, that is not known, or that belongs to another
// kind of server is never answered. GetMetadata says of a missing table that the
// server failed, with a stack trace. A bucket without a leader has leader -1. A
// tablet server whose coordinator is gone goes on naming the dead. FetchLog is
// answered by the leader alone and ListOffsets by every replica. What was moved to
// remote storage is told as a list of files. Of one bucket of a request, and not
// always the first that it names, a whole batch is given however large it is; of the
// others what goes beyond the limit is cut. An entry of producer offsets stays
// after it expired, until the next cleanup. Secrets stand in the cluster's
// settings in clear text.
//
// # Where it differs from a real one
//
//   - Leaders move only when a test moves them, or at once when their server is
//     killed and another replica lives; a real cluster waits for a ZooKeeper
//     session to end.
//   - A dead server leaves the live list at once where the coordinator lives.
//   - Replicas never lag, and leader epochs are those of one counter a bucket.
//   - Only ARROW batches are written, by the Arrow library of Go and not of Java;
//     other batches may be appended as they were recorded. A primary-key table has a
//     changelog as it was told, and no rows behind it.
//   - Segments have no indexes: a time is looked up exactly, while a real server
//     answers a lower bound; the byte at which reading begins in a segment is
//     exact.
//   - Remote segments are cut where a test says, and nothing expires by itself.
//   - There are no snapshots of primary-key tables, no ACLs; a test refuses calls
//     instead. Of a lake only how far it reaches is told. A leader that gives nothing of
//     what lies there is as the servers' code has it for one that was told where the
//     lake's rows begin, which release 0.9.1 never does.
//   - Partitions have one bucket set each and are made by name.
//   - Producer offsets are cleaned when a test says so; there are no files whose
//     loss would show, and a test says instead that they are gone. Folders that stand
//     for them in remote storage are somebody else's.
//   - Requests of one connection are answered one after another, in their order.
package flusstest
