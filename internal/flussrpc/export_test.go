package flussrpc

// AsSeen compares a value with that of Fluss's own client, for the tests against a
// real cluster.
var AsSeen = asSeen
