package kafka

import (
	"cmp"
	"context"
	"iter"
	"slices"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/kafkaconn"
)

var _ inspect.WindowReader = (*Store)(nil)

// ReadWindow implements [inspect.WindowReader]. One partition is read after the
// other, and the next answer is fetched while the last one is judged: three are
// in memory at most. Each network step is
// bounded by the connection's request timeout, the whole only by ctx.
func (s *Store) ReadWindow(ctx context.Context, data inspect.DataTopic, windows []inspect.Window,
	visit func(partition int32, offset int64, key, value []byte), progress func(inspect.WindowProgress)) error {
	t, err := s.described(ctx, data)
	if err != nil {
		return err
	}
	var seen inspect.WindowProgress
	for _, w := range windows {
		seen.Total += max(0, w.To-w.From)
	}
	ordered := slices.SortedStableFunc(slices.Values(windows), func(a, b inspect.Window) int { return cmp.Compare(a.Partition, b.Partition) })
	for _, w := range ordered {
		r := newReader(s, t, w.To)
		r.partition, r.uncommitted = w.Partition, true
		passed := seen.Span
		for p, err := range r.pages(ctx, w.From) {
			if err != nil {
				return err
			}
			for _, record := range p.records {
				if record.Offset >= w.To {
					break
				}
				visit(w.Partition, record.Offset, record.Key, record.Value)
				seen.Records++
				seen.Bytes += int64(len(record.Key) + len(record.Value))
			}
			seen.Span = passed + min(p.next, w.To) - w.From
			if progress != nil {
				progress(seen)
			}
		}
	}
	return s.unchanged(ctx, t)
}

// described asks what a topic is now and refuses another than the one that was
// described before.
func (s *Store) described(ctx context.Context, data inspect.DataTopic) (topic, error) {
	t, err := s.topic(ctx, data.Name)
	if err != nil {
		return t, err
	}
	if !t.exists || t.idText() != data.TopicID || !slices.Equal(t.ids(), data.IDs()) {
		return t, fault.New(fault.Drift, kafkaconn.ReadRecords.String(), "topic %s is no longer the one that was described a moment ago: it was deleted, recreated or given partitions", show(data.Name)).
			WithHint("run it again; if it happens again, find out who changes the topic").WithRef(string(kafkaconn.Topic(data.Name)))
	}
	return t, nil
}

// page is what one answer brought.
type page struct {
	records []*kgo.Record
	batches []byte // instead, where they are read raw
	next    int64  // the offset to go on from
}

// pages reads from an offset to the end, one page ahead of the loop over it. The
// sequence ends behind an error.
func (r *reader) pages(ctx context.Context, from int64) iter.Seq2[page, error] {
	return func(yield func(page, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		ahead := make(chan page, 1)
		reading := *r     // whoever loops may ask r meanwhile what it reads
		var failure error // written before ahead is closed, and reading too
		go func() {
			defer close(ahead)
			for position := from; position < reading.end; {
				a, err := reading.answer(ctx, position)
				if err != nil {
					failure = err
					return
				}
				select {
				case ahead <- page{a.records, a.batches, a.next}:
				case <-ctx.Done():
					failure = ctx.Err()
					return
				}
				position = a.next
				reading.limit = max(reading.limit, min(2*reading.limit, reading.most))
			}
		}()
		defer func() {
			cancel()
			for range ahead { // until the reader has ended
			}
			r.topic, r.limit = reading.topic, reading.limit
		}()
		for p := range ahead {
			if !yield(p, nil) {
				return
			}
		}
		if failure != nil {
			yield(page{}, failure)
		}
	}
}
