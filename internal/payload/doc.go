// Package payload lays the bytes of a key or value out for people: JSON with
// indentation, other text as it is, and everything as rows of hexadecimal. Values
// may be of many megabytes: rows are made one at a time.
//
// It decides nothing about what bytes mean, and does no I/O. What it returns of
// text is as it came: whoever prints it passes it through safetext.
package payload
