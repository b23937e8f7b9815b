package main

import (
	"context"
	"sync"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/inspect/flink"
	"github.com/recoverctl/recoverctl/internal/clock"
	"github.com/recoverctl/recoverctl/internal/fault"
)

// places is the store of recovery points that remembers how each place was when
// it was listed last, for screens that must not wait.
type places struct {
	*flink.Store
	clock clock.Clock

	mu    sync.Mutex
	links map[string]*link // by the place as it is configured
}

// link is what is known of a place.
func (p *places) link(place string) *link {
	p.mu.Lock()
	defer p.mu.Unlock()
	l, ok := p.links[place]
	if !ok {
		if p.links == nil {
			p.links = map[string]*link{}
		}
		l = &link{clock: p.clock}
		p.links[place] = l
	}
	return l
}

// Points implements inspect.PointStore.
func (p *places) Points(ctx context.Context, place string) ([]inspect.RecoveryPoint, error) {
	return p.ListPoints(ctx, place, nil)
}

// ListPoints implements inspect.PointLister.
func (p *places) ListPoints(ctx context.Context, place string, watch func(inspect.ListProgress)) ([]inspect.RecoveryPoint, error) {
	l := p.link(place)
	before := l.now()
	l.trying()
	points, err := p.Store.ListPoints(ctx, place, func(at inspect.ListProgress) {
		l.found(at.Found)
		if watch != nil {
			watch(at)
		}
	})
	switch {
	case err == nil:
		l.up()
	case fault.KindOf(err) == fault.Cancelled || ctx.Err() != nil:
		l.back(before)
	case len(points) > 0:
		l.partly(err)
	default:
		l.failed(err)
	}
	return points, err
}
