package arkflow

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/figures"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

// readObjects reads the log in a folder of objects.
func readObjects(ctx context.Context, place string, f folder, q Question, now time.Time) (WriteAheadLog, error) {
	o := &objectLog{folder: f, ask: q}
	if err := o.find(ctx); err != nil {
		return WriteAheadLog{}, err
	}
	if len(o.segments) == 0 && o.manifest == nil && o.manifestErr == nil {
		return WriteAheadLog{}, fault.New(fault.NotFound, opReadLog, "%s holds no write-ahead log: neither %s nor %s/", safetext.Of(place), logManifestName, segmentFolder).
			WithHint("give the folder PREFIX/NODE/STREAM of the stream; PREFIX is arkflow/wal where durability.backend.prefix does not say another")
	}
	l := newLog(place, ObjectStore)
	l.Node, l.Stream = identity(f.key())
	if o.unstable {
		l.problem(ProblemUnstable, inspect.SeverityError, nil, "Try again; if it stays, the store's listing lags behind: read a copy.",
			"the manifest knows newer segments than each of %d listings: a writer is at work, and no cursor is given", relists)
		return l, nil
	}
	l.Read = o.extent()
	if err := o.readSegments(ctx, l.Read); err != nil {
		return WriteAheadLog{}, err
	}
	if !slices.ContainsFunc(o.segments, func(s *segmentReading) bool { return s.State == SegmentUnread && s.failed == nil }) {
		l.Read = ReadAll // the window begins at the first segment
	}
	o.judge(&l, now)
	return l, nil
}

// identity is node and stream by a log's key, PREFIX/NODE/STREAM: what the
// manifest says is derived wrongly by the engine.
func identity(key string) (node, stream string) {
	parts := strings.Split(strings.Trim(key, "/"), "/")
	if len(parts) < 2 {
		return "", ""
	}
	return parts[len(parts)-2], parts[len(parts)-1]
}

// judge tells what the segments and the manifest say together.
func (o *objectLog) judge(l *WriteAheadLog, now time.Time) {
	l.Stable = true
	l.CursorRule = CursorRule{RuleUnknown, "engines of both generations write the same objects: take the cursor for a high-water mark. It is also written late, so that more may have been acknowledged than it says"}
	cursor := &o.cursor
	switch {
	case o.manifestErr != nil:
		cursor = nil
		l.problem(ProblemManifestInvalid, inspect.SeverityError, nil, "Restore the previous version of the object: a start of the stream fails on this one. The segments are whole or not as listed.",
			"%s can't be used: %s; the cursor is not known", logManifestName, safetext.Of(o.manifestErr.Error()))
	case o.manifest == nil:
		l.problem(ProblemManifestMissing, inspect.SeverityError, nil, "Restore the manifest before the stream starts, or accept that everything is sent again.",
			"%s is missing and segments are there: an engine takes the cursor for 0 and replays everything", logManifestName)
	default:
		l.Manifest = &ManifestFacts{Version: o.manifest.Version, MaxSealed: o.manifest.MaxSealed, Sealed: len(o.manifest.Sealed), Modified: o.manifestAt.modified}
		if o.manifest.Active != nil {
			l.Manifest.Active = *o.manifest.Active
		}
	}
	o.judgeIdentity(l)
	all, window := o.gather(l)
	l.place(all, cursor, l.Bytes.Payloads != nil, o.unreadSpans())
	o.judgeOrder(l)
	o.judgeSegments(l)
	if m := o.manifest; m != nil && m.MaxSealed > all.last && m.MaxSealed > o.cursor {
		from := max(all.last, o.cursor) + 1
		l.problem(ProblemSealedPastTail, inspect.SeverityError, &from,
			"Restore the object's version, or accept the loss of these. The engine uses their sequences again.",
			"the manifest knows entries up to %s, and %s can be read: %s lost", sequence(m.MaxSealed), upTo(all.last), spanText(Span{from, m.MaxSealed}))
	}
	if cursor != nil {
		l.windowFacts(window, now)
		o.objectAge(l, window, now)
	}
	if l.Read == ReadWindow {
		l.unread(o)
	}
	l.finish()
}

// unreadSpans are the sequences that segments may hold which are there and could
// not be read: those between their neighbours.
func (o *objectLog) unreadSpans() []Span {
	var spans []Span
	for i, s := range o.segments {
		if s.failed == nil {
			continue
		}
		span := Span{0, math.MaxUint64}
		for _, b := range o.segments[:i] {
			if b.wasRead() && b.Last != nil {
				span.From = *b.Last + 1
			}
		}
		for _, b := range slices.Backward(o.segments[i+1:]) {
			if b.wasRead() && b.First != nil {
				span.To = *b.First - 1
			}
		}
		spans = append(spans, span)
	}
	return spans
}

func upTo(n uint64) string {
	if n == 0 {
		return "none"
	}
	return "those up to " + sequence(n)
}

