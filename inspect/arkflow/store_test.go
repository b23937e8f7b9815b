package arkflow_test

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/recoverctl/recoverctl/inspect/arkflow"
	"github.com/recoverctl/recoverctl/internal/arkhub"
	"github.com/recoverctl/recoverctl/internal/clock"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/objstore"
	"github.com/recoverctl/recoverctl/internal/secret"
	"github.com/recoverctl/recoverctl/internal/testkit/s3test"
)

// storeReader reads from a store in this process.
func storeReader(tb testing.TB, url string) *arkflow.Logs {
	tb.Helper()
	client := objstore.New(objstore.Config{Endpoint: url, Region: "us-east-1", PathStyle: true, Attempts: 1, Keys: func(context.Context) (objstore.Keys, error) {
		return objstore.Keys{ID: s3test.KeyID, Secret: secret.New(s3test.Secret)}, nil
	}})
	tb.Cleanup(client.Close)
	return arkflow.NewLogs(arkflow.Options{Clock: clock.NewFake(night), Bucket: func(uri string) (*objstore.Client, string, string, error) {
		bucket, key, _ := strings.Cut(strings.TrimPrefix(uri, "s3://"), "/")
		return client, bucket, key, nil
	}})
}

// A bucket says the same as the copy of it on this machine.
func TestBucketsAreReadAsTheirCopies(t *testing.T) {
	fixtures, err := filepath.Glob("testdata/wal-s3/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, fixture := range fixtures {
		name := filepath.Base(fixture)
		t.Run(name, func(t *testing.T) {
			s := s3test.Start(t, "logs")
			s.PutDir("logs", "", filepath.Join(fixture, "bucket"))
			want := expectedOf[objectExpected](t, filepath.Join(fixture, "expected.json"))
			for _, uri := range []string{"s3://logs", "s3://logs/wal/node-a/orders-eu/"} {
				l, err := storeReader(t, s.URL).Read(context.Background(), uri, arkflow.Question{Entries: true})
				if err != nil {
					t.Fatal(err)
				}
				compareObjects(t, name, l, want)
				if l.Window != nil && (l.Oldest == nil || l.Oldest.Source != "object") {
					t.Errorf("%+v: the segment's time bounds the age", l.Oldest)
				}
			}
		})
	}
}

// gets are the segments of which a body was fetched.
func gets(s *s3test.Server) []string {
	var names []string
	for _, r := range s.Requests() {
		if r.Method == http.MethodGet && strings.HasSuffix(r.Path, ".wal") && !slices.Contains(names, filepath.Base(r.Path)) {
			names = append(names, filepath.Base(r.Path))
		}
	}
	slices.Sort(names)
	return names
}

// No body of a segment is fetched that cursor, tail and window don't need.
func TestOnlyTheWindowsSegmentsAreFetched(t *testing.T) {
	for cursor, want := range map[int][]string{
		2000: {"00000400.wal"},
		1990: {"00000399.wal", "00000400.wal"},
		1987: {"00000398.wal", "00000399.wal", "00000400.wal"},
	} {
		s := s3test.Start(t, "logs")
		fill(s, 400, 5, cursor)
		l, err := storeReader(t, s.URL).Read(context.Background(), "s3://logs/wal/node-a/orders", arkflow.Question{})
		if err != nil || *l.Cursor != uint64(cursor) || *l.Tail != 2000 || l.Read != arkflow.ReadWindow || len(l.Unchecked) == 0 || l.Count != nil {
			t.Fatalf("%+v, %v", l, err)
		}
		if got := gets(s); !slices.Equal(got, want) {
			t.Errorf("cursor %d: %v were fetched, want %v", cursor, got, want)
		}
	}
}

