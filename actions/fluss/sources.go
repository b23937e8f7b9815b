package fluss

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/inspect/fluss"
	"github.com/recoverctl/recoverctl/internal/clock"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/flussrpc"
)

// Connect makes a fresh client of the cluster, which the caller closes. Nothing is
// connected to before something is asked.
type Connect func() (*flussrpc.Client, error)

// Sources is where the evidence for plans about a producer is read.
type Sources struct {
	Connect Connect
	Job     inspect.Job
	Live    inspect.LiveStore // the job's Flink; nil: none is configured
	Clock   clock.Clock
}

// reading is a fresh connection to the cluster. It is only asked, until a step
// writes over it.
type reading struct {
	Sources
	client *flussrpc.Client
	store  *fluss.Store
}

func (s Sources) open() (*reading, error) {
	client, err := s.Connect()
	if err != nil {
		return nil, err
	}
	return &reading{Sources: s, client: client, store: fluss.New(client, s.Clock, nil)}, nil
}

func (r *reading) close() { r.client.Close() }

// Look reads what a plan about a producer is made from. Offsets are those that a
// plan would register; nil: it deletes.
func (s Sources) Look(ctx context.Context, id string, offsets []actions.ProducerLog) actions.FlussEvidence {
	r, err := s.open()
	if err != nil {
		return actions.FlussEvidence{Job: s.Job, At: s.Clock.Now(), Err: err}
	}
	defer r.close()
	return r.look(ctx, id, offsets, true)
}

// Gather reads what a plan is judged by, from a fresh connection.
func (s Sources) Gather(ctx context.Context, plan actions.Document) actions.FlussEvidence {
	p := actions.ProducerPlanOf(plan)
	return s.Look(ctx, p.ID, registered(p))
}

// registered are the offsets that a plan registers; nil: it deletes.
func registered(p actions.ProducerPlan) []actions.ProducerLog {
	if p.Kind == actions.KindProducerDelete {
		return nil
	}
	return p.Logs
}

// look reads evidence. Sinks says whether Flink is asked, too.
func (r *reading) look(ctx context.Context, id string, offsets []actions.ProducerLog, sinks bool) actions.FlussEvidence {
	e := actions.FlussEvidence{Job: r.Job, At: r.Clock.Now()}
	if e.Cluster, e.Err = r.coordinator(ctx); e.Err != nil {
		return e
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		var faults []error
		e.Entry, faults, e.Err = r.store.Producer(ctx, id)
		e.EntryErr = errors.Join(faults...)
	})
	if offsets != nil {
		wg.Go(func() {
			supposed, err := r.store.Supposed(ctx, flussrpc.ProducerOffsets{Producer: id, Expires: e.At.Add(actions.MaxProducerTTL), Offsets: flat(offsets)})
			e.Supposed, e.SupposedErr = &supposed, err
		})
	}
	if sinks {
		wg.Go(func() { e.Sinks, e.SinksErr = r.sinks(ctx, id) })
	}
	wg.Wait()
	return e
}

// coordinator is the coordinator's address, once that itself has said who it is: a
// tablet server goes on naming one that is dead.
func (r *reading) coordinator(ctx context.Context) (string, error) {
	told, err := r.client.Cluster(ctx)
	switch {
	case err != nil:
		return "", err
	case told.Coordinator == nil:
		return "", fault.New(fault.Unreachable, "ask the coordinator", "no server names a coordinator, and only a coordinator keeps the offsets of producers").
			WithHint("start the coordinator")
	}
	keeps, err := r.client.KeepsProducers(ctx)
	switch {
	case err != nil:
		return "", err
	case !keeps:
		return "", fault.New(fault.Unsupported, "ask the coordinator", "the coordinator %s keeps no offsets of producers: it is of an older release", told.Coordinator.Address)
	}
	return told.Coordinator.Address, nil
}

// flat are logs as the wire has them.
func flat(logs []actions.ProducerLog) []flussrpc.ProducerOffset {
	var out []flussrpc.ProducerOffset
	for _, l := range logs {
		for _, b := range l.Buckets {
			o := flussrpc.ProducerOffset{Log: flussrpc.Log{Table: l.Table, Partition: l.Partition}, Bucket: b.Bucket, Absent: b.Offset == nil}
			if b.Offset != nil {
				o.Offset = *b.Offset
			}
			out = append(out, o)
		}
	}
	return out
}

var flinkJobID = regexp.MustCompile(`^[0-9a-f]{32}$`)

