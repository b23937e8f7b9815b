package main

import (
	"context"
	"sync"
	"time"

	"github.com/recoverctl/recoverctl/config"
	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/inspect/flink"
	"github.com/recoverctl/recoverctl/inspect/fluss"
	"github.com/recoverctl/recoverctl/internal/clock"
	"github.com/recoverctl/recoverctl/internal/flussrpc"
	"github.com/recoverctl/recoverctl/internal/secret"
	"github.com/recoverctl/recoverctl/internal/zkread"
)

// flussCluster is the Fluss cluster of one job. Nothing is connected to before
// something is read.
type flussCluster struct {
	client *flussrpc.Client
	nodes  *zkread.Client // nil: ZooKeeper is not configured
	store  *fluss.Store
}

// openFluss makes the client of a job's Fluss cluster.
func (a *app) openFluss(p config.Profile, f config.Fluss, stores *objectStores, prompt secret.Prompter) (*flussCluster, error) {
	return newFlussCluster(p, f, stores, prompt, a.loaded.Timeout, a.clock)
}

// newFlussClient makes a client of a cluster. Nothing is connected to.
func newFlussClient(f config.Fluss, prompt secret.Prompter, timeout time.Duration) (*flussrpc.Client, error) {
	conf := flussrpc.Config{Servers: f.Servers, Timeout: timeout}
	if f.Username != "" {
		conf.Login = func(ctx context.Context) (flussrpc.Login, error) {
			password, err := f.Password.Resolve(ctx, prompt)
			return flussrpc.Login{Username: f.Username, Password: password}, err
		}
	}
	return flussrpc.NewClient(conf)
}

func newFlussCluster(p config.Profile, f config.Fluss, stores *objectStores, prompt secret.Prompter, timeout time.Duration, c clock.Clock) (*flussCluster, error) {
	client, err := newFlussClient(f, prompt, timeout)
	if err != nil {
		return nil, err
	}
	files := fluss.Remote{Mappings: mappingsOf(p), Systems: map[string]flink.FileSystem{flink.SchemeS3: stores.system()}}
	out := &flussCluster{client: client, store: fluss.New(client, c, files)}
	if z := f.ZooKeeper; len(z.Servers) > 0 {
		if out.nodes, err = newZooKeeper(z, timeout); err != nil {
			client.Close()
			return nil, err
		}
		out.store = out.store.WithNodes(out.nodes, z.Path)
	}
	return out, nil
}

// newZooKeeper makes a client of the ensemble that keeps a cluster's nodes. Nothing
// is connected to.
func newZooKeeper(z config.ZooKeeper, timeout time.Duration) (*zkread.Client, error) {
	conf := zkread.Config{Servers: z.Servers, Timeout: timeout}
	if z.TLS != nil {
		var err error
		if conf.TLS, err = tlsOf("fluss.zookeeper.tls", *z.TLS); err != nil {
			return nil, err
		}
	}
	return zkread.NewClient(conf)
}

func (f *flussCluster) close() {
	f.client.Close()
	if f.nodes != nil {
		f.nodes.Close()
	}
}

// logs are the logs of a profile's jobs: topics of its brokers, and tables of the
// Fluss clusters of those jobs that keep their action state there.
type logs struct {
	*cluster
	tables map[string]*lazyFluss // by the table's name
}

// lazyFluss makes a cluster's client when it is first asked.
type lazyFluss struct {
	link link
	mu   sync.Mutex
	open func() (*flussCluster, error)
	at   *flussCluster
}

func (l *lazyFluss) store() (*fluss.Store, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.at == nil {
		at, err := l.open()
		if err != nil {
			return nil, err
		}
		l.at = at
	}
	return l.at.store, nil
}

func (l *lazyFluss) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.at != nil {
		l.at.close()
		l.at = nil
	}
}

// keptInFluss reports whether a job's action state lies in a Fluss table.
func keptInFluss(j config.Job) bool {
	return j.ActionState.Store == string(inspect.StoreFluss) && j.Fluss.Table != ""
}

// logsOf are the logs of a profile; nil tables where none of its jobs uses Fluss.
func (a *app) logsOf(p config.Profile, to *cluster, stores *objectStores, prompt secret.Prompter) logs {
	out := logs{cluster: to, tables: map[string]*lazyFluss{}}
	jobs := p.Jobs
	if j := a.selection.Job; j != nil {
		jobs = append([]config.Job{*j}, jobs...)
	}
	for _, j := range jobs {
		if _, known := out.tables[j.Fluss.Table]; keptInFluss(j) && !known {
			out.tables[j.Fluss.Table] = &lazyFluss{link: link{clock: a.clock}, open: func() (*flussCluster, error) { return a.openFluss(p, j.Fluss, stores, prompt) }}
		}
	}
	return out
}

func (l logs) close() {
	l.cluster.close()
	for _, t := range l.tables {
		t.close()
	}
}

// DataTopic implements inspect.LogStore.
func (l logs) DataTopic(ctx context.Context, name string) (inspect.DataTopic, error) {
	t := l.tables[name]
	if t == nil {
		return l.cluster.DataTopic(ctx, name)
	}
	store, err := t.store()
	if err != nil {
		return inspect.DataTopic{Name: name}, err
	}
	answered := t.asking(ctx)
	topic, err := store.DataTopic(ctx, name)
	answered(err)
	return topic, err
}

// ReadCalls implements inspect.CallReader.
func (l logs) ReadCalls(ctx context.Context, topic inspect.DataTopic, q inspect.CallQuestion, watch func(inspect.CallUpdate)) (inspect.DurableCalls, error) {
	t := l.tables[topic.Name]
	if t == nil {
		return l.cluster.ReadCalls(ctx, topic, q, watch)
	}
	store, err := t.store()
	if err != nil {
		return inspect.DurableCalls{}, err
	}
	return store.ReadCalls(ctx, topic, q, watch)
}

// ReadWindow implements inspect.WindowReader.
func (l logs) ReadWindow(ctx context.Context, topic inspect.DataTopic, windows []inspect.Window,
	visit func(partition int32, offset int64, key, value []byte), progress func(inspect.WindowProgress)) error {
	t := l.tables[topic.Name]
	if t == nil {
		return l.cluster.ReadWindow(ctx, topic, windows, visit, progress)
	}
	store, err := t.store()
	if err != nil {
		return err
	}
	return store.ReadWindow(ctx, topic, windows, visit, progress)
}

// ReadRecords implements inspect.RecordReader.
func (l logs) ReadRecords(ctx context.Context, topic inspect.DataTopic, q inspect.RecordQuestion) (inspect.RecordPage, error) {
	t := l.tables[topic.Name]
	if t == nil {
		return l.cluster.ReadRecords(ctx, topic, q)
	}
	store, err := t.store()
	if err != nil {
		return inspect.RecordPage{}, err
	}
	return store.ReadRecords(ctx, topic, q)
}

// OffsetsAt implements inspect.RecordReader.
func (l logs) OffsetsAt(ctx context.Context, topic inspect.DataTopic, at time.Time) (inspect.Offsets, error) {
	t := l.tables[topic.Name]
	if t == nil {
		return l.cluster.OffsetsAt(ctx, topic, at)
	}
	store, err := t.store()
	if err != nil {
		return nil, err
	}
	return store.OffsetsAt(ctx, topic, at)
}
