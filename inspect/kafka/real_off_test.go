//go:build !real

package kafka_test

import "testing"

// Without the build tag "real" the stories are told on fake clusters only.

func realClusters(*testing.T) map[string]cluster { return nil }

func realSecured(*testing.T) map[string]secured { return nil }
