// Package strictjson reads JSON the way the tools do that recoverctl shares its
// files with: Jackson with strict duplicate detection and with trailing tokens
// refused.
//
// It exists because a cleanup plan authorises a deletion. Two readers that
// disagree about what a document says (which of two equal names counts, whether
// 1.0 is an integer, what a lone surrogate is) would authorise different
// deletions. So numbers stay the text that they were, strings keep the lone
// surrogates that an escape can make, and every error has a word and a position.
//
// # What it must never do
//
// It never repairs: no comment, trailing comma, byte order mark or NaN is
// accepted, and nothing after the document. It never allocates for a length that
// the input only claims, and it never recurses past MaxDepth.
package strictjson
