package flinkcases

import (
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
			States: states, Stream: &flinkmeta.Stream{Kind: flinkmeta.InlineStream, Path: "file:/x", Data: stream}}})
	}
	data, err := flinkmeta.Encode(&flinkmeta.Metadata{Version: 6, CheckpointID: 2, Properties: flinkmeta.CheckpointProperties(), Operators: []flinkmeta.Operator{op}})
	if err != nil {
		tb.Fatal(err)
	}
	return data
}
