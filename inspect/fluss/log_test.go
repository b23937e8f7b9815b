package fluss_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/inspect/fluss"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/flinkkey"
	"github.com/recoverctl/recoverctl/internal/flussrpc"
	"github.com/recoverctl/recoverctl/internal/testkit/flusstest"
)

// history writes twelve rows to bucket 0 of a table, one a second from 1000 s on, of
// which those before 5 lie in remote storage, with three offsets that hold none after
// 7; and nothing to bucket 1. It returns the offsets of the rows.
func history(t *testing.T, c *flusstest.Cluster) (log flussrpc.Log, offsets []int64, segment string) {
	t.Helper()
	log = table(t, c, 2)
	for n := range 12 {
		if n == 7 {
			c.AppendEmpty(log, 0, 1006_500, 3)
		}
		at, err := c.Append(log, 0, int64(1000+n)*1000, []any{fmt.Sprintf("k%d_0_%s_%s", n, event, action), []byte(fmt.Sprintf(`{"completed":true,"callResults":[],"n":%d}`, n)), fmt.Sprintf("k%d", n)})
		if err != nil {
			t.Fatal(err)
		}
		offsets = append(offsets, at)
	}
	segment, err := c.Tier(log, 0, 5, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return log, offsets, segment
}

func offsetsOf(p inspect.RecordPage) (out []int64) {
	for _, r := range p.Records {
		out = append(out, r.Offset)
	}
	return out
}

// Rows are paged through in both directions, out of remote storage and out of the
// servers, over offsets that hold none.
func TestRowsAreBrowsedPageByPage(t *testing.T) {
	c := started(t, flusstest.Options{})
	_, offsets, _ := history(t, c)
	s := storeOf(t, c, disk{})
	data := described(t, s)
	read := func(q inspect.RecordQuestion) inspect.RecordPage {
		t.Helper()
		if q.Bytes == 0 {
			q.Bytes = 1 << 20
		}
		p, err := s.ReadRecords(t.Context(), data, q)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	end := data.Partitions[0].Log.End
	for _, count := range []int{1, 4, 5, 12, 100} {
		var forward, back []int64
		for at := int64(0); at < end; {
			p := read(inspect.RecordQuestion{Offset: at, Count: count})
			if p.From != at || p.Next <= at || len(p.Records) > count {
				t.Fatalf("%d from %d: %+v", count, at, offsetsOf(p))
			}
			forward, at = append(forward, offsetsOf(p)...), p.Next
		}
		for at := end; at > 0; {
			p := read(inspect.RecordQuestion{Offset: at, Back: true, Count: count})
			if p.Next != at || p.From >= at || len(p.Records) > count {
				t.Fatalf("%d before %d: %+v", count, at, offsetsOf(p))
			}
			back, at = append(offsetsOf(p), back...), p.From
		}
		if !slices.Equal(forward, offsets) || !slices.Equal(back, offsets) {
			t.Errorf("%d a page: forward %d, back %d, want %d", count, forward, back, offsets)
		}
	}
	p := read(inspect.RecordQuestion{Offset: 3, Count: 2})
	r := p.Records[0]
	if string(r.Key) != "k3_0_"+event+"_"+action || !strings.Contains(string(r.Value), `"n":3`) || !r.Timestamp.Equal(time.Unix(1003, 0)) || !r.Appended || r.Producer != -1 ||
		len(r.Headers) != 1 || r.Headers[0].Key != "agent_key" || string(r.Headers[0].Value) != "k3" {
		t.Errorf("%+v", r)
	}
	if p := read(inspect.RecordQuestion{Offset: 2, Count: 9, Bytes: 1}); len(p.Records) != 1 || p.Next != 3 {
		t.Errorf("a page of one byte: %+v", p)
	}
	if p := read(inspect.RecordQuestion{Offset: 9, Back: true, Count: 9, Bytes: 1}); !slices.Equal(offsetsOf(p), []int64{6}) || p.From != 6 || p.Next != 9 {
		t.Errorf("a page of one byte back: %+v", p)
	}
	if p := read(inspect.RecordQuestion{Partition: 1, Offset: 7, Count: 9}); len(p.Records) != 0 || p.From != 0 || p.Next != 0 {
		t.Errorf("an empty bucket: %+v", p)
	}
}

// A time leads to the first row that was appended then or later, where a server's own
// answer may lie before it.
func TestRowsAreFoundByTheirTime(t *testing.T) {
	c := started(t, flusstest.Options{})
	_, offsets, _ := history(t, c)
	s := storeOf(t, c, disk{})
	data := described(t, s)
	for at, want := range map[int64]int64{0: 0, 1_002_000: 2, 1_002_001: 3, 1_008_000: offsets[8], 1_011_000: offsets[11], 1_011_001: offsets[11] + 1} {
		got, err := s.OffsetsAt(t.Context(), data, time.UnixMilli(at))
		if err != nil || got[0] != want || got[1] != 0 {
			t.Errorf("%d: %v, %v, want %d", at, got, err, want)
		}
	}
	got, err := s.OffsetsAt(t.Context(), data, time.Now().Add(48*time.Hour)) // which a server refuses
	if err != nil || got[0] != offsets[11]+1 {
		t.Errorf("the future: %v, %v", got, err)
	}
}

// A window is read as a restore reads it: null payloads and null keys too, in order.
func TestAWindowIsReadRowByRow(t *testing.T) {
	c := started(t, flusstest.Options{})
	log, offsets, _ := history(t, c)
	row(t, c, log, 1, 1, nil, []byte("{}"))
	row(t, c, log, 1, 1, []byte("k"), nil)
	s := storeOf(t, c, disk{})
	data := described(t, s)
	var got []string
	var last inspect.WindowProgress
	windows := []inspect.Window{{Partition: 1, From: 0, To: 2}, {Partition: 0, From: 3, To: offsets[8] + 1}}
	err := s.ReadWindow(t.Context(), data, windows, func(bucket int32, offset int64, key, value []byte) {
		got = append(got, fmt.Sprintf("%d/%d %t %t", bucket, offset, key == nil, value == nil))
	}, func(p inspect.WindowProgress) { last = p })
	want := []string{"0/3 false false", "0/4 false false", "0/5 false false", "0/6 false false", "0/10 false false", "0/11 false false", "1/0 true false", "1/1 false true"}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %q", err, got)
	}
	if last.Span != last.Total || last.Total != offsets[8]+1-3+2 || last.Records != int64(len(want)) || last.Bytes == 0 {
		t.Errorf("%+v", last)
	}
}

// What can't be read whole is an error, for a window and for a page alike.
func TestRowsThatCantBeRead(t *testing.T) {
	for name, c := range map[string]struct {
		files   fluss.Files
		happens func(*flusstest.Cluster, flussrpc.Log)
		kind    fault.Kind
		says    string
	}{
		"remote storage is not read here": {nil, func(*flusstest.Cluster, flussrpc.Log) {}, fault.Unsupported, "remote"},
		"rows expired meanwhile":          {disk{}, func(c *flusstest.Cluster, log flussrpc.Log) { c.Trim(log, 0, 4) }, fault.Drift, "4"},
		"the table was made again": {disk{}, func(c *flusstest.Cluster, log flussrpc.Log) {
			c.DropTable(log.Table)
			table(t, c, 2)
		}, fault.Drift, "no longer the one that was described"},
		"a batch is damaged": {disk{}, func(c *flusstest.Cluster, log flussrpc.Log) { c.Damage(log, 0, 6) }, fault.Corrupt, "checksum"},
		"nobody serves it":   {disk{}, func(c *flusstest.Cluster, _ flussrpc.Log) { c.KillTablet(0) }, fault.Unreachable, "bucket 0"},
	} {
		t.Run(name, func(t *testing.T) {
			cluster := started(t, flusstest.Options{Tablets: 2})
			log, offsets, _ := history(t, cluster)
			s := storeOf(t, cluster, c.files)
			data := described(t, s)
			c.happens(cluster, log)
			err := s.ReadWindow(t.Context(), data, []inspect.Window{{Partition: 0, From: 0, To: offsets[11]}}, func(int32, int64, []byte, []byte) {}, nil)
			if fault.KindOf(err) != c.kind || !strings.Contains(err.Error(), c.says) {
				t.Errorf("a window: %v (%v)", err, fault.KindOf(err))
			}
			if _, err := s.ReadRecords(t.Context(), data, inspect.RecordQuestion{Count: 100, Bytes: 1 << 20}); fault.KindOf(err) != c.kind || !strings.Contains(err.Error(), c.says) {
				t.Errorf("a page: %v (%v)", err, fault.KindOf(err))
			}
		})
	}
	c := started(t, flusstest.Options{})
	history(t, c)
	s := storeOf(t, c, disk{})
	if _, err := s.ReadRecords(t.Context(), described(t, s), inspect.RecordQuestion{Partition: 7, Count: 1, Bytes: 1}); fault.KindOf(err) != fault.NotFound {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	data := described(t, s)
	err := s.ReadWindow(ctx, data, []inspect.Window{{Partition: 0, From: 0, To: 15}}, func(int32, int64, []byte, []byte) { cancel() }, nil)
	if fault.KindOf(err) != fault.Cancelled {
		t.Errorf("a reading that was ended: %v", err)
	}
}

// Open actions are told as final when their bucket was read to its end, while others
// are still read; those of a bucket of which something was lost never before the end.
func TestActionsAreToldWhenTheyAreFinal(t *testing.T) {
	c := started(t, flusstest.Options{Tablets: 2})
	log := table(t, c, 2)
	for n := range 6 {
		key, payload := saved(fmt.Sprintf("a%d", n))
		if _, err := c.Append(log, int32(n%2), 1000, []any{key, []byte(payload), "a"}); err != nil {
			t.Fatal(err)
		}
	}
	s := storeOf(t, c, nil)
	data := described(t, s)
	hold := make(chan struct{})
	c.On(func(call flusstest.Call) flusstest.Reaction { // the server of bucket 1 takes its time
		if call.API == flussrpc.APIFetchLog && call.ID == 1 {
			<-hold
		}
		return flusstest.Reaction{}
	})
	early := 0
	told := map[inspect.RecordPosition]int{}
	open := false
	_, err := s.ReadCalls(t.Context(), data, inspect.CallQuestion{Job: inspect.Job{Store: inspect.StoreFluss}, Final: true}, func(u inspect.CallUpdate) {
		for _, a := range u.Final.Actions {
			told[inspect.RecordPosition{Partition: a.Partition, Offset: a.First}]++
			if !open {
				early++
			}
		}
		if early == 3 && !open {
			open = true
			close(hold)
		}
	})
	if err != nil || early != 3 || len(told) != 6 {
		t.Errorf("%v: %d of %d actions were told while bucket 1 was still read", err, early, len(told))
	}
	for at, times := range told {
		if times != 1 {
			t.Errorf("%+v was told %d times", at, times)
		}
	}

	c.Damage(log, 0, 1)
	told = map[inspect.RecordPosition]int{}
	got, err := s.ReadCalls(t.Context(), data, inspect.CallQuestion{Job: inspect.Job{Store: inspect.StoreFluss}, Final: true}, func(u inspect.CallUpdate) {
		for _, a := range u.Final.Actions {
			told[inspect.RecordPosition{Partition: a.Partition, Offset: a.First}]++
		}
	})
	if fault.KindOf(err) != fault.Corrupt || len(told) != 3 || told[inspect.RecordPosition{Partition: 1, Offset: 0}] != 1 || len(got.Actions) != 4 {
		t.Errorf("%v: %v were told, %d found", err, told, len(got.Actions))
	}
}

// Keys that record keys name by a digest have their texts in a column of their own; a
// text that is another key's is not taken.
func TestKeysHaveTheirTextsInAColumn(t *testing.T) {
	c := started(t, flusstest.Options{Tablets: 2})
	log := table(t, c, 2)
	digest := func(kind, value string) string {
		k, err := flinkkey.New(kind, value)
		if err != nil {
			t.Fatal(err)
		}
		return k.Digest()
	}
	payload := []byte(`{"taskEvent":{"type":"t","attributes":{}},"callResults":[{"functionId":"charge","argsDigest":"","resultPayload":null,"exceptionPayload":null,"status":"PENDING"}],"completed":false}`)
	rows := []struct{ digest, column, want string }{
		{digest("string", "alice"), "alice", "alice"}, {digest("long", "42"), "42", "42"}, {digest("string", "bob"), "mallory", ""}, {digest("string", "carol"), "carol", "carol"},
	}
	for n, r := range rows {
		if _, err := c.Append(log, int32(n%2), 1000, []any{fmt.Sprintf("5_0_%s_%s_%s", event, action, r.digest), payload, r.column}); err != nil {
			t.Fatal(err)
		}
	}
	s := storeOf(t, c, nil)
	told := map[string]string{}
	got, err := s.ReadCalls(t.Context(), described(t, s), inspect.CallQuestion{Job: inspect.Job{Store: inspect.StoreFluss}, Final: true}, func(u inspect.CallUpdate) {
		for _, a := range u.Final.Actions {
			told[a.Key.Digest] = ""
			if a.Key.Text != nil {
				told[a.Key.Digest] = *a.Key.Text
			}
		}
	})
	if err != nil || len(got.Actions) != len(rows) {
		t.Fatal(err, len(got.Actions))
	}
	for _, a := range got.Actions {
		i := slices.IndexFunc(rows, func(r struct{ digest, column, want string }) bool { return r.digest == a.Key.Digest })
		text := ""
		if a.Key.Text != nil {
			text = *a.Key.Text
		}
		if text != rows[i].want || told[a.Key.Digest] != rows[i].want {
			t.Errorf("%s: %q, told %q", rows[i].column, text, told[a.Key.Digest])
		}
	}
	page, err := s.ReadRecords(t.Context(), described(t, s), inspect.RecordQuestion{Count: 9, Bytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range page.Records {
		d := inspect.DecodeRecord(r, inspect.Job{Store: inspect.StoreFluss}.RecordContext())
		if want := rows[2*i].want; (d.BusinessKey.Text == nil) != (want == "") || want != "" && *d.BusinessKey.Text != want {
			t.Errorf("%d: %+v", i, d.BusinessKey)
		}
	}
}
