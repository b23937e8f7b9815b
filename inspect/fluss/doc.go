// Package fluss reads what a Fluss cluster keeps of jobs: the action-state table
// of Flink Agents as a log that a restore reads again, and the offsets that the
// coordinator keeps for the producers of Fluss sinks.
//
// Calls of a table are found by the same engine as those of a Kafka topic, and its
// rows are browsed and judged as records of one are; this package only shows them. A table's identity, its id, is compared before
// and after what was asked by name. Rows are read to an end that was captured
// first. What could not be read is said, per bucket, beside what could.
//
// It never writes. It never calls a bucket lost where it only could not be asked,
// and never shows a setting of the cluster that may be a secret: those do not come
// out of package flussrpc.
package fluss
