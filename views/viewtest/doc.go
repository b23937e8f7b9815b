// Package viewtest is one recovery situation for the tests of screens, read and
// judged by the real rules from stores that hold it in memory.
//
// Job order-agent writes to topic action-state with 64 partitions. A cleanup was
// made from chk-42 and committed, and stopped before partitions 0 and 1 were
// trimmed. chk-44, chk-43 and chk-42 can be restored; savepoint-4f3c-a1 and
// chk-12 lie below the boundary; savepoint-9c41-77 may not be read.
//
// The package is for tests alone.
package viewtest
