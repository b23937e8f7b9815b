package arkflow

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/arkhub"
	"github.com/recoverctl/recoverctl/internal/clock"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

const hubOp = "ask the ArkFlow hub"

// maxSingles is of how many streams the answer about each one is asked for: it
// alone says what was asked of the stream.
const maxSingles = 200

// Hub answers questions about jobs and streams from what a hub says, and from
// what it does not.
type Hub struct {
	client *arkhub.Client
	points *Points
	clock  clock.Clock

	logs   *Logs // nil: no log is read
	place  string
	absorb *uint64
	polls  int
	every  time.Duration
}

// NewHub makes a Hub. The client stays the caller's to close. Points may be nil:
// no store is looked at then. A nil clock is the machine's.
func NewHub(client *arkhub.Client, points *Points, c clock.Clock) *Hub {
	if c == nil {
		c = clock.System{}
	}
	return &Hub{client: client, points: points, clock: c}
}

// WithLog is the Hub that also reads the write-ahead log at a place, and asks the
// rows of the decision table that are about it. Absorb is how many entries the
// sink can take twice; nil: nobody says.
func (h *Hub) WithLog(logs *Logs, place string, absorb *uint64) *Hub {
	with := *h
	with.logs, with.place, with.absorb = logs, place, absorb
	return &with
}

// Watching is the Hub that looks at streams, and at the log, several times before
// it answers: some rows are about what moves and what does not.
func (h *Hub) Watching(polls int, every time.Duration) *Hub {
	with := *h
	with.polls, with.every = polls, every
	return &with
}

// HubState is who answers, and how it is.
type HubState struct {
	Address    string            `json:"address"` // that was asked; of the leader where a standby named it
	Leader     bool              `json:"leader"`  // a standby named it
	Generation arkhub.Generation `json:"generation"`
	Version    *string           `json:"version"`
	Ready      *bool             `json:"ready"`
	Status     *string           `json:"status"` // the hub's own word
	AsOf       time.Time         `json:"asOf"`
	Nodes      []NodeState       `json:"nodes"`
}

// NodeState is one engine.
type NodeState struct {
	ID          string     `json:"id"`
	State       *string    `json:"state"`
	Maintenance *string    `json:"maintenance"`
	Version     *string    `json:"version"`
	LastSeen    *time.Time `json:"lastSeen"`
	Streams     *uint64    `json:"streams"`
	Failed      *uint64    `json:"failed"`
}

// JobState is one job.
type JobState struct {
	ID           string     `json:"id"`
	Version      *uint64    `json:"version"`
	Desired      *string    `json:"desired"`
	Observed     *string    `json:"observed"`
	Convergence  *string    `json:"convergence"`
	Generation   *uint64    `json:"generation"`
	Nodes        []string   `json:"nodes"` // empty: any
	LastError    *string    `json:"lastError"`
	Updated      *time.Time `json:"updated"`
	NamedRound   *string    `json:"namedRound"` // checkpoint_id: of a round that was begun, no more
	Protected    Protection `json:"protectedBy"`
	Health       Health     `json:"health"`
	Recovery     Recovery   `json:"recovery"`
	ActiveUpdate *string    `json:"activeUpgrade"` // nil: none, or not exposed

	Upgrade *UpgradeState `json:"upgrade"` // the same, with all that is known of it
}

// Recovery is how far a recovery has come.
type Recovery struct {
	Under    bool     `json:"under"`    // one is under way, or waits for a start
	Progress *float64 `json:"progress"` // 0 to 1; nil: not exposed by this hub
	Sentence string   `json:"sentence"`
}

// StreamState is one stream.
type StreamState struct {
	Node        string     `json:"node"`
	ID          string     `json:"id"`
	State       *string    `json:"state"`
	Desired     *string    `json:"desired"`     // what was asked last, where the hub exposes it truly
	Convergence *string    `json:"convergence"` // the hub's word
	Stage       *string    `json:"failedAt"`
	LastError   *string    `json:"lastError"`
	Started     *time.Time `json:"started"`
	Input       *uint64    `json:"inputMessages"`
	Output      *uint64    `json:"outputMessages"` // attempts, not deliveries
	OutputBad   *uint64    `json:"outputErrors"`
	Protected   Protection `json:"protectedBy"`
}

