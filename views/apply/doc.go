// Package apply asks for the approval of a plan, and shows how it is carried out:
// step by step, with the journal's lines as they are written, what it would mean
// if it stopped here, the verdict and the receipt.
//
// It knows no backend: a plan comes as a Proposal, in words, and a run as what
// *actions.Run has to say. The run belongs to the process and to no screen.
// Leaving the screen, another size of the terminal and the end of the console
// never end it half-way.
//
// It never writes to a system, and it makes no approval: it holds what a person
// said yes to.
package apply
