package kafkatest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/recoverctl/recoverctl/internal/testkit/filelock"
)

const (
	// trioLimit bounds how long the three may take for one change: to see a
	// broker gone, to start one, to copy what it missed.
	trioLimit = time.Minute
	// trioLook is how often they are looked at meanwhile.
	trioLook = 50 * time.Millisecond
)

// Trio is three real brokers of one cluster, which a test may kill, stop still
// and start again. Topics that CreateTopic makes on it have three replicas, of
// which two must have a write before it is acknowledged. A test has them for
// itself, and they are whole again when it ends.
type Trio struct {
	*Cluster
	dir string
}

// RealTrio takes the three brokers that test/real/run.sh started; without them
// the test fails. It waits until no other test has them.
func RealTrio(t TB) *Trio {
	t.Helper()
	brokers, dir := os.Getenv("RECOVERCTL_TEST_KAFKA_TRIO"), os.Getenv("RECOVERCTL_TEST_KAFKA_TRIO_DIR")
	if brokers == "" || dir == "" {
		t.Fatalf(`no three Kafka brokers: run the test with RECOVERCTL_REAL_WITH="kafka-trio" test/real/run.sh, or "all" in its place`)
	}
	release, err := filelock.Wait(t.Context(), filepath.Join(dir, "lock"))
	if err != nil {
		t.Fatalf("kafkatest: the three brokers: %v", err)
	}
	t.Cleanup(release)
	cluster, err := NewCluster(strings.Split(brokers, ",")...)
	if err != nil {
		t.Fatalf("%v", err)
	}
	cluster.replicas = 3
	t.Cleanup(cluster.Close)
	trio := &Trio{Cluster: cluster, dir: dir}
	t.Cleanup(func() {
		// The test's own context has ended by now.
		if err := trio.Heal(context.Background()); err != nil {
			t.Fatalf("%v", err)
		}
	})
	return trio
}

// Nodes is the ids of the three: 1, 2 and 3, in the order of Brokers.
func (t *Trio) Nodes() []int32 { return []int32{1, 2, 3} }

// Kill ends a broker at once, as a machine that loses power, and waits until
// its process is gone. The others do not know yet.
func (t *Trio) Kill(node int32) error { return t.end(node, syscall.SIGKILL) }

// Stop ends a broker as an operator does: it hands over what it leads first.
func (t *Trio) Stop(node int32) error { return t.end(node, syscall.SIGTERM) }

// Pause lets a broker stand still: its connections stay open and nothing is
// answered.
func (t *Trio) Pause(node int32) error { return t.signal(node, syscall.SIGSTOP) }

// Resume lets a broker go on that stands still.
func (t *Trio) Resume(node int32) error { return t.signal(node, syscall.SIGCONT) }

// Restart starts a broker that has ended, on its old storage and address, and
// waits until it answers. It may lack records still: see WaitISR.
func (t *Trio) Restart(ctx context.Context, node int32) error {
	if pid, err := t.pid(node); err != nil || pid != 0 {
		return errors.Join(fmt.Errorf("kafkatest: broker %d has not ended: process %d", node, pid), err)
	}
	if err := os.WriteFile(t.file(node, "start"), nil, 0o600); err != nil {
		return fmt.Errorf("kafkatest: start broker %d: %w", node, err)
	}
	return t.wait(ctx, fmt.Sprintf("broker %d to start", node), func(ctx context.Context) error {
		pid, err := t.pid(node)
		if err != nil {
			return err
		}
		if pid == 0 {
			return errors.New("it has no process")
		}
		return t.answers(ctx, node)
	})
}