// JobList is every job and stream of a hub with what is wrong first.
type JobList struct {
	Hub       HubState          `json:"hub"`
	Jobs      []JobState        `json:"jobs"`
	Streams   []StreamState     `json:"streams"`
	Log       *WriteAheadLog    `json:"log"` // that was read beside it; nil: none was asked for, or it can't be read
	Findings  []inspect.Finding `json:"findings"`
	Decisions []Decision        `json:"decisions"`
	Unchecked []string          `json:"unchecked"`
}

// JobDetail is one job with its points.
type JobDetail struct {
	Hub       HubState          `json:"hub"`
	Job       JobState          `json:"job"`
	Versions  []VersionState    `json:"versions"`
	Tasks     []PlannedTask     `json:"tasks"`
	Points    PointList         `json:"points"`
	Log       *WriteAheadLog    `json:"log"` // that was read beside it; nil: none was asked for, or it can't be read
	Findings  []inspect.Finding `json:"findings"`
	Decisions []Decision        `json:"decisions"`
	Unchecked []string          `json:"unchecked"`

	// What the hub has on record could not be read: that a round is not among the
	// points, or a version not among the versions, says nothing then.
	RoundsUnread   bool `json:"-"`
	VersionsUnread bool `json:"-"`
}

// VersionState is a version of a job that could be gone back to.
type VersionState struct {
	Version       uint64     `json:"version"`
	FormatVersion *uint64    `json:"formatVersion"`
	Created       *time.Time `json:"created"`
	Current       bool       `json:"current"`
	// Restorable: the newest point that a start of this version would restore;
	// empty: none, it would begin cold.
	Restorable string    `json:"restorable"`
	Selection  Selection `json:"selection"`
}

// PlannedTask is a task of the job's plan with where the hub would place it, which
// is computed and not observed.
type PlannedTask struct {
	ID   string `json:"id"`
	Node string `json:"node"` // empty: not exposed
}

// EventList is the hub's history, the newest first, each event once.
type EventList struct {
	Hub    HubState     `json:"hub"`
	Events []EventState `json:"events"`
	Total  uint64       `json:"total"` // that the hub says it holds, repeats among them
}

// EventState is one event.
type EventState struct {
	Time      *time.Time `json:"time"`
	Node      string     `json:"node"`
	Type      string     `json:"type"`
	Stream    string     `json:"stream"`
	Outcome   string     `json:"outcome"`
	Message   string     `json:"message"`
	Operation string     `json:"operation"`
}

// reading is what one answer is made of.
type reading struct {
	hub       *Hub
	now       time.Time
	state     HubState
	nodes     []arkhub.Node
	status    *arkhub.OperationsStatus
	ops       []arkhub.Operation
	configs   map[string]arkhub.Configuration
	before    map[string][]arkhub.Stream // by node/stream: earlier looks
	earlier   []WriteAheadLog
	log       *WriteAheadLog
	logFault  error
	unchecked []string
	faults    []error
}

// note keeps what could not be read. Whether it was the last thing that could be
// said is the caller's to know.
func (r *reading) note(what string, err error) bool {
	if err == nil {
		return true
	}
	r.faults = append(r.faults, err)
	r.unchecked = append(r.unchecked, what+": "+safetext.Error(err).String())
	return false
}

// begin asks who answers. Its error says that nothing can be said at all.
func (h *Hub) begin(ctx context.Context) (*reading, error) {
	r := &reading{hub: h, now: h.clock.Now(), configs: map[string]arkhub.Configuration{}, unchecked: []string{}}
	generation, err := h.client.Generation(ctx)
	if err != nil {
		return nil, err
	}
	r.state = HubState{Generation: generation, AsOf: r.now.UTC(), Nodes: []NodeState{}}
	if s, err := h.client.System(ctx); r.note("who answers", err) {
		r.state.Version = s.Version.Pointer()
	}
	if s, err := h.client.Health(ctx); r.note("whether the hub is ready", err) {
		r.state.Ready, r.state.Status = s.Ready.Pointer(), s.Status.Pointer()
	}
	if l, err := h.client.Nodes(ctx); r.note("the nodes", err) {
		r.nodes = append([]arkhub.Node{}, l.Items...)
		r.dropped("nodes", l.Dropped, l.Cut)
		for _, n := range l.Items {
			r.state.Nodes = append(r.state.Nodes, NodeState{
				ID: n.ID, State: n.State.Pointer(), Maintenance: n.Maintenance.Pointer(), Version: n.Version.Pointer(), LastSeen: moment(n.LastSeen),
				Streams: n.StreamsTotal.Pointer(), Failed: n.StreamsFailed.Pointer(),
			})
		}
	}
	address, leader := h.client.Address()
	r.state.Address, r.state.Leader = address.String(), leader
	return r, ctx.Err()
}

