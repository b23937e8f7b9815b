//go:build real

package main

import (
	"testing"

	"github.com/recoverctl/recoverctl/internal/testkit/kafkatest"
)

func TestRealControlCases(t *testing.T) { controlCases(t, kafkatest.Real(t)) }

func TestRealRestoreCases(t *testing.T) { restoreCases(t, kafkatest.Real(t)) }

func TestRealRestoreCasesWithTheirWindow(t *testing.T) { windowCases(t, kafkatest.Real(t)) }

func TestRealApplyCases(t *testing.T) { applyCases(t, kafkatest.Real(t)) }
