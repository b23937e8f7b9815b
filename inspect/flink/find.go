package flink

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/clock"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/figures"
	"github.com/recoverctl/recoverctl/internal/safetext"
	"golang.org/x/sync/errgroup"
)

// Limits of a search. A real checkpoint root has a few folders a job.
const (
	maxEntries = 100_000 // of one folder
	maxFolders = 20_000  // of one search
	maxDepth   = 4       // folders below the one that was asked for

	parallelFolders = 16 // looked into at once
)

const (
	metadataName     = "_metadata"
	inProgressPrefix = "._metadata.inprogress."
	checkpointPrefix = "chk-"
	savepointPrefix  = "savepoint-"
	jobIDLength      = 32
)

// candidate is a folder that holds a snapshot, or should.
type candidate struct {
	uri      string
	folder   string   // URI of dir, in the form of uri
	dir      location // folder that relative handles are of
	meta     location // metadata file, where complete
	system   FileSystem
	entry    Entry // of the metadata file where complete, else of the folder
	complete bool
	writing  string    // name of the unfinished metadata file
	changed  time.Time // newest file of an incomplete one
	inside   []Entry   // of one that is not complete
	more     bool      // there are others inside
}

// candidate looks into a folder for metadata.
func (s *Store) candidate(ctx context.Context, system FileSystem, uri string, dir location, entry Entry) (candidate, error) {
	c := candidate{uri: uri, folder: uri, dir: dir, meta: dir.join(metadataName), system: system, entry: entry, changed: entry.Modified}
	meta, err := system.Stat(ctx, c.meta.name())
	switch {
	case err == nil:
		c.entry, c.complete = meta, true
		return c, nil
	case !errors.Is(err, fs.ErrNotExist):
		return c, accessFault(err, c.meta, uri)
	}
	c.inside, c.more, err = system.List(ctx, dir.name(), maxEntries)
	if err != nil {
		return c, accessFault(err, dir, uri)
	}
	for _, e := range c.inside {
		if strings.HasPrefix(e.Name, inProgressPrefix) && !e.Dir {
			c.writing = e.Name
		}
		if e.Modified.After(c.changed) {
			c.changed = e.Modified
		}
	}
	return c, nil
}

// number is N of a folder chk-N, or -1.
func (c candidate) number() int64 { return checkpointNumber(c.dir.base()) }

func checkpointNumber(name string) int64 {
	digits, ok := strings.CutPrefix(name, checkpointPrefix)
	n, err := strconv.ParseInt(digits, 10, 64)
	if !ok || err != nil || n < 0 || strconv.FormatInt(n, 10) != digits {
		return -1
	}
	return n
}

// isSnapshotFolder says that the folder's name is one that Flink gives to a
// snapshot.
func (c candidate) isSnapshotFolder() bool { return isSnapshotName(c.dir.base()) }

func isSnapshotName(name string) bool {
	return checkpointNumber(name) >= 0 || strings.HasPrefix(name, savepointPrefix)
}

func (c candidate) kind() inspect.PointKind {
	if strings.HasPrefix(c.dir.base(), savepointPrefix) {
		return inspect.KindSavepoint
	}
	return inspect.KindCheckpoint
}

// job groups the candidates of one job: by the first six digits of the job id,
// which a savepoint's name has too, else by the folder.
func (c candidate) job() string {
	if name, ok := strings.CutPrefix(c.dir.base(), savepointPrefix); ok && len(name) > 6 && name[6] == '-' {
		return "job " + name[:6]
	}
	parent := c.dir.dir()
	if isJobID(parent.base()) {
		return "job " + parent.base()[:6]
	}
	return parent.String()
}

func isJobID(name string) bool {
	if len(name) != jobIDLength {
		return false
	}
	for _, r := range name {
		if (r < '0' || r > '9') && (r < 'a' || r > 'f') {
			return false
		}
	}
	return true
}

// finder searches folders for snapshots.
type finder struct {
	store   *Store
	system  FileSystem
	seen    map[string]bool // folders by their canonical names: links may lead in circles
	folders int
	found   []candidate
	refused []inspect.RecoveryPoint // there by their folder's name, and not to be looked into
	errs    []error
	full    bool
	deep    bool // folders were left out because they lie too deep, and that was told

	progress *progress[inspect.ListProgress]
}

// looked is what was found out about a folder.
type looked struct {
	canonical string
	candidate candidate
	err       error
}

