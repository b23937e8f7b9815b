package arkflow

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"slices"

	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/redbfile"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

// EntryPayload is an entry with its payload.
type EntryPayload struct {
	Sequence uint64
	Payload  []byte
	Source   string // the segment that it lies in; empty: the file
}

// EntryList is a stretch of a log.
type EntryList struct {
	Entries []EntryPayload
	More    bool // there are others behind them
}

// maxStretch bounds the payloads of one stretch, in bytes. One entry may be
// larger.
const maxStretch = 16 << 20

// Entries reads entries of a log that was read before, from a sequence on, in
// their order, and at most limit of them; fewer where their payloads are large.
// What lies in a segment that was not read before is left out.
//
// A file whose pages changed since is read as it is now. A damaged page is a
// fault of kind Corrupt.
func (r *Logs) Entries(ctx context.Context, l WriteAheadLog, from uint64, limit int) (EntryList, error) {
	return r.stretch(ctx, l, from, limit, false)
}

// Payload reads the payload of one entry. Where it lies in a damaged page, that is
// what the page holds.
func (r *Logs) Payload(ctx context.Context, l WriteAheadLog, sequence uint64) ([]byte, error) {
	list, err := r.stretch(ctx, l, sequence, 1, true)
	if err != nil {
		return nil, err
	}
	if len(list.Entries) == 0 || list.Entries[0].Sequence != sequence {
		return nil, noEntry(l, sequence)
	}
	return list.Entries[0].Payload, nil
}

func noEntry(l WriteAheadLog, n uint64) error {
	f := fault.New(fault.NotFound, opReadLog, "%s has no entry with the sequence %s", safetext.Of(l.Place), sequence(n))
	if l.First != nil && l.Tail != nil {
		return f.WithHint("its entries are those from %s to %s", sequence(*l.First), sequence(*l.Tail))
	}
	return f
}

func (r *Logs) stretch(ctx context.Context, l WriteAheadLog, from uint64, limit int, past bool) (EntryList, error) {
	at, err := r.resolve(ctx, l.Place)
	if err != nil {
		return EntryList{}, err
	}
	if at.file != "" {
		return fileStretch(ctx, at.file, l, from, limit, past)
	}
	return objectStretch(ctx, at.folder, l, from, limit)
}

// collector takes entries until there are enough.
type collector struct {
	EntryList
	from  uint64
	limit int
	bytes int
}

// add reports whether there is room for more.
func (c *collector) add(n uint64, payload []byte, source string) bool {
	switch {
	case n < c.from:
		return true
	case len(c.Entries) == c.limit || c.bytes > maxStretch:
		c.More = true
		return false
	}
	c.bytes += len(payload)
	c.Entries = append(c.Entries, EntryPayload{n, slices.Clone(payload), source})
	return true
}

// fileStretch reads from a redb file. A writer may reuse pages meanwhile: then the
// newest commit is read anew.
func fileStretch(ctx context.Context, path string, l WriteAheadLog, from uint64, limit int, past bool) (EntryList, error) {
	for try := 0; ; try++ {
		s, err := openFile(ctx, path)
		if err != nil {
			return EntryList{}, err
		}
		begin := s.fingerprint()
		list, err := readStretch(ctx, s, l, from, limit, past)
		quiet := begin == s.fingerprint()
		s.close()
		if err == nil || ctx.Err() != nil || quiet || try == tries-1 {
			return list, err
		}
		if err := pause(ctx, pauseAfter(try)); err != nil {
			return EntryList{}, err
		}
	}
}

func readStretch(ctx context.Context, s *source, l WriteAheadLog, from uint64, limit int, past bool) (EntryList, error) {
	if s.size == 0 {
		return EntryList{}, nil
	}
	f, err := redbfile.Open(s, s.size)
	if err != nil {
		return EntryList{}, notRead(s.path, err)
	}
	c, err := f.Latest(ctx)
	if l.File != nil {
		// The commit that was read before, where it is still there: a start may have gone
		// back to it.
		for slot := range f.Slots {
			if f.Slots[slot].Transaction == l.File.Transaction && (err != nil || c.Transaction != l.File.Transaction) {
				c, err = f.At(ctx, slot)
			}
		}
	}
	out := collector{from: from, limit: limit}
	if err == nil {
		t, ok := c.Table(tableEntries)
		if !ok {
			return EntryList{}, nil
		}
		err = c.Ascend(ctx, t, from, func(n uint64, payload []byte) bool { return out.add(n, payload, "") })
	}
	if err == nil {
		return out.EntryList, nil
	}
	var refused *redbfile.Error
	if !errors.As(err, &refused) || refused.Code == redbfile.Unreadable {
		return EntryList{}, notRead(s.path, err)
	}
	if !past {
		return EntryList{}, fault.New(fault.Corrupt, opReadLog, "the entries from sequence %s on can't all be read: %s", sequence(from), safetext.Of(refused.Message)).
			WithHint("single entries can still be opened").WithRef(s.path)
	}
	return passDamage(ctx, f, s.path, from, limit)
}

// passDamage reads entries past damaged pages, as an engine does that looks at no
// checksum.
func passDamage(ctx context.Context, f *redbfile.File, path string, from uint64, limit int) (EntryList, error) {
	out := collector{from: from, limit: limit}
	enough := errors.New("enough")
	_, err := f.Salvage(ctx, func(t *redbfile.Table, key, payload []byte) error {
		if t.Name == tableEntries && len(key) == 8 && !out.add(binary.LittleEndian.Uint64(key), payload, "") {
			return enough
		}
		return nil
	})
	if err != nil && !errors.Is(err, enough) {
		return EntryList{}, notRead(path, err)
	}
	return out.EntryList, nil
}

// objectStretch reads from the segments that hold the entries.
func objectStretch(ctx context.Context, f folder, l WriteAheadLog, from uint64, limit int) (EntryList, error) {
	out := collector{from: from, limit: limit}
	for _, s := range l.Segments {
		if s.Last == nil || *s.Last < from {
			continue
		}
		if len(out.Entries) == limit || out.bytes > maxStretch {
			out.More = true
			break
		}
		name := segmentFolder + "/" + s.Name
		at, err := f.stat(ctx, name)
		if err != nil {
			return EntryList{}, segmentFault(s, err)
		}
		data, err := f.read(ctx, at, 0, min(at.size, maxSegment))
		if err != nil {
			return EntryList{}, segmentFault(s, err)
		}
		records, _, err := unpackSegment(data, false) // what is packed has no entries that are told
		if err != nil {
			return EntryList{}, segmentFault(s, err)
		}
		readSegment(records, func(n uint64, payload []byte) { out.add(n, payload, s.Name) })
	}
	slices.SortStableFunc(out.Entries, func(a, b EntryPayload) int { return cmp.Compare(a.Sequence, b.Sequence) })
	return out.EntryList, nil
}

func segmentFault(s Segment, err error) error {
	if kind := fault.KindOf(err); kind != fault.Bug {
		return err
	}
	return fault.Wrap(fault.Unreachable, opReadLog, err, "%s can't be read any more", s.Name).WithHint("read the log again")
}
