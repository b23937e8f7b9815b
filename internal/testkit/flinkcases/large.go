package flinkcases

import (
	"fmt"
	"testing"

	"github.com/recoverctl/recoverctl/internal/flinkmeta"
	"github.com/recoverctl/recoverctl/internal/kryo"
)

// Large is a metadata file made by our own encoder, as one checkpoint of a large
// job: each of the agent operator's subtasks has a versioned marker with the
// offset 1,000,000 + subtask for every partition. 256 subtasks and 400
// partitions are about 1 MB.
func Large(tb testing.TB, subtasks, partitions int) []byte {
	tb.Helper()
	op := flinkmeta.Operator{Name: "action-execute-operator", UID: "agent", Parallelism: int32(subtasks), MaxParallelism: 1024}
	for i := range subtasks {
		offsets := &kryo.Map{JavaClass: "java.util.HashMap"}
		for p := range partitions {
			offsets.Entries = append(offsets.Entries, kryo.Entry{Key: kryo.Int32(p), Value: kryo.Int64(1_000_000 + i)})
		}
		marker, err := kryo.Encode(kryo.Gen5, &kryo.Object{JavaClass: kryo.MarkerClass, Fields: []kryo.Field{
			{Name: "offsets", Value: offsets}, {Name: "schemaVersion", Value: kryo.Int32(1)},
			{Name: "topic", Value: kryo.Text("action-state")}, {Name: "topicId", Value: kryo.Text("5Zv3uphiRLavoGZthy7JNg")},
		}}, nil)
		if err != nil {
			tb.Fatal(err)
		}
		stream, states, err := flinkmeta.NewOperatorStreamBuilder(6, false).
			Add(flinkmeta.ListState("recoveryMarker", flinkmeta.Union, flinkmeta.KryoSerializer()), marker).
			Add(flinkmeta.ListState("currentProcessingKeys", flinkmeta.Union, flinkmeta.KryoSerializer())).Build()
		if err != nil {
			tb.Fatal(err)
		}
		op.Subtasks = append(op.Subtasks, flinkmeta.Subtask{Index: int32(i), ManagedOperator: &flinkmeta.OperatorState{
			States: states, Stream: &flinkmeta.Stream{Kind: flinkmeta.InlineStream, Path: inlineName(i), Data: stream}}})
	}
	data, err := flinkmeta.Encode(&flinkmeta.Metadata{Version: 6, CheckpointID: 2, Properties: flinkmeta.CheckpointProperties(), Operators: []flinkmeta.Operator{op}})
	if err != nil {
		tb.Fatal(err)
	}
	return data
}

// inlineName is the name of one inline stream: to Flink streams of one name are
// the same.
func inlineName(n int) string {
	return fmt.Sprintf("hdfs://nn:8020/flink-state/checkpoints/4f3c92d07be1458a96c0d1e2f3a4b5c6/chk-2/%08x-9b4e-4d9c-8a3f-3b0c9ab68a3f", n)
}

// LargeJob is a metadata file of about size bytes, as one checkpoint of a very
// large job: the agent operator of Large, and others whose subtasks each have
// 16 KiB of inline operator state and the 20 files of a RocksDB checkpoint in a
// file system that can't be reached.
func LargeJob(tb testing.TB, size int) []byte {
	tb.Helper()
	md, err := flinkmeta.Decode(Large(tb, 256, 400))
	if err != nil {
		tb.Fatal(err)
	}
	const parallelism, inline = 128, 16 << 10
	states := []flinkmeta.StateOffsets{{Name: "source-reader-state", Mode: flinkmeta.SplitDistribute, Offsets: []int64{400}}}
	file := func(n int, name string) flinkmeta.NamedStream {
		return flinkmeta.NamedStream{Name: name, Stream: &flinkmeta.Stream{Kind: flinkmeta.FileStream, Size: 64 << 20,
			Path: fmt.Sprintf("hdfs://nn:8020/flink-state/checkpoints/4f3c92d07be1458a96c0d1e2f3a4b5c6/shared/%08x-4d9c-9b4e-8a3f-3b0c9ab68a3f", n)}}
	}
	const each = inline + 4000 // a little less than the bytes of one subtask
	for operators, files := (size-1<<20)/each/parallelism+1, 0; operators > 0; operators-- {
		op := flinkmeta.Operator{Name: fmt.Sprintf("enrich %d", operators), Parallelism: parallelism, MaxParallelism: parallelism}
		op.ID[0], op.ID[1] = byte(operators>>8), byte(operators)
		for i := range int32(parallelism) {
			keys := &flinkmeta.IncrementalKeys{BackendID: "a952cd20-b965-4aa2-a3aa-5f2e7d362044", Meta: file(files, "").Stream}
			for f := range 18 {
				files++
				keys.Shared = append(keys.Shared, file(files, fmt.Sprintf("%06d.sst", f)))
			}
			for _, name := range []string{"CURRENT", "MANIFEST-000004"} {
				files++
				keys.Private = append(keys.Private, file(files, name))
			}
			op.Subtasks = append(op.Subtasks, flinkmeta.Subtask{
				Index:           i,
				ManagedOperator: &flinkmeta.OperatorState{States: states, Stream: &flinkmeta.Stream{Kind: flinkmeta.InlineStream, Path: inlineName(files), Data: make([]byte, inline)}},
				ManagedKeyed: &flinkmeta.KeyedState{Kind: flinkmeta.IncrementalV2, Range: flinkmeta.KeyGroupRange{Start: i, Count: 1},
					HandleID: "5b8f0d56-3c44-4a4e-9d42-6f0a7b7a2c11", Incremental: keys},
			})
		}
		md.Operators = append(md.Operators, op)
	}
	data, err := flinkmeta.Encode(md)
	if err != nil {
		tb.Fatal(err)
	}
	return data
}
