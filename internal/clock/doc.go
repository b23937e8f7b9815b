// Package clock is where time comes from, so that a rule which needs it can be
// given another one, and how an age is written on a screen.
//
// It must never sleep or start a timer.
package clock