// operations reads what was done and what is under way, once.
func (r *reading) operations(ctx context.Context, resource string) {
	if l, err := r.hub.client.Operations(ctx, arkhub.OperationFilter{Resource: resource}); r.note("the operations", err) {
		r.ops = append([]arkhub.Operation{}, l.Items...)
		r.dropped("operations", l.Dropped, l.Cut)
	}
	if r.state.Generation == arkhub.GenerationNodeLocal {
		return
	}
	if s, err := r.hub.client.OperationsStatus(ctx); r.note("the hub's reconciliation", err) {
		r.status = &s
	}
}

func (r *reading) dropped(what string, n int, cut bool) {
	if n > 0 {
		r.unchecked = append(r.unchecked, fmt.Sprintf("%d rows of the %s lack what makes them one", n, what))
	}
	if cut {
		r.unchecked = append(r.unchecked, fmt.Sprintf("the list of %s is longer than is read", what))
	}
}

func (r *reading) facts(subject string) Facts {
	return Facts{Subject: subject, Now: r.now, Generation: r.state.Generation, Operations: r.ops, Status: r.status}
}

func moment(m arkhub.Moment) *time.Time {
	at, known := m.Get()
	if !known {
		return nil
	}
	t := at.Time()
	return &t
}

// watch looks at the streams and at the log as often as was asked for; the last
// look is the one that is told.
func (r *reading) watch(ctx context.Context) error {
	r.before = map[string][]arkhub.Stream{}
	for n := 1; ; n++ {
		if r.hub.logs != nil {
			if r.log != nil {
				r.earlier = append(r.earlier, *r.log)
			}
			r.log, r.logFault = nil, nil
			l, err := r.hub.logs.Read(ctx, r.hub.place, Question{})
			if err != nil {
				r.logFault = err
			} else {
				r.log = &l
			}
		}
		if n >= r.hub.polls {
			break
		}
		l, err := r.hub.client.Streams(ctx, "")
		if err != nil {
			return err
		}
		for _, s := range l.Items {
			key := s.NodeID.Or("") + "/" + s.ID
			r.before[key] = append(r.before[key], s)
		}
		timer := time.NewTimer(r.hub.every)
		select {
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		case <-timer.C:
		}
	}
	if r.logFault != nil && fault.KindOf(r.logFault) != fault.Corrupt {
		r.note("the write-ahead log", r.logFault)
	}
	r.now = r.hub.clock.Now()
	return nil
}

// ofLog reports whether the log that was read is a stream's: by the names in an
// object store's keys, by the path of its configuration, or because no other
// stream has one. The folder that a copy of an object store's log lies in need not be
// called as its node.
func (r *reading) ofLog(node string, s arkhub.Stream, c *arkhub.StreamConfig, only bool) bool {
	if r.log == nil {
		return false
	}
	if r.log.Stream != "" {
		copied := !strings.Contains(r.log.Place, "://") || strings.HasPrefix(r.log.Place, "file:")
		return r.log.Stream == s.ID && (copied || r.log.Node == node || r.log.Node == "")
	}
	if c == nil {
		return only
	}
	place := strings.TrimSuffix(logPlace(c.Durability.Or(arkhub.Durability{})), "/")
	return place != "" && (r.log.Place == place || r.log.Place == place+"/"+FileName) || only
}