// WaitISR waits until the three are members and every replica of every
// partition is in sync.
func (t *Trio) WaitISR(ctx context.Context) error {
	return t.wait(ctx, "every replica to be in sync", func(ctx context.Context) error {
		meta, err := t.admin.Metadata(ctx)
		if err != nil {
			return err
		}
		if len(meta.Brokers) != len(t.Nodes()) {
			return fmt.Errorf("brokers %v are members", meta.Brokers.NodeIDs())
		}
		var lacking error
		meta.Topics.EachPartition(func(p kadm.PartitionDetail) {
			if p.Leader < 0 || len(p.ISR) < len(p.Replicas) {
				lacking = fmt.Errorf("topic %s partition %d: leader %d, replicas %v, in sync %v", p.Topic, p.Partition, p.Leader, p.Replicas, p.ISR)
			}
		})
		return lacking
	})
}

// WaitLeader waits until a partition is led by another broker than the named
// ones, and returns which.
func (t *Trio) WaitLeader(ctx context.Context, topic string, partition int32, not ...int32) (leader int32, err error) {
	err = t.wait(ctx, fmt.Sprintf("topic %s partition %d to have a leader other than %v", topic, partition, not), func(ctx context.Context) error {
		meta, err := t.admin.Metadata(ctx, topic)
		if err != nil {
			return err
		}
		p, ok := meta.Topics[topic].Partitions[partition]
		if !ok {
			return errors.Join(errors.New("the partition is not listed"), meta.Topics[topic].Err)
		}
		for _, node := range append(not, -1) {
			if p.Leader == node {
				return fmt.Errorf("it is led by %d", p.Leader)
			}
		}
		leader = p.Leader
		return nil
	})
	return leader, err
}

// Heal resumes and restarts what does not run, and waits until every replica
// is in sync.
func (t *Trio) Heal(ctx context.Context) error {
	for _, node := range t.Nodes() {
		pid, err := t.pid(node)
		if err != nil {
			return err
		}
		if pid != 0 {
			err = t.Resume(node)
		} else {
			err = t.Restart(ctx, node)
		}
		if err != nil {
			return err
		}
	}
	return t.WaitISR(ctx)
}

func (t *Trio) end(node int32, signal syscall.Signal) error {
	if err := t.signal(node, signal); err != nil {
		return err
	}
	return t.wait(context.Background(), fmt.Sprintf("broker %d to end", node), func(context.Context) error {
		pid, err := t.pid(node)
		if err == nil && pid != 0 {
			err = fmt.Errorf("process %d runs", pid)
		}
		return err
	})
}

func (t *Trio) signal(node int32, signal syscall.Signal) error {
	pid, err := t.pid(node)
	if err != nil {
		return err
	}
	if pid == 0 {
		return fmt.Errorf("kafkatest: broker %d does not run", node)
	}
	if err := syscall.Kill(pid, signal); err != nil {
		return fmt.Errorf("kafkatest: send %s to broker %d, process %d: %w", signal, node, pid, err)
	}
	return nil
}

// pid is the process of a broker; 0: it has ended. Whoever started the three
// takes the file away then, so that the number never means another process.
func (t *Trio) pid(node int32) (int, error) {
	text, err := os.ReadFile(t.file(node, "pid"))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("kafkatest: broker %d: %w", node, err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || pid <= 1 {
		return 0, fmt.Errorf("kafkatest: broker %d: its pid is said to be %q", node, text)
	}
	return pid, nil
}

func (t *Trio) file(node int32, name string) string {
	return filepath.Join(t.dir, strconv.Itoa(int(node)), name)
}

// answers asks one broker alone.
func (t *Trio) answers(ctx context.Context, node int32) error {
	client, err := kgo.NewClient(kgo.SeedBrokers(t.brokers[node-1]), kgo.DisableClientMetrics(), kgo.RequestRetries(0))
	if err != nil {
		return err
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	_, err = client.SeedBrokers()[0].Request(ctx, kmsg.NewPtrMetadataRequest())
	return err
}

// wait tries until something is so, and says what it waited for in vain.
func (t *Trio) wait(ctx context.Context, what string, try func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, trioLimit)
	defer cancel()
	for {
		err := try(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("kafkatest: waiting for %s: %w", what, errors.Join(ctx.Err(), err))
		case <-time.After(trioLook):
		}
	}
}
