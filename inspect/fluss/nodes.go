package fluss

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/figures"
	"github.com/recoverctl/recoverctl/internal/flussrpc"
	"github.com/recoverctl/recoverctl/internal/safetext"
	"github.com/recoverctl/recoverctl/internal/zkread"
)

// Nodes reads what a cluster keeps in ZooKeeper, which it needs for what no call of
// Fluss tells. A node that is not there is a fault of kind NotFound.
type Nodes interface {
	Get(ctx context.Context, path string) ([]byte, zkread.Stat, error)
	Children(ctx context.Context, path string) ([]string, error)
	// WithoutQuorum reports whether the server that is asked has lost its ensemble.
	WithoutQuorum() bool
}

var _ Nodes = (*zkread.Client)(nil)

// WithNodes is the same store that reads the cluster's nodes, too: those below root,
// its zookeeper.path.root.
func (s *Store) WithNodes(nodes Nodes, root string) *Store {
	out := *s
	out.nodes, out.root = nodes, strings.TrimRight(root, "/")
	return &out
}

// ReadsNodes reports whether the cluster's nodes in ZooKeeper are read.
func (s *Store) ReadsNodes() bool { return s.nodes != nil }

// The nodes that are read, below the root.
const (
	activeCoordinator = "/coordinators/active"
	tabletServerIDs   = "/tabletservers/ids"
	producerNodes     = "/producers"
)

// bucketNodes is the node of a log's buckets.
func bucketNodes(table, partition int64) string {
	if partition >= 0 {
		return "/tabletservers/partitions/" + strconv.FormatInt(partition, 10) + "/buckets"
	}
	return "/tabletservers/tables/" + strconv.FormatInt(table, 10) + "/buckets"
}

// serverNode is a server's own node: it ends with the server's session.
type serverNode struct {
	Listeners string `json:"listeners"`
	Since     *int64 `json:"register_timestamp"` // milliseconds, by the server's clock; not of a coordinator
}

// since is when the server registered.
func (n serverNode) since() *time.Time {
	if n.Since == nil {
		return nil
	}
	at := time.UnixMilli(*n.Since).UTC()
	return &at
}

func (n serverNode) check() error {
	if n.Listeners == "" {
		return errors.New("it names no listeners")
	}
	if n.Since != nil && !isTime(*n.Since) {
		return errors.New("its register_timestamp is no time")
	}
	return nil
}

// isTime reports whether milliseconds are a time that can be written down.
func isTime(millis int64) bool {
	const endOf9999 = 253_402_300_800_000
	return millis >= 0 && millis < endOf9999
}

// leaderNode says who leads a bucket, and which replicas have all of it.
type leaderNode struct {
	Leader *int32  `json:"leader"`
	Epoch  *int32  `json:"leader_epoch"`
	InSync []int32 `json:"isr"`
}

func (n leaderNode) check() error {
	if n.Leader == nil || n.Epoch == nil || n.InSync == nil {
		return errors.New("it says nothing of leader, leader_epoch or isr")
	}
	return nil
}

// remoteNode says up to where a bucket's log lies in remote storage.
type remoteNode struct {
	End *int64 `json:"remote_log_end_offset"`
}

func (n remoteNode) check() error {
	if n.End == nil || *n.End < 0 {
		return errors.New("it says nothing of remote_log_end_offset")
	}
	return nil
}

// producerNode is the node of a producer's entry.
type producerNode struct {
	Expires *int64 `json:"expiration_time"` // milliseconds
	Tables  []struct {
		ID   *int64 `json:"table_id"`
		Path string `json:"offsets_path"`
	} `json:"tables"`
}

func (n producerNode) check() error {
	if n.Expires == nil {
		return errors.New("it says nothing of expiration_time")
	}
	if !isTime(*n.Expires) {
		return errors.New("its expiration_time is no time")
	}
	for _, t := range n.Tables {
		if t.ID == nil || t.Path == "" {
			return errors.New("it names a table without its table_id or offsets_path")
		}
	}
	return nil
}

