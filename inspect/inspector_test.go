package inspect_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/clock"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/testkit/stores"
)

var now = time.Date(2026, 7, 1, 14, 3, 0, 0, time.UTC)

const topicID = "6wBnCDrXRZCpbWKBbvCNbQ"

type (
	shelf  = stores.Points
	broker = stores.Log
)

func data(ranges ...inspect.LogRange) inspect.DataTopic {
	t := inspect.DataTopic{
		Name: "action-state", ClusterID: "lkc", Exists: true, TopicID: topicID, At: now,
		Settings: []inspect.Setting{{Name: "cleanup.policy", Value: "compact,delete", Source: "topic"}, {Name: "retention.ms", Value: "-1", Source: "topic"}, {Name: "retention.bytes", Value: "-1", Source: "topic"}},
	}
	for p, r := range ranges {
		t.Partitions = append(t.Partitions, inspect.Partition{ID: int32(p), Leader: 1, Log: r})
	}
	return t
}

func operation(offset int64, source string, status inspect.OperationStatus, offsets inspect.Offsets) inspect.ControlRecord {
	id := inspect.PlanID(source, "action-state", topicID, offsets)
	text, err := offsets.MarshalJSON()
	if err != nil {
		panic(err) // offsets always encode
	}
	value := fmt.Sprintf(`{"schemaVersion":1,"status":%q,"plan":{"schemaVersion":1,"planId":%q,"sourceRecoveryPoint":%q,"topic":"action-state","topicId":%q,"offsets":%s}}`,
		status, id, source, topicID, text)
	return inspect.ControlRecord{Offset: offset, Time: now.Add(-time.Hour), Key: []byte(id), Value: []byte(value)}
}

func control(records ...inspect.ControlRecord) inspect.ControlTopic {
	end := int64(len(records))
	return inspect.ControlTopic{Name: "control", Exists: true, Partitions: []int32{0}, CleanupPolicy: "compact", Records: records, LastStable: end, LogEnd: end, At: now}
}

// point is a sound checkpoint with one marker.
func point(id int64, ageOf time.Duration, offsets inspect.Offsets) inspect.RecoveryPoint {
	taken := now.Add(-ageOf)
	topic, tid, schema := "action-state", topicID, int32(1)
	m := inspect.Marker{OperatorID: "20ba6b65f97481d5570070de90e4e791", Kind: inspect.MarkerVersioned, SchemaVersion: &schema, Topic: &topic, TopicID: &tid, Offsets: offsets}
	return inspect.RecoveryPoint{
		URI: fmt.Sprintf("file:/ckpt/4f3c/chk-%d", id), Kind: inspect.KindCheckpoint, CheckpointID: id, MetadataVersion: 6,
		Taken: inspect.Taken{Time: &taken, Source: inspect.TimeFromFile}, Markers: []inspect.Marker{m}, Merged: inspect.Merge([]inspect.Marker{m}),
	}
}

func agentJob() inspect.Job {
	name := "control"
	return inspect.Job{Profile: "orders", Name: "order-agent", Topic: "action-state", ControlTopic: &name, Partitions: 64, Runtime: inspect.ReleaseNext, RecoveryPoints: []string{"ckpt"}}
}

func rules(findings []inspect.Finding) string {
	words := make([]string, 0, len(findings))
	for _, f := range findings {
		words = append(words, string(f.Severity)+":"+f.Rule)
	}
	return strings.Join(words, " ")
}

