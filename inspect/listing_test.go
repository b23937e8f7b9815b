package inspect_test

import (
	"context"
	"slices"
	"testing"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/clock"
	"github.com/recoverctl/recoverctl/internal/testkit/stores"
)

// lister is a store of recovery points that tells how many each place has.
type lister struct{ inspect.PointStore }

func (l lister) ListPoints(ctx context.Context, place string, watch func(inspect.ListProgress)) ([]inspect.RecoveryPoint, error) {
	points, err := l.Points(ctx, place)
	for n := range points {
		watch(inspect.ListProgress{Folders: 1, Found: int64(n + 1)})
	}
	return points, err
}

// What is found in several places is told as one number.
func TestListsOfSeveralPlacesAreToldTogether(t *testing.T) {
	store := lister{stores.Points{Places: map[string][]inspect.RecoveryPoint{
		"a": {{URI: "a/chk-1"}, {URI: "a/chk-2"}}, "b": {{URI: "b/chk-1"}}, "c": nil,
	}}}
	var told []int64
	in := inspect.New(store, nil, clock.System{}).WatchingLists(func(p inspect.ListProgress) { told = append(told, p.Found) })
	list, err := in.Points(t.Context(), inspect.Job{RecoveryPoints: []string{"a", "b", "c"}}, "")
	if err != nil || len(list.Points) != 3 || !slices.Equal(told, []int64{1, 2, 3}) {
		t.Errorf("%d points, told %d, error %v", len(list.Points), told, err)
	}
	if list, err := in.WatchingLists(nil).Points(t.Context(), inspect.Job{RecoveryPoints: []string{"a"}}, ""); err != nil || len(list.Points) != 2 || len(told) != 3 {
		t.Errorf("nobody watches: %d points, told %d, error %v", len(list.Points), told, err)
	}
}
