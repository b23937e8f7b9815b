package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/recoverctl/recoverctl/inspect/fluss"
	"github.com/recoverctl/recoverctl/internal/testkit/zktest"
)

// withZooKeeper gives the job of the profile an ensemble, with the nodes that its
// cluster would keep there and a producer of which no call tells.
func (in flussIncident) withZooKeeper(t *testing.T) *zktest.Server {
	t.Helper()
	z, err := zktest.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(z.Close)
	z.SetEphemeral("/prod/coordinators/active", `{"version":2,"id":"x","listeners":"CLIENT://h:1"}`)
	for n := range 2 {
		z.SetEphemeral(fmt.Sprintf("/prod/tabletservers/ids/%d", n), fmt.Sprintf(`{"version":3,"listeners":"CLIENT://h:%d","register_timestamp":1795968127496}`, n+2))
		z.Set(fmt.Sprintf("/prod/tabletservers/tables/0/buckets/%d/leader_isr", n), fmt.Sprintf(`{"version":1,"leader":%d,"leader_epoch":0,"isr":[%d],"coordinator_epoch":0,"bucket_epoch":0}`, n, n))
	}
	z.Set("/prod/producers/orders-sink", fmt.Sprintf(`{"version":1,"expiration_time":%d,"tables":[{"table_id":0,"offsets_path":"file:/r/producers/orders-sink/0/x.offsets"}]}`, time.Now().Add(time.Hour).UnixMilli()))
	text, err := os.ReadFile(in.config)
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.Replace(string(text), "table: "+flussTableName, "table: "+flussTableName+", zookeeper: {servers: ['"+z.Address()+"'], path: /prod}", 1)
	if err := os.WriteFile(in.config, []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
	return z
}

// What only ZooKeeper tells stands in the answers where the profile says where it
// is, and is called not exposed where not.
func TestWhatZooKeeperTellsOnTheCommandLine(t *testing.T) {
	in := startFlussIncident(t)
	for name, c := range map[string]struct {
		args []string
		code int
		says []string
	}{
		"cluster":   {[]string{"inspect", "fluss", "cluster"}, 0, []string{"ZooKeeper was not read: which servers have a session there is not known"}},
		"buckets":   {[]string{"inspect", "fluss", "buckets"}, 0, []string{"in-sync sets are not exposed by Fluss"}},
		"producers": {[]string{"inspect", "fluss", "producers"}, 6, []string{"fluss.zookeeper of the job gives the list"}},
	} {
		got := in.run(t, c.args...)
		for _, want := range c.says {
			if got.code != c.code || !strings.Contains(got.out+got.errOut, want) {
				t.Errorf("%s without ZooKeeper does not say %q: exit %d\n%s%s", name, want, got.code, got.out, got.errOut)
			}
		}
	}
	z := in.withZooKeeper(t)
	list := decodeAnswer[struct {
		Listed    string
		Producers []fluss.Producer
	}](t, "FlussProducers", in.run(t, "inspect", "fluss", "producers", "-o", "json"))
	if d := list.Data; d.Listed != "zookeeper" || len(d.Producers) != 1 || d.Producers[0].ID != "orders-sink" || d.Producers[0].Node == nil || d.Producers[0].Folder != nil {
		t.Errorf("%+v, %+v", d, list.Faults)
	}
	for name, c := range map[string]struct {
		args []string
		code int
		says []string
	}{
		"cluster":     {[]string{"inspect", "fluss", "cluster"}, 0, []string{"registered since 2026-11-29T16:02:07Z"}},
		"buckets":     {[]string{"inspect", "fluss", "buckets"}, 0, []string{"in sync"}},
		"producers":   {[]string{"inspect", "fluss", "producers"}, 0, []string{"all producers: those with a node in ZooKeeper", "orders-sink"}},
		"a producer":  {[]string{"inspect", "fluss", "producer", "orders-sink"}, 0, []string{"in ZooKeeper, expires", "file:/r/producers/orders-sink/0/x.offsets"}},
		"the profile": {[]string{"config", "check"}, 0, []string{"order-agent: fluss", "2 tablet servers", "order-agent: table agents.state", "order-agent: zookeeper", "2 tablet servers are registered below /prod"}},
	} {
		got := in.run(t, c.args...)
		for _, want := range c.says {
			if got.code != c.code || !strings.Contains(got.out+got.errOut, want) {
				t.Errorf("%s does not say %q: exit %d\n%s%s", name, want, got.code, got.out, got.errOut)
			}
		}
	}
	text, err := os.ReadFile(in.config)
	if err != nil {
		t.Fatal(err)
	}
	plain := in
	plain.config = filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(plain.config, []byte(strings.Replace(string(text), "path: /prod}", "path: /prod, tls: {ca-file: /gone.pem}}", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := plain.run(t, "inspect", "fluss", "cluster"); got.code != 3 || !strings.Contains(got.errOut, "fluss.zookeeper.tls.ca-file can't be read") {
		t.Errorf("a certificate that is not there: exit %d\n%s%s", got.code, got.out, got.errOut)
	}
	z.RequireSASL()
	if got := in.run(t, "inspect", "fluss", "buckets"); got.code != 0 || !strings.Contains(got.errOut, "not everything could be read") || !strings.Contains(got.errOut, "SASL") || !strings.Contains(got.out, "not known") {
		t.Errorf("an ensemble that wants SASL: exit %d\n%s%s", got.code, got.out, got.errOut)
	}
	if got := in.run(t, "config", "check"); got.code != 1 || !strings.Contains(got.out, "leave fluss.zookeeper out") {
		t.Errorf("an ensemble that wants SASL: exit %d\n%s%s", got.code, got.out, got.errOut)
	}
}
