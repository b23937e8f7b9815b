package viewtest

import (
	"fmt"
	"time"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/tui/tuitest"
	"github.com/recoverctl/recoverctl/views/apply"
)

// Now is when the situation is looked at: what a tuitest.Driver's clock shows.
var Now = tuitest.Start

// The places of the situation.
const (
	TopicID     = "6wBnCDrXRZCpbWKBbvCNbQ"
	Checkpoints = "s3://flink-state/checkpoints/4f3c"
	Savepoints  = "s3://flink-state/savepoints"
	Agents      = "20ba6b65f97481d5570070de90e4e791" // the operator that holds the markers
	Partitions  = 64
)

// Clock is the time of a screen under test.
func Clock() time.Time { return Now }

// Job is order-agent as its profile has it.
func Job() inspect.Job {
	control := "action-state-control"
	return inspect.Job{
		Profile: "orders", Name: "order-agent", Topic: "action-state", ControlTopic: &control,
		Partitions: Partitions, Runtime: inspect.ReleaseNext, MaxParallelism: 128,
		RecoveryPoints: []string{Checkpoints, Savepoints}, KeepRecoveryPoints: 2,
	}
}

// LiveJob is Job with the JobManager that it runs on.
func LiveJob() inspect.Job {
	job := Job()
	job.Flink = inspect.RefOf("http://jobmanager:8081", job.Name)
	return job
}

// Options are a console's, in a theme, under the header of the situation.
func Options(th theme.Theme) tui.Options {
	return tui.Options{Theme: th, Header: func() tui.Header {
		return tui.Header{
			Profile: "orders", Environment: "production", Production: true, Access: "read-only", Locked: "access is read-only",
			Connections: []tui.Connection{{Name: "kafka", State: "ok", Tone: theme.OK}, {Name: "s3", State: "ok", Tone: theme.OK}},
		}
	}}
}

// Armed are the Options of a console that may write, with what runs in it.
func Armed(current *apply.Current) tui.Options {
	o := Options(Plain())
	header := o.Header
	o.Header = func() tui.Header {
		h := header()
		h.Access, h.Locked = "operate 29m", ""
		return h
	}
	o.Jobs = current.Jobs
	return o
}

// Plain is a theme without escape sequences.
func Plain() theme.Theme { return theme.New(theme.Options{Palette: theme.NoStyle}) }

// Boundary is what the cleanup committed: chk-42's merged marker.
func Boundary() inspect.Offsets {
	return each(func(p int32) int64 {
		switch p {
		case 0, 1:
			return 150
		case 3:
			return 200
		default:
			return 150 + 5*int64(p)
		}
	})
}

// LogEnds are the captured log ends.
func LogEnds() inspect.Offsets {
	boundary := Boundary()
	return each(func(p int32) int64 {
		switch p {
		case 0:
			return 4120
		case 1:
			return 3998
		case 3:
			return 3990
		default:
			return boundary[p] + 3828
		}
	})
}

func each(offset func(p int32) int64) inspect.Offsets {
	out := make(inspect.Offsets, Partitions)
	for p := range int32(Partitions) {
		out[p] = offset(p)
	}
	return out
}

// Log is the cluster of the situation.
func Log() Broker {
	boundary, ends := Boundary(), LogEnds()
	data := inspect.DataTopic{
		Name: "action-state", ClusterID: "lkc-9", Exists: true, TopicID: TopicID, At: Now,
		Settings: []inspect.Setting{
			{Name: "cleanup.policy", Value: "compact,delete", Source: "topic"},
			{Name: "retention.bytes", Value: "-1", Source: "topic"},
			{Name: "retention.ms", Value: "-1", Source: "topic"},
		},
	}
	for p := range int32(Partitions) {
		log := inspect.LogRange{Start: boundary[p], End: ends[p]}
		switch p { // not trimmed yet
		case 0:
			log.Start = 100
		case 1:
			log.Start = 120
		}
		data.Partitions = append(data.Partitions, inspect.Partition{ID: p, Leader: p%3 + 1, Log: log})
	}
	return Broker{Data: data, Control: Control(Committed(0, inspect.StatusCommitted))}
}

// Control is a sound control topic with these records.
func Control(records ...inspect.ControlRecord) inspect.ControlTopic {
	end := int64(len(records))
	return inspect.ControlTopic{
		Name: "action-state-control", Exists: true, Partitions: []int32{0}, CleanupPolicy: "compact",
		Records: records, LastStable: end, LogEnd: end, At: Now,
	}
}

// Committed is the control record of the cleanup in a status.
func Committed(offset int64, status inspect.OperationStatus) inspect.ControlRecord {
	return Record(offset, status, "chk-42", Boundary(), 22*time.Minute)
}

// Record is a control record of a cleanup made from a checkpoint.
func Record(offset int64, status inspect.OperationStatus, checkpoint string, offsets inspect.Offsets, age time.Duration) inspect.ControlRecord {
	source := Checkpoints + "/" + checkpoint
	id := inspect.PlanID(source, "action-state", TopicID, offsets)
	text, err := offsets.MarshalJSON()
	if err != nil {
		panic(err) // offsets always encode
	}
	value := fmt.Sprintf(`{"schemaVersion":1,"status":%q,"plan":{"schemaVersion":1,"planId":%q,"sourceRecoveryPoint":%q,"topic":"action-state","topicId":%q,"offsets":%s}}`,
		status, id, source, TopicID, text)
	return inspect.ControlRecord{Offset: offset, Time: Now.Add(-age), Key: []byte(id), Value: []byte(value)}
}

