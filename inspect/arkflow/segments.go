package arkflow

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io/fs"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/figures"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

const (
	// maxSegments bounds the segments of a log.
	maxSegments = 1_000_000
	// wholeSegments and wholeBytes are up to which size a log is read whole where
	// nobody says how much is to be read.
	wholeSegments = 256
	wholeBytes    = 64 << 20
	// atOnce is how many segments are read at a time, and bigSegment from which size
	// on fewer are.
	atOnce     = 32
	bigSegment = 16 << 20
	// relists is how often segments are listed again because the manifest knows newer
	// ones.
	relists = 3
)

// objectLog is a log in a folder of objects that is being read.
type objectLog struct {
	folder folder
	ask    Question

	manifest    *manifest
	manifestAt  object
	manifestErr error // it is there and can't be used
	segments    []*segmentReading
	strange     []object // in the folder of the segments, and no segments
	unstable    bool     // manifest and listing never agreed

	cursor uint64
	read   int // segments so far
	mu     sync.Mutex
}

// segmentReading is a segment and what was read of it.
type segmentReading struct {
	Segment
	object   object
	listed   bool
	mayBeLZ4 bool // the manifest says so of it

	end      segmentEnding
	runs     runs // of its sequences
	twice    int  // records whose sequence stands in it twice
	overlaps bool // earlier segments hold sequences of it too
	payloads int64
	window   windowReading
	entries  []Entry
	failed   error // it could not be read
}

// find reads the listing and the manifest. A segment is written before the
// manifest knows it, so that the listing comes first: what only the manifest knows
// is newer than the listing, or gone.
func (o *objectLog) find(ctx context.Context) error {
	var known string // to the manifest, at the try before
	for try := range relists {
		objects, _, more, err := o.folder.list(ctx, segmentFolder, maxSegments)
		switch {
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return err
		case more:
			return fault.New(fault.Unsupported, opReadLog, "%s has more than %s segments", safetext.Of(o.folder.path()), figures.Group(maxSegments)).
				WithHint("so many are not read at once")
		}
		if err := o.findManifest(ctx); err != nil {
			return err
		}
		o.unite(objects)
		newest := o.newerThanListed()
		if newest == "" || newest == known {
			return nil // where it is known twice and never listed, it is gone
		}
		known = newest
		o.unstable = try == relists-1
		if err := pause(ctx, pauseAfter(try)); err != nil {
			return err
		}
	}
	return nil
}

// findManifest reads the manifest, where there is one.
func (o *objectLog) findManifest(ctx context.Context) error {
	o.manifest, o.manifestErr = nil, nil
	at, err := o.folder.stat(ctx, logManifestName)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	}
	o.manifestAt = at
	if at.size > maxManifest {
		o.manifestErr = errors.New("it has " + figures.Bytes(at.size) + ", more than any engine writes")
		return nil
	}
	data, err := o.folder.read(ctx, at, 0, at.size)
	if err != nil {
		return err
	}
	m, err := parseManifest(data)
	if err != nil {
		o.manifestErr = err
		return nil
	}
	o.manifest, o.cursor = &m, *m.Cursor
	return nil
}

// unite puts together what is listed and what the manifest knows.
func (o *objectLog) unite(objects []object) {
	o.segments, o.strange = nil, nil
	byName := map[string]*segmentReading{}
	for _, at := range objects {
		index, ok := segmentIndex(at.base())
		if !ok {
			o.strange = append(o.strange, at)
			continue
		}
		s := &segmentReading{object: at, listed: true}
		s.Segment = Segment{Name: at.base(), Index: index, Bytes: at.size, Modified: at.modified, State: SegmentUnread}
		o.segments, byName[s.Name] = append(o.segments, s), s
	}
	if o.manifest != nil {
		for _, name := range o.manifest.names() {
			index, ok := segmentIndex(name)
			if s := byName[name]; s != nil {
				s.InManifest = true
			} else if ok {
				s := &segmentReading{}
				s.Segment = Segment{Name: name, Index: index, InManifest: true, State: SegmentMissing}
				o.segments, byName[name] = append(o.segments, s), s
			}
		}
	}
	if m := o.manifest; m != nil && m.Active != nil && m.Packing != nil && *m.Packing == packedLZ4 {
		if s := byName[*m.Active]; s != nil {
			s.mayBeLZ4 = true
		}
	}
	slices.SortStableFunc(o.segments, func(a, b *segmentReading) int { return cmp.Compare(a.Index, b.Index) })
}

// newerThanListed is the newest segment, where only the manifest knows it: it was
// written since, or is gone.
func (o *objectLog) newerThanListed() string {
	if n := len(o.segments); n > 0 && !o.segments[n-1].listed {
		return o.segments[n-1].Name
	}
	return ""
}

// extent is how much of the segments is read.
func (o *objectLog) extent() Extent {
	switch {
	case o.ask.Entries:
		return ReadAll
	case o.ask.Extent != ReadAsNeeded && o.ask.Extent != "":
		return o.ask.Extent
	}
	var size int64
	for _, s := range o.segments {
		size += s.Bytes
	}
	if len(o.segments) <= wholeSegments && size <= wholeBytes {
		return ReadAll
	}
	return ReadWindow
}

