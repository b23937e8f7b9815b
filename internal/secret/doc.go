// Package secret holds passwords and keys so that they can't be printed by
// accident, and says where they come from.
//
// A Value prints as "***" in every way that Go has of printing a value. The one
// way to its text is Reveal, so that a search for that word finds every place
// where a secret leaves this package.
//
// It must never put a secret, or the output of a command that was to give one,
// into an error.
package secret
