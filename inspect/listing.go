package inspect

import (
	"context"
	"sync"
)

// ListProgress is how far a search for recovery points has come.
type ListProgress struct {
	Folders int64 // looked into
	Found   int64 // recovery points, complete or not
	Read    int64 // of those
}

// PointLister is a PointStore that tells how far a list of recovery points is.
type PointLister interface {
	// ListPoints is Points of PointStore. watch may be nil; it is called at most
	// ten times a second, by several goroutines in turn.
	ListPoints(ctx context.Context, uri string, watch func(ListProgress)) ([]RecoveryPoint, error)
}

// WatchingLists returns an inspector that tells how far the lists of recovery
// points are that it reads, all places of one list together. watch may be nil.
func (i *Inspector) WatchingLists(watch func(ListProgress)) *Inspector {
	watching := *i
	watching.lists = watch
	return &watching
}

// listed reads the recovery points of one place of a list.
func (i *Inspector) listed(ctx context.Context, place string, watch func(ListProgress)) ([]RecoveryPoint, error) {
	if lister, ok := i.points.(PointLister); ok && watch != nil {
		return lister.ListPoints(ctx, place, watch)
	}
	return i.points.Points(ctx, place)
}

// together makes a watcher for each of so many places, that tell their sum to
// one.
func together(places int, tell func(ListProgress)) func(place int) func(ListProgress) {
	if tell == nil {
		return func(int) func(ListProgress) { return nil }
	}
	var mu sync.Mutex
	parts := make([]ListProgress, places)
	return func(place int) func(ListProgress) {
		return func(p ListProgress) {
			mu.Lock()
			defer mu.Unlock()
			parts[place] = p
			var all ListProgress
			for _, part := range parts {
				all.Folders += part.Folders
				all.Found += part.Found
				all.Read += part.Read
			}
			tell(all)
		}
	}
}
