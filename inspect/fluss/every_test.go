package fluss

import (
	"slices"
	"testing"

	"github.com/recoverctl/recoverctl/internal/flussrpc"
)

// A bucket that no server places is there all the same: a restore waits for it.
func TestEveryBucketOfATableIsNamed(t *testing.T) {
	placed := func(ids ...int32) (out []flussrpc.Bucket) {
		for _, id := range ids {
			out = append(out, flussrpc.Bucket{ID: id, Leader: id + 10})
		}
		return out
	}
	for name, c := range map[string]struct {
		places []flussrpc.Bucket
		want   []int32 // leaders
	}{
		"all":               {placed(0, 1, 2), []int32{10, 11, 12}},
		"one is not placed": {placed(0, 2), []int32{10, flussrpc.NoLeader, 12}},
		"none is":           {nil, []int32{flussrpc.NoLeader, flussrpc.NoLeader, flussrpc.NoLeader}},
		"one too many":      {placed(0, 1, 2, 3, -1), []int32{10, 11, 12}},
	} {
		t.Run(name, func(t *testing.T) {
			var ids, leaders []int32
			for _, b := range everyBucket(c.places, 3) {
				ids, leaders = append(ids, b.ID), append(leaders, b.Leader)
			}
			if !slices.Equal(ids, []int32{0, 1, 2}) || !slices.Equal(leaders, c.want) {
				t.Errorf("buckets %v, led by %v", ids, leaders)
			}
		})
	}
}
