// Package settings shows a plan that gives a topic the settings of a cleanup,
// before anything is done with it: what each setting is and where that comes from,
// what it becomes, what stays, and what nobody knows.
//
// It is put to the operator and carried out by the same dialogs and the same
// screen as a cleanup, which are package apply's. It writes to no system itself.
package settings
