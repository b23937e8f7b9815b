// Package kafka reads the topics of a job: what the data topic is now, which
// records a restore would read on it, and what a read_committed reader sees on
// the control topic.
//
// Answers are exact or they are errors. A topic's identity is compared before
// and after everything that was asked by name, so that a topic that was deleted
// and created again in between is never described as one. Records are read to an
// end captured first; that end counts as reached only when the
// offsets of the broker's own batches have passed it, or when the leader has
// said repeatedly that nothing is stored below it. Silence is never an end.
//
// A scan for durable calls reads a whole topic as a restore would, several
// partitions at a time, and walks the record batches itself: no record is made of
// what is looked at once. One partition that can't be read hides no other; what
// was read until then is in the answer.
//
// The package never writes, never joins a consumer group and never creates a
// topic by asking for it. Memory is bounded by the limits on a control topic, and of a
// data topic only a few answers are held.
package kafka
