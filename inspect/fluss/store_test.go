package fluss_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/inspect/fluss"
	"github.com/recoverctl/recoverctl/internal/clock"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/flussrpc"
	"github.com/recoverctl/recoverctl/internal/testkit/flusstest"
	"github.com/recoverctl/recoverctl/internal/testkit/topics"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var path = flussrpc.TablePath{Database: "agents", Table: "state"}

func started(t *testing.T, o flusstest.Options) *flusstest.Cluster {
	t.Helper()
	c, err := flusstest.Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func client(t *testing.T, c *flusstest.Cluster) *flussrpc.Client {
	t.Helper()
	cl, err := flussrpc.NewClient(flussrpc.Config{Servers: c.Servers(), Timeout: time.Minute, Patience: 3 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cl.Close)
	return cl
}

func storeOf(t *testing.T, c *flusstest.Cluster, files fluss.Files) *fluss.Store {
	t.Helper()
	return fluss.New(client(t, c), clock.System{}, files)
}

// table makes an action-state table.
func table(t *testing.T, c *flusstest.Cluster, buckets int) flussrpc.Log {
	t.Helper()
	id, err := c.CreateTable(flusstest.ActionState(path, buckets))
	if err != nil {
		t.Fatal(err)
	}
	return flussrpc.Log{Table: id, Partition: flussrpc.NoPartition}
}

func described(t *testing.T, s *fluss.Store) inspect.DataTopic {
	t.Helper()
	data, err := s.DataTopic(t.Context(), path.String())
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// row writes one state, as the job's store does: by itself.
func row(t *testing.T, c *flusstest.Cluster, log flussrpc.Log, bucket int32, at int64, key, payload []byte) {
	t.Helper()
	var value any
	if payload != nil {
		value = payload
	}
	var text any
	if key != nil {
		text = string(key)
	}
	if _, err := c.Append(log, bucket, at, []any{text, value, "agent"}); err != nil {
		t.Fatal(err)
	}
}

// load writes the states of a real job as they lay, offsets included.
func load(t *testing.T, c *flusstest.Cluster, from topics.Topic) {
	t.Helper()
	log := table(t, c, from.Expected.Partitions)
	for _, r := range from.Expected.Offsets {
		next := int64(0)
		skip := func(to int64) {
			if to > next {
				c.AppendEmpty(log, r.Partition, 0, int(to-next))
				next = to
			}
		}
		skip(r.Start)
		for _, record := range from.Records {
			if record.Partition == r.Partition {
				skip(record.Offset)
				row(t, c, log, r.Partition, record.Timestamp, record.Key, record.Value)
				next++
			}
		}
		skip(r.End)
		c.Trim(log, r.Partition, r.Start)
	}
}

// shown shows the same states to a scan without any server. A null payload is no
// end of an action in Fluss.
func shown(topic topics.Topic, q inspect.CallQuestion) inspect.DurableCalls {
	extent := inspect.ScanExtent{From: inspect.Offsets{}, To: inspect.Offsets{}, Read: inspect.Offsets{}}
	var ids []int32
	span := int64(0)
	for _, r := range topic.Expected.Offsets {
		ids = append(ids, r.Partition)
		extent.From[r.Partition], extent.To[r.Partition], extent.Read[r.Partition] = r.Start, r.End, r.End
		span += r.End - r.Start
	}
	extent.Gaps = span - int64(len(topic.Records))
	scan := inspect.NewCallScan(q, ids)
	for range 2 {
		for _, r := range topic.Records {
			value := r.Value
			if value == nil {
				value = []byte{}
			}
			scan.Visit(r.Partition, r.Offset, r.Timestamp, r.Key, value)
		}
		if len(scan.Second(extent)) == 0 {
			break
		}
	}
	return scan.Finish(extent)
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// States of real jobs give the same answer out of a table as one by one; what that
// answer must be is tested beside the rules.
func TestCallsOfRealJobs(t *testing.T) {
	for _, topic := range topics.All(t) {
		t.Run(topic.Name, func(t *testing.T) {
			c := started(t, flusstest.Options{Tablets: 2})
			load(t, c, topic)
			s := storeOf(t, c, nil)
			q := inspect.CallQuestion{Job: inspect.Job{Store: inspect.StoreFluss, Topic: path.String(), BucketOf: flussrpc.BucketOfString}, All: true}
			want := shown(topic, q)
			told := 0
			got, err := s.ReadCalls(t.Context(), described(t, s), q, func(u inspect.CallUpdate) { told += len(u.Changed) })
			if err != nil {
				t.Fatal(err)
			}
			if a, b := asJSON(t, got), asJSON(t, want); a != b {
				t.Errorf("through the cluster\n%.3000s\none by one\n%.3000s", a, b)
			}
			atRisk := slices.DeleteFunc(slices.Clone(got.Actions), func(a inspect.ActionCalls) bool { return a.Completed || len(a.Calls) == 0 })
			if told != len(atRisk) {
				t.Errorf("a watcher was told of %d actions, %d are at risk", told, len(atRisk))
			}
		})
	}
}

const (
	event  = "99914b93-2bd3-3a50-b983-c5e7c90ae93b"
	action = "aa8af3eb-e148-31a7-8d1b-6d1383a03755"
)

// pending is a state with one call out.
func pending(t *testing.T, c *flusstest.Cluster, log flussrpc.Log, bucket int32, agent string) {
	t.Helper()
	value := `{"taskEvent":{"type":"t","attributes":{}},"callResults":[{"functionId":"charge","argsDigest":"","resultPayload":null,"exceptionPayload":null,"status":"PENDING"}],"completed":false}`
	if _, err := c.Append(log, bucket, 1000, []any{fmt.Sprintf("%s_0_%s_%s", agent, event, action), []byte(value), agent}); err != nil {
		t.Fatal(err)
	}
}

// Where a bucket can't be read to its end, the calls of the others are all there,
// and what is missing is said.
func TestAScanThatIsPartial(t *testing.T) {
	for name, c := range map[string]struct {
		happens func(*flusstest.Cluster, flussrpc.Log, *inspect.DataTopic)
		kind    fault.Kind
		says    string
		found   int // in bucket 0
	}{
		"its server is gone":     {func(c *flusstest.Cluster, _ flussrpc.Log, _ *inspect.DataTopic) { c.KillTablet(0) }, fault.Unreachable, "bucket 0 was read from offset 0 to 0, and not to its end 6", 0},
		"rows expired meanwhile": {func(c *flusstest.Cluster, log flussrpc.Log, _ *inspect.DataTopic) { c.Trim(log, 0, 4) }, fault.Drift, "bucket 0 was not read from offset 0 to 4", 2},
		"its end went back":      {func(c *flusstest.Cluster, log flussrpc.Log, _ *inspect.DataTopic) { c.Truncate(log, 0, 2) }, fault.Drift, "its end was 6 and is 2", 2},
		"a batch is damaged":     {func(c *flusstest.Cluster, log flussrpc.Log, _ *inspect.DataTopic) { c.Damage(log, 0, 3) }, fault.Corrupt, "checksum", 3},
		"its offsets were unknown": {func(_ *flusstest.Cluster, _ flussrpc.Log, d *inspect.DataTopic) {
			d.Partitions[0].Err = fault.New(fault.Unreachable, "", "no leader")
		}, fault.Unreachable, "no leader", 0},
	} {
		t.Run(name, func(t *testing.T) {
			cluster := started(t, flusstest.Options{Tablets: 2})
			log := table(t, cluster, 2)
			for n := range 12 {
				pending(t, cluster, log, int32(n%2), fmt.Sprintf("k%d-%d", n%2, n))
			}
			s := storeOf(t, cluster, nil)
			data := described(t, s)
			c.happens(cluster, log, &data)
			got, err := s.ReadCalls(t.Context(), data, inspect.CallQuestion{Job: inspect.Job{Store: inspect.StoreFluss}}, nil)
			var keys [2]int
			for _, a := range got.Actions {
				keys[a.Partition]++
			}
			if fault.KindOf(err) != c.kind || !strings.Contains(fmt.Sprint(err), c.says) || !got.Scanned.Partial || keys != [2]int{c.found, 6} || got.Scanned.Read[1] != 6 {
				t.Errorf("%v (%v), %+v, %v", err, fault.KindOf(err), got.Scanned, keys)
			}
		})
	}
}

func TestATableThatIsNotTheOneThatWasDescribed(t *testing.T) {
	c := started(t, flusstest.Options{})
	log := table(t, c, 1)
	s := storeOf(t, c, nil)
	data := described(t, s)
	c.DropTable(log.Table)
	table(t, c, 1)
	got, err := s.ReadCalls(t.Context(), data, inspect.CallQuestion{}, nil)
	if fault.KindOf(err) != fault.Drift || !got.Scanned.Partial || got.Actions == nil {
		t.Errorf("%v, %+v", err, got.Scanned)
	}
}

// Where a lake brings its own hash, and where there is no bucket key, nobody can say
// in which bucket a key belongs.
func TestRowsWhoseBucketNobodyCanCompute(t *testing.T) {
	for name, x := range map[string]struct {
		change    func(*flusstest.Spec)
		elsewhere bool
	}{
		"Fluss's own hash":        {func(*flusstest.Spec) {}, true},
		"of the format of Paimon": {func(s *flusstest.Spec) { s.Properties = map[string]string{"table.datalake.format": "PAIMON"} }, false},
		"of the format of Lance":  {func(s *flusstest.Spec) { s.Properties = map[string]string{"table.datalake.format": "lance"} }, true},
		"without a bucket key":    {func(s *flusstest.Spec) { s.BucketKey = nil }, false},
	} {
		t.Run(name, func(t *testing.T) {
			c := started(t, flusstest.Options{})
			spec := flusstest.ActionState(path, 3)
			x.change(&spec)
			id, err := c.CreateTable(spec)
			if err != nil {
				t.Fatal(err)
			}
			pending(t, c, flussrpc.Log{Table: id, Partition: flussrpc.NoPartition}, 1, "key-0") // of bucket 2
			s := storeOf(t, c, nil)
			got, err := s.ReadCalls(t.Context(), described(t, s), inspect.CallQuestion{Job: inspect.Job{Store: inspect.StoreFluss, BucketOf: flussrpc.BucketOfString}}, nil)
			if err != nil || len(got.Actions) != 1 || (got.Actions[0].Elsewhere != nil) != x.elsewhere {
				t.Errorf("%+v, %v", got.Actions, err)
			}
			if told := slices.ContainsFunc(got.Findings, func(f inspect.Finding) bool { return f.Rule == "records-elsewhere" }); told != x.elsewhere {
				t.Errorf("%+v", got.Findings)
			}
		})
	}
}

// A key that lies in another bucket than it computes to is told.
func TestRowsInAnotherBucket(t *testing.T) {
	c := started(t, flusstest.Options{})
	log := table(t, c, 3)
	for _, agent := range []string{"test-key", "key-0", "key-1"} { // of buckets 1, 2, 2
		pending(t, c, log, 1, agent)
	}
	s := storeOf(t, c, nil)
	got, err := s.ReadCalls(t.Context(), described(t, s), inspect.CallQuestion{Job: inspect.Job{Store: inspect.StoreFluss, BucketOf: flussrpc.BucketOfString}}, nil)
	if err != nil || len(got.Actions) != 3 {
		t.Fatal(err, got.Actions)
	}
	for _, a := range got.Actions {
		if right := *a.Key.Text == "test-key"; right != (a.Elsewhere == nil) || !right && *a.Elsewhere != 2 {
			t.Errorf("%+v", a)
		}
	}
	at := slices.IndexFunc(got.Findings, func(f inspect.Finding) bool { return f.Rule == "records-elsewhere" })
	if at < 0 {
		t.Fatal(got.Findings)
	}
	f := got.Findings[at]
	if f.Cause != "2 records lie in another bucket than their keys compute to with 3 buckets: the job may look for them elsewhere" ||
		strings.Contains(f.Next, "topic") || !slices.Equal(f.Refs, []string{"bucket 1 offset 1", "bucket 1 offset 2"}) || f.Numbers["buckets"] != int32(3) {
		t.Errorf("%+v", f)
	}
}

func TestWhatATableIsNow(t *testing.T) {
	c := started(t, flusstest.Options{Tablets: 2})
	s := storeOf(t, c, nil)
	if data := described(t, s); data.Exists {
		t.Errorf("%+v", data)
	}
	log := table(t, c, 2)
	for range 3 {
		pending(t, c, log, 1, "a")
	}
	c.Trim(log, 1, 1)
	data := described(t, s)
	if !data.Exists || data.TopicID != "0" || len(data.Partitions) != 2 || data.Partitions[1].Log != (inspect.LogRange{Start: 1, End: 3}) || data.Partitions[1].Leader != 1 {
		t.Errorf("%+v", data)
	}
	if ttl, _ := data.Setting("table.log.ttl"); ttl != "7d" {
		t.Errorf("%+v", data.Settings)
	}
	c.KillTablet(1)
	data, err := s.DataTopic(t.Context(), path.String())
	if err != nil || data.Partitions[0].Err != nil || fault.KindOf(data.Partitions[1].Err) != fault.Unreachable || data.Partitions[1].Leader >= 0 {
		t.Errorf("%+v, %v", data, err)
	}
	if _, err := s.DataTopic(t.Context(), "no dot"); fault.KindOf(err) != fault.Usage {
		t.Error(err)
	}
}

func TestTablesThatHoldNoActionState(t *testing.T) {
	columns := func(names ...string) (out []flusstest.Column) {
		for _, n := range names {
			name, kind, _ := strings.Cut(n, " ")
			out = append(out, flusstest.Column{Name: name, Type: kind})
		}
		return out
	}
	whole := columns("state_key STRING", "state_payload BYTES", "agent_key STRING")
	for says, spec := range map[string]flusstest.Spec{
		"it has no column state_payload":                     {Columns: columns("state_key STRING", "agent_key STRING")},
		"its column state_key is of type BYTES and not STRI": {Columns: columns("state_key BYTES", "state_payload BYTES", "agent_key STRING")},
		"it has a primary key":                               {Columns: whole, Primary: []string{"state_key"}},
		"it has partitions":                                  {Columns: whole, Partition: "agent_key"},
	} {
		c := started(t, flusstest.Options{})
		spec.Path = path
		if _, err := c.CreateTable(spec); err != nil {
			t.Fatal(err)
		}
		_, err := storeOf(t, c, nil).DataTopic(t.Context(), path.String())
		if fault.KindOf(err) != fault.Unsupported || !strings.Contains(fmt.Sprint(err), says) || fault.Of(err).Hint == "" {
			t.Errorf("%v, want %s", err, says)
		}
	}
}

// disk reads remote storage from this machine.
type disk struct{}

func (disk) Read(_ context.Context, uri string, offset, size int64) ([]byte, error) {
	f, err := os.Open(strings.TrimPrefix(uri, "file:"))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data := make([]byte, size)
	if _, err := f.ReadAt(data, offset); errors.Is(err, io.EOF) {
		return nil, io.ErrUnexpectedEOF
	} else if err != nil {
		return nil, err
	}
	return data, nil
}

func (disk) Folders(_ context.Context, uri string) (out []string, err error) {
	entries, err := os.ReadDir(strings.TrimPrefix(uri, "file:"))
	for _, e := range entries {
		if e.IsDir() {
			out = append(out, e.Name())
		}
	}
	return out, err
}

// Calls whose rows lie in remote storage are found there, and where that is not
// read, the answer says what is missing.
func TestCallsInRemoteStorage(t *testing.T) {
	c := started(t, flusstest.Options{})
	log := table(t, c, 1)
	for n := range 5 {
		pending(t, c, log, 0, fmt.Sprintf("k%d", n))
	}
	if _, err := c.Tier(log, 0, 3, t.TempDir()); err != nil {
		t.Fatal(err)
	}
	for _, files := range []fluss.Files{disk{}, nil} {
		s := storeOf(t, c, files)
		got, err := s.ReadCalls(t.Context(), described(t, s), inspect.CallQuestion{Job: inspect.Job{Store: inspect.StoreFluss}}, nil)
		switch {
		case files != nil && (err != nil || len(got.Actions) != 5 || got.Scanned.Partial):
			t.Errorf("%v, %+v", err, got.Scanned)
		case files == nil && (fault.KindOf(err) != fault.Unsupported || len(got.Actions) != 2 || !got.Scanned.Partial || !strings.Contains(err.Error(), "bucket 0 was not read from offset 0 to 3")):
			t.Errorf("%v, %+v", err, got.Scanned)
		}
	}
}
