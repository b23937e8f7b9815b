package flussrpc

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

// Files reads the files of a cluster's remote storage, by the URI that the
// cluster gives: file:/data/remote/log/…, s3://bucket/….
type Files interface {
	// Read returns size bytes of a file from offset on. One that is shorter is
	// io.ErrUnexpectedEOF, one that is absent fs.ErrNotExist.
	Read(ctx context.Context, uri string, offset, size int64) ([]byte, error)
}

// remoteRows are the segments of a bucket that a leader no longer has on its own
// disk, in the order of their offsets.
type remoteRows struct {
	dir      string
	segments []segment
	first    int64  // byte at which reading begins in the segment of …
	firstID  string // … this id
}

// segment is one file of remote storage.
type segment struct {
	id         string
	start, end int64 // end is exclusive
	size       int64
}

// uri is where a segment's rows are. The id is a server's word and is no path.
func (r *remoteRows) uri(s segment) (string, error) {
	if s.id == "" || strings.ContainsAny(s.id, "/\\") || s.id == "." || s.id == ".." {
		return "", fmt.Errorf("the id of a segment is %q", safetext.Of(s.id).String())
	}
	return fmt.Sprintf("%s/%s/%020d.log", strings.TrimRight(r.dir, "/"), s.id, s.start), nil
}

// end is the offset behind the last segment.
func (r *remoteRows) end() int64 {
	end := int64(0)
	for _, s := range r.segments {
		end = max(end, s.end)
	}
	return end
}

// remoteChunk is how much of a segment is read at once, in bytes; a batch that is
// larger is read whole.
const remoteChunk = 4 << 20

// read gives the whole batches of the segments from an offset on, piece by piece,
// until the segments or the offsets wanted end, and returns the offset reached.
// Segments may overlap: what was reached is not given again.
func (r *remoteRows) read(ctx context.Context, files Files, from, to int64, give func(records []byte, from, next int64) error) (int64, error) {
	at := from
	for _, s := range r.segments {
		if at >= to {
			break
		}
		if s.end <= at {
			continue
		}
		if s.start > at {
			return at, fault.New(fault.Drift, "read remote storage", "no segment has the rows from offset %d to %d", at, s.start).
				WithHint("the segments were rewritten meanwhile, or are missing: scan again").WithRef(safetext.Of(r.dir).String())
		}
		uri, err := r.uri(s)
		if err != nil {
			return at, fault.Wrap(fault.Corrupt, "read remote storage", err, "the segment that has the rows from offset %d on can't be named", at)
		}
		start := int64(0)
		if s.id == r.firstID {
			start = r.first
		}
		next, err := readSegment(ctx, files, uri, s, start, at, to, give)
		if err != nil {
			return next, segmentFault(ctx, uri, s, next, err)
		}
		at = next
	}
	return at, nil
}

// segmentFault says what a segment's file is to the operator.
func segmentFault(ctx context.Context, uri string, s segment, at int64, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	name := safetext.Of(uri).String()
	if f, ok := errors.AsType[*fault.Fault](err); ok {
		return f.WithRef(name)
	}
	kind, hint := fault.Unreachable, "can this machine reach the store? path-mappings of the profile say where its files are seen from here, object-stores how they are read"
	switch {
	case errors.Is(err, fs.ErrNotExist):
		kind, hint = fault.NotFound, "the file is not there: it expired (table.log.ttl), or path-mappings must say where the cluster's remote.data.dir is seen from here"
	case errors.Is(err, fs.ErrPermission):
		kind, hint = fault.Denied, "give this user the right to read the files of remote.data.dir"
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, errSegment):
		kind, hint = fault.Corrupt, "the file is shorter than the cluster says, or damaged: compare it with the store's own copy"
	}
	return fault.Wrap(kind, "read remote storage", err, "the rows from offset %d to %d lie in a segment that can't be read", at, s.end).WithHint("%s", hint).WithRef(name)
}

// errSegment is of a file whose bytes are no batches.
var errSegment = errors.New("the bytes are no batches of records")

// readSegment reads one file in pieces, and each batch whole.
func readSegment(ctx context.Context, files Files, uri string, s segment, start, from, to int64, give func(records []byte, from, next int64) error) (int64, error) {
	at, size := from, s.size
	if start < 0 || start > size {
		return at, fmt.Errorf("%w: reading begins at byte %d of %d", errSegment, start, size)
	}
	want := int64(remoteChunk)
	for pos := start; pos < size && at < min(to, s.end); {
		data, err := files.Read(ctx, uri, pos, min(want, size-pos))
		if err != nil {
			return at, err
		}
		records, next := whole(data, at)
		if len(records) == 0 {
			need, err := batchSize(data)
			if err != nil {
				return at, err
			}
			if need <= int64(len(data)) || need > size-pos {
				return at, fmt.Errorf("%w: the one at byte %d says that it has %d bytes, and %d are left", errSegment, pos, need, size-pos)
			}
			want = need
			continue
		}
		want = remoteChunk
		if err := give(records, at, next); err != nil {
			return at, err
		}
		at = next
		pos += int64(len(records))
	}
	if at < min(to, s.end) {
		return at, fmt.Errorf("%w: they end at offset %d, and the segment at %d", errSegment, at, s.end)
	}
	return at, nil
}

// batchSize is how large the first batch says that it is.
func batchSize(data []byte) (int64, error) {
	if len(data) < headerSize0 {
		return 0, fmt.Errorf("%w: %d bytes are no batch", errSegment, len(data))
	}
	if layoutsOf(int8(data[batchHead])) == nil {
		return 0, fmt.Errorf("%w that are known here: they are of layout %d", errSegment, int8(data[batchHead]))
	}
	size := int64(int32(binary.LittleEndian.Uint32(data[8:]))) + batchHead
	if size < headerSize0 || size > MaxFrame {
		return 0, fmt.Errorf("%w: one says that it has %d bytes", errSegment, size)
	}
	return size, nil
}
