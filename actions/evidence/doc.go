// Package evidence reads all that a plan is judged by: the job's topics, the
// plan's own recovery point, the places with recovery points and the pinned
// ones, and what the job does.
//
// There is one way to read it, for plans, reviews, applies and the listing
// directly before COMMITTED: two ways would sooner or later see two different
// worlds.
//
// It must never judge, and never leave out what it could not read.
package evidence
