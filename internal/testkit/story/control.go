package story

import (
	"context"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// readControl reads the control topic to where a reader of committed records
// ends, past the program. The records are told as named tells them.
func (w *world) readControl(ctx context.Context) (found []string, exists bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	topics, err := w.Cluster.Admin().ListTopics(ctx, w.control)
	if err != nil {
		return nil, false, err
	}
	if !topics.Has(w.control) {
		return nil, false, nil
	}
	ends, err := w.Cluster.Admin().ListCommittedOffsets(ctx, w.control)
	if err != nil {
		return nil, true, err
	}
	from := map[int32]kgo.Offset{}
	left := map[int32]int64{}
	for p, o := range ends[w.control] {
		if o.Err != nil {
			return nil, true, o.Err
		}
		if o.Offset > 0 {
			from[p], left[p] = kgo.NewOffset().AtStart(), o.Offset
		}
	}
	if len(left) == 0 {
		return nil, true, nil
	}
	client, err := kgo.NewClient(kgo.SeedBrokers(w.Cluster.Brokers()...), kgo.DisableClientMetrics(), kgo.FetchMaxWait(50*time.Millisecond),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()), kgo.KeepControlRecords(), kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{w.control: from}))
	if err != nil {
		return nil, true, err
	}
	defer client.Close()
	for len(left) > 0 {
		fetches := client.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			return nil, true, fmt.Errorf("read the control topic: %w", err)
		}
		fetches.EachRecord(func(r *kgo.Record) {
			// A transaction that was aborted ends with a control record, so that the last
			// offset is always seen.
			if r.Offset+1 >= left[r.Partition] {
				delete(left, r.Partition)
			}
			if !r.Attrs.IsControl() {
				found = append(found, w.named(r.Key, r.Value))
			}
		})
	}
	return found, true, nil
}
