package fluss

import (
	"context"
	"encoding/base64"
	"errors"
	"math"
	"slices"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/flussrpc"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

// Cell is one value of a row. Value is a string, a number, a bool or null; bytes
// are told as text where they are UTF-8, else as Base64 beside a null.
type Cell struct {
	Column string `json:"column"`
	Type   string `json:"type"`
	Value  any    `json:"value"`
	Base64 string `json:"base64,omitempty"`
}

// Row is one row as it lies in a bucket.
type Row struct {
	Partition *int64    `json:"partition"` // null: the table has none
	Bucket    int32     `json:"bucket"`
	Offset    int64     `json:"offset"`
	Time      time.Time `json:"time"`
	Change    string    `json:"change"` // +A, +I, -U, +U or -D
	Cells     []Cell    `json:"cells"`
}

// RowQuestion says which rows are read.
type RowQuestion struct {
	Path      flussrpc.TablePath
	Partition int64   // flussrpc.NoPartition: the table has none
	Buckets   []int32 // empty: all
	From      int64   // not before this offset; -1: from the log start
	To        int64   // before this offset; -1: to the log end
	Last      int64   // only the last so many of each bucket; 0: all
	Limit     int64   // at most so many of each bucket; 0: all
}

// Rows reads rows bucket by bucket, in the order of their offsets, to the log ends
// as they were when it began. The error says what could not be read, beside what
// was shown.
func (s *Store) Rows(ctx context.Context, q RowQuestion, visit func(Row) error) error {
	t, err := s.client.Table(ctx, q.Path)
	if err != nil {
		return err
	}
	if q.Partition < 0 && len(t.PartitionKey) > 0 {
		return fault.New(fault.Usage, "read rows", "table %s has partitions: say which", show(q.Path)).
			WithHint("--partition ID; recoverctl inspect fluss table %s lists them", show(q.Path))
	}
	places, err := s.buckets(ctx, t, q.Partition)
	if err != nil {
		return err
	}
	var ids []int32
	for _, p := range places {
		if len(q.Buckets) == 0 || slices.Contains(q.Buckets, p.ID) {
			ids = append(ids, p.ID)
		}
	}
	for _, b := range q.Buckets {
		if !slices.Contains(ids, b) {
			return fault.New(fault.NotFound, "read rows", "table %s has no bucket %d", show(q.Path), b).WithHint("recoverctl inspect fluss buckets lists them")
		}
	}
	starts := s.client.Offsets(ctx, t, q.Partition, ids, flussrpc.Earliest)
	ends := s.client.Offsets(ctx, t, q.Partition, ids, flussrpc.Latest)
	schemas := s.client.NewSchemas(t)
	var failed []error
	for i, id := range ids {
		if err := errors.Join(starts[i].Err, ends[i].Err); err != nil {
			failed = append(failed, fault.All(err)...)
			continue
		}
		span := q.span(id, starts[i].Offset, ends[i].Offset)
		if err := s.rowsOf(ctx, t, q.Partition, span, schemas, visit); err != nil {
			if stop, ok := errors.AsType[*stopped](err); ok {
				return stop.error
			}
			failed = append(failed, err)
		}
	}
	return errors.Join(failed...)
}

// span is what is read of a bucket.
func (q RowQuestion) span(bucket int32, start, end int64) flussrpc.Span {
	from, to := max(start, q.From), end
	if q.To >= 0 {
		to = min(to, q.To)
	}
	if q.Last > 0 {
		from = max(from, to-q.Last)
	}
	if q.Limit > 0 && q.Limit < math.MaxInt64-from {
		to = min(to, from+q.Limit)
	}
	return flussrpc.Span{Bucket: bucket, From: from, To: max(from, to)}
}

// stopped is what a visit returned.
type stopped struct{ error }

func (s *stopped) Unwrap() error { return s.error }

func (s *Store) rowsOf(ctx context.Context, t flussrpc.Table, partition int64, span flussrpc.Span, schemas *flussrpc.Schemas, visit func(Row) error) error {
	q := flussrpc.Scan{Table: t, Partition: partition, Spans: []flussrpc.Span{span}}
	if s.files != nil {
		q.Files = s.files
	}
	r := schemas.Rows()
	defer r.Close()
	var mu sync.Mutex
	q.Visit = func(p flussrpc.Piece) error {
		mu.Lock()
		defer mu.Unlock()
		return r.Rows(ctx, p.Batch, func(schema flussrpc.Schema, row flussrpc.Row) error {
			if row.Offset < p.From || row.Offset >= p.To {
				return nil
			}
			if err := visit(rowOf(partition, p.Bucket, schema, row)); err != nil {
				return &stopped{err}
			}
			return nil
		})
	}
	result := s.client.Scan(ctx, q)[0]
	failed := []error{}
	for _, g := range result.Gaps {
		failed = append(failed, g.Err)
	}
	if result.Err != nil {
		if _, ok := errors.AsType[*stopped](result.Err); ok {
			return result.Err
		}
		failed = append(failed, result.Err)
	}
	return errors.Join(failed...)
}

func rowOf(partition int64, bucket int32, schema flussrpc.Schema, row flussrpc.Row) Row {
	out := Row{Bucket: bucket, Offset: row.Offset, Time: time.UnixMilli(row.Timestamp).UTC(), Change: row.Change.String(), Cells: make([]Cell, len(schema.Columns))}
	if partition >= 0 {
		out.Partition = &partition
	}
	for i, c := range schema.Columns {
		out.Cells[i] = cellOf(c, row.Value(i))
	}
	return out
}

func cellOf(c flussrpc.Column, v any) Cell {
	out := Cell{Column: c.Name, Type: c.Type.Name}
	switch v := v.(type) {
	case []byte:
		if utf8.Valid(v) {
			out.Value = string(v)
		} else {
			out.Base64 = base64.StdEncoding.EncodeToString(v)
		}
	case string:
		if out.Value = v; !utf8.ValidString(v) {
			out.Value, out.Base64 = nil, base64.StdEncoding.EncodeToString([]byte(v))
		}
	case flussrpc.Decimal:
		out.Value = string(v)
	case flussrpc.Date:
		const day = 24 * 60 * 60
		out.Value = time.Unix(int64(v)*day, 0).UTC().Format(time.DateOnly)
	case flussrpc.Timestamp:
		layout := "2006-01-02T15:04:05.000Z07:00"
		if v.Local {
			layout = "2006-01-02T15:04:05.000" // of a clock on the wall
		}
		out.Value = time.UnixMilli(v.Millis).UTC().Format(layout)
	case float64:
		if out.Value = v; math.IsNaN(v) || math.IsInf(v, 0) {
			out.Value = map[bool]string{true: "NaN", false: "Infinity"}[math.IsNaN(v)]
			if math.IsInf(v, -1) {
				out.Value = "-Infinity"
			}
		}
	default:
		out.Value = v
	}
	return out
}

// Text is a cell for a person.
func (c Cell) Text() safetext.Text {
	if c.Base64 != "" {
		return safetext.Of("base64:" + c.Base64)
	}
	if c.Value == nil {
		return safetext.Of("null")
	}
	return safetext.Sprintf("%v", c.Value)
}
