// Package tuitest drives screens in tests: keys in, frames out, without a
// terminal and without waiting for time to pass.
//
// A Driver holds a shell at a size. Pressing a key runs everything that follows
// from it, reads included, until nothing is left to do; then the frame is what
// an operator would see. Golden compares a frame with a file under testdata and
// rewrites the file with -update, the one flag for all golden frames.
//
// Press and Type are a person's pace: one second passes between keys, by a clock
// that is not shown. Together, Burst, Hold and Paste are all that is not a
// person's. Storm is ten thousand keys of every kind on any screen.
//
// Each frame is checked for what holds everywhere: the right number of lines,
// none too wide, a View that draws the same twice, no key with two meanings.
//
// The package is for tests alone.
package tuitest
