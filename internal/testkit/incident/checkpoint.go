package incident

import (
	"cmp"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/recoverctl/recoverctl/inspect"
)

// Checkpoint is a recovery point of a job whose log and offsets somebody else
// chooses. It has markers, and enough state beside them that it lies in files of its
// own.
type Checkpoint struct {
	ID             int64
	Topic, TopicID string
	Offsets        inspect.Offsets // where a restore reads from
	Legacy         bool            // the markers are maps: those of releases 0.1 to 0.3, and of every release on Fluss
	Taken          time.Time
	Keys           []Progress // of which there is keyed state; none: of no key
	Lineage        string     // id of the first job of its lineage; empty: that of the sample
	Savepoint      bool
}

// Write makes the recovery point's folder, as in chk-42, and returns the files in it
// that its metadata refers to.
func (c Checkpoint) Write(dir string) (files []string, err error) {
	p := point{
		dir: dir, id: c.ID, lineage: cmp.Or(c.Lineage, jobNow), savepoint: c.Savepoint, marker: c.Offsets, legacy: c.Legacy,
		topic: c.Topic, topicID: c.TopicID, filler: inlineLimit, keys: append([]Progress{}, c.Keys...),
	}
	if err := p.write(nil, c.Taken, rand.Uint64()); err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if e.Name() != "_metadata" {
			files = append(files, filepath.Join(dir, e.Name()))
		}
	}
	return files, err
}
