// Package flink reads Flink checkpoints and savepoints as recovery points: what
// they hold, the recovery markers of the agent operators in them, whether every
// file they refer to is there, and what is wrong with them. It needs neither a
// JVM nor a cluster.
//
// It opens files for reading and nothing else. It must never write, never say
// that a file is missing where it only could not look, and never turn a marker
// that it could not read into "no marker": a restore without markers is a fresh
// start, and that mistake deletes the evidence of finished work.
//
// The bytes may be damaged or hostile. Sizes are asked before anything is read,
// folders are listed up to a limit, links are followed once, and names from
// outside pass package safetext before they stand in a message. The fields of a
// recovery point keep the exact names.
package flink
