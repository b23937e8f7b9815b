// Package restorecheck is the screen that says why a recovery point is accepted,
// rejected or unknown: the verdict with its numbers, whether the records still
// exist, every rule with its evidence, and what can be done next.
//
// It shows a RestoreValidation and judges nothing itself. It never starts,
// stops or restores a job: it prints the command, and what must be stopped first.
package restorecheck
