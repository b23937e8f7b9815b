package actions_test

import (
	"strings"
	"testing"
	"time"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/inspect/fluss"
)

func ptrTo[T any](v T) *T { return &v }

// entry is what a coordinator keeps: two buckets of one table, one of a partition
// of another.
func entry() fluss.Producer {
	return fluss.Producer{
		ID: "orders-sink", Found: true, Expires: ptrTo(time.Date(2026, 11, 30, 4, 0, 0, 250_000_000, time.UTC)),
		Tables: []fluss.ProducerTable{
			{ID: 3, Table: "shop.orders", Buckets: []fluss.ProducerBucket{{Bucket: 0, Baseline: ptrTo[int64](8)}, {Bucket: 1}}},
			{ID: 4, Table: "shop.days", Partition: ptrTo[int64](7), Name: "2026", Buckets: []fluss.ProducerBucket{{Bucket: 0, Baseline: ptrTo[int64](0)}}},
		},
	}
}

func producerEvidence(p fluss.Producer) actions.FlussEvidence {
	return actions.FlussEvidence{Cluster: "coordinator:9123", Entry: p, At: time.Date(2026, 11, 30, 3, 0, 0, 0, time.UTC)}
}

func deletes(t *testing.T) actions.Document {
	t.Helper()
	d, p := actions.ProducerDeleteFrom(producerEvidence(entry()))
	if p != nil {
		t.Fatal(p.Message)
	}
	return d
}

func registers(t *testing.T) actions.Document {
	t.Helper()
	d, p := actions.ProducerRegisterFrom(producerEvidence(fluss.Producer{ID: "orders-sink"}), actions.ProducerAsk{TTL: 2 * time.Hour, Logs: []actions.ProducerLog{
		{Table: 3, Partition: -1, Name: "shop.orders", Buckets: []actions.BucketBaseline{{Bucket: 1, Offset: ptrTo[int64](4)}, {Bucket: 0, Offset: ptrTo[int64](10)}}},
	}})
	if p != nil {
		t.Fatal(p.Message)
	}
	return d
}

// A plan holds the whole entry, in one way, and is read back as it was written.
func TestAProducerPlanHoldsTheEntry(t *testing.T) {
	d := deletes(t)
	var facts []string
	for _, f := range d.Facts {
		facts = append(facts, f.Name+" "+*f.Before)
	}
	want := "expires 2026-11-30T04:00:00.250Z; table 3 0=8 1=none; table 4 partition 7 0=0"
	if got := strings.Join(facts, "; "); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	read, p := actions.ParseDocument(d.Encode())
	if p != nil || read.PlanID != d.PlanID {
		t.Fatal(p)
	}
	if got := actions.ProducerPlanOf(read); got.ID != "orders-sink" || len(got.Logs) != 2 || got.Logs[1].Partition != 7 || got.Logs[0].Buckets[1].Offset != nil {
		t.Errorf("%+v", got)
	}
	r := registers(t)
	if got := *r.Facts[1].After; got != "0=10 1=4" {
		t.Errorf("offsets %s", got)
	}
	if got := actions.ProducerPlanOf(r).TTL; got != 2*time.Hour {
		t.Errorf("time to live %s", got)
	}
}

