package fluss

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/flussrpc"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

var (
	_ inspect.WindowReader = (*Store)(nil)
	_ inspect.RecordReader = (*Store)(nil)
)

// described asks what a table is now, and refuses another than the one that was
// described before. Op is what it is asked for.
func (s *Store) described(ctx context.Context, data inspect.DataTopic, op string) (flussrpc.Table, error) {
	table, found, err := s.tableOf(ctx, data.Name)
	if err == nil && (!found || strconv.FormatInt(table.ID, 10) != data.TopicID || table.Buckets != len(data.Partitions)) {
		err = fault.New(fault.Drift, op, "table %s is no longer the one that was described: its id was %s", show(table.Path), data.TopicID).
			WithHint("ask again").WithRef("table " + show(table.Path))
	}
	return table, err
}

// ReadWindow implements [inspect.WindowReader]. One bucket is read after the other,
// rows in remote storage from there; what can't be read ends it.
func (s *Store) ReadWindow(ctx context.Context, data inspect.DataTopic, windows []inspect.Window,
	visit func(partition int32, offset int64, key, value []byte), progress func(inspect.WindowProgress)) error {
	table, err := s.described(ctx, data, readRows)
	if err != nil {
		return err
	}
	r := s.client.NewSchemas(table).Columns(stateKey, statePayload)
	defer r.Close()
	var seen inspect.WindowProgress
	for _, w := range windows {
		seen.Total += max(0, w.To-w.From)
	}
	for _, w := range slices.SortedStableFunc(slices.Values(windows), func(a, b inspect.Window) int { return cmp.Compare(a.Partition, b.Partition) }) {
		passed := seen.Span
		_, err := s.span(ctx, table, flussrpc.Span{Bucket: w.Partition, From: w.From, To: w.To}, r, func(row flussrpc.Picked) error {
			visit(w.Partition, row.Offset, row.Cells[0], row.Cells[1])
			seen.Records++
			seen.Bytes += int64(len(row.Cells[0]) + len(row.Cells[1]))
			return nil
		}, func(next int64) {
			if seen.Span = passed + next - w.From; progress != nil {
				progress(seen)
			}
		})
		if err != nil {
			return err
		}
	}
	return s.unchanged(ctx, table)
}

const readRows = "read rows"

// errEnough ends the reading of a span of which enough was seen.
var errEnough = errors.New("enough rows were read")

// span shows the rows of one span to visit, whose error, if it is errEnough, ends the
// reading without being one. Passed, which may be nil, is told how far it has come.
// Every row of the span was shown then up to the offset that is returned.
func (s *Store) span(ctx context.Context, table flussrpc.Table, span flussrpc.Span, r *flussrpc.ColumnReader,
	visit func(flussrpc.Picked) error, passed func(next int64)) (read int64, err error) {
	q := flussrpc.Scan{Table: table, Partition: flussrpc.NoPartition, Spans: []flussrpc.Span{span}}
	if s.files != nil {
		q.Files = s.files
	}
	q.Visit = func(p flussrpc.Piece) error {
		return r.Rows(ctx, p.Batch, func(row flussrpc.Picked) error {
			if row.Offset < p.From || row.Offset >= p.To {
				return nil
			}
			return visit(row)
		})
	}
	if passed != nil {
		q.Passed = func(_ int32, next int64) { passed(next) }
	}
	result := s.client.Scan(ctx, q)[0]
	enough := errors.Is(result.Err, errEnough)
	switch {
	case ctx.Err() != nil:
		return result.Read, fault.Wrap(fault.KindOf(ctx.Err()), readRows, ctx.Err(), "reading bucket %d of table %s ended at offset %d", span.Bucket, show(table.Path), result.Read).
			WithRef("table " + show(table.Path))
	case len(result.Gaps) > 0:
		return result.Read, result.Gaps[0].Err
	case result.Err != nil && !enough:
		return result.Read, result.Err
	}
	return result.Read, nil
}

