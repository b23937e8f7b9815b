package inspect_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/clock"
	"github.com/recoverctl/recoverctl/internal/fault"
)

// sparse is a log of one partition whose records stand at every third offset.
type sparse struct {
	start, end int64
	value      []byte
	reads      int
}

func (s *sparse) DataTopic(_ context.Context, name string) (inspect.DataTopic, error) {
	return inspect.DataTopic{Name: name, Exists: true, Partitions: []inspect.Partition{{Log: inspect.LogRange{Start: s.start, End: s.end}}}}, nil
}

func (s *sparse) ControlTopic(_ context.Context, name string) (inspect.ControlTopic, error) {
	return inspect.ControlTopic{Name: name}, nil
}

func (s *sparse) OffsetsAt(context.Context, inspect.DataTopic, time.Time) (inspect.Offsets, error) {
	return inspect.Offsets{0: 42}, nil
}

func (s *sparse) ReadRecords(_ context.Context, _ inspect.DataTopic, q inspect.RecordQuestion) (inspect.RecordPage, error) {
	s.reads++
	page := inspect.RecordPage{From: q.Offset, Next: q.Offset}
	for len(page.Records) < q.Count {
		at := page.Next
		if q.Back {
			at = page.From - 1
		}
		if at < s.start || at >= s.end {
			break
		}
		if q.Back {
			page.From = at
		} else {
			page.Next = at + 1
		}
		if at%3 != 0 {
			continue
		}
		record := inspect.LogRecord{Offset: at, Value: s.value}
		if q.Back {
			page.Records = slices.Insert(page.Records, 0, record)
		} else {
			page.Records = append(page.Records, record)
		}
	}
	return page, nil
}

func browse(t *testing.T, s *sparse) *inspect.RecordBrowser {
	t.Helper()
	b, err := inspect.New(nil, s, clock.NewFake(time.Time{})).Records(t.Context(), inspect.Job{Topic: "t"})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Whoever goes on from where a page ended meets every record once, either way,
// and what was read before is not read again.
func TestBrowsingMeetsEveryRecordOnce(t *testing.T) {
	s := &sparse{start: 30, end: 100}
	b := browse(t, s)
	var want []int64
	for at := int64(30); at < 100; at += 3 {
		want = append(want, at)
	}
	forward := func() (got []int64) {
		for at := int64(30); at < 100; {
			page, err := b.From(t.Context(), 0, at, 5)
			if err != nil || page.From != at || page.Next <= at || len(page.Records) > 5 {
				t.Fatalf("from %d: [%d, %d) with %d records, %v", at, page.From, page.Next, len(page.Records), err)
			}
			for _, r := range page.Records {
				got = append(got, r.Offset)
			}
			at = page.Next
		}
		return got
	}
	if got := forward(); !slices.Equal(got, want) {
		t.Errorf("forward %v, want %v", got, want)
	}
	reads := s.reads
	if got := forward(); !slices.Equal(got, want) || s.reads != reads {
		t.Errorf("again %v with %d more reads", got, s.reads-reads)
	}
	var back []int64
	for at := int64(100); at > 30; {
		page, err := b.Before(t.Context(), 0, at, 4)
		if err != nil || page.Next != at || page.From >= at || len(page.Records) > 4 {
			t.Fatalf("before %d: [%d, %d) with %d records, %v", at, page.From, page.Next, len(page.Records), err)
		}
		for _, r := range slices.Backward(page.Records) {
			back = append(back, r.Offset)
		}
		at = page.From
	}
	slices.Reverse(back)
	if !slices.Equal(back, want) || s.reads != reads {
		t.Errorf("back %v with %d more reads, want %v", back, s.reads-reads, want)
	}
}

// The pages kept are bounded, however long somebody browses.
func TestBrowsingForgetsWhatWasLongAgo(t *testing.T) {
	s := &sparse{end: 3 * 40, value: make([]byte, 4<<20)}
	b := browse(t, s)
	for at := int64(0); at < s.end; at += 3 {
		if _, err := b.From(t.Context(), 0, at, 1); err != nil {
			t.Fatal(err)
		}
	}
	read := s.reads
	if _, err := b.From(t.Context(), 0, s.end-3, 1); err != nil || s.reads != read {
		t.Errorf("the last page was read again, %v", err)
	}
	if _, err := b.From(t.Context(), 0, 0, 1); err != nil || s.reads != read+1 {
		t.Errorf("160 MiB of pages were kept, %v", err)
	}
}

func TestRecordsOfATopicThatIsNotThere(t *testing.T) {
	in := inspect.New(nil, noTopicLog{}, clock.NewFake(time.Time{}))
	if _, err := in.Records(t.Context(), inspect.Job{Topic: "t"}); fault.KindOf(err) != fault.NotFound {
		t.Errorf("%v, want not found", err)
	}
}

type noTopicLog struct{ inspect.LogStore }

func (noTopicLog) DataTopic(context.Context, string) (inspect.DataTopic, error) {
	return inspect.DataTopic{}, nil
}
