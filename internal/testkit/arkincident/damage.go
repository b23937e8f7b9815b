package arkincident

import (
	"bytes"
	"compress/gzip"
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/recoverctl/recoverctl/internal/arkhub"
	"github.com/recoverctl/recoverctl/internal/arkhub/artefact"
)

//go:embed testdata
var logFiles embed.FS

// writtenAgo is how long before the operator looks the logs were written last.
const writtenAgo = 7 * time.Minute

// writeLogs writes the logs below a folder, as of a time: three files as an engine has
// them, and a copy of an object store's log.
func writeLogs(dir string, at time.Time) error {
	write := func(name string, data []byte) error { return errors.Join(put(name, data), os.Chtimes(name, at, at)) }
	for _, stream := range []string{StreamReady, StreamBad, JobDegraded} {
		packed, err := logFiles.ReadFile("testdata/" + stream + ".redb.gz")
		if err != nil {
			return err
		}
		z, err := gzip.NewReader(bytes.NewReader(packed))
		if err != nil {
			return err
		}
		data, err := io.ReadAll(z)
		if err != nil {
			return err
		}
		if err := write(filepath.Join(dir, stream, "wal.redb"), data); err != nil {
			return err
		}
	}
	root := "testdata/" + StreamGap
	return fs.WalkDir(logFiles, root, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := logFiles.ReadFile(name)
		if err != nil {
			return err
		}
		return write(filepath.Join(dir, StreamGap, filepath.FromSlash(name[len(root):])), data)
	})
}

func put(name string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	return os.WriteFile(name, data, 0o600)
}

// damage does to the two newest checkpoints of a job what disks and engines do: of
// the newest a byte of its state is another one, and the one before lacks the tasks
// of a node, with a checksum that is right, as an engine leaves it whose start
// failed there.
func (s *story) damage(ctx context.Context) error {
	rounds, err := read[[]arkhub.Checkpoint](ctx, s, "jobs/"+JobRejected+"/checkpoints")
	if err != nil {
		return err
	}
	rounds = slices.DeleteFunc(rounds, func(c arkhub.Checkpoint) bool { return c.Status != arkhub.RoundCompleted })
	if len(rounds) < 4 { // the newest first
		return fmt.Errorf("%s has %d completed rounds", JobRejected, len(rounds))
	}
	root := filepath.Join(s.Store, JobRejected, "checkpoints")
	return errors.Join(flipState(filepath.Join(root, rounds[0].ID)), dropNode(filepath.Join(root, rounds[1].ID), "node-b"))
}

// flipState changes a digit in the values of a checkpoint's first state object.
func flipState(folder string) error {
	objects, err := filepath.Glob(filepath.Join(folder, "state-*.json"))
	if err != nil {
		return err
	}
	if len(objects) == 0 {
		return fmt.Errorf("no state object in %s", folder)
	}
	data, err := os.ReadFile(objects[0])
	if err != nil {
		return err
	}
	const value = `"value":[0,0,0,0,`
	changed := bytes.Replace(data, []byte(value), []byte(`"value":[0,0,0,1,`), 1)
	if bytes.Equal(changed, data) {
		return fmt.Errorf("no %s in %s", value, objects[0])
	}
	return os.WriteFile(objects[0], changed, 0o600)
}

// dropNode takes a node's tasks out of a checkpoint's manifest and seals it again.
func dropNode(folder, node string) error {
	name := filepath.Join(folder, "manifest.json")
	data, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	m, err := artefact.ParseManifest(data)
	if err != nil {
		return err
	}
	gone := map[string]bool{}
	m.TaskAttempts = slices.DeleteFunc(m.TaskAttempts, func(t artefact.TaskAttempt) bool {
		gone[t.TaskID] = t.NodeID == node
		return gone[t.TaskID]
	})
	m.SourcePositions = slices.DeleteFunc(m.SourcePositions, func(p artefact.SourcePosition) bool { return gone[fmt.Sprintf("%s-%d", source, p.Partition)] })
	m.StateSnapshots = slices.DeleteFunc(m.StateSnapshots, func(s artefact.SnapshotRef) bool { return s.NodeID != nil && *s.NodeID == node })
	m.Checksum = m.Computed()
	return os.WriteFile(name, m.Append(nil), 0o600)
}
