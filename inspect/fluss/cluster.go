package fluss

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/figures"
	"github.com/recoverctl/recoverctl/internal/flussrpc"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

// Server is one server of the cluster, as others name it and as it was found.
type Server struct {
	ID      int32  `json:"id"`
	Kind    string `json:"kind"` // coordinator or tablet server
	Address string `json:"address"`
	Rack    string `json:"rack"`
	Named   bool   `json:"named"` // by the server whose word the list is; one that is not was not asked
	Reached bool   `json:"reached"`
	Problem string `json:"problem"` // why it was not reached

	// What ZooKeeper says of it. Null: that was not read.
	Registered *bool      `json:"registered"` // it has a session
	Since      *time.Time `json:"since"`      // when it registered, by its own clock; of tablet servers
}

// Setting is a setting of the cluster. A hidden one may be a secret: its value is
// "***".
type Setting struct {
	Key    string `json:"key"`
	Value  string `json:"value"`
	Source string `json:"source"`
	Hidden bool   `json:"hidden"`
}

// Cluster is what a cluster looks like now. Settings are null where they could not
// be read.
type Cluster struct {
	Told        string            `json:"told"` // the server whose word the list of servers is
	Coordinator *Server           `json:"coordinator"`
	Tablets     []Server          `json:"tablets"`
	Databases   []string          `json:"databases"`
	Tables      int               `json:"tables"`
	Leaderless  []Leaderless      `json:"leaderless"`
	Settings    []Setting         `json:"settings"`
	ZooKeeper   *ZooKeeper        `json:"zookeeper"` // null: it was not read
	Findings    []inspect.Finding `json:"findings"`
}

// ZooKeeper is what a cluster's nodes say of it as a whole.
type ZooKeeper struct {
	Quorum      bool `json:"quorum"`      // false: the server that was asked has lost its ensemble, and what it says may be old
	Coordinator bool `json:"coordinator"` // one is registered
}

// Leaderless is a table with buckets that nobody leads.
type Leaderless struct {
	Table   string    `json:"table"`
	ID      int64     `json:"id"`
	Created time.Time `json:"created"`
	Buckets []int32   `json:"buckets"`
}

// askAtOnce is how many questions are under way at the same time.
const askAtOnce = 8

// each runs work for every element, some at the same time.
func each[T any](list []T, work func(int, T)) {
	var wg sync.WaitGroup
	turn := make(chan struct{}, askAtOnce)
	for i, v := range list {
		turn <- struct{}{}
		wg.Go(func() {
			defer func() { <-turn }()
			work(i, v)
		})
	}
	wg.Wait()
}

// Cluster asks who is there, connects to everybody who is named, and looks at what
// the cluster's settings and tables mean for recovery. The error is of a cluster of
// which nothing could be said; what else could not be read is in faults.
func (s *Store) Cluster(ctx context.Context) (out Cluster, faults []error, err error) {
	told, err := s.client.Cluster(ctx)
	if err != nil {
		return out, nil, err
	}
	out = Cluster{Told: told.Told.Kind.String() + " " + told.Told.Address, Tablets: []Server{}, Databases: []string{}, Leaderless: []Leaderless{}}
	servers := told.Tablets
	if told.Coordinator != nil {
		servers = append([]flussrpc.Server{*told.Coordinator}, servers...)
	}
	found := make([]Server, len(servers))
	var wg sync.WaitGroup
	wg.Go(func() {
		each(servers, func(i int, at flussrpc.Server) {
			found[i] = Server{ID: at.ID, Kind: at.Kind.String(), Address: at.Address, Rack: at.Rack, Named: true}
			if _, err := s.client.Reach(ctx, at); err != nil {
				found[i].Problem = safetext.Error(err).String()
			} else {
				found[i].Reached = true
			}
		})
	})
	var settingsErr, tablesErr, nodesErr error
	var sessions registered
	var tables []tableAt
	wg.Go(func() { out.Settings, settingsErr = s.settings(ctx) })
	wg.Go(func() { out.Databases, tables, tablesErr = s.allTables(ctx) })
	if s.nodes != nil {
		wg.Go(func() { sessions, nodesErr = s.registeredServers(ctx) })
	}
	wg.Wait()
	if told.Coordinator != nil {
		out.Coordinator = &found[0]
		found = found[1:]
	}
	out.Tablets = append(out.Tablets, found...)
	out.Tables = len(tables)
	for _, t := range tables {
		if t.err != nil {
			faults = append(faults, t.err)
		} else if len(t.leaderless) > 0 {
			out.Leaderless = append(out.Leaderless, Leaderless{Table: t.table.Path.String(), ID: t.table.ID, Created: t.table.Created, Buckets: t.leaderless})
		}
	}
	if s.nodes != nil && nodesErr == nil {
		out.compare(sessions, s.nodes.WithoutQuorum())
	}
	out.Findings = s.clusterFindings(out, told)
	for _, err := range []error{settingsErr, tablesErr, nodesErr} {
		if err != nil {
			faults = append(faults, err)
		}
	}
	return out, faults, nil
}

