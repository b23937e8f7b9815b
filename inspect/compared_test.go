package inspect_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/recoverctl/recoverctl/inspect"
)

// Beside its job, its Flink and its topic a sound point may still be of no use.
// What each marker meets in its log was seen on a real broker.
func TestAPointBesideItsJob(t *testing.T) {
	for name, tt := range map[string]struct {
		from   string // off-versioned-mid
		change func(q *inspect.RestoreQuestion)
		want   []string // check and severity
		says   string
	}{
		"it fits":                         {},
		"a marker below the log start":    {from: "off-versioned-below-log-start-p1", want: []string{"U12 error"}, says: "partition 1"},
		"a marker beyond the log end":     {from: "off-versioned-beyond-end-p1", want: []string{"U12 error"}, says: "partition 1"},
		"two partitions are outside":      {from: "off-versioned-below-p1-beyond-p0", want: []string{"U12 error", "U12 error"}, says: "partition 0"},
		"the topic was made anew":         {from: "off-topic-recreated", want: []string{"U11 error"}, says: "names the topic id"},
		"another topic":                   {from: "off-other-topic", want: []string{"U11 error"}, says: "topic"},
		"partitions were added":           {from: "off-partition-subset", want: []string{"U11 warning"}, says: "the topic has"},
		"the topic was not asked for":     {from: "off-versioned-below-log-start-p1", change: func(q *inspect.RestoreQuestion) { q.DataErr = errDenied }},
		"the Flink is older":              {change: func(q *inspect.RestoreQuestion) { q.RunningFlink = "1.20.5" }, want: []string{"V7 error"}, says: "reads none above 4"},
		"the Flink is the writer's":       {change: func(q *inspect.RestoreQuestion) { q.RunningFlink = "2.3.0" }},
		"markers of Flink 1.20 in 2.3":    {change: func(q *inspect.RestoreQuestion) { q.MetadataVersion, q.Job.FlinkVersion = 4, "2.3" }, want: []string{"V8 error"}, says: "Kryo 2"},
		"the job has another operator":    {change: func(q *inspect.RestoreQuestion) { q.Job.Operator.ID = strings.Repeat("0", 32) }, want: []string{"P3 error"}, says: "is not in the recovery point"},
		"the job's operator":              {change: func(q *inspect.RestoreQuestion) { q.Job.Operator.ID = agentID }},
		"the job has another parallelism": {change: func(q *inspect.RestoreQuestion) { q.Job.MaxParallelism = 64 }, want: []string{"P4 error"}, says: "128"},
		"damage is not told twice": {change: func(q *inspect.RestoreQuestion) {
			q.PointChecks = []inspect.Check{{ID: "F1", Severity: inspect.SeverityError, Message: "missing"}}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			from := tt.from
			if from == "" {
				from = "off-versioned-mid"
			}
			q := snapshot(t, from)
			if tt.change != nil {
				tt.change(&q)
			}
			point := inspect.RecoveryPoint{Kind: q.Kind, MetadataVersion: q.MetadataVersion, Operators: q.Operators, Markers: q.Markers, Checks: q.PointChecks}
			data := &q.Data
			if q.DataErr != nil {
				data = nil
			}
			var got []string
			said := ""
			for _, c := range inspect.Compare(q.Job, inspect.LiveState{FlinkVersion: q.RunningFlink}, point, data) {
				if c.Hint == "" {
					t.Errorf("check %s says nothing about what to do", c.ID)
				}
				got, said = append(got, c.ID+" "+string(c.Severity)), said+c.Message+"\n"
			}
			if !slices.Equal(got, tt.want) || !strings.Contains(said, tt.says) {
				t.Errorf("checks %q, want %q with %q:\n%s", got, tt.want, tt.says, said)
			}
		})
	}
}
