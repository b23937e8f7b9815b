//go:build real

package flusstest_test

import (
	"encoding/base64"
	"fmt"
	"testing"
	"time"

	"github.com/recoverctl/recoverctl/internal/flussrpc"
	"github.com/recoverctl/recoverctl/internal/testkit/flusstest"
)

func TestRealClustersAnswerSo(t *testing.T) {
	real := flusstest.Real(t)
	java, cl := real.Java(t), real.Client(t)
	path := flussrpc.TablePath{Database: fmt.Sprintf("c%d", time.Now().UnixNano()), Table: "rows"}
	java.Do(t, nil, "create", path.Database, path.Table, "rows", "1", "1", "")
	java.Do(t, nil, "rows", path.Database, path.Table, "5", "5")
	table, err := cl.Table(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	places, err := cl.Buckets(t.Context(), table, flussrpc.NoPartition)
	if err != nil {
		t.Fatal(err)
	}
	cluster, err := cl.Cluster(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	several, led := severalBuckets(t, cl, java, path.Database, places[0].Leader)
	for _, s := range cluster.Tablets {
		if s.ID == places[0].Leader {
			conform(t, subject{coordinator: cluster.Coordinator.Address, tablet: s.Address, login: &real.Admin, path: path, id: table.ID, several: several, led: led})
			return
		}
	}
	t.Fatal("nobody leads", places)
}

// severalBuckets makes a table with a row in each of its buckets, and says which of
// them a server leads.
func severalBuckets(t *testing.T, cl *flussrpc.Client, java *flusstest.Java, database string, server int32) (table int64, led []int32) {
	t.Helper()
	const buckets = 6 // of two servers
	path := flussrpc.TablePath{Database: database, Table: "several"}
	java.Do(t, nil, "create", path.Database, path.Table, "states", fmt.Sprint(buckets), "1", "")
	words := []string{"states", path.Database, path.Table}
	filled := map[int32]bool{}
	for n := 0; len(filled) < buckets; n++ {
		key := fmt.Sprintf("key-%d", n)
		if at := flussrpc.BucketOfString(key, buckets); !filled[at] {
			filled[at] = true
			words = append(words, key, base64.StdEncoding.EncodeToString([]byte("payload")), key)
		}
	}
	java.Do(t, nil, words...)
	described, err := cl.Table(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	places, err := cl.Buckets(t.Context(), described, flussrpc.NoPartition)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range places {
		if p.Leader == server {
			led = append(led, p.ID)
		}
	}
	if len(led) < 2 {
		t.Fatalf("server %d leads %d of %d buckets", server, len(led), buckets)
	}
	return described.ID, led
}