// unread says which segments were not looked at.
func (l *WriteAheadLog) unread(o *objectLog) {
	n := 0
	for _, s := range o.segments {
		if s.State == SegmentUnread && s.failed == nil {
			n++
		}
	}
	if n > 0 {
		l.Unchecked = append(l.Unchecked, fmt.Sprintf("%s of %s segments lie behind the cursor and were not read: damage in them, and the number of all entries, are not known",
			figures.Group(int64(n)), figures.Group(int64(len(o.segments)))))
	}
}

func (o *objectLog) judgeIdentity(l *WriteAheadLog) {
	if strings.ContainsAny(l.Node+l.Stream, "${}") {
		l.problem(ProblemPlaceholder, inspect.SeverityWarning, nil,
			"Correct the configuration; the engine replaces no variables. What is pending lies under this key, not under the one that was meant.",
			"node %q and stream %q look like a placeholder that nobody replaced", safetext.Of(l.Node).String(), safetext.Of(l.Stream).String())
	}
	for i, s := range o.strange {
		if i == problemWords {
			break
		}
		l.problem(ProblemSegmentName, inspect.SeverityInfo, nil, "Nothing: engines read no object of such a name.", "%s is among the segments and is none by its name", safetext.Of(s.base()))
	}
}

// gather puts together what the segments hold.
func (o *objectLog) gather(l *WriteAheadLog) (*runs, *windowReading) {
	all, window := &runs{}, &windowReading{after: o.cursor}
	var payloads int64
	complete := l.Read == ReadAll
	for _, s := range o.segments {
		l.Bytes.Stored += s.Bytes
		l.Segments = append(l.Segments, s.Segment)
		if !s.wasRead() {
			complete = complete && s.State == SegmentMissing
			continue
		}
		payloads += s.payloads
		var twice []Span
		for _, span := range s.runs.spans {
			if all.addSpan(span) {
				continue
			}
			for i := range span.Len() { // some of them are new
				if n := span.From + i; !all.add(n) {
					twice = append(twice, Span{n, n})
				}
			}
		}
		if len(twice) > 0 {
			from := twice[0].From
			s.overlaps = true
			l.problem(ProblemOverlap, inspect.SeverityError, &from,
				"Find out whether two processes write with this node and stream id, and stop one. Never merge the segments by hand.",
				"%s from sequence %s on in %s %s in an earlier segment too: two writers, or sequences that were used again after a restart",
				plural(uint64(len(twice)), "entry", "entries"), sequence(from), s.Name, areN(uint64(len(twice))))
		}
		window.bytes += s.window.bytes
		window.decoded += s.window.decoded
		window.broken = append(window.broken, s.window.broken...)
		if s.window.first != 0 && (window.first == 0 || s.window.first < window.first) {
			window.first, window.payload = s.window.first, s.window.payload
		}
		l.Listed = append(l.Listed, s.entries...)
	}
	slices.SortStableFunc(l.Listed, func(a, b Entry) int { return cmp.Compare(a.Sequence, b.Sequence) })
	if complete {
		l.Bytes.Payloads = &payloads
	}
	return all, window
}

// judgeOrder asks whether sequences rise within and from one segment to the next, and
// whether the segments were stored in the order of their numbers.
func (o *objectLog) judgeOrder(l *WriteAheadLog) {
	var above, told *segmentReading // with the highest sequence so far; of which that was told
	for _, s := range o.segments {
		if above != nil && above != told && above.end.disorder == nil && s.First != nil && *s.First <= *above.Last && !s.overlaps {
			told = above
			n := *above.Last
			l.problem(ProblemOutOfOrder, inspect.SeverityError, &n,
				"Don't trust the sequences of the two segments: their records' heads have no checksum. Restore the objects' versions.",
				"%s begins at sequence %s, and %s, which was written before it, holds %s: a record's head is damaged, and an engine replays it under the wrong sequence, or two writers share the log",
				s.Name, sequence(*s.First), above.Name, sequence(n))
		}
		if s.Last != nil && (above == nil || *s.Last > *above.Last) {
			above = s
		}
		if d := s.end.disorder; d != nil {
			n := *d
			l.problem(ProblemOutOfOrder, inspect.SeverityError, &n,
				"Don't trust the sequences of this segment: its records' heads have no checksum. Restore the object's version.",
				"in %s, sequence %s follows on %s: a record's head is damaged, and an engine replays it under the wrong sequence", s.Name, sequence(n), sequence(s.end.after))
		}
		if s.twice > 0 {
			l.problem(ProblemOverlap, inspect.SeverityError, s.First, "Restore the object's version.", "%s holds %s twice", s.Name, plural(uint64(s.twice), "sequence", "sequences"))
		}
	}
	if _, stored := o.folder.(bucketFolder); !stored {
		return // a copy has the times of the copying
	}
	const slack = 2 * time.Second // stores keep whole seconds
	var newest *segmentReading
	for _, s := range o.segments {
		if !s.listed {
			continue
		}
		if newest != nil && newest.Modified.Sub(s.Modified) > slack {
			l.problem(ProblemTwoWriters, inspect.SeverityWarning, s.First,
				"Find out whether two processes write with this node and stream id: they overwrite each other's segments and leave no gap. Object versions show it. A copied bucket looks the same.",
				"%s was stored %s before %s, which has a lower number", s.Name, newest.Modified.Sub(s.Modified), newest.Name)
			return
		}
		if newest == nil || s.Modified.After(newest.Modified) {
			newest = s
		}
	}
}