// Jobs reads every job and every stream. Of points it tells what the hub has on
// record alone.
func (h *Hub) Jobs(ctx context.Context) (JobList, error) {
	r, err := h.begin(ctx)
	if err != nil {
		return JobList{}, err
	}
	if err := r.watch(ctx); err != nil {
		return JobList{}, err
	}
	r.operations(ctx, "")
	out := JobList{Jobs: []JobState{}, Streams: []StreamState{}, Decisions: []Decision{}}
	durable := r.streams(ctx, &out)
	if r.state.Generation.HasJobs() {
		if l, err := h.client.Jobs(ctx); r.note("the jobs", err) {
			r.dropped("jobs", l.Dropped, l.Cut)
			for _, j := range l.Items {
				state, facts := r.job(ctx, j)
				out.Jobs = append(out.Jobs, state)
				out.Decisions = append(out.Decisions, Decide(facts, OfJob)...)
			}
		}
	} else {
		r.unchecked = append(r.unchecked, "this hub has no jobs: checkpoints, savepoints and rollback are not there")
	}
	f := r.facts("hub " + r.state.Address)
	f.Nodes, f.Ready, f.Durable = r.nodes, r.state.Ready, durable
	f.Log, f.LogFault = r.log, r.logFault
	out.Decisions = append(Decide(f, OfHub), out.Decisions...)
	out.Findings = Findings(out.Decisions)
	out.Hub, out.Unchecked, out.Log = r.state, r.unchecked, r.log
	if err := ctx.Err(); err != nil {
		return out, err
	}
	return out, errors.Join(r.faults...)
}

// streams reads every stream, and which of them have a log.
func (r *reading) streams(ctx context.Context, out *JobList) (durableStreams []string) {
	l, err := r.hub.client.Streams(ctx, "")
	if !r.note("the streams", err) {
		return nil
	}
	r.dropped("streams", l.Dropped, l.Cut)
	durableStreams = []string{}
	if len(l.Items) > maxSingles {
		r.unchecked = append(r.unchecked, fmt.Sprintf("what was asked of each of the %d streams was not read", len(l.Items)))
	}
	var ofLog *arkhub.Stream
	for _, s := range l.Items {
		node := s.NodeID.Or("")
		if len(l.Items) <= maxSingles && r.state.Generation != arkhub.GenerationNodeLocal {
			if single, err := r.hub.client.Stream(ctx, node, s.ID); r.note("stream "+safetext.Of(s.ID).String(), err) {
				s = single
			}
		}
		config, read := r.config(ctx, node, s.ID)
		f := r.facts(fmt.Sprintf("stream %s/%s", node, s.ID))
		f.Stream, f.Config, f.Configs = &s, config, read
		f.Operations = slices.DeleteFunc(slices.Clone(r.ops), func(o arkhub.Operation) bool {
			return o.ResourceID.Or("") != s.ID || o.NodeID.Or(node) != node
		})
		if r.ops == nil {
			f.Operations = nil
		} else if f.Operations == nil {
			f.Operations = []arkhub.Operation{}
		}
		f.Before = r.before[node+"/"+s.ID]
		if r.ofLog(node, s, config, len(l.Items) == 1) {
			f.Log, f.Earlier = r.log, r.earlier
			ofLog = &s
		}
		out.Streams = append(out.Streams, streamState(s, ProtectionOfStream(config, r.state.Generation)))
		out.Decisions = append(out.Decisions, Decide(f, OfStream)...)
		if config != nil {
			if on, _ := durable(*config); on {
				durableStreams = append(durableStreams, node+"/"+s.ID)
			}
		}
	}
	out.Decisions = append(out.Decisions, r.logRows(ofLog)...)
	return durableStreams
}

// config is a stream's configuration; nil where it is not exposed.
func (r *reading) config(ctx context.Context, node, stream string) (*arkhub.StreamConfig, bool) {
	c, asked := r.configs[node]
	if !asked {
		if r.state.Generation != arkhub.GenerationNodeLocal {
			// A node that has not reported one is no failure: it is not exposed.
			if read, err := r.hub.client.Configuration(ctx, node); err == nil {
				c = read
			} else if fault.KindOf(err) != fault.NotFound {
				r.note("the configuration of "+safetext.Of(node).String(), err)
			}
		}
		r.configs[node] = c
	}
	at := slices.IndexFunc(c.Streams, func(s arkhub.StreamConfig) bool { return s.ID.Or("") == stream })
	if at < 0 {
		return nil, c.Known
	}
	return &c.Streams[at], true
}

func streamState(s arkhub.Stream, p Protection) StreamState {
	state := StreamState{
		Node: s.NodeID.Or(""), ID: s.ID, State: s.State.Pointer(), Convergence: s.Convergence.Pointer(), Started: moment(s.Started),
		Input: s.Metrics.InputMessages.Pointer(), Output: s.Metrics.OutputMessages.Pointer(), OutputBad: s.Metrics.OutputErrors.Pointer(), Protected: p,
	}
	if d, has := s.Desired.Get(); has {
		state.Desired = d.State.Pointer()
	}
	if f, has := s.LastError.Get(); has {
		state.Stage, state.LastError = f.Stage.Pointer(), f.Message.Pointer()
	}
	return state
}

