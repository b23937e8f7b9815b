package main

import (
	"context"
	"fmt"

	"github.com/recoverctl/recoverctl/actions/evidence"
	"github.com/recoverctl/recoverctl/config"
	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/inspect/flink"
	"github.com/recoverctl/recoverctl/inspect/kafka"
	"github.com/recoverctl/recoverctl/internal/clock"
	"github.com/recoverctl/recoverctl/internal/flussrpc"
	"github.com/recoverctl/recoverctl/internal/kafkaconn"
	"github.com/recoverctl/recoverctl/internal/safetext"
	"github.com/recoverctl/recoverctl/internal/secret"
	"github.com/recoverctl/recoverctl/tui"

	"github.com/spf13/pflag"
)

// app is one run of the program: what was asked, and what it takes to answer.
type app struct {
	streams
	flags *pflag.FlagSet
	clock clock.Clock
	ended <-chan struct{} // closed when the process was asked to stop

	loaded    *config.Loaded
	selection config.Selection
}

// load reads the configuration and chooses profile and job, once. Warnings go to
// standard error.
func (a *app) load() error {
	if a.loaded != nil {
		return nil
	}
	var loaded *config.Loaded
	err := a.waitFor(func() (err error) {
		loaded, err = config.Load(config.Options{Environ: a.environ, Flags: a.flags})
		return err
	})
	if err != nil {
		return err
	}
	a.loaded = loaded
	for _, warning := range loaded.Warnings {
		fmt.Fprintf(a.err, "warning: %s\n", warning)
	}
	if a.selection, err = loaded.Select("", ""); err != nil {
		return err
	}
	for _, source := range a.selection.Profile.Secrets() {
		for _, warning := range source.Warnings() {
			fmt.Fprintf(a.err, "warning: %s\n", warning)
		}
	}
	return nil
}

// waitFor runs a read of local input, and waits for it only until the process is
// asked to stop: a pipe that nobody writes to and a terminal at which nobody
// types would hold it for ever. After an error nothing of the read is to be used.
func (a *app) waitFor(read func() error) error {
	done := make(chan error, 1)
	go func() { done <- read() }()
	select {
	case err := <-done:
		return err
	case <-a.ended:
		return context.Canceled
	}
}

func (a *app) printer() printer { return printer{streams: a.streams, json: a.wantsJSON()} }

// wantsJSON is what -o says, also where the configuration could not be loaded.
func (a *app) wantsJSON() bool {
	if a.loaded != nil {
		return a.loaded.Output == "json"
	}
	return config.OutputOf(config.Options{Environ: a.environ, Flags: a.flags}) == "json"
}

// job is the chosen job as the rules see it.
func (a *app) job() (inspect.Job, error) {
	j, err := a.selection.RequireJob()
	if err != nil {
		return inspect.Job{}, err
	}
	return a.jobAsked(j), nil
}

// jobAsked is a job of the profile with the flags by which it was asked about.
func (a *app) jobAsked(j config.Job) inspect.Job {
	job := jobOf(a.selection.Profile.Name, j)
	job.Flags = a.given()
	return job
}

func jobOf(profile string, j config.Job) inspect.Job {
	job := inspect.Job{
		Profile: profile, Name: j.Name, Runtime: inspect.Release(j.Runtime),
		Topic: j.ActionState.Topic, ControlTopic: j.ActionState.ControlTopic, Tombstones: j.ActionState.JobTombstones,
		Partitions: j.Partitions, MaxParallelism: j.MaxParallelism,
		RecoveryPoints: j.RecoveryPoints, Pinned: j.Pinned, KeepRecoveryPoints: j.KeepRecoveryPoints,
		Flink: flinkRef(j),
	}
	if keptInFluss(j) {
		job.Store, job.Topic, job.BucketOf = inspect.StoreFluss, j.Fluss.Table, flussrpc.BucketOfString
	}
	if uid := j.Flink.OperatorUID; uid != "" {
		job.Operator = inspect.ExpectedOperator{ID: flink.OperatorIDOf(uid), UID: uid}
	}
	return job
}

// connections are the systems behind an inspector.
type connections struct {
	points *places
	stores *objectStores
	log    *cluster
	live   *jobManagers
	tables logs // log, and the Fluss tables of jobs
	hubs   *hubLinks
}

// evidence is where the evidence for the plans of a job is read.
func (c connections) evidence(job inspect.Job, clock clock.Clock, replication *int) evidence.Sources {
	return evidence.Sources{Points: c.points, Log: c.log, Live: c.live, Clock: clock, Job: job, Replication: replication}
}

func (c connections) close() {
	c.tables.close()
	c.live.close()
	c.stores.close()
}