// What somebody makes of a plan by hand is none, whatever id it is given.
func TestAProducerPlanThatWasMadeByHandIsRefused(t *testing.T) {
	for name, tt := range map[string]struct {
		of       func(*testing.T) actions.Document
		was, now string
		code     string
	}{
		"other offsets":        {deletes, "0=8", "0=9", "plan-target-unknown"},
		"another expiry":       {deletes, "04:00:00.250Z", "05:00:00.250Z", "plan-target-unknown"},
		"an odd expiry":        {deletes, "2026-11-30T04:00:00.250Z", "tomorrow", "plan-target-unknown"},
		"an id with a dot":     {deletes, `"name":"orders-sink"`, `"name":"orders.sink"`, "producer-id"},
		"of Kafka":             {deletes, `"backend":"fluss"`, `"backend":"kafka"`, "plan-target-unknown"},
		"no log":               {deletes, `"name":"table 3"`, `"name":"table three"`, "fact-not-allowed"},
		"another way to write": {deletes, "0=8 1=none", "0=08 1=none", "fact-not-allowed"},
		"something after":      {deletes, `"after":null`, `"after":"x"`, "fact-not-allowed"},
		"a parameter":          {deletes, `"parameters":{}`, `"parameters":{"x":"y"}`, "parameter-unknown"},
		"a negative offset":    {registers, "0=10", "0=-10", "plan-target-unknown"},
		"another time":         {registers, `"ttl-ms":"7200000"`, `"ttl-ms":"1"`, "fact-not-allowed"},
		"no time":              {registers, `"ttl-ms":"7200000"`, `"ttl-ms":"soon"`, "parameter-value"},
		"from nowhere":         {registers, `"offsets-from":"file"`, `"offsets-from":"hell"`, "parameter-value"},
		"the id alone":         {registers, `"planId":"`, `"planId":"0`, "plan-id-mismatch"},
	} {
		text := string(tt.of(t).Encode())
		changed := strings.Replace(text, tt.was, tt.now, 1)
		if changed == text {
			t.Fatalf("%s: %q is not in %s", name, tt.was, text)
		}
		if _, p := actions.ParseDocument([]byte(changed)); p == nil || p.Code != tt.code {
			t.Errorf("%s: %+v, want %s", name, p, tt.code)
		}
	}
}

// What the next start does is told from the entry as it is.
func TestWhatTheNextStartDoes(t *testing.T) {
	expired := entry()
	expired.Expired = true
	undo := entry()
	undo.Undo = ptrTo[int64](12_345)
	hidden := entry()
	hidden.Tables = nil
	for name, tt := range map[string]struct {
		entry fluss.Producer
		says  string
	}{
		"nothing":    {fluss.Producer{}, "registers the log ends as they are then: it undoes nothing, and unfinished rows before them stay for good"},
		"expired":    {expired, "The entry there has expired and does not count"},
		"unreadable": {fluss.Producer{Found: true}, "waits 5 minutes for offsets that nobody can read, and fails"},
		"undo":       {undo, "before 2026-11-30T04:00:00.250Z keeps the stored offsets and undoes the 12,345 rows written since"},
		"not known":  {entry(), "undoes the rows since; how many could not be read"},
		"hidden":     {hidden, "this user sees none of them"},
	} {
		got := actions.NextStart(tt.entry)
		if !strings.Contains(got, tt.says) || !strings.HasSuffix(got, "A restore from a checkpoint takes its baseline from the checkpoint, if that has one.") {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// Offsets that were registered and have expired, or whose coordinator has another clock,
// are not called not registered; an expired entry that the plan found is.
func TestOffsetsThatExpiredWereRegistered(t *testing.T) {
	expired := entry()
	expired.Expired = true
	logs := []actions.ProducerLog{
		{Table: 3, Partition: -1, Buckets: []actions.BucketBaseline{{Bucket: 0, Offset: ptrTo[int64](8)}, {Bucket: 1, Offset: ptrTo[int64](4)}}},
		{Table: 4, Partition: 7, Buckets: []actions.BucketBaseline{{Bucket: 0, Offset: ptrTo[int64](0)}}},
	}
	expired.Tables[0].Buckets[1].Baseline = ptrTo[int64](4)
	for name, tt := range map[string]struct {
		found fluss.Producer // by the plan
		want  actions.Outcome
	}{
		"registered since": {fluss.Producer{ID: "orders-sink"}, actions.Undecided},
		"there before":     {expired, actions.NotStarted},
	} {
		d, p := actions.ProducerRegisterFrom(producerEvidence(tt.found), actions.ProducerAsk{Logs: logs, TTL: time.Minute})
		if p != nil {
			t.Fatal(p.Message)
		}
		if v := actions.JudgeProducer(d, producerEvidence(expired)); v.Verdict != tt.want {
			t.Errorf("%s: %s: %s", name, v.Verdict, v.Message)
		}
	}
}
