package artefact

import (
	"encoding/json"
	"hash/fnv"
	"maps"
	"slices"
	"strconv"
)

// Manifest is what a checkpoint or savepoint consists of.
type Manifest struct {
	CheckpointID    string
	JobID           string
	JobVersion      uint64
	Generation      uint64
	TaskAttempts    []TaskAttempt
	SourcePositions []SourcePosition // in the order of the file, which the checksum covers
	WatermarksMs    map[string]int64 // by task
	Barrier         Barrier
	StateSnapshots  []SnapshotRef
	FormatVersion   uint64 // of 32 bits
	Checksum        uint64 // as recorded
}

// TaskAttempt is a task that took part.
type TaskAttempt struct{ TaskID, AttemptID, NodeID string }

// SourcePosition is where a source goes on: Offset is the next one to read.
type SourcePosition struct {
	Topic     *string // nil: not recorded
	Partition uint64  // of 32 bits
	Offset    uint64
}

// Barrier is the mark by which the tasks made one cut.
type Barrier struct {
	CheckpointID string
	Generation   uint64
}

// SnapshotRef is where a task's state is: a key below the store's root. All tasks
// of one node share an object.
type SnapshotRef struct {
	TaskID   string
	NodeID   *string // nil: not recorded
	URI      string
	Checksum uint64
	Bytes    uint64
}

// ParseManifest reads a manifest. It does not check the checksum.
func ParseManifest(data []byte) (Manifest, error) {
	m := Manifest{WatermarksMs: map[string]int64{}}
	seen := map[string]bool{}
	err := object(data, func(name string, value json.RawMessage) error {
		seen[name] = true
		switch name {
		case "checkpoint_id":
			return readText(value, &m.CheckpointID)
		case "job_id":
			return readText(value, &m.JobID)
		case "job_version":
			return readUint(value, 64, &m.JobVersion)
		case "generation":
			return readUint(value, 64, &m.Generation)
		case "task_attempts":
			return array(value, func(v json.RawMessage) error { return one(v, &m.TaskAttempts, readAttempt) })
		case "source_positions":
			return array(value, func(v json.RawMessage) error { return one(v, &m.SourcePositions, readPosition) })
		case "watermarks_ms":
			return object(value, func(task string, v json.RawMessage) error {
				var at int64
				err := readInt(v, &at)
				m.WatermarksMs[task] = at
				return err
			})
		case "in_flight_barrier":
			return readBarrier(value, &m.Barrier)
		case "state_snapshots":
			return array(value, func(v json.RawMessage) error { return one(v, &m.StateSnapshots, readSnapshotRef) })
		case "format_version":
			return readUint(value, 32, &m.FormatVersion)
		case "checksum":
			return readUint(value, 64, &m.Checksum)
		}
		return nil
	})
	if err == nil {
		err = missing(seen, "checkpoint_id", "job_id", "job_version", "generation", "task_attempts", "source_positions",
			"watermarks_ms", "in_flight_barrier", "state_snapshots", "format_version", "checksum")
	}
	if err != nil {
		return Manifest{}, err
	}
	return m, nil
}

// one reads an element and appends it.
func one[T any](data []byte, list *[]T, read func([]byte, *T) error) error {
	var item T
	if err := read(data, &item); err != nil {
		return err
	}
	*list = append(*list, item)
	return nil
}