// parseNode reads a node's JSON. Fields that are not known belong to other releases
// and are passed over; a field that must be there and is not is no zero.
func parseNode[T interface{ check() error }](data []byte) (T, error) {
	var out T
	if err := json.Unmarshal(data, &out); err != nil {
		return out, err
	}
	return out, out.check()
}

// readNode reads one node.
func readNode[T interface{ check() error }](ctx context.Context, s *Store, path string) (T, error) {
	var none T
	data, _, err := s.nodes.Get(ctx, s.root+path)
	if err != nil {
		return none, err
	}
	out, err := parseNode[T](data)
	if err != nil {
		return none, fault.Wrap(fault.Corrupt, "read ZooKeeper", err, "the node %s is not as Fluss writes it", safetext.Of(s.root+path)).
			WithHint("does fluss.zookeeper.path say the zookeeper.path.root of this cluster?").WithRef("zookeeper node " + safetext.Of(s.root+path).String())
	}
	return out, nil
}

func notThere(err error) bool { return err != nil && fault.KindOf(err) == fault.NotFound }

// registered are the servers that have a session in ZooKeeper.
type registered struct {
	coordinator *serverNode // nil: none
	tablets     map[int32]serverNode
}

// registeredServers reads who is registered. A server whose node goes while it is
// read is not.
func (s *Store) registeredServers(ctx context.Context) (out registered, err error) {
	out.tablets = map[int32]serverNode{}
	active, err := readNode[serverNode](ctx, s, activeCoordinator)
	switch {
	case err == nil:
		out.coordinator = &active
	case !notThere(err):
		return out, err
	}
	names, err := s.nodes.Children(ctx, s.root+tabletServerIDs)
	if notThere(err) {
		// Without this node there is no cluster below the root: nothing may be concluded
		// of who is not in it.
		return out, fault.Wrap(fault.NotFound, "read ZooKeeper", err, "ZooKeeper has no Fluss cluster below %s", safetext.Of(s.root+"/")).
			WithHint("does fluss.zookeeper.path of the job say the cluster's zookeeper.path.root (/fluss by default), and servers its ensemble?")
	}
	if err != nil {
		return out, err
	}
	found := make([]*serverNode, len(names))
	errs := make([]error, len(names))
	each(names, func(i int, name string) {
		n, err := readNode[serverNode](ctx, s, tabletServerIDs+"/"+name)
		if err == nil {
			found[i] = &n
		} else if !notThere(err) {
			errs[i] = err
		}
	})
	for i, name := range names {
		id, err := strconv.ParseInt(name, 10, 32)
		if err != nil {
			errs[i] = fault.New(fault.Corrupt, "read ZooKeeper", "the node %s is no tablet server's", safetext.Of(s.root+tabletServerIDs+"/"+name))
		} else if found[i] != nil {
			out.tablets[int32(id)] = *found[i]
		}
	}
	return out, errors.Join(errs...)
}

// Registered is how many tablet servers have a session in ZooKeeper.
func (s *Store) Registered(ctx context.Context) (tablets int, err error) {
	all, err := s.registeredServers(ctx)
	return len(all.tablets), err
}

// bucketNode is what ZooKeeper keeps of one bucket.
type bucketNode struct {
	leader leaderNode
	remote *int64 // nil: nothing was moved to remote storage
}

