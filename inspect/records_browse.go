package inspect

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/recoverctl/recoverctl/internal/fault"
)

const (
	// pageBytes bounds a page, but for one record that alone is larger.
	pageBytes = 4 << 20
	// cachedBytes bounds the pages that are kept; the last one always is.
	cachedBytes = 64 << 20
)

// RecordBrowser pages through the records of a topic as it was described once,
// and keeps the pages read last. It may be used by several goroutines.
type RecordBrowser struct {
	reader RecordReader
	topic  DataTopic

	mu    sync.Mutex
	pages []RecordPage // the one used last comes last
	bytes int
}

// Records describes the job's data topic and returns a browser of its records.
// Partitions whose offsets could not be read can't be browsed, and say so.
func (i *Inspector) Records(ctx context.Context, job Job) (*RecordBrowser, error) {
	topic, err := i.Topic(ctx, job)
	switch {
	case topic.Exists: // settings or single offsets may be missing
	case err != nil:
		return nil, err
	default:
		return nil, MissingLog(job)
	}
	reader, ok := i.log.(RecordReader)
	if !ok {
		return nil, fault.New(fault.Unsupported, "read records", "this backend can't show single records")
	}
	return &RecordBrowser{reader: reader, topic: topic}, nil
}

// KeyTexts finds texts of keys by the digests that records have of them, as far as
// a recovery point of the job keeps them; nil where none does.
func (i *Inspector) KeyTexts(ctx context.Context, job Job) KeyDictionary {
	points, _ := i.list(ctx, job.RecoveryPoints) // what is missing is shown by its digest
	return i.dictionary(ctx, points)
}

// Topic is the topic as it was described when browsing began.
func (b *RecordBrowser) Topic() DataTopic { return b.topic }

// From returns records from an offset on: at least one, if there is any before
// the log end, and at most count. The page's Next is where to go on.
func (b *RecordBrowser) From(ctx context.Context, partition int32, offset int64, count int) (RecordPage, error) {
	page, found := b.cached(func(p RecordPage) bool {
		return p.Partition == partition && p.From <= offset && offset < p.Next
	})
	if !found {
		var err error
		page, err = b.read(ctx, RecordQuestion{Partition: partition, Offset: offset, Count: count, Bytes: pageBytes})
		if err != nil {
			return RecordPage{}, err
		}
	}
	first, _ := slices.BinarySearchFunc(page.Records, offset, byOffset)
	page.Records = page.Records[first:]
	page.From = max(page.From, offset)
	if len(page.Records) > count {
		page.Next, page.Records = page.Records[count].Offset, page.Records[:count:count]
	}
	return page, nil
}

// Before returns the records right before an offset: at least one, if there is
// any behind the log start, and at most count. The page's From is where to go on.
func (b *RecordBrowser) Before(ctx context.Context, partition int32, offset int64, count int) (RecordPage, error) {
	page, found := b.cached(func(p RecordPage) bool {
		return p.Partition == partition && p.From < offset && offset <= p.Next
	})
	if !found {
		var err error
		page, err = b.read(ctx, RecordQuestion{Partition: partition, Offset: offset, Back: true, Count: count, Bytes: pageBytes})
		if err != nil {
			return RecordPage{}, err
		}
	}
	end, _ := slices.BinarySearchFunc(page.Records, offset, byOffset)
	page.Records = page.Records[:end:end]
	page.Next = min(page.Next, offset)
	if drop := len(page.Records) - count; drop > 0 {
		page.From, page.Records = page.Records[drop-1].Offset+1, page.Records[drop:]
	}
	return page, nil
}

func byOffset(r LogRecord, offset int64) int { return int(min(1, max(-1, r.Offset-offset))) }

// At finds the first record of each partition whose timestamp is not before a
// time; see [RecordReader].
func (b *RecordBrowser) At(ctx context.Context, at time.Time) (Offsets, error) {
	return b.reader.OffsetsAt(ctx, b.topic, at)
}

// cached finds a page that was kept, and makes it the one used last.
func (b *RecordBrowser) cached(match func(RecordPage) bool) (RecordPage, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	at := slices.IndexFunc(b.pages, match)
	if at < 0 {
		return RecordPage{}, false
	}
	page := b.pages[at]
	b.pages = append(slices.Delete(b.pages, at, at+1), page)
	return page, true
}

// read reads a page and keeps it in place of those that were not used for
// longest.
func (b *RecordBrowser) read(ctx context.Context, q RecordQuestion) (RecordPage, error) {
	page, err := b.reader.ReadRecords(ctx, b.topic, q)
	if err != nil {
		return RecordPage{}, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.pages = append(b.pages, page)
	b.bytes += page.size()
	drop := 0
	for ; b.bytes > cachedBytes && drop < len(b.pages)-1; drop++ {
		b.bytes -= b.pages[drop].size()
	}
	b.pages = slices.Delete(b.pages, 0, drop)
	return page, nil
}

func (p RecordPage) size() int {
	n := recordOverhead
	for _, r := range p.Records {
		n += r.Size()
	}
	return n
}