// An incident as operators meet it: a cleanup was committed and stopped before
// every partition was trimmed, and the checkpoint before it is now refused.
func TestOverviewOfAnUnfinishedCleanup(t *testing.T) {
	store := shelf{Places: map[string][]inspect.RecoveryPoint{"ckpt": {
		point(44, 2*time.Minute, inspect.Offsets{0: 180, 1: 260}),
		point(42, 22*time.Minute, inspect.Offsets{0: 150, 1: 250}),
		point(12, 24*time.Hour, inspect.Offsets{0: 100, 1: 200}),
	}}}
	log := broker{
		Data:    data(inspect.LogRange{Start: 100, End: 200}, inspect.LogRange{Start: 250, End: 300}),
		Control: control(operation(0, "file:/ckpt/4f3c/chk-42", inspect.StatusCommitted, inspect.Offsets{0: 150, 1: 250})),
	}
	o, err := inspect.New(store, log, clock.NewFake(now)).Overview(context.Background(), agentJob())
	if err != nil {
		t.Fatal(err)
	}
	if got, want := rules(o.Findings), "error:in-force-not-trimmed"; got != want {
		t.Errorf("findings %q, want %q", got, want)
	}
	if got, want := o.Findings[0].Cause, "is in force, log not trimmed yet on 1 of 2 partitions: partition 0 starts at 100, the boundary is 150"; !strings.Contains(got, want) {
		t.Errorf("finding says %q, want %q in it", got, want)
	}
	wantVerdicts := []inspect.Verdict{inspect.Accepted, inspect.Accepted, inspect.Rejected}
	for n, want := range wantVerdicts {
		if o.Points[n].Verdict != want {
			t.Errorf("%s is %s, want %s", o.Points[n].URI, o.Points[n].Verdict, want)
		}
	}
	if got := *o.Points[2].Reason; got != "below-committed-boundary" {
		t.Errorf("chk-12 is rejected for %s", got)
	}
	if got, want := o.Points[0].Span, int64(20+40); got != want {
		t.Errorf("chk-44 replays a span of %d, want %d", got, want)
	}
	refused := o.Points[2].Validation
	if refused.Newer == nil || refused.Newer.URI != "file:/ckpt/4f3c/chk-42" || refused.Older != nil {
		t.Errorf("nearest accepted points of chk-12: newer %+v older %+v", refused.Newer, refused.Older)
	}
	if o.LastOperation == nil || o.LastOperation.Status != inspect.StatusCommitted {
		t.Errorf("last operation %+v", o.LastOperation)
	}
	if b := o.Partitions[0].Boundary; b == nil || *b != 150 {
		t.Errorf("boundary of partition 0 is %v, want 150", b)
	}
}