// inspector composes answers for a profile. A system is connected to when the
// first answer needs it.
func (a *app) inspector(p config.Profile, prompt secret.Prompter) (*inspect.Inspector, connections, error) {
	stores := newObjectStores(p, prompt, a.loaded.Timeout, a.clock)
	store, err := flink.New(flink.Options{
		Mappings: mappingsOf(p), Clock: a.clock, Systems: map[string]flink.FileSystem{flink.SchemeS3: stores.system()},
	})
	if err != nil {
		return nil, connections{}, err
	}
	points := &places{Store: store, clock: a.clock}
	to := connections{points: points, stores: stores, hubs: newHubLinks(a.clock), log: newCluster(p, prompt, a.clock), live: newJobManagers(flinkLogins{p.Jobs, prompt}, a.loaded.Timeout, a.clock)}
	to.tables = a.logsOf(p, to.log, stores, prompt)
	switch {
	case len(to.tables.tables) > 0:
		return inspect.New(points, to.tables, a.clock).WithLive(to.live), to, nil
	case !to.log.configured():
		return inspect.New(points, nil, a.clock).WithLive(to.live), to, nil
	default:
		return inspect.New(points, to.log, a.clock).WithLive(to.live), to, nil
	}
}

func mappingsOf(p config.Profile) []flink.Mapping {
	mappings := make([]flink.Mapping, 0, len(p.PathMappings))
	for _, m := range p.PathMappings {
		mappings = append(mappings, flink.Mapping{From: m.From, To: m.To})
	}
	return mappings
}

// cluster is a LogStore that connects when it is first asked, and again after a
// failure: a console must be able to recover with the cluster.
type cluster struct {
	profile config.Profile
	prompt  secret.Prompter
	clock   clock.Clock

	connecting chan struct{} // held while connecting; conn and store are its
	conn       *kafkaconn.Conn
	store      *kafka.Store

	link link
}

func newCluster(p config.Profile, prompt secret.Prompter, c clock.Clock) *cluster {
	return &cluster{profile: p, prompt: prompt, clock: c, connecting: make(chan struct{}, 1), link: link{clock: c}}
}

// configured reports whether there is anything to connect to.
func (c *cluster) configured() bool { return len(c.profile.Kafka.Brokers) > 0 }

// connection is the cluster's state as the console's header shows it.
func (c *cluster) connection() tui.Connection {
	if !c.configured() {
		return tui.Connection{Name: "kafka", State: "not configured"}
	}
	return c.link.now().state.header("kafka")
}

func (c *cluster) open(ctx context.Context) (*kafka.Store, error) {
	select {
	case c.connecting <- struct{}{}:
		defer func() { <-c.connecting }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if c.store != nil {
		return c.store, nil
	}
	before := c.link.now()
	c.link.trying()
	conn, err := kafkaconn.Open(ctx, connConfig(c.profile.Kafka, c.prompt))
	switch {
	case err != nil && ctx.Err() != nil: // whoever asked stopped waiting: nobody knows
		c.link.back(before)
		return nil, err
	case err != nil:
		c.link.failed(err)
		return nil, err
	}
	c.link.up()
	c.conn, c.store = conn, kafka.New(conn, c.clock)
	return c.store, nil
}

func (c *cluster) close() {
	c.connecting <- struct{}{}
	defer func() { <-c.connecting }()
	if c.conn != nil {
		c.conn.Close()
		c.conn, c.store = nil, nil
	}
}

// DataTopic implements inspect.LogStore.
func (c *cluster) DataTopic(ctx context.Context, name string) (inspect.DataTopic, error) {
	return askCluster(ctx, c, inspect.DataTopic{Name: name}, func(s *kafka.Store) (inspect.DataTopic, error) { return s.DataTopic(ctx, name) })
}

// ControlTopic implements inspect.LogStore.
func (c *cluster) ControlTopic(ctx context.Context, name string) (inspect.ControlTopic, error) {
	return askCluster(ctx, c, inspect.ControlTopic{Name: name}, func(s *kafka.Store) (inspect.ControlTopic, error) { return s.ControlTopic(ctx, name) })
}

// ReadWindow implements inspect.WindowReader.
func (c *cluster) ReadWindow(ctx context.Context, topic inspect.DataTopic, windows []inspect.Window,
	visit func(partition int32, offset int64, key, value []byte), progress func(inspect.WindowProgress)) error {
	_, err := askCluster(ctx, c, struct{}{}, func(s *kafka.Store) (none struct{}, err error) {
		return none, s.ReadWindow(ctx, topic, windows, visit, progress)
	})
	return err
}

// connConfig turns a profile's kafka section into that of the connection, which
// takes its secrets when it logs in.
func connConfig(k config.Kafka, prompt secret.Prompter) kafkaconn.Config {
	cfg := kafkaconn.Config{Brokers: k.Brokers, DialTimeout: k.Timeouts.Dial, RequestTimeout: k.Timeouts.Request}
	if k.TLS != nil {
		cfg.TLS = &kafkaconn.TLS{CAFile: k.TLS.CAFile, CertFile: k.TLS.CertFile, KeyFile: k.TLS.KeyFile, ServerName: k.TLS.ServerName}
	}
	if k.SASL != nil {
		cfg.SASL = &kafkaconn.SASL{
			Mechanism: k.SASL.Mechanism, Username: k.SASL.Username,
			Secrets: kafkaconn.SecretsFrom(k.SASL.Password, k.SASL.SessionToken, prompt),
		}
	}
	return cfg
}

// safe makes a text from outside printable on one line.
func safe(s string) string { return safetext.Of(s).String() }
