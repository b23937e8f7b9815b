package flussrpc

import (
	"cmp"
	"context"
	"net"
	"slices"
	"strconv"

	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/flussrpc/flusspb"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

// Server is one server of a cluster, as others name it. Ids begin at 0.
type Server struct {
	ID      int32
	Kind    ServerKind
	Address string // of the listener by which it was asked for
	Rack    string
}

// view is who is in the cluster, as the last answer said.
type view struct {
	coordinator *Server
	tablets     map[int32]Server
}

// Cluster is what one server says of its cluster. A tablet server that can't
// reach its coordinator goes on naming the dead: who is alive shows when one
// connects.
type Cluster struct {
	Coordinator *Server // nil: none is named
	Tablets     []Server
	Told        Server // who said so; its ID is not known
}

// Cluster asks who is in the cluster: the coordinator, if it can be reached, else
// any server. An answer without a tablet server is that of one that is starting,
// and is told as it is.
func (c *Client) Cluster(ctx context.Context) (Cluster, error) {
	_, conn, err := c.metadata(ctx, &flusspb.GetMetadataRequest{})
	if err != nil {
		return Cluster{}, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	out := Cluster{Told: Server{Kind: conn.Kind(), Address: conn.Address()}}
	if c.view.coordinator != nil {
		coordinator := *c.view.coordinator
		out.Coordinator = &coordinator
	}
	for _, s := range c.view.tablets {
		out.Tablets = append(out.Tablets, s)
	}
	slices.SortFunc(out.Tablets, func(a, b Server) int { return cmp.Compare(a.ID, b.ID) })
	return out, nil
}

// Reach connects to a server, or finds that it still is, and says what it says of
// itself.
func (c *Client) Reach(ctx context.Context, s Server) (ServerKind, error) {
	conn, err := c.connect(ctx, s.Address)
	if err != nil {
		return Unsaid, err
	}
	return conn.Kind(), nil
}

// metadata asks for metadata and keeps who is in the cluster. The first answer
// may be of a server that was given in the configuration; from then on the
// coordinator is asked first.
func (c *Client) metadata(ctx context.Context, request *flusspb.GetMetadataRequest) (*flusspb.GetMetadataResponse, *Conn, error) {
	var answer flusspb.GetMetadataResponse
	conn, err := c.ask(ctx, coordinatorFirst, APIGetMetadata, request, &answer)
	if err != nil {
		return nil, nil, err
	}
	v := view{tablets: map[int32]Server{}}
	if n := answer.GetCoordinatorServer(); n != nil {
		s := serverOf(Coordinator, n)
		v.coordinator = &s
	}
	for _, n := range answer.GetTabletServers() {
		v.tablets[n.GetNodeId()] = serverOf(TabletServer, n)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if v.coordinator == nil {
		v.coordinator = c.view.coordinator // one that was named before may be back
	}
	c.view = v
	return &answer, conn, nil
}

func serverOf(kind ServerKind, n *flusspb.ServerNode) Server {
	return Server{ID: n.GetNodeId(), Kind: kind, Address: net.JoinHostPort(n.GetHost(), strconv.Itoa(int(n.GetPort()))), Rack: n.GetRack()}
}

// tablet is a tablet server by its id.
func (c *Client) tablet(id int32) (Server, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s, ok := c.view.tablets[id]
	return s, ok
}

// coordinator connects to the coordinator: what it alone answers, a tablet server
// is silent about.
func (c *Client) coordinator(ctx context.Context) (*Conn, error) {
	for range 2 {
		c.mu.Lock()
		known := c.view.coordinator
		c.mu.Unlock()
		if known != nil {
			conn, err := c.connect(ctx, known.Address)
			if err == nil && conn.Kind() != TabletServer {
				return conn, nil
			}
			if ctx.Err() != nil || err != nil && fault.KindOf(err) != fault.Unreachable {
				return nil, cmp.Or(err, ctx.Err())
			}
		}
		// A coordinator that is starting does not tell who is there, but serves the
		// rest.
		if conn := c.asCoordinator(ctx); conn != nil {
			return conn, nil
		}
		if _, _, err := c.metadata(ctx, &flusspb.GetMetadataRequest{}); err != nil {
			return nil, err
		}
	}
	c.mu.Lock()
	known := c.view.coordinator
	c.mu.Unlock()
	if known == nil {
		return nil, fault.New(fault.Unreachable, "ask Fluss", "no server names a coordinator").WithHint("start the coordinator: it alone answers this")
	}
	_, err := c.connect(ctx, known.Address)
	if err == nil {
		err = errSilent
	}
	return nil, fault.Wrap(fault.Unreachable, "ask Fluss", err, "the coordinator %s can't be reached, and it alone answers this", safetext.Of(known.Address)).
		WithHint("start the coordinator; tablet servers go on naming it, and go on serving their logs, while it is gone").WithRef("fluss " + safetext.Of(known.Address).String())
}

// asCoordinator is the connection to a configured server that says that it is a
// coordinator.
func (c *Client) asCoordinator(ctx context.Context) *Conn {
	for _, address := range c.config.Servers {
		if conn, err := c.connect(ctx, address); err == nil && conn.Kind() == Coordinator {
			return conn
		}
	}
	return nil
}