// ReadRecords implements [inspect.RecordReader]. The agent's key, which the table has
// in a column of its own, is a header here.
func (s *Store) ReadRecords(ctx context.Context, data inspect.DataTopic, q inspect.RecordQuestion) (inspect.RecordPage, error) {
	at := slices.IndexFunc(data.Partitions, func(p inspect.Partition) bool { return p.ID == q.Partition })
	if at < 0 {
		return inspect.RecordPage{}, fault.New(fault.NotFound, readRows, "table %s has no bucket %d", safetext.Of(data.Name), q.Partition).WithRef("table " + safetext.Of(data.Name).String())
	}
	if err := data.Partitions[at].Err; err != nil {
		return inspect.RecordPage{}, err
	}
	table, err := s.described(ctx, data, readRows)
	if err != nil {
		return inspect.RecordPage{}, err
	}
	log := data.Partitions[at].Log
	q.Offset = min(max(q.Offset, log.Start), log.End)
	page := inspect.RecordPage{Partition: q.Partition, From: q.Offset, Next: q.Offset, Records: []inspect.LogRecord{}}
	r := s.client.NewSchemas(table).Columns(stateKey, statePayload, agentKey)
	defer r.Close()
	if q.Back {
		err = page.FillBack(q, log.Start, func(from, to int64, add func(inspect.LogRecord)) error {
			_, err := s.span(ctx, table, flussrpc.Span{Bucket: q.Partition, From: from, To: to}, r, func(row flussrpc.Picked) error {
				add(recordOf(q.Partition, row))
				return nil
			}, nil)
			return err
		})
	} else {
		err = s.after(ctx, table, log.End, q, r, &page)
	}
	if err == nil {
		err = s.unchanged(ctx, table)
	}
	if err != nil {
		return inspect.RecordPage{}, err
	}
	return page, nil
}

// after reads forward until the page is full or the log ends.
func (s *Store) after(ctx context.Context, table flussrpc.Table, end int64, q inspect.RecordQuestion, r *flussrpc.ColumnReader, page *inspect.RecordPage) error {
	full := false
	read, err := s.span(ctx, table, flussrpc.Span{Bucket: q.Partition, From: page.Next, To: end}, r, func(row flussrpc.Picked) error {
		if full = page.Full(q) || !page.Add(q, recordOf(q.Partition, row)); full {
			return errEnough
		}
		return nil
	}, nil)
	if err == nil && !full {
		page.Next = max(page.Next, read) // offsets behind the last row hold none
	}
	return err
}

// recordOf copies a row out of the batch that it came in.
func recordOf(bucket int32, row flussrpc.Picked) inspect.LogRecord {
	return inspect.LogRecord{
		Partition: bucket, Offset: row.Offset, Timestamp: time.UnixMilli(row.Timestamp).UTC(), Appended: true, Producer: -1,
		Key: bytes.Clone(row.Cells[0]), Value: bytes.Clone(row.Cells[1]), Headers: []inspect.RecordHeader{{Key: agentKey, Value: bytes.Clone(row.Cells[2])}},
	}
}

// OffsetsAt implements [inspect.RecordReader]. A server answers a lower bound, up to
// a batch too low, so that the batches from there on are looked at.
func (s *Store) OffsetsAt(ctx context.Context, data inspect.DataTopic, at time.Time) (inspect.Offsets, error) {
	table, err := s.described(ctx, data, "look for an offset by time")
	if err != nil {
		return nil, err
	}
	out := inspect.Offsets{}
	logs := map[int32]inspect.LogRange{}
	var ids []int32
	for _, p := range data.Partitions {
		if p.Err == nil {
			ids, logs[p.ID], out[p.ID] = append(ids, p.ID), p.Log, p.Log.End
		}
	}
	q := flussrpc.Scan{Table: table, Partition: flussrpc.NoPartition}
	if s.files != nil {
		q.Files = s.files
	}
	var errs []error
	for _, o := range s.client.Offsets(ctx, table, flussrpc.NoPartition, ids, flussrpc.At(at)) {
		log := logs[o.Bucket]
		switch refused, ok := errors.AsType[*flussrpc.Error](o.Err); {
		case ok && refused.Code == flussrpc.InvalidTimestamp: // of the future, by the server's clock
		case o.Err != nil:
			errs = append(errs, o.Err)
			delete(out, o.Bucket)
		default:
			q.Spans = append(q.Spans, flussrpc.Span{Bucket: o.Bucket, From: min(max(o.Offset, log.Start), log.End), To: log.End})
		}
	}
	found := make([]int64, len(data.Partitions))
	for i := range found {
		found[i] = -1
	}
	q.Visit = func(p flussrpc.Piece) error { // of one bucket by one goroutine at a time
		if p.Batch.CommitTimestamp < at.UnixMilli() {
			return nil
		}
		found[p.Bucket] = max(p.From, p.Batch.BaseOffset)
		return errEnough
	}
	for _, r := range s.client.Scan(ctx, q) {
		switch {
		case len(r.Gaps) > 0:
			errs = append(errs, r.Gaps[0].Err)
			delete(out, r.Bucket)
		case found[r.Bucket] >= 0:
			out[r.Bucket] = found[r.Bucket]
		case r.Err != nil:
			errs = append(errs, r.Err)
			delete(out, r.Bucket)
		}
	}
	return out, errors.Join(errs...)
}
