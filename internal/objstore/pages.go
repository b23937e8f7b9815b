package objstore

import (
	"container/list"
	"context"
	"sync"
)

const (
	pageBytes = 32 << 10 // around a small read
	pageCount = 256      // kept: 8 MiB
)

// page is a place in one version of an object.
type page struct {
	bucket, key, etag string
	number            int64
}

// pages keeps what small reads fetched, the least recently used go first.
type pages struct {
	mu    sync.Mutex
	order *list.List // of kept; the newest first
	byKey map[page]*list.Element
}

type kept struct {
	page
	data []byte
}

func newPages() *pages { return &pages{order: list.New(), byKey: map[page]*list.Element{}} }

func (p *pages) get(at page) ([]byte, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	e, ok := p.byKey[at]
	if !ok {
		return nil, false
	}
	p.order.MoveToFront(e)
	k, ok := e.Value.(kept)
	return k.data, ok
}

func (p *pages) put(at page, data []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if e, ok := p.byKey[at]; ok {
		p.order.MoveToFront(e)
		return
	}
	p.byKey[at] = p.order.PushFront(kept{at, data})
	if p.order.Len() > pageCount {
		oldest := p.order.Back()
		if k, ok := oldest.Value.(kept); ok {
			delete(p.byKey, k.page)
		}
		p.order.Remove(oldest)
	}
}

// readPages reads through the pages that hold a range.
func (c *Client) readPages(ctx context.Context, o Object, offset, size int64) ([]byte, error) {
	out := make([]byte, 0, size)
	for n := offset / pageBytes; n*pageBytes < offset+size; n++ {
		start := n * pageBytes
		at := page{o.Bucket, o.Key, o.ETag, n}
		data, ok := c.pages.get(at)
		if !ok {
			data = make([]byte, min(pageBytes, o.Size-start))
			if err := c.fetch(ctx, o, start, data); err != nil {
				return nil, err
			}
			c.pages.put(at, data)
		}
		out = append(out, data[max(offset-start, 0):min(offset+size-start, int64(len(data)))]...)
	}
	return out, nil
}
