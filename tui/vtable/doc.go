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
// The table does no I/O and View changes nothing. It doesn't say why there are
// no rows: "reading" and "none" are the screen's words.
package vtable
