package flink

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/figures"
	"github.com/recoverctl/recoverctl/internal/flinkmeta"
	"github.com/recoverctl/recoverctl/internal/safetext"
	"golang.org/x/sync/errgroup"
)

const (
	// parallelStats is how many files are looked at at once.
	parallelStats = 32
	// maxListed is how many findings of one kind are told one by one.
	maxListed = 20
	// maxUnreferenced is how many files that nothing references are listed.
	maxUnreferenced = 1000
)

// reference is one distinct file that the metadata refers to.
type reference struct {
	uri      string   // as recorded, for relative paths the place beside the metadata
	recorded location // before mapping
	at       location
	mapped   bool
	relative bool
	illegal  bool // a relative path that is no plain name

	size     int64 // as recorded; flinkmeta.UnknownSize
	smaller  int64 // another size that is recorded of it; flinkmeta.UnknownSize: none
	end      int64 // of the last segment in it
	segments map[int64]int64

	first flinkmeta.StreamRef // what refers to it first
	name  string              // of a relative path

	// what was found
	found   Entry
	err     error
	noRoot  bool   // nothing of the recorded tree is on this machine
	copyAt  string // a file of the same name at a place where Flink won't look
	reached bool   // its scheme can be read from here
}

// resolve says where the bytes of a stream handle lie.
func (b *builder) resolve(s *flinkmeta.Stream) (r reference, err error) {
	if s.Kind == flinkmeta.RelativeStream {
		r = reference{relative: true, name: s.Path, recorded: b.from.dir.join(s.Path), at: b.from.dir.join(s.Path), uri: childURI(b.from.folder, s.Path)}
		r.illegal = s.Path == "" || s.Path == "." || s.Path == ".." || strings.ContainsAny(s.Path, "/\\\x00")
		return r, nil
	}
	recorded, err := recordedLocation(s.Path)
	if err != nil {
		return reference{uri: s.Path}, err
	}
	r = reference{uri: s.Path, recorded: recorded}
	r.at, r.mapped = b.store.place(recorded)
	return r, nil
}

// references collects the distinct files in the order in which they first
// occur.
func (b *builder) references() []*reference {
	var all []*reference
	byPlace := map[string]*reference{}
	for ref := range b.md.Streams() {
		s := ref.Stream
		switch s.Kind {
		case flinkmeta.FileStream, flinkmeta.RelativeStream, flinkmeta.SegmentStream:
		default:
			continue
		}
		r, err := b.resolve(s)
		key := r.at.String()
		if err != nil {
			key = "?" + r.uri
		}
		known, seen := byPlace[key]
		if !seen {
			known = &r
			known.err, known.first, known.size, known.smaller = err, ref, flinkmeta.UnknownSize, flinkmeta.UnknownSize
			byPlace[key] = known
			all = append(all, known)
		}
		switch {
		case s.Kind == flinkmeta.SegmentStream:
			if known.segments == nil {
				known.segments = map[int64]int64{}
			}
			known.segments[s.Segment.Start] = max(known.segments[s.Segment.Start], s.Size)
			known.end = max(known.end, sum(s.Segment.Start, s.Size))
		case s.Size != flinkmeta.UnknownSize:
			if known.size != flinkmeta.UnknownSize && known.size != s.Size {
				known.smaller = min(known.size, s.Size)
			}
			known.size = max(known.size, s.Size)
		}
	}
	return all
}

func (r *reference) recordedBytes() int64 {
	if r.size != flinkmeta.UnknownSize {
		return r.size
	}
	all := int64(0)
	for _, size := range r.segments {
		all = sum(all, size)
	}
	return all
}

