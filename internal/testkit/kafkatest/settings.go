package kafkatest

import (
	"slices"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// setting is one topic setting as Kafka 4.3 knows it.
type setting struct {
	kind    kmsg.ConfigType
	def     string   // the value of a topic that does not set it
	least   int64    // of a number
	allowed []string // of a text or a list; empty: any
}

const (
	kindInt    = kmsg.ConfigTypeInt
	kindLong   = kmsg.ConfigTypeLong
	kindDouble = kmsg.ConfigTypeDouble
	kindBool   = kmsg.ConfigTypeBoolean
	kindString = kmsg.ConfigTypeString
	kindList   = kmsg.ConfigTypeList
	longest    = "9223372036854775807"
	noLimit    = -1 << 63
)

// settings is every setting of a topic with its default, as a broker of Kafka
// 4.3 lists them.
var settings = map[string]setting{
	"cleanup.policy":                          {kindList, "delete", 0, []string{"compact", "delete"}},
	"compression.gzip.level":                  {kindInt, "-1", -1, nil},
	"compression.lz4.level":                   {kindInt, "9", 1, nil},
	"compression.type":                        {kindString, "producer", 0, []string{"uncompressed", "zstd", "lz4", "snappy", "gzip", "producer"}},
	"compression.zstd.level":                  {kindInt, "3", noLimit, nil},
	"delete.retention.ms":                     {kindLong, "86400000", 0, nil},
	"file.delete.delay.ms":                    {kindLong, "60000", 0, nil},
	"flush.messages":                          {kindLong, longest, 1, nil},
	"flush.ms":                                {kindLong, longest, 0, nil},
	"follower.replication.throttled.replicas": {kindList, "", 0, nil},
	"index.interval.bytes":                    {kindInt, "4096", 0, nil},
	"leader.replication.throttled.replicas":   {kindList, "", 0, nil},
	"local.retention.bytes":                   {kindLong, "-2", -2, nil},
	"local.retention.ms":                      {kindLong, "-2", -2, nil},
	"max.compaction.lag.ms":                   {kindLong, longest, 1, nil},
	"max.message.bytes":                       {kindInt, "1048588", 0, nil},
	"message.timestamp.after.max.ms":          {kindLong, "3600000", 0, nil},
	"message.timestamp.before.max.ms":         {kindLong, longest, 0, nil},
	"message.timestamp.type":                  {kindString, "CreateTime", 0, []string{"CreateTime", "LogAppendTime"}},
	"min.cleanable.dirty.ratio":               {kindDouble, "0.5", 0, nil},
	"min.compaction.lag.ms":                   {kindLong, "0", 0, nil},
	"min.insync.replicas":                     {kindInt, "1", 1, nil},
	"preallocate":                             {kindBool, "false", 0, nil},
	"remote.log.copy.disable":                 {kindBool, "false", 0, nil},
	"remote.log.delete.on.disable":            {kindBool, "false", 0, nil},
	"remote.storage.enable":                   {kindBool, "false", 0, nil},
	"retention.bytes":                         {kindLong, "-1", noLimit, nil},
	"retention.ms":                            {kindLong, "604800000", -1, nil},
	"segment.bytes":                           {kindInt, "1073741824", 1 << 20, nil},
	"segment.index.bytes":                     {kindInt, "10485760", 4, nil},
	"segment.jitter.ms":                       {kindLong, "0", 0, nil},
	"segment.ms":                              {kindLong, "604800000", 1, nil},
	"unclean.leader.election.enable":          {kindBool, "false", 0, nil},
}

// accepts reports whether a broker lets a topic have the setting. A nil value
// stands for the default.
func accepts(name string, value *string) bool {
	s, ok := settings[name]
	if !ok || value == nil {
		return ok
	}
	switch s.kind {
	case kindInt, kindLong:
		bits := map[kmsg.ConfigType]int{kindInt: 32, kindLong: 64}[s.kind]
		n, err := strconv.ParseInt(strings.TrimSpace(*value), 10, bits)
		return err == nil && n >= s.least
	case kindDouble:
		ratio, err := strconv.ParseFloat(strings.TrimSpace(*value), 64)
		return err == nil && ratio >= 0 && ratio <= 1
	case kindBool:
		return strings.EqualFold(*value, "true") || strings.EqualFold(*value, "false")
	case kindList:
		for _, item := range listOf(*value) {
			if len(s.allowed) > 0 && !slices.Contains(s.allowed, item) {
				return false
			}
		}
		return true
	default:
		return len(s.allowed) == 0 || slices.Contains(s.allowed, *value)
	}
}

// listOf splits a list setting. An empty text is an empty list.
func listOf(value string) []string {
	var out []string
	for item := range strings.SplitSeq(value, ",") {
		if item = strings.TrimSpace(item); item != "" {
			out = append(out, item)
		}
	}
	return out
}
