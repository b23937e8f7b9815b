package arkflow_test

import (
	"testing"

	"github.com/recoverctl/recoverctl/inspect/arkflow"
	"github.com/recoverctl/recoverctl/internal/arkhub"
	"github.com/recoverctl/recoverctl/internal/arkhub/write"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/testkit/arkhubtest"
)

// A stream's answer has what was asked of it, by whom it was asked with which key,
// and what became of that; of a hub without storage it says that nothing is kept.
func TestAStreamByItself(t *testing.T) {
	w := newWorld(t, arkhub.GenerationStreams)
	d, err := w.read.Stream(t.Context(), "node-a", "orders-eu")
	if err != nil || d.Generation != nil || d.Action != nil || !d.Stored || len(d.Requests) != 0 || *d.Stream.State != "running" || d.Stream.Protected.Log != arkflow.CoverYes || len(d.Decisions) == 0 {
		t.Fatalf("%+v, %v", d, err)
	}
	started := *d.Stream.Started
	address, _ := w.http.Address()
	client, err := write.New(arkhub.Options{Address: address.String()})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	const key = "5f3c92d07be1458a96c0d1e2f3a4b5c6"
	for range 2 {
		if _, err := client.RestartStream(t.Context(), write.StreamWrite{Node: "node-a", Stream: "orders-eu", Key: key}); err != nil {
			t.Fatal(err)
		}
	}
	d, err = w.read.Stream(t.Context(), "node-a", "orders-eu")
	if err != nil || *d.Action != key || *d.Generation != 1 || len(d.Requests) != 1 || *d.Requests[0].State != "queued" || d.Requests[0].Dispatched != nil {
		t.Fatalf("%+v, %v", d, err)
	}
	w.pass(3)
	d, err = w.read.Stream(t.Context(), "node-a", "orders-eu")
	if err != nil || *d.Requests[0].State != "succeeded" || !d.Stream.Started.After(started) {
		t.Errorf("%+v, %v", d, err)
	}
	if _, err := w.read.Stream(t.Context(), "node-a", "nothing"); fault.KindOf(err) != fault.NotFound {
		t.Errorf("%v", err)
	}
	none := arkhubtest.New(arkhubtest.Options{NoStorage: true, Clock: w.clock})
	none.AddNode("node-a")
	none.AddStream("node-a", "orders-eu", "running", "")
	reader, err := arkhub.New(arkhub.Options{Address: none.Start(t)})
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	if d, _ := arkflow.NewHub(reader, nil, w.clock).Stream(t.Context(), "node-a", "orders-eu"); d.Hub.Address == "" || d.Stored {
		t.Errorf("%+v", d)
	}
}

// An upgrade is told while it holds the job, and also when it has ended.
func TestAnUpgradeByItself(t *testing.T) {
	w := newWorld(t, arkhub.GenerationUpgrades)
	w.run(w.spec(1, 1), 40)
	w.hub.SetUpgrade("orders", "job-upgrade-12", "verifying", 1, 2)
	d := w.job()
	if u := d.Job.Upgrade; u == nil || u.ID != "job-upgrade-12" || *u.Phase != "verifying" || *u.From != 1 || *u.To != 2 || !u.Active || u.PausedFrom != nil {
		t.Errorf("%+v", d.Job.Upgrade)
	}
	w.hub.SetUpgrade("orders", "job-upgrade-12", "cancelled", 1, 2)
	if d := w.job(); d.Job.Upgrade != nil || d.Job.ActiveUpdate != nil {
		t.Errorf("%+v still holds the job", d.Job.Upgrade)
	}
	if u, err := w.read.Upgrade(t.Context(), "orders", "job-upgrade-12"); err != nil || *u.Phase != "cancelled" || u.Active {
		t.Errorf("%+v, %v", u, err)
	}
	if _, err := w.read.Upgrade(t.Context(), "orders", "job-upgrade-1"); fault.KindOf(err) != fault.NotFound {
		t.Errorf("%v", err)
	}
}
