// Package explain finds, in a pasted log or exception, the messages by which the
// real systems say why a recovery failed: Flink Agents' restore, cleanup,
// snapshot and replay errors of each release, Flink's checkpoint loader and what it
// says of starts, files and state, its Kubernetes Operator, Kafka's and Fluss's
// offset and data-loss errors, and ArkFlow's engine and Hub.
//
// A message is known by the words that only it has; the numbers in it are
// repeated, never computed. What is not known is said to be unknown: a text in
// which nothing is found has an empty list, and the exceptions in it are listed
// as they stand.
//
// It does no I/O and knows no nouns of the other packages, so that a live
// exception of a job can go through it as well as a file.
package explain
