package kafkatest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

// Record is one record to write. A nil Key is a record without a key, a nil
// Value a tombstone.
type Record struct {
	Key, Value []byte
	Headers    map[string]string
	Time       time.Time // zero: now
}

// KV is a record with a key and a value.
func KV(key, value string) Record { return Record{Key: []byte(key), Value: []byte(value)} }

// Tombstone is a record that deletes a key.
func Tombstone(key string) Record { return Record{Key: []byte(key)} }

func (r Record) kgo(topic string, partition int32) *kgo.Record {
	out := &kgo.Record{Topic: topic, Partition: partition, Key: r.Key, Value: r.Value, Timestamp: r.Time}
	for key, value := range r.Headers {
		out.Headers = append(out.Headers, kgo.RecordHeader{Key: key, Value: []byte(value)})
	}
	return out
}

// Write writes records to one partition in this order and returns the offset
// of the first. All of them are acknowledged when it returns.
func (c *Cluster) Write(ctx context.Context, topic string, partition int32, records ...Record) (int64, error) {
	p, err := c.producing()
	if err != nil {
		return 0, err
	}
	defer p.using.Done()
	return write(ctx, p.Client, topic, partition, records)
}

// producer is a client that several tests may write with at once.
type producer struct {
	*kgo.Client
	using sync.WaitGroup // writes that are on their way
}

// Begin starts a transaction and writes records to one partition in it. The
// transaction stays open until Commit or Abort, or for a minute, after which
// the cluster aborts it.
func (c *Cluster) Begin(ctx context.Context, topic string, partition int32, records ...Record) (*Transaction, error) {
	id := UniqueName("kafkatest")
	client, err := c.newProducer(kgo.TransactionalID(id), kgo.TransactionTimeout(time.Minute))
	if err != nil {
		return nil, err
	}
	if err := client.BeginTransaction(); err != nil {
		client.Close()
		return nil, fmt.Errorf("kafkatest: begin transaction: %w", err)
	}
	t := &Transaction{id: id, client: client, admin: c.admin}
	if t.First, err = t.Write(ctx, topic, partition, records...); err != nil {
		client.Close()
		return nil, err
	}
	return t, nil
}

// Transaction is an open transaction.
type Transaction struct {
	First  int64 // offset of the first record
	id     string
	client *kgo.Client
	admin  *kadm.Client
}

// Write writes further records and returns the offset of the first.
func (t *Transaction) Write(ctx context.Context, topic string, partition int32, records ...Record) (int64, error) {
	return write(ctx, t.client, topic, partition, records)
}

// Commit makes the records visible to those who read committed ones. It writes
// one control record to every partition of the transaction.
func (t *Transaction) Commit(ctx context.Context) error { return t.end(ctx, kgo.TryCommit) }

// Abort makes the records invisible to those who read committed ones. It
// writes one control record to every partition of the transaction.
func (t *Transaction) Abort(ctx context.Context) error { return t.end(ctx, kgo.TryAbort) }

// end waits until the control records are written: Kafka answers as soon as
// the end is certain, and writes them afterwards.
func (t *Transaction) end(ctx context.Context, how kgo.TransactionEndTry) error {
	defer t.client.Close()
	if err := t.client.EndTransaction(ctx, how); err != nil {
		return fmt.Errorf("kafkatest: end transaction: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, settle)
	defer cancel()
	for {
		described, err := t.admin.DescribeTransactions(ctx, t.id)
		if err == nil {
			err = described[t.id].Err
		}
		if state := described[t.id].State; err == nil && state != "Ongoing" && !strings.HasPrefix(state, "Prepare") {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("kafkatest: transaction %s stays in state %q: %w", t.id, described[t.id].State, errors.Join(ctx.Err(), err))
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func write(ctx context.Context, client *kgo.Client, topic string, partition int32, records []Record) (int64, error) {
	out := make([]*kgo.Record, len(records))
	for i, r := range records {
		out[i] = r.kgo(topic, partition)
	}
	if err := client.ProduceSync(ctx, out...).FirstErr(); err != nil {
		return 0, fmt.Errorf("kafkatest: write to topic %s partition %d: %w", topic, partition, err)
	}
	if len(out) == 0 {
		return 0, nil
	}
	return out[0].Offset, nil
}

// producing is the cluster's producer. Whoever gets it says when it is done.
func (c *Cluster) producing() (*producer, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.producer == nil {
		client, err := c.newProducer()
		if err != nil {
			return nil, err
		}
		c.producer = &producer{Client: client}
	}
	c.producer.using.Add(1)
	return c.producer, nil
}

// dropProducer makes the next write begin with a new producer. Writes that are on
// their way are waited for.
func (c *Cluster) dropProducer() {
	c.mu.Lock()
	old := c.producer
	c.producer = nil
	c.mu.Unlock()
	if old != nil {
		old.using.Wait()
		old.Close()
	}
}

// newProducer makes a client that writes where it is told. It waits a moment
// before it sends, so that records that are written together are one batch and
// accepted or refused together.
func (c *Cluster) newProducer(extra ...kgo.Opt) (*kgo.Client, error) {
	client, err := kgo.NewClient(append([]kgo.Opt{
		kgo.SeedBrokers(c.brokers...),
		kgo.ClientID("kafkatest"),
		kgo.DisableClientMetrics(),
		kgo.RecordPartitioner(kgo.ManualPartitioner()),
		kgo.ProducerLinger(5 * time.Millisecond),
		kgo.MetadataMinAge(10 * time.Millisecond),
		kgo.UnknownTopicRetries(20), // a broker that was just started learns of a topic last
	}, extra...)...)
	if err != nil {
		return nil, fmt.Errorf("kafkatest: %w", err)
	}
	return client, nil
}
