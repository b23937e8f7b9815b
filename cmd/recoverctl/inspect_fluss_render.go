package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/recoverctl/recoverctl/inspect/fluss"
	"github.com/recoverctl/recoverctl/internal/clock"
	"github.com/recoverctl/recoverctl/internal/figures"
)

func groupInt(n int64) string { return figures.Group(n) }

func reachedWord(s fluss.Server) string {
	switch {
	case s.Reached:
		return "reached"
	case !s.Named:
		return "NOT NAMED"
	}
	return "NOT REACHED"
}

// sessionWord is what ZooKeeper says of a server.
func sessionWord(s fluss.Server) string {
	switch {
	case s.Registered == nil:
		return ""
	case !*s.Registered:
		return "NO SESSION"
	case s.Since == nil:
		return "registered"
	}
	return "registered since " + s.Since.Format(time.RFC3339)
}

func renderFlussCluster(t *table, c fluss.Cluster) {
	t.line("Fluss cluster, as told by " + safe(c.Told))
	renderFindings(t, c.Findings)
	t.line("")
	if c.Coordinator != nil {
		t.row(text("coordinator"), text(c.Coordinator.Address), text(reachedWord(*c.Coordinator)), text(sessionWord(*c.Coordinator)))
	}
	for _, s := range c.Tablets {
		t.row(text(fmt.Sprintf("tablet server %d", s.ID)), text(s.Address), text(reachedWord(s)), text(sessionWord(s)))
	}
	if c.ZooKeeper == nil {
		t.line("ZooKeeper was not read: which servers have a session there is not known")
	}
	t.line("")
	t.row(text("databases"), text(strings.Join(c.Databases, ", ")))
	t.row(text("tables"), text(groupInt(int64(c.Tables))))
	if c.Settings == nil {
		t.line("the settings could not be read")
		return
	}
	t.line("")
	for _, s := range c.Settings {
		value := s.Value
		if s.Hidden {
			value += "  (told by the cluster, not shown)"
		}
		t.row(text(s.Key), text(value))
	}
}

func renderFlussTables(t *table, list fluss.Tables, now time.Time) {
	if len(list.Tables) == 0 {
		t.line("no table that this user may see")
		return
	}
	t.row(text("table"), text("id"), text("buckets"), text("kind"), text("rows stay"), text("replicas"), text("made"), text(""))
	for _, x := range list.Tables {
		kind := "log"
		switch {
		case x.ActionState:
			kind = "action state"
		case x.PrimaryKey:
			kind = "primary key"
		}
		note := ""
		if len(x.Leaderless) > 0 {
			note = "no leader: " + figures.Ranges(x.Leaderless, 8)
		}
		if x.Partitioned {
			note = "partitioned"
		}
		t.row(text(x.Table), num(groupInt(x.ID)), num(groupInt(int64(x.Buckets))), text(kind), text(x.TTL), num(orNothing(x.Replicas)), text(clock.Age(now.Sub(x.Created))+" ago"), text(note))
	}
}

func renderFlussTable(t *table, x fluss.TableInfo, now time.Time) {
	t.line(fmt.Sprintf("table %s, id %s", safe(x.Table), groupInt(x.ID)))
	t.line("")
	t.row(text("made"), text(fmt.Sprintf("%s (%s ago)", x.Created.Format(time.RFC3339), clock.Age(now.Sub(x.Created)))))
	t.row(text("altered"), text(x.Modified.Format(time.RFC3339)))
	t.row(text("buckets"), text(groupInt(int64(x.Buckets))))
	if len(x.Leaderless) > 0 {
		t.row(text("without a leader"), text(figures.Ranges(x.Leaderless, 8)))
	}
	t.row(text("bucket key"), text(orNothing(strings.Join(x.BucketKey, ", "))))
	t.row(text("primary key"), text(orNothing(strings.Join(x.Key, ", "))))
	t.row(text("format"), text(x.Format))
	t.row(text("rows stay"), text(x.TTL))
	t.row(text("replicas"), text(orNothing(x.Replicas)))
	t.row(text("action state"), text(map[bool]string{true: "yes: Flink Agents would use it", false: "no"}[x.ActionState]))
	if x.Comment != "" {
		t.row(text("comment"), text(x.Comment))
	}
	t.line("")
	t.line(fmt.Sprintf("columns (schema %d)", x.SchemaID))
	for _, c := range x.Columns {
		kind := c.Type
		if !c.Nullable {
			kind += " NOT NULL"
		}
		t.row(text("  "+c.Name), text(kind))
	}
	if len(x.Properties) > 0 {
		t.line("")
		t.line("properties")
		for _, key := range slices.Sorted(maps.Keys(x.Properties)) {
			t.row(text("  "+key), text(x.Properties[key]))
		}
	}
	if x.Partitioned {
		t.line("")
		t.line(figures.Count(int64(len(x.Partitions)), "partition", "partitions") + " by " + safe(strings.Join(x.Partition, ", ")))
		for _, p := range x.Partitions {
			t.row(num("  "+groupInt(p.ID)), text(p.Name))
		}
	}
}

