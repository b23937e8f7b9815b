// Package wal is the screen of a stream's write-ahead log: what a start replays,
// what is wrong with the log, its cursor and gaps on a bar to scale, and its
// entries, each of which opens to the rows of its payload.
//
// Of the entries it keeps a line for each around the place that is looked at, and
// of their payloads only that of the one that is open. It reads nothing itself and
// shows no value before an entry is opened.
package wal
