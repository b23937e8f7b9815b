// Package kafkatest gives tests and the demo a Kafka cluster to write to: one
// in this process, or a real broker.
//
// NewFake starts a cluster in this process. It is kfake, corrected where kfake
// answers otherwise than Kafka in something this program relies on: trimming
// below the log start, trimming a compacted topic, settings that do not exist,
// records without a key. The same conformance test runs against the fake and
// against a real broker (build tag real), so that every correction is proved
// by the system that it imitates.
//
// A Cluster is the set of verbs for both: make a topic, write records to a
// partition, leave a transaction open, trim, delete and make anew.
//
// A Trio is three real brokers of one cluster that a test may kill, stop still
// and start again; the three must be whole when a test lets go of them.
//
// Only tests and the demo may import this package: it writes. Nothing here
// decides anything about recovery.
package kafkatest
