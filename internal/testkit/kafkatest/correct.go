package kafkatest

import (
	"maps"
	"slices"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// corrections makes a kfake cluster answer as Kafka does. They sit in front of
// kfake's handlers as control functions. A control function knows the request
// alone, so what depends on a topic (its settings, its log start) is asked of
// kfake itself, which answers such questions while the request waits; and where
// one partition of many must be refused, a kfake fault for this very request
// refuses it.
//
// None of them sleeps (kfake's SleepControl): two that sleep on one connection,
// one directly after the other, may be woken twice, and then the cluster never
// answers anybody again.
type corrections struct {
	kafka *kfake.Cluster
}

// install puts the corrections in front of the cluster's handlers.
func install(kafka *kfake.Cluster) {
	c := corrections{kafka}
	for key, correct := range map[kmsg.Key]func(kmsg.Request) kmsg.Response{
		kmsg.Produce:                 c.produce,
		kmsg.DeleteRecords:           c.deleteRecords,
		kmsg.CreateTopics:            c.createTopics,
		kmsg.CreatePartitions:        c.createPartitions,
		kmsg.DescribeConfigs:         c.describeConfigs,
		kmsg.IncrementalAlterConfigs: c.alterConfigs,
	} {
		kafka.ControlKey(int16(key), func(req kmsg.Request) (kmsg.Response, error, bool) {
			kafka.KeepControl()
			resp := correct(req)
			return resp, nil, resp != nil
		})
	}
}

// find is a topic by its id or, where the id is zero, by its name; nil where
// there is none.
func (c corrections) find(id [16]byte, name string) *kfake.TopicInfo {
	if id != [16]byte{} {
		return c.kafka.TopicIDInfo(id)
	}
	return c.kafka.TopicInfo(name)
}

// cleaned tells the cleanup.policy of a topic.
func cleaned(t *kfake.TopicInfo) (compacted, deleted bool) {
	policy := settings["cleanup.policy"].def
	if set := t.Configs["cleanup.policy"]; set != nil {
		policy = *set
	}
	policies := listOf(policy)
	return slices.Contains(policies, "compact"), slices.Contains(policies, "delete")
}

// produce refuses a batch for a compacted topic that holds a record without a
// key, with all its records.
func (c corrections) produce(kreq kmsg.Request) kmsg.Response {
	req := kreq.(*kmsg.ProduceRequest)
	for _, rt := range req.Topics {
		known := c.find(rt.TopicID, rt.Topic)
		if known == nil {
			continue
		}
		if compacted, _ := cleaned(known); !compacted {
			continue
		}
		for _, rp := range rt.Partitions {
			if holdsKeyless(rp.Records) {
				c.refuse(req, kmsg.Produce, kfake.Fault{Topic: known.Topic, Partitions: []int32{rp.Partition}, Err: kerr.InvalidRecord})
			}
		}
	}
	return nil
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
func (c corrections) deleteRecords(kreq kmsg.Request) kmsg.Response {
	req := kreq.(*kmsg.DeleteRecordsRequest)
	for _, rt := range req.Topics {
		known := c.kafka.TopicInfo(rt.Topic)
		if known == nil {
			continue
		}
		if compacted, deleted := cleaned(known); compacted && !deleted {
			c.refuse(req, kmsg.DeleteRecords, kfake.Fault{Topic: rt.Topic, Err: kerr.PolicyViolation})
			continue
		}
		for i := range rt.Partitions {
			rp := &rt.Partitions[i]
			if p := c.kafka.PartitionInfo(rt.Topic, rp.Partition); p != nil && rp.Offset >= 0 {
				rp.Offset = max(rp.Offset, p.LogStartOffset)
			}
		}
	}
	return nil
}

// createTopics refuses topics with a setting that Kafka does not have, or with
// a value that it does not allow.
func (c corrections) createTopics(kreq kmsg.Request) kmsg.Response {
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
	return nil
}

// alterConfigs refuses the same settings for topics that exist.
func (c corrections) alterConfigs(kreq kmsg.Request) kmsg.Response {
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
	return nil
}

// createPartitions refuses a number that does not grow.
func (c corrections) createPartitions(kreq kmsg.Request) kmsg.Response {
	req := kreq.(*kmsg.CreatePartitionsRequest)
	for _, rt := range req.Topics {
		if has := len(c.kafka.PartitionInfos(rt.Topic)); has > 0 && int(rt.Count) <= has {
			c.refuse(req, kmsg.CreatePartitions, kfake.Fault{Topic: rt.Topic, Err: kerr.InvalidPartitions})
		}
	}
	return nil
}

// describeConfigs answers all settings of topics, with Kafka's defaults. What
// asks for anything else is left to kfake.
func (c corrections) describeConfigs(kreq kmsg.Request) kmsg.Response {
	req := kreq.(*kmsg.DescribeConfigsRequest)
	resp := req.ResponseKind().(*kmsg.DescribeConfigsResponse)
	for _, rr := range req.Resources {
		if rr.ResourceType != kmsg.ConfigResourceTypeTopic {
			return nil
		}
		r := kmsg.NewDescribeConfigsResponseResource()
		r.ResourceType, r.ResourceName = rr.ResourceType, rr.ResourceName
		if known := c.kafka.TopicInfo(rr.ResourceName); known != nil {
			r.Configs = described(known.Configs, rr.ConfigNames)
		} else {
			r.ErrorCode = kerr.UnknownTopicOrPartition.Code
		}
		resp.Resources = append(resp.Resources, r)
	}
	return resp
}

// described is the settings of a topic, of which some are set. Nil names stand
// for all.
func described(set map[string]*string, names []string) []kmsg.DescribeConfigsResponseResourceConfig {
	var out []kmsg.DescribeConfigsResponseResourceConfig
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		if names != nil && !slices.Contains(names, name) {
			continue
		}
		config := kmsg.NewDescribeConfigsResponseResourceConfig()
		config.Name, config.ConfigType = name, settings[name].kind
		config.Value, config.Source = set[name], kmsg.ConfigSourceDynamicTopicConfig
		if config.Value == nil {
			config.Value, config.Source, config.IsDefault = kmsg.StringPtr(settings[name].def), kmsg.ConfigSourceDefaultConfig, true
		}
		out = append(out, config)
	}
	return out
}

// refuse lets kfake answer an error for a part of this one request.
func (c corrections) refuse(req kmsg.Request, key kmsg.Key, fault kfake.Fault) {
	fault.Keys = []kmsg.Key{key}
	fault.Count = 1
	fault.When = func(other kmsg.Request) bool { return other == req }
	if key == kmsg.IncrementalAlterConfigs {
		fault.Resource, fault.Topic = fault.Topic, ""
	}
	c.kafka.Fault(fault)
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
