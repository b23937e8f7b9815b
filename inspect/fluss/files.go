package fluss

import (
	"context"
	"fmt"
	"strings"

	"github.com/recoverctl/recoverctl/inspect/flink"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

// Remote is a cluster's remote storage as it is seen from here: by the mappings of
// paths and the file systems that recovery points are read by.
type Remote struct {
	Mappings []flink.Mapping
	Systems  map[string]flink.FileSystem // by scheme; file is this machine's own
}

var _ Files = Remote{}

// maxFolders is how many names of a folder are listed.
const maxFolders = 10_000

// fileScheme is the scheme of this machine's own files.
const fileScheme = "file"

// plainURI is a URI in its one spelling: file:/x for file:///x and /x, s3://b for
// s3a://b.
func plainURI(uri string) string {
	uri = flink.SameScheme(uri)
	if strings.HasPrefix(uri, "/") {
		uri = fileScheme + ":" + uri
	}
	if rest, ok := strings.CutPrefix(uri, fileScheme+":"); ok {
		uri = fileScheme + ":/" + strings.TrimLeft(rest, "/")
	}
	return uri
}

// seen is where a URI's file is seen from here: by the mapping with the longest
// From that is a folder of it.
func (r Remote) seen(uri string) string {
	uri = plainURI(uri)
	best, to := -1, ""
	for _, m := range r.Mappings {
		from := strings.TrimRight(plainURI(m.From), "/")
		rest, ok := strings.CutPrefix(uri, from)
		if ok && len(from) > best && (rest == "" || rest[0] == '/') {
			best, to = len(from), strings.TrimRight(plainURI(m.To), "/")+rest
		}
	}
	if best < 0 {
		return uri
	}
	return to
}

// system is the file system of a URI, and the path that it is asked for.
func (r Remote) system(uri string) (flink.FileSystem, string, error) {
	at := r.seen(uri)
	scheme, path, ok := strings.Cut(at, ":")
	if !ok {
		scheme = ""
	}
	if scheme == fileScheme {
		return flink.Local{}, path, nil
	}
	if fs := r.Systems[scheme]; fs != nil {
		return fs, at, nil
	}
	return nil, "", fault.New(fault.Unsupported, "read remote storage", "%s is of a store that is not read here", safetext.Of(uri)).
		WithHint("give a path mapping to where its files are seen from here, or to s3://")
}

// Read implements flussrpc.Files.
func (r Remote) Read(ctx context.Context, uri string, offset, size int64) ([]byte, error) {
	fs, path, err := r.system(uri)
	if err != nil {
		return nil, err
	}
	return fs.Read(ctx, path, offset, size)
}

// Folders implements Files.
func (r Remote) Folders(ctx context.Context, uri string) ([]string, error) {
	fs, path, err := r.system(uri)
	if err != nil {
		return nil, err
	}
	entries, more, err := fs.List(ctx, path, maxFolders)
	if err != nil {
		return nil, err
	}
	if more {
		return nil, fmt.Errorf("%s has more than %d entries", safetext.Of(uri), maxFolders)
	}
	var out []string
	for _, e := range entries {
		if e.Dir {
			out = append(out, e.Name)
		}
	}
	return out, nil
}