func TestFindings(t *testing.T) {
	fine := data(inspect.LogRange{Start: 150, End: 200}, inspect.LogRange{Start: 250, End: 300})
	applied := control(operation(0, "a", inspect.StatusCommitted, inspect.Offsets{0: 150, 1: 250}), operation(1, "a", inspect.StatusApplied, inspect.Offsets{0: 150, 1: 250}))
	good := []inspect.RecoveryPoint{point(44, time.Minute, inspect.Offsets{0: 180, 1: 260})}
	damaged := point(45, 0, nil)
	damaged.Checks = []inspect.Check{{ID: "M3", Severity: inspect.SeverityError, Message: "truncated at byte 100"}}
	damaged.Markers = nil
	retained := data(inspect.LogRange{Start: 150, End: 200}, inspect.LogRange{Start: 250, End: 300})
	retained.Settings = []inspect.Setting{{Name: "cleanup.policy", Value: "compact, delete"}, {Name: "retention.ms", Value: "604800000"}, {Name: "retention.bytes", Value: "-1"}}
	compact := data(inspect.LogRange{Start: 150, End: 200}, inspect.LogRange{Start: 250, End: 300})
	compact.Settings = []inspect.Setting{{Name: "cleanup.policy", Value: "compact"}, {Name: "retention.ms", Value: "604800000"}}
	leaderless := data(inspect.LogRange{Start: 150, End: 200}, inspect.LogRange{Start: 250, End: 300})
	leaderless.Partitions[1].Leader, leaderless.Partitions[1].Err = -1, errors.New("no leader")
	gone := fault.New(fault.Unreachable, "connect", "no broker answers")

	closed := inspect.RecoveryPoint{URI: "file:/ckpt/4f3c/chk-46", CheckpointID: -1, Merged: inspect.Merged{Kind: inspect.MergedInvalid}, Err: fault.New(fault.Denied, "read", "no permission")}

	tests := map[string]struct {
		points []inspect.RecoveryPoint
		place  error
		log    broker
		pinned string
		want   string
	}{
		"nothing is wrong":                       {points: good, log: broker{Data: fine, Control: applied}, want: ""},
		"the topic is gone":                      {points: good, log: broker{Data: inspect.DataTopic{}, Control: applied}, want: "error:topic-missing error:boundary-of-other-topic error:no-accepted-point"},
		"no broker answers":                      {points: good, log: broker{DataErr: gone, ControlErr: gone}, want: "error:topic-unreadable"},
		"the broker's retention moves the start": {points: good, log: broker{Data: retained, Control: applied}, want: "warning:retention-set"},
		"retention without delete moves nothing": {points: good, log: broker{Data: compact, Control: applied}, want: "info:policy-without-delete"},
		"the control topic can't be read":        {points: good, log: broker{Data: fine, ControlErr: fault.New(fault.Denied, "read", "Read is missing")}, want: "error:control-topic-unreadable"},
		"an open cleanup and no leader":          {points: good, log: broker{Data: leaderless, Control: control(operation(0, "a", inspect.StatusCommitted, inspect.Offsets{0: 150, 1: 250}))}, want: "error:partition-without-leader error:in-force-not-trimmed"},
		"two places can't be listed":             {place: errors.Join(fault.New(fault.Denied, "list", "no permission"), fault.New(fault.Unreachable, "list", "no answer")), log: broker{Data: fine, Control: applied}, want: "error:place-unreadable error:place-unreadable"},
		"a partition has no leader":              {points: good, log: broker{Data: leaderless, Control: applied}, want: "error:partition-without-leader"},
		"the control topic is refused":           {points: good, log: broker{Data: fine, Control: control(inspect.ControlRecord{Key: []byte("x")})}, want: "error:control-tombstone error:no-accepted-point warning:control-note"},
		"a cleanup was never ended":              {points: good, log: broker{Data: fine, Control: control(operation(0, "a", inspect.StatusCommitted, inspect.Offsets{0: 150, 1: 250}))}, want: "error:operation-not-ended"},
		"no recovery point lies there":           {log: broker{Data: fine, Control: applied}, want: "warning:no-recovery-points"},
		"a place can't be listed":                {place: fault.New(fault.Denied, "list", "no permission"), log: broker{Data: fine, Control: applied}, want: "error:place-unreadable"},
		"the newest one is damaged":              {points: append([]inspect.RecoveryPoint{damaged}, good...), log: broker{Data: fine, Control: applied}, want: "warning:newest-point-not-accepted warning:points-damaged"},
		"a pinned one is refused":                {points: append(good[:1:1], point(12, time.Hour, inspect.Offsets{0: 1, 1: 1})), pinned: "file:/ckpt/4f3c/chk-12", log: broker{Data: fine, Control: applied}, want: "error:pinned-point-rejected"},
		"a pinned one is spelled another way":    {points: append(good[:1:1], point(12, time.Hour, inspect.Offsets{0: 1, 1: 1})), pinned: "file:///ckpt/./4f3c/chk-12/_metadata", log: broker{Data: fine, Control: applied}, want: "error:pinned-point-rejected"},
		"a pinned one lies nowhere":              {points: good, pinned: "file:/elsewhere/savepoint-1", log: broker{Data: fine, Control: applied}, want: "warning:pinned-point-not-found"},
		"one can't be read, and may be the last": {points: []inspect.RecoveryPoint{closed, point(12, time.Hour, inspect.Offsets{0: 1, 1: 1})}, log: broker{Data: fine, Control: applied}, want: "error:no-accepted-point"},
		"none is accepted":                       {points: []inspect.RecoveryPoint{point(12, time.Hour, inspect.Offsets{0: 1, 1: 1})}, log: broker{Data: fine, Control: applied}, want: "error:no-accepted-point"},
		"the boundary lies beyond the end":       {points: good, log: broker{Data: data(inspect.LogRange{End: 100}, inspect.LogRange{Start: 250, End: 300}), Control: applied}, want: "error:boundary-beyond-log-end error:no-accepted-point"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			job := agentJob()
			if tt.pinned != "" {
				job.Pinned = []string{tt.pinned}
			}
			store := shelf{Places: map[string][]inspect.RecoveryPoint{"ckpt": tt.points}, Fails: map[string]error{"ckpt": tt.place}}
			o, err := inspect.New(store, tt.log, clock.NewFake(now)).Overview(context.Background(), job)
			if wantErr := errors.Join(tt.log.DataErr, tt.log.ControlErr, tt.place); (err != nil) != (wantErr != nil) {
				t.Fatalf("error %v, want %v", err, wantErr)
			}
			if got := rules(o.Findings); got != tt.want {
				t.Errorf("findings %q, want %q", got, tt.want)
			}
			for _, f := range o.Findings {
				if f.Cause == "" {
					t.Errorf("finding %s says nothing", f.Rule)
				}
			}
		})
	}
}

