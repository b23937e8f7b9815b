package main

import (
	"context"
	"math"
	"slices"

	"github.com/spf13/cobra"

	"github.com/recoverctl/recoverctl/config"
	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/inspect/fluss"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/flussrpc"
)

// newInspectFluss holds the commands on a Fluss cluster.
func newInspectFluss(a *app) *cobra.Command {
	return group("fluss", "Read a Fluss cluster, its tables and what it keeps for producers; nothing is changed",
		newFlussClusterShow(a), newFlussTables(a), newFlussTable(a), newFlussBuckets(a), newFlussRecords(a), newFlussProducers(a), newFlussProducer(a))
}

// withFluss opens the Fluss cluster of the chosen job.
func (a *app) withFluss(check func() error, do func(*fluss.Store, config.Job) error) error {
	if err := a.load(); err != nil {
		return err
	}
	if err := check(); err != nil {
		return err
	}
	job, err := a.selection.RequireJob()
	if err != nil {
		return err
	}
	stores := newObjectStores(a.selection.Profile, terminalPrompt{}, a.loaded.Timeout, a.clock)
	defer stores.close()
	at, err := a.openFluss(a.selection.Profile, job.Fluss, stores, terminalPrompt{})
	if err != nil {
		return err
	}
	defer at.close()
	return do(at.store, job)
}

func nothingToCheck() error { return nil }

// flussTable is the table that a command is about: its argument, else the job's.
func flussTable(args []string, job config.Job) (flussrpc.TablePath, error) {
	name := job.Fluss.Table
	if len(args) > 0 {
		name = args[0]
	}
	if name == "" {
		return flussrpc.TablePath{}, fault.New(fault.Usage, "choose a table", "no table is named").
			WithHint("give --table DATABASE.TABLE or set fluss.table of the job in the profile; recoverctl inspect fluss tables lists them")
	}
	return flussrpc.ParseTablePath(name)
}

func atMostOne(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > 1 {
			return exactArgs("at most one "+what)(cmd, args)
		}
		return nil
	}
}

func severities(findings []inspect.Finding) []inspect.Severity {
	out := make([]inspect.Severity, 0, len(findings))
	for _, f := range findings {
		out = append(out, f.Severity)
	}
	return out
}

func newFlussClusterShow(a *app) *cobra.Command {
	var limit failOn
	cmd := &cobra.Command{
		Use: "cluster", Short: "Show the servers, tables without leaders, and settings that endanger recovery", Args: noArgs,
		Long: `Asks the cluster who is in it, connects to every server that is named, and looks
at tables and settings. What a server says of others may be old: without its
coordinator a tablet server goes on naming dead servers as live. With fluss.zookeeper
of the job, who has a session in ZooKeeper is compared with that. Settings that may be
secrets are never shown, though the cluster tells them.

Exit codes: 0 nothing at or above --fail-on was found, 1 something was,
4 nothing could be reached, 5 refused.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withFluss(limit.check, func(s *fluss.Store, _ config.Job) error {
				c, faults, err := s.Cluster(cmd.Context())
				if err != nil {
					return err
				}
				if err := a.printer().result("FlussCluster", c, faults, func(t *table) { renderFlussCluster(t, c) }); err != nil {
					return err
				}
				return limit.status(severities(c.Findings)...)
			})
		},
	}
	limit.register(cmd)
	return cmd
}

func newFlussTables(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "tables [DATABASE]", Short: "List the tables that this user may see", Args: atMostOne("database"),
		Long: `Lists tables with their ids, buckets and how long their rows stay. A table that
this user may not see looks as if it were not there.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withFluss(nothingToCheck, func(s *fluss.Store, _ config.Job) error {
				database := ""
				if len(args) > 0 {
					database = args[0]
				}
				list, faults, err := s.List(cmd.Context(), database)
				if err != nil {
					return err
				}
				return a.printer().result("FlussTables", list, faults, func(t *table) { renderFlussTables(t, list, a.clock.Now()) })
			})
		},
	}
}

