package arkflow

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/recoverctl/recoverctl/internal/arkhub"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

// StreamDetail is one stream with what was asked of it.
type StreamDetail struct {
	Hub    HubState    `json:"hub"`
	Stream StreamState `json:"stream"`

	Generation *uint64 `json:"generation"` // of what was asked last; nil: nothing was, or it is not exposed
	Action     *string `json:"action"`     // the id of the action that was asked for last
	Stored     bool    `json:"stored"`     // the hub keeps what it is asked for in a database

	Requests  []StreamRequest `json:"requests"` // what was asked of it, the newest first
	Log       *WriteAheadLog  `json:"log"`      // nil: none was named, it can't be read, or it is another stream's
	Decisions []Decision      `json:"decisions"`
	Unchecked []string        `json:"unchecked"`
}

// StreamRequest is one thing that was asked of a stream, and what the hub says
// became of it.
type StreamRequest struct {
	ID         string     `json:"id"`
	Generation *uint64    `json:"generation"`
	State      *string    `json:"state"`
	Failure    *string    `json:"failureClass"`
	Error      *string    `json:"error"`
	Created    *time.Time `json:"created"`
	Dispatched *time.Time `json:"dispatched"` // nil: no node was given it yet
}

// Stream reads one stream of a node. A stream that the hub does not know is a fault
// of kind NotFound.
func (h *Hub) Stream(ctx context.Context, node, id string) (StreamDetail, error) {
	r, err := h.begin(ctx)
	if err != nil {
		return StreamDetail{}, err
	}
	s, err := h.client.Stream(ctx, node, id)
	if err != nil {
		return StreamDetail{}, err
	}
	if h.logs != nil {
		if err := r.watch(ctx); err != nil {
			return StreamDetail{}, err
		}
	}
	r.operations(ctx, id)
	config, read := r.config(ctx, node, id)
	f := r.facts(fmt.Sprintf("stream %s/%s", safetext.Of(node), safetext.Of(id)))
	f.Stream, f.Config, f.Configs = &s, config, read
	f.Operations = slices.DeleteFunc(slices.Clone(r.ops), func(o arkhub.Operation) bool {
		return o.ResourceID.Or("") != id || o.NodeID.Or(node) != node
	})
	out := StreamDetail{
		Stream: streamState(s, ProtectionOfStream(config, r.state.Generation)), Generation: s.Generation.Pointer(),
		Stored: r.status != nil && r.status.StorageReady.Or(false), Requests: []StreamRequest{}, Decisions: Decide(f, OfStream),
	}
	out.Stream.Node = node
	if d, has := s.Desired.Get(); has {
		out.Action = d.ActionID.Pointer()
		if out.Generation == nil {
			out.Generation = d.Generation.Pointer()
		}
	}
	r.besideStream(&out, s)
	for _, o := range f.Operations {
		if o.IntentID.IsKnown() {
			out.Requests = append(out.Requests, StreamRequest{
				ID: o.ID, Generation: o.Generation.Pointer(), State: o.State.Pointer(), Failure: o.FailureClass.Pointer(), Error: o.Error.Pointer(),
				Created: moment(o.Created), Dispatched: moment(o.Dispatched),
			})
		}
	}
	out.Hub, out.Unchecked = r.state, r.unchecked
	if err := ctx.Err(); err != nil {
		return out, err
	}
	return out, errors.Join(r.faults...)
}

// besideStream adds the log that was read, and its rows of the decision table, where
// it is not another stream's by its own name.
func (r *reading) besideStream(out *StreamDetail, s arkhub.Stream) {
	switch {
	case r.hub.logs == nil:
		return
	case r.log != nil && r.log.Stream != "" && r.log.Stream != s.ID:
		r.unchecked = append(r.unchecked, fmt.Sprintf("the write-ahead log at %s is that of stream %s", safetext.Of(r.hub.place), safetext.Of(r.log.Stream)))
		return
	}
	f := r.facts("log " + r.hub.place)
	f.Stream, f.Log, f.LogFault = &s, r.log, r.logFault
	out.Log, out.Decisions = r.log, append(out.Decisions, Decide(f, OfLog)...)
}
