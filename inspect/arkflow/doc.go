// Package arkflow reads what ArkFlow keeps for a recovery: the write-ahead log of
// a stream, as one redb file or as segments in an object store.
//
// Of a log it says where the cursor and the tail are, what lies in the replay
// window between them, what is missing or damaged in it, what the cursor means to
// the engine that wrote it, and what a start of that engine would make of all
// this: some open damaged files without a word, and some take every stream of a
// node down. The formats are those of ArkFlow's own code and of redb, checked on
// logs that a real engine wrote.
//
// It opens files and objects for reading and nothing else: it takes no lock,
// repairs nothing and leaves no trace. It must never give a cursor of a file that
// changed under its hands, never call a log clean that it has not read, and never
// put a payload's values into a message.
package arkflow
