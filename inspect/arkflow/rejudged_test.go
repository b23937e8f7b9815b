package arkflow

import (
	"slices"
	"testing"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/arkhub"
	"github.com/recoverctl/recoverctl/internal/arkhub/artefact"
)

// What a rollback would restore is judged by the tasks of the version that it goes
// to, and not by those of the one that runs.
func TestPointsOfARollbackAreJudgedByItsVersionsTasks(t *testing.T) {
	n := func(n uint64) *uint64 { return &n }
	target := func(version uint64, tasks ...string) Target {
		return Target{JobID: "orders", Version: n(version), FormatVersion: n(1), Tasks: tasks, Recovery: policySavepoint, Generation: arkhub.GenerationUpgrades}
	}
	point := func(now Target, tasks ...string) Point {
		m := artefact.Manifest{CheckpointID: "savepoint-1", JobID: "orders", JobVersion: 1, FormatVersion: 1}
		p := Point{ID: "savepoint-1", Kind: inspect.KindSavepoint, Status: arkhub.RoundCompleted, JobVersion: n(1), FormatVersion: n(1)}
		for _, id := range tasks {
			m.TaskAttempts = append(m.TaskAttempts, artefact.TaskAttempt{TaskID: id})
			m.StateSnapshots = append(m.StateSnapshots, artefact.SnapshotRef{TaskID: id, URI: "state"})
			p.Tasks = append(p.Tasks, TaskPlace{Task: id})
		}
		m.Checksum = m.Computed()
		p.judge(pointFacts{target: now, asked: true, store: true, manifest: m, manifestState: ObjectWhole})
		p.afterTheFirst()
		return p
	}
	for name, c := range map[string]struct {
		now, to Target
		tasks   []string
		verdict inspect.Verdict
		engine  inspect.Verdict
		missing []string
	}{
		"half of its tasks, and the running version has but these": {target(2, "a"), target(1, "a", "b"), []string{"a"}, inspect.Rejected, inspect.Rejected, []string{"b"}},
		"all of its tasks, and the running version has more":       {target(2, "a", "b", "c"), target(1, "a", "b"), []string{"a", "b"}, inspect.Accepted, inspect.Accepted, []string{}},
		"its plan is not exposed":                                  {target(2, "a"), target(1), []string{"a"}, inspect.Unknown, inspect.Unknown, []string{}},
		"the same tasks in both":                                   {target(2, "a"), target(1, "a"), []string{"a"}, inspect.Accepted, inspect.Accepted, []string{}},
	} {
		t.Run(name, func(t *testing.T) {
			if c.to.Tasks = slices.Clone(c.to.Tasks); len(c.to.Tasks) == 0 {
				c.to.Tasks = nil
			}
			p := rejudged([]Point{point(c.now, c.tasks...)}, c.to)[0]
			if p.Verdict != c.verdict || p.Engine.Verdict != c.engine || !slices.Equal(p.Missing, c.missing) {
				t.Errorf("%s, the engine %s, missing %q\n%+v", p.Verdict, p.Engine.Verdict, p.Missing, p.Rules)
			}
		})
	}
}
