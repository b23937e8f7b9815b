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
