// Package guide shows a guided procedure as a checklist: what each step asks for,
// the commands that do it, and whether it is done, open or unknown, as the
// systems said when they were asked.
//
// It reads, and it asks again when it is told to. It does no step itself, and
// never says that a step is done which nobody could see.
package guide
