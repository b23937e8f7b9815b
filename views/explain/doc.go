// Package explain is the screen that takes a pasted log or exception and says
// which rule of which system spoke, in plain words, with what to do next.
//
// It finds nothing itself and reads nothing: package inspect/explain does.
package explain
