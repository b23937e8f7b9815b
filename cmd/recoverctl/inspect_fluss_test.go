package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/inspect/fluss"
	"github.com/recoverctl/recoverctl/internal/flussrpc"
	"github.com/recoverctl/recoverctl/internal/flussrpc/write"
	"github.com/recoverctl/recoverctl/internal/testkit/flusstest"
)

// flussIncident is a Fluss cluster with an action-state table of which two calls
// are out, and a profile for it.
type flussIncident struct {
	*flusstest.Cluster
	log    flussrpc.Log
	config string
}

const flussTableName = "agents.state"

func startFlussIncident(t *testing.T) flussIncident {
	t.Helper()
	c, err := flusstest.Start(flusstest.Options{Tablets: 2, Users: map[string]string{"ops": "hunter2"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	id, err := c.CreateTable(flusstest.ActionState(flussrpc.TablePath{Database: "agents", Table: "state"}, 2))
	if err != nil {
		t.Fatal(err)
	}
	in := flussIncident{Cluster: c, log: flussrpc.Log{Table: id, Partition: flussrpc.NoPartition}}
	for n, agent := range []string{"customer-1", "customer-2", "customer-3", "customer-4"} {
		bucket := flussrpc.BucketOfString(agent, 2)
		status := "PENDING"
		if n > 1 {
			status = "SUCCEEDED"
		}
		payload := fmt.Sprintf(`{"taskEvent":{"type":"order","attributes":{}},"callResults":[{"functionId":"charge","argsDigest":"d","resultPayload":null,"exceptionPayload":null,"status":%q}],"completed":%t}`, status, n > 1)
		key := agent + "_0_99914b93-2bd3-3a50-b983-c5e7c90ae93b_aa8af3eb-e148-31a7-8d1b-6d1383a03755"
		if _, err := c.Append(in.log, bucket, time.Now().Add(-time.Hour).UnixMilli(), []any{key, []byte(payload), agent}); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("FLUSS_PASSWORD", "hunter2")
	in.config = filepath.Join(t.TempDir(), "config.yaml")
	text := fmt.Sprintf(`profiles:
  - name: orders
    environment: development
    jobs:
      - name: order-agent
        engine: flink-agents
        action-state: {store: fluss}
        fluss: {servers: [%s], table: %s, username: ops, password: {env: FLUSS_PASSWORD}}
`, strings.Join(c.Servers(), ", "), flussTableName)
	if err := os.WriteFile(in.config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return in
}

func (in flussIncident) run(t *testing.T, args ...string) outcome {
	t.Helper()
	return commandIn(t, []string{"HOME=" + t.TempDir()}, "", append([]string{"--config", in.config, "-p", "orders", "--timeout", "30s"}, args...)...)
}

// end is where a bucket's log ends.
func (in flussIncident) end(bucket int32) (n int64) {
	for _, agent := range []string{"customer-1", "customer-2", "customer-3", "customer-4"} {
		if flussrpc.BucketOfString(agent, 2) == bucket {
			n++
		}
	}
	return n
}

func markersAt(t *testing.T, offsets ...int64) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "markers.json")
	var parts []string
	for b, at := range offsets {
		parts = append(parts, fmt.Sprintf(`"%d":%d`, b, at))
	}
	if err := os.WriteFile(file, fmt.Appendf(nil, `{"markers":[{"kind":"legacy","offsets":{%s}}]}`, strings.Join(parts, ",")), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// A job whose action state lies in Fluss is asked the same questions as one of
// Kafka.
func TestAJobOnFluss(t *testing.T) {
	in := startFlussIncident(t)
	overview := decodeAnswer[inspect.JobOverview](t, "JobOverview", in.run(t, "inspect", "job", "-o", "json"))
	if len(overview.Data.Partitions) != 2 || overview.Data.Topic != flussTableName || overview.Data.TopicID != "0" || len(overview.Faults) > 0 {
		t.Errorf("%+v, %+v", overview.Data, overview.Faults)
	}
	calls := in.run(t, "inspect", "calls", "--status", "pending", "-o", "json")
	if strings.Count(calls.out, `"status":"PENDING"`) != 2 && strings.Count(calls.out, `"status": "PENDING"`) != 2 || !strings.Contains(calls.out, "customer-2") {
		t.Errorf("exit %d: %s %s", calls.code, calls.out, calls.errOut)
	}
	key := decodeAnswer[inspect.KeyState](t, "KeyState", in.run(t, "inspect", "key", "string:customer-2", "-o", "json"))
	if k := key.Data; k.Bucket == nil || *k.Bucket != flussrpc.BucketOfString("customer-2", 2) || k.Partition != nil || len(k.Actions) != 1 || k.Actions[0].Partition != *k.Bucket {
		t.Errorf("%+v, %+v", key.Data, key.Faults)
	}
	for name, c := range map[string]struct {
		offsets []int64
		verdict inspect.Verdict
		reason  string
	}{
		"from the start":     {[]int64{0, 0}, inspect.Accepted, ""},
		"nothing to be read": {[]int64{in.end(0), in.end(1)}, inspect.Accepted, ""},
		"behind the log":     {[]int64{9, 0}, inspect.Rejected, "fluss-data-loss"},
		"other buckets":      {[]int64{0, 0, 0}, inspect.Rejected, "fluss-bucket-set"},
	} {
		v := decodeAnswer[inspect.RestoreValidation](t, "RestoreValidation", in.run(t, "validate", "restore", "--markers", markersAt(t, c.offsets...), "-o", "json"))
		if v.Data.Verdict != c.verdict || c.reason != "" && v.Data.Reasons[0].Code != c.reason {
			t.Errorf("%s: %+v", name, v.Data)
		}
	}
	in.Trim(in.log, 1, in.end(1))
	if got := in.run(t, "validate", "restore", "--markers", markersAt(t, 0, in.end(1))); got.code != 0 || !strings.Contains(got.out, "accepted") {
		t.Errorf("an idle bucket: exit %d\n%s%s", got.code, got.out, got.errOut)
	}
	if in.end(1) > 0 {
		if got := in.run(t, "validate", "restore", "--markers", markersAt(t, 0, 0)); got.code != 1 || !strings.Contains(got.out, "the rows between expired") {
			t.Errorf("rows that are expired: exit %d\n%s%s", got.code, got.out, got.errOut)
		}
	}
}

func TestCommandsOnFluss(t *testing.T) {
	in := startFlussIncident(t)
	for name, c := range map[string]struct {
		args []string
		code int
		says []string
	}{
		"cluster":              {[]string{"inspect", "fluss", "cluster"}, 0, []string{"coordinator", in.Coordinator(), "tablet server 1", "reached", "***", "that may be secrets are told in clear text"}},
		"tables":               {[]string{"inspect", "fluss", "tables"}, 0, []string{flussTableName, "action state", "7d"}},
		"the job's table":      {[]string{"inspect", "fluss", "table"}, 0, []string{"table " + flussTableName + ", id 0", "agent_key", "yes: Flink Agents would use it"}},
		"a table":              {[]string{"inspect", "fluss", "table", flussTableName}, 0, []string{"state_payload", "BYTES"}},
		"no table":             {[]string{"inspect", "fluss", "table", "agents.gone"}, 6, []string{"does not exist", "may not see"}},
		"no name of a table":   {[]string{"inspect", "fluss", "table", "agents"}, 2, []string{"database.table"}},
		"buckets":              {[]string{"inspect", "fluss", "buckets"}, 0, []string{"bucket", "leader", "oldest row", "1h ago"}},
		"records":              {[]string{"inspect", "fluss", "records", "--last", "1"}, 0, []string{"state_key", "customer-", "+A", `"functionId":"charge"`}},
		"records as JSON":      {[]string{"inspect", "fluss", "records", "-o", "json"}, 0, []string{`"change":"+A"`, `"column":"agent_key"`}},
		"records of no bucket": {[]string{"inspect", "fluss", "records", "--bucket", "7"}, 6, []string{"has no bucket 7"}},
		"flags that disagree":  {[]string{"inspect", "fluss", "records", "--from", "1", "--last", "1"}, 2, []string{"only one of them"}},
		"no producer":          {[]string{"inspect", "fluss", "producer", "job-1"}, 0, []string{"nothing is stored", "sink.producer-id"}},
		"no id of a producer":  {[]string{"inspect", "fluss", "producer", "a b"}, 2, []string{"is no producer id"}},
		"producers by name":    {[]string{"inspect", "fluss", "producers", "job-1", "job-2"}, 0, []string{"job-2", "unknown"}},
		"a window on Fluss":    {[]string{"inspect", "records"}, 0, []string{"bucket 0: offsets 0 to 1", "customer-1", "charge#0 PENDING"}},
	} {
		got := in.run(t, c.args...)
		for _, want := range c.says {
			if !strings.Contains(got.out+got.errOut, want) {
				t.Errorf("%s does not say %q", name, want)
			}
		}
		if got.code != c.code || strings.Contains(got.out+got.errOut, "hunter2") {
			t.Errorf("%s: exit %d\n%s%s", name, got.code, got.out, got.errOut)
		}
	}
}

// The entry of a producer against the table, as text and as JSON.
func TestAProducerOnTheCommandLine(t *testing.T) {
	in := startFlussIncident(t)
	c, err := flusstest.Start(flusstest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	id, err := c.CreateTable(flusstest.ActionState(flussrpc.TablePath{Database: "agents", Table: "state"}, 1))
	if err != nil {
		t.Fatal(err)
	}
	log := flussrpc.Log{Table: id, Partition: flussrpc.NoPartition}
	for range 7 {
		if _, err := c.Append(log, 0, 1, []any{"k", nil, "a"}); err != nil {
			t.Fatal(err)
		}
	}
	client, err := flussrpc.NewClient(flussrpc.Config{Servers: c.Servers()})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if _, err := write.RegisterProducer(t.Context(), client, "job-1", []flussrpc.ProducerOffset{{Log: log, Bucket: 0, Offset: 3}}, 0); err != nil {
		t.Fatal(err)
	}
	adhoc := []string{"--fluss", strings.Join(c.Servers(), ","), "--table", flussTableName}
	got, _ := ask[fluss.Producer](t, "FlussProducer", append([]string{"inspect", "fluss", "producer", "job-1"}, adhoc...)...)
	if p := got.Data; !p.Found || p.Verdict != fluss.Safe || p.Undo == nil || *p.Undo != 4 || len(p.Tables) != 1 || p.Tables[0].Table != flussTableName || len(got.Faults) > 0 {
		t.Errorf("%+v, %+v", got.Data, got.Faults)
	}
	c.Trim(log, 0, 5)
	text := command(t, append([]string{"inspect", "fluss", "producer", "job-1"}, adhoc...)...)
	if text.code != 1 || !strings.Contains(text.out, "is NOT SAFE") || !strings.Contains(text.out, "is to be undone from 3, and its log starts at 5") {
		t.Errorf("exit %d\n%s%s", text.code, text.out, text.errOut)
	}
	in.KillCoordinator()
	if gone := in.run(t, "inspect", "fluss", "producer", "job-1"); gone.code != 4 || !strings.Contains(gone.errOut, "can't be reached") {
		t.Errorf("exit %d\n%s%s", gone.code, gone.out, gone.errOut)
	}
}
