package arkflow

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// Names in an object store.
const (
	logManifestName = "manifest.json"
	segmentFolder   = "segments"
	segmentSuffix   = ".wal"
	// maxManifest bounds a manifest: it names every segment that there is.
	maxManifest = 64 << 20
)

// manifest is what the writer of a log in an object store says of it. Its
// node_id and stream_id are derived wrongly by the engine and not read: the key
// says who wrote it.
type manifest struct {
	Version   uint64   `json:"version"`
	Cursor    *uint64  `json:"cursor"`
	MaxSealed uint64   `json:"max_sealed_seq"`
	Active    *string  `json:"active_segment"`
	Packing   *string  `json:"active_segment_compression"` // none, zstd or lz4; released engines set none
	Sealed    []string `json:"sealed_segments"`
}

// parseManifest reads a manifest. The error says in a phrase why it is none.
func parseManifest(data []byte) (manifest, error) {
	var m manifest
	d := json.NewDecoder(bytes.NewReader(data))
	if err := d.Decode(&m); err != nil {
		var kind *json.UnmarshalTypeError
		switch {
		case len(bytes.TrimSpace(data)) == 0:
			return m, errors.New("it has no content")
		case errors.Is(err, io.ErrUnexpectedEOF):
			return m, fmt.Errorf("it ends in the middle, after %d bytes", len(data))
		case errors.As(err, &kind):
			return m, fmt.Errorf("its field %s is a %s", kind.Field, kind.Value)
		default:
			return m, fmt.Errorf("it is no JSON: %w", err)
		}
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return m, errors.New("something follows on its JSON")
	}
	if m.Cursor == nil {
		return m, errors.New("it has no cursor")
	}
	return m, nil
}

// names are the segments that a manifest knows, the newest last.
func (m manifest) names() []string {
	names := m.Sealed
	if m.Active != nil {
		names = append(names[:len(names):len(names)], *m.Active)
	}
	return names
}

// segmentIndex is the number in a segment's name, from 1. Names are compared as
// numbers: they are eight digits wide, and wider where that is too little.
func segmentIndex(name string) (uint64, bool) {
	digits, ok := strings.CutSuffix(name, segmentSuffix)
	if !ok || digits == "" || strings.Trim(digits, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.ParseUint(digits, 10, 64)
	return n, err == nil && n > 0 && n < math.MaxUint64
}
