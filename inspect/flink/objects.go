package flink

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/objstore"
	"github.com/recoverctl/recoverctl/internal/safetext"
	"golang.org/x/sync/errgroup"
)

const (
	// SchemeS3 is the scheme that Objects is the FileSystem of: Flink's other
	// names of it, s3a and s3p, are taken for it.
	SchemeS3 = "s3"

	maxKey      = 1024   // bytes of an object's key: longer ones no store has
	maxVersions = 16_384 // objects whose version is remembered
	// folderMark is what the names of the objects end in by which some tools mark
	// folders.
	folderMark = "_$folder$"
)

// ObjectStore reads the objects whose URI begins with Match.
type ObjectStore struct {
	Match  string // a prefix of URIs, as in s3://flink-state/
	Client *objstore.Client
}

// Objects is the file system of object stores. A folder is what some object's
// key begins with; one that no key begins with does not exist. It may be used by
// several goroutines.
type Objects struct {
	stores []ObjectStore // the longest match first

	mu       sync.Mutex
	versions map[string]objstore.Object // by URI, as last looked at
}

var _ FileSystem = (*Objects)(nil)

// NewObjects makes the file system of some stores: of those whose Match a URI
// begins with, the one with the longest reads it. Match may use any of Flink's
// schemes for S3, and an empty one matches all that no other does.
func NewObjects(stores ...ObjectStore) *Objects {
	o := &Objects{versions: map[string]objstore.Object{}}
	for _, s := range stores {
		s.Match = SameScheme(s.Match)
		o.stores = append(o.stores, s)
	}
	slices.SortStableFunc(o.stores, func(a, b ObjectStore) int { return cmp.Compare(len(b.Match), len(a.Match)) })
	return o
}

// SameScheme spells a URI with the one scheme of those that are the same to
// Flink: s3a and s3p become s3, which object they name does not change.
func SameScheme(uri string) string {
	scheme, rest, ok := cutScheme(uri)
	if !ok {
		return uri
	}
	return sameScheme(scheme) + ":" + rest
}

// sameScheme is the scheme under which a system is known. Flink's file systems
// for S3 answer to s3 together with s3a (Hadoop) or s3p (Presto): the bucket and
// the key are the same.
func sameScheme(scheme string) string {
	switch scheme {
	case "s3a", "s3p":
		return SchemeS3
	default:
		return scheme
	}
}

// object is what a path names.
type object struct {
	uri         string
	bucket, key string // without slashes at their ends
	client      *objstore.Client
}

// folder is the prefix of what lies in the object as a folder.
func (o object) folder() string {
	if o.key == "" {
		return ""
	}
	return o.key + "/"
}

func (o *Objects) find(path string) (object, error) {
	l, err := parseLocation(path)
	if err != nil {
		return object{}, err
	}
	l = l.known()
	out := object{uri: l.String(), bucket: l.authority, key: strings.Trim(l.path, "/")}
	switch {
	case strings.ContainsAny(l.authority, "@"):
		return out, fault.New(fault.Usage, "read object store", "a URI of an object store may not hold a user or password").
			WithHint("write s3://BUCKET/PATH, and the access key into credentials of the object store")
	case l.authority == "":
		return out, fault.New(fault.Usage, "read object store", "%s names no bucket", safetext.Of(path)).WithHint("write s3://BUCKET/PATH")
	case len(out.key) > maxKey:
		return out, fs.ErrNotExist
	}
	for _, s := range o.stores {
		if strings.HasPrefix(out.uri, s.Match) || strings.HasPrefix(out.uri+"/", s.Match) {
			out.client = s.Client
			return out, nil
		}
	}
	return out, fault.New(fault.Unsupported, "read object store", "no object store is set up for %s", safetext.Of(out.uri)).
		WithHint("add one with match: s3://%s/ to object-stores of the profile", safetext.Of(out.bucket))
}

