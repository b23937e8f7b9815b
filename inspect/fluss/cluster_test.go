package fluss_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/inspect/fluss"
	"github.com/recoverctl/recoverctl/internal/clock"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/flussrpc"
	"github.com/recoverctl/recoverctl/internal/testkit/flusstest"
)

func rules(list []inspect.Finding) (out []string) {
	for _, f := range list {
		out = append(out, f.Rule)
	}
	return out
}

// What is wrong with a cluster is found, each thing by itself.
func TestWhatIsWrongWithACluster(t *testing.T) {
	for name, c := range map[string]struct {
		options flusstest.Options
		happens func(*testing.T, *flusstest.Cluster)
		want    []string
	}{
		"nothing":                    {},
		"a tablet server is gone":    {happens: func(_ *testing.T, c *flusstest.Cluster) { c.KillTablet(1) }, want: []string{"buckets-without-leader"}},
		"the coordinator is gone":    {happens: func(_ *testing.T, c *flusstest.Cluster) { c.KillCoordinator() }, want: []string{"coordinator-unreachable", "told-by-tablet-server"}},
		"both are gone":              {happens: func(_ *testing.T, c *flusstest.Cluster) { c.KillCoordinator(); c.KillTablet(1) }, want: []string{"coordinator-unreachable", "tablet-server-unreachable", "told-by-tablet-server"}},
		"remote storage has no name": {options: flusstest.Options{Settings: map[string]string{"remote.data.dir": "/data/remote"}}, want: []string{"remote-dir-without-scheme"}},
		"secrets are told":           {options: flusstest.Options{Settings: map[string]string{"s3.secret-key": "abc"}}, want: []string{"settings-tell-secrets"}},
		"new tables have no leaders": {happens: func(t *testing.T, c *flusstest.Cluster) {
			for _, name := range []string{"one", "two"} {
				spec := flusstest.ActionState(flussrpc.TablePath{Database: "agents", Table: name}, 1)
				id, err := c.CreateTable(spec)
				if err != nil {
					t.Fatal(err)
				}
				c.MoveLeader(flussrpc.Log{Table: id, Partition: flussrpc.NoPartition}, 0, flussrpc.NoLeader)
			}
		}, want: []string{"buckets-without-leader", "buckets-without-leader", "coordinator-stuck"}},
	} {
		t.Run(name, func(t *testing.T) {
			c.options.Tablets = 2
			cluster := started(t, c.options)
			table(t, cluster, 2)
			if c.happens != nil {
				c.happens(t, cluster)
			}
			got, _, err := storeOf(t, cluster, nil).Cluster(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(rules(got.Findings), c.want) {
				t.Errorf("%q, want %q\n%+v", rules(got.Findings), c.want, got)
			}
			text, err := json.Marshal(got)
			if err != nil || strings.Contains(string(text), `"abc"`) {
				t.Errorf("%s, %v", text, err)
			}
			for _, f := range got.Findings {
				if f.Next == "" {
					t.Errorf("%+v", f)
				}
			}
		})
	}
}

func TestTablesAreListed(t *testing.T) {
	c := started(t, flusstest.Options{})
	table(t, c, 2)
	daily, err := c.CreateTable(flusstest.Spec{Path: flussrpc.TablePath{Database: "shop", Table: "daily"}, Partition: "dt", Columns: []flusstest.Column{{Name: "dt", Type: "STRING"}}, Properties: map[string]string{"table.log.ttl": "2d"}})
	if err != nil {
		t.Fatal(err)
	}
	c.CreatePartition(daily, "2026-11-01")
	s := storeOf(t, c, nil)
	list, faults, err := s.List(t.Context(), "")
	if err != nil || len(faults) > 0 || len(list.Tables) != 2 || !list.Tables[0].ActionState || list.Tables[1].ActionState || list.Tables[1].TTL != "2d" || list.Tables[0].TTL != "7d" {
		t.Errorf("%+v, %v, %v", list, faults, err)
	}
	if list, _, err := s.List(t.Context(), "shop"); err != nil || len(list.Tables) != 1 {
		t.Error(list, err)
	}
	info, faults, err := s.Table(t.Context(), flussrpc.TablePath{Database: "shop", Table: "daily"})
	if err != nil || len(faults) > 0 || len(info.Partitions) != 1 || info.Partitions[0].Name != "2026-11-01" || info.Columns[0].Type != "STRING" {
		t.Errorf("%+v, %v, %v", info, faults, err)
	}
	if _, _, err := s.Table(t.Context(), flussrpc.TablePath{Database: "shop", Table: "gone"}); fault.KindOf(err) != fault.NotFound {
		t.Error(err)
	}
}

// Where a marker lies in each bucket, and how long its row is still there.
func TestBucketsAgainstAMarker(t *testing.T) {
	now := clock.NewFake(time.UnixMilli(1_800_000_000_000))
	c := started(t, flusstest.Options{Tablets: 2, Now: now.Now})
	spec := flusstest.ActionState(path, 5)
	spec.Replicas, spec.Properties = 2, map[string]string{"table.log.ttl": "2h"}
	id, err := c.CreateTable(spec)
	if err != nil {
		t.Fatal(err)
	}
	log := flussrpc.Log{Table: id, Partition: flussrpc.NoPartition}
	for b := range int32(5) {
		for n := range 6 {
			at := now.Now().Add(time.Duration(n-6) * 30 * time.Minute).UnixMilli()
			row(t, c, log, b, at, []byte("k"), []byte("{}"))
		}
	}
	c.Trim(log, 1, 4)
	s := fluss.New(client(t, c), now, nil)
	marker := inspect.Offsets{0: 4, 1: 2, 2: 6, 3: 9}
	got, faults, err := s.Buckets(t.Context(), path, flussrpc.NoPartition, "file:/p", marker)
	if err != nil || len(faults) > 0 {
		t.Fatal(faults, err)
	}
	var states []string
	for _, b := range got.Buckets {
		states = append(states, b.State)
		if len(b.Replicas) != 2 || b.Replicas[0].End == nil || *b.Replicas[1].End != 6 || b.Local == nil || b.Oldest == nil || b.Newest == nil {
			t.Errorf("%+v", b)
		}
	}
	if want := []string{fluss.BucketOK, fluss.BucketLost, fluss.BucketIdle, fluss.BucketReset, fluss.BucketUnknown}; !slices.Equal(states, want) {
		t.Errorf("%q, want %q", states, want)
	}
	if b := got.Buckets[0]; b.At == nil || !b.At.Equal(now.Now().Add(-time.Hour)) || b.Headroom != "1h0m0s" {
		t.Errorf("%+v", b)
	}
	if want := []string{"fluss-bucket-set", "fluss-data-loss", "fluss-data-loss"}; !slices.Equal(rules(got.Findings), want) {
		t.Errorf("%q", rules(got.Findings))
	}
	now.Advance(2 * time.Hour)
	if got, _, err = s.Buckets(t.Context(), path, flussrpc.NoPartition, "file:/p", marker); err != nil || !slices.Contains(rules(got.Findings), "row-may-expire") {
		t.Error(rules(got.Findings), err)
	}
}

func TestTimesAsFlussWritesThem(t *testing.T) {
	for text, want := range map[string]time.Duration{"7d": 168 * time.Hour, "20s": 20 * time.Second, "500ms": 500 * time.Millisecond, "1 h": time.Hour, "30min": 30 * time.Minute, "86400000": 24 * time.Hour} {
		if got := fluss.ParseDuration(text); got == nil || *got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
	for _, text := range []string{"-1", "", "7 weeks", "d", "99999999999999d"} {
		if got := fluss.ParseDuration(text); got != nil {
			t.Errorf("%s: %v", text, got)
		}
	}
}

func TestRowsAreShownAsTheyLie(t *testing.T) {
	c := started(t, flusstest.Options{})
	id, err := c.CreateTable(flusstest.Spec{Path: path, Buckets: 2, Columns: []flusstest.Column{{Name: "n", Type: "BIGINT"}, {Name: "b", Type: "BYTES"}, {Name: "f", Type: "DOUBLE"}}})
	if err != nil {
		t.Fatal(err)
	}
	log := flussrpc.Log{Table: id, Partition: flussrpc.NoPartition}
	for n := range 6 {
		if _, err := c.Append(log, int32(n%2), int64(n), []any{int64(n), []byte{0xff, byte(n)}, 0.5}, []any{nil, []byte("text"), nil}); err != nil {
			t.Fatal(err)
		}
	}
	s := storeOf(t, c, nil)
	read := func(q fluss.RowQuestion) (out []string) {
		t.Helper()
		q.Path, q.Partition = path, flussrpc.NoPartition
		if err := s.Rows(t.Context(), q, func(r fluss.Row) error {
			out = append(out, fmt.Sprintf("%d/%d %s %s %s", r.Bucket, r.Offset, r.Cells[0].Text(), r.Cells[1].Text(), r.Cells[2].Text()))
			return nil
		}); err != nil {
			t.Error(err)
		}
		return out
	}
	if got := read(fluss.RowQuestion{From: -1, To: -1}); len(got) != 12 || got[0] != "0/0 0 base64:/wA= 0.5" || got[1] != "0/1 null text null" || got[6] != "1/0 1 base64:/wE= 0.5" {
		t.Errorf("%q", got)
	}
	for want, q := range map[string]fluss.RowQuestion{
		"1/4 1/5":     {Buckets: []int32{1}, From: -1, To: -1, Last: 2},
		"0/3 0/4":     {Buckets: []int32{0}, From: 3, To: 5},
		"0/1 1/1":     {From: 1, To: -1, Limit: 1},
		"0/0 0/1 0/2": {Buckets: []int32{0}, From: -1, To: 3, Last: 9},
	} {
		var at []string
		for _, text := range read(q) {
			first, _, _ := strings.Cut(text, " ")
			at = append(at, first)
		}
		if got := strings.Join(at, " "); got != want {
			t.Errorf("%+v: %s, want %s", q, got, want)
		}
	}
	enough := fault.New(fault.Cancelled, "", "enough")
	if err := s.Rows(t.Context(), fluss.RowQuestion{Path: path, Partition: flussrpc.NoPartition, From: -1, To: -1}, func(fluss.Row) error { return enough }); fault.KindOf(err) != fault.Cancelled {
		t.Error(err)
	}
	if err := s.Rows(t.Context(), fluss.RowQuestion{Path: path, Partition: flussrpc.NoPartition, Buckets: []int32{7}}, nil); fault.KindOf(err) != fault.NotFound {
		t.Error(err)
	}
}
