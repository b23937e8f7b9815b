// Package connections is the screen of what a console is connected to: brokers,
// JobManagers, places of recovery points, object stores and path mappings, each
// with its state and the last fault.
//
// It is told by the caller and connects to nothing itself.
package connections
