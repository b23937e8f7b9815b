package kafkaconn_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/kafkaconn"
)

func TestExplain(t *testing.T) {
	tests := map[string]struct {
		err     error
		req     kafkaconn.Request
		kind    fault.Kind
		message string
	}{
		"reading is not allowed": {
			kerr.TopicAuthorizationFailed, kafkaconn.ReadRecords, fault.Denied,
			"topic orders partition 3: the cluster denies the right Read on the topic",
		},
		"listing offsets is not allowed": {
			&kadm.AuthError{Err: kerr.TopicAuthorizationFailed}, kafkaconn.ListOffsets, fault.Denied,
			"the right Describe on the topic",
		},
		"deleting is not allowed": {
			fmt.Errorf("shard: %w", kerr.TopicAuthorizationFailed), kafkaconn.DeleteRecords, fault.Denied,
			"the right Delete on the topic",
		},
		"the settings are not to be seen": {
			kerr.ClusterAuthorizationFailed, kafkaconn.DescribeConfigs, fault.Denied,
			"the right DescribeConfigs on the cluster",
		},
		"the topic is not there":            {kerr.UnknownTopicOrPartition, kafkaconn.ListOffsets, fault.NotFound, "does not exist on this cluster"},
		"the topic was made anew":           {kerr.InconsistentTopicID, kafkaconn.ReadRecords, fault.Drift, "created or deleted meanwhile"},
		"the log was trimmed":               {kerr.OffsetOutOfRange, kafkaconn.ReadRecords, fault.Drift, "outside the log"},
		"the topic is only compacted":       {kerr.PolicyViolation, kafkaconn.DeleteRecords, fault.Denied, "cleanup.policy is compact alone"},
		"another policy":                    {kerr.PolicyViolation, kafkaconn.CreateTopic, fault.Denied, "a policy of the cluster forbids the request to create topic"},
		"no leader":                         {kerr.LeaderNotAvailable, kafkaconn.ReadRecords, fault.Unreachable, "no broker leads the partition"},
		"the leader moved":                  {kerr.NotLeaderForPartition, kafkaconn.WriteRecords, fault.Unreachable, "no broker leads the partition"},
		"an old cluster":                    {kerr.UnsupportedVersion, kafkaconn.DescribeConfigs, fault.Unsupported, "does not support"},
		"the broker gave up a read":         {kerr.RequestTimedOut, kafkaconn.ListOffsets, fault.Unreachable, "could not finish"},
		"the broker gave up a write":        {kerr.RequestTimedOut, kafkaconn.DeleteRecords, fault.Unknown, "unknown whether it was done"},
		"a damaged batch":                   {kerr.CorruptMessage, kafkaconn.ReadRecords, fault.Corrupt, "damaged"},
		"time ran out on a read":            {context.DeadlineExceeded, kafkaconn.ListOffsets, fault.Unreachable, "no answer in time"},
		"time ran out on a write":           {context.DeadlineExceeded, kafkaconn.WriteRecords, fault.Unknown, "unknown whether it was done"},
		"stopped while reading":             {context.Canceled, kafkaconn.ReadRecords, fault.Cancelled, "stopped"},
		"stopped while writing":             {context.Canceled, kafkaconn.WriteRecords, fault.Unknown, "stopped"},
		"the connection was lost on a read": {io.ErrUnexpectedEOF, kafkaconn.ReadRecords, fault.Unreachable, "the connection was lost"},
		"the connection was lost on a write": {
			io.EOF, kafkaconn.DeleteRecords, fault.Unknown, "the connection was lost, so it is unknown whether it was done",
		},
		"records are gone": {&kgo.ErrDataLoss{Topic: "orders", Partition: 3, ConsumedTo: 9, ResetTo: 4}, kafkaconn.ReadRecords, fault.Drift, "records that were there are gone"},
		"a shard of a request": {
			&kadm.ShardErrors{Name: "ListOffsets", Errs: []kadm.ShardError{{Err: kerr.UnknownTopicOrPartition}}},
			kafkaconn.ListOffsets, fault.NotFound, "does not exist",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			f := kafkaconn.Explain(tt.err, tt.req, kafkaconn.Partition("orders", 3))
			wantFault(t, f, tt.kind, tt.message, "")
			if f.Op != tt.req.String() {
				t.Errorf("operation %q, want %q", f.Op, tt.req)
			}
			if len(f.Refs) != 1 || f.Refs[0] != "topic orders partition 3" {
				t.Errorf("refs %q", f.Refs)
			}
			if _, shards := tt.err.(*kadm.ShardErrors); !shards && !errors.Is(f, tt.err) {
				t.Error("the cause is lost")
			}
		})
	}
}

func TestExplainKeepsWhatIsAlreadyAFault(t *testing.T) {
	made := fault.New(fault.Drift, "x", "the topic is another one")
	if got := kafkaconn.Explain(fmt.Errorf("while looking: %w", made), kafkaconn.ListOffsets); got != made {
		t.Errorf("got %v", got)
	}
	if got := kafkaconn.Explain(nil, kafkaconn.ListOffsets); got != nil {
		t.Errorf("nil became %v", got)
	}
}

// A broker's words and a topic's name reach a terminal through a fault: they
// arrive there without a control character.
func TestServerTextIsMadeSafe(t *testing.T) {
	hostile := fmt.Errorf("%w: \x1b]52;c;cm0gLXJm\a\nboo", kerr.PolicyViolation)
	f := kafkaconn.Explain(hostile, kafkaconn.CreateTopic, kafkaconn.Topic("a\x1b[2Jb"))
	wantFault(t, f, fault.Denied, `topic a\x1b[2Jb`, "")
	if !strings.Contains(f.Error(), `\x1b]52;c;cm0gLXJm\x07\nboo`) {
		t.Errorf("the server's words are gone: %q", f.Error())
	}
}