// Store holds the recovery points of the situation.
func Store() Shelf {
	boundary, ends := Boundary(), LogEnds()
	denied := fault.New(fault.Denied, "read recovery point", "%s may not be read by this user", Savepoints+"/savepoint-9c41-77/_metadata").
		WithHint("give this user access to the bucket; nothing is known about this recovery point").
		WithRef(Savepoints + "/savepoint-9c41-77")
	unread := inspect.RecoveryPoint{
		URI: Savepoints + "/savepoint-9c41-77", Kind: inspect.KindSavepoint, CheckpointID: -1,
		Taken: inspect.Taken{Source: inspect.TimeFromObject}, Merged: inspect.Merged{Kind: inspect.MergedInvalid}, Err: denied,
	}
	newest := each(func(p int32) int64 {
		switch p {
		case 0:
			return 3910
		case 1:
			return 3801
		case 2:
			return ends[p] - 213
		case 3:
			return 3950
		default:
			return ends[p] - 197
		}
	})
	older := each(func(p int32) int64 { return ends[p] - 1200 })
	savepoint := each(func(p int32) int64 {
		switch p {
		case 0:
			return 100
		case 1:
			return 120
		default:
			return boundary[p] - 50
		}
	})
	oldest := each(func(p int32) int64 { return boundary[p] - 90 })
	return Shelf{
		Places: map[string][]inspect.RecoveryPoint{
			Checkpoints: {
				Point("chk-44", 44, 2*time.Minute, newest),
				Point("chk-43", 43, 12*time.Minute, older),
				Point("chk-42", 42, 22*time.Minute, boundary),
				Point("chk-12", 12, 26*time.Hour, oldest),
			},
			Savepoints: {Savepoint("savepoint-4f3c-a1", 12, 3*time.Hour, savepoint), unread},
		},
		Fails: map[string]error{Savepoints: denied},
	}
}

// Point is a sound checkpoint of two subtasks; offsets are its merged marker.
func Point(name string, id int64, age time.Duration, offsets inspect.Offsets) inspect.RecoveryPoint {
	taken := Now.Add(-age)
	topic, topicID, schema := "action-state", TopicID, int32(1)
	marker := func(subtask int, offsets inspect.Offsets) inspect.Marker {
		return inspect.Marker{
			OperatorID: Agents, Subtask: subtask, Kind: inspect.MarkerVersioned, SchemaVersion: &schema,
			Topic: &topic, TopicID: &topicID, Offsets: offsets,
		}
	}
	second := make(inspect.Offsets, len(offsets))
	for p, at := range offsets {
		second[p] = at + 7
	}
	markers := []inspect.Marker{marker(0, offsets), marker(1, second)}
	return inspect.RecoveryPoint{
		URI: Checkpoints + "/" + name, Kind: inspect.KindCheckpoint, CheckpointID: id, MetadataVersion: 6,
		Taken: inspect.Taken{Time: &taken, Source: inspect.TimeFromObject},
		Operators: []inspect.Operator{
			{ID: "bc764cd8ddf7a0cff126f51c16239658", Name: "Source: orders", UID: "orders", Parallelism: 2, MaxParallelism: 128,
				States: []inspect.OperatorState{{Name: "SourceReaderState", Mode: "SPLIT_DISTRIBUTE", Kind: "list", Elements: 8}}},
			{ID: Agents, Name: "order agent", UID: "order-agent", Parallelism: 2, MaxParallelism: 128,
				States: []inspect.OperatorState{{Name: "recoveryMarker", Mode: "UNION", Kind: "list", Elements: 2}}},
		},
		Markers: markers, Merged: inspect.Merge(markers),
		Checks: []inspect.Check{{ID: "V1", Severity: inspect.SeverityInfo, Message: "metadata version 6: written by Flink 2.1 to 2.3"}},
		Files:  inspect.Files{Referenced: 41, Bytes: 19084083, Missing: []string{}, Unchecked: []string{}},
	}
}

// Savepoint is a Point among the savepoints.
func Savepoint(name string, id int64, age time.Duration, offsets inspect.Offsets) inspect.RecoveryPoint {
	p := Point(name, id, age, offsets)
	p.URI, p.Kind, p.Format = Savepoints+"/"+name, inspect.KindSavepoint, inspect.FormatCanonical
	return p
}

// Earlier is the boundary of a cleanup that was applied three hours before this
// one.
func Earlier() inspect.Offsets {
	boundary := Boundary()
	return each(func(p int32) int64 { return boundary[p] - 60 })
}

// Incident answers for order-agent in this situation.
func Incident() *Source {
	s := &Source{}
	s.Add(Job().Name, Store(), Log())
	return s
}

// Gone is the error of a cluster that does not answer.
func Gone() error {
	return fault.New(fault.Unreachable, "connect", "no broker answers: k1:9092, k2:9092 (30 s)").
		WithHint("check the network and kafka.brokers in the profile").WithRef("k1:9092")
}