func newFlussTable(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "table [NAME]", Short: "Show one table: columns, keys, settings, partitions", Args: atMostOne("table"),
		Long: `Shows the table that is named as database.table, else the job's. Its id says
whether it still is the table that a recovery point was taken with: one that was
dropped and made again has another.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withFluss(nothingToCheck, func(s *fluss.Store, job config.Job) error {
				path, err := flussTable(args, job)
				if err != nil {
					return err
				}
				info, faults, err := s.Table(cmd.Context(), path)
				if err != nil {
					return err
				}
				return a.printer().result("FlussTable", info, faults, func(t *table) { renderFlussTable(t, info, a.clock.Now()) })
			})
		},
	}
}

// partitionFlag is the flag of commands on one partition of a table.
func partitionFlag(cmd *cobra.Command, partition *int64) {
	cmd.Flags().Int64Var(partition, "partition", flussrpc.NoPartition, "of a table with partitions, the one with this `ID`")
}

func newFlussBuckets(a *app) *cobra.Command {
	var limit failOn
	var point string
	partition := flussrpc.NoPartition
	cmd := &cobra.Command{
		Use: "buckets [TABLE]", Short: "Show the buckets of a table: leaders, replicas, where they begin and end", Args: atMostOne("table"),
		Long: `Shows each bucket of a table: who leads it, what each replica has, where its log
begins (remote storage included), where that of the leader's own disk does, where it
ends, and how old its rows are. With --point also where a restore from a recovery
point would begin to read, and how long the row there is still sure to stay: it
expires with its segment, once that is older than table.log.ttl. With fluss.zookeeper
of the job also which servers have all of a bucket, and who leads it by ZooKeeper:
neither is exposed by a call of Fluss.

Exit codes: 0 nothing at or above --fail-on was found, 1 something was,
4 nothing could be reached, 6 no such table.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withFluss(limit.check, func(s *fluss.Store, job config.Job) error {
				path, err := flussTable(args, job)
				if err != nil {
					return err
				}
				marker, err := a.flussMarker(cmd.Context(), job, path, point)
				if err != nil {
					return err
				}
				b, faults, err := s.Buckets(cmd.Context(), path, partition, point, marker)
				if err != nil {
					return err
				}
				if err := a.printer().result("FlussBuckets", b, faults, func(t *table) { renderFlussBuckets(t, b, a.clock.Now()) }); err != nil {
					return err
				}
				return limit.status(severities(b.Findings)...)
			})
		},
	}
	limit.register(cmd)
	partitionFlag(cmd, &partition)
	cmd.Flags().StringVar(&point, "point", "", "compare with the marker of the recovery point at this `URI`")
	return cmd
}

// flussMarker is where a restore from a point would begin to read a table; nil
// where no point is named.
func (a *app) flussMarker(ctx context.Context, j config.Job, path flussrpc.TablePath, point string) (inspect.Offsets, error) {
	if point == "" {
		return nil, nil
	}
	in, systems, err := a.inspector(a.selection.Profile, terminalPrompt{})
	if err != nil {
		return nil, err
	}
	defer systems.close()
	job := jobOf(a.selection.Profile.Name, j)
	if job.Store != inspect.StoreFluss || job.Topic != path.String() {
		return nil, fault.New(fault.Usage, "read flags", "--point compares with the job's own table, and %s is not that of a job with action state in Fluss", safe(path.String())).
			WithHint("give --table, or set action-state: {store: fluss} and fluss.table of the job in the profile")
	}
	return in.Marker(ctx, job, point)
}