// compare adds what ZooKeeper says of servers to what they say of each other.
func (c *Cluster) compare(sessions registered, alone bool) {
	c.ZooKeeper = &ZooKeeper{Quorum: !alone, Coordinator: sessions.coordinator != nil}
	if c.Coordinator != nil {
		c.Coordinator.Registered = &c.ZooKeeper.Coordinator
	}
	for i := range c.Tablets {
		t := &c.Tablets[i]
		node, ok := sessions.tablets[t.ID]
		t.Registered, t.Since = &ok, node.since()
		delete(sessions.tablets, t.ID)
	}
	yes := true
	for _, id := range slices.Sorted(maps.Keys(sessions.tablets)) {
		node := sessions.tablets[id]
		c.Tablets = append(c.Tablets, Server{ID: id, Kind: flussrpc.TabletServer.String(), Address: node.Listeners, Problem: "not asked: no server names it", Registered: &yes, Since: node.since()})
	}
}

func (s *Store) settings(ctx context.Context) ([]Setting, error) {
	list, err := s.client.Settings(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]Setting, 0, len(list))
	for _, x := range list {
		out = append(out, Setting{x.Key, x.Value, x.Source, x.Hidden})
	}
	return out, nil
}

// tableAt is a table with those of its buckets that nobody leads.
type tableAt struct {
	table      flussrpc.Table
	leaderless []int32
	err        error
}

// allTables describes every table that this user may see.
func (s *Store) allTables(ctx context.Context) (databases []string, out []tableAt, err error) {
	databases, err = s.client.Databases(ctx)
	if err != nil {
		return []string{}, nil, err
	}
	var paths []flussrpc.TablePath
	for _, db := range databases {
		names, err := s.client.Tables(ctx, db)
		if err != nil {
			return databases, nil, err
		}
		for _, n := range names {
			paths = append(paths, flussrpc.TablePath{Database: db, Table: n})
		}
	}
	out = make([]tableAt, len(paths))
	each(paths, func(i int, path flussrpc.TablePath) {
		t := &out[i]
		if t.table, t.err = s.client.Table(ctx, path); t.err != nil || len(t.table.PartitionKey) > 0 {
			return
		}
		var buckets []flussrpc.Bucket
		if buckets, t.err = s.buckets(ctx, t.table, flussrpc.NoPartition); t.err == nil {
			for _, b := range buckets {
				if b.Leader == flussrpc.NoLeader {
					t.leaderless = append(t.leaderless, b.ID)
				}
			}
		}
	})
	return databases, slices.DeleteFunc(out, func(t tableAt) bool { return t.err != nil && fault.KindOf(t.err) == fault.NotFound }), nil
}

// add collects findings.
type add func(severity inspect.Severity, rule string, refs []string, numbers inspect.Named, next, cause string, args ...any)

func collect(into *[]inspect.Finding) add {
	return func(severity inspect.Severity, rule string, refs []string, numbers inspect.Named, next, cause string, args ...any) {
		if refs == nil {
			refs = []string{}
		}
		if numbers == nil {
			numbers = inspect.Named{}
		}
		*into = append(*into, inspect.Finding{Severity: severity, Rule: rule, Refs: refs, Numbers: numbers, Cause: fmt.Sprintf(cause, args...), Next: next})
	}
}

func sorted(all []inspect.Finding) []inspect.Finding {
	rank := map[inspect.Severity]int{inspect.SeverityError: 0, inspect.SeverityWarning: 1, inspect.SeverityInfo: 2}
	slices.SortStableFunc(all, func(a, b inspect.Finding) int { return cmp.Compare(rank[a.Severity], rank[b.Severity]) })
	return all
}

func (s *Store) clusterFindings(c Cluster, told flussrpc.Cluster) []inspect.Finding {
	out := []inspect.Finding{}
	add := collect(&out)
	alive := true
	switch {
	case c.Coordinator == nil:
		add(inspect.SeverityError, "coordinator-missing", nil, nil, "start the coordinator", "no server names a coordinator: nobody elects leaders, keeps producer offsets or makes tables")
	case !c.Coordinator.Reached:
		add(inspect.SeverityError, "coordinator-unreachable", []string{"fluss " + c.Coordinator.Address}, nil,
			"start the coordinator; one that was killed is of use when its ZooKeeper session has ended (60 s by default)",
			"the coordinator %s can't be reached: logs can be read and written, but nobody elects leaders, keeps producer offsets or makes tables", safetext.Of(c.Coordinator.Address))
	}
	sessionFindings(c, add)
	for _, t := range c.Tablets {
		if t.Named && !t.Reached {
			alive = false
			add(inspect.SeverityError, "tablet-server-unreachable", []string{"fluss " + t.Address}, inspect.Named{"server": t.ID},
				"start it, or wait until its ZooKeeper session has ended and others lead its buckets (60 s by default)",
				"tablet server %d at %s is named as live and can't be reached: %s", t.ID, safetext.Of(t.Address), t.Problem)
		}
	}
	if !slices.ContainsFunc(c.Tablets, func(t Server) bool { return t.Named }) {
		add(inspect.SeverityError, "no-tablet-servers", nil, nil, "start the tablet servers; one that is starting is named when it is ready", "no tablet server is named: no log can be read")
	}
	if told.Told.Kind == flussrpc.TabletServer {
		add(inspect.SeverityWarning, "told-by-tablet-server", []string{"fluss " + told.Told.Address}, nil, "ask again when the coordinator is back",
			"the list of servers is a tablet server's word: without the coordinator it goes on naming dead servers as live, and as leaders")
	}
	s.leaderFindings(c, alive && c.Coordinator != nil && c.Coordinator.Reached, add)
	settingFindings(c.Settings, add)
	return sorted(out)
}

