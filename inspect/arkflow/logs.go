package arkflow

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/recoverctl/recoverctl/internal/clock"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/objstore"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

// Options are what reading takes.
type Options struct {
	Clock clock.Clock // the machine's if nil
	// Bucket finds the store of a URI, and what in it the URI names; nil: there is
	// none.
	Bucket func(uri string) (client *objstore.Client, bucket, key string, err error)
}

// Logs reads write-ahead logs. It may be used by several goroutines.
type Logs struct{ options Options }

// NewLogs makes a reader. Nothing is opened before a log is asked for.
func NewLogs(o Options) *Logs {
	if o.Clock == nil {
		o.Clock = clock.System{}
	}
	return &Logs{o}
}

// Progress is how far the reading of a log has come.
type Progress struct{ Segments, Of int }

// Read reads the log at a place: a redb file, its copy packed by gzip, the folder
// that it lies in, or the folder of an object store's log, by its URI or as a copy
// on this machine. A folder above one log stands for that log.
//
// A fault says why nothing can be said: NotFound, Denied, Unreachable, Usage where
// several logs lie below, and Corrupt where what is there can't be read at all.
func (r *Logs) Read(ctx context.Context, place string, q Question) (WriteAheadLog, error) {
	at, err := r.resolve(ctx, place)
	if err != nil {
		return WriteAheadLog{}, err
	}
	if q.Extent == "" {
		q.Extent = ReadAsNeeded
	}
	if at.file != "" {
		return readLocal(ctx, place, at.file, q, r.options.Clock)
	}
	return readObjects(ctx, place, at.folder, q, r.options.Clock.Now())
}

// located is where a log is: a file, or a folder of objects.
type located struct {
	file   string
	folder folder
}

// resolve finds the log that a place stands for.
func (r *Logs) resolve(ctx context.Context, place string) (located, error) {
	if strings.TrimSpace(place) == "" {
		return located{}, fault.New(fault.Usage, opReadLog, "the log's path is empty").
			WithHint("give the file %s, its folder, or a URI as s3://BUCKET/PREFIX/NODE/STREAM", FileName)
	}
	scheme, rest, isURI := strings.Cut(place, "://")
	if strings.HasPrefix(place, "file:") {
		path := strings.TrimPrefix(place, "file:")
		if after, ok := strings.CutPrefix(path, "//"); ok {
			path = strings.TrimPrefix(after, "localhost")
		}
		if !strings.HasPrefix(path, "/") {
			return located{}, fault.New(fault.Usage, opReadLog, "%s is not an absolute path", safetext.Of(place)).WithHint("write file:/…, or a plain path")
		}
		return resolvePath(ctx, path)
	}
	if !isURI || strings.ContainsAny(scheme, "/\\") {
		return resolvePath(ctx, place)
	}
	if r.options.Bucket == nil || scheme != "s3" && scheme != "s3a" && scheme != "s3p" || rest == "" {
		return located{}, fault.New(fault.Usage, opReadLog, "%s can't be read: logs are files of this machine, or lie in an object store", safetext.Of(place)).
			WithHint("write a path, or s3://BUCKET/PREFIX/NODE/STREAM")
	}
	client, bucket, key, err := r.options.Bucket(place)
	if err != nil {
		return located{}, err
	}
	key = strings.Trim(key, "/")
	key = strings.Trim(strings.TrimSuffix(key, logManifestName), "/")
	f, err := below(ctx, place, bucketFolder{client, bucket, key})
	return located{folder: f}, err
}