// bucketStates reads the nodes of buckets. One that could not be read is absent,
// and the error says how many are.
func (s *Store) bucketStates(ctx context.Context, table, partition int64, buckets []int32) (map[int32]bucketNode, error) {
	out := make(map[int32]bucketNode, len(buckets))
	found := make([]bucketNode, len(buckets))
	errs := make([]error, len(buckets))
	each(buckets, func(i int, b int32) {
		path := bucketNodes(table, partition) + "/" + strconv.FormatInt(int64(b), 10)
		if found[i].leader, errs[i] = readNode[leaderNode](ctx, s, path+"/leader_isr"); errs[i] != nil {
			return
		}
		remote, err := readNode[remoteNode](ctx, s, path+"/remote_logs")
		if err == nil {
			found[i].remote = remote.End
		} else if !notThere(err) {
			errs[i] = err
		}
	})
	var first error
	var unread []int32
	for i, b := range buckets {
		if errs[i] == nil {
			out[b] = found[i]
			continue
		}
		unread = append(unread, b)
		if first == nil {
			first = errs[i]
		}
	}
	if first == nil {
		return out, nil
	}
	f := fault.Of(first)
	return out, fault.Wrap(f.Kind, "read ZooKeeper", first, "the in-sync sets of %s are not known (buckets %s)", figures.Group(int64(len(unread)))+" of "+figures.Group(int64(len(buckets))), figures.Ranges(unread, 8)).
		WithHint("%s", f.Hint).WithRef(f.Refs...)
}

// ProducerFile is where the offsets of one table are kept.
type ProducerFile struct {
	Table int64  `json:"table"` // its id
	Path  string `json:"path"`
}

// ProducerNode is a producer's node in ZooKeeper.
type ProducerNode struct {
	Found   bool           `json:"found"`
	Expires *time.Time     `json:"expires"`
	Files   []ProducerFile `json:"files"`
}

// coordinatorSince is when the coordinator registered, by ZooKeeper's clock; nil
// where none is registered.
func (s *Store) coordinatorSince(ctx context.Context) (*time.Time, error) {
	_, stat, err := s.nodes.Get(ctx, s.root+activeCoordinator)
	switch {
	case notThere(err):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return &stat.Created, nil
}

// nextSweep is about when the coordinator next removes entries that have expired: it
// does so once each interval after its start; nil where the interval is none.
func nextSweep(since time.Time, interval string, now time.Time) *time.Time {
	every := ParseDuration(interval)
	if every == nil || *every <= 0 || now.Before(since) {
		return nil
	}
	next := since.Add((now.Sub(since)/(*every) + 1) * *every)
	return &next
}

// readProducer reads a producer's node and when its coordinator began; nil where
// ZooKeeper is not read.
func (s *Store) readProducer(ctx context.Context, id string) (node *ProducerNode, since *time.Time, err error) {
	if s.nodes == nil {
		return nil, nil, nil
	}
	if node, err = s.producerNode(ctx, id); err == nil {
		since, err = s.coordinatorSince(ctx)
	}
	return node, since, err
}

// producerNode reads a producer's node.
func (s *Store) producerNode(ctx context.Context, id string) (*ProducerNode, error) {
	n, err := readNode[producerNode](ctx, s, producerNodes+"/"+id)
	switch {
	case notThere(err):
		return &ProducerNode{Files: []ProducerFile{}}, nil
	case err != nil:
		return nil, err
	}
	expires := time.UnixMilli(*n.Expires).UTC()
	out := &ProducerNode{Found: true, Expires: &expires, Files: []ProducerFile{}}
	for _, t := range n.Tables {
		out.Files = append(out.Files, ProducerFile{*t.ID, t.Path})
	}
	return out, nil
}

// nodeIDs are the ids that have a node. A cluster that never kept a producer has no
// node for them at all, which only one that is there can say.
func (s *Store) nodeIDs(ctx context.Context) ([]string, error) {
	names, err := s.nodes.Children(ctx, s.root+producerNodes)
	if notThere(err) {
		if _, err := s.nodes.Children(ctx, s.root+tabletServerIDs); err != nil {
			return nil, fault.Wrap(fault.KindOf(err), "list producers", err, "ZooKeeper has no Fluss cluster below %s", safetext.Of(s.root+"/")).
				WithHint("does fluss.zookeeper.path of the job say the cluster's zookeeper.path.root (/fluss by default), and servers its ensemble?")
		}
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if flussrpc.CheckProducerID(name) != nil {
			return nil, fault.New(fault.Corrupt, "list producers", "the node %s is no producer's", safetext.Of(fmt.Sprintf("%s%s/%s", s.root, producerNodes, name)))
		}
	}
	return names, nil
}
