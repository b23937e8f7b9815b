// Package kryo reads and writes the part of Kryo that recovery markers use: one
// object of boxed numbers, strings, maps, lists and the versioned marker class,
// as Flink's generic serializer stores it with references on and registration
// not required.
//
// There are two generations of the format. Flink up to 1.20 writes Kryo 2.24,
// Flink 2.x writes Kryo 5.6. Bytes of one are often readable by the rules of the
// other and then give wrong numbers, so a caller always says which generation it
// means and always looks at the bytes left over. DecodeAny tries both.
//
// The package must never guess: an element with a class whose body is not known
// ends in Unknown with the class name, and anything that no writer produces is
// an error with the byte position. Lengths are bounded by the bytes that remain
// before anything is allocated.
package kryo
