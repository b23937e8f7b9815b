package incident

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/flinkmeta"
	"github.com/recoverctl/recoverctl/internal/kryo"
	"github.com/recoverctl/recoverctl/internal/testkit/orders"
)

const (
	// inlineLimit is the smallest size of state that gets a file: Flink's
	// default of state.storage.fs.memory-threshold.
	inlineLimit = 20 << 10

	streamVersion = 6 // of operator state, Flink 1.18 and later
)

// The ids of the operators: hashes of the job graph, as there are no uids.
const (
	sourceID = "bc764cd8ddf7a0cff126f51c16239658"
	agentID  = "e70bbd798b564e0a50e10e343f1ac56b"
	sinkID   = "22cd448ab659484b334bc37f9a463337"
)

// point is a recovery point to be written.
type point struct {
	dir       string // its folder
	id        int64  // checkpoint id
	age       time.Duration
	savepoint bool
	lineage   string          // id of the first job of this lineage
	marker    inspect.Offsets // where a restore reads from
	legacy    bool            // markers of releases 0.1 to 0.3
	topic     string          // empty: Topic
	topicID   string
	filler    int             // bytes of state beside the markers
	state     inspect.Offsets // how far the log was when keyed state was taken
	keys      []Progress      // instead, how far each key had come
	cut       bool            // the metadata file was not written to its end
}

// snapshotWriter writes the files of one recovery point.
type snapshotWriter struct {
	point
	r     *rand.Rand
	files []string // written so far
}

// write makes the folder of the recovery point and all its files.
func (p point) write(logs []partitionLog, now time.Time, seed uint64) error {
	w := snapshotWriter{point: p, r: rand.New(rand.NewPCG(seed, uint64(p.id)))}
	if err := os.MkdirAll(p.dir, 0o700); err != nil {
		return fmt.Errorf("incident: %w", err)
	}
	m, err := w.metadata(logs)
	if err != nil {
		return fmt.Errorf("incident: recovery point %s: %w", filepath.Base(p.dir), err)
	}
	data, err := flinkmeta.Encode(m)
	if err != nil {
		return fmt.Errorf("incident: recovery point %s: %w", filepath.Base(p.dir), err)
	}
	if p.cut {
		data = data[:len(data)*3/5]
	}
	if err := w.file("_metadata", data); err != nil {
		return err
	}
	taken := now.Add(-p.age)
	for _, name := range append(w.files, p.dir) {
		if err := os.Chtimes(name, taken, taken); err != nil {
			return fmt.Errorf("incident: %w", err)
		}
	}
	return nil
}

func (w *snapshotWriter) file(name string, data []byte) error {
	name = filepath.Join(w.dir, name)
	if err := os.WriteFile(name, data, 0o600); err != nil {
		return fmt.Errorf("incident: %w", err)
	}
	w.files = append(w.files, name)
	return nil
}

// stream stores state where Flink would: in a file beside the metadata, or in
// the metadata where it is small.
func (w *snapshotWriter) stream(data []byte) (*flinkmeta.Stream, error) {
	name := orders.RandomUUID(w.r)
	if len(data) < inlineLimit {
		return &flinkmeta.Stream{Kind: flinkmeta.InlineStream, Path: fileURI(w.dir) + "/" + name, Data: data}, nil
	}
	if err := w.file(name, data); err != nil {
		return nil, err
	}
	return &flinkmeta.Stream{Kind: flinkmeta.RelativeStream, Path: name, Size: int64(len(data))}, nil
}

func (w *snapshotWriter) metadata(logs []partitionLog) (*flinkmeta.Metadata, error) {
	m := &flinkmeta.Metadata{Version: flinkmeta.MaxVersion, CheckpointID: w.id, Properties: flinkmeta.CheckpointProperties()}
	if w.savepoint {
		m.Properties = flinkmeta.SavepointProperties(flinkmeta.FormatCanonical)
	}
	for _, of := range []struct {
		id, name string
		fill     func(*flinkmeta.Operator) error
	}{
		{sinkID, "Sink: Writer", func(o *flinkmeta.Operator) error {
			o.Subtasks = []flinkmeta.Subtask{{Index: 0}, {Index: 1}} // chained behind the agent, no state
			return nil
		}},
		{sourceID, "Source: orders", w.source},
		{agentID, "action-execute-operator", func(o *flinkmeta.Operator) error { return w.agent(o, logs) }},
	} {
		id, err := flinkmeta.ParseOperatorID(of.id)
		if err != nil {
			return nil, err
		}
		o := flinkmeta.Operator{Name: of.name, ID: id, Parallelism: orders.Parallelism, MaxParallelism: orders.MaxParallelism}
		if err := of.fill(&o); err != nil {
			return nil, err
		}
		m.Operators = append(m.Operators, o)
	}
	return m, nil
}

// operatorState stores a built stream of operator state.
func (w *snapshotWriter) operatorState(b *flinkmeta.OperatorStreamBuilder) (*flinkmeta.OperatorState, error) {
	data, states, err := b.Build()
	if err != nil {
		return nil, err
	}
	s, err := w.stream(data)
	return &flinkmeta.OperatorState{States: states, Stream: s}, err
}

