// Package fault is the one error type that reaches an operator.
//
// A fault is made once, where its cause is known, and says what failed, on
// which partition or file, with which numbers, and what to do next. Its kind
// decides the exit code, so a script that reads exit codes and a person who
// reads sentences learn the same thing.
//
// Text that comes from outside (a topic name, a server's message, a file name)
// must have passed package safetext before it is put into a fault. Secrets
// never enter one.
package fault
