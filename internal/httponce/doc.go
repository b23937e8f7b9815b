// Package httponce sends HTTP requests that change something, each once: over a
// connection of its own, with a body that net/http can't send a second time, and
// without following a redirect. What it returns tells a request that was never sent
// from one that may have been carried out.
//
// Only the writing halves of the clients use it. It must never send a request again:
// whoever asked finds out by reading what became of it.
package httponce