// judgeSegments tells of segments that are missing, damaged or not known to the
// manifest.
func (o *objectLog) judgeSegments(l *WriteAheadLog) {
	for i, s := range o.segments {
		newest := i == len(o.segments)-1
		switch {
		case s.State == SegmentMissing:
			o.judgeMissing(l, i)
		case s.failed != nil:
			l.problem(ProblemNotRead, inspect.SeverityError, nil, "Look at the store, then read the log again: what the segment holds is not known.", "%s could not be read: %s", s.Name, safetext.Error(s.failed))
		case s.end.packed != "":
			l.problem(ProblemSegmentCompacted, inspect.SeverityError, nil, "Find out what wrote it. Engines read plain records only, and would replay nothing of it.",
				"%s: %s; it would hold %s", s.Name, safetext.Of(s.end.why), plural(uint64(len(s.end.behind)), "entry", "entries"))
			l.corrupt(Corrupt{Source: s.Name, Message: s.end.why})
		case s.State == SegmentTorn && newest:
			l.problem(ProblemSegmentTorn, inspect.SeverityWarning, s.end.named,
				"A start is safe: the engine drops the end without a word. If a record was acknowledged to its source, read it there again.",
				"%s, the newest segment, is cut off at byte %s: %s; %s bytes are dropped", s.Name, figures.Group(s.end.at), s.end.why, figures.Group(s.Bytes-s.end.at))
			l.corrupt(s.corrupt())
		case s.State == SegmentTorn || s.State == SegmentCorrupt:
			behind := ""
			if n := len(s.end.behind); n > 0 {
				behind = fmt.Sprintf("; %s behind it, from sequence %s on, can be read and %s ignored too", plural(uint64(n), "record", "records"), sequence(s.end.behind[0]), areN(uint64(n)))
			}
			l.problem(ProblemSegmentCorrupt, inspect.SeverityError, s.end.named,
				"Stop the stream, copy all objects of the log, and restore this one's version: the engine ignores the rest of it without a word.",
				"%s is damaged at byte %s: %s%s", s.Name, figures.Group(s.end.at), s.end.why, behind)
			l.corrupt(s.corrupt())
		}
		if s.listed && !s.InManifest && o.manifest != nil {
			l.problem(ProblemSegmentOrphan, inspect.SeverityInfo, s.First, "Nothing: it was stored before a crash, and the engine replays it all the same.", "%s is not in the manifest", s.Name)
		}
	}
}

func (s *segmentReading) corrupt() Corrupt {
	c := Corrupt{Source: s.Name, Offset: s.end.at, Message: s.end.why, From: s.end.named, To: s.end.named}
	if n := len(s.end.behind); n > 0 && s.end.named != nil && s.end.behind[n-1] >= *s.end.named {
		c.To = &s.end.behind[n-1]
	}
	return c
}

// judgeMissing asks what a missing segment may have held: what lies between its
// neighbours, of which only that above the cursor matters.
func (o *objectLog) judgeMissing(l *WriteAheadLog, at int) {
	s := o.segments[at]
	var before, after *segmentReading
	for i := at - 1; i >= 0 && before == nil; i-- {
		if o.segments[i].wasRead() && o.segments[i].Last != nil {
			before = o.segments[i]
		}
	}
	for i := at + 1; i < len(o.segments) && after == nil; i++ {
		if o.segments[i].wasRead() && o.segments[i].First != nil {
			after = o.segments[i]
		}
	}
	switch {
	case after != nil && *after.First <= o.cursor+1:
		l.problem(ProblemSegmentMissing, inspect.SeverityInfo, nil, "Nothing: all that it held was acknowledged.", "%s is in the manifest and not in the store; what it held lies at or below the cursor", s.Name)
	case before != nil && after != nil && *after.First == *before.Last+1:
		l.problem(ProblemSegmentMissing, inspect.SeverityInfo, nil, "Nothing: the segments beside it border on each other.", "%s is in the manifest and not in the store; nothing is missing between its neighbours", s.Name)
	default:
		from := o.cursor + 1
		if before != nil && *before.Last >= from {
			from = *before.Last + 1
		}
		l.problem(ProblemSegmentMissing, inspect.SeverityError, &from,
			"Delete nothing. Restore the object, or read its records again from the source: the engine skips it without a word.",
			"%s is in the manifest and not in the store, and held entries from sequence %s on that were not acknowledged", s.Name, sequence(from))
	}
}

// objectAge is the age of the window's oldest entry by its segment, where no column
// of it says.
func (o *objectLog) objectAge(l *WriteAheadLog, w *windowReading, now time.Time) {
	if _, stored := o.folder.(bucketFolder); !stored || l.Oldest != nil || l.Window == nil || w.first == 0 {
		return
	}
	for _, s := range o.segments {
		if s.window.first == w.first {
			l.Oldest = &Oldest{Sequence: w.first, Time: s.Modified, AgeMs: now.Sub(s.Modified).Milliseconds(), Source: "object"}
			return
		}
	}
}
