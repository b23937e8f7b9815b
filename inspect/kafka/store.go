package kafka

import (
	"context"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/clock"
	"github.com/recoverctl/recoverctl/internal/kafkaconn"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

// Store reads topics of one cluster. It may be used by several goroutines.
type Store struct {
	conn  *kafkaconn.Conn
	clock clock.Clock
}

var _ inspect.LogStore = (*Store)(nil)

// New returns a store that reads over conn, which stays the caller's. Every
// network step is bounded by conn's request timeout.
func New(conn *kafkaconn.Conn, c clock.Clock) *Store { return &Store{conn: conn, clock: c} }

// Cluster is what a cluster says of itself.
type Cluster struct {
	ID      string
	Brokers int // those that are up now
}

// Cluster asks the cluster for its id and its brokers.
func (s *Store) Cluster(ctx context.Context) (Cluster, error) {
	ctx, cancel := s.step(ctx)
	defer cancel()
	req := kmsg.NewPtrMetadataRequest()
	req.Topics = []kmsg.MetadataRequestTopic{} // none; null would mean all
	resp, err := req.RequestWith(ctx, s.conn.Client())
	if err != nil {
		return Cluster{}, s.conn.Explain(err, kafkaconn.DescribeCluster)
	}
	return Cluster{ID: text(resp.ClusterID), Brokers: len(resp.Brokers)}, nil
}

// step bounds one network step.
func (s *Store) step(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, s.conn.RequestTimeout())
}

// show is a name from outside as it may be printed.
func show(name string) string { return safetext.Of(name).String() }

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// pause waits a little before a question is asked again, or until ctx ends.
func pause(ctx context.Context) error {
	timer := time.NewTimer(100 * time.Millisecond)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