func (f *finder) look(ctx context.Context, uri string, dir location, entry Entry) looked {
	f.progress.update(func(p *inspect.ListProgress) { p.Folders++ })
	canonical, err := f.system.Canonical(ctx, dir.name())
	if err != nil {
		return looked{err: err}
	}
	c, err := f.store.candidate(ctx, f.system, uri, dir, entry)
	return looked{canonical, c, err}
}

func (f *finder) visit(ctx context.Context, uri string, dir location, entry Entry, depth int) {
	if f.enter(ctx, uri, dir) {
		f.settle(ctx, uri, dir, f.look(ctx, uri, dir, entry), depth)
	}
}

// enter counts a folder, and reports whether the search goes on with it.
func (f *finder) enter(ctx context.Context, uri string, dir location) bool {
	if ctx.Err() != nil || f.full {
		f.note(ctx.Err(), dir, uri)
		return false
	}
	if f.folders++; f.folders > maxFolders {
		f.full = true
		f.errs = append(f.errs, fault.New(fault.Partial, "list recovery points",
			"more than %s folders lie below the place that was asked for: the search stopped at %s", figures.Group(maxFolders), dir.show()).
			WithHint("ask for one job's folder").WithRef(safetext.Of(uri).String()))
		return false
	}
	return true
}

// settle keeps a folder that is a snapshot, and goes on below one that is none.
func (f *finder) settle(ctx context.Context, uri string, dir location, l looked, depth int) {
	if l.canonical != "" {
		if f.seen[l.canonical] {
			return
		}
		f.seen[l.canonical] = true
	}
	switch c := l.candidate; {
	case l.err != nil:
		f.refuse(l.err, dir, uri)
	case c.complete, c.isSnapshotFolder(), c.writing != "":
		c.inside = nil // thousands of them may be kept
		f.found = append(f.found, c)
		f.progress.update(func(p *inspect.ListProgress) { p.Found++ })
	case depth < maxDepth:
		f.children(ctx, c, depth)
	case len(foldersIn(c)) > 0 || c.more:
		f.tooDeep(dir, uri)
	}
}

// foldersIn are the folders in one that is no snapshot, without those that hold state
// files.
func foldersIn(c candidate) []Entry {
	return slices.DeleteFunc(slices.Clone(c.inside), func(e Entry) bool { return !e.Dir || e.Name == "shared" || e.Name == "taskowned" })
}

// tooDeep notes, once, that there are folders which the search does not enter.
func (f *finder) tooDeep(dir location, uri string) {
	if f.deep {
		return
	}
	f.deep = true
	f.errs = append(f.errs, fault.New(fault.Partial, "list recovery points",
		"%s has folders that lie deeper than %d below the place that was asked for: they were not looked into", dir.show(), maxDepth).
		WithHint("ask for a folder nearer to the recovery points, as one job's").WithRef(safetext.Of(uri).String()))
}

// children goes on with the folders in one that is no snapshot. Those that are
// snapshots by their names are looked into side by side, the newest checkpoints
// first: where there are too many, the oldest are left out.
func (f *finder) children(ctx context.Context, c candidate, depth int) {
	if c.more {
		f.errs = append(f.errs, fault.New(fault.Partial, "list recovery points",
			"%s has more than %s entries: only that many were looked at", c.dir.show(), figures.Group(maxEntries)).
			WithHint("ask for one job's folder").WithRef(safetext.Of(c.uri).String()))
	}
	folders := foldersIn(c)
	slices.SortFunc(folders, func(a, b Entry) int {
		return cmp.Or(cmp.Compare(checkpointNumber(b.Name), checkpointNumber(a.Name)), cmp.Compare(a.Name, b.Name))
	})
	ahead := make([]looked, min(len(folders), max(maxFolders-f.folders, 0)))
	var group errgroup.Group
	group.SetLimit(parallelFolders)
	for i := range ahead {
		if e := folders[i]; isSnapshotName(e.Name) {
			group.Go(func() error {
				if ahead[i].err = ctx.Err(); ahead[i].err == nil {
					ahead[i] = f.look(ctx, childURI(c.uri, e.Name), c.dir.join(e.Name), e)
				}
				return nil
			})
		}
	}
	_ = group.Wait() // the errors are in ahead
	for i, e := range folders {
		uri, dir := childURI(c.uri, e.Name), c.dir.join(e.Name)
		switch {
		case f.full:
			return
		case i < len(ahead) && isSnapshotName(e.Name):
			if f.enter(ctx, uri, dir) {
				f.settle(ctx, uri, dir, ahead[i], depth+1)
			}
		default:
			f.visit(ctx, uri, dir, e, depth+1)
		}
	}
}

