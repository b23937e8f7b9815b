package arkflow

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/inspect/flink"
	"github.com/recoverctl/recoverctl/internal/arkhub"
	"github.com/recoverctl/recoverctl/internal/arkhub/artefact"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/figures"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

// Bounds of what is read of a checkpoint store.
const (
	maxPoints        = 10_000
	maxManifestBytes = 32 << 20
	maxSnapshotBytes = 512 << 20 // larger ones are not checked, and say so
)

const pointsOp = "read the checkpoint store"

// Reacher finds the files of a place; *flink.Store is one.
type Reacher interface {
	Reach(uri string) (flink.FileSystem, string, error)
}

// Points reads checkpoint stores: those of a folder, and of object stores.
type Points struct{ places Reacher }

// NewPoints makes a reader. Nothing is opened before a store is asked for.
func NewPoints(places Reacher) *Points { return &Points{places} }

// The folders of a store, by kind.
const (
	checkpointsFolder = "checkpoints"
	savepointsFolder  = "savepoints"
	sealedName        = "manifest.json"
	nodeManifests     = "manifests"
)

// List reads every point of a job: those that the hub has on record, and those
// that only the store holds. The place is where the store is; empty: the target's
// own. Faults say what could not be read; a point that is there is judged anyway.
func (p *Points) List(ctx context.Context, place string, rounds []arkhub.Checkpoint, target Target) (PointList, error) {
	list := PointList{Target: target, Points: []Point{}, Unchecked: []string{}}
	if place == "" {
		place = target.StoreURI
	}
	var found map[string]Point
	var store *storeReading
	var faults []error
	if place == "" {
		list.Unchecked = append(list.Unchecked, "no checkpoint store is known: neither the hub nor a place says where it is, so no checksum was recomputed")
	} else {
		list.Place = place
		var err error
		if store, err = p.open(place); err == nil {
			found, err = store.names(ctx)
		}
		if err != nil {
			faults = append(faults, err)
			list.Unchecked = append(list.Unchecked, "the checkpoint store could not be listed: "+safetext.Error(err).String())
		}
	}
	for _, r := range rounds {
		if id := target.JobID; id == "" || r.JobID.Or(id) == id {
			found = recordOn(found, r)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(found)) {
		if err := ctx.Err(); err != nil {
			return list, err
		}
		point, err := store.point(ctx, found[id], target, rounds != nil && !target.Partial)
		if err != nil {
			faults = append(faults, err)
		}
		if point.JobID == "" || target.JobID == "" || point.JobID == target.JobID || point.Status != "" {
			list.Points = append(list.Points, point)
		}
	}
	newestPointsFirst(list.Points)
	warnPositions(list.Points)
	list.Selection = selectPoint(list.Points, target)
	for i := range list.Points {
		list.Points[i].afterTheFirst()
		list.Points[i].Selected = list.Selection.ID != "" && list.Points[i].ID == list.Selection.ID
	}
	return list, errors.Join(faults...)
}

// recordOn joins what a hub has on record with what was found.
func recordOn(found map[string]Point, r arkhub.Checkpoint) map[string]Point {
	if found == nil {
		found = map[string]Point{}
	}
	p, there := found[r.ID]
	if !there {
		p = Point{ID: r.ID}
	}
	p.Kind = inspect.PointKind(r.Kind.Or(string(kindOfID(r.ID, p.Kind))))
	p.Status, p.JobVersion, p.FormatVersion, p.JobID = r.Status, r.JobVersion.Pointer(), r.FormatVersion.Pointer(), r.JobID.Or("")
	if at, known := r.Created.Get(); known {
		t := at.Time()
		p.Created, p.CreatedBy = &t, TimeFromHub
	}
	found[r.ID] = p
	return found
}

func kindOfID(id string, found inspect.PointKind) inspect.PointKind {
	switch {
	case found != "":
		return found
	case strings.HasPrefix(id, "savepoint-"):
		return inspect.KindSavepoint
	default:
		return inspect.KindCheckpoint
	}
}

func newestPointsFirst(points []Point) {
	slices.SortStableFunc(points, func(a, b Point) int {
		at, bt := time.Time{}, time.Time{}
		if a.Created != nil {
			at = *a.Created
		}
		if b.Created != nil {
			bt = *b.Created
		}
		if c := bt.Compare(at); c != 0 {
			return c
		}
		return strings.Compare(b.ID, a.ID)
	})
}

// storeReading is one store that is read. A nil one holds nothing that is known.
type storeReading struct {
	uri    string
	system flink.FileSystem
	root   string
	states map[string]stateFound // by key: objects are shared by the tasks of a node
}

type stateFound struct {
	state    ObjectState
	message  string
	snapshot artefact.Snapshot
}

func (p *Points) open(place string) (*storeReading, error) {
	system, root, err := p.places.Reach(place)
	if err != nil {
		return nil, err
	}
	return &storeReading{uri: strings.TrimRight(place, "/"), system: system, root: strings.TrimRight(root, "/"), states: map[string]stateFound{}}, nil
}

func (s *storeReading) path(key string) string { return s.root + "/" + key }

// names are the points that a store has folders of. The folder of a savepoint's
// state lies under checkpoints, too, and is no checkpoint.
func (s *storeReading) names(ctx context.Context) (map[string]Point, error) {
	found := map[string]Point{}
	absent := 0
	for folder, kind := range map[string]inspect.PointKind{checkpointsFolder: inspect.KindCheckpoint, savepointsFolder: inspect.KindSavepoint} {
		entries, more, err := s.system.List(ctx, s.path(folder), maxPoints)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			absent++
			continue
		case err != nil:
			return found, s.fault(err, folder)
		case more:
			return found, fault.New(fault.Unsupported, pointsOp, "%s holds more than %s folders", safetext.Of(s.uri+"/"+folder), figures.Group(maxPoints)).
				WithHint("older artefacts are never deleted by a failing hub: clear the store first, keeping what the hub lists as completed")
		}
		for _, e := range entries {
			if _, known := found[e.Name]; known && kind == inspect.KindCheckpoint || !e.Dir {
				continue
			}
			if kind == inspect.KindCheckpoint && strings.HasPrefix(e.Name, "savepoint-") {
				continue
			}
			p := Point{ID: e.Name, Kind: kind}
			if at, ok := timeOfID(e.Name); ok {
				p.Created, p.CreatedBy = &at, TimeFromID
			}
			found[e.Name] = p
		}
	}
	if absent == 2 {
		return found, fault.New(fault.NotFound, pointsOp, "%s has neither a folder checkpoints nor savepoints", safetext.Of(s.uri)).
			WithHint("give the store's root, the object_store_uri of the job's description; a path of another machine is mapped with --map FROM=TO").WithRef(safetext.Of(s.uri).String())
	}
	return found, nil
}

