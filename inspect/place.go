package inspect

// SamePoint reports whether two addresses are two spellings of one recovery
// point's: file:/x, file:///x and /x, s3://b/x, s3a://b/x and s3p://b/x, with or
// without a slash or _metadata at the end. It knows nothing of path mappings.
func SamePoint(a, b string) bool { return samePlace(a) == samePlace(b) }
