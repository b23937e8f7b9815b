// Package vtable is a table that looks only at the rows it draws: a key and a
// frame cost the same at ten rows and at ten million.
//
// Rows come from a Source, by index. The selection is kept by a row's identity,
// so it stays on the same thing when rows are added, removed or sorted anew.
//
// Numbers are never cut: a column aligned to the right is as wide as the widest
// value in the window. A column that has no room is left out whole, and the
// header says so. Text cells are cut at the end, with the sign for it.
//
// The key "/" filters: rows with a text in a cell, or a word of their state (see
// Worder); "!" before it for the others. The filter looks around the selected row
// first and goes on in steps of milliseconds, so that no key waits for it; the
// last line says how many rows it hides. The selection keeps its row and its
// line. A Source may have a filter language of its own (Querier).
//
// Rows that keep coming, as from a scan, are given as one Constant Source after
// another: a filtered table then shows what it has until the filter has looked
// through the newer one, says so in its last line, and never starts anew at each of
// them.
//
// The table does no I/O and View changes nothing. It doesn't say why there are
// no rows: "reading" and "none" are the screen's words.
package vtable
