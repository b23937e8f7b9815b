// Package flinkcases holds Flink snapshots written by real Flink jobs, each
// with an expected.json in which Flink's own Java code wrote down what it read
// back from the same files.
//
// It exists so that the tests of several packages share one copy. It must never
// be imported by anything but tests, and an expected value in it
// must never be regenerated from this project's own output.
//
// A case is a folder: CASE/expected.json, CASE/<job id>/chk-<n>/_metadata,
// CASE/<job id>/shared/…, CASE/savepoint-…/_metadata. Absolute paths inside
// _metadata start with file:/data/checkpoints/CASE/ and have to be mapped to
// the case's folder.
package flinkcases
