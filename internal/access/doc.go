// Package access holds the rules about who may change what: the access level,
// the environment, and what both demand before a write.
//
// Every rule here is a pure function over values that were given somewhere
// else. Where two places disagree the stricter one wins, and the zero value of
// every type is the strictest: read-only, production.
//
// It must never read a file, an environment variable or a clock.
package access
