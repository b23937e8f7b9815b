// Package arkflow shows what an ArkFlow hub has, a job of it with its recovery
// points, and a stream with what its write-ahead log would replay: what is wrong
// first, then what covers a crash, what a start would restore, and how to go back.
//
// It is laid out as the screens of a Flink Agents job, with their keys. It reads
// nothing itself and judges nothing: verdicts, health and the rows of the decision
// table are package inspect/arkflow's, and never a status word of the hub.
package arkflow
