package kafkatest

import (
	"context"
	"os"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
)

// TB is what of testing.TB is used here: package testing stays out of the
// program that runs the demo.
type TB interface {
	Helper()
	Fatalf(format string, args ...any)
	Cleanup(func())
	Context() context.Context
}

// StartFake starts a fake cluster that ends with the test.
func StartFake(t TB, opts ...kfake.Opt) *Fake {
	t.Helper()
	fake, err := NewFake(opts...)
	if err != nil {
		t.Fatalf("%v", err)
	}
	t.Cleanup(fake.Close)
	return fake
}

// Real connects to the plain broker that test/real/run.sh started. Without one
// the test fails: a test that needs a real broker is built only with the tag
// real, and must not pass by not running.
func Real(t TB) *Cluster {
	t.Helper()
	cluster, err := NewCluster(RealEnv(t).Plain)
	if err != nil {
		t.Fatalf("%v", err)
	}
	t.Cleanup(cluster.Close)
	return cluster
}

// Env is where the real brokers are: the plain one, and the listeners of the
// secure one (host:port each).
type Env struct {
	Plain string // no security, no ACLs

	Admin     string // the secure broker: plain text, everything allowed
	SASLTLS   string // password over TLS
	SASLPlain string // password over plain text
	TLS       string // TLS alone
	MTLS      string // TLS with a client certificate
	OAuth     string // token over TLS; tokens need no signature
	Certs     string // folder with ca.pem, other-ca.pem, client, expired and stranger (.pem and .key)

	User, Password           string // has no right
	AdminUser, AdminPassword string // has every right
}

// RealEnv reads what test/real/run.sh exported, and fails the test where
// something is missing.
func RealEnv(t TB) Env {
	t.Helper()
	var missing []string
	get := func(name string) string {
		value := os.Getenv("RECOVERCTL_TEST_KAFKA" + name)
		if value == "" {
			missing = append(missing, "RECOVERCTL_TEST_KAFKA"+name)
		}
		return value
	}
	env := Env{
		Plain: get(""), Admin: get("_ADMIN"), SASLTLS: get("_SASL_TLS"), SASLPlain: get("_SASL_PLAIN"),
		TLS: get("_TLS"), MTLS: get("_MTLS"), OAuth: get("_OAUTH"), Certs: get("_CERTS"),
		User: get("_USER"), Password: get("_PASSWORD"),
		AdminUser: get("_ADMIN_USER"), AdminPassword: get("_ADMIN_PASSWORD"),
	}
	if len(missing) > 0 {
		t.Fatalf("no real Kafka broker: %q not set; run the test through test/real/run.sh", missing)
	}
	return env
}

// Topic makes a topic with a unique name that goes with the test, and returns
// the name.
func (c *Cluster) Topic(t TB, partitions int32, settings map[string]string) string {
	t.Helper()
	name := UniqueName("test")
	if err := c.CreateTopic(t.Context(), name, partitions, settings); err != nil {
		t.Fatalf("%v", err)
	}
	t.Cleanup(func() {
		// The test's own context has ended by now.
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if _, err := c.admin.DeleteTopics(ctx, name); err != nil {
			t.Fatalf("kafkatest: delete topic %s: %v", name, err)
		}
	})
	return name
}

// Put writes records and fails the test where that fails. It returns the
// offset of the first.
func (c *Cluster) Put(t TB, topic string, partition int32, records ...Record) int64 {
	t.Helper()
	first, err := c.Write(t.Context(), topic, partition, records...)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return first
}