// job reads the rounds of a job and derives its state.
func (r *reading) job(ctx context.Context, j arkhub.Job) (JobState, Facts) {
	f := r.facts("job " + j.ID)
	f.Job = &j
	explicit := arkhub.Text{}
	progress := arkhub.Fact[float64]{}
	var upgrade *string
	var active *UpgradeState
	if d, err := r.hub.client.Detail(ctx, j.ID); r.note("the detail of "+safetext.Of(j.ID).String(), err) {
		f.Detail, f.Rounds, f.Operations, f.RoundsPartial = &d, d.Checkpoints, d.Operations, d.CheckpointsPartial
		explicit, progress = d.CheckpointHealth, recoveryProgress(d)
		if u := d.ActiveUpgrade.Or(arkhub.Upgrade{}); u.Active() {
			word, state := u.ID+": "+u.Phase.Or("phase not known"), upgradeState(u)
			upgrade, active = &word, &state
		}
	}
	if f.Rounds == nil {
		if l, err := r.hub.client.Checkpoints(ctx, j.ID); r.note("the rounds of "+safetext.Of(j.ID).String(), err) {
			f.Rounds, f.RoundsPartial = append([]arkhub.Checkpoint{}, l.Items...), l.Dropped > 0 || l.Cut
		}
	}
	if f.RoundsPartial {
		r.unchecked = append(r.unchecked, someRounds+" ("+safetext.Of(j.ID).String()+")")
	}
	if l, err := r.hub.client.Versions(ctx, j.ID); r.note("the versions of "+safetext.Of(j.ID).String(), err) {
		f.Versions = append([]arkhub.Version{}, l.Items...)
	}
	health := HealthOf(f.Rounds, j, explicit, r.now)
	if f.RoundsPartial && !explicit.IsKnown() {
		health.State, health.Sentence = HealthUnknown, someRounds+"; of those that were: "+health.Sentence
	}
	f.Health = &health
	state := JobState{
		ID: j.ID, Version: j.Version.Pointer(), Desired: j.DesiredState.Pointer(), Observed: j.ObservedState.Pointer(), Convergence: j.Convergence.Pointer(),
		Generation: j.Generation.Pointer(), Nodes: append([]string{}, j.NodeIDs.Or(nil)...), LastError: j.LastError.Pointer(), Updated: moment(j.Updated),
		NamedRound: j.CheckpointID.Pointer(), Health: health, Protected: ProtectionOfJob(j, health), ActiveUpdate: upgrade, Upgrade: active, Recovery: recoveryOf(j, progress),
	}
	return state, f
}

// recoveryProgress is what a hub says of it. Hubs whose metrics are all 0 report
// none.
func recoveryProgress(d arkhub.Detail) arkhub.Fact[float64] {
	if w, has := d.Recovery.Get(); has && w.Progress.IsKnown() {
		return w.Progress
	}
	if d.Metrics.AllZero() {
		return arkhub.Fact[float64]{}
	}
	return d.Metrics.RecoveryProgress
}

func recoveryOf(j arkhub.Job, progress arkhub.Fact[float64]) Recovery {
	r := Recovery{Sentence: "none is under way"}
	switch {
	case j.ObservedState.Or("") == arkhub.StateRecovering:
		r.Under, r.Sentence = true, "a restore or a replay is under way"
	case j.Convergence.Or("") == arkhub.ConvergencePendingRecovery && j.DesiredState.Or("") == arkhub.StateStopped:
		r.Under, r.Sentence = true, "it waits for a start since a rollback or an upgrade"
	case j.Convergence.Or("") == arkhub.ConvergencePendingRecovery:
		r.Under, r.Sentence = true, "a recovery is pending"
	}
	if !r.Under {
		return r
	}
	if v, known := progress.Get(); known {
		r.Progress = &v
		r.Sentence += fmt.Sprintf(", %.0f %% done", v*100)
	} else {
		r.Sentence += "; how far it has come is not exposed by this hub"
	}
	return r
}