// Stat implements FileSystem.
func (o *Objects) Stat(ctx context.Context, path string) (Entry, error) {
	at, err := o.find(path)
	if err != nil {
		return Entry{}, err
	}
	folder := Entry{Name: at.key[strings.LastIndex(at.key, "/")+1:], Dir: true}
	if at.key == "" {
		_, err := at.client.List(ctx, at.bucket, "", 1)
		return folder, err
	}
	head, err := at.client.Head(ctx, at.bucket, at.key)
	file := Entry{Name: folder.Name, Regular: true, Size: head.Size, Modified: head.Modified}
	switch {
	case err == nil && head.Size > 0:
		o.remember(at.uri, head)
		return file, nil
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return Entry{}, err
	}
	// There is no object, or an empty one, which may be the mark of a folder.
	below, listErr := at.client.List(ctx, at.bucket, at.folder(), 1)
	switch {
	case listErr == nil && !below.Empty(), err == nil && head.Folder:
		return folder, nil
	case err == nil: // where its folder can't be listed, too: the object itself is there
		o.remember(at.uri, head)
		return file, nil
	case listErr != nil:
		return Entry{}, listErr
	}
	return Entry{}, fs.ErrNotExist
}

// Glance implements glancer. A folder of which many files are asked for is
// listed, where that takes fewer requests; what it does not show is to be asked
// for by itself.
func (o *Objects) Glance(ctx context.Context, paths []string) map[string]Entry {
	folders := map[string][]string{}
	for _, path := range paths {
		if at := strings.LastIndex(path, "/"); at > 0 {
			folders[path[:at]] = append(folders[path[:at]], path)
		}
	}
	var (
		mu    sync.Mutex
		shown = map[string]Entry{}
		group errgroup.Group
	)
	group.SetLimit(parallelFolders)
	for folder, files := range folders {
		if len(files) < manyFiles {
			continue
		}
		group.Go(func() error {
			// Of a folder with many others only as much as is cheaper than asking.
			entries, _, err := o.List(ctx, folder, len(files)*manyFiles)
			if err != nil {
				return nil //nolint:nilerr // each file is then asked for, and says why
			}
			mu.Lock()
			defer mu.Unlock()
			for _, e := range entries {
				if e.Regular {
					shown[folder+"/"+e.Name] = e
				}
			}
			return nil
		})
	}
	_ = group.Wait() // no error leaves it
	return shown
}

// manyFiles is of how many files of a folder one listing is cheaper, and how
// many times more files it may bring than are asked for.
const manyFiles = 16

// List implements FileSystem. The marks of folders are no files of them.
func (o *Objects) List(ctx context.Context, path string, limit int) ([]Entry, bool, error) {
	at, err := o.find(path)
	if err != nil {
		return nil, false, err
	}
	l, err := at.client.List(ctx, at.bucket, at.folder(), limit)
	if err != nil {
		return nil, false, err
	}
	if l.Empty() && at.key != "" {
		return nil, false, fs.ErrNotExist
	}
	entries := make([]Entry, 0, len(l.Folders)+len(l.Objects))
	folders := make(map[string]bool, len(l.Folders))
	for _, name := range l.Folders {
		if isName(name) {
			folders[name] = true
			entries = append(entries, Entry{Name: name, Dir: true})
		}
	}
	for _, f := range l.Objects {
		name := strings.TrimPrefix(f.Key, at.folder())
		marks := f.Size == 0 && (folders[name] || strings.HasSuffix(name, folderMark))
		if isName(name) && !marks {
			entries = append(entries, Entry{Name: name, Regular: true, Size: f.Size, Modified: f.Modified})
		}
	}
	return entries, l.More, nil
}

// isName reports whether Flink's paths can name an entry so: they drop empty
// parts and follow dots, so that such keys are of other programs.
func isName(name string) bool { return name != "" && name != "." && name != ".." }

// Read implements FileSystem. It reads the version that was last looked at.
func (o *Objects) Read(ctx context.Context, path string, offset, size int64) ([]byte, error) {
	at, err := o.find(path)
	if err != nil {
		return nil, err
	}
	version, known := o.version(at.uri)
	if !known {
		if version, err = at.client.Head(ctx, at.bucket, at.key); err != nil {
			return nil, err
		}
		o.remember(at.uri, version)
	}
	return at.client.Read(ctx, version, offset, size)
}

// Canonical implements FileSystem.
func (o *Objects) Canonical(_ context.Context, path string) (string, error) {
	at, err := o.find(path)
	return strings.TrimRight(at.uri, "/"), err
}

func (o *Objects) version(uri string) (objstore.Object, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	v, ok := o.versions[uri]
	return v, ok
}

func (o *Objects) remember(uri string, v objstore.Object) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.versions) >= maxVersions {
		clear(o.versions)
	}
	o.versions[uri] = v
}
