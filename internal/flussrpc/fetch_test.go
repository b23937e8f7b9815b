package flussrpc

import (
	"bytes"
	"context"
	"io"
	"math"
	"path/filepath"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/recoverctl/recoverctl/internal/flussrpc/flusspb"
)

// sameAsGenerated compares what was read of an answer with what the generated
// code reads.
func sameAsGenerated(t *testing.T, body []byte, got fetchedTable) {
	t.Helper()
	var want flusspb.FetchLogResponse
	if err := proto.Unmarshal(body, &want); err != nil {
		t.Fatal(err)
	}
	tables := want.GetTablesResp()
	if len(tables) == 0 {
		tables = []*flusspb.FetchLogTableAnswer{{}}
	}
	if len(tables) != 1 || got.table != tables[0].GetTableId() || len(got.buckets) != len(tables[0].GetBucketsResp()) {
		t.Fatalf("%+v, want %v", got, tables)
	}
	for i, w := range tables[0].GetBucketsResp() {
		b := got.buckets[i]
		var code Code
		var message string
		if b.err != nil {
			code, message = b.err.Code, b.err.Message
		}
		if b.bucket != w.GetBucketId() || code != Code(w.GetErrorCode()) || code != None && message != w.GetErrorMessage() || b.end != w.GetHighWatermark() || !bytes.Equal(b.records, w.GetRecords()) || (b.remote != nil) != (w.RemoteLogFetchInfo != nil) {
			t.Errorf("%+v, want %v", b, w)
		}
		if b.remote != nil && (b.remote.dir != w.GetRemoteLogFetchInfo().GetRemoteLogTabletDir() || len(b.remote.segments) != len(w.GetRemoteLogFetchInfo().GetRemoteLogSegments())) {
			t.Errorf("%+v, want %v", b.remote, w.GetRemoteLogFetchInfo())
		}
	}
}

func TestAnswersWithRowsAreReadAsTheGeneratedCodeDoes(t *testing.T) {
	files, err := filepath.Glob("testdata/fluss/fetch-*.resp.bin")
	if err != nil || len(files) < 30 {
		t.Fatal(len(files), err)
	}
	for _, file := range files {
		body := frameOf(t, filepath.Base(file))[lengthSize+5:]
		got, err := parseFetched(body)
		if filepath.Base(file) == "fetch-multi-table-partial-errors.resp.bin" {
			var answer flusspb.FetchLogResponse
			if err := proto.Unmarshal(body, &answer); err != nil {
				t.Fatal(err)
			}
			if (err != nil) != (len(answer.GetTablesResp()) > 1) {
				t.Errorf("of %d tables: %v", len(answer.GetTablesResp()), err)
			}
			if err != nil {
				continue
			}
		}
		if err != nil {
			t.Fatal(file, err)
		}
		sameAsGenerated(t, body, got)
	}
}

func FuzzFetched(f *testing.F) {
	for _, name := range []string{"fetch-zstd-bucket3", "fetch-remote-from-middle", "fetch-error-out-of-range", "fetch-multi-table-partial-errors"} {
		f.Add(frameOf(f, name+".resp.bin")[lengthSize+5:])
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		got, err := parseFetched(body)
		if err != nil {
			return
		}
		for _, b := range got.buckets {
			part, next := whole(b.records, 0)
			if len(part) > len(b.records) || next < 0 {
				t.Errorf("%d of %d bytes, next %d", len(part), len(b.records), next)
			}
			for batch, err := range Batches(part) {
				if err == nil && batch.Next() > next {
					t.Errorf("a batch ends at %d, and all at %d", batch.Next(), next)
				}
			}
		}
	})
}

// oneFile is remote storage with one file.
type oneFile []byte

func (o oneFile) Read(_ context.Context, _ string, offset, size int64) ([]byte, error) {
	if offset < 0 || size < 0 || offset > int64(len(o)) || size > int64(len(o))-offset {
		return nil, io.ErrUnexpectedEOF
	}
	return o[offset : offset+size], nil
}

// A segment's file may hold anything: reading it ends, and gives whole batches
// only.
func FuzzSegment(f *testing.F) {
	f.Add(recordsOf(f, "fetch-zstd-bucket3"), int64(0), int64(5))
	f.Add(recordsOf(f, "fetch-tiered-local-part"), int64(2240), int64(2400))
	f.Fuzz(func(t *testing.T, data []byte, start, end int64) {
		if start < 0 || end < start {
			return
		}
		s := segment{id: "a", start: start, end: end, size: int64(len(data))}
		last := start
		next, err := readSegment(t.Context(), oneFile(data), "file:/x", s, 0, start, math.MaxInt64, func(records []byte, from, next int64) error {
			if part, _ := whole(records, from); len(part) != len(records) || from != last || next < from {
				t.Errorf("%d bytes from %d to %d, after %d", len(records), from, next, last)
			}
			last = next
			return nil
		})
		if err == nil && next < end {
			t.Errorf("it ended at %d of %d", next, end)
		}
	})
}