// sessionFindings are what ZooKeeper says otherwise than the servers do.
func sessionFindings(c Cluster, add add) {
	if c.ZooKeeper == nil {
		return
	}
	if !c.ZooKeeper.Quorum {
		add(inspect.SeverityWarning, "zookeeper-without-quorum", nil, nil, "start the other ZooKeeper servers; without a quorum Fluss's own servers take requests and never answer",
			"the ZooKeeper server that was asked has lost its ensemble: what it says of sessions and in-sync sets may be old")
	}
	if !c.ZooKeeper.Coordinator {
		add(inspect.SeverityError, "coordinator-not-registered", nil, nil, "start the coordinator; one that was started again too early registers when its old session has ended (60 s by default)",
			"no coordinator is registered in ZooKeeper: nobody elects leaders, keeps producer offsets or makes tables, whatever servers say")
	}
	for _, t := range c.Tablets {
		switch {
		case !t.Named:
			add(inspect.SeverityWarning, "tablet-server-not-named", []string{"zookeeper tablet server " + strconv.Itoa(int(t.ID))}, inspect.Named{"server": t.ID},
				"ask again: a server that starts is named when it is ready; if it stays so, the coordinator may be stuck", "tablet server %d is registered in ZooKeeper (%s), and the cluster does not name it", t.ID, safetext.Of(t.Address))
		case t.Registered != nil && !*t.Registered:
			add(inspect.SeverityError, "tablet-server-not-registered", []string{"fluss " + t.Address}, inspect.Named{"server": t.ID},
				"start it; its buckets get other leaders when a coordinator is there", "tablet server %d at %s is named as live and has no session in ZooKeeper: for the coordinator it is dead", t.ID, safetext.Of(t.Address))
		}
	}
}

// wedgedTables is how many new tables without leaders make a coordinator
// suspect.
const wedgedTables = 2

func (s *Store) leaderFindings(c Cluster, allAlive bool, add add) {
	young := 0
	const recent = 24 * time.Hour
	for _, t := range c.Leaderless {
		if s.clock.Now().Sub(t.Created) < recent {
			young++
		}
		add(inspect.SeverityError, "buckets-without-leader", []string{"table " + safetext.Of(t.Table).String()}, inspect.Named{"buckets": t.Buckets},
			"recoverctl inspect fluss buckets --table "+safetext.Of(t.Table).String()+" shows the servers that keep them",
			"table %s has buckets without a leader: %s", safetext.Of(t.Table), figures.Ranges(t.Buckets, 8))
	}
	if allAlive && young >= wedgedTables {
		add(inspect.SeverityError, "coordinator-stuck", nil, inspect.Named{"tables": int64(young)}, "look for NotifyLeaderAndIsr in the coordinator's log, and restart the coordinator: pending writes then go through",
			"%d new tables have no leaders although every server is there: the coordinator may be stuck, and would not elect a leader for an old table either", young)
	}
}

// remoteDirKey is the setting that says where remote storage is.
const remoteDirKey = "remote.data.dir"

// settingFindings are what the cluster's settings mean for recovery.
func settingFindings(settings []Setting, add add) {
	hidden := 0
	for _, x := range settings {
		if x.Hidden {
			hidden++
		}
		if x.Key == remoteDirKey && !x.Hidden && x.Value != "" && !strings.Contains(x.Value, ":") {
			add(inspect.SeverityError, "remote-dir-without-scheme", nil, inspect.Named{"remote.data.dir": safetext.Of(x.Value).String()},
				"set remote.data.dir to file://"+safetext.Of(x.Value).String()+" and restart the servers before the next cleanup (coordinator.producer-offsets.cleanup-interval, 1 h by default)",
				"remote.data.dir is %s, without a scheme: the coordinator's cleanup then takes the files of live producer offsets for orphans and deletes them; every producer that is read afterwards fails, and its id stays taken until it expires", safetext.Of(x.Value))
		}
	}
	if hidden > 0 {
		add(inspect.SeverityWarning, "settings-tell-secrets", nil, inspect.Named{"settings": int64(hidden)},
			"give DESCRIBE on the cluster to few, and turn the authorizer on; release 0.9.1 does not hide them",
			"%d settings that may be secrets are told in clear text to whoever may describe the cluster; they are not shown here", hidden)
	}
}
