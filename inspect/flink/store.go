package flink

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/clock"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

// Options says how a Store finds files.
type Options struct {
	Mappings []Mapping
	// Systems are the file systems of schemes other than file, by lower-case
	// scheme; that of SchemeS3 is also of s3a and s3p. What has none is not readable
	// from here.
	Systems map[string]FileSystem
	Clock   clock.Clock // nil: the machine's
}

// Store reads recovery points. It is an inspect.PointStore and may be used by
// several goroutines.
type Store struct {
	mappings []mapping
	systems  map[string]FileSystem
	clock    clock.Clock
	big      chan struct{} // held while a large metadata file is in memory
}

var (
	_ inspect.PointStore  = (*Store)(nil)
	_ inspect.PointReader = (*Store)(nil)
	_ inspect.PointLister = (*Store)(nil)
)

// New makes a Store. A mapping that can't be understood is a fault of kind
// Config.
func New(o Options) (*Store, error) {
	s := &Store{systems: map[string]FileSystem{}, clock: o.Clock, big: make(chan struct{}, 1)}
	if s.clock == nil {
		s.clock = clock.System{}
	}
	for scheme, system := range o.Systems {
		s.systems[strings.ToLower(scheme)] = system
	}
	s.systems[schemeFile] = Local{}
	for _, m := range o.Mappings {
		from, err := parseLocation(m.From)
		if err != nil {
			return nil, badMapping(m, err)
		}
		to, err := parseLocation(m.To)
		if err != nil {
			return nil, badMapping(m, err)
		}
		s.mappings = append(s.mappings, mapping{from, to})
	}
	return s, nil
}

func badMapping(m Mapping, err error) error {
	return fault.Wrap(fault.Config, "read path mappings", err, "the path mapping %s=%s", safetext.Of(m.From), safetext.Of(m.To)).
		WithHint("a mapping is FROM=TO: a recorded prefix, as in file:/data/checkpoints, and a folder, as in /mnt/checkpoints")
}

// target is what a URI leads to.
type target struct {
	uri    string // as the operator wrote it
	at     location
	system FileSystem
	entry  Entry
}

// locate finds what a URI leads to: a folder or a file.
func (s *Store) locate(ctx context.Context, uri string) (target, error) {
	recorded, err := parseLocation(uri)
	if err != nil {
		return target{}, err
	}
	t := target{uri: uri, at: recorded}
	if _, _, hasScheme := cutScheme(uri); hasScheme {
		t.at, _ = s.place(recorded)
	}
	var known bool
	if t.system, known = s.systems[t.at.scheme]; !known {
		return target{}, notReadable(t.at).WithRef(safetext.Of(uri).String())
	}
	t.entry, err = t.system.Stat(ctx, t.at.name())
	if err != nil {
		// Where folders may not be looked at, as in an object store without the right
		// to list, a snapshot is still found by its metadata.
		if !errors.Is(err, fs.ErrNotExist) && ctx.Err() == nil {
			if e, metaErr := t.system.Stat(ctx, t.at.join(metadataName).name()); metaErr == nil && e.Regular {
				t.entry = Entry{Name: t.at.base(), Dir: true}
				return t, nil
			}
		}
		return target{}, accessFault(err, t.at, uri)
	}
	return t, nil
}

// notReadable is the fault of a scheme that has no file system here. It never
// says that something is missing.
func notReadable(l location) *fault.Fault {
	if l.scheme == "s3n" {
		s3 := l
		s3.scheme = SchemeS3
		return fault.New(fault.Unsupported, "read recovery point", "%s is not readable from here: s3n: is an old name of S3 that Flink has no file system for", l.show()).
			WithHint("write %s", s3.show())
	}
	what := safetext.Of(l.scheme).String() + ":"
	if name := systemName(l.scheme); name != "" {
		what = name + " (" + what + ")"
	}
	return fault.New(fault.Unsupported, "read recovery point", "%s is not readable from here: no access to %s is built in", l.show(), what).
		WithHint("map the prefix to a folder or an object store with --map %s=TO, or copy the files to this machine", safetext.Of(l.scheme+"://"+l.authority))
}

// systemName is what people call the system of a scheme that Flink knows.
func systemName(scheme string) string {
	switch scheme {
	case "hdfs", "viewfs", "webhdfs", "swebhdfs", "har":
		return "HDFS"
	case "gs":
		return "Google Cloud Storage"
	case "abfs", "abfss", "wasb", "wasbs":
		return "Azure storage"
	case "oss":
		return "Alibaba OSS"
	case "cosn":
		return "Tencent COS"
	default:
		return ""
	}
}

// accessFault turns the error of a FileSystem into what an operator should
// read. refs are URIs as the operator wrote them.
func accessFault(err error, l location, uri string) *fault.Fault {
	var f *fault.Fault
	switch {
	case errors.As(err, &f):
		if len(f.Refs) > 0 {
			return f
		}
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		f = fault.Wrap(fault.KindOf(err), "read recovery point", err, "reading %s was stopped", l.show())
	case errors.Is(err, fs.ErrNotExist):
		f = fault.New(fault.NotFound, "read recovery point", "no such file or directory: %s", l.show()).
			WithHint("check the path; list what is there with recoverctl inspect points; files recorded under another name need --map FROM=TO")
	case errors.Is(err, fs.ErrPermission):
		f = fault.New(fault.Denied, "read recovery point", "%s may not be read by this user", l.show()).
			WithHint("run as a user who may read it, or copy it; nothing is known about this recovery point")
	default:
		f = fault.New(fault.Unreachable, "read recovery point", "%s could not be read: %s", l.show(), safetext.Error(err))
	}
	return f.WithRef(safetext.Of(uri).String())
}

