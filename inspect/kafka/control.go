package kafka

import (
	"context"
	"slices"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/kafkaconn"
)

// A control topic holds two small records for each cleanup. One past these
// limits is something else, and is refused before it fills the memory.
const (
	maxControlRecords = 100_000
	maxControlBytes   = 64 << 20 // keys and values
)

// ControlTopic reads a control topic from its log start to the last stable
// offset captured first, as a read_committed reader sees it: records of aborted
// transactions are left out, an open transaction hides itself and all after it
// (LastStable is then less than LogEnd).
//
// Records are read only where the topic has the one partition 0 and its
// effective cleanup.policy is exactly "compact"; otherwise the shape is returned
// without them and without an error. On an error the records are not there, and
// nothing may be concluded from their absence: Denied names the missing right,
// Drift says that the topic changed while being read, Corrupt that a batch can't
// be decoded, Config that the topic is far too large for a control topic.
func (s *Store) ControlTopic(ctx context.Context, name string) (inspect.ControlTopic, error) {
	out := inspect.ControlTopic{Name: name, At: s.clock.Now()}
	t, err := s.topic(ctx, name)
	if err != nil || !t.exists {
		return out, err
	}
	out.Exists, out.Partitions = true, t.ids()
	settings, err := s.settings(ctx, name, cleanupPolicy)
	if err != nil {
		return out, err
	}
	out.CleanupPolicy = settings[0].Value
	if !slices.Equal(out.Partitions, []int32{0}) || out.CleanupPolicy != "compact" {
		return out, s.unchanged(ctx, t)
	}

	// The high watermark comes before the last stable offset. Neither moves back,
	// so a last stable offset below a high watermark that is older than it means
	// an open transaction, and never a record that was written in between.
	end := s.list(ctx, t, logEnd)[0]
	stable := s.list(ctx, t, lastStable)[0]
	start := s.list(ctx, t, logStart)[0]
	for _, edge := range []listed{end, stable, start} {
		if edge.err != nil {
			return out, edge.err
		}
	}
	records, err := s.committed(ctx, t, start.offset, stable.offset)
	if err != nil {
		return out, err
	}
	if err := s.unchanged(ctx, t); err != nil {
		return out, err
	}
	out.Records, out.LastStable, out.LogEnd = records, stable.offset, max(end.offset, stable.offset)
	return out, nil
}

// committed reads the committed records of partition 0 in [start, end).
func (s *Store) committed(ctx context.Context, t topic, start, end int64) ([]inspect.ControlRecord, error) {
	r := newReader(s, t, end)
	records := []inspect.ControlRecord{}
	size := 0
	for position := start; position < end; {
		batch, next, err := r.advance(ctx, position)
		if err != nil {
			return nil, err
		}
		position = next
		for _, record := range batch {
			if record.Offset >= end {
				continue
			}
			if size += len(record.Key) + len(record.Value); size > maxControlBytes || len(records) == maxControlRecords {
				return nil, fault.New(fault.Config, kafkaconn.ReadRecords.String(),
					"topic %s is no control topic: more than %d records or %d MiB, read to offset %d of %d", show(t.name), maxControlRecords, maxControlBytes>>20, record.Offset, end).
					WithHint("a control topic holds two small records for each cleanup; check the name in --control-topic or the profile").
					WithRef(string(kafkaconn.Topic(t.name)))
			}
			records = append(records, inspect.ControlRecord{
				Offset: record.Offset, Time: record.Timestamp.UTC(),
				// Copies, so that a record does not hold on to the batch it came in.
				// A null stays nil, an empty one stays empty.
				Key: slices.Clone(record.Key), Value: slices.Clone(record.Value),
			})
		}
	}
	return records, nil
}
