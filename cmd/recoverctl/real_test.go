//go:build real

package main

import (
	"testing"
	"time"

	"github.com/recoverctl/recoverctl/internal/testkit/kafkatest"
)

func TestRealControlCases(t *testing.T) { controlCases(t, kafkatest.Real(t)) }

func TestRealRestoreCases(t *testing.T) { restoreCases(t, kafkatest.Real(t)) }

func TestRealRestoreCasesWithTheirWindow(t *testing.T) { windowCases(t, kafkatest.Real(t)) }

func TestRealApplyCases(t *testing.T) { applyCases(t, kafkatest.Real(t)) }

func TestRealThreeSituations(t *testing.T) { threeSituations(t, kafkatest.Real(t)) }

func TestRealStories(t *testing.T) {
	// Each has connections of its own: one who deletes a topic starts anew.
	stories(t, 5*time.Second, func(t *testing.T) *kafkatest.Cluster { return kafkatest.Real(t) })
}
