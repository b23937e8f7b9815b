// Package console puts the screens of a profile together: the first one, and the
// palette commands that work on every screen.
//
// It reads nothing and connects to nothing: it is given a source and a list.
package console
