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
package flussrpc
