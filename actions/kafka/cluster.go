package kafka

import (
	"context"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/inspect/kafka"
	"github.com/recoverctl/recoverctl/internal/clock"
	"github.com/recoverctl/recoverctl/internal/kafkaconn"
)

// Cluster is what a cleanup needs of a Kafka cluster. Dial connects to a real
// one. Every method is bounded by the connection's request timeout, and its
// errors are faults: of kind Unknown where a write was perhaps made.
type Cluster interface {
	inspect.LogStore

	// Allows says why reading records of a topic, which must exist, writing or
	// deleting them would be refused to this user or by these brokers; nil where
	// nothing is known that speaks against it. Nothing is tried.
	Allows(ctx context.Context, topic string, what kafkaconn.Request) error

	// CreateControlTopic makes a topic with one partition and the policy compact.
	// One of that name that exists by then is a fault of kind Drift.
	CreateControlTopic(ctx context.Context, name string, replication int16) error

	// Append writes the record of a plan and a status to partition 0 and returns
	// its offset when all in-sync replicas have it. The topic gets the record of
	// one plan and one status once, whoever appends it how often, and however late
	// a request arrives that was given up: a repetition gives the first offset.
	Append(ctx context.Context, topic string, plan inspect.CleanupPlan, status inspect.OperationStatus) (offset int64, err error)

	// Trim deletes the records below the targets, each with one request that is
	// not repeated. There is one answer for each target, in the same order: some
	// may be done and others not.
	Trim(ctx context.Context, topic string, targets []Target) []Trimmed

	Close()
}

// Connect opens a fresh connection, which the caller closes.
type Connect func(ctx context.Context) (Cluster, error)

// Dial is how to connect to the cluster of a configuration.
func Dial(config kafkaconn.Config, c clock.Clock, options ...kafkaconn.Option) Connect {
	return func(ctx context.Context) (Cluster, error) {
		conn, err := kafkaconn.Open(ctx, config, options...)
		if err != nil {
			return nil, err
		}
		return &session{Store: kafka.New(conn, c), conn: conn}, nil
	}
}

// session is one connection that reads, through the store, and writes.
type session struct {
	*kafka.Store
	conn *kafkaconn.Conn
}

func (s *session) Close() { s.conn.Close() }

// step bounds one network step.
func (s *session) step(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, s.conn.RequestTimeout())
}
