// Package records is the screen of the records of a job's topic, one partition at
// a time, from any offset, time or marker: each taken apart as far as its bytes
// tell what it is, and whole, as JSON, text or hexadecimal.
//
// It keeps a line for each record around the place that is looked at, and no
// value: values are read when they are opened, and laid out beside the console.
// An offset without a record is told as such and never called missing.
package records
