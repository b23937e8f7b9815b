// Package write holds the calls that change something in a Fluss cluster: the
// offsets that it keeps for producers. It is apart from package flussrpc so that
// what only reads can't reach it; actions and tests may.
//
// A call here is made once. It is never repeated by itself: where its answer was
// lost, its outcome is not known, which the fault of kind Unknown says, and
// reading settles it.
package write
