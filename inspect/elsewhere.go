package inspect

import (
	"context"
	"errors"
	"slices"
	"sync"
)

// Elsewhere judges one recovery point that may lie in none of the job's places,
// as the overview judges those that do. The error says what could not be read;
// the summary is empty only where nothing could be said.
func (i *Inspector) Elsewhere(ctx context.Context, job Job, uri string) (PointSummary, error) {
	var (
		wg     sync.WaitGroup
		point  RecoveryPoint
		v      RestoreValidation
		faults []error
		err    error
	)
	wg.Go(func() { v, faults, err = i.validatePoint(ctx, job, uri, false) })
	wg.Go(func() { point, _ = i.points.Point(ctx, uri) }) // its error is among the faults of validatePoint, which reads it too
	wg.Wait()
	if err != nil {
		return PointSummary{}, err
	}
	if point.MetadataVersion == 0 {
		point.CheckpointID = -1
	}
	return summaryOf(job, uri, point, v), errors.Join(faults...)
}

// isPinned reports whether the profile says that something depends on a point,
// however it spells its address.
func isPinned(job Job, uri string) bool {
	return slices.ContainsFunc(job.Pinned, func(pinned string) bool { return SamePoint(pinned, uri) })
}

// summaryOf is what an overview tells of a point with this validation.
func summaryOf(job Job, uri string, point RecoveryPoint, v RestoreValidation) PointSummary {
	s := PointSummary{
		URI: uri, Kind: point.Kind, CheckpointID: point.CheckpointID, Taken: point.Taken,
		Verdict: v.Verdict, Offsets: point.Merged.Offsets, Unchecked: v.Unchecked,
		Pinned: isPinned(job, uri), Severity: point.WorstCheck(), Validation: v,
	}
	if s.Offsets == nil {
		s.Offsets = Offsets{}
	}
	if len(v.Reasons) > 0 {
		s.Reason, s.Message = &v.Reasons[0].Code, v.Reasons[0].Message
	}
	if v.Verdict == Accepted {
		for _, w := range v.Window {
			s.Span += max(0, w.To-w.From)
		}
	}
	return s
}
