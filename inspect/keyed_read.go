package inspect

import (
	"context"
	"errors"

	"github.com/recoverctl/recoverctl/internal/fault"
)

// maxIndexTries is how many recovery points are read to find one whose keys can
// be told.
const maxIndexTries = 5

// ReadPoint reads one recovery point, offline, with a question. watch may be nil.
func (i *Inspector) ReadPoint(ctx context.Context, uri string, q PointQuestion, watch func(PointProgress)) (RecoveryPoint, error) {
	if reader, ok := i.points.(PointReader); ok {
		return reader.ReadPoint(ctx, uri, q, watch)
	}
	if q.Keys || q.Index != nil {
		return RecoveryPoint{URI: uri}, fault.New(fault.Unsupported, "read recovery point", "this store of recovery points can't read keyed state")
	}
	return i.points.Point(ctx, uri)
}

// KeyIndex reads the keys that the newest recovery point at uris keeps, of those
// whose keyed state can be read: a canonical savepoint, or a checkpoint of the
// heap backend. point is its URI; with an empty one the index is empty, because
// there is none. all also reads keyed state that is large. The error says what
// could not be read on the way.
func (i *Inspector) KeyIndex(ctx context.Context, uris []string, all bool) (index *KeyIndex, point string, err error) {
	points, err := i.list(ctx, uris)
	index, point, readErr := i.indexOf(ctx, points, all)
	return index, point, errors.Join(err, readErr)
}

// indexOf is KeyIndex over points that are newest first.
func (i *Inspector) indexOf(ctx context.Context, points []RecoveryPoint, all bool) (*KeyIndex, string, error) {
	var errs []error
	tries := 0
	for _, p := range points {
		if p.Err != nil || !mayTellKeys(p) {
			continue
		}
		if tries++; tries > maxIndexTries || ctx.Err() != nil {
			break
		}
		index := NewKeyIndex()
		if _, err := i.ReadPoint(ctx, p.URI, PointQuestion{Keys: all, Index: index}, nil); err != nil {
			errs = append(errs, err)
		}
		if index.Len() > 0 {
			return index, p.URI, errors.Join(errs...)
		}
	}
	return NewKeyIndex(), "", errors.Join(errs...)
}

// mayTellKeys reports whether some operator's keys lie in a form that is decoded.
func mayTellKeys(p RecoveryPoint) bool {
	for _, o := range p.Operators {
		if o.Keyed != nil && (o.Keyed.Backend == BackendCanonical || o.Keyed.Backend == BackendHeap) {
			return true
		}
	}
	return false
}

// dictionary is the key dictionary of recovery points, nil where none of them
// tells a key. It is a help: what it lacks is shown by its digest.
func (i *Inspector) dictionary(ctx context.Context, points []RecoveryPoint) KeyDictionary {
	if _, ok := i.points.(PointReader); !ok {
		return nil
	}
	index, _, _ := i.indexOf(ctx, points, false) // a point that can't be read is told where points are
	if index.Len() == 0 {
		return nil
	}
	return index
}
