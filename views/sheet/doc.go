// Package sheet is a page of text that is longer than the screen: it scrolls, and
// says how much of it is not shown.
//
// It holds lines that were made for a width. It reads nothing and decides
// nothing.
package sheet
