//go:build real

package flusstest_test

import (
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
	for _, s := range cluster.Tablets {
		if s.ID == places[0].Leader {
			conform(t, subject{coordinator: cluster.Coordinator.Address, tablet: s.Address, login: &real.Admin, path: path, id: table.ID})
			return
		}
	}
	t.Fatal("nobody leads", places)
}
