package flinkmeta_test

import (
	"testing"

	"github.com/recoverctl/recoverctl/internal/flinkmeta"
	"github.com/recoverctl/recoverctl/internal/testkit/flinkcases"
)

func TestOperatorIDOfUID(t *testing.T) {
	if got := flinkmeta.OperatorIDOfUID("CheckpointingSource2").String(); got != "1f2b5df5a66154aca61fcb26193792be" {
		t.Errorf("id %s, want the one that Flink gives this uid", got)
	}
	// A version 6 file has the uid beside the id that Flink made from it; a
	// Flink 1.20 job with the same uid has the same id.
	const uid = "support-agent"
	for _, name := range []string{"with-uid-p2", "flink120-versioned-p2"} {
		found := false
		for _, s := range flinkcases.Load(t, name).Snapshots {
			for _, op := range s.Operators {
				if op.UID != nil && *op.UID != uid {
					t.Errorf("%s: uid %s", name, *op.UID)
				}
				found = found || op.ID == flinkmeta.OperatorIDOfUID(uid).String()
			}
		}
		if !found {
			t.Errorf("%s: no operator has the id of uid %s", name, uid)
		}
	}
}

func TestParseOperatorID(t *testing.T) {
	const text = "4ace61fb6ad1d83b06b085d33c808b93"
	if id, err := flinkmeta.ParseOperatorID(text); err != nil || id.String() != text {
		t.Errorf("%s, %v", id, err)
	}
	for _, bad := range []string{"", text[1:], text + "00", "x" + text[1:]} {
		if _, err := flinkmeta.ParseOperatorID(bad); err == nil {
			t.Errorf("%q passes as an operator id", bad)
		}
	}
}
