//go:build real

package fluss_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/inspect/fluss"
	"github.com/recoverctl/recoverctl/internal/clock"
	"github.com/recoverctl/recoverctl/internal/flussrpc"
	"github.com/recoverctl/recoverctl/internal/testkit/flusstest"
)

// Rows that are browsed page by page, that a restore would read, and that are found
// by their time are those that Fluss's own client sees, with its offsets and times.
func TestRowsOfARealCluster(t *testing.T) {
	real := flusstest.Real(t)
	java, cl := real.Java(t), real.Client(t)
	path := flussrpc.TablePath{Database: fmt.Sprintf("r%d", time.Now().UnixNano()), Table: "state"}
	java.Do(t, nil, "create", path.Database, path.Table, "states", "3", "1", "")
	for range 3 {
		words := []string{"states", path.Database, path.Table}
		for _, s := range states() {
			words = append(words, s[:]...)
		}
		java.Do(t, nil, words...)
		time.Sleep(1200 * time.Millisecond)
	}
	var seen []struct {
		Bucket int32
		End    int64
		Rows   []struct {
			Offset    int64
			Timestamp int64
			Row       map[string]json.RawMessage
		}
	}
	java.Do(t, &seen, "scan", path.Database, path.Table)

	store := fluss.New(cl, clock.System{}, fluss.Remote{})
	data, err := store.DataTopic(t.Context(), path.String())
	if err != nil {
		t.Fatal(err)
	}
	var windows []inspect.Window
	var visited []string
	for _, b := range seen {
		var want, forward, back []string
		told := func(r inspect.LogRecord) string {
			return fmt.Sprintf("%d %d %q %q", r.Offset, r.Timestamp.UnixMilli(), r.Key, r.Headers[0].Value)
		}
		for _, r := range b.Rows {
			var key, agent string
			if err := json.Unmarshal(r.Row["state_key"], &key); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(r.Row["agent_key"], &agent); err != nil {
				t.Fatal(err)
			}
			want = append(want, fmt.Sprintf("%d %d %q %q", r.Offset, r.Timestamp, key, agent))
			visited = append(visited, fmt.Sprintf("%d/%d %s", b.Bucket, r.Offset, key))
		}
		windows = append(windows, inspect.Window{Partition: b.Bucket, To: b.End})
		for at := int64(0); at < b.End; {
			p, err := store.ReadRecords(t.Context(), data, inspect.RecordQuestion{Partition: b.Bucket, Offset: at, Count: 7, Bytes: 1 << 20})
			if err != nil || p.Next <= at {
				t.Fatal(p, err)
			}
			for _, r := range p.Records {
				forward = append(forward, told(r))
			}
			at = p.Next
		}
		for at := b.End; at > 0; {
			p, err := store.ReadRecords(t.Context(), data, inspect.RecordQuestion{Partition: b.Bucket, Offset: at, Back: true, Count: 7, Bytes: 1 << 20})
			if err != nil || p.From >= at {
				t.Fatal(p, err)
			}
			page := []string{}
			for _, r := range p.Records {
				page = append(page, told(r))
			}
			back, at = append(page, back...), p.From
		}
		if !slices.Equal(forward, want) || !slices.Equal(back, want) {
			t.Errorf("bucket %d: forward %q, back %q, Fluss's own client saw %q", b.Bucket, forward, back, want)
		}
		for _, r := range b.Rows {
			first := slices.IndexFunc(b.Rows, func(o struct {
				Offset    int64
				Timestamp int64
				Row       map[string]json.RawMessage
			}) bool {
				return o.Timestamp >= r.Timestamp
			})
			got, err := store.OffsetsAt(t.Context(), data, time.UnixMilli(r.Timestamp))
			if err != nil || got[b.Bucket] != b.Rows[first].Offset {
				t.Errorf("bucket %d at %d: %v, %v, want %d", b.Bucket, r.Timestamp, got, err, b.Rows[first].Offset)
			}
		}
	}
	got, err := store.OffsetsAt(t.Context(), data, time.Now().Add(time.Hour))
	if err != nil {
		t.Error(err)
	}
	for _, b := range seen {
		if got[b.Bucket] != b.End {
			t.Errorf("the future of bucket %d: %d, want %d", b.Bucket, got[b.Bucket], b.End)
		}
	}
	slices.SortStableFunc(windows, func(a, b inspect.Window) int { return int(b.Partition - a.Partition) })
	var read []string
	err = store.ReadWindow(t.Context(), data, windows, func(bucket int32, offset int64, key, _ []byte) {
		read = append(read, fmt.Sprintf("%d/%d %s", bucket, offset, key))
	}, nil)
	slices.Sort(visited)
	slices.Sort(read)
	if err != nil || !slices.Equal(read, visited) || len(read) == 0 {
		t.Errorf("%v: a restore reads %d rows, Fluss's own client saw %d", err, len(read), len(visited))
	}
}
