package incident

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/recoverctl/recoverctl/inspect"
)

// The jobs of the story, newest first. Flink gives every run of a job a new id.
const (
	jobNow      = "4f3c92d07be1458a96c0d1e2f3a4b5c6"
	jobBefore   = "9be1a7c35d2049f8b1e6a07d3c8f4e21" // the first cleanup was made from its chk-118, which is gone
	jobOldTopic = "c07ad2918b3e4f6da5c40b7e19f28d63" // before the topic was deleted and made anew
	jobLegacy   = "71d0e4f2a6b84c3c9e05d7b1f8a3c260" // a release with markers without a topic
)

const (
	pinnedSavepoint   = "savepoint-4f3c92-a1d7c0e52b94"
	oldTopicSavepoint = "savepoint-c07ad2-9c41be6f07d3"
	legacySavepoint   = "savepoint-71d0e4-5d20f3c4e8b1"
)

// places is where the recovery points are.
type places struct{ dir string }

func (p places) checkpoints() string { return filepath.Join(p.dir, "checkpoints", jobNow) }
func (p places) savepoints() string  { return filepath.Join(p.dir, "savepoints") }
func (p places) checkpoint(id int64) string {
	return filepath.Join(p.checkpoints(), fmt.Sprintf("chk-%d", id))
}

// firstSource and secondSource are what the two cleanups were made from.
func (p places) firstSource() string {
	return fileURI(filepath.Join(p.dir, "checkpoints", jobBefore, "chk-118"))
}
func (p places) secondSource() string { return fileURI(p.checkpoint(42)) }

// points are the recovery points of the story.
func (s *script) points(p places, topicID string, seed uint64) []point {
	all := []point{
		{dir: p.checkpoint(44), id: 44, age: ago[toNow], marker: s.at(toChk44)},
		{dir: p.checkpoint(43), id: 43, age: ago[toChk44], marker: s.at(toChk43)},
		{dir: p.checkpoint(42), id: 42, age: ago[toChk43], marker: s.at(toSecondCleanup)},
		{dir: p.checkpoint(41), id: 41, age: ago[toChk43] + 10*time.Minute, marker: s.within(toSecondCleanup, 94), cut: true},
		{dir: p.checkpoint(12), id: 12, age: ago[toSavepoint], marker: s.at(toOldCheckpoint)},
		{dir: filepath.Join(p.savepoints(), pinnedSavepoint), id: 33, age: ago[toSecondCleanup], savepoint: true, marker: s.at(toSavepoint)},
	}
	for i := range all {
		all[i].lineage, all[i].topicID, all[i].state = jobBefore, topicID, all[i].marker
	}
	r := rand.New(rand.NewPCG(seed, 2))
	before := s.within(toFirstCleanup, 50)
	return append(all,
		point{
			dir: filepath.Join(p.savepoints(), oldTopicSavepoint), id: 211, age: ago[toFirstCleanup] + 5*time.Hour, savepoint: true,
			lineage: jobOldTopic, marker: formerOffsets(r, 210), topicID: formerTopicID(r), state: before,
		},
		point{
			dir: filepath.Join(p.savepoints(), legacySavepoint), id: 96, age: ago[toFirstCleanup] + 3*24*time.Hour, savepoint: true,
			lineage: jobLegacy, marker: formerOffsets(r, 130), legacy: true, state: before,
		},
	)
}

// formerOffsets are log ends of the topic that was deleted. Many of them lie
// inside today's log, which is why offsets alone prove nothing.
func formerOffsets(r *rand.Rand, least int) inspect.Offsets {
	out := inspect.Offsets{}
	for p := range int32(Partitions) {
		out[p] = int64(least + r.IntN(90))
	}
	return out
}

// formerTopicID is the id of the topic that was deleted, as Kafka writes it.
func formerTopicID(r *rand.Rand) string {
	id := make([]byte, 0, 16)
	for range cap(id) {
		id = append(id, byte(r.Uint32()))
	}
	id[6], id[8] = id[6]&0x0f|0x40, id[8]&0x3f|0x80
	return base64.RawURLEncoding.EncodeToString(id)
}

// makeFolders makes the folders that a running job has beside its checkpoints.
func (p places) makeFolders() error {
	for _, dir := range []string{"shared", "taskowned"} {
		if err := os.MkdirAll(filepath.Join(p.checkpoints(), dir), 0o700); err != nil {
			return fmt.Errorf("incident: %w", err)
		}
	}
	return nil
}