// sinks are the jobs that may be the producer's sink: the configured one, and one
// whose id is the producer's, which is what a sink is called without the option
// sink.producer-id.
func (r *reading) sinks(ctx context.Context, id string) ([]inspect.LiveState, error) {
	if r.Live == nil || r.Job.Flink.REST == "" {
		return nil, fault.New(fault.Config, "ask Flink", "no JobManager is configured, so nobody was asked").
			WithHint("set flink.rest of the job in the profile, or give --flink-rest")
	}
	refs := []inspect.JobRef{r.Job.Flink}
	if flinkJobID.MatchString(id) && r.Job.Flink.ID != id {
		refs = append(refs, inspect.JobRef{REST: r.Job.Flink.REST, ID: id})
	}
	var out []inspect.LiveState
	for _, ref := range refs {
		state, err := r.Live.Live(ctx, ref)
		switch {
		case state.JobID != "":
			if !slices.ContainsFunc(out, func(s inspect.LiveState) bool { return s.JobID == state.JobID }) {
				out = append(out, state)
			}
		case err != nil && fault.KindOf(err) != fault.NotFound:
			return out, err
		}
	}
	return out, nil
}

// Latest are the log ends of a table as they are now: of every bucket, of every
// partition. The error is of a table, or of a bucket of it, that was not read: half
// of the log ends are none.
func (s Sources) Latest(ctx context.Context, path flussrpc.TablePath) ([]actions.ProducerLog, error) {
	r, err := s.open()
	if err != nil {
		return nil, err
	}
	defer r.close()
	table, err := r.client.Table(ctx, path)
	if err != nil {
		return nil, err
	}
	partitions := []flussrpc.Partition{{ID: flussrpc.NoPartition}}
	if len(table.PartitionKey) > 0 {
		if partitions, err = r.client.Partitions(ctx, path); err != nil {
			return nil, err
		}
		if len(partitions) == 0 {
			return nil, fault.New(fault.NotFound, "read log ends", "table %s has no partitions yet: there are no log ends", path)
		}
	}
	buckets := make([]int32, table.Buckets)
	for i := range buckets {
		buckets[i] = int32(i)
	}
	var out []actions.ProducerLog
	for _, p := range partitions {
		log := actions.ProducerLog{Table: table.ID, Partition: p.ID, Name: path.String()}
		if p.ID != flussrpc.NoPartition {
			log.Name += " partition " + p.Name
		}
		for i, o := range r.client.Offsets(ctx, table, p.ID, buckets, flussrpc.Latest) {
			if o.Err != nil {
				return nil, o.Err
			}
			log.Buckets = append(log.Buckets, actions.BucketBaseline{Bucket: buckets[i], Offset: &o.Offset})
		}
		out = append(out, log)
	}
	return out, nil
}

// Resolve gives the tables of an offsets file their ids and names. A table that is
// named must be there, and have the id that the file says, if it says one; one of
// which only the id is known gets its name where it is there.
func (s Sources) Resolve(ctx context.Context, file []FileLog) ([]actions.ProducerLog, error) {
	r, err := s.open()
	if err != nil {
		return nil, err
	}
	defer r.close()
	var out []actions.ProducerLog
	for _, l := range file {
		log, err := r.resolve(ctx, l)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(out, func(o actions.ProducerLog) bool { return o.Table == log.Table && o.Partition == log.Partition }) {
			return nil, fault.New(fault.Corrupt, "read the offsets file", "two parts of the file are about table %d and the same partition", log.Table)
		}
		out = append(out, log)
	}
	return out, nil
}

func (r *reading) resolve(ctx context.Context, l FileLog) (actions.ProducerLog, error) {
	log := actions.ProducerLog{Partition: flussrpc.NoPartition, Buckets: l.Buckets}
	if l.Partition != nil {
		log.Partition = *l.Partition
	}
	if l.Table == "" {
		log.Table = *l.ID // the file's reader wants one of the two
		return log, nil
	}
	path, err := flussrpc.ParseTablePath(l.Table)
	if err != nil {
		return log, err
	}
	table, err := r.client.Table(ctx, path)
	if err != nil {
		return log, err
	}
	log.Table, log.Name = table.ID, l.Table
	if l.ID != nil && *l.ID != table.ID {
		return log, fault.New(fault.Drift, "read the offsets file", "table %s has the id %d, and the file's offsets are of the one with the id %d: it was dropped and made again", show(l.Table), table.ID, *l.ID).
			WithHint("its offsets mean nothing in the table that is there now").WithRef("table " + show(l.Table))
	}
	if (len(table.PartitionKey) > 0) != (l.Partition != nil) {
		return log, fault.New(fault.Corrupt, "read the offsets file", "the file's offsets of table %s %s a partition, and the table %s", show(l.Table),
			map[bool]string{true: "name", false: "do not name"}[l.Partition != nil], map[bool]string{true: "has some", false: "has none"}[len(table.PartitionKey) > 0])
	}
	if l.Partition == nil {
		return log, nil
	}
	partitions, err := r.client.Partitions(ctx, path)
	if err != nil {
		return log, err
	}
	if i := slices.IndexFunc(partitions, func(p flussrpc.Partition) bool { return p.ID == *l.Partition }); i >= 0 {
		log.Name += " partition " + strings.TrimSpace(partitions[i].Name)
	}
	return log, nil
}
