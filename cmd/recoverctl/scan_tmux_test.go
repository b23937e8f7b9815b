//go:build real && tmux

package main

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/flinkkey"
	"github.com/recoverctl/recoverctl/internal/testkit/incident"
	"github.com/recoverctl/recoverctl/internal/testkit/kafkatest"
	"github.com/recoverctl/recoverctl/internal/testkit/topics"
)

// scanRecordsEnv says how many records the topic has; 1,000,000 where it is not set.
const scanRecordsEnv = "RECOVERCTL_SCAN_RECORDS"

// An operator moves through the calls of a million records while they are scanned.
// Each key moves the cursor, no letter of a filter is lost, and the memory stays
// where it is.
func TestMovingThroughAScan(t *testing.T) {
	cluster := kafkatest.Real(t)
	records, err := strconv.Atoi(cmp.Or(os.Getenv(scanRecordsEnv), "1000000"))
	if err != nil {
		t.Fatal(err)
	}
	const partitions = 8
	topic := cluster.Topic(t, partitions, map[string]string{"cleanup.policy": "compact,delete", "retention.ms": "-1", "retention.bytes": "-1", "min.compaction.lag.ms": "86400000"})
	id, err := cluster.TopicID(t.Context(), topic)
	if err != nil {
		t.Fatal(err)
	}
	ends := inspect.Offsets{}
	fill(t, cluster, topic, written(topics.Traffic{Records: records, Keys: 20_000, Size: 1000, Partitions: partitions}, ends))
	folder := filepath.Join(t.TempDir(), "4f3c92d07be1458a96c0d1e2f3a4b5c6")
	for n, percent := range []int64{70, 90} {
		at := inspect.Offsets{}
		for p, end := range ends {
			at[p] = end * percent / 100
		}
		c := incident.Checkpoint{ID: int64(43 + n), Topic: topic, TopicID: base64.RawURLEncoding.EncodeToString(id[:]), Offsets: at, Taken: time.Now().Add(time.Duration(10*n-12) * time.Minute)}
		if _, err := c.Write(filepath.Join(folder, fmt.Sprint("chk-", c.ID))); err != nil {
			t.Fatal(err)
		}
	}

	p := startPane(t, 200, 60, fmt.Sprintf("HOME=%s %s --brokers %s --topic %s --points file:%s --runtime next", t.TempDir(), binary(t), strings.Join(cluster.Brokers(), ","), topic, folder))
	p.until("the job", shows("2 recovery points"))
	p.press("Enter")
	p.until("the job's screen", shows("chk-44"))
	began := time.Now()
	p.press("c")
	p.until("a call", func(frame string) bool { return strings.Contains(frame, "scanning: ") && selected(frame) != "" })
	first := time.Since(began)

	var waits []time.Duration
	var sampled []int64
	missed, moves := 0, 0
	frame := p.frame()
	kept := false
	for i := 0; strings.Contains(frame, "scanning: "); i++ {
		// They end on the first row, where they began, however few rows there are yet.
		key, before := []string{"j", "k", "NPage", "PPage"}[i%4], selected(frame)
		begin := time.Now()
		p.press(key)
		for selected(frame) == before && time.Since(begin) < 2*time.Second {
			frame = p.frame()
		}
		if moves++; selected(frame) == before {
			missed++
		}
		waits = append(waits, time.Since(begin))
		sampled = append(sampled, p.memory())
		if !kept && len(waits) == 8 {
			kept = true
			p.keep("scan-running-200x60.txt")
		}
	}
	p.until("the end of the scan", shows("all read"))
	p.until("what a restore does", shows("run again: "))
	p.keep("scan-ended-200x60.txt")
	sampled = append(sampled, p.memory())

	p.press("r")
	p.until("another scan", shows("scanning again"))
	const typed = "state:pending age>2h"
	p.press("/")
	for _, letter := range typed {
		p.press("-l", string(letter))
	}
	p.until("the whole filter", shows("/"+typed))
	p.press("Enter")
	p.keep("scan-filtered-200x60.txt")
	p.until("the end of the second scan", func(frame string) bool { return !strings.Contains(frame, "scanning again") })
	p.until("what passes the filter", shows("rows, esc shows all"))
	sampled = append(sampled, p.memory())
	t.Logf("%d records: the first call after %v; %d keys while it was scanned, %d without an effect", records, first.Round(time.Millisecond), moves, missed)
	if moves == 0 || missed > 0 {
		t.Errorf("%d of %d keys moved nothing", missed, moves)
	}
	slices.Sort(waits)
	if len(waits) > 0 {
		t.Logf("key to another row in tmux: median %v, at most %v", waits[len(waits)/2].Round(time.Millisecond), waits[len(waits)-1].Round(time.Millisecond))
	}
	half := slices.Max(sampled[:max(1, len(sampled)/2)])
	most := slices.Max(sampled)
	t.Logf("resident memory: %d MiB at most in the first half of the scan, %d MiB in all", half>>10, most>>10)
	if most > 256<<10 {
		t.Errorf("%d MiB, more than 256", most>>10)
	}
}

// written is traffic as a job would have written it: each record on the partition
// that its key computes to, the last one just now. It counts them in ends.
func written(traffic topics.Traffic, ends inspect.Offsets) iter.Seq2[int32, topics.Record] {
	return func(yield func(int32, topics.Record) bool) {
		begun := time.Now().Add(-time.Duration(traffic.Records) * 20 * time.Millisecond)
		n := 0
		for _, r := range traffic.All() {
			key := string(r.Key)
			partition := flinkkey.Partition(key[strings.LastIndexByte(key, '_')+1:], traffic.Partitions)
			r.Timestamp = begun.Add(time.Duration(n) * 20 * time.Millisecond).UnixMilli()
			ends[partition]++
			n++
			if !yield(partition, r) {
				return
			}
		}
	}
}
