package fluss_test

import (
	"strings"
	"testing"
	"time"

	"github.com/recoverctl/recoverctl/inspect/fluss"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/tui/tuitest"
	views "github.com/recoverctl/recoverctl/views/fluss"
	"github.com/recoverctl/recoverctl/views/viewtest"
)

// Where ZooKeeper is read, the list is called whole, and only then; what it says of
// buckets stands beside them.
func TestWhatTheNodesSay(t *testing.T) {
	unread := fault.New(fault.Denied, "ask ZooKeeper", "the ensemble wants a login")
	broken, empty, half := night(), cluster{}, cluster{}
	broken.faults, half.faults = []error{unread}, []error{unread}
	for says, c := range map[string]cluster{
		"All that have a node in ZooKeeper":                       night(),
		"Those with a node in ZooKeeper, or a folder":             broken,
		"no producer has a node in ZooKeeper":                     empty,
		"no producer was found, and not everything could be read": half,
	} {
		o := options(c)
		o.Nodes = true
		if frame := tuitest.New(t, viewtest.Options(viewtest.Plain()), views.NewProducers(o), 160, 30).Frame(); !strings.Contains(frame, says) {
			t.Errorf("%q is not in\n%s", says, frame)
		}
	}
	wedged := night()
	p := &wedged.list[2]
	p.Node, p.Sweep = &fluss.ProducerNode{Found: true, Expires: after(9 * time.Hour), Files: []fluss.ProducerFile{{Table: 3, Path: "file:/r/x.offsets"}}}, after(20*time.Minute)
	frame := tuitest.New(t, viewtest.Options(viewtest.Plain()), views.NewProducer(options(wedged), p.ID), 160, 30).Frame()
	for _, says := range []string{"next cleanup   in about 20m", "in ZooKeeper   a node that expires at " + after(9*time.Hour).UTC().Format(time.RFC3339) + ", 1 file"} {
		if !strings.Contains(frame, says) {
			t.Errorf("%q is not in\n%s", says, frame)
		}
	}
	synced := night()
	synced.buckets.Buckets[0].InSync = []int32{0, 1}
	if frame := tuitest.New(t, viewtest.Options(viewtest.Plain()), views.NewBuckets(options(synced)), 160, 30).Frame(); !strings.Contains(frame, "in sync on 0-1") {
		t.Errorf("in-sync sets are not in\n%s", frame)
	}
}
