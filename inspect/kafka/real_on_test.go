//go:build real

package kafka_test

import (
	"testing"

	"github.com/recoverctl/recoverctl/internal/kafkaconn"
	"github.com/recoverctl/recoverctl/internal/secret"
	"github.com/recoverctl/recoverctl/internal/testkit/kafkatest"
)

// realClusters are those that test/real/run.sh has started.
func realClusters(t *testing.T) map[string]cluster {
	return map[string]cluster{"real": {Cluster: kafkatest.Real(t)}}
}

func realSecured(t *testing.T) map[string]secured {
	env := kafkatest.RealEnv(t)
	admin, err := kafkatest.NewCluster(env.Admin)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(admin.Close)
	return map[string]secured{"real": {admin: cluster{Cluster: admin}, user: env.User, as: func(c *kafkaconn.Config) {
		c.Brokers = []string{env.SASLPlain}
		c.SASL = &kafkaconn.SASL{Mechanism: "scram-sha-256", Username: env.User, Password: secret.New(env.Password)}
	}}}
}
