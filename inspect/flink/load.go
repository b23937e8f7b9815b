package flink

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/flinkmeta"
	"github.com/recoverctl/recoverctl/internal/safetext"
	"golang.org/x/sync/errgroup"
)

const (
	// maxMetadata is the largest metadata file that is read.
	maxMetadata = 1 << 30
	// wholeMetadata is how large a metadata file is read as a whole. Of a larger
	// one no more is in memory than what is made of it.
	wholeMetadata = 4 << 20
	// bigMetadata is from where on only one metadata file is read at once.
	bigMetadata = 64 << 20
	// parallelLoads is how many recovery points are read at once.
	parallelLoads = 4
)

// loadAll reads the candidates and returns the points newest first, each with
// its error.
func (s *Store) loadAll(ctx context.Context, found []candidate, seen *progress[inspect.ListProgress]) ([]inspect.RecoveryPoint, []error) {
	type loaded struct {
		candidate
		point inspect.RecoveryPoint
		err   error
	}
	all := make([]loaded, len(found))
	var group errgroup.Group
	group.SetLimit(parallelLoads)
	for i, c := range found {
		group.Go(func() error {
			all[i].candidate = c
			all[i].point, all[i].err = s.load(ctx, c, asked{brief: true})
			seen.update(func(p *inspect.ListProgress) { p.Read++ })
			return nil
		})
	}
	_ = group.Wait() // the errors are in all
	when := func(l loaded) time.Time {
		if l.point.Taken.Time == nil {
			return l.changed // not complete
		}
		return *l.point.Taken.Time
	}
	newest := map[string]time.Time{}
	for _, l := range all {
		if t := when(l); t.After(newest[l.job()]) {
			newest[l.job()] = t
		}
	}
	id := func(l loaded) int64 { return max(l.point.CheckpointID, l.number()) }
	slices.SortStableFunc(all, func(a, b loaded) int {
		if a.job() != b.job() {
			if c := newest[b.job()].Compare(newest[a.job()]); c != 0 {
				return c
			}
			return strings.Compare(a.job(), b.job())
		}
		switch {
		case id(a) != id(b):
			if id(a) > id(b) {
				return -1
			}
			return 1
		case !when(a).Equal(when(b)):
			return when(b).Compare(when(a))
		default:
			return strings.Compare(a.uri, b.uri)
		}
	})
	points, errs := make([]inspect.RecoveryPoint, len(all)), make([]error, len(all))
	for i, l := range all {
		points[i], errs[i] = l.point, l.err
	}
	return points, errs
}

// asked is what a reading is to find out, and whom it tells how far it is.
type asked struct {
	question inspect.PointQuestion
	progress *progress[inspect.PointProgress]
	// brief is for one of many: keyed state in files is not read, and keys and
	// files are counted and not listed.
	brief bool
}

// load reads one snapshot. A damaged one is returned with its failing checks,
// beside a fault.
func (s *Store) load(ctx context.Context, c candidate, ask asked) (inspect.RecoveryPoint, error) {
	p := unread(c.uri, string(c.kind()))
	if c.system != nil && c.dir.scheme != schemeFile {
		p.Taken.Source = inspect.TimeFromObject
	}
	if !c.complete {
		check, err := s.incomplete(c)
		p.Checks = append(p.Checks, check)
		return p, err
	}
	if !c.entry.Modified.IsZero() {
		at := c.entry.Modified
		p.Taken.Time = &at
	}
	if c.entry.Size > bigMetadata {
		select {
		case s.big <- struct{}{}:
			defer func() { <-s.big }()
		case <-ctx.Done():
			return p, accessFault(ctx.Err(), c.meta, c.uri)
		}
	}
	if err := readable(c); err != nil {
		return damaged(p, c, err)
	}
	file := &metadataFile{ctx: ctx, from: c}
	md, err := file.decode()
	if err != nil {
		return damaged(p, c, err)
	}
	b := builder{store: s, from: c, file: file, md: md, point: p, asked: ask}
	defer ask.progress.end()
	if p, err = b.build(ctx); err != nil {
		return p, err
	}
	if err := file.unchanged(); err != nil {
		return damaged(unread(c.uri, string(c.kind())), c, err)
	}
	return p, nil
}

// damaged adds the check that a failed read stands for, where the file itself
// is at fault.
func damaged(p inspect.RecoveryPoint, c candidate, err error) (inspect.RecoveryPoint, error) {
	var wrong *flinkmeta.Error
	if errors.As(err, &wrong) {
		f := wrong.Fault()
		f.Message = c.meta.show()
		if f.Hint == "" {
			f.Hint = "use another recovery point, or copy this one again from its origin"
		}
		p.Checks = append(p.Checks, inspect.Check{ID: wrong.Check, Severity: inspect.SeverityError, Message: safetext.Of(f.Error()).String(), Hint: f.Hint})
		return p, f.WithRef(safetext.Of(c.uri).String())
	}
	f := fault.Of(err)
	if len(f.Refs) == 0 {
		f = f.WithRef(safetext.Of(c.uri).String())
	}
	if f.Kind == fault.Corrupt {
		p.Checks = append(p.Checks, inspect.Check{ID: flinkmeta.CheckParse, Severity: inspect.SeverityError, Message: f.Message, Hint: f.Hint})
	}
	return p, f
}