// Point implements inspect.PointStore. uri is a snapshot's folder or its
// metadata file, whatever that is called.
func (s *Store) Point(ctx context.Context, uri string) (inspect.RecoveryPoint, error) {
	return s.ReadPoint(ctx, uri, inspect.PointQuestion{}, nil)
}

// ReadPoint implements inspect.PointReader.
func (s *Store) ReadPoint(ctx context.Context, uri string, q inspect.PointQuestion, watch func(inspect.PointProgress)) (inspect.RecoveryPoint, error) {
	ask := asked{question: q, progress: telling(s.clock.Now, watch)}
	t, err := s.locate(ctx, uri)
	if err != nil {
		p := unread(uri, "")
		if fault.KindOf(err) == fault.NotFound {
			p.Checks = append(p.Checks, inspect.Check{ID: "L1", Severity: inspect.SeverityError,
				Message: fault.Of(err).Message, Hint: fault.Of(err).Hint})
		}
		return p, err
	}
	if !t.entry.Dir {
		return s.load(ctx, candidate{uri: uri, folder: parentURI(uri), dir: t.at.dir(), meta: t.at, system: t.system, entry: t.entry, complete: true}, ask)
	}
	c, err := s.candidate(ctx, t.system, uri, t.at, t.entry)
	if err != nil {
		return unread(uri, ""), err
	}
	if c.complete || c.isSnapshotFolder() || c.writing != "" {
		return s.load(ctx, c, ask)
	}
	return s.notAPoint(ctx, t)
}

// Points implements inspect.PointStore. uri is a folder of checkpoints or
// savepoints at any level, or one recovery point. Points come newest first: jobs
// by their newest point, then by checkpoint id.
//
// Folders named chk-N or savepoint-… without metadata are in the list as
// damaged. A point that could not be read from here, or whose markers could not
// (denied, unreachable, an unsupported version), is not: the error has a fault
// for it, with its URI as first ref.
func (s *Store) Points(ctx context.Context, uri string) ([]inspect.RecoveryPoint, error) {
	return s.ListPoints(ctx, uri, nil)
}

// ListPoints implements inspect.PointLister.
func (s *Store) ListPoints(ctx context.Context, uri string, watch func(inspect.ListProgress)) ([]inspect.RecoveryPoint, error) {
	t, err := s.locate(ctx, uri)
	if err != nil {
		return nil, err
	}
	if !t.entry.Dir {
		p, err := s.Point(ctx, uri)
		return listed([]inspect.RecoveryPoint{p}, []error{err})
	}
	f := finder{store: s, system: t.system, seen: map[string]bool{}, progress: telling(s.clock.Now, watch)}
	defer f.progress.end()
	f.visit(ctx, uri, t.at, t.entry, 0)
	points, errs := s.loadAll(ctx, f.found, f.progress)
	points, err = listed(points, errs)
	return append(points, f.refused...), errors.Join(append(f.errs, err)...)
}

// listed keeps the points that were read, damaged ones among them, and those
// that are there and can't be read from here, with what kept them from it. A
// point that was deleted while it was read is in no list. The errors are those
// of all points that are not damage.
func listed(points []inspect.RecoveryPoint, errs []error) ([]inspect.RecoveryPoint, error) {
	kept := make([]inspect.RecoveryPoint, 0, len(points))
	var failed []error
	for i, p := range points {
		switch kind := fault.KindOf(errs[i]); {
		case errs[i] == nil, kind == fault.Corrupt:
			kept = append(kept, p)
		case kind == fault.Denied, kind == fault.Unreachable, kind == fault.Unsupported:
			p.Err = errs[i]
			kept = append(kept, p)
			failed = append(failed, errs[i])
		default:
			failed = append(failed, errs[i])
		}
	}
	return slices.Clip(kept), errors.Join(failed...)
}

// unread is a recovery point of which nothing is known. Its merged marker is
// invalid: a point without markers would be a fresh start.
func unread(uri, kind string) inspect.RecoveryPoint {
	p := inspect.RecoveryPoint{
		URI: uri, Kind: inspect.KindCheckpoint, CheckpointID: -1,
		Taken:     inspect.Taken{Source: inspect.TimeFromFile},
		Operators: []inspect.Operator{}, Markers: []inspect.Marker{}, Checks: []inspect.Check{},
		Files: inspect.Files{Missing: []string{}, Unchecked: []string{}},
		Merged: inspect.Merged{Kind: inspect.MergedInvalid, Offsets: inspect.Offsets{}, Problem: &inspect.Problem{
			Code: CodeUnreadable, Message: "the markers are not known: not all of this recovery point could be read"}},
	}
	if kind != "" {
		p.Kind = inspect.PointKind(kind)
	}
	return p
}
