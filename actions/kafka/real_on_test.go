//go:build real

package kafka_test

import (
	"testing"

	"github.com/recoverctl/recoverctl/internal/testkit/kafkatest"
)

// realCluster is the broker that test/real/run.sh has started.
func realCluster(t *testing.T) *kafkatest.Cluster { return kafkatest.Real(t) }
