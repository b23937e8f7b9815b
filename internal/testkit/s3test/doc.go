// Package s3test gives tests an object store that speaks S3 over HTTP, in this
// process, with whatever can be wrong with one in front of it: refusals,
// slowness, bodies that end early or say other sizes, listings without an end,
// web pages, objects that change while they are read.
//
// Only tests use it. It checks no signatures; it can check that an access key is
// the one that it knows.
package s3test
