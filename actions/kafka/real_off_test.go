//go:build !real

package kafka_test

import (
	"testing"

	"github.com/recoverctl/recoverctl/internal/testkit/kafkatest"
)

// Without the build tag "real" everything runs on fake clusters only.

func realCluster(*testing.T) *kafkatest.Cluster { return nil }
