// Package replies brings the answers that come over one connection to the calls
// that wait for them: several calls are out at once, each has an id, and a server
// answers in any order. When the connection ends, every call that waits, and every
// later one, ends with the reason.
//
// It knows no protocol and does no I/O: the client that owns the connection writes
// the requests, reads the answers, and closes it.
package replies