// Segments of other sizes than the newest, and segments that tell nothing, never make
// the window end before its first entry, nor let more be fetched than lie there.
func TestSegmentsOfAllSizes(t *testing.T) {
	s := s3test.Start(t, "logs")
	var names []string
	next := uint64(1)
	for i := 1; i <= 300; i++ {
		var sequences []uint64
		for range []int{1, 40, 3}[i%3] {
			sequences = append(sequences, next)
			next++
		}
		name := fmt.Sprintf("%08d.wal", i)
		data := records(sequences...)
		if i == 280 {
			data = data[:len(data)-3] // torn: it tells no sequences that can be relied on
		}
		s.Put("logs", "wal/node-a/orders/segments/"+name, data)
		names = append(names, `"`+name+`"`)
	}
	for _, cursor := range []uint64{next - 2, next - 30, next - 700, 2000, 100, 0} {
		s.Put("logs", "wal/node-a/orders/manifest.json", fmt.Appendf(nil, `{"version":2,"cursor":%d,"max_sealed_seq":%d,"active_segment":%s,"sealed_segments":[%s]}`,
			cursor, next-1, names[len(names)-1], strings.Join(names[:len(names)-1], ",")))
		before := len(s.Requests())
		l, err := storeReader(t, s.URL).Read(context.Background(), "s3://logs/wal/node-a/orders", arkflow.Question{Extent: arkflow.ReadWindow})
		if err != nil || *l.Tail != next-1 || l.Window.From != cursor+1 {
			t.Fatalf("cursor %d: %+v, %v", cursor, l.Window, err)
		}
		needed, read := 0, 0
		for _, one := range l.Segments {
			if one.State != arkflow.SegmentUnread {
				read++
			}
			if one.Last != nil && *one.Last > cursor {
				needed++
			}
		}
		var bodies int
		for _, r := range s.Requests()[before:] {
			if r.Method == http.MethodGet && strings.HasSuffix(r.Path, ".wal") {
				bodies++
			}
		}
		const most = 32 // around the one that is torn
		if bodies != read || read > needed+most {
			t.Errorf("cursor %d: %d segments hold the window, %d were read by %d requests", cursor, needed, read, bodies)
		}
	}
}

// fill stores a log of so many segments with so many records each.
func fill(s *s3test.Server, segments, each, cursor int) {
	var names []string
	for i := 1; i <= segments; i++ {
		var sequences []uint64
		for j := range each {
			sequences = append(sequences, uint64((i-1)*each+j+1))
		}
		name := fmt.Sprintf("%08d.wal", i)
		s.Put("logs", "wal/node-a/orders/segments/"+name, records(sequences...))
		names = append(names, `"`+name+`"`)
	}
	s.Put("logs", "wal/node-a/orders/manifest.json", fmt.Appendf(nil, `{"version":2,"cursor":%d,"max_sealed_seq":%d,"active_segment":%s,"sealed_segments":[%s]}`,
		cursor, segments*each, names[len(names)-1], strings.Join(names[:len(names)-1], ",")))
}

// A store that fails is no damage of the log, and each way of failing is told.
func TestStoresThatFail(t *testing.T) {
	start := func(t *testing.T) *s3test.Server {
		s := s3test.Start(t, "logs")
		s.PutDir("logs", "", "testdata/wal-s3/s3-pending/bucket")
		return s
	}
	const uri = "s3://logs/wal/node-a/orders-eu"
	for what, c := range map[string]struct {
		fault s3test.Fault
		kind  fault.Kind
	}{
		"a listing that is refused":  {s3test.On(s3test.Listing, s3test.Status(403, "AccessDenied", "no")), fault.Denied},
		"a web page":                 {s3test.Page(200), fault.Unreachable},
		"a manifest that is refused": {s3test.Key("manifest.json", s3test.Status(403, "AccessDenied", "no")), fault.Denied},
	} {
		t.Run(what, func(t *testing.T) {
			s := start(t)
			s.Break(c.fault)
			_, err := storeReader(t, s.URL).Read(context.Background(), uri, arkflow.Question{})
			if kind := fault.KindOf(err); err == nil || c.kind == fault.Denied && kind != c.kind || kind == fault.Bug || kind == fault.Corrupt {
				t.Errorf("%v", err)
			}
		})
	}
	t.Run("a segment that is refused", func(t *testing.T) {
		s := start(t)
		s.Break(s3test.Key("00000003.wal", s3test.Status(403, "AccessDenied", "no")))
		l, err := storeReader(t, s.URL).Read(context.Background(), uri, arkflow.Question{})
		if err != nil || !slices.Contains(problemCodes(l), arkflow.ProblemNotRead) || *l.Cursor != 13 || l.Count != nil || len(l.Gaps) > 0 {
			t.Errorf("%+v, %v", l, err)
		}
	})
	// What the only segments behind the cursor hold is not known: that is no log of
	// which nothing is replayed.
	t.Run("the segments of the window are refused", func(t *testing.T) {
		s := s3test.Start(t, "logs")
		fill(s, 4, 5, 15)
		s.Break(s3test.Key("00000004.wal", s3test.Status(403, "AccessDenied", "no")))
		l, err := storeReader(t, s.URL).Read(context.Background(), "s3://logs/wal/node-a/orders", arkflow.Question{})
		if err != nil || !l.Partial || l.ReplaysNothing() || !strings.Contains(l.Headline(), "is not known") {
			t.Errorf("%s, %+v, %v", l.Headline(), l, err)
		}
		if c := logReader().ReplayCost(context.Background(), l, nil, arkhub.GenerationJobs); !strings.HasPrefix(c.Sentence, "not exposed") {
			t.Errorf("%+v", c)
		}
		absorb := uint64(3)
		for _, d := range arkflow.Decide(arkflow.Facts{Log: &l, Absorb: &absorb}) {
			if d.Rule == "wal-replay-heavy" && d.Outcome != arkflow.NotChecked || d.Rule == "wal-clean" && d.Outcome == arkflow.Holds {
				t.Errorf("%+v", d)
			}
		}
	})
	t.Run("a segment before the window is refused", func(t *testing.T) {
		s := s3test.Start(t, "logs")
		fill(s, 4, 5, 20)
		s.Break(s3test.Key("00000002.wal", s3test.Status(403, "AccessDenied", "no")))
		l, err := storeReader(t, s.URL).Read(context.Background(), "s3://logs/wal/node-a/orders", arkflow.Question{})
		if err != nil || l.Partial || !l.ReplaysNothing() {
			t.Errorf("%s, %+v, %v", l.Headline(), l, err)
		}
	})
	t.Run("nothing there", func(t *testing.T) {
		_, err := storeReader(t, start(t).URL).Read(context.Background(), "s3://logs/other/", arkflow.Question{})
		if fault.KindOf(err) != fault.NotFound {
			t.Errorf("%v", err)
		}
	})
}