// flussAge is how long ago a moment was.
func flussAge(at *time.Time, now time.Time) string {
	if at == nil {
		return nothing
	}
	return clock.Age(now.Sub(*at)) + " ago"
}

func renderFlussBuckets(t *table, b fluss.Buckets, now time.Time) {
	t.line(fmt.Sprintf("table %s, id %s, made %s, rows stay %s", safe(b.Table), groupInt(b.ID), b.Created.Format(time.RFC3339), safe(b.TTL)))
	if b.Point != "" {
		t.line("against the marker of " + safe(b.Point))
	}
	renderFindings(t, b.Findings)
	if !b.Nodes {
		t.line("in-sync sets are not exposed by Fluss: they are in ZooKeeper (fluss.zookeeper of the job)")
	}
	t.line("")
	head := []cell{text("bucket"), text("leader"), text("epoch"), text("begins"), text("on disk from"), text("ends"), text("oldest row"), text("newest row")}
	if b.Point != "" {
		head = append(head, text("marker"), text("is"), text("its row stays"))
	}
	if b.Nodes {
		head = append(head, text("remote to"), text("in sync"))
	}
	t.row(append(head, text("replicas"))...)
	for _, x := range b.Buckets {
		leader := num(groupInt(int64(x.Leader)))
		if x.Leader < 0 {
			leader = text("NONE")
		}
		row := []cell{num(groupInt(int64(x.Bucket))), leader, num(groupInt(int64(x.Epoch))), num(optional(x.Earliest)), num(optional(x.Local)), num(optional(x.Latest)), text(flussAge(x.Oldest, now)), text(flussAge(x.Newest, now))}
		if b.Point != "" {
			state := x.State
			if state == fluss.BucketLost || state == fluss.BucketReset {
				state = strings.ToUpper(state)
			}
			row = append(row, num(optional(x.Marker)), text(state), text(orNothing(x.Headroom)))
		}
		if b.Nodes {
			row = append(row, num(optional(x.RemoteEnd)), text(inSyncWord(x)))
		}
		t.row(append(row, text(replicasOf(x)))...)
	}
}

// inSyncWord names the servers that have all of a bucket.
func inSyncWord(b fluss.Bucket) string {
	if b.InSync == nil {
		return "not known"
	}
	return figures.Ranges(b.InSync, 8)
}

// replicasOf tells where each server's own copy begins and ends.
func replicasOf(b fluss.Bucket) string {
	parts := make([]string, 0, len(b.Replicas))
	for _, r := range b.Replicas {
		if r.Start == nil || r.End == nil {
			parts = append(parts, fmt.Sprintf("%d: not known", r.Server))
			continue
		}
		parts = append(parts, fmt.Sprintf("%d: %s to %s", r.Server, groupInt(*r.Start), groupInt(*r.End)))
	}
	return strings.Join(parts, ", ")
}

func renderFlussRow(t *table, r fluss.Row) {
	place := fmt.Sprintf("bucket %d offset %s", r.Bucket, groupInt(r.Offset))
	if r.Partition != nil {
		place = fmt.Sprintf("partition %d %s", *r.Partition, place)
	}
	t.line(fmt.Sprintf("%s, %s, %s", place, r.Time.Format(time.RFC3339Nano), r.Change))
	for _, c := range r.Cells {
		t.row(text("    "+c.Column), text(c.Text().String()))
	}
}

