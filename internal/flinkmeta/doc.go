// Package flinkmeta reads and writes the files in which Flink describes a
// checkpoint or savepoint: _metadata (format versions 2 to 6) and the operator
// state stream (versions 5 and 6). It needs no JVM.
//
// It knows the formats and nothing else. It opens no file, resolves no path and
// has no opinion about whether a snapshot can be restored: [Decode] returns
// every handle with the numbers that such checks need (kinds, sizes, paths,
// offsets, key group ranges, byte positions), and fails only where the bytes
// themselves are wrong.
//
// The bytes may be truncated, damaged or hostile. Every length is compared with
// the bytes that remain before anything is allocated, nesting is bounded, and
// inline data is a sub-slice of the input, never a copy; [DecodeFrom] leaves it
// in the file. Names and paths are
// returned as they are in the file: they must pass package safetext before they
// reach a terminal.
//
// Encode and OperatorStreamBuilder write the same formats. They exist for the
// demo and for tests and must never be used on an operator's files.
package flinkmeta