func readAttempt(data []byte, a *TaskAttempt) error {
	seen := map[string]bool{}
	err := object(data, func(name string, v json.RawMessage) error {
		seen[name] = true
		switch name {
		case "task_id":
			return readText(v, &a.TaskID)
		case "attempt_id":
			return readText(v, &a.AttemptID)
		case "node_id":
			return readText(v, &a.NodeID)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return missing(seen, "task_id", "attempt_id", "node_id")
}

func readPosition(data []byte, p *SourcePosition) error {
	seen := map[string]bool{}
	err := object(data, func(name string, v json.RawMessage) error {
		seen[name] = true
		switch name {
		case "topic":
			return optionalText(v, &p.Topic)
		case "partition":
			return readUint(v, 32, &p.Partition)
		case "offset":
			return readUint(v, 64, &p.Offset)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return missing(seen, "partition", "offset")
}

func readBarrier(data []byte, b *Barrier) error {
	seen := map[string]bool{}
	err := object(data, func(name string, v json.RawMessage) error {
		seen[name] = true
		switch name {
		case "checkpoint_id":
			return readText(v, &b.CheckpointID)
		case "generation":
			return readUint(v, 64, &b.Generation)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return missing(seen, "checkpoint_id", "generation")
}

func readSnapshotRef(data []byte, r *SnapshotRef) error {
	seen := map[string]bool{}
	err := object(data, func(name string, v json.RawMessage) error {
		seen[name] = true
		switch name {
		case "task_id":
			return readText(v, &r.TaskID)
		case "node_id":
			return optionalText(v, &r.NodeID)
		case "uri":
			return readText(v, &r.URI)
		case "checksum":
			return readUint(v, 64, &r.Checksum)
		case "bytes":
			return readUint(v, 64, &r.Bytes)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return missing(seen, "task_id", "uri", "checksum", "bytes")
}

func optionalText(data []byte, to **string) error {
	if isNull(data) {
		return nil
	}
	var s string
	if err := readText(data, &s); err != nil {
		return err
	}
	*to = &s
	return nil
}

// Computed is the checksum of the manifest as it is: FNV-1 over the JSON of its
// ten other fields.
func (m Manifest) Computed() uint64 {
	b := []byte{'['}
	m.each(func(_ string, value []byte) {
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = append(b, value...)
	})
	h := fnv.New64()
	_, _ = h.Write(append(b, ']')) // a hash takes all
	return h.Sum64()
}

// Sealed reports whether the recorded checksum is right.
func (m Manifest) Sealed() bool { return m.Checksum == m.Computed() }

// Append writes the manifest as the engine does, with the checksum it has.
func (m Manifest) Append(b []byte) []byte {
	b = append(b, '{')
	m.each(func(name string, value []byte) {
		b = append(appendText(b, name), ':')
		b = append(append(b, value...), ',')
	})
	b = append(b, `"checksum":`...)
	return append(strconv.AppendUint(b, m.Checksum, 10), '}')
}

// each calls with the ten fields that the checksum covers, in its order.
func (m Manifest) each(take func(name string, value []byte)) {
	number := func(n uint64) []byte { return strconv.AppendUint(nil, n, 10) }
	take("checkpoint_id", appendText(nil, m.CheckpointID))
	take("job_id", appendText(nil, m.JobID))
	take("job_version", number(m.JobVersion))
	take("generation", number(m.Generation))
	take("task_attempts", appendList(m.TaskAttempts, func(b []byte, a TaskAttempt) []byte {
		b = appendText(append(b, `{"task_id":`...), a.TaskID)
		b = appendText(append(b, `,"attempt_id":`...), a.AttemptID)
		return append(appendText(append(b, `,"node_id":`...), a.NodeID), '}')
	}))
	take("source_positions", appendList(m.SourcePositions, func(b []byte, p SourcePosition) []byte {
		b = append(b, '{')
		if p.Topic != nil {
			b = append(appendText(append(b, `"topic":`...), *p.Topic), ',')
		}
		b = strconv.AppendUint(append(b, `"partition":`...), p.Partition, 10)
		return append(strconv.AppendUint(append(b, `,"offset":`...), p.Offset, 10), '}')
	}))
	b := []byte{'{'}
	for i, task := range slices.Sorted(maps.Keys(m.WatermarksMs)) {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(append(appendText(b, task), ':'), m.WatermarksMs[task], 10)
	}
	take("watermarks_ms", append(b, '}'))
	b = appendText([]byte(`{"checkpoint_id":`), m.Barrier.CheckpointID)
	take("in_flight_barrier", append(strconv.AppendUint(append(b, `,"generation":`...), m.Barrier.Generation, 10), '}'))
	take("state_snapshots", appendList(m.StateSnapshots, func(b []byte, r SnapshotRef) []byte {
		b = appendText(append(b, `{"task_id":`...), r.TaskID)
		if r.NodeID != nil {
			b = appendText(append(b, `,"node_id":`...), *r.NodeID)
		}
		b = appendText(append(b, `,"uri":`...), r.URI)
		b = strconv.AppendUint(append(b, `,"checksum":`...), r.Checksum, 10)
		return append(strconv.AppendUint(append(b, `,"bytes":`...), r.Bytes, 10), '}')
	}))
	take("format_version", number(m.FormatVersion))
}

func appendList[T any](list []T, item func([]byte, T) []byte) []byte {
	b := []byte{'['}
	for i, v := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = item(b, v)
	}
	return append(b, ']')
}
