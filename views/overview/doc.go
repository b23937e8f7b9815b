// Package overview keeps a job's overview for the screens that show it: what was
// read, what could not be read beside it, and when.
//
// It reads through a Source, in a command of the console, and never by itself.
package overview
