// Package bundle makes the file that goes with an incident's ticket: a gzipped
// tar archive of what was read, with a manifest that has the SHA-256 of each
// member. The same members give the same bytes.
//
// It decides nothing about what goes in, and writes no file: the caller must
// never add a secret or what nobody asked for.
package bundle