// A point that is there and can't be read is unknown: neither absent nor a fresh
// start.
func TestUnreadablePointIsUnknown(t *testing.T) {
	closed := inspect.RecoveryPoint{URI: "file:/ckpt/4f3c/chk-46", CheckpointID: -1, Merged: inspect.Merged{Kind: inspect.MergedInvalid}, Err: fault.New(fault.Denied, "read", "no permission to read it")}
	store := shelf{Places: map[string][]inspect.RecoveryPoint{"ckpt": {closed}}}
	for name, control := range map[string]*string{"with a control topic": agentJob().ControlTopic, "without": nil} {
		t.Run(name, func(t *testing.T) {
			job := agentJob()
			job.ControlTopic = control
			log := broker{Data: data(inspect.LogRange{Start: 150, End: 200}), Control: controlTopicOf(inspect.Offsets{0: 150})}
			list, err := inspect.New(store, log, clock.NewFake(now)).Points(context.Background(), job, "")
			if err != nil || len(list.Points) != 1 || list.Points[0].Verdict != inspect.Unknown {
				t.Fatalf("%+v, %v; want one unknown point", list.Points, err)
			}
			if got := strings.Join(list.Points[0].Unchecked, " "); !strings.Contains(got, "metadata") {
				t.Errorf("unchecked %q", got)
			}
		})
	}
}

func controlTopicOf(offsets inspect.Offsets) inspect.ControlTopic {
	return control(operation(0, "a", inspect.StatusCommitted, offsets), operation(1, "a", inspect.StatusApplied, offsets))
}

