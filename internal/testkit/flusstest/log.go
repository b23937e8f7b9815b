package flusstest

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/recoverctl/recoverctl/internal/flussrpc"
)

// table is one table, with its schema as documents.
type table struct {
	spec     Spec
	id       int64
	created  time.Time
	schemas  []schema // by id from 1 on
	parts    []*part
	document []byte
}

type schema struct {
	document []byte
	columns  []Column
	arrow    *arrow.Schema
}

type part struct {
	id      int64
	value   string
	buckets []*bucket
}

// bucket is the log of one bucket: batches, of which those before local are in
// remote storage alone.
type bucket struct {
	leader   int32
	epoch    int32
	replicas []int32
	batches  [][]byte
	firsts   []int64 // offset of each batch
	times    []int64
	start    int64 // of the log
	local    int64 // of what lies on the servers' disks
	end      int64
	lake     int64 // rows before it lie in a lake, and are given from a disk alone
	copied   int64 // rows before it lie in a lake, too
	segments []remoteSegment
	dir      string
}

type remoteSegment struct {
	id         string
	start, end int64
	size       int32
	time       int64
}

// elect gives the bucket a leader among those who live.
func (b *bucket) elect(alive []int32) {
	b.leader, b.epoch = flussrpc.NoLeader, b.epoch+1
	for _, r := range b.replicas {
		if slices.Contains(alive, r) {
			b.leader = r
			return
		}
	}
}

func newTable(s Spec) (*table, error) {
	t := &table{spec: s}
	first, err := newSchema(s.Columns, s.Primary)
	if err != nil {
		return nil, err
	}
	t.schemas = []schema{first}
	return t, t.describe()
}

func newSchema(columns []Column, primary []string) (schema, error) {
	type dataType struct {
		Type string `json:"type"`
	}
	type column struct {
		Name string   `json:"name"`
		Type dataType `json:"data_type"`
		ID   int      `json:"id"`
	}
	doc := struct {
		Version int      `json:"version"`
		Columns []column `json:"columns"`
		Primary []string `json:"primary_key,omitempty"`
	}{Version: 1, Primary: primary}
	fields := make([]arrow.Field, 0, len(columns))
	for i, c := range columns {
		t, ok := types[c.Type]
		if !ok {
			return schema{}, fmt.Errorf("column %s is of type %s, which is not written here", c.Name, c.Type)
		}
		doc.Columns = append(doc.Columns, column{c.Name, dataType{c.Type}, i})
		fields = append(fields, arrow.Field{Name: c.Name, Type: t, Nullable: true})
	}
	text, err := json.Marshal(doc)
	return schema{document: text, columns: columns, arrow: arrow.NewSchema(fields, nil)}, err
}

var types = map[string]arrow.DataType{
	"STRING": arrow.BinaryTypes.String, "BYTES": arrow.BinaryTypes.Binary, "BIGINT": arrow.PrimitiveTypes.Int64,
	"INTEGER": arrow.PrimitiveTypes.Int32, "DOUBLE": arrow.PrimitiveTypes.Float64, "BOOLEAN": arrow.FixedWidthTypes.Boolean,
}

// describe writes the table's document.
func (t *table) describe() error {
	properties := map[string]string{"table.replication.factor": fmt.Sprint(t.spec.Replicas)}
	for k, v := range t.spec.Properties {
		properties[k] = v
	}
	partition := []string{}
	if t.spec.Partition != "" {
		partition = append(partition, t.spec.Partition)
	}
	text, err := json.Marshal(map[string]any{
		"version": 1, "schema": json.RawMessage(t.schemas[len(t.schemas)-1].document), "comment": t.spec.Comment, "partition_key": partition,
		"bucket_key": append([]string{}, t.spec.BucketKey...), "bucket_count": t.spec.Buckets, "properties": properties, "custom_properties": map[string]string{},
	})
	t.document = text
	return err
}

// AddColumn alters a table: rows that are appended from now on have one more.
func (c *Cluster) AddColumn(id int64, column Column) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.tables[id]
	t.spec.Columns = append(slices.Clone(t.spec.Columns), column)
	next, err := newSchema(t.spec.Columns, t.spec.Primary)
	if err != nil {
		return err
	}
	t.schemas = append(t.schemas, next)
	return t.describe()
}