// refuse keeps a folder that can't be looked into: a recovery point where its
// name is one that Flink gives, so that nobody takes it for absent.
func (f *finder) refuse(err error, dir location, uri string) {
	f.note(err, dir, uri)
	if f.full || !isSnapshotName(dir.base()) {
		return
	}
	p := unread(uri, string(candidate{dir: dir}.kind()))
	p.Err = accessFault(err, dir, uri)
	f.refused = append(f.refused, p)
}

// note keeps an error, of a cancelled context only once.
func (f *finder) note(err error, dir location, uri string) {
	if err == nil {
		return
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		if f.full {
			return
		}
		f.full = true
	}
	f.errs = append(f.errs, accessFault(err, dir, uri))
}

// incomplete explains a folder without metadata: checks L2 and L3.
func (s *Store) incomplete(c candidate) (inspect.Check, *fault.Fault) {
	check := inspect.Check{ID: "L2", Severity: inspect.SeverityError}
	kind := fault.Corrupt
	age := ""
	if !c.changed.IsZero() {
		age = "; last changed " + clock.Age(s.clock.Now().Sub(c.changed)) + " ago"
	}
	switch {
	case c.writing != "":
		check.ID = "L3"
		check.Message = c.dir.show() + ": this snapshot was being finalized when its writer stopped, or is being finalized now (found " +
			safetext.Of(c.writing).String() + age + "). It can't be restored."
		check.Hint = "use another recovery point; if the job is running, look again in a minute"
	default:
		check.Message = c.dir.show() + " is not a completed snapshot: it has no _metadata file. It was aborted, is still running, or is being deleted" + age + "."
		check.Hint = "use another recovery point; if the job is running, look again in a minute"
	}
	return check, fault.New(kind, "read recovery point", "%s", check.Message).WithHint("%s", check.Hint).WithRef(safetext.Of(c.uri).String())
}

// notAPoint explains a folder that is not a snapshot and does not look like one:
// check L4 for folders above snapshots.
func (s *Store) notAPoint(ctx context.Context, t target) (inspect.RecoveryPoint, error) {
	p := unread(t.uri, "")
	f := finder{store: s, system: t.system, seen: map[string]bool{}}
	f.visit(ctx, t.uri, t.at, t.entry, 0)
	if err := ctx.Err(); err != nil {
		return p, accessFault(err, t.at, t.uri)
	}
	complete := slices.DeleteFunc(slices.Clone(f.found), func(c candidate) bool { return !c.complete })
	var refusal *fault.Fault
	switch {
	case len(f.found) > 0 && len(complete) == 0:
		refusal = fault.New(fault.Usage, "read recovery point", "%s is a folder above %s, and none of them is complete",
			t.at.show(), figures.Count(int64(len(f.found)), "snapshot", "snapshots")).
			WithHint("look elsewhere for a completed one, or wait for the job's next checkpoint")
	case len(complete) > 0:
		newest := slices.MaxFunc(complete, func(a, b candidate) int {
			return cmp.Or(a.entry.Modified.Compare(b.entry.Modified), cmp.Compare(a.number(), b.number()))
		})
		refusal = fault.New(fault.Usage, "read recovery point", "%s is a folder above %s, not one of them",
			t.at.show(), figures.Count(int64(len(complete)), "completed snapshot", "completed snapshots")).
			WithHint("give one of them; the newest by its file's date is %s", safetext.Of(newest.uri))
	default:
		check, _ := s.incomplete(candidate{uri: t.uri, dir: t.at})
		p.Checks = append(p.Checks, check)
		return p, fault.New(fault.NotFound, "read recovery point", "no recovery point is in or below %s", t.at.show()).
			WithHint("give the folder that holds _metadata, such as chk-42 or savepoint-…").WithRef(safetext.Of(t.uri).String())
	}
	p.Checks = append(p.Checks, inspect.Check{ID: "L4", Severity: inspect.SeverityError, Message: refusal.Message, Hint: refusal.Hint})
	return p, errors.Join(append([]error{refusal.WithRef(safetext.Of(t.uri).String())}, f.errs...)...)
}