// source fills the operator that reads the orders: a source with a coordinator
// and one split per partition of its topic.
func (w *snapshotWriter) source(o *flinkmeta.Operator) error {
	const (
		topic      = "orders"
		partitions = 8
		assigned   = 0
		noEnd      = math.MinInt64
	)
	be := binary.BigEndian
	text := append(be.AppendUint16(nil, uint16(len(topic))), topic...)
	enumerator := be.AppendUint32(nil, partitions)
	for p := range uint32(partitions) {
		enumerator = be.AppendUint32(be.AppendUint32(append(enumerator, text...), p), assigned)
	}
	enumerator = append(enumerator, 1) // initial discovery finished
	coordinator := be.AppendUint32(nil, 1)
	coordinator = be.AppendUint32(coordinator, 2) // version of the enumerator's state
	coordinator = be.AppendUint32(coordinator, uint32(len(enumerator)))
	o.Coordinator = &flinkmeta.Stream{Kind: flinkmeta.InlineStream, Path: o.ID.String(), Data: append(coordinator, enumerator...)}

	bytesSerializer := flinkmeta.Serializer{
		Class:   "org.apache.flink.api.common.typeutils.base.array.BytePrimitiveArraySerializer$BytePrimitiveArraySerializerSnapshot",
		Version: 3,
	}
	for subtask := range uint32(orders.Parallelism) {
		var splits [][]byte
		for p := subtask; p < partitions; p += orders.Parallelism {
			split := be.AppendUint32(append([]byte(nil), text...), p)
			split = be.AppendUint64(split, uint64(180_000+w.id*410+int64(p)*37))
			stop := int64(noEnd)
			split = be.AppendUint64(split, uint64(stop))
			versioned := be.AppendUint32(nil, 0)
			versioned = be.AppendUint32(versioned, uint32(len(split)))
			versioned = append(versioned, split...)
			splits = append(splits, append(be.AppendUint32(nil, uint32(len(versioned))), versioned...))
		}
		state, err := w.operatorState(flinkmeta.NewOperatorStreamBuilder(streamVersion, false).
			Add(flinkmeta.ListState("SourceReaderState", flinkmeta.SplitDistribute, bytesSerializer), splits...))
		if err != nil {
			return err
		}
		o.Subtasks = append(o.Subtasks, flinkmeta.Subtask{Index: int32(subtask), ManagedOperator: state})
	}
	return nil
}

// agent fills the action operator: its three union states and its keyed state.
func (w *snapshotWriter) agent(o *flinkmeta.Operator, logs []partitionLog) error {
	all, running := w.progress(logs)
	for subtask := range int32(orders.Parallelism) {
		marker, err := kryo.Encode(kryo.Gen5, w.markerOf(subtask), nil)
		if err != nil {
			return err
		}
		var current [][]byte
		for _, k := range running {
			if k.Subtask() != subtask {
				continue
			}
			element, err := kryo.Encode(kryo.Gen5, kryo.Text(k.Text), nil)
			if err != nil {
				return err
			}
			current = append(current, element)
		}
		states := flinkmeta.NewOperatorStreamBuilder(streamVersion, false).
			Add(flinkmeta.ListState("identifier_state", flinkmeta.Union, flinkmeta.StringSerializer()), orders.StringBytes(w.lineage)).
			Add(flinkmeta.ListState("recoveryMarker", flinkmeta.Union, flinkmeta.KryoSerializer()), marker).
			Add(flinkmeta.ListState("currentProcessingKeys", flinkmeta.Union, flinkmeta.KryoSerializer()), current...)
		if w.filler > 0 {
			states.Add(flinkmeta.ListState("buffered", flinkmeta.SplitDistribute, flinkmeta.StringSerializer()), orders.StringBytes(strings.Repeat("0", w.filler)))
		}
		operator, err := w.operatorState(states)
		if err != nil {
			return err
		}
		keyed, err := w.keyed(subtask, all)
		if err != nil {
			return err
		}
		o.Subtasks = append(o.Subtasks, flinkmeta.Subtask{Index: subtask, ManagedOperator: operator, ManagedKeyed: keyed})
	}
	return nil
}

// progress is how far each key had come, and the keys with an unfinished input.
func (w *snapshotWriter) progress(logs []partitionLog) (all []Progress, running []orders.Key) {
	if w.keys == nil {
		return progressAt(logs, w.state)
	}
	for _, p := range w.keys {
		if p.Completed < p.Message {
			running = append(running, p.Key)
		}
	}
	return w.keys, running
}

// markerOf is a subtask's marker. The second subtask asked for the log's ends a
// moment later, so some of its offsets are higher; the minimum is what counts.
func (w *snapshotWriter) markerOf(subtask int32) kryo.Value {
	offsets := &kryo.Map{JavaClass: "java.util.HashMap"}
	for _, p := range w.marker.Partitions() {
		at := w.marker[p]
		if p%5 == 2 {
			at += int64(subtask)
		}
		offsets.Entries = append(offsets.Entries, kryo.Entry{Key: kryo.Int32(p), Value: kryo.Int64(at)})
	}
	if w.legacy {
		return offsets
	}
	return &kryo.Object{JavaClass: kryo.MarkerClass, Fields: []kryo.Field{
		{Name: "offsets", Value: offsets},
		{Name: "schemaVersion", Value: kryo.Int32(1)},
		{Name: "topic", Value: kryo.Text(cmp.Or(w.topic, Topic))},
		{Name: "topicId", Value: kryo.Text(w.topicID)},
	}}
}

func (w *snapshotWriter) keyed(subtask int32, all []Progress) (*flinkmeta.KeyedState, error) {
	k := &flinkmeta.KeyedState{Kind: flinkmeta.KeyGroupsV2, Range: keyGroups(subtask), HandleID: orders.RandomUUID(w.r)}
	encode := heapStream
	if w.savepoint {
		k.Kind, k.HandleID, encode = flinkmeta.KeyGroupsSavepoint, "", canonicalStream
	}
	data, offsets := encode(byGroup(all, k.Range), k.Range.Start)
	s, err := w.stream(data)
	k.KeyGroups = &flinkmeta.KeyGroups{Offsets: offsets, Stream: s}
	return k, err
}

// fileURI is a folder as Flink writes it.
func fileURI(dir string) string { return "file:" + filepath.ToSlash(dir) }