// Append writes one batch of rows to a bucket, at a time in milliseconds, and
// returns the offset of the first. The values of a row are those of its columns:
// string, []byte, int64, int32, float64, bool or nil.
func (c *Cluster) Append(log flussrpc.Log, bucket int32, at int64, rows ...[]any) (int64, error) {
	return c.write(log, bucket, at, nil, rows)
}

// AppendChanges is Append to the changelog of a primary-key table: what each row does
// to its key.
func (c *Cluster) AppendChanges(log flussrpc.Log, bucket int32, at int64, changes []flussrpc.Change, rows ...[]any) (int64, error) {
	if len(changes) != len(rows) {
		return 0, fmt.Errorf("%d changes of %d rows", len(changes), len(rows))
	}
	return c.write(log, bucket, at, changes, rows)
}

// write appends one batch. It is encoded while others write: that takes most of the
// time.
func (c *Cluster) write(log flussrpc.Log, bucket int32, at int64, changes []flussrpc.Change, rows [][]any) (int64, error) {
	c.mu.Lock()
	t := c.tables[log.Table]
	id := len(t.schemas)
	columns := t.schemas[id-1]
	c.mu.Unlock()
	message, err := columns.encode(rows)
	if err != nil {
		return 0, err
	}
	body := make([]byte, 0, len(changes)+len(message))
	for _, change := range changes {
		body = append(body, byte(change))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.bucket(log, bucket).append(append(body, message...), id, len(rows), at, len(changes) == 0), nil
}

// AppendEmpty writes a batch that holds no record and takes offsets all the same.
func (c *Cluster) AppendEmpty(log flussrpc.Log, bucket int32, at int64, offsets int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	b := c.bucket(log, bucket)
	b.appendBatch(nil, 1, offsets, 0, at, true)
}

// AppendRaw writes a batch as it was recorded; its offset becomes the next one.
func (c *Cluster) AppendRaw(log flussrpc.Log, bucket int32, batch []byte, offsets int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	b := c.bucket(log, bucket)
	batch = bytes.Clone(batch)
	binary.LittleEndian.PutUint64(batch, uint64(b.end))
	b.add(batch, offsets, int64(binary.LittleEndian.Uint64(batch[13:])))
}

// Damage flips a byte of the batch that an offset lies in, which its checksum then
// tells.
func (c *Cluster) Damage(log flussrpc.Log, bucket int32, offset int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	b := c.bucket(log, bucket)
	i := b.at(offset)
	b.batches[i] = bytes.Clone(b.batches[i])
	b.batches[i][len(b.batches[i])-1] ^= 1
}

func (s schema) encode(rows [][]any) ([]byte, error) {
	builder := array.NewRecordBuilder(memory.DefaultAllocator, s.arrow)
	defer builder.Release()
	for _, row := range rows {
		if len(row) != len(s.columns) {
			return nil, fmt.Errorf("a row has %d values for %d columns", len(row), len(s.columns))
		}
		for i, v := range row {
			if err := put(builder.Field(i), v); err != nil {
				return nil, fmt.Errorf("column %s: %w", s.columns[i].Name, err)
			}
		}
	}
	record := builder.NewRecordBatch()
	defer record.Release()
	var empty, whole bytes.Buffer
	for out, with := range map[*bytes.Buffer]bool{&empty: false, &whole: true} {
		w := ipc.NewWriter(out, ipc.WithSchema(s.arrow), ipc.WithZstd())
		if with {
			if err := w.Write(record); err != nil {
				return nil, err
			}
		}
		if err := w.Close(); err != nil {
			return nil, err
		}
	}
	const end = 8 // of a stream: a mark
	return whole.Bytes()[empty.Len()-end : whole.Len()-end], nil
}

func put(b array.Builder, v any) error {
	switch b := b.(type) {
	case *array.StringBuilder:
		if s, ok := v.(string); ok {
			b.Append(s)
			return nil
		}
	case *array.BinaryBuilder:
		if s, ok := v.([]byte); ok && s != nil {
			b.Append(s)
			return nil
		}
	case *array.Int64Builder:
		if n, ok := v.(int64); ok {
			b.Append(n)
			return nil
		}
	case *array.Int32Builder:
		if n, ok := v.(int32); ok {
			b.Append(n)
			return nil
		}
	case *array.Float64Builder:
		if n, ok := v.(float64); ok {
			b.Append(n)
			return nil
		}
	case *array.BooleanBuilder:
		if n, ok := v.(bool); ok {
			b.Append(n)
			return nil
		}
	}
	if raw, ok := v.([]byte); v == nil || ok && raw == nil {
		b.AppendNull()
		return nil
	}
	return fmt.Errorf("a value of type %T", v)
}

const batchHeader = 48

func (b *bucket) append(body []byte, schemaID, count int, at int64, only bool) int64 {
	return b.appendBatch(body, schemaID, count, count, at, only)
}

// appendBatch appends a batch; only says that it is without change types.
func (b *bucket) appendBatch(body []byte, schemaID, offsets, count int, at int64, only bool) int64 {
	batch := make([]byte, batchHeader, batchHeader+len(body))
	batch = append(batch, body...)
	le := binary.LittleEndian
	le.PutUint64(batch, uint64(b.end))
	le.PutUint32(batch[8:], uint32(len(batch)-12))
	le.PutUint64(batch[13:], uint64(at))
	le.PutUint16(batch[25:], uint16(schemaID))
	if only {
		batch[27] = 1 // append-only
	}
	le.PutUint32(batch[28:], uint32(offsets-1))
	le.PutUint64(batch[32:], ^uint64(0)) // no writer
	le.PutUint32(batch[40:], ^uint32(0)) // and no sequence
	le.PutUint32(batch[44:], uint32(count))
	le.PutUint32(batch[21:], crc32.Checksum(batch[25:], crc32.MakeTable(crc32.Castagnoli)))
	return b.add(batch, int64(offsets), at)
}

func (b *bucket) add(batch []byte, offsets, at int64) int64 {
	first := b.end
	b.batches, b.firsts, b.times = append(b.batches, batch), append(b.firsts, first), append(b.times, at)
	b.end += offsets
	return first
}

// at is the batch that an offset lies in, or the first one behind it.
func (b *bucket) at(offset int64) int {
	i, found := slices.BinarySearch(b.firsts, offset)
	if !found && i > 0 {
		i--
	}
	return i
}

// Trim moves the start of a log, as the expiry of a segment does. Offsets inside a
// batch are not possible in a real log and move to its beginning.
func (c *Cluster) Trim(log flussrpc.Log, bucket int32, to int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	b := c.bucket(log, bucket)
	b.start, b.local = to, max(b.local, to)
	b.segments = slices.DeleteFunc(b.segments, func(s remoteSegment) bool { return s.end <= to })
}

// Truncate takes the end of a log away, as the loss of a leader does.
func (c *Cluster) Truncate(log flussrpc.Log, bucket int32, to int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	b := c.bucket(log, bucket)
	i := b.at(to)
	b.batches, b.firsts, b.times, b.end = b.batches[:i], b.firsts[:i], b.times[:i], to
}

// Tier moves everything of a bucket before an offset to a segment in a folder, as
// the tiering of a real server does, and returns the segment's file. The folder
// stands for remote.data.dir.
func (c *Cluster) Tier(log flussrpc.Log, bucket int32, to int64, folder string) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	b := c.bucket(log, bucket)
	t := c.tables[log.Table]
	from := b.local
	name := fmt.Sprintf("%s-%d", t.spec.Path.Table, t.id)
	b.dir = filepath.Join(folder, "log", t.spec.Path.Database, name, fmt.Sprint(bucket))
	s := remoteSegment{id: fmt.Sprintf("%08x-0000-4000-8000-%012x", t.id, from), start: from, end: to}
	var data []byte
	for i, first := range b.firsts {
		if first >= from && first < to {
			data = append(data, b.batches[i]...)
			s.time = b.times[i]
		}
	}
	s.size = int32(len(data))
	file := filepath.Join(b.dir, s.id, fmt.Sprintf("%020d.log", s.start))
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return "", err
	}
	if err := os.WriteFile(file, data, 0o600); err != nil {
		return "", err
	}
	b.segments, b.local = append(b.segments, s), to
	return file, nil
}
