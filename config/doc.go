// Package config reads what the operator said about their systems: the
// profiles and jobs of the configuration file, the RECOVERCTL_ variables and
// the flags, and keeps where each value came from.
//
// The file is checked on its YAML node tree before anything is taken from it:
// unknown keys, wrong types, doubled names and values that no part of this
// program understands are all reported at once, each with its line. What is
// left is merged with variables and flags by viper, which sees only the fixed
// keys of this package, in lower case and without dots. Names of profiles,
// jobs and topics are values and never keys, because viper changes keys.
//
// Access and environment are not merged: the stricter word always wins, so
// that no flag can give more than the file allows.
//
// The package must never write a file, open a connection, resolve a secret,
// print a warning, or put a secret's text into an error. Values are kept as
// they were written; whoever prints them passes them through safetext.
package config