// sum adds sizes that a damaged file may make as large as it likes.
func sum(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// checkFiles looks for every file that the metadata refers to. The error is the
// context's.
func (b *builder) checkFiles(ctx context.Context) error {
	refs := b.references()
	roots := rootCache{known: map[string]bool{}}
	var silent outages
	b.progress.update(func(p *inspect.PointProgress) { p.FilesTotal = int64(len(refs)) })
	b.glance(ctx, refs)
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(parallelStats)
	for _, r := range refs {
		group.Go(func() error {
			b.look(groupCtx, r, &roots, &silent)
			b.progress.update(func(p *inspect.PointProgress) { p.Files++ })
			return groupCtx.Err()
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	b.point.Files.Referenced = len(refs)
	found := map[string]int{} // findings by check, to tell only the first ones
	unchecked := map[string]*unseen{}
	for _, r := range refs {
		b.point.Files.Bytes = sum(b.point.Files.Bytes, r.recordedBytes())
		b.judge(r, found, unchecked)
	}
	for _, id := range []string{"F1", "F2", "F3", "F4", "F5", "F7"} {
		if n := found[id] - maxListed; n > 0 {
			severity := inspect.SeverityError
			if id == "F7" {
				severity = inspect.SeverityWarning
			}
			b.add(id, severity, "use another recovery point, or find all of them", "%s more like these: the whole list is in the files of this recovery point", figures.Group(int64(n)))
		}
	}
	for _, class := range slices.Sorted(maps.Keys(unchecked)) {
		u := unchecked[class]
		hint := u.hint
		if hint == "" {
			hint = "map the recorded prefix to a folder with --map FROM=TO, or look from a machine that has the files"
		}
		id := "F6"
		if u.failed {
			id = "F10"
		}
		b.add(id, inspect.SeverityWarning, hint, "%s could not be checked: %s", figures.Count(u.files, "file", "files"), u.why)
	}
	return b.checkUnreferenced(ctx, refs)
}

// glance fills in what listings show of the references, where a file system has
// that cheaper.
func (b *builder) glance(ctx context.Context, refs []*reference) {
	for scheme, system := range b.store.systems {
		system, ok := system.(glancer)
		if !ok {
			continue
		}
		var names []string
		for _, r := range refs {
			if r.at.scheme == scheme && r.err == nil && !r.illegal {
				names = append(names, r.at.name())
			}
		}
		if len(names) == 0 {
			continue
		}
		shown := system.Glance(ctx, names)
		for _, r := range refs {
			if r.at.scheme != scheme || r.err != nil || r.illegal {
				continue
			}
			if e, ok := shown[r.at.name()]; ok {
				r.found, r.reached = e, true
			}
		}
	}
}

// look finds out what is at a reference's place.
func (b *builder) look(ctx context.Context, r *reference, roots *rootCache, silent *outages) {
	if r.err != nil || r.illegal || r.reached {
		return
	}
	system, ok := b.store.systems[r.at.scheme]
	if !ok {
		return
	}
	r.reached = true
	if r.err = silent.of(r.at); r.err != nil {
		return
	}
	r.found, r.err = system.Stat(ctx, r.at.name())
	silent.note(r.at, r.err)
	if r.err == nil || !errors.Is(r.err, fs.ErrNotExist) || r.relative {
		return
	}
	r.noRoot = !r.mapped && !b.sameStore(r.at) && !roots.exists(ctx, system, recordedRoot(r.recorded))
	name := r.recorded.base()
	for _, place := range []location{b.from.dir.join(name), b.from.dir.dir().join("shared").join(name)} {
		if place == r.at {
			continue
		}
		if e, err := b.from.system.Stat(ctx, place.name()); err == nil && e.Regular {
			r.copyAt = place.show()
			return
		}
	}
}

// sameStore reports whether a place lies in the store that the metadata was read from,
// which is the same from every machine: what is not there is nowhere.
func (b *builder) sameStore(at location) bool {
	return at.scheme != schemeFile && at.scheme == b.from.dir.scheme && at.authority == b.from.dir.authority
}

// recordedRoot is the folder above the job's folder of a recorded file: if not
// even that exists, the files live on another machine and nothing is missing.
func recordedRoot(l location) location {
	parts := strings.Split(strings.TrimPrefix(l.path, "/"), "/")
	for i, part := range parts {
		if part == "shared" || part == "taskowned" || isSnapshotName(part) {
			l.path = "/" + strings.Join(parts[:max(i-1, 0)], "/")
			return l
		}
	}
	return l.dir()
}

// rootCache remembers which recorded roots exist.
type rootCache struct {
	mu    sync.Mutex
	known map[string]bool
}

func (c *rootCache) exists(ctx context.Context, system FileSystem, root location) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	exists, known := c.known[root.String()]
	if !known {
		_, err := system.Stat(ctx, root.name())
		exists = err == nil
		c.known[root.String()] = exists
	}
	return exists
}

// judge turns what was found into checks.
func (b *builder) judge(r *reference, found map[string]int, unchecked map[string]*unseen) {
	tell := func(id string, severity inspect.Severity, hint, format string, args ...any) {
		if found[id]++; found[id] <= maxListed {
			b.add(id, severity, hint, format, args...)
		}
	}
	missing := func() { b.point.Files.Missing = append(b.point.Files.Missing, r.uri) }
	skip := func(why string) { b.skip(r, unchecked, why, unseen{why: why}) }
	const lost = "this recovery point can't be restored without it: find the file, or use another recovery point"
	switch {
	case r.illegal:
		missing()
		tell("F5", inspect.SeverityError, hintDamaged, "relative path %s leaves the snapshot's folder (%s)", quote(r.name), r.owner())
	case r.smaller != flinkmeta.UnknownSize:
		missing()
		tell("F3", inspect.SeverityError, hintDamaged, "state file %s has two sizes in the metadata, %s and %s bytes (%s)",
			safetext.Of(r.uri), figures.Group(r.smaller), figures.Group(r.size), r.owner())
	case r.at.path == "": // a path that can't be understood
		skip(safetext.Error(r.err).String())
	case !r.reached:
		skip(safetext.Of(r.at.scheme).String() + ": is not reachable from this machine")
	case errors.Is(r.err, fs.ErrNotExist) && r.noRoot:
		skip("the recorded folder " + recordedRoot(r.recorded).show() + " does not exist on this machine")
		b.tellCopy(r, tell)
	case errors.Is(r.err, fs.ErrNotExist):
		missing()
		id, what := "F2", safetext.Of(r.uri).String()
		if r.relative {
			id, what = "F1", quote(r.name)
		}
		place := ""
		if r.mapped {
			place = ", looked for at " + r.at.show()
		}
		tell(id, inspect.SeverityError, lost, "missing state file %s (%s)%s", what, r.owner(), place)
		b.tellCopy(r, tell)
	case errors.Is(r.err, fs.ErrPermission):
		const denied = "this user may not look at them"
		b.skip(r, unchecked, denied, unseen{why: denied, failed: true})
	case r.err != nil:
		// Each names its own file: they are told by their kind, with the first one's
		// words.
		f := fault.Of(r.err)
		b.skip(r, unchecked, "they could not be looked at, "+f.Kind.String(), unseen{why: safetext.Error(f).String(), hint: f.Hint, failed: true})
	case !r.found.Regular:
		missing()
		tell("F3", inspect.SeverityError, lost, "state file %s is not a regular file (%s)", safetext.Of(r.uri), r.owner())
	case r.size != flinkmeta.UnknownSize && r.found.Size != r.size:
		missing()
		tell("F3", inspect.SeverityError, lost, "state file %s has %s bytes, the metadata says %s (%s)",
			safetext.Of(r.uri), figures.Group(r.found.Size), figures.Group(r.size), r.owner())
	case r.found.Size < r.end:
		missing()
		tell("F4", inspect.SeverityError, lost, "merged file %s has %s bytes, its last segment ends at %s (%s)",
			safetext.Of(r.uri), figures.Group(r.found.Size), figures.Group(r.end), r.owner())
	}
}

// unseen are files that could not be looked at, for one reason.
type unseen struct {
	files int64
	why   string // of the first
	hint  string // empty: the usual one

	// failed: the place can be reached from here, and what is there was not told.
	failed bool
}

// skip counts a file that could not be looked at under its class.
func (b *builder) skip(r *reference, unchecked map[string]*unseen, class string, first unseen) {
	b.point.Files.Unchecked = append(b.point.Files.Unchecked, r.uri)
	if unchecked[class] == nil {
		unchecked[class] = &first
	}
	unchecked[class].files++
}

func (b *builder) tellCopy(r *reference, tell func(id string, severity inspect.Severity, hint, format string, args ...any)) {
	if r.copyAt != "" {
		tell("F7", inspect.SeverityWarning, "put it back to its recorded place, or map that place with --map if you look from another machine",
			"%s is not at its recorded place; a file of that name is at %s. Flink looks at the recorded place only.", safetext.Of(r.uri), r.copyAt)
	}
}

// owner says what a file belongs to.
func (r *reference) owner() string {
	role := string(r.first.Role)
	if r.first.Name != "" {
		role += " " + quote(r.first.Name)
	}
	if r.first.Subtask == flinkmeta.NoSubtask {
		return fmt.Sprintf("operator %s, %s", r.first.Operator.Label(), role)
	}
	return fmt.Sprintf("operator %s, subtask %d, %s", r.first.Operator.Label(), r.first.Subtask, role)
}

// checkUnreferenced counts what lies beside the metadata and is named nowhere.
func (b *builder) checkUnreferenced(ctx context.Context, refs []*reference) error {
	if b.from.meta.base() != metadataName {
		return nil // a copy among other files
	}
	entries, more, err := b.from.system.List(ctx, b.from.dir.name(), maxEntries)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		b.add("F8", inspect.SeverityInfo, "", "the snapshot's folder could not be listed, so files that nothing references were not counted: %s", safetext.Error(err))
		return nil
	}
	used := map[string]bool{metadataName: true}
	for _, r := range refs {
		if r.at.dir() == b.from.dir {
			used[r.at.base()] = true
		}
	}
	found := inspect.Unreferenced{More: more, List: []inspect.UnreferencedFile{}}
	slices.SortFunc(entries, func(x, y Entry) int { return strings.Compare(x.Name, y.Name) })
	for _, e := range entries {
		if !e.Regular || used[e.Name] {
			continue
		}
		found.Files++
		found.Bytes = sum(found.Bytes, e.Size)
		if !b.brief && len(found.List) < maxUnreferenced {
			found.List = append(found.List, inspect.UnreferencedFile{URI: childURI(b.from.folder, e.Name), Bytes: e.Size})
		}
	}
	b.point.Files.Unreferenced = &found
	if found.Files > 0 {
		atLeast := ""
		if more {
			atLeast = "at least "
		}
		b.add("F8", inspect.SeverityInfo, "they are leftovers and harmless for a restore",
			"%s%s in the snapshot's folder that nothing references (%s)", atLeast, figures.Count(found.Files, "file", "files"), figures.Bytes(found.Bytes))
	}
	return nil
}
