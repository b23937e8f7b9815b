//go:build real

package kafka_test

import "testing"

func TestWhateverBreaksAnApplyOfARealBrokerKeepsTheInvariants(t *testing.T) {
	const share = 60
	everyFault(t, realCluster(t), share, true)
}

func TestARequestThatArrivesAtARealBrokerWhenAllIsOverChangesNothing(t *testing.T) {
	everyLateRequest(t, realCluster(t))
}