// readSegments reads the segments that the extent takes: all, or the newest ones
// back to the one that holds the first sequence after the cursor.
func (o *objectLog) readSegments(ctx context.Context, extent Extent) error {
	cursor := o.cursor
	if o.manifest == nil && o.manifestErr != nil {
		cursor = math.MaxUint64 // not known: the newest segment tells the tail
	}
	for hi := len(o.segments); hi > 0; {
		lo := 0
		if extent == ReadWindow {
			lo = hi - o.more(hi, cursor)
		}
		if err := o.readSome(ctx, o.segments[lo:hi]); err != nil {
			return err
		}
		hi = lo
		if extent != ReadWindow {
			continue
		}
		for _, s := range o.segments[lo:] {
			if s.State == SegmentWhole && len(s.runs.spans) > 0 && (cursor == math.MaxUint64 || s.runs.first <= cursor+1) {
				return nil
			}
		}
	}
	return nil
}

// more is how many of the segments before an index are read next: as many as hold
// what lies between the cursor and those that were read, where they hold as much as
// these on average. The fewer of them there were, the fewer are read: the newest
// segment alone may be a small one.
func (o *objectLog) more(hi int, cursor uint64) int {
	var first, entries, whole uint64
	for _, s := range o.segments[hi:] {
		if s.State != SegmentWhole || len(s.runs.spans) == 0 {
			continue
		}
		whole++
		entries += s.runs.count
		if first == 0 || s.runs.first < first {
			first = s.runs.first
		}
	}
	const least, growth = 8, 4
	read := len(o.segments) - hi
	most := min(hi, max(least, growth*read))
	switch {
	case read == 0, cursor == math.MaxUint64:
		return 1 // often one is enough
	case first == 0 || first <= cursor+1:
		return most // nothing that was read tells
	}
	left, each := first-cursor-1, entries/whole
	return int(min(uint64(most), (left-1)/each+1))
}

// readSome reads segments, many at a time: by as many goroutines, each of which reads
// one after another, since the stack that a request needs is large.
func (o *objectLog) readSome(ctx context.Context, segments []*segmentReading) error {
	group, groupCtx := errgroup.WithContext(ctx)
	readers := min(atOnce, len(segments))
	for _, s := range segments {
		if s.Bytes > bigSegment {
			readers = min(readers, 2)
		}
	}
	var next atomic.Int64
	for range readers {
		group.Go(func() error {
			for at := next.Add(1) - 1; at < int64(len(segments)); at = next.Add(1) - 1 {
				if err := o.readNext(groupCtx, segments[at]); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return group.Wait()
}

func (o *objectLog) readNext(ctx context.Context, s *segmentReading) error {
	if !s.listed {
		return nil
	}
	err := o.readOne(ctx, s)
	o.mu.Lock()
	defer o.mu.Unlock()
	o.read++
	if o.ask.Progress != nil {
		o.ask.Progress(Progress{Segments: o.read, Of: len(o.segments)})
	}
	return err
}

// readOne reads a segment. What is wrong with the segment alone is kept with it.
func (o *objectLog) readOne(ctx context.Context, s *segmentReading) error {
	if s.Bytes > maxSegment {
		s.failed = errors.New("it has " + figures.Bytes(s.Bytes) + ", and at most " + figures.Bytes(maxSegment) + " are read")
		return nil
	}
	data, err := o.folder.read(ctx, s.object, 0, s.Bytes)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil && (errors.Is(err, fs.ErrNotExist) || fault.KindOf(err) == fault.Denied || fault.KindOf(err) == fault.Unreachable):
		s.failed = err
		return nil
	case err != nil:
		return err
	}
	s.take(data, o.cursor, o.ask.Entries)
	return nil
}

// take reads the records of a segment.
func (s *segmentReading) take(data []byte, cursor uint64, list bool) {
	s.window.after = cursor
	records, packed, err := unpackSegment(data, s.mayBeLZ4)
	if packed != "" {
		s.State, s.end = SegmentCorrupt, segmentEnding{state: SegmentCorrupt, packed: packed, why: "it is packed by " + packed + ", and the engine reads plain records only"}
		if err != nil {
			s.end.why = err.Error()
			return
		}
		// What it would hold is worth knowing, but no engine replays it.
		readSegment(records, func(n uint64, _ []byte) { s.end.behind = append(s.end.behind, n) })
		return
	}
	s.end = readSegment(records, func(n uint64, payload []byte) {
		if !s.runs.add(n) {
			s.twice++
		}
		s.payloads += int64(len(payload))
		s.window.add(n, payload)
		if list {
			s.entries = append(s.entries, EntryOf(n, payload))
		}
	})
	s.State = s.end.state
	count := s.runs.count
	s.Entries = &count
	if count > 0 {
		first, last := s.runs.first, s.runs.last
		s.First, s.Last = &first, &last
	}
	// The oldest entry's payload is needed of one segment only.
	s.window.payload = bytes.Clone(s.window.payload)
}

// wasRead reports whether the segment's records are known, as far as they can be.
func (s *segmentReading) wasRead() bool {
	return s.State == SegmentWhole || s.State == SegmentTorn || s.State == SegmentCorrupt
}
