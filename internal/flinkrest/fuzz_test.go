package flinkrest_test

import (
	"encoding/json"
	"testing"

	"github.com/recoverctl/recoverctl/internal/flinkrest"
)

// A bounded list holds the first entries of what a plain list holds, and refuses
// what a plain list refuses.
func FuzzCheckpoints(f *testing.F) {
	for _, version := range versions {
		for _, scenario := range []string{"running", "failed", "restored"} {
			data, err := readFile(version, scenario+"/checkpoints.json")
			if err != nil {
				f.Fatal(err)
			}
			f.Add(data)
		}
	}
	f.Add([]byte(`{"history":null}`))
	f.Add([]byte(`{"history":{"id":1}}`))
	f.Add([]byte(`{"history":[[1,2],{"id":3}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var plain struct {
			History []flinkrest.Checkpoint `json:"history"`
		}
		var bounded struct {
			History flinkrest.Bounded[flinkrest.Checkpoint] `json:"history"`
		}
		plainErr, boundedErr := json.Unmarshal(data, &plain), json.Unmarshal(data, &bounded)
		switch {
		case (plainErr == nil) != (boundedErr == nil):
			if len(plain.History) <= flinkrest.MaxItems {
				t.Fatalf("a plain list says %v, a bounded one %v", plainErr, boundedErr)
			}
		case plainErr != nil:
			return
		}
		if got := bounded.History; got.Total != len(plain.History) || len(got.Items) != min(got.Total, flinkrest.MaxItems) {
			t.Fatalf("%d entries, total %d, of %d", len(got.Items), got.Total, len(plain.History))
		}
		for i, item := range bounded.History.Items {
			if item != plain.History[i] {
				t.Fatalf("entry %d: %+v, want %+v", i, item, plain.History[i])
			}
		}
	})
}