// timeOfID is when a round was begun, by the end of its name.
func timeOfID(id string) (time.Time, bool) {
	at := strings.LastIndexByte(id, '-')
	ms, err := strconv.ParseInt(id[at+1:], 10, 64)
	if at < 0 || err != nil || ms < 1_000_000_000_000 || ms > 10_000_000_000_000 {
		return time.Time{}, false
	}
	return time.UnixMilli(ms).UTC(), true
}

func (s *storeReading) fault(err error, key string) error {
	name := safetext.Of(s.uri + "/" + key).String()
	switch {
	case errors.Is(err, fs.ErrPermission):
		return fault.New(fault.Denied, pointsOp, "%s may not be read", name).WithHint("it needs the right to list the store and to read its objects").WithRef(name)
	case errors.Is(err, fs.ErrNotExist):
		return fault.New(fault.NotFound, pointsOp, "%s is not there", name).WithRef(name)
	case fault.KindOf(err) != fault.Bug:
		return err
	}
	return fault.New(fault.Unreachable, pointsOp, "%s can't be read: %s", name, safetext.Error(err)).WithRef(name)
}

// bytes reads a small object whole.
func (s *storeReading) bytes(ctx context.Context, key string, limit int64) ([]byte, flink.Entry, error) {
	entry, err := s.system.Stat(ctx, s.path(key))
	if err != nil {
		return nil, entry, err
	}
	if !entry.Regular {
		return nil, entry, fmt.Errorf("it is no file")
	}
	if entry.Size > limit {
		return nil, entry, errTooLarge
	}
	data, err := s.system.Read(ctx, s.path(key), 0, entry.Size)
	return data, entry, err
}

var errTooLarge = errors.New("it is too large to be checked")

// point reads one point and judges it.
func (s *storeReading) point(ctx context.Context, p Point, target Target, asked bool) (Point, error) {
	facts := pointFacts{target: target, asked: asked}
	var err error
	if s != nil {
		key := string(p.Kind) + "s/" + p.ID + "/" + sealedName
		p.URI = s.uri + "/" + key
		facts.store = true
		facts.manifest, facts.manifestState, facts.manifestWhy, err = s.manifest(ctx, p, key)
		if facts.manifestState == ObjectWhole {
			s.fill(ctx, &p, facts.manifest)
		}
		if facts.manifestState == ObjectMissing {
			facts.nodeManifests = s.count(ctx, string(p.Kind)+"s/"+p.ID+"/"+nodeManifests)
		}
	}
	p.judge(facts)
	return p, err
}

