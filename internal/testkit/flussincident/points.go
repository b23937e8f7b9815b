package flussincident

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/testkit/incident"
)

// The jobs of the story, newest first. Flink gives every run of a job a new id.
const (
	jobNow       = "7c1b3e90d25f4a68b0c4e9a1d7f60352"
	jobBefore    = "2ad85f0c61b94e37a9f3c1d06e82b745" // until the rollback
	jobOldTable  = "b4e0967d3fa1428c85d2706cbe19f0a3" // before the table was dropped and made again
	jobOfBuckets = "f39c12ab80de47569cb1e83d04a5f762" // while it had four buckets
)

const (
	pinnedSavepoint = "savepoint-7c1b3e-4d90c2a7b81f"
	lostSavepoint   = "savepoint-2ad85f-91e6b3c05d24"
	resetSavepoint  = "savepoint-b4e096-c82f07d1a93b"
	fewerSavepoint  = "savepoint-f39c12-06b7e5d89c41"
)

// places is where the recovery points are.
type places struct{ dir string }

func (p places) checkpoints() string { return filepath.Join(p.dir, "checkpoints", jobNow) }
func (p places) savepoints() string  { return filepath.Join(p.dir, "savepoints") }
func (p places) checkpoint(id int64) string {
	return filepath.Join(p.checkpoints(), fmt.Sprintf("chk-%d", id))
}
func (p places) savepoint(name string) string { return filepath.Join(p.savepoints(), name) }

// point is a recovery point to be written.
type point struct {
	incident.Checkpoint
	dir string
	age time.Duration
	of  inspect.Offsets // how far the buckets were when its keyed state was taken
}

// points writes the recovery points.
func (s *script) points(p places, logs []bucketLog, now time.Time) error {
	for _, dir := range []string{"shared", "taskowned"} {
		if err := os.MkdirAll(filepath.Join(p.checkpoints(), dir), 0o700); err != nil {
			return fmt.Errorf("flussincident: %w", err)
		}
	}
	turns := make([][]incident.Turn, len(logs))
	for b, log := range logs {
		turns[b] = log.turns
	}
	var group errgroup.Group
	for _, point := range s.list(p, logs) {
		group.Go(func() error {
			point.Keys, _ = incident.ProgressAt(turns, point.of)
			point.Legacy, point.Taken = true, now.Add(-point.age)
			_, err := point.Write(point.dir)
			return err
		})
	}
	return group.Wait()
}

// list are the recovery points of the story.
func (s *script) list(p places, logs []bucketLog) []point {
	r := rand.New(rand.NewPCG(s.seed, 2))
	taken := func(id int64, last phase) point {
		out := point{dir: p.checkpoint(id), age: ago[last+1], of: at(logs, last)}
		out.ID, out.Offsets, out.Lineage = id, out.of, jobNow
		return out
	}
	before := func(name string, id int64, age time.Duration, job string, offsets inspect.Offsets) point {
		out := point{dir: p.savepoint(name), age: age, of: at(logs, toExpired)}
		out.ID, out.Offsets, out.Lineage, out.Savepoint = id, offsets, job, true
		return out
	}
	savepoint := taken(31, toSavepoint)
	savepoint.dir, savepoint.Savepoint = p.savepoint(pinnedSavepoint), true

	lost, reset, fewer := inspect.Offsets{}, inspect.Offsets{}, inspect.Offsets{}
	for b, log := range logs {
		lost[int32(b)] = log.start - 20 - int64(r.IntN(60))
		reset[int32(b)] = log.start + 300 + int64(r.IntN(600))
		if b < Buckets/2 {
			fewer[int32(b)] = 900 + int64(r.IntN(400))
		}
	}
	lost[Idle] = logs[Idle].start // nobody has written to it since
	return []point{
		taken(58, toChk58), taken(57, toChk57), taken(56, toChk56), savepoint,
		before(lostSavepoint, 18, idleSince-time.Hour, jobBefore, lost),
		before(resetSavepoint, 212, 12*24*time.Hour, jobOldTable, reset),
		before(fewerSavepoint, 97, 16*24*time.Hour, jobOfBuckets, fewer),
	}
}
