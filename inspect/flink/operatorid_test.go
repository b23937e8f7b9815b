package flink_test

import (
	"testing"

	"github.com/recoverctl/recoverctl/inspect/flink"
	"github.com/recoverctl/recoverctl/internal/fault"
)

func TestOperatorIDs(t *testing.T) {
	if got := flink.OperatorIDOf("CheckpointingSource2"); got != "1f2b5df5a66154aca61fcb26193792be" {
		t.Errorf("the id of CheckpointingSource2 is %s", got)
	}
	if id, err := flink.ParseOperatorID("1F2B5DF5A66154ACA61FCB26193792BE"); err != nil || id != "1f2b5df5a66154aca61fcb26193792be" {
		t.Errorf("%s, %v", id, err)
	}
	if _, err := flink.ParseOperatorID("1f2b"); fault.KindOf(err) != fault.Usage {
		t.Errorf("a short id: %v", err)
	}
}