// What could not be read never hides what could, and never turns into a milder
// verdict.
func TestValidateSaysWhatItCould(t *testing.T) {
	sound := point(44, time.Minute, inspect.Offsets{0: 180, 1: 260})
	damaged := point(45, 0, nil)
	damaged.Markers, damaged.Checks = nil, []inspect.Check{{ID: "M3", Severity: inspect.SeverityError, Message: "truncated at byte 100"}}
	future := point(46, 0, nil)
	future.Markers, future.Checks = nil, []inspect.Check{{ID: "M2", Severity: inspect.SeverityError, Message: "version 7 is not supported"}}
	fine := broker{
		Data:    data(inspect.LogRange{Start: 150, End: 200}, inspect.LogRange{Start: 250, End: 300}),
		Control: control(operation(0, "a", inspect.StatusCommitted, inspect.Offsets{0: 150, 1: 250})),
	}
	gone := fault.New(fault.Unreachable, "connect", "no broker answers")
	denied := fault.New(fault.Denied, "read", "access denied to the bucket")
	tests := map[string]struct {
		uri     string
		fails   map[string]error
		log     broker
		verdict inspect.Verdict
		kind    fault.Kind // of the error, where there is no verdict
	}{
		"all is readable":                {uri: sound.URI, log: fine, verdict: inspect.Accepted},
		"no broker answers":              {uri: sound.URI, log: broker{DataErr: gone, ControlErr: gone}, verdict: inspect.Unknown},
		"the point is damaged":           {uri: damaged.URI, fails: map[string]error{damaged.URI: fault.New(fault.Corrupt, "read", "truncated")}, log: fine, verdict: inspect.Rejected},
		"damaged, and no broker answers": {uri: damaged.URI, fails: map[string]error{damaged.URI: fault.New(fault.Corrupt, "read", "truncated")}, log: broker{DataErr: gone, ControlErr: gone}, verdict: inspect.Rejected},
		"the point's store denies it":    {uri: "s3://b/chk-1", fails: map[string]error{"s3://b/chk-1": denied}, log: fine, verdict: inspect.Unknown},
		"a version that we don't know":   {uri: future.URI, fails: map[string]error{future.URI: fault.New(fault.Unsupported, "read", "metadata version 7")}, log: fine, verdict: inspect.Unknown},
		"neither can be read":            {uri: "s3://b/chk-1", fails: map[string]error{"s3://b/chk-1": denied}, log: broker{DataErr: gone, ControlErr: gone}, kind: fault.Unreachable},
		"damage without a check":         {uri: sound.URI, fails: map[string]error{sound.URI: fault.New(fault.Corrupt, "read", "it shrank")}, log: fine, verdict: inspect.Rejected},
		"there is nothing at the URI":    {uri: "file:/nowhere", log: fine, kind: fault.NotFound},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			store := shelf{Places: map[string][]inspect.RecoveryPoint{"ckpt": {damaged, sound, future}}, Fails: tt.fails}
			v, _, err := inspect.New(store, tt.log, clock.NewFake(now)).Validate(context.Background(), agentJob(), tt.uri)
			if tt.verdict == "" {
				if err == nil || fault.KindOf(err) != tt.kind {
					t.Fatalf("error %v, want one of kind %s", err, tt.kind)
				}
				return
			}
			if err != nil || v.Verdict != tt.verdict {
				t.Fatalf("verdict %q, error %v; want %q", v.Verdict, err, tt.verdict)
			}
		})
	}
}

// No point is its own neighbour, and one that can't be read has neighbours where
// it is among the job's points.
func TestNeighboursOfAPoint(t *testing.T) {
	sound, damaged := point(44, time.Minute, inspect.Offsets{0: 180, 1: 260}), point(43, time.Hour, nil)
	damaged.Markers, damaged.Checks = nil, []inspect.Check{{ID: "M3", Severity: inspect.SeverityError, Message: "truncated at byte 100"}}
	older := point(42, 2*time.Hour, inspect.Offsets{0: 160, 1: 250})
	at := func(uri string) inspect.RecoveryPoint { p := sound; p.URI = uri; return p }
	broken := map[string]error{damaged.URI: fault.New(fault.Corrupt, "read", "truncated")}
	log := broker{Data: data(inspect.LogRange{Start: 150, End: 200}, inspect.LogRange{Start: 250, End: 300}), Control: controlTopicOf(inspect.Offsets{0: 150, 1: 250})}
	tests := map[string]struct {
		uri          string
		older, newer string
	}{
		"as the list has it":          {sound.URI, older.URI, ""},
		"as a plain path":             {"/ckpt/4f3c/chk-44", older.URI, ""},
		"with a slash at the end":     {"file:///ckpt/4f3c/chk-44/", older.URI, ""},
		"its metadata file":           {"/ckpt/4f3c/chk-44/_metadata", older.URI, ""},
		"from the folder above":       {"chk-44", older.URI, ""},
		"a copy of it":                {"s3://backup/chk-44", older.URI, ""},
		"one that can't be read":      {damaged.URI, older.URI, sound.URI},
		"one that can't be read, /":   {damaged.URI + "/", older.URI, sound.URI},
		"unreadable and nowhere else": {"s3://b/chk-1", "", ""},
	}
	broken[damaged.URI+"/"], broken["s3://b/chk-1"] = broken[damaged.URI], fault.New(fault.Denied, "read", "not for you")
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			store := shelf{Fails: broken, Places: map[string][]inspect.RecoveryPoint{
				"ckpt": {sound, damaged, older}, "far": {at("/ckpt/4f3c/chk-44"), at("file:///ckpt/4f3c/chk-44/"), at("/ckpt/4f3c/chk-44/_metadata"), at("chk-44"), at("s3://backup/chk-44")},
			}}
			v, _, err := inspect.New(store, log, clock.NewFake(now)).Validate(context.Background(), agentJob(), tt.uri)
			if err != nil {
				t.Fatal(err)
			}
			for _, side := range []struct {
				word, want string
				got        *inspect.Nearby
			}{{"older", tt.older, v.Older}, {"newer", tt.newer, v.Newer}} {
				if (side.got != nil) != (side.want != "") || side.got != nil && side.got.URI != side.want {
					t.Errorf("%s %+v, want %q", side.word, side.got, side.want)
				}
			}
		})
	}
}

