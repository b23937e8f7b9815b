package recorded

import (
	"embed"
	"encoding/json"
	"io/fs"
	"path"
	"strings"
)

//go:embed testdata/stores
var storeFiles embed.FS

// Store is a checkpoint store that an engine wrote, or one that was damaged
// afterwards, with what the engine's own code says of each object in it.
type Store struct {
	Name    string
	MadeBy  string            `json:"made_by"`
	Report  []Report          `json:"engine_report"`
	Objects map[string][]byte `json:"-"` // by key below the store's root
}

// Report is the engine's word on one object.
type Report struct {
	Key              string `json:"key"`
	Kind             string `json:"kind"` // manifest, node_manifest, state_snapshot
	Verify           *bool  `json:"verify"`
	Error            string `json:"error"` // why it could not be read
	CheckpointID     string `json:"checkpoint_id"`
	JobID            string `json:"job_id"`
	JobVersion       uint64 `json:"job_version"`
	Generation       uint64 `json:"generation"`
	FormatVersion    uint64 `json:"format_version"`
	ComputedChecksum uint64 `json:"computed_checksum"`
	StoredChecksum   uint64 `json:"stored_checksum"`
	Checksum         uint64 `json:"checksum"` // of a snapshot, as stored
	Bytes            int    `json:"bytes"`
	Entries          int    `json:"entries"`
	Namespaces       []string
	Tasks            []string
	WatermarksMs     map[string]int64 `json:"watermarks_ms"`
	SourcePositions  []struct {
		Topic     *string
		Partition uint64
		Offset    uint64
	} `json:"source_positions"`
	Snapshots []struct {
		TaskID string `json:"task_id"`
		URI    string `json:"uri"`
		Read   string `json:"read"` // ok, or the engine's error
	} `json:"snapshots"`
}

// Stores returns every store, by name in order.
func Stores() ([]Store, error) {
	const root = "testdata/stores"
	entries, err := storeFiles.ReadDir(root)
	if err != nil {
		return nil, err
	}
	var all []Store
	for _, e := range entries {
		s := Store{Name: e.Name(), Objects: map[string][]byte{}}
		report, err := storeFiles.ReadFile(path.Join(root, e.Name(), "expected.json"))
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal(report, &s); err != nil {
			return nil, err
		}
		below := path.Join(root, e.Name(), "store")
		err = fs.WalkDir(storeFiles, below, func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			s.Objects[strings.TrimPrefix(name, below+"/")], err = storeFiles.ReadFile(name)
			return err
		})
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}
