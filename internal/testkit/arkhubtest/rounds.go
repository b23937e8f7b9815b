package arkhubtest

import (
	"encoding/binary"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/recoverctl/recoverctl/internal/arkhub"
	"github.com/recoverctl/recoverctl/internal/arkhub/artefact"
)

// trigger begins a round. Its record is there at once, and the job names it,
// whatever becomes of it.
func (h *Hub) trigger(j *job, kind, id string) {
	if id == "" {
		id = fmt.Sprintf("%s-%d-%d", kind, j.Generation, h.now())
	}
	j.checkpoints = slices.Insert(j.checkpoints, 0, checkpointRecord{
		JobID: j.ID, JobVersion: j.Version, ID: id, Kind: kind, Status: "pending", FormatVersion: j.spec.State.FormatVersion.Or(1), Created: h.now(), Updated: h.now(),
	})
	j.CheckpointID, j.Updated, j.lastRound = &id, h.now(), h.time()
	h.effect(kind + " " + j.ID)
	var parts []*operation
	targets := h.targets(j)
	for _, n := range targets {
		parts = append(parts, h.command(j, n, "job_"+kind, &id))
	}
	running := j.ObservedState == "running"
	h.after(poll, func() {
		for _, o := range parts {
			o.Dispatched, o.State = ptr(h.now()), "dispatched"
			if !h.takes(o.NodeID) {
				h.after(lease, func() {
					o.State, o.Error, o.FailureClass, o.Finished = "node_unavailable", ptr("node lease expired"), ptr("node_unavailable"), ptr(h.now())
				})
			}
		}
		lost := slices.ContainsFunc(parts, func(o *operation) bool { return !h.takes(o.NodeID) })
		if !running || j.storeBroken || lost || len(parts) == 0 {
			h.fail(j, id)
			return
		}
		for _, o := range parts {
			o.State, o.Progress, o.Finished = "succeeded", 100, ptr(h.now())
		}
		commit := h.command(j, targets[0], "job_"+kind+"_commit", &id)
		h.after(poll, func() {
			commit.Dispatched, commit.State = ptr(h.now()), "dispatched"
			if !h.takes(commit.NodeID) || j.storeBroken || !h.complete(j, id) {
				h.fail(j, id)
				return
			}
			commit.State, commit.Progress, commit.Finished = "succeeded", 100, ptr(h.now())
		})
	})
}

// fail is what becomes of a round that fails on a node: nothing, on the hubs that
// were run.
func (h *Hub) fail(j *job, id string) {
	if h.options.Generation != arkhub.GenerationUpgrades {
		return
	}
	if c := j.checkpoint(id); c != nil {
		c.Status, c.Updated = "failed", h.now()
	}
}

func (j *job) checkpoint(id string) *checkpointRecord {
	for i := range j.checkpoints {
		if j.checkpoints[i].ID == id {
			return &j.checkpoints[i]
		}
	}
	return nil
}

// complete writes a round's objects and its record, and drops older checkpoints.
func (h *Hub) complete(j *job, id string) bool {
	c := j.checkpoint(id)
	root := strings.TrimRight(j.spec.Checkpoint.ObjectStoreURI.Or(""), "/")
	if c == nil {
		return false
	}
	if dir, local := strings.CutPrefix(root, "file://"); local {
		if err := h.writeRound(j, *c, dir); err != nil {
			return false // as a store that takes nothing: the round stays
		}
	}
	uri := root + "/" + c.Kind + "s/" + id + "/manifest.json"
	c.Status, c.ManifestURI, c.Updated = "completed", &uri, h.now()
	kept, limit := 0, int(j.spec.Checkpoint.Retention.Or(3))
	j.checkpoints = slices.DeleteFunc(j.checkpoints, func(o checkpointRecord) bool {
		if o.Kind != "checkpoint" || o.Status != "completed" {
			return false
		}
		kept++
		return limit > 0 && kept > limit
	})
	return true
}

// writeRound writes what an engine writes: one state object a node, and the
// sealed manifest. The tasks are those that run, on nodes that live.
func (h *Hub) writeRound(j *job, c checkpointRecord, dir string) error {
	m := artefact.Manifest{
		CheckpointID: c.ID, JobID: j.ID, JobVersion: c.JobVersion, Generation: j.Generation, WatermarksMs: map[string]int64{},
		Barrier: artefact.Barrier{CheckpointID: c.ID, Generation: j.Generation}, FormatVersion: c.FormatVersion,
	}
	objects := map[string][]byte{}
	ran := uint64(h.time().Sub(j.runningFrom) / (100 * time.Millisecond))
	read := j.base + ran
	j.reads[c.ID] = read
	for _, n := range slices.Sorted(maps.Values(j.placed)) {
		if _, done := objects[n]; done || !h.takes(n) {
			continue
		}
		var entries []artefact.Entry
		for _, t := range h.plan(j).Tasks {
			if j.placed[t.ID] == n {
				entries = append(entries, artefact.Entry{Namespace: "job:" + j.ID + ":task:" + t.ID, Key: []byte("records"), Value: binary.BigEndian.AppendUint64(nil, read)})
			}
		}
		data := artefact.AppendSnapshot(nil, c.FormatVersion, entries)
		objects[n] = data
		snapshot, err := artefact.ParseSnapshot(data)
		if err != nil {
			return err
		}
		key := fmt.Sprintf("checkpoints/%s/state-%d.json", c.ID, snapshot.Checksum)
		if err := put(dir, key, data); err != nil {
			return err
		}
		for _, t := range h.plan(j).Tasks {
			if j.placed[t.ID] != n {
				continue
			}
			m.TaskAttempts = append(m.TaskAttempts, artefact.TaskAttempt{TaskID: t.ID, AttemptID: fmt.Sprintf("%s:%s:%d", t.ID, n, j.Generation), NodeID: n})
			m.StateSnapshots = append(m.StateSnapshots, artefact.SnapshotRef{TaskID: t.ID, NodeID: ptr(n), URI: key, Checksum: snapshot.Checksum, Bytes: uint64(len(data))})
			for _, s := range j.spec.Sources {
				if s.OperatorID.Or("") == t.OperatorID && s.InputType.Or("") == "kafka" && ran > 0 && j.stands == nil {
					m.SourcePositions = append(m.SourcePositions, artefact.SourcePosition{Topic: ptr(j.ID), Partition: t.Subtask, Offset: read})
				}
			}
		}
	}
	m.SourcePositions = append(m.SourcePositions, j.stands...)
	m.Checksum = m.Computed()
	return put(dir, c.Kind+"s/"+c.ID+"/manifest.json", m.Append(nil))
}

// Stands makes a job's sources stand still: from now on its rounds hold these
// positions, and none that rise with the clock.
func (h *Hub) Stands(id string, at ...artefact.SourcePosition) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.advance()
	h.job(id).stands = at
}

func put(dir, key string, data []byte) error {
	name := filepath.Join(dir, filepath.FromSlash(key))
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	return os.WriteFile(name, data, 0o600)
}

// periodic begins the rounds that are due by the job's interval.
func (h *Hub) periodic(j *job, now time.Time) {
	interval := time.Duration(j.spec.Checkpoint.IntervalMs.Or(arkhub.DefaultIntervalMs)) * time.Millisecond
	if interval <= 0 || j.DesiredState != "running" || j.ObservedState != "running" || now.Sub(j.lastRound) < interval {
		return
	}
	h.trigger(j, "checkpoint", fmt.Sprintf("checkpoint-%s-%d-%d", j.ID, j.Generation, h.now()))
}
