package actions_test

import (
	"maps"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/testkit/cases"
)

var names = cases.Names{Data: "action-state", DataID: "6wBnCDrXRZCpbWKBbvCNbQ", DataID2: "2YgKb1hHSkm0Z8QmYcYh5w", OtherID: "Q2fIxHVRQmmpQwJzMkLm3A", Control: "control"}

// world is the two topics of a case, as a broker would describe them between its
// steps. What an apply leaves behind is taken from the case.
type world struct {
	t       *testing.T
	c       cases.ApplyCase
	topicID string
	data    cases.Topic
	start   map[string]int64
	end     map[string]int64
	control cases.Topic
	seen    []cases.SeenRecord // after an apply: what a read_committed reader finds
	applied bool
}

func newWorld(t *testing.T, c cases.ApplyCase) *world {
	t.Helper()
	c, err := c.With(names)
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, c: c, control: c.Control}
	w.make(c.Data, names.DataID)
	return w
}

func (w *world) make(topic cases.Topic, id string) {
	w.data, w.topicID = topic, id
	w.start, w.end = map[string]int64{}, map[string]int64{}
	for p := range topic.Partitions {
		key := strconv.Itoa(p)
		w.start[key] = topic.DeletedTo[key]
		w.end[key] = 0
		if p < len(topic.Records) {
			w.end[key] = int64(topic.Records[p])
		}
	}
}

// happen is one thing that others do.
func (w *world) happen(h cases.Happening) {
	switch {
	case h.Recreate != nil:
		w.make(*h.Recreate, names.DataID2)
	case h.AddPartitions > 0:
		for p := w.data.Partitions; p < h.AddPartitions; p++ {
			w.start[strconv.Itoa(p)], w.end[strconv.Itoa(p)] = 0, 0
		}
		w.data.Partitions = h.AddPartitions
	case h.SetConfig != nil:
		w.data.Config = maps.Clone(w.data.Config)
		maps.Copy(w.data.Config, h.SetConfig)
	case h.DeleteTo != nil:
		for p, to := range h.DeleteTo {
			w.start[p] = max(w.start[p], to)
		}
	case h.Produce != nil:
		for p, n := range h.Produce {
			w.end[strconv.Itoa(p)] += int64(n)
		}
	case h.DeleteDataTopic:
		w.data.Exists = false
	case h.DeleteControlTopic:
		w.control, w.seen = cases.Topic{}, nil
	case h.ControlAppend != nil:
		w.control.Extra = append(w.control.Extra, h.ControlAppend...)
	}
}

// after takes over what an apply left behind.
func (w *world) after(s cases.ApplyStep) {
	for _, i := range s.Inject {
		for _, h := range i.Do {
			w.happen(h)
		}
	}
	w.applied, w.seen = true, s.Expect.Control
	if s.Expect.ControlCreated {
		w.control = cases.Topic{Exists: true, Partitions: 1, Config: map[string]string{"cleanup.policy": "compact"}}
	}
	if s.Expect.LogStart != nil {
		w.start, w.end = maps.Clone(s.Expect.LogStart), maps.Clone(s.Expect.LogEnd)
	}
}

func (w *world) evidence(options cases.ApplyOptions) actions.Evidence {
	control, topic, replication := names.Control, names.Data, 1
	if options.ControlTopic != nil {
		control = *options.ControlTopic
	}
	if options.DataTopic != nil {
		topic = *options.DataTopic
	}
	if options.ReplicationFactor != nil {
		replication = *options.ReplicationFactor
	}
	e := actions.Evidence{
		Job:         inspect.Job{Topic: topic, ControlTopic: &control, Tombstones: options.Tombstones, KeepRecoveryPoints: 1},
		At:          time.Date(2026, 3, 1, 14, 3, 0, 0, time.UTC),
		Replication: &replication,
		Data:        inspect.DataTopic{Name: topic, Exists: w.data.Exists},
		Control:     inspect.ControlTopic{Name: control, Exists: w.control.Exists && control == names.Control},
	}
	if w.data.Exists {
		e.Data.TopicID = w.topicID
		for p := range w.data.Partitions {
			key := strconv.Itoa(p)
			e.Data.Partitions = append(e.Data.Partitions, inspect.Partition{ID: int32(p), Log: inspect.LogRange{Start: w.start[key], End: w.end[key]}})
		}
		e.Data.Settings = settings(w.data.Config)
	}
	if e.Control.Exists {
		for p := range w.control.Partitions {
			e.Control.Partitions = append(e.Control.Partitions, int32(p))
		}
		e.Control.CleanupPolicy = w.control.Policy()
		w.records(&e.Control)
	}
	return e
}

// settings are the effective ones: a broker's defaults where none is set.
func settings(config map[string]string) []inspect.Setting {
	effective := map[string]string{"cleanup.policy": "delete", "retention.ms": "604800000", "retention.bytes": "-1"}
	maps.Copy(effective, config)
	var out []inspect.Setting
	for _, name := range slices.Sorted(maps.Keys(effective)) {
		out = append(out, inspect.Setting{Name: name, Value: effective[name]})
	}
	return out
}

func (w *world) records(control *inspect.ControlTopic) {
	seen, stable, end := cases.ReadCommitted(w.control.Extra)
	control.LastStable, control.LogEnd = stable, end
	for _, r := range seen {
		control.Records = append(control.Records, inspect.ControlRecord{Offset: r.Offset, Key: r.Key, Value: r.Value})
	}
	if !w.applied {
		return
	}
	control.Records = nil
	hidden := end - stable
	for i, r := range w.seen {
		record := inspect.ControlRecord{Offset: int64(i), Key: []byte("no operation"), Value: nil}
		if !r.Unreadable && r.Plan != "" {
			record.Key, record.Value = w.c.Plans[r.Plan].ControlRecord(r.Status)
		}
		control.Records = append(control.Records, record)
	}
	control.LastStable = int64(len(w.seen))
	control.LogEnd = control.LastStable + hidden
}

func (w *world) plan(name string) inspect.CleanupPlan {
	w.t.Helper()
	p := w.c.Plans[name]
	offsets := inspect.Offsets{}
	for key, at := range p.Offsets {
		n, err := strconv.ParseInt(key, 10, 32)
		if err != nil {
			w.t.Fatal(err)
		}
		offsets[int32(n)] = at
	}
	return inspect.CleanupPlan{PlanID: p.ID(), SourceRecoveryPoint: p.Source, Topic: p.Topic, TopicID: p.TopicID, Offsets: offsets}
}
