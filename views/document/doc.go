// Package document shows a plan of recoverctl.plan/v1, of whatever kind, before
// anything is done with it: whether it can be applied, what each thing that it
// changes is and becomes, what stays, and what nobody knows. Words say what a kind
// is called; a kind that has more to say gives a page and keys of its own.
//
// It is put to the operator and carried out by the same dialogs and the same
// screen as a cleanup, which are package apply's. It writes to no system itself.
package document
