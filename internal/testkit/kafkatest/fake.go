package kafkatest

import (
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
)

// Fake is a cluster in this process. It needs no login: kfake's options for
// that do not go with it.
type Fake struct {
	*Cluster
	kfake *kfake.Cluster
	asks  *kgo.Client // of the corrections: a connection of their own, as a waiting request blocks the one it came on
}

// NewFake starts a cluster of one broker on a free port of 127.0.0.1; options
// may change that. The caller closes it.
func NewFake(opts ...kfake.Opt) (*Fake, error) {
	kafka, err := kfake.NewCluster(append([]kfake.Opt{kfake.NumBrokers(1)}, opts...)...)
	if err != nil {
		return nil, fmt.Errorf("kafkatest: %w", err)
	}
	asks, err := kgo.NewClient(kgo.SeedBrokers(kafka.ListenAddrs()...), kgo.DisableClientMetrics(), kgo.RequestRetries(0),
		kgo.MetadataMinAge(10*time.Millisecond))
	if err != nil {
		kafka.Close()
		return nil, fmt.Errorf("kafkatest: %w", err)
	}
	install(kafka, asks)
	cluster, err := NewCluster(kafka.ListenAddrs()...)
	if err != nil {
		asks.Close()
		kafka.Close()
		return nil, err
	}
	return &Fake{Cluster: cluster, kfake: kafka, asks: asks}, nil
}

// Kfake is the cluster itself: to inject faults, move leaders, compact.
func (f *Fake) Kfake() *kfake.Cluster { return f.kfake }

// Close ends the cluster.
func (f *Fake) Close() {
	f.Cluster.Close()
	f.asks.Close()
	f.kfake.Close()
}
