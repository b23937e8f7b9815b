// Package bar draws the offsets of one partition as a bar to scale: where its
// log starts and ends, the boundary, and the markers of recovery points.
//
//	├·≠▲150──────────────────────3,910◆──┤
//
// The order of the signs is always the order of their offsets. Signs that touch
// stand at one offset; between two offsets there is at least one cell. A
// boundary or a marker at the log start or end stands in place of its sign.
//
// All stretches share one scale, but those with a broken axis (≠): they are
// longer than the scale says, because the marks would share a cell otherwise.
// What a restore can no longer read, from the log start to the boundary, is
// dotted. A mark outside the log stands outside the bar, before ├ or after ┤,
// and its distance means nothing.
//
// Offsets are printed beside their signs where there is room, always in full.
// The log's own start and end are not: they stand in columns beside the bar. A
// number that has no room is left out, never abbreviated; so is a negative one in
// ASCII, where its minus would look like the axis.
//
// A log whose start is past its end has no axis: its signs stand in the order
// of their offsets, as in "┤ ▲ ├". Where the signs alone don't fit, the bar is
// only the sign for "more than is shown".
package bar
