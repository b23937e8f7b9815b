// Package fluss changes what a Fluss cluster keeps for producers: it deletes the
// offsets of one, or registers offsets for one that has none that are valid.
//
// # What the server does not protect
//
// It deletes by the producer's id and compares nothing, and it keeps whatever
// offsets it is given, of tables that do not exist too. So the entry is read
// directly before and after each write, the logs are looked at before offsets are
// registered, and what happens in between is named as not known.
//
// A register of an id that has a valid entry changes nothing and answers
// ALREADY_EXISTS. That is a refusal here, and no change is told.
//
// # What it must never do
//
// It never repeats a call that writes. Where an answer was lost it reads; an entry
// that is still as before after that is no proof that the call will not be carried
// out yet, and is told as unknown.
package fluss
