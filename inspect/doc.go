// Package inspect holds the nouns that every part of recoverctl agrees on
// (recovery point, marker, window, boundary, operation, finding, verdict), the
// pure rules over them, and the answers composed from them.
//
// Backends live below: inspect/flink reads recovery points, inspect/kafka reads
// topics. They fill the nouns; the rules here judge them. A rule has no I/O and
// no clock of its own, so that the same function speaks in the console, in the
// commands and, later, right before a delete.
//
// A scan for durable calls (CallScan) is shown every record of a topic once, by
// whatever backend reads it, and says which calls are at risk and what a restore
// from each recovery point does to them. It keeps open actions, never records.
//
// Nothing in this package or below it writes to any system, and nothing here
// knows a terminal: the same structs are rendered by commands and by screens.
package inspect