func resolvePath(ctx context.Context, path string) (located, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return located{}, fault.Wrap(fault.Usage, opReadLog, err, "the path can't be followed")
	}
	info, err := os.Stat(path)
	if err != nil {
		return located{}, notOpened(path, err)
	}
	if !info.IsDir() {
		switch filepath.Base(path) {
		case logManifestName:
			return located{folder: localFolder(filepath.Dir(path))}, nil
		}
		return located{file: path}, nil
	}
	if file, ok := fileIn(path); ok {
		return located{file: file}, nil
	}
	f, err := below(ctx, path, localFolder(path))
	if f, ok := f.(localFolder); ok && err == nil {
		if file, ok := fileIn(string(f)); ok {
			return located{file: file}, nil
		}
	}
	return located{folder: f}, err
}

// fileIn is the log's file in a folder.
func fileIn(path string) (string, bool) {
	for _, name := range []string{FileName, FileName + ".gz"} {
		file := filepath.Join(path, name)
		if info, err := os.Stat(file); err == nil && !info.IsDir() {
			return file, true
		}
	}
	return "", false
}

// Bounds of the search for a log below a folder.
const (
	maxLooked  = 500 // folders
	maxLevels  = 6
	maxEntries = 10_000 // of one folder
	namedLogs  = 10
)

// below finds the one log in a folder or below it.
func below(ctx context.Context, place string, root folder) (folder, error) {
	type step struct {
		folder folder
		level  int
	}
	var found []folder
	var unread error
	cut := false // there are folders that are not looked at
	queue, looked := []step{{root, 0}}, 0
	for len(queue) > 0 && looked < maxLooked {
		at := queue[0]
		queue = queue[1:]
		looked++
		objects, folders, more, err := at.folder.list(ctx, "", maxEntries)
		cut = cut || more
		switch {
		case err != nil && at.level == 0 && !errors.Is(err, fs.ErrNotExist):
			return nil, err
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil:
			unread = err
			continue
		}
		isLog := slices.Contains(folders, segmentFolder)
		for _, o := range objects {
			isLog = isLog || o.name == logManifestName || isLocalFile(at.folder, o.name)
		}
		if isLog {
			found = append(found, at.folder)
			continue
		}
		if at.level == maxLevels {
			cut = cut || len(folders) > 0
			continue
		}
		for _, name := range folders {
			queue = append(queue, step{at.folder.sub(name), at.level + 1})
		}
	}
	cut = cut || len(queue) > 0
	switch len(found) {
	case 1:
		if !cut && unread == nil {
			return found[0], nil
		}
		why := "there are more folders than are looked at"
		if unread != nil {
			why = "a folder could not be looked at: " + safetext.Error(unread).String()
		}
		// It may not be the one that was meant.
		return nil, fault.New(fault.Usage, opReadLog, "%s is a write-ahead log below %s, and may not be the only one: %s", safetext.Of(found[0].path()), safetext.Of(place), why).
			WithHint("name the log itself: %s", safetext.Of(found[0].path()))
	case 0:
		if unread != nil && !errors.Is(unread, fs.ErrNotExist) {
			return nil, unread // the log may be there
		}
		if cut {
			return nil, fault.New(fault.Usage, opReadLog, "no write-ahead log was found below %s, and there are more folders than are looked at", safetext.Of(place)).
				WithHint("name the log itself: the folder that durability.path of the stream names, or PREFIX/NODE/STREAM in an object store")
		}
		return nil, fault.New(fault.NotFound, opReadLog, "there is no write-ahead log in %s or below it: neither %s nor %s or %s/", safetext.Of(place), FileName, logManifestName, segmentFolder).
			WithHint("an engine writes %s in the folder that durability.path of the stream names; in an object store the log lies under PREFIX/NODE/STREAM", FileName)
	}
	var names []string
	for _, f := range found[:min(len(found), namedLogs)] {
		names = append(names, safetext.Of(f.path()).String())
	}
	return nil, fault.New(fault.Usage, opReadLog, "%d write-ahead logs lie below %s", len(found), safetext.Of(place)).
		WithHint("name one: %s", strings.Join(names, ", "))
}

func isLocalFile(f folder, name string) bool {
	_, local := f.(localFolder)
	return local && (name == FileName || name == FileName+".gz")
}
