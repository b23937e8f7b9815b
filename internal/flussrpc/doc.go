// Package flussrpc speaks Apache Fluss's own protocol, as release 0.9.1 has it on
// the wire and as its main branch is known to: framing, handshake, SASL/PLAIN,
// the calls that read, and the batches of records.
//
// It reads only: the calls that change something are in package write below it.
// It knows no tables of Flink Agents and judges nothing.
//
// A Fluss server has a habit that shapes this package: a request that it can't
// parse, does not know, or is sent to the wrong kind of server is never answered.
// So every request has a time limit of its own, and nothing is asked that the
// server has not said it serves.
//
// A Conn is one connection to one server. A Client asks a whole cluster, each
// server what it alone or best can answer, and follows leaders as they move; its
// Scan reads buckets from their leaders and, through a Files, from remote storage.
// It must never send a FetchLog in the name of a server, which would change what
// the cluster thinks of that replica, and never let a setting of the cluster out
// that may be a secret.
//
// Rows are read in two ways: by a Decoder whole, through the Arrow library, and by
// a Picker some columns of texts and bytes only, which is ten times as fast for
// tables that have one row a batch.
package flussrpc
