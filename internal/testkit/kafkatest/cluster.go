package kafkatest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/recoverctl/recoverctl/internal/kafkaconn"
)

// settle bounds how long a change to a topic may take to show everywhere.
const settle = 20 * time.Second

// Cluster is a Kafka cluster that may be written to. It is safe for concurrent
// use.
type Cluster struct {
	brokers []string
	client  *kgo.Client
	admin   *kadm.Client

	replicas int16 // of a topic that CreateTopic makes

	mu       sync.Mutex
	producer *producer // made when first needed; gone when a topic is deleted or grows, because it remembers the old one
}

// NewCluster connects to brokers that need neither TLS nor a login.
func NewCluster(brokers ...string) (*Cluster, error) {
	client, err := kgo.NewClient(kgo.SeedBrokers(brokers...), kgo.ClientID("kafkatest"), kgo.DisableClientMetrics(),
		// A topic that was just made anew must be seen at once.
		kgo.MetadataMinAge(10*time.Millisecond))
	if err != nil {
		return nil, fmt.Errorf("kafkatest: %w", err)
	}
	return &Cluster{brokers: brokers, client: client, admin: kadm.NewClient(client), replicas: 1}, nil
}

// Close closes the connections.
func (c *Cluster) Close() {
	c.dropProducer()
	c.client.Close()
}

// Brokers is the addresses, as host:port.
func (c *Cluster) Brokers() []string { return c.brokers }

// Config is how the program under test connects.
func (c *Cluster) Config() kafkaconn.Config { return kafkaconn.Config{Brokers: c.brokers} }

// Admin is an admin client, for what has no verb here.
func (c *Cluster) Admin() *kadm.Client { return c.admin }

// Client is a client for requests, for what has no verb here.
func (c *Cluster) Client() *kgo.Client { return c.client }

// CreateTopic makes a topic with one replica, or with three on a Trio, and
// waits until every partition has a leader.
func (c *Cluster) CreateTopic(ctx context.Context, name string, partitions int32, settings map[string]string) error {
	configs := make(map[string]*string, len(settings))
	for key, value := range settings {
		configs[key] = &value
	}
	resp, err := c.admin.CreateTopic(ctx, partitions, c.replicas, configs, name)
	if err == nil {
		err = resp.Err
	}
	if err != nil {
		return fmt.Errorf("kafkatest: create topic %s: %w", name, err)
	}
	return c.until(ctx, name, func(t kadm.TopicDetail) bool { return t.Err == nil && leaders(t) == int(partitions) })
}

// DeleteTopic deletes a topic and waits until it is gone.
func (c *Cluster) DeleteTopic(ctx context.Context, name string) error {
	resp, err := c.admin.DeleteTopic(ctx, name)
	if err == nil {
		err = resp.Err
	}
	if err != nil {
		return fmt.Errorf("kafkatest: delete topic %s: %w", name, err)
	}
	c.dropProducer()
	return c.until(ctx, name, func(t kadm.TopicDetail) bool { return errors.Is(t.Err, kerr.UnknownTopicOrPartition) })
}

// RecreateTopic deletes a topic and makes it anew: it has the same name, no
// records, and another id.
func (c *Cluster) RecreateTopic(ctx context.Context, name string, partitions int32, settings map[string]string) error {
	if err := c.DeleteTopic(ctx, name); err != nil {
		return err
	}
	return c.CreateTopic(ctx, name, partitions, settings)
}

// AddPartitions raises the number of a topic's partitions to total.
func (c *Cluster) AddPartitions(ctx context.Context, name string, total int) error {
	resp, err := c.admin.UpdatePartitions(ctx, total, name)
	if err == nil {
		err = resp.Error()
	}
	if err != nil {
		return fmt.Errorf("kafkatest: raise topic %s to %d partitions: %w", name, total, err)
	}
	c.dropProducer()
	return c.until(ctx, name, func(t kadm.TopicDetail) bool { return t.Err == nil && leaders(t) == total })
}

// Set changes one setting of a topic.
func (c *Cluster) Set(ctx context.Context, topic, key, value string) error {
	resps, err := c.admin.AlterTopicConfigs(ctx, []kadm.AlterConfig{{Op: kadm.SetConfig, Name: key, Value: &value}}, topic)
	for _, resp := range resps {
		err = errors.Join(err, resp.Err)
	}
	if err != nil {
		return fmt.Errorf("kafkatest: set %s of topic %s: %w", key, topic, err)
	}
	return c.settled(ctx, topic, key, value)
}

// settled waits until the cluster says that a setting has a value: Kafka answers
// a change before every broker has heard of it.
func (c *Cluster) settled(ctx context.Context, topic, key, value string) error {
	for {
		described, err := c.admin.DescribeTopicConfigs(ctx, topic)
		if err != nil {
			return fmt.Errorf("kafkatest: describe the settings of topic %s: %w", topic, err)
		}
		for _, resource := range described {
			for _, setting := range resource.Configs {
				if setting.Key == key && setting.MaybeValue() == value {
					return nil
				}
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("kafkatest: %s of topic %s never became %q: %w", key, topic, value, ctx.Err())
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// TopicID is the id that the cluster gave a topic.
func (c *Cluster) TopicID(ctx context.Context, topic string) (kadm.TopicID, error) {
	details, err := c.admin.ListTopics(ctx, topic)
	if err == nil {
		err = details[topic].Err
	}
	if err != nil {
		return kadm.TopicID{}, fmt.Errorf("kafkatest: describe topic %s: %w", topic, err)
	}
	return details[topic].ID, nil
}

// Trim deletes all records below the given offset of each partition.
func (c *Cluster) Trim(ctx context.Context, topic string, offsets map[int32]int64) error {
	wanted := kadm.Offsets{}
	for partition, offset := range offsets {
		wanted.Add(kadm.Offset{Topic: topic, Partition: partition, At: offset})
	}
	resps, err := c.admin.DeleteRecords(ctx, wanted)
	if err == nil {
		err = resps.Error()
	}
	if err != nil {
		return fmt.Errorf("kafkatest: trim topic %s: %w", topic, err)
	}
	return nil
}

// UniqueName is prefix with a random ending: tests on one real broker must not
// meet in a topic.
func UniqueName(prefix string) string { return fmt.Sprintf("%s-%08x", prefix, rand.Uint32()) }

// until waits until a topic looks as wanted.
func (c *Cluster) until(ctx context.Context, topic string, good func(kadm.TopicDetail) bool) error {
	ctx, cancel := context.WithTimeout(ctx, settle)
	defer cancel()
	for {
		details, err := c.admin.ListTopics(ctx, topic)
		if err == nil && good(details[topic]) {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("kafkatest: topic %s did not settle: %w", topic, errors.Join(ctx.Err(), err, details[topic].Err))
		case <-time.After(10 * time.Millisecond):
		}
	}
}

func leaders(t kadm.TopicDetail) (n int) {
	for _, p := range t.Partitions {
		if p.Err == nil && p.Leader >= 0 {
			n++
		}
	}
	return n
}
