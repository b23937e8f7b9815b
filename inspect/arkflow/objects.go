package arkflow

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/objstore"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

// object is one object below the folder of a log.
type object struct {
	name     string // below the folder
	size     int64
	modified time.Time

	stored objstore.Object // of an object store
}

// base is the last part of the name.
func (o object) base() string { return o.name[strings.LastIndexByte(o.name, '/')+1:] }

// folder is where the objects of a log lie: a prefix of a bucket, or a copy of
// one on this machine. What is not there is fs.ErrNotExist.
type folder interface {
	// list returns what lies directly in a folder below this one, at most limit.
	list(ctx context.Context, below string, limit int) (objects []object, folders []string, more bool, err error)
	stat(ctx context.Context, name string) (object, error)
	read(ctx context.Context, o object, offset, size int64) ([]byte, error)
	// sub is a folder below this one.
	sub(name string) folder
	// path is the folder as an operator names it, and key as the engine does, as far
	// as it is known.
	path() string
	key() string
}

// bucketFolder is a prefix of a bucket.
type bucketFolder struct {
	client *objstore.Client
	bucket string
	prefix string // without slashes at its ends
}

func (b bucketFolder) at(name string) string {
	if b.prefix == "" || name == "" {
		return b.prefix + name
	}
	return b.prefix + "/" + name
}

func (b bucketFolder) list(ctx context.Context, below string, limit int) ([]object, []string, bool, error) {
	prefix := b.at(below)
	if prefix != "" {
		prefix += "/"
	}
	l, err := b.client.List(ctx, b.bucket, prefix, limit)
	if err != nil {
		return nil, nil, false, err
	}
	objects := make([]object, 0, len(l.Objects))
	for _, o := range l.Objects {
		name := strings.TrimPrefix(o.Key, prefix)
		if below != "" {
			name = below + "/" + name
		}
		objects = append(objects, object{name: name, size: o.Size, modified: o.Modified, stored: o})
	}
	return objects, l.Folders, l.More, nil
}

func (b bucketFolder) stat(ctx context.Context, name string) (object, error) {
	o, err := b.client.Head(ctx, b.bucket, b.at(name))
	return object{name: name, size: o.Size, modified: o.Modified, stored: o}, err
}

func (b bucketFolder) read(ctx context.Context, o object, offset, size int64) ([]byte, error) {
	return b.client.Read(ctx, o.stored, offset, size)
}

func (b bucketFolder) sub(name string) folder {
	b.prefix = b.at(name)
	return b
}

func (b bucketFolder) path() string { return "s3://" + b.bucket + "/" + b.prefix }
func (b bucketFolder) key() string  { return b.prefix }

// localFolder is a copy of a prefix.
type localFolder string

func (l localFolder) list(ctx context.Context, below string, limit int) (objects []object, folders []string, more bool, err error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, false, err
	}
	dir, err := os.Open(filepath.Join(string(l), filepath.FromSlash(below)))
	if err != nil {
		return nil, nil, false, l.fail(below, err)
	}
	defer dir.Close()
	for {
		entries, err := dir.ReadDir(1024)
		for _, e := range entries {
			if len(objects)+len(folders) == limit {
				return objects, folders, true, nil
			}
			if e.IsDir() {
				folders = append(folders, e.Name())
				continue
			}
			info, err := e.Info()
			if err != nil || !info.Mode().IsRegular() {
				continue // gone since, or nothing that a copy of objects has
			}
			name := e.Name()
			if below != "" {
				name = below + "/" + name
			}
			objects = append(objects, object{name: name, size: info.Size(), modified: info.ModTime().UTC()})
		}
		switch {
		case errors.Is(err, io.EOF):
			return objects, folders, false, nil
		case err != nil:
			return nil, nil, false, l.fail(below, err)
		case ctx.Err() != nil:
			return nil, nil, false, ctx.Err()
		}
	}
}

func (l localFolder) fail(name string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return notOpened(filepath.Join(string(l), filepath.FromSlash(name)), err)
}

func (l localFolder) stat(ctx context.Context, name string) (object, error) {
	if err := ctx.Err(); err != nil {
		return object{}, err
	}
	info, err := os.Stat(filepath.Join(string(l), filepath.FromSlash(name)))
	switch {
	case err != nil:
		return object{}, l.fail(name, err)
	case !info.Mode().IsRegular():
		return object{}, fs.ErrNotExist
	}
	return object{name: name, size: info.Size(), modified: info.ModTime().UTC()}, nil
}

func (l localFolder) read(ctx context.Context, o object, offset, size int64) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	file, err := os.Open(filepath.Join(string(l), filepath.FromSlash(o.name)))
	if err != nil {
		return nil, l.fail(o.name, err)
	}
	defer file.Close()
	data := make([]byte, size)
	if _, err := file.ReadAt(data, offset); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, fault.New(fault.Unreachable, opReadLog, "%s became shorter while it was read", safetext.Of(o.name)).
				WithHint("a segment never changes: find out what writes there, and read the log again")
		}
		return nil, l.fail(o.name, err)
	}
	return data, nil
}

func (l localFolder) sub(name string) folder {
	return localFolder(filepath.Join(string(l), filepath.FromSlash(name)))
}

func (l localFolder) path() string { return string(l) }
func (l localFolder) key() string  { return filepath.ToSlash(string(l)) }
