package incident

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/recoverctl/recoverctl/internal/testkit/kafkatest"
	"github.com/recoverctl/recoverctl/internal/testkit/orders"
)

// Incident is a running cluster with the sample incident in it. Its topics are
// Topic and ControlTopic.
type Incident struct {
	// TopicID is the data topic's id in Kafka's text form.
	TopicID string
	// Places are where recovery points are found: the folder of the job's
	// checkpoints and that of the savepoints, as URIs.
	Places []string
	// Pinned are the recovery points that the job's owner pinned, as URIs.
	Pinned []string

	kafka *kafkatest.Fake
}

// Start makes the incident as it looks at a moment. Recovery points go below
// dir, which exists, and which the caller removes. It takes well under a
// second; the caller closes the result.
func Start(ctx context.Context, dir string, now time.Time) (*Incident, error) {
	return start(ctx, dir, now, seed)
}

func start(ctx context.Context, dir string, now time.Time, seed uint64) (*Incident, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("incident: %w", err)
	}
	now = now.Truncate(time.Millisecond)
	at := places{dir}
	s := newScript(seed)
	in := &Incident{
		Places: []string{fileURI(at.checkpoints()), fileURI(at.savepoints())},
		Pinned: []string{fileURI(filepath.Join(at.savepoints(), pinnedSavepoint))},
	}

	var logs []partitionLog
	var group errgroup.Group
	group.Go(func() (err error) {
		logs, err = s.logs(seed, now)
		return err
	})
	group.Go(func() (err error) {
		if in.kafka, err = kafkatest.NewFake(); err != nil {
			return err
		}
		return in.createTopics(ctx)
	})
	err = group.Wait()
	if err == nil {
		err = in.fill(ctx, s, logs, at, now, seed)
	}
	if err != nil {
		in.Close()
		return nil, err
	}
	return in, nil
}

// Close ends the cluster. Everything in it is gone.
func (in *Incident) Close() {
	if in.kafka != nil {
		in.kafka.Close()
	}
}

// Brokers are the addresses of the cluster, as host:port. It needs neither TLS
// nor a login.
func (in *Incident) Brokers() []string { return in.kafka.Brokers() }

// Kafka is the cluster: to change what happens next.
func (in *Incident) Kafka() *kafkatest.Fake { return in.kafka }

// ConfigYAML is a configuration file for the incident: one profile, one job.
func (in *Incident) ConfigYAML() []byte {
	return fmt.Appendf(nil, `default-profile: %s
profiles:
  - name: %[1]s
    environment: production
    access: operate
    kafka:
      brokers: %s
    jobs:
      - name: %s
        engine: flink-agents
        runtime: next
        action-state: {store: kafka, topic: %s, control-topic: %s}
        max-parallelism: %d
        partitions: %d
        recovery-points: %s
        pinned: %s
        keep-recovery-points: 2
`, Profile, yamlList(in.Brokers()), Job, Topic, ControlTopic, orders.MaxParallelism, Partitions, yamlList(in.Places), yamlList(in.Pinned))
}

// yamlList writes texts as a YAML list on one line: JSON's strings are YAML's.
func yamlList(texts []string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	// A list of strings always has a JSON form, and a Builder takes it.
	_ = e.Encode(texts)
	return strings.TrimSuffix(b.String(), "\n")
}

// logs makes what was ever written to each partition.
func (s *script) logs(seed uint64, now time.Time) ([]partitionLog, error) {
	c, err := newCast()
	if err != nil {
		return nil, err
	}
	logs := make([]partitionLog, Partitions)
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for p := range logs {
		group.Go(func() (err error) {
			logs[p], err = s.write(p, c, seed, now)
			return err
		})
	}
	return logs, group.Wait()
}

func (in *Incident) createTopics(ctx context.Context) error {
	settings := map[string]string{"cleanup.policy": "compact,delete", "retention.ms": "-1", "retention.bytes": "-1"}
	if err := in.kafka.CreateTopic(ctx, Topic, Partitions, settings); err != nil {
		return err
	}
	if err := in.kafka.CreateTopic(ctx, ControlTopic, 1, map[string]string{"cleanup.policy": "compact"}); err != nil {
		return err
	}
	id, err := in.kafka.TopicID(ctx, Topic)
	in.TopicID = base64.RawURLEncoding.EncodeToString(id[:])
	return err
}

// fill writes all records, trims the log as the two cleanups left it, and
// writes the recovery points.
func (in *Incident) fill(ctx context.Context, s *script, logs []partitionLog, at places, now time.Time, seed uint64) error {
	control, err := s.controlRecords(at, in.TopicID, now)
	if err != nil {
		return err
	}
	group, groupCtx := errgroup.WithContext(ctx)
	group.Go(func() error {
		_, err := in.kafka.Write(groupCtx, ControlTopic, 0, control...)
		return err
	})
	group.Go(func() error {
		data, dataCtx := errgroup.WithContext(groupCtx)
		for p, log := range logs {
			data.Go(func() error {
				_, err := in.kafka.Write(dataCtx, Topic, int32(p), log.records...)
				return err
			})
		}
		return data.Wait()
	})
	group.Go(func() error {
		if err := at.makeFolders(); err != nil {
			return err
		}
		for _, p := range s.points(at, in.TopicID, seed) {
			if err := p.write(logs, now, seed); err != nil {
				return err
			}
		}
		return nil
	})
	if err := group.Wait(); err != nil {
		return err
	}
	return in.kafka.Trim(ctx, Topic, s.logStarts())
}