// Two places that are one by another spelling hold each point once.
func TestAPlaceNamedTwiceIsListedOnce(t *testing.T) {
	one := point(44, time.Minute, inspect.Offsets{0: 180, 1: 260})
	twin := one
	twin.URI = "/ckpt/4f3c/chk-44"
	job := agentJob()
	job.RecoveryPoints = []string{"ckpt", "again"}
	store := shelf{Places: map[string][]inspect.RecoveryPoint{"ckpt": {one}, "again": {twin}}}
	list, err := inspect.New(store, nil, clock.NewFake(now)).Points(context.Background(), job, "")
	if err != nil || len(list.Points) != 1 || list.Points[0].URI != one.URI {
		t.Errorf("%+v, %v", list.Points, err)
	}
}

func TestControlWithoutAsking(t *testing.T) {
	job := agentJob()
	blank := " "
	for name, tt := range map[string]struct {
		control *string
		want    string
	}{
		"blank":          {&blank, "control-topic-blank"},
		"the data topic": {&job.Topic, "control-topic-same-as-data"},
	} {
		t.Run(name, func(t *testing.T) {
			job := job
			job.ControlTopic = tt.control
			b, err := inspect.New(shelf{}, nil, clock.NewFake(now)).Control(context.Background(), job, nil)
			if err != nil || b.Problem == nil || b.Problem.Code != tt.want || b.ApplyReader.Verdict != inspect.Rejected {
				t.Fatalf("boundary %+v, error %v; want problem %s", b, err, tt.want)
			}
		})
	}
	job.ControlTopic = nil
	if _, err := inspect.New(shelf{}, nil, clock.NewFake(now)).Control(context.Background(), job, nil); fault.KindOf(err) != fault.Config {
		t.Errorf("not configured: %v, want a fault of kind config", err)
	}
}

// With --expect flags the data topic is not asked for.
func TestControlByExpectation(t *testing.T) {
	log := broker{DataErr: errors.New("must not be asked"), Control: control(operation(0, "a", inspect.StatusCommitted, inspect.Offsets{0: 150, 1: 250}))}
	in := inspect.New(shelf{}, log, clock.NewFake(now))
	b, err := in.Control(context.Background(), agentJob(), &inspect.History{Topic: "action-state", TopicID: topicID, Partitions: []int32{0, 1}})
	if err != nil || b.Problem != nil || b.Offsets[1] != 250 {
		t.Fatalf("boundary %+v, error %v", b, err)
	}
	unnamed := agentJob()
	unnamed.Topic = ""
	if _, err := in.Control(context.Background(), unnamed, &inspect.History{TopicID: topicID, Partitions: []int32{0, 1}}); fault.KindOf(err) != fault.Config {
		t.Errorf("without a topic's name: %v, want a fault of kind config: no history is of a topic without one", err)
	}
}

// Without a cluster and without a topic the rules that need one are not checked:
// a point is neither accepted nor rejected for what nobody configured.
func TestPointsWithoutATopicAreUnknown(t *testing.T) {
	store := shelf{Places: map[string][]inspect.RecoveryPoint{"ckpt": {point(44, time.Minute, inspect.Offsets{0: 180})}}}
	list, err := inspect.New(store, nil, clock.NewFake(now)).Points(context.Background(), inspect.Job{}, "ckpt")
	if err != nil || len(list.Points) != 1 || list.Points[0].Verdict != inspect.Unknown || list.Points[0].Reason != nil {
		t.Fatalf("%+v, %v; want one unknown point", list.Points, err)
	}
}
