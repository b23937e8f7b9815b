package kafkatest

import (
	"bytes"
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// queryLimit bounds one question of the corrections to their own cluster.
const queryLimit = 10 * time.Second

// Requests that the corrections send to their own cluster carry this tag, so
// that they are answered and not corrected again.
const ownTag = 0x7265636f

// corrections makes a kfake cluster answer as Kafka does. They sit in front of
// kfake's handlers as control functions. A control function knows the request
// alone, so what depends on a topic (its settings, its log start) is asked of
// the same cluster while the request waits; and where one partition of many
// must be refused, a kfake fault for this very request refuses it.
type corrections struct {
	kafka  *kfake.Cluster
	client *kgo.Client

	mu     sync.Mutex
	change int                 // counts what may have changed a topic
	topics map[[16]byte]*topic // nil: not known since the last change
}

// topic is what the corrections know about a topic.
type topic struct {
	name               string
	partitions         int
	compacted, deleted bool // its cleanup.policy
}

// install puts the corrections in front of the cluster's handlers.
func install(kafka *kfake.Cluster, client *kgo.Client) {
	c := &corrections{kafka: kafka, client: client}
	for key, correct := range map[kmsg.Key]func(context.Context, kmsg.Request) (kmsg.Response, error){
		kmsg.Produce:          c.produce,
		kmsg.DeleteRecords:    c.deleteRecords,
		kmsg.CreatePartitions: c.createPartitions,
		kmsg.DescribeConfigs:  c.describeConfigs,
	} {
		kafka.ControlKey(int16(key), c.waiting(correct))
	}
	kafka.ControlKey(int16(kmsg.CreateTopics), c.createTopics)
	kafka.ControlKey(int16(kmsg.IncrementalAlterConfigs), c.alterConfigs)
	for _, key := range []kmsg.Key{
		kmsg.CreateTopics, kmsg.DeleteTopics, kmsg.CreatePartitions, kmsg.AlterConfigs, kmsg.IncrementalAlterConfigs,
	} {
		kafka.ControlKey(int16(key), c.forget)
	}
}

// waiting makes a control function of a correction that asks the cluster: the
// cluster serves others meanwhile. A correction that can't ask closes the
// connection, because an uncorrected answer would be a wrong one.
func (c *corrections) waiting(correct func(context.Context, kmsg.Request) (kmsg.Response, error)) func(kmsg.Request) (kmsg.Response, error, bool) {
	return func(req kmsg.Request) (kmsg.Response, error, bool) {
		if isOwn(req) {
			return nil, nil, false
		}
		c.kafka.KeepControl()
		var (
			resp kmsg.Response
			err  error
		)
		c.kafka.SleepControl(func() {
			ctx, cancel := context.WithTimeout(context.Background(), queryLimit)
			defer cancel()
			resp, err = correct(ctx, req)
		})
		return resp, err, resp != nil || err != nil
	}
}

// forget makes the next question about topics a new one.
func (c *corrections) forget(kmsg.Request) (kmsg.Response, error, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.change++
	c.topics = nil
	return nil, nil, false
}

// produce refuses a batch for a compacted topic that holds a record without a
// key, with all its records.
func (c *corrections) produce(ctx context.Context, kreq kmsg.Request) (kmsg.Response, error) {
	req := kreq.(*kmsg.ProduceRequest)
	for _, rt := range req.Topics {
		known, err := c.find(ctx, rt.TopicID, rt.Topic)
		if err != nil {
			return nil, err
		}
		if known == nil || !known.compacted {
			continue
		}
		for _, rp := range rt.Partitions {
			if holdsKeyless(rp.Records) {
				c.refuse(req, kmsg.Produce, kfake.Fault{Topic: known.name, Partitions: []int32{rp.Partition}, Err: kerr.InvalidRecord})
			}
		}
	}
	return nil, nil
}

// holdsKeyless reports whether a batch has a record without a key. A batch
// that can't be read is left to kfake, which refuses it.
func holdsKeyless(batch []byte) bool {
	var b kmsg.RecordBatch
	if err := b.ReadFrom(batch); err != nil {
		return false
	}
	records, err := kfake.BatchRecords(b)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(records, func(r kmsg.Record) bool { return r.Key == nil })
}

// deleteRecords makes a trim below the log start a trim to the log start, and
// refuses one of a topic whose policy is compact alone.
func (c *corrections) deleteRecords(ctx context.Context, kreq kmsg.Request) (kmsg.Response, error) {
	req := kreq.(*kmsg.DeleteRecordsRequest)
	for _, rt := range req.Topics {
		known, err := c.find(ctx, [16]byte{}, rt.Topic)
		if err != nil {
			return nil, err
		}
		if known == nil {
			continue
		}
		if known.compacted && !known.deleted {
			c.refuse(req, kmsg.DeleteRecords, kfake.Fault{Topic: rt.Topic, Err: kerr.PolicyViolation})
			continue
		}
		starts, err := c.logStarts(ctx, known)
		if err != nil {
			return nil, err
		}
		for i := range rt.Partitions {
			rp := &rt.Partitions[i]
			if start, ok := starts[rp.Partition]; ok && rp.Offset >= 0 && rp.Offset < start {
				rp.Offset = start
			}
		}
	}
	return nil, nil
}

// createTopics refuses topics with a setting that Kafka does not have, or with
// a value that it does not allow.
func (c *corrections) createTopics(kreq kmsg.Request) (kmsg.Response, error, bool) {
	req := kreq.(*kmsg.CreateTopicsRequest)
	for _, rt := range req.Topics {
		for _, rc := range rt.Configs {
			if !accepts(rc.Name, rc.Value) {
				c.refuse(req, kmsg.CreateTopics, kfake.Fault{Topic: rt.Topic, Err: kerr.InvalidConfig})
				break
			}
		}
		if !validName(rt.Topic) {
			c.refuse(req, kmsg.CreateTopics, kfake.Fault{Topic: rt.Topic, Err: kerr.InvalidTopicException})
		}
	}
	return nil, nil, false
}

// alterConfigs refuses the same settings for topics that exist.
func (c *corrections) alterConfigs(kreq kmsg.Request) (kmsg.Response, error, bool) {
	req := kreq.(*kmsg.IncrementalAlterConfigsRequest)
	for _, rr := range req.Resources {
		if rr.ResourceType != kmsg.ConfigResourceTypeTopic {
			continue
		}
		for _, rc := range rr.Configs {
			if !accepts(rc.Name, rc.Value) {
				c.refuse(req, kmsg.IncrementalAlterConfigs, kfake.Fault{Topic: rr.ResourceName, Err: kerr.InvalidConfig})
				break
			}
		}
	}
	return nil, nil, false
}

// createPartitions refuses a number that does not grow.
func (c *corrections) createPartitions(ctx context.Context, kreq kmsg.Request) (kmsg.Response, error) {
	req := kreq.(*kmsg.CreatePartitionsRequest)
	for _, rt := range req.Topics {
		known, err := c.find(ctx, [16]byte{}, rt.Topic)
		if err != nil {
			return nil, err
		}
		if known != nil && int(rt.Count) <= known.partitions {
			c.refuse(req, kmsg.CreatePartitions, kfake.Fault{Topic: rt.Topic, Err: kerr.InvalidPartitions})
		}
	}
	return nil, nil
}

// describeConfigs answers all settings of a topic, with Kafka's defaults.
func (c *corrections) describeConfigs(ctx context.Context, kreq kmsg.Request) (kmsg.Response, error) {
	req := kreq.(*kmsg.DescribeConfigsRequest)
	if !slices.ContainsFunc(req.Resources, func(r kmsg.DescribeConfigsRequestResource) bool {
		return r.ResourceType == kmsg.ConfigResourceTypeTopic
	}) {
		return nil, nil
	}
	own := *req
	resp, err := c.askSettings(ctx, &own)
	if err != nil {
		return nil, err
	}
	for i := range resp.Resources {
		if r := &resp.Resources[i]; r.ResourceType == kmsg.ConfigResourceTypeTopic && r.ErrorCode == 0 {
			r.Configs = complete(r.Configs, req.Resources[i].ConfigNames)
		}
	}
	resp.SetVersion(req.GetVersion())
	return resp, nil
}

// complete adds the settings that kfake does not list and puts right the
// defaults that it has otherwise. Nil names stand for all.
func complete(configs []kmsg.DescribeConfigsResponseResourceConfig, names []string) []kmsg.DescribeConfigsResponseResourceConfig {
	byName := map[string]kmsg.DescribeConfigsResponseResourceConfig{}
	for _, config := range configs {
		byName[config.Name] = config
	}
	var out []kmsg.DescribeConfigsResponseResourceConfig
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		if names != nil && !slices.Contains(names, name) {
			continue
		}
		config, ok := byName[name]
		if !ok || config.Source == kmsg.ConfigSourceDefaultConfig {
			config = kmsg.NewDescribeConfigsResponseResourceConfig()
			config.Name = name
			config.Value = kmsg.StringPtr(settings[name].def)
			config.Source = kmsg.ConfigSourceDefaultConfig
			config.IsDefault = true
		}
		config.ConfigType = settings[name].kind
		out = append(out, config)
	}
	return out
}

// refuse lets kfake answer an error for a part of this one request.
func (c *corrections) refuse(req kmsg.Request, key kmsg.Key, fault kfake.Fault) {
	fault.Keys = []kmsg.Key{key}
	fault.Count = 1
	fault.When = func(other kmsg.Request) bool { return other == req }
	if key == kmsg.IncrementalAlterConfigs {
		fault.Resource, fault.Topic = fault.Topic, ""
	}
	c.kafka.Fault(fault)
}

func isOwn(req kmsg.Request) bool {
	var own bool
	if describe, ok := req.(*kmsg.DescribeConfigsRequest); ok {
		describe.UnknownTags.Each(func(tag uint32, value []byte) {
			own = own || tag == ownTag && bytes.Equal(value, []byte("own"))
		})
	}
	return own
}

// validName reports whether Kafka allows a topic of that name.
func validName(name string) bool {
	if name == "" || name == "." || name == ".." || len(name) > 249 {
		return false
	}
	return !slices.ContainsFunc([]byte(name), func(b byte) bool {
		switch {
		case b >= 'a' && b <= 'z', b >= 'A' && b <= 'Z', b >= '0' && b <= '9', b == '.', b == '_', b == '-':
			return false
		default:
			return true
		}
	})
}
