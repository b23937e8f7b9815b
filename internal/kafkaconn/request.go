package kafkaconn

import (
	"fmt"

	"github.com/recoverctl/recoverctl/internal/safetext"
)

// Request is what was asked of the cluster when something failed. It decides
// which right an operator must ask for, and whether a lost answer leaves open
// what happened.
type Request uint8

// The requests of this program.
const (
	DescribeCluster Request = iota
	DescribeTopic
	ListOffsets
	ReadRecords
	DescribeConfigs
	DeleteRecords
	WriteRecords
	CreateTopic
	AlterConfigs
)

type requestFacts struct {
	doing  string // the operation of a fault
	right  string // the ACL operation, as Kafka's tools spell it
	writes bool
}

func (r Request) facts() requestFacts {
	switch r {
	case DescribeTopic:
		return requestFacts{"describe topic", "Describe", false}
	case ListOffsets:
		return requestFacts{"list offsets", "Describe", false}
	case ReadRecords:
		return requestFacts{"read records", "Read", false}
	case DescribeConfigs:
		return requestFacts{"describe settings", "DescribeConfigs", false}
	case DeleteRecords:
		return requestFacts{"delete records", "Delete", true}
	case WriteRecords:
		return requestFacts{"write records", "Write", true}
	case CreateTopic:
		return requestFacts{"create topic", "Create", true}
	case AlterConfigs:
		return requestFacts{"change settings", "AlterConfigs", true}
	default:
		return requestFacts{"describe cluster", "Describe", false}
	}
}

// String is the operation, as in "list offsets".
func (r Request) String() string { return r.facts().doing }

// Right is the ACL operation that the request needs, as in "Describe".
func (r Request) Right() string { return r.facts().right }

// Writes reports whether the request changes something, so that a lost answer
// leaves open whether it did.
func (r Request) Writes() bool { return r.facts().writes }

// Ref is what a request was about, in the words of a fault.
type Ref string

// Topic is a topic, by a name that need not be safe to print.
func Topic(name string) Ref { return Ref("topic " + safetext.Of(name).String()) }

// Partition is one partition of a topic.
func Partition(topic string, partition int32) Ref {
	return Ref(fmt.Sprintf("topic %s partition %d", safetext.Of(topic), partition))
}
