// Recoverctl is a terminal recovery console for stateful stream jobs that will
// not come back.
//
// This package wires: it reads the configuration, opens connections, calls
// inspect and renders what it answers as text, JSON or screens. It decides
// nothing: verdicts, findings and their order come from inspect, exit codes from
// internal/fault.
package main
