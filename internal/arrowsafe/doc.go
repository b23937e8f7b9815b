// Package arrowsafe is what it takes to let the Arrow library read bytes that
// somebody else wrote: memory of which a batch gets so much and no more, and a
// look at a message's metadata before the library follows the lengths in it.
//
// The library panics where a message leads out of itself, which its caller
// recovers from; but a length that it believes makes it ask for more memory than
// there is, and that ends the process.
//
// It must never decide what a message means.
package arrowsafe
