package kafkatest

import (
	"context"
	"fmt"
	"slices"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// find is a topic by its id or, where the id is zero, by its name; nil where
// there is none.
func (c *corrections) find(ctx context.Context, id [16]byte, name string) (*topic, error) {
	topics, err := c.known(ctx)
	if err != nil {
		return nil, err
	}
	if id != [16]byte{} {
		return topics[id], nil
	}
	for _, t := range topics {
		if t.name == name {
			return t, nil
		}
	}
	return nil, nil
}

// known is all topics by id. It asks the cluster once after every change.
func (c *corrections) known(ctx context.Context) (map[[16]byte]*topic, error) {
	c.mu.Lock()
	topics, change := c.topics, c.change
	c.mu.Unlock()
	if topics != nil {
		return topics, nil
	}
	topics, err := c.askTopics(ctx)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.change == change {
		c.topics = topics
	}
	return topics, nil
}

func (c *corrections) askTopics(ctx context.Context) (map[[16]byte]*topic, error) {
	// A client's own list of topics may be some seconds old.
	resp, err := c.client.SeedBrokers()[0].Request(ctx, kmsg.NewPtrMetadataRequest())
	if err != nil {
		return nil, fmt.Errorf("kafkatest: list topics: %w", err)
	}
	topics, byName := map[[16]byte]*topic{}, map[string]*topic{}
	req := kmsg.NewPtrDescribeConfigsRequest()
	for _, mt := range resp.(*kmsg.MetadataResponse).Topics {
		if mt.Topic == nil {
			continue
		}
		name := *mt.Topic
		t := &topic{name: name, partitions: len(mt.Partitions)}
		topics[mt.TopicID], byName[name] = t, t
		resource := kmsg.NewDescribeConfigsRequestResource()
		resource.ResourceType, resource.ResourceName = kmsg.ConfigResourceTypeTopic, name
		resource.ConfigNames = []string{"cleanup.policy"}
		req.Resources = append(req.Resources, resource)
	}
	if len(req.Resources) == 0 {
		return topics, nil
	}
	described, err := c.askSettings(ctx, req)
	if err != nil {
		return nil, err
	}
	for _, resource := range described.Resources {
		for _, config := range resource.Configs {
			if t := byName[resource.ResourceName]; t != nil && config.Value != nil {
				policies := listOf(*config.Value)
				t.compacted, t.deleted = slices.Contains(policies, "compact"), slices.Contains(policies, "delete")
			}
		}
	}
	return topics, nil
}

// logStarts is the log start of every partition of a topic. A partition that
// can't say is left out: kfake then answers for it.
func (c *corrections) logStarts(ctx context.Context, t *topic) (map[int32]int64, error) {
	starts, err := kadm.NewClient(c.client).ListStartOffsets(ctx, t.name)
	if err != nil {
		return nil, fmt.Errorf("kafkatest: list log starts: %w", err)
	}
	out := map[int32]int64{}
	starts.Each(func(o kadm.ListedOffset) {
		if o.Err == nil {
			out[o.Partition] = o.Offset
		}
	})
	return out, nil
}

// askSettings sends a request that is not corrected. It goes to one broker as
// it is: a client that splits it over brokers would lose the tag.
func (c *corrections) askSettings(ctx context.Context, req *kmsg.DescribeConfigsRequest) (*kmsg.DescribeConfigsResponse, error) {
	req.UnknownTags.Set(ownTag, []byte("own"))
	resp, err := c.client.SeedBrokers()[0].Request(ctx, req)
	if err != nil {
		return nil, fmt.Errorf("kafkatest: describe settings: %w", err)
	}
	return resp.(*kmsg.DescribeConfigsResponse), nil
}
