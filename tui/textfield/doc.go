// Package textfield is one line that an operator types into: the filter, the
// command line, the fields of dialogs.
//
// A field holds printable characters only. What arrives with anything else is
// refused as a whole, never cleaned: an operator must see what was typed, not
// what a program made of it.
package textfield
