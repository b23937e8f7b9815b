package kafka

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/kafkaconn"
)

var _ inspect.RecordReader = (*Store)(nil)

// ReadRecords implements [inspect.RecordReader]. Each network step is bounded by
// the connection's request timeout. Going back reads ever longer stretches until
// enough records were found, for nothing tells where compaction left some.
func (s *Store) ReadRecords(ctx context.Context, data inspect.DataTopic, q inspect.RecordQuestion) (inspect.RecordPage, error) {
	at := slices.IndexFunc(data.Partitions, func(p inspect.Partition) bool { return p.ID == q.Partition })
	if at < 0 {
		return inspect.RecordPage{}, fault.New(fault.NotFound, kafkaconn.ReadRecords.String(), "topic %s has no partition %d", show(data.Name), q.Partition).
			WithRef(string(kafkaconn.Topic(data.Name)))
	}
	if err := data.Partitions[at].Err; err != nil {
		return inspect.RecordPage{}, err
	}
	t, err := s.described(ctx, data)
	if err != nil {
		return inspect.RecordPage{}, err
	}
	log := data.Partitions[at].Log
	r := newReader(s, t, log.End)
	r.partition, r.uncommitted, r.control = q.Partition, true, true
	q.Offset = min(max(q.Offset, log.Start), log.End)
	page := inspect.RecordPage{Partition: q.Partition, From: q.Offset, Next: q.Offset, Records: []inspect.LogRecord{}}
	if q.Back {
		err = r.before(ctx, q, log.Start, &page)
	} else {
		err = r.after(ctx, q, &page)
	}
	if err == nil {
		err = s.unchanged(ctx, t)
	}
	if err != nil {
		return inspect.RecordPage{}, err
	}
	return page, nil
}

// after reads forward until the page is full or the log ends.
func (r *reader) after(ctx context.Context, q inspect.RecordQuestion, page *inspect.RecordPage) error {
	for page.Next < r.end {
		records, next, err := r.advance(ctx, page.Next)
		if err != nil {
			return err
		}
		for _, record := range records {
			if record.Offset >= r.end {
				break
			}
			if page.Full(q) || !page.Add(q, logRecord(record)) {
				return nil
			}
		}
		page.Next = min(next, r.end)
	}
	return nil
}

// before reads the stretch in front of the page, and longer ones in front of that.
func (r *reader) before(ctx context.Context, q inspect.RecordQuestion, start int64, page *inspect.RecordPage) error {
	return page.FillBack(q, start, func(from, to int64, add func(inspect.LogRecord)) error {
		r.end = to
		for p, err := range r.pages(ctx, from) {
			if err != nil {
				return err
			}
			for _, record := range p.records {
				if record.Offset < to {
					add(logRecord(record))
				}
			}
		}
		return nil
	})
}

// logRecord copies a record out of the batch that it came in: a kept record must
// not keep the batch.
func logRecord(record *kgo.Record) inspect.LogRecord {
	out := inspect.LogRecord{
		Partition: record.Partition, Offset: record.Offset, Timestamp: record.Timestamp, Appended: record.Attrs.TimestampType() == 1,
		Key: bytes.Clone(record.Key), Value: bytes.Clone(record.Value), Producer: -1,
	}
	if record.Attrs.IsTransactional() {
		out.Producer = record.ProducerID
	}
	if record.Attrs.IsControl() {
		out.Control = transactionEnd(record.Key)
	}
	for _, h := range record.Headers {
		out.Headers = append(out.Headers, inspect.RecordHeader{Key: h.Key, Value: bytes.Clone(h.Value)})
	}
	return out
}

// transactionEnd reads the key of a control record: its version and its type.
func transactionEnd(key []byte) inspect.TransactionEnd {
	if len(key) < 4 {
		return inspect.ControlUnknown
	}
	switch binary.BigEndian.Uint16(key[2:]) {
	case 0:
		return inspect.TransactionAborted
	case 1:
		return inspect.TransactionCommitted
	default:
		return inspect.ControlUnknown
	}
}

// OffsetsAt implements [inspect.RecordReader].
func (s *Store) OffsetsAt(ctx context.Context, data inspect.DataTopic, at time.Time) (inspect.Offsets, error) {
	t, err := s.described(ctx, data)
	if err != nil {
		return nil, err
	}
	answers := s.list(ctx, t, edge{name: "offset at a time", timestamp: max(0, at.UnixMilli()), optional: true})
	out := inspect.Offsets{}
	var errs []error
	for _, p := range data.Partitions {
		switch a := answers[p.ID]; {
		case p.Err != nil:
		case a.err != nil:
			errs = append(errs, a.err)
		case a.offset < 0:
			out[p.ID] = p.Log.End
		default:
			out[p.ID] = min(max(a.offset, p.Log.Start), p.Log.End)
		}
	}
	return out, errors.Join(errs...)
}
