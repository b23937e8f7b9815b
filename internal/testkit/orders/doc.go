// Package orders makes what the job of the samples writes of its orders: record
// keys with their digests, key groups and name-based ids, and action states as JSON
// with their calls, byte for byte as Flink Agents lays them out.
//
// A [Shape] is what happens to one order. Where its states lie, and when they were
// written, is the matter of whoever asks for them. Everything follows from the
// source of randomness that is given.
//
// Only the demo and tests may import this package. It writes nothing.
package orders