// 10,000 segments are listed and judged, with a window of 3,000 entries.
func BenchmarkTenThousandSegments(b *testing.B) {
	s := s3test.Start(b, "logs")
	fill(s, 10_000, 100, 997_000)
	before := len(s.Requests())
	b.ResetTimer()
	for range b.N {
		l, err := storeReader(b, s.URL).Read(context.Background(), "s3://logs/wal/node-a/orders", arkflow.Question{})
		if err != nil || *l.Tail != 1_000_000 || len(l.Segments) != 10_000 || l.Window.Entries != 3000 {
			b.Fatal(err)
		}
	}
	countRequests(b, s, before)
}

// countRequests reports how many requests a reading took, and how many of them
// fetched a body of a segment.
func countRequests(b *testing.B, s *s3test.Server, before int) {
	b.Helper()
	b.StopTimer()
	bodies := 0
	all := s.Requests()[before:]
	for _, r := range all {
		if r.Method == http.MethodGet && strings.HasSuffix(r.Path, ".wal") {
			bodies++
		}
	}
	b.ReportMetric(float64(len(all))/float64(b.N), "requests/op")
	b.ReportMetric(float64(bodies)/float64(b.N), "bodies/op")
}

// processor is the time that this process has had on the processors: on a busy
// machine it says more than the clock.
func processor(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// The same where nothing was acknowledged: every segment is fetched.
func BenchmarkTenThousandSegmentsUnacknowledged(b *testing.B) {
	s := s3test.Start(b, "logs")
	fill(s, 10_000, 100, 0)
	before, used := len(s.Requests()), processor(b)
	b.ResetTimer()
	for range b.N {
		l, err := storeReader(b, s.URL).Read(context.Background(), "s3://logs/wal/node-a/orders", arkflow.Question{})
		if err != nil || *l.Count != 1_000_000 || l.Window.Entries != 1_000_000 {
			b.Fatal(err)
		}
	}
	b.ReportMetric((processor(b)-used).Seconds()/float64(b.N), "processor-s/op")
	countRequests(b, s, before)
}

// Entries are found again by their sequence, wherever they lie.
func TestEntriesOfABucket(t *testing.T) {
	s := s3test.Start(t, "logs")
	s.PutDir("logs", "", "testdata/wal-s3/s3-pending/bucket")
	logs := storeReader(t, s.URL)
	l, err := logs.Read(context.Background(), "s3://logs/wal/node-a/orders-eu", arkflow.Question{Entries: true})
	if err != nil {
		t.Fatal(err)
	}
	list, err := logs.Entries(context.Background(), l, 9, 4)
	if err != nil || len(list.Entries) != 4 || !list.More || list.Entries[0].Sequence != 9 || list.Entries[3].Source != "00000003.wal" {
		t.Errorf("%+v, %v", list, err)
	}
	payload, err := logs.Payload(context.Background(), l, 12)
	if err != nil || arkflow.EntryOf(12, payload).PayloadSHA256 != l.Listed[11].PayloadSHA256 {
		t.Errorf("%d bytes, %v", len(payload), err)
	}
	if _, err := logs.Payload(context.Background(), l, 21); fault.KindOf(err) != fault.NotFound {
		t.Errorf("%v", err)
	}
}
