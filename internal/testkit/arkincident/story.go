package arkincident

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/recoverctl/recoverctl/internal/arkhub"
	"github.com/recoverctl/recoverctl/internal/arkhub/artefact"
)

// past is a clock that shows a moment until it is let go; from then on it is the
// machine's.
type past struct {
	mu sync.Mutex
	at time.Time // zero: let go
}

// Now implements clock.Clock.
func (p *past) Now() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.at.IsZero() {
		return time.Now()
	}
	return p.at
}

func (p *past) set(at time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.at = at
}

// story plays to a hub what happened before the operator looks.
type story struct {
	*Incident
	clock *past
	now   time.Time
}

// The jobs' descriptions. Rounds that are taken by hand alone have a long interval,
// so that what the sample shows does not heal by itself while it is looked at.
const (
	often  = 5 * time.Minute
	seldom = time.Minute // of the job whose store takes nothing: each one is pending
	byHand = 6 * time.Hour
	soon   = 12 * time.Second // of the version that is gone back to: its next checkpoint proves the restore
)

// source is the operator that reads.
const source = "read"

func (s *story) spec(id string, version int, interval time.Duration) string {
	return fmt.Sprintf(`{"id":%q,"version":%d,"parallelism":2,"max_parallelism":128,
		"operators":[{"id":%q,"kind":"source"},{"id":"count","kind":"aggregate","stateful":true}],
		"sources":[{"operator_id":%[3]q,"input_type":"kafka"}],"state":{"format_version":1},
		"checkpoint":{"interval_ms":%d,"retention":0,"object_store_uri":%q}}`, id, version, source, interval.Milliseconds(), s.place(id))
}

// place is a job's checkpoint store, as a URI.
func (s *story) place(id string) string { return "file://" + s.Store + "/" + id }

// play is the whole past, up to now.
func (s *story) play(ctx context.Context) error {
	h := s.hub
	s.clock.set(s.now.Add(-80 * time.Minute))
	for _, node := range []string{"node-a", "node-b"} {
		h.AddNode(node)
	}
	h.AddStream("node-a", StreamReady, "running", "")
	h.AddStream("node-a", StreamBare, "running", "")
	h.Configure("node-a", fmt.Sprintf(`{"streams":[
		{"id":%q,"durability":{"enabled":true,"path":%q,"sync":"per_entry"}},{"id":%q,"durability":null}]}`, StreamReady, s.Log(StreamReady), StreamBare))
	h.Configure("node-b", fmt.Sprintf(`{"streams":[{"id":%q,"durability":{"enabled":true,"path":%q,"sync":"group_commit"}}]}`, StreamBad, s.Log(StreamBad)))
	for _, job := range []struct { // hubs list the newest first
		id       string
		interval time.Duration
	}{{JobUpgraded, soon}, {JobRejected, byHand}, {JobDegraded, seldom}, {JobInOrder, often}} {
		if err := h.SetJob(s.spec(job.id, 1, job.interval), "running"); err != nil {
			return err
		}
	}
	s.stands(3, 3, 4)
	// What happens before a moment that is named, the oldest first.
	past := []struct {
		ago time.Duration
		do  func() error
	}{
		{79 * time.Minute, nil},
		{60 * time.Minute, func() error {
			s.stands(5, 4, 5)
			return errors.Join(s.ask(ctx, JobInOrder, "savepoints", ""), s.ask(ctx, JobRejected, "checkpoints", ""))
		}},
		// A savepoint, a stop, an upgrade and a start, as the hub's own guide has them.
		{55 * time.Minute, nil},
		{55*time.Minute - soon/2, func() error { return s.ask(ctx, JobUpgraded, "savepoints", "") }},
		{55*time.Minute - soon + time.Second, func() error { return s.ask(ctx, JobUpgraded, "actions/stop", "") }},
		{54 * time.Minute, func() error { return s.upgrade(ctx) }},
		{53 * time.Minute, func() error { return s.ask(ctx, JobUpgraded, "actions/start", "") }},
		{40 * time.Minute, func() error {
			return errors.Join(s.ask(ctx, JobRejected, "checkpoints", ""), s.ask(ctx, JobUpgraded, "checkpoints", ""))
		}},
		{22 * time.Minute, nil},
		{20 * time.Minute, func() error { h.BreakStore(JobDegraded, true); return nil }},
		{17 * time.Minute, func() error { return s.ask(ctx, JobRejected, "checkpoints", "") }},
		{12 * time.Minute, func() error {
			return s.write(ctx, http.MethodPut, "nodes/node-a/streams/"+StreamReady+"/desired-state", `{"state":"running"}`)
		}},
		{7 * time.Minute, func() error {
			h.AddStream("node-b", StreamBad, "failed", "Processing error: write-ahead log entry 15 can't be decoded: Ipc error: Unable to get root as message")
			return nil
		}},
		{4 * time.Minute, func() error { return s.ask(ctx, JobRejected, "checkpoints", "") }},
		{2 * time.Minute, nil},
	}
	for _, p := range past {
		s.clock.set(s.now.Add(-p.ago))
		if p.do != nil {
			if err := p.do(); err != nil {
				return err
			}
		}
		// What was asked for is done within a few seconds, of which each is lived.
		for second := range 5 {
			s.clock.set(s.now.Add(-p.ago).Add(time.Duration(second) * time.Second))
			if err := s.write(ctx, http.MethodGet, "system", ""); err != nil {
				return err
			}
		}
	}
	s.clock.set(s.now)
	return s.damage(ctx)
}