func (s *storeReading) manifest(ctx context.Context, p Point, key string) (artefact.Manifest, ObjectState, string, error) {
	data, entry, err := s.bytes(ctx, key, maxManifestBytes)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return artefact.Manifest{}, ObjectMissing, "there is no " + key, nil
	case errors.Is(err, errTooLarge):
		return artefact.Manifest{}, ObjectUnread, fmt.Sprintf("the manifest has %s, and %s is read at most", figures.Bytes(entry.Size), figures.Bytes(maxManifestBytes)), nil
	case err != nil:
		err = s.fault(err, key)
		return artefact.Manifest{}, ObjectUnread, safetext.Error(err).String(), err
	}
	m, err := artefact.ParseManifest(data)
	if err != nil {
		return artefact.Manifest{}, ObjectDamaged, "the manifest " + safetext.Error(err).String(), nil
	}
	return m, ObjectWhole, "", nil
}

// fill takes over what a manifest says, and looks at the state that it names.
func (s *storeReading) fill(ctx context.Context, p *Point, m artefact.Manifest) {
	p.JobID = m.JobID
	p.JobVersion, p.FormatVersion, p.Generation = &m.JobVersion, &m.FormatVersion, &m.Generation
	for _, a := range m.TaskAttempts {
		p.Tasks = append(p.Tasks, TaskPlace{a.TaskID, a.NodeID})
	}
	for _, at := range m.SourcePositions {
		p.Positions = append(p.Positions, SourcePosition{at.Topic, at.Partition, at.Offset})
	}
	p.Watermark = m.WatermarksMs
	index := map[string]int{}
	for _, r := range m.StateSnapshots {
		id := fmt.Sprintf("%s %d", r.URI, r.Checksum)
		at, there := index[id]
		if !there {
			at = len(p.States)
			index[id] = at
			p.States = append(p.States, s.state(ctx, r))
		}
		p.States[at].Tasks = append(p.States[at].Tasks, r.TaskID)
	}
}

// state looks at one object with state, once.
func (s *storeReading) state(ctx context.Context, r artefact.SnapshotRef) StateObject {
	o := StateObject{Key: r.URI, Bytes: r.Bytes, Checksum: r.Checksum, Tasks: []string{}}
	if !plainKey(r.URI) {
		o.State, o.Message = ObjectUnread, "the manifest names it outside its store"
		return o
	}
	found, seen := s.states[r.URI]
	if !seen {
		found = s.readState(ctx, r.URI)
		s.states[r.URI] = found
	}
	o.State, o.Message = found.state, found.message
	if found.state != ObjectWhole {
		return o
	}
	o.Entries = &found.snapshot.Entries
	switch {
	case !found.snapshot.Sealed():
		o.State, o.Message = ObjectDamaged, fmt.Sprintf("its checksum is %d and it says %d: a key or a value was changed", found.snapshot.Computed, found.snapshot.Checksum)
	case found.snapshot.Checksum != r.Checksum:
		o.State, o.Message = ObjectDamaged, fmt.Sprintf("it is another object: its checksum is %d, and the manifest names %d", found.snapshot.Checksum, r.Checksum)
	}
	return o
}

func (s *storeReading) readState(ctx context.Context, key string) stateFound {
	data, entry, err := s.bytes(ctx, key, maxSnapshotBytes)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return stateFound{state: ObjectMissing, message: "it is not in the store"}
	case errors.Is(err, errTooLarge):
		return stateFound{state: ObjectUnread, message: fmt.Sprintf("it has %s, and %s is read at most", figures.Bytes(entry.Size), figures.Bytes(maxSnapshotBytes))}
	case err != nil:
		return stateFound{state: ObjectUnread, message: safetext.Error(s.fault(err, key)).String()}
	}
	snapshot, err := artefact.ParseSnapshot(data)
	if err != nil {
		return stateFound{state: ObjectDamaged, message: "it " + safetext.Error(err).String()}
	}
	return stateFound{state: ObjectWhole, snapshot: snapshot}
}

// plainKey reports whether a key stays below the store's root.
func plainKey(key string) bool {
	if key == "" || strings.HasPrefix(key, "/") || strings.Contains(key, "\x00") {
		return false
	}
	for _, part := range strings.Split(key, "/") {
		if part == "" || part == "." || part == ".." {
			return false
		}
	}
	return true
}

// count is how many objects a folder has; 0 where that can't be said.
func (s *storeReading) count(ctx context.Context, folder string) int {
	entries, _, err := s.system.List(ctx, s.path(folder), maxPoints)
	if err != nil {
		return 0
	}
	return len(entries)
}