// Job reads one job with every point of its store, and what a start, and each
// rollback, would restore. Place is where its checkpoint store can be read; empty:
// where its description says.
func (h *Hub) Job(ctx context.Context, id, place string) (JobDetail, error) {
	r, j, err := h.one(ctx, id)
	if err != nil {
		return JobDetail{}, err
	}
	if h.logs != nil {
		if err := r.watch(ctx); err != nil {
			return JobDetail{}, err
		}
	}
	state, f := r.job(ctx, j)
	out := JobDetail{Job: state, Versions: []VersionState{}, Tasks: []PlannedTask{}, RoundsUnread: f.Rounds == nil, VersionsUnread: f.Versions == nil}
	plan := r.plan(ctx, id, &f)
	for _, t := range plan.Tasks {
		out.Tasks = append(out.Tasks, PlannedTask{ID: t.ID, Node: placed(f.Detail, t.ID)})
	}
	target := TargetOf(j, plan, r.state.Generation)
	target.Partial = f.RoundsPartial
	r.points(ctx, place, target, &f)
	health := f.Health.within(*f.Points, r.now)
	f.Health, f.Points.Health = &health, health
	out.Job.Health, out.Job.Protected = health, ProtectionOfJob(j, health)
	out.Points = *f.Points
	out.Points.Replay = r.replay(ctx, out.Points)
	out.Versions = versionsOf(f, j, out.Points)
	f.Nodes, f.Ready = r.nodes, r.state.Ready
	f.Rollback = previous(f.Versions, j, r.state.Generation)
	f.Log, f.LogFault = r.log, r.logFault
	out.Decisions = append(Decide(f, OfJob, OfHub), r.logRows(nil)...)
	out.Findings = Findings(out.Decisions)
	out.Hub, out.Unchecked, out.Log = r.state, append(r.unchecked, out.Points.Unchecked...), r.log
	if err := ctx.Err(); err != nil {
		return out, err
	}
	return out, errors.Join(r.faults...)
}

// one begins an answer about one job.
func (h *Hub) one(ctx context.Context, id string) (*reading, arkhub.Job, error) {
	r, err := h.begin(ctx)
	if err != nil {
		return nil, arkhub.Job{}, err
	}
	if !r.state.Generation.HasJobs() {
		return nil, arkhub.Job{}, fault.New(fault.Unsupported, hubOp, "the hub at %s has no jobs (%s): no checkpoints, savepoints or rollback", safetext.Of(r.state.Address), r.state.Generation).
			WithHint("recoverctl inspect arkflow streams lists what it has; a stream's own log says what is replayed: recoverctl inspect arkflow wal PATH").WithRef(r.state.Address)
	}
	j, err := h.client.Job(ctx, id)
	if err != nil {
		return nil, arkhub.Job{}, err
	}
	r.operations(ctx, id)
	return r, j, nil
}

func (r *reading) plan(ctx context.Context, id string, f *Facts) arkhub.Plan {
	if f.Detail != nil && len(f.Detail.Plan.Tasks) > 0 {
		return f.Detail.Plan
	}
	p, err := r.hub.client.Plan(ctx, id)
	r.note("the plan of "+safetext.Of(id).String(), err)
	return p
}

func (r *reading) points(ctx context.Context, place string, target Target, f *Facts) {
	list := PointList{Target: target, Points: []Point{}, Unchecked: []string{"no checkpoint store can be reached from here"}}
	rounds := f.Rounds
	if r.hub.points != nil {
		var err error
		list, err = r.hub.points.List(ctx, place, rounds, target)
		if err != nil {
			r.faults = append(r.faults, err)
		}
	}
	list.Health = *f.Health
	f.Points = &list
}

// placed is the node that a hub would place a task on.
func placed(d *arkhub.Detail, task string) string {
	if d == nil {
		return ""
	}
	for _, t := range d.Tasks {
		if t.TaskID.Or("") == task {
			return t.NodeID.Or("")
		}
	}
	return ""
}

// previous is where a rollback would go: the first version below the current one.
func previous(versions []arkhub.Version, j arkhub.Job, g arkhub.Generation) *Target {
	current, known := j.Version.Get()
	if !known {
		return nil
	}
	var best *arkhub.Version
	for i, v := range versions {
		if n, is := v.Version.Get(); is && n < current && (best == nil || n > best.Version.Or(0)) {
			best = &versions[i]
		}
	}
	if best == nil {
		return nil
	}
	t := TargetOfVersion(*best, j, g)
	return &t
}