// stands is where JobDegraded's source stands, by partition: the entries of the log
// beside it are of the topic.
func (s *story) stands(offsets ...uint64) {
	topic := "payments"
	at := make([]artefact.SourcePosition, 0, len(offsets))
	for partition, offset := range offsets {
		at = append(at, artefact.SourcePosition{Topic: &topic, Partition: uint64(partition), Offset: offset})
	}
	s.hub.Stands(JobDegraded, at...)
}

// ask sends a request about a job.
func (s *story) ask(ctx context.Context, job, what, body string) error {
	return s.write(ctx, http.MethodPost, "jobs/"+job+"/"+what, body)
}

// upgrade makes the job version 2 from its savepoint, which the hub accepts and no
// start restores.
func (s *story) upgrade(ctx context.Context) error {
	job, err := read[arkhub.Job](ctx, s, "jobs/"+JobUpgraded)
	if err != nil {
		return err
	}
	rounds, err := read[[]arkhub.Checkpoint](ctx, s, "jobs/"+JobUpgraded+"/savepoints")
	if err != nil {
		return err
	}
	for _, r := range rounds {
		if r.Kind.Or("") == arkhub.KindSavepoint && r.Status == arkhub.RoundCompleted {
			return s.ask(ctx, JobUpgraded, "upgrades", fmt.Sprintf(`{"spec":%s,"expected_generation":%d,"savepoint_id":%q}`, s.spec(JobUpgraded, 2, byHand), job.Generation.Or(0), r.ID))
		}
	}
	return fmt.Errorf("no savepoint of %s was completed", JobUpgraded)
}

// answer is what the hub wrote.
type answer struct {
	header http.Header
	status int
	body   strings.Builder
}

func (a *answer) Header() http.Header         { return a.header }
func (a *answer) WriteHeader(status int)      { a.status = status }
func (a *answer) Write(b []byte) (int, error) { return a.body.Write(b) }

// send asks the hub without a network between.
func (s *story) send(ctx context.Context, method, path, body string) (*answer, error) {
	r, err := http.NewRequestWithContext(ctx, method, arkhub.Prefix+"/"+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	a := &answer{header: http.Header{}, status: http.StatusOK}
	s.hub.ServeHTTP(a, r)
	if a.status >= http.StatusBadRequest {
		return nil, fmt.Errorf("%s %s: %d %s", method, path, a.status, a.body.String())
	}
	return a, ctx.Err()
}

func (s *story) write(ctx context.Context, method, path, body string) error {
	_, err := s.send(ctx, method, path, body)
	return err
}

func read[T any](ctx context.Context, s *story, path string) (value T, err error) {
	a, err := s.send(ctx, http.MethodGet, path, "")
	if err != nil {
		return value, err
	}
	return value, json.Unmarshal([]byte(a.body.String()), &value)
}
