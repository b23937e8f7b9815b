// Package fluss shows what a Fluss cluster keeps for the producers of its sinks,
// and the buckets of a table: who can be restarted, with what would be undone, and
// why not. A plan about a producer is made from here and put to the operator by a
// screen of its own.
//
// It reads nothing itself and judges nothing: verdicts and findings are package
// inspect/fluss's.
package fluss
