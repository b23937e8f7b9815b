package fluss_test

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/flussrpc"
	"github.com/recoverctl/recoverctl/internal/testkit/flusstest"
)

// Who does not tell the offsets and who does not tell the servers are asked side by
// side, and each refusal is told.
func TestEveryRefusalBesideBucketsIsTold(t *testing.T) {
	const buckets, asked = 8, 2 // offsets: the start of each log and its end
	c := started(t, flusstest.Options{})
	table(t, c, buckets)
	var mu sync.Mutex
	placed := false
	c.On(func(call flusstest.Call) flusstest.Reaction {
		mu.Lock()
		defer mu.Unlock()
		no := flusstest.Reaction{Refuse: &flussrpc.Error{Code: flussrpc.Authorization, Message: "no"}}
		switch {
		case call.API == flussrpc.APIListOffsets:
			return no
		case call.API == flussrpc.APIGetMetadata && placed:
			return no // to who is there, and not to where the buckets are
		case call.API == flussrpc.APIGetMetadata:
			placed = true
		}
		return flusstest.Reaction{}
	})
	for range 20 {
		mu.Lock()
		placed = false
		mu.Unlock()
		got, faults, err := storeOf(t, c, nil).Buckets(t.Context(), path, flussrpc.NoPartition, "", nil)
		if err != nil || len(got.Buckets) != buckets {
			t.Fatal(got, err)
		}
		for _, err := range faults {
			if fault.KindOf(err) != fault.Denied {
				t.Error(err)
			}
		}
		if len(faults) != buckets*asked+1 || !strings.Contains(errors.Join(faults...).Error(), "coordinator "+c.Coordinator()) {
			t.Fatalf("%d faults", len(faults))
		}
		for _, b := range got.Buckets {
			if b.Problem == "" || b.Earliest != nil || b.Latest != nil {
				t.Errorf("%+v", b)
			}
		}
	}
}
