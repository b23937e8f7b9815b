package kafka

import (
	"context"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/kafkaconn"
)

const cleanupPolicy = "cleanup.policy"

// settings reads the effective values of the named settings, which must be
// sorted. On an error there are none.
func (s *Store) settings(ctx context.Context, topic string, names ...string) ([]inspect.Setting, error) {
	ctx, cancel := s.step(ctx)
	defer cancel()
	resources, err := s.conn.Admin().DescribeTopicConfigs(ctx, topic)
	if err == nil && len(resources) != 1 {
		return nil, fault.New(fault.Corrupt, kafkaconn.DescribeConfigs.String(), "the broker was asked for the settings of topic %s and answered about %d topics", show(topic), len(resources)).
			WithRef(string(kafkaconn.Topic(topic)))
	}
	if err == nil {
		err = resources[0].Err
	}
	if err != nil {
		return nil, s.conn.Explain(err, kafkaconn.DescribeConfigs, kafkaconn.Topic(topic))
	}

	var out []inspect.Setting
	for _, c := range resources[0].Configs {
		if c.Value != nil && slices.Contains(names, c.Key) {
			out = append(out, inspect.Setting{Name: c.Key, Value: *c.Value, Source: source(c.Source)})
		}
	}
	for _, name := range names {
		if !slices.ContainsFunc(out, func(s inspect.Setting) bool { return s.Name == name }) {
			return nil, fault.New(fault.Unsupported, kafkaconn.DescribeConfigs.String(), "the broker does not say what %s of topic %s is", name, show(topic)).
				WithRef(string(kafkaconn.Topic(topic)))
		}
	}
	slices.SortFunc(out, func(a, b inspect.Setting) int { return slices.Index(names, a.Name) - slices.Index(names, b.Name) })
	return out, nil
}

// source is where a value comes from, in three words: a broker's own files and
// what was set on brokers at run time are one to a topic's owner.
func source(from kmsg.ConfigSource) string {
	switch from {
	case kmsg.ConfigSourceDynamicTopicConfig:
		return "topic"
	case kmsg.ConfigSourceDefaultConfig:
		return "default"
	default:
		return "broker"
	}
}