func expiryOf(p fluss.Producer, now time.Time) string {
	switch {
	case p.Expires == nil && p.Found:
		return "not known"
	case p.Expires == nil:
		return nothing
	case p.Expired:
		return fmt.Sprintf("EXPIRED %s ago", clock.Age(now.Sub(*p.Expires)))
	default:
		return "in " + clock.Age(p.Expires.Sub(now))
	}
}

// safetyWord is upper case where the word has to be seen.
func safetyWord(s fluss.Safety) string {
	if s == fluss.NotSafe {
		return "NOT SAFE"
	}
	return string(s)
}

// producerList is what a list of producers is a list of.
type producerList string

const (
	listNamed     producerList = "named"
	listZooKeeper producerList = "zookeeper"
	listFolders   producerList = "remote-storage"
)

func renderFlussProducers(t *table, list []fluss.Producer, of producerList, now time.Time) {
	switch {
	case of == listZooKeeper && len(list) == 0:
		t.line("no producer has a node in ZooKeeper: nothing is stored")
	case of == listZooKeeper:
		t.line("all producers: those with a node in ZooKeeper, and those with only a folder in remote storage as far as that is seen from here")
	case of == listFolders && len(list) == 0:
		t.line("no producer has a folder in the cluster's remote storage")
	case of == listFolders:
		t.line("producers with a folder in remote storage; the whole list is in ZooKeeper (fluss.zookeeper of the job)")
	}
	if len(list) == 0 {
		return
	}
	t.row(text("producer"), text("restart"), text("expires"), text("tables"), text("rows to undo"), text(""))
	for _, p := range list {
		first := ""
		if len(p.Findings) > 0 {
			first = p.Findings[0].Rule
		}
		t.row(text(p.ID), text(safetyWord(p.Verdict)), text(expiryOf(p, now)), num(groupInt(int64(len(p.Tables)))), num(optional(p.Undo)), text(first))
	}
}

// nodeWord is what ZooKeeper keeps for a producer.
func nodeWord(n fluss.ProducerNode) string {
	if !n.Found {
		return "none in ZooKeeper"
	}
	return fmt.Sprintf("in ZooKeeper, expires %s, %s", n.Expires.Format(time.RFC3339), figures.Count(int64(len(n.Files)), "file", "files"))
}

func renderFlussProducer(t *table, p fluss.Producer, now time.Time) {
	t.line(fmt.Sprintf("producer %s: a restart with its entry is %s", safe(p.ID), safetyWord(p.Verdict)))
	renderFindings(t, p.Findings)
	t.line("")
	t.row(text("entry"), text(map[bool]string{true: "stored", false: "nothing is stored"}[p.Found]))
	if p.Expires != nil {
		t.row(text("expires"), text(fmt.Sprintf("%s, %s", p.Expires.Format(time.RFC3339), expiryOf(p, now))))
	}
	if n := p.Node; n != nil {
		t.row(text("node"), text(nodeWord(*n)))
		for _, f := range n.Files {
			t.row(text("  of table id "+groupInt(f.Table)), text(f.Path))
		}
	}
	t.row(text("rows to undo"), text(optional(p.Undo)))
	t.row(text("new entries stay"), text(orNothing(p.TTL)))
	t.row(text("cleanup every"), text(orNothing(p.Cleanup)))
	if p.Sweep != nil {
		t.row(text("next cleanup"), text("at about "+p.Sweep.Format(time.RFC3339)+", by when the coordinator registered"))
	}
	for _, x := range p.Tables {
		t.line("")
		name := "table " + orNothing(safe(x.Table))
		if x.Partition != nil {
			name += fmt.Sprintf(" partition %s (%d)", orNothing(safe(x.Name)), *x.Partition)
		}
		t.line(fmt.Sprintf("%s, id %s", name, groupInt(x.ID)))
		t.row(text("  bucket"), text("baseline"), text("log begins"), text("log ends"), text("rows to undo"), text("is"))
		for _, b := range x.Buckets {
			t.row(num(groupInt(int64(b.Bucket))), num(optional(b.Baseline)), num(optional(b.Earliest)), num(optional(b.Latest)), num(optional(b.Undo)), text(b.State))
		}
	}
}
