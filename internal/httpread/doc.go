// Package httpread reads over HTTP: with GET, within a size and a time, from one
// host.
//
// It is the only place that makes HTTP requests for reading, so that "this
// program can't change a cluster by reading" can be checked here: there is no
// method but GET, no body, and a redirect to another host is refused instead of
// taking a credential there.
//
// What a server says in an error is shown short and made safe for a terminal.
// Query strings and user names of a URL never enter a message: people put tokens
// there.
//
// It must never retry (the caller knows whether that is wise) and never send a
// credential to another host than the one it was given for.
package httpread
