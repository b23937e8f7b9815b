// Package compare is the screen of two recovery points side by side: what differs
// first, then where each reads every partition from, then what is the same.
//
// It shows what was read of both. What could not be read of one is never told as
// a difference.
package compare
