// Package plan shows a cleanup plan before anything is done with it: what it
// deletes, which recovery points stay restorable and which never will be again,
// what nobody knows, and what each step of an apply would find now.
//
// It only reads, and writes a plan file where it is told to. It applies nothing:
// it names the command that does.
package plan