func newFlussRecords(a *app) *cobra.Command {
	q := fluss.RowQuestion{From: -1, To: -1, Partition: flussrpc.NoPartition}
	var buckets []int
	cmd := &cobra.Command{
		Use: "records [TABLE]", Short: "Show rows of a table as they lie in its buckets", Args: atMostOne("table"),
		Long: `Shows rows bucket by bucket in the order of their offsets, to the log ends as they
are when it begins. Rows that were moved to remote storage are read from there.
As text 100 rows of each bucket are shown, unless --limit says how many. As JSON it
is one object a line.

Exit codes: 0 done, 6 no such table or bucket, 8 not all could be read.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			check := func() error { return checkRows(&q, buckets, cmd, a.wantsJSON()) }
			return a.withFluss(check, func(s *fluss.Store, job config.Job) error {
				var err error
				if q.Path, err = flussTable(args, job); err != nil {
					return err
				}
				return a.flussRecords(cmd.Context(), s, q)
			})
		},
	}
	f := cmd.Flags()
	partitionFlag(cmd, &q.Partition)
	f.IntSliceVar(&buckets, "bucket", nil, "only of the bucket with this `NUMBER` (repeatable, or with commas)")
	f.Int64Var(&q.From, "from", -1, "begin at this `OFFSET`")
	f.Int64Var(&q.To, "to", -1, "end before this `OFFSET`")
	f.Int64Var(&q.Last, "last", 0, "only the last `NUMBER` of rows of each bucket")
	f.Int64Var(&q.Limit, "limit", 0, "at most this `NUMBER` of rows of each bucket")
	return cmd
}

func checkRows(q *fluss.RowQuestion, buckets []int, cmd *cobra.Command, asJSON bool) error {
	usage := func(format string, args ...any) error { return fault.New(fault.Usage, "read flags", format, args...) }
	given := cmd.Flags().Changed
	switch {
	case given("from") && q.From < 0, given("to") && q.To < 0:
		return usage("offsets begin at 0")
	case given("from") && given("last"):
		return usage("--from and --last: only one of them can say where to begin")
	case given("last") && q.Last < 1, given("limit") && q.Limit < 1:
		return usage("--last and --limit take a number from 1 on")
	}
	for _, b := range buckets {
		if b < 0 || b > math.MaxInt32 {
			return usage("--bucket %d is no number of a bucket", b)
		}
		q.Buckets = append(q.Buckets, int32(b))
	}
	if q.Limit == 0 && !asJSON {
		q.Limit = max(recordsShown, q.Last)
	}
	return nil
}

// flussRecords shows rows as they come.
func (a *app) flussRecords(ctx context.Context, s *fluss.Store, q fluss.RowQuestion) error {
	shown := 0
	err := s.Rows(ctx, q, func(r fluss.Row) error {
		shown++
		if a.wantsJSON() {
			return writeLine(a.out, r)
		}
		t := newTable(a.out, a.width)
		renderFlussRow(t, r)
		if err := t.flush(); err != nil {
			return notWritten(err)
		}
		return nil
	})
	if err == nil || shown == 0 || fault.KindOf(err) == fault.Cancelled {
		return err
	}
	for _, one := range fault.All(err) {
		a.printer().complain("not everything could be read", one)
	}
	return exitStatus(fault.Partial.Exit())
}

func newFlussProducers(a *app) *cobra.Command {
	var limit failOn
	cmd := &cobra.Command{
		Use: "producers [ID...]", Short: "List what is kept for producers, and whether each can be restarted",
		Long: `Shows the entries of the producers that are named. Without any, all are shown that
have a node in ZooKeeper, where fluss.zookeeper of the job says where that is: no
call of Fluss lists producers. Otherwise those are shown that have a folder in the
cluster's remote storage, where that can be read from here; an id whose files were
lost has no folder.

Exit codes: 0 nothing at or above --fail-on was found, 1 something was,
4 nothing could be reached, 6 there is nowhere to list them from.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withFluss(limit.check, func(s *fluss.Store, _ config.Job) error {
				ids, of := slices.Clone(args), listNamed
				var unlisted []error
				if len(ids) == 0 {
					listed, faults, err := s.ListProducers(cmd.Context())
					if err != nil {
						return err
					}
					ids, of, unlisted = listed.IDs, listFolders, faults
					if listed.Nodes {
						of = listZooKeeper
					}
				}
				list, faults := s.Producers(cmd.Context(), ids)
				if len(list) == 1 && len(faults) == 1 && !list[0].Found {
					return faults[0]
				}
				data := struct {
					Listed    producerList     `json:"listed"` // what the list is of
					Producers []fluss.Producer `json:"producers"`
				}{of, list}
				if err := a.printer().result("FlussProducers", data, append(unlisted, faults...), func(t *table) { renderFlussProducers(t, list, of, a.clock.Now()) }); err != nil {
					return err
				}
				var all []inspect.Severity
				for _, p := range list {
					all = append(all, severities(p.Findings)...)
				}
				return limit.status(all...)
			})
		},
	}
	limit.register(cmd)
	return cmd
}

func newFlussProducer(a *app) *cobra.Command {
	var limit failOn
	cmd := &cobra.Command{
		Use: "producer ID", Short: "Show what is kept for one producer, and whether its sink can be restarted", Args: exactArgs("one producer id"),
		Long: `Shows the offsets that the coordinator keeps for a producer beside where the logs
begin and end now: how many rows a restart undoes, what of them is gone, and when the
entry expires. The id is the sink's option sink.producer-id, or else the Flink job id.

The verdict is safe, not-safe, or unknown where something that decides could not be
asked. It is about the entry; a job that is restored from a checkpoint takes its
baseline from there.

Exit codes: 0 nothing at or above --fail-on was found, 1 something was,
2 the id is none, 4 the coordinator can't be reached, 5 refused.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withFluss(limit.check, func(s *fluss.Store, _ config.Job) error {
				p, faults, err := s.Producer(cmd.Context(), args[0])
				if err != nil {
					return err
				}
				if err := a.printer().result("FlussProducer", p, faults, func(t *table) { renderFlussProducer(t, p, a.clock.Now()) }); err != nil {
					return err
				}
				return limit.status(severities(p.Findings)...)
			})
		},
	}
	limit.register(cmd)
	return cmd
}
