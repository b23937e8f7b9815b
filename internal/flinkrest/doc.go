// Package flinkrest asks a Flink JobManager about its jobs over the REST API of
// Flink 1.20 and 2.x: which there are, what state they are in, what failed, which
// checkpoints were taken and how they are set up.
//
// It only asks: every request is a GET of package httpread. It has no opinion
// about what the answers mean, and it never follows an address inside an answer.
//
// Flink answers from a cache (option web.refresh-interval, three seconds by
// default), so an answer may be that old, and two answers of one moment may be
// of different ages.
//
// An answer is bounded by its size, and the long lists in it by a number; what
// was left out is counted. Strings are kept exactly as they came: who shows them
// passes them through package safetext first.
package flinkrest
