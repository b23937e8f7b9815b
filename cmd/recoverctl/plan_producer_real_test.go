//go:build real

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/recoverctl/recoverctl/internal/flussrpc"
	"github.com/recoverctl/recoverctl/internal/testkit/flusstest"
)

// realProducers is a new table of the real cluster, with 14 rows in two buckets by
// Fluss's own client, and a producer of it.
func realProducers(t *testing.T, c *flusstest.RealCluster, java *flusstest.Java) producerScene {
	t.Helper()
	db := fmt.Sprintf("p%d", time.Now().UnixNano())
	java.Do(t, nil, "create", db, "orders", "rows", "2", "1", "")
	java.Do(t, nil, "rows", db, "orders", "14", "14")
	client := c.Client(t)
	table, err := client.Table(t.Context(), flussrpc.TablePath{Database: db, Table: "orders"})
	if err != nil {
		t.Fatal(err)
	}
	s := producerScene{
		t: t, client: client, log: flussrpc.Log{Table: table.ID, Partition: flussrpc.NoPartition}, state: t.TempDir(), producer: db + "-sink",
		table: db + ".orders",
	}
	s.flags = s.as(c, c.Admin)
	for _, o := range client.Offsets(t.Context(), table, flussrpc.NoPartition, []int32{0, 1}, flussrpc.Latest) {
		if o.Err != nil {
			t.Fatal(o.Err)
		}
		s.ends = append(s.ends, o.Offset)
	}
	return s
}

// before is an entry two rows before the ends. The client writes a batch to a bucket
// of its choice.
func (s producerScene) before() []int64 {
	out := slices.Clone(s.ends)
	out[slices.Index(out, slices.Max(out))] -= 2
	return out
}

// as are the flags of a user: an authorizer shows a table to no one else.
func (s producerScene) as(c *flusstest.RealCluster, user flussrpc.Login) []string {
	s.t.Helper()
	file := filepath.Join(s.t.TempDir(), "config.yaml")
	password := filepath.Join(s.t.TempDir(), "password")
	if err := os.WriteFile(password, []byte(user.Password.Reveal()), 0o600); err != nil {
		s.t.Fatal(err)
	}
	text := fmt.Sprintf(`profiles:
  - name: sink
    environment: production
    access: operate
    jobs:
      - name: orders
        engine: fluss-sink
        fluss: {servers: [%s], table: %s, username: %s, password: {file: %q}}
`, strings.Join(c.SASL, ", "), s.table, user.Username, password)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
	return []string{"--config", file, "-p", "sink"}
}

// seen compares what Fluss's own client reads.
func (s producerScene) seen(java *flusstest.Java, want ...int64) {
	s.t.Helper()
	var entry struct {
		Found   bool
		Offsets []struct {
			Bucket int32
			Offset int64
		}
	}
	java.Do(s.t, &entry, "producer", s.producer)
	got := make([]int64, len(entry.Offsets))
	for _, o := range entry.Offsets {
		got[o.Bucket] = o.Offset
	}
	if entry.Found != (len(want) > 0) || !slices.Equal(got, want) {
		s.t.Errorf("Fluss's own client reads %+v, want %v", entry, want)
	}
}

// From the plan to the receipt, on a real cluster, and read by Fluss's own client.
func TestRealProducerFromThePlanToTheReceipt(t *testing.T) {
	c := flusstest.Real(t)
	java := c.Java(t)
	s := realProducers(t, c, java)
	s.stored(s.before()...)
	file, id := s.deletes()
	s.says(s.run("plan", "show", file), 0, "! unfinished-rows-stay: 2 rows since the stored offsets")
	s.says(s.run("verify", file), 1, "· not-started")
	s.says(s.run(s.applyArgs(file, id)...), 0, "✔ applied: nothing is stored", "next start   A start without a checkpoint registers the log ends")
	s.seen(java)
	s.says(s.run("verify", file), 0, "✔ applied")

	back, backID := s.plan("producer-register", s.producer, "--offsets", file, "--ttl", "1h")
	s.says(s.run("apply", back, "--approve", backID, "--reason", "x", "--access", "operate", "--accept", "job-state-unknown", "--accept", "rows-undone"), 0, "✔ applied", "undoes the 2 rows written since")
	s.seen(java, s.before()...)
	s.says(s.run("plan", "producer-register", s.producer, "--latest", "--out", t.TempDir()+"/x"), 1, "ALREADY_EXISTS")

	file, id = s.deletes()
	s.says(s.run(s.applyArgs(file, id)...), 0, "✔ applied")
	file, id = s.registersLatest()
	s.says(s.run(s.applyArgs(file, id)...), 0, "✔ applied", "it undoes nothing")
	s.seen(java, s.ends...)
	s.says(s.run("verify", file), 0, "✔ applied: exactly the plan's offsets are stored")

	// Somebody else's entry is neither deleted nor replaced.
	file, id = s.deletes()
	java.Do(t, nil, "forget", s.producer)
	db := strings.TrimSuffix(s.producer, "-sink")
	java.Do(t, nil, "register", s.producer, db, "orders")
	s.says(s.run(s.applyArgs(file, id)...), 7, "producer-entry-changed")
	s.seen(java, s.ends...)
}

// A user without the right is denied, with what is needed, and nothing is changed.
func TestRealProducerIsDenied(t *testing.T) {
	c := flusstest.Real(t)
	java := c.Java(t)
	s := realProducers(t, c, java)
	s.stored(s.before()...)
	s.flags = s.as(c, c.User)
	file, id := s.deletes()
	s.says(s.run("plan", "show", file), 0, "! offsets-hidden: the entry shows no tables")
	args := []string{"apply", file, "--approve", id, "--reason", "x", "--access", "operate", "--accept", "job-state-unknown", "--accept", "offsets-hidden"}
	s.says(s.run(args...), 5, "nothing was changed: the right WRITE is needed on every table of the entry", "operate WRITE", s.table)
	s.seen(java, s.before()...)
}

// A process that is killed right after any line of the journal leaves the entry as
// before or as planned, and the same command goes on.
func TestRealProducerPlanIsKilled(t *testing.T) {
	c := flusstest.Real(t)
	java := c.Java(t)
	path := asProcess(t)
	for _, register := range []bool{false, true} {
		for line := 1; line <= 4; line++ { // begin, intent, outcome, end
			t.Run(fmt.Sprintf("register %v, line %d", register, line), func(t *testing.T) {
				s := realProducers(t, c, java)
				var want []int64
				file, id := "", ""
				if register {
					file, id = s.registersLatest()
					want = s.ends
				} else {
					s.stored(s.before()...)
					file, id = s.deletes()
				}
				cmd := processOf(t, path, s.environ(), append(s.applyArgs(file, id), s.flags...)...)
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				for deadline := time.Now().Add(time.Minute); journalLines(t, s.state) < line && time.Now().Before(deadline); {
					time.Sleep(time.Millisecond)
				}
				if err := cmd.Process.Kill(); err != nil {
					t.Fatal(err)
				}
				if err := cmd.Wait(); err == nil && line < 4 {
					t.Fatal("it was not killed")
				}
				s.says(s.run(s.applyArgs(file, id)...), 0, "✔ applied")
				s.seen(java, want...)
				s.says(s.run("verify", file), 0, "✔ applied")
			})
		}
	}
}
