// Package flinkkey computes what Flink and Flink Agents derive from the key of a
// job: the bytes that Flink's serializer writes for it, the digest by which
// records of generation 3 name it, its key group and subtask, and the partition
// of its records. Types and bytes are those of Flink's basic type serializers,
// hash codes those of Java.
//
// It knows no cluster and no record, and does no I/O.
package flinkkey
