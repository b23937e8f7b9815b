//go:build real

package kafkatest_test

import (
	"testing"

	"github.com/recoverctl/recoverctl/internal/testkit/kafkatest"
)

func TestKafkaAnswersSo(t *testing.T) { conform(t, kafkatest.Real(t)) }

func TestKafkaAnswersSoThroughAProxy(t *testing.T) { conform(t, through(t, kafkatest.Real(t))) }
