package cases_test

import (
	"io/fs"
	"strconv"
	"strings"
	"testing"

	"github.com/recoverctl/recoverctl/internal/testkit/cases"
)

func TestEveryFileIsThere(t *testing.T) {
	counts := map[string]int{}
	err := fs.WalkDir(cases.FS(), ".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			counts[path[:len(path)-len(d.Name())]]++
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]int{"control/": 91, "restore/": 131, "plans/": 151, "plans/golden/": 17, "keys/": 2, "values/": 1, "apply/": 89} {
		if counts[dir] != want {
			t.Errorf("%s has %d files, want %d", dir, counts[dir], want)
		}
	}
}

// The ids and control records that are made here are the ones that Java wrote.
func TestPlansAreWrittenAsByJava(t *testing.T) {
	for _, c := range cases.Plans(t) {
		if !c.Accepted || c.Value == nil || c.Value.Source == cases.LongText || c.Value.Topic == cases.LongText {
			continue
		}
		p := cases.Plan{Source: c.Value.Source, Topic: c.Value.Topic, TopicID: c.Value.TopicID, Offsets: c.Value.Offsets}
		if id := p.ID(); id != c.PlanID {
			t.Errorf("%s: id %s, Java's is %s", c.Name, id, c.PlanID)
		}
	}
	for _, c := range cases.Controls(t) {
		if c.Name != "committed-then-applied" {
			continue
		}
		p := cases.Plan{Source: "file:/chk-1", Topic: c.Job.Topic, TopicID: c.Job.TopicID, Offsets: c.Boundary}
		for i, status := range []string{"COMMITTED", "APPLIED"} {
			key, value := p.ControlRecord(status)
			if string(key) != *c.Records[i].Key || string(value) != *c.Records[i].Value {
				t.Errorf("record %d: %s %s, Java wrote %s", i, key, value, *c.Records[i].Value)
			}
		}
	}
}

func TestWhatAReaderOfCommittedRecordsSees(t *testing.T) {
	text := func(s string) *string { return &s }
	records := []cases.Record{
		{Key: text("a"), Value: text("")},
		{Key: text("b"), Txn: "aborted-1"},
		{Key: text("c"), Txn: "aborted-1"},
		{Key: text("d"), Txn: "committed-2"},
		{Key: text("e"), Txn: "open-3"},
		{Key: text("f")},
	}
	seen, stable, end := cases.ReadCommitted(records)
	// Offset 3 is the control batch of the first transaction, 5 that of the second.
	if len(seen) != 2 || seen[0].Offset != 0 || string(seen[1].Key) != "d" || seen[1].Offset != 4 || stable != 6 || end != 8 {
		t.Errorf("seen %+v, stable %d, end %d", seen, stable, end)
	}
	if seen[0].Value == nil || seen[1].Value != nil {
		t.Error("an empty value and a null one are mixed up")
	}
}

func TestPlaceholdersAreFilled(t *testing.T) {
	names := cases.Names{Data: "data", DataID: "id-1", DataID2: "id-2", OtherID: "id-x", Control: "control"}
	for _, c := range cases.Restores(t, "on-", "off-", "window-") {
		filled, err := c.With(names)
		if err != nil {
			t.Fatal(err)
		}
		texts := []string{string(filled.Markers)}
		for _, p := range filled.Plans {
			texts = append(texts, p.Source, p.Topic, p.TopicID)
		}
		for _, r := range filled.FinalControlRecords() {
			texts = append(texts, string(r.KeyBytes()), string(r.ValueBytes()))
		}
		for _, s := range texts {
			if strings.Contains(s, "$") {
				t.Errorf("%s: %s", c.Name, s)
			}
		}
	}
}

// The records end where the broker's log ended.
func TestDataRecordsFillTheLog(t *testing.T) {
	for _, c := range cases.Restores(t, "on-", "off-", "window-") {
		end := map[string]int64{}
		for _, r := range c.DataRecords() {
			p := strconv.Itoa(int(r.Partition))
			if r.Offset < c.LogStart[p] || r.Offset >= c.LogEnd[p] || r.Offset < end[p] {
				t.Errorf("%s: a record at %d of partition %s, whose log is [%d, %d)", c.Name, r.Offset, p, c.LogStart[p], c.LogEnd[p])
			}
			end[p] = r.Offset + 1
		}
		for p, want := range c.LogEnd {
			if got := end[p]; want > c.LogStart[p] && want-got > 1 {
				t.Errorf("%s: partition %s ends at %d, the broker's at %d", c.Name, p, got, want)
			}
		}
	}
}
