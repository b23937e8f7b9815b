package inspect

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// The rows of a window are judged as the store on Fluss reads them: by their payloads
// alone, in every release, with Fluss's own words.
func TestTheRowsOfAWindowOnFluss(t *testing.T) {
	type row struct{ key, payload string }
	const state = `{"taskEvent":{"@class":"org.apache.flink.agents.api.InputEvent","id":"e0aa021e-21dd-4db8-8d1d-2f5a5a5a5a5a","attributes":{},"type":"t"},"callResults":[],"completed":true}`
	markers := []Marker{mapMarker(0, Offsets{0: 3, 1: 20})}
	table := flussTable(LogRange{0, 10}, LogRange{5, 20})
	for name, c := range map[string]struct {
		rows     []row // of bucket 0, from 3 on
		null     bool  // the last one has no payload
		err      error
		markers  []Marker
		unread   bool // the rows were not asked for
		verdict  Verdict
		says     string
		replayed int64 // -1: not known
		states   int64
	}{
		"states with keys of any layout": {rows: []row{{"a_b_0_e_a", state}, {"anything", state}, {"anything", state}}, verdict: Accepted, says: "3 records", replayed: 3, states: 2},
		"a payload that is none":         {rows: []row{{"k", state}, {"k", `{"completed":"maybe"}`}}, verdict: Rejected, says: "bucket 0, offset 4: ", replayed: 2, states: -1},
		"no payload":                     {rows: []row{{"k", state}, {"k", ""}}, null: true, verdict: Rejected, says: "bucket 0, offset 4: the row can't be decoded: it has no payload", replayed: 2, states: -1},
		"rows that could not be read":    {rows: []row{{"k", state}}, err: errors.New("nobody leads bucket 0"), verdict: Unknown, says: "nobody leads bucket 0", replayed: -1},
		"rows that nobody asked for":     {unread: true, verdict: Accepted, says: "not read: a row whose payload is no action state stops the restore", replayed: -1},
		"a fresh start":                  {markers: []Marker{}, verdict: Accepted, replayed: 0},
	} {
		for _, release := range []Release{Release03, ReleaseNext, ReleaseUnknown} {
			t.Run(name+" "+string(release), func(t *testing.T) {
				q := RestoreQuestion{Point: "file:/p", Job: Job{Store: StoreFluss, Topic: "agents.state", Runtime: release}, Markers: markers, Data: table, ReadWindow: !c.unread, WindowErr: c.err}
				if c.markers != nil {
					q.Markers = c.markers
				}
				scan := NewWindowScan(StoreFluss, 128)
				for i, r := range c.rows {
					payload := []byte(r.payload)
					if c.null && i == len(c.rows)-1 {
						payload = nil
					}
					scan.Visit(0, int64(3+i), []byte(r.key), payload)
				}
				if c.rows != nil {
					facts := scan.Facts()
					facts.Partitions = 2
					q.WindowRead = &facts
				}
				v := ValidateRestore(q)
				if v.Verdict != c.verdict {
					t.Fatalf("%s: %+v", v.Verdict, v.Rules)
				}
				var said []string
				for _, r := range v.Rules {
					said = append(said, r.Message)
					if strings.Contains(r.Message, "partition") || strings.Contains(r.Message, "topic") {
						t.Errorf("Kafka's words: %+v", r)
					}
				}
				said = append(said, v.Unchecked...)
				if !slices.ContainsFunc(said, func(text string) bool { return strings.Contains(text, c.says) }) {
					t.Errorf("%q is not said: %q", c.says, said)
				}
				switch {
				case c.replayed < 0 && v.Replayed != nil, c.replayed >= 0 && (v.Replayed == nil || v.Replayed.Records != c.replayed):
					t.Errorf("replayed %+v", v.Replayed)
				case c.replayed >= 0 && (c.states < 0) != (v.Replayed.States == nil), v.Replayed != nil && v.Replayed.States != nil && *v.Replayed.States != c.states:
					t.Errorf("states %+v", v.Replayed.States)
				}
				if c.verdict == Rejected && (v.Reasons[0].Named["bucket"] != int32(0) || v.Reasons[0].Code != "record-value-undecodable") {
					t.Errorf("%+v", v.Reasons)
				}
			})
		}
	}
}

// A row is taken apart as the job's store would: no payload is no end of an action.
func TestARowIsTakenApart(t *testing.T) {
	job := Job{Store: StoreFluss, BucketOf: func(string, int32) int32 { return 2 }}
	c := job.RecordContext()
	c.Partitions = 4
	const key = "alice_7_99914b93-2bd3-3a50-b983-c5e7c90ae93b_aa8af3eb-e148-31a7-8d1b-6d1383a03755"
	d := DecodeRecord(LogRecord{Partition: 1, Key: []byte(key), Producer: -1}, c)
	if d.Removes || d.State != nil || !strings.Contains(d.Problem, "no payload") || d.Refused == nil || d.Elsewhere == nil || *d.Elsewhere != 2 {
		t.Errorf("%+v", d)
	}
	d = DecodeRecord(LogRecord{Partition: 2, Key: []byte(key), Value: []byte(`{"callResults":[],"completed":true}`), Producer: -1}, c)
	if d.Refused != nil || d.Elsewhere != nil || d.State == nil || !d.State.Completed {
		t.Errorf("%+v", d)
	}
}
