// Package cases holds situations of cleanup plans, control topics and restores,
// with the verdicts that the Java implementation of the cleanup gave for them
// against a real broker. Nothing in testdata was written by this project's own
// code, and no expected value in it may be regenerated from it.
//
// The package knows the files and their placeholders. It does not import the
// rules that it is used to test: plan ids and control records are made here a
// second time.
package cases
