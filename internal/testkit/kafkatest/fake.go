package kafkatest

import (
	"fmt"

	"github.com/twmb/franz-go/pkg/kfake"
)

// Fake is a cluster in this process. It needs no login: kfake's options for
// that do not go with it.
type Fake struct {
	*Cluster
	kfake *kfake.Cluster
}

// NewFake starts a cluster of one broker on a free port of 127.0.0.1; options
// may change that. The caller closes it.
func NewFake(opts ...kfake.Opt) (*Fake, error) {
	kafka, err := kfake.NewCluster(append([]kfake.Opt{kfake.NumBrokers(1)}, opts...)...)
	if err != nil {
		return nil, fmt.Errorf("kafkatest: %w", err)
	}
	install(kafka)
	cluster, err := NewCluster(kafka.ListenAddrs()...)
	if err != nil {
		kafka.Close()
		return nil, err
	}
	return &Fake{Cluster: cluster, kfake: kafka}, nil
}

// Kfake is the cluster itself: to inject faults, move leaders, compact.
func (f *Fake) Kfake() *kfake.Cluster { return f.kfake }

// Close ends the cluster.
func (f *Fake) Close() {
	f.Cluster.Close()
	f.kfake.Close()
}
