// Package redbfile reads redb database files of the formats v2 and v3, as redb
// 2.6 and 4.x write them, without that library: which commit a start would take,
// every table with its entries, and every page whose checksum is wrong.
//
// A file may be read as a whole ([File.Read]), with every checksum in it, or in
// parts ([File.Latest]): its branches alone, or the entries from a key on. What
// is left of a file that no start gets over is read by [File.Salvage].
//
// It never writes, takes no lock, and reads only what the trees reach. A live
// writer changes a file under the reader: what was read is to be believed only
// when the header is the same afterwards, see [File.Changed], or when the bytes
// are a copy that was taken in one piece.
//
// The format is that of redb's design document and its source, versions 2.6.3
// and 4.6.0, checked on files that a real engine wrote.
package redbfile