// versionsOf are the versions on record with what a start of each would restore:
// a rollback makes the policy that of the newest savepoint.
func versionsOf(f Facts, j arkhub.Job, list PointList) []VersionState {
	out := []VersionState{}
	for _, v := range f.Versions {
		n, known := v.Version.Get()
		if !known {
			continue
		}
		t := TargetOfVersion(v, j, f.Generation)
		current := j.Version.Or(0) == n
		selection := list.Selection
		if !current {
			t.Recovery, t.Partial = policySavepoint, f.RoundsPartial
			selection = selectPoint(rejudged(list.Points, t), t)
		}
		out = append(out, VersionState{Version: n, FormatVersion: t.FormatVersion, Created: moment(v.Created), Current: current, Restorable: selection.ID, Selection: selection})
	}
	return out
}

// rejudged are points as another version would find them: what depends on the
// target is asked again, what was read is not read again.
func rejudged(points []Point, t Target) []Point {
	out := slices.Clone(points)
	for i := range out {
		p := &out[i]
		p.Rules = slices.Clone(p.Rules)
		var version, format inspect.RuleResult = inspect.NotChecked, inspect.NotChecked
		if p.JobVersion != nil && t.Version != nil {
			may, known := t.Generation.MayRestore(*p.JobVersion, *t.Version)
			version = resultOf(may, known || *p.JobVersion == *t.Version)
		}
		if p.FormatVersion != nil && t.FormatVersion != nil {
			format = resultOf(*p.FormatVersion == *t.FormatVersion, true)
		}
		p.Verdict, p.Reason = inspect.Accepted, ""
		p.Engine = EngineVerdict{inspect.Accepted, "every rule that the engine asks passes"}
		for k := range p.Rules {
			r := &p.Rules[k]
			switch r.Code {
			case RuleVersion:
				r.Result = version
			case RuleFormat:
				r.Result = format
			case RuleTaskSet:
				have := make([]string, 0, len(p.Tasks))
				for _, task := range p.Tasks {
					have = append(have, task.Task)
				}
				r.Result, r.Message, p.Missing = taskSet(t, have)
			}
			bad := r.Result == inspect.Failed || r.Result == inspect.WouldFail
			open := r.Result == inspect.NotChecked
			asked := slices.Contains(engineRules(t.Generation), r.Code)
			switch {
			case r.Code == RulePositions:
			case bad:
				p.Verdict = inspect.Rejected
			case open && p.Verdict == inspect.Accepted:
				p.Verdict = inspect.Unknown
			}
			switch {
			case !asked:
			case bad && p.Engine.Verdict != inspect.Rejected:
				p.Engine = EngineVerdict{inspect.Rejected, r.Code + ": " + r.Message}
			case open && p.Engine.Verdict == inspect.Accepted:
				p.Engine = EngineVerdict{inspect.Unknown, r.Code + ": " + r.Message}
			}
		}
	}
	return out
}

func resultOf(ok, known bool) inspect.RuleResult {
	switch {
	case !known:
		return inspect.NotChecked
	case ok:
		return inspect.Passed
	}
	return inspect.Failed
}

// Points reads every point of a job.
func (h *Hub) Points(ctx context.Context, id, place string) (PointList, error) {
	d, err := h.Job(ctx, id, place)
	return d.Points, err
}

// Events reads the hub's history; of one node, type or stream where they are
// named.
func (h *Hub) Events(ctx context.Context, filter arkhub.EventFilter) (EventList, error) {
	r, err := h.begin(ctx)
	if err != nil {
		return EventList{}, err
	}
	l, err := h.client.Events(ctx, filter)
	if err != nil {
		return EventList{}, err
	}
	out := EventList{Hub: r.state, Events: []EventState{}, Total: l.Total}
	for _, e := range l.Items {
		out.Events = append(out.Events, EventState{
			Time: moment(e.Occurred), Node: e.NodeID.Or(""), Type: e.Type, Stream: e.StreamID.Or(""), Outcome: e.Outcome.Or(""), Message: e.Message.Or(""), Operation: e.OperationID.Or(""),
		})
	}
	return out, errors.Join(r.faults...)
}
