package arkflow

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/recoverctl/recoverctl/internal/arkhub"
)

// AuditList is what a hub was asked to change, the newest first. Hubs that were run
// keep what was asked of streams and nodes there, and nothing that was asked of jobs;
// what did not reach a hub is in none.
type AuditList struct {
	Hub     HubState     `json:"hub"`
	Records []AuditState `json:"records"`
	Total   uint64       `json:"total"` // that the hub says it holds
}

// AuditState is one request, with what the hub made of it. What it does not say is
// empty.
type AuditState struct {
	Time        *time.Time `json:"time"`
	Actor       string     `json:"actor"`
	Action      string     `json:"action"`
	Type        string     `json:"type"` // of what was to be changed
	Of          string     `json:"of"`   // NODE/STREAM, or its id
	Outcome     string     `json:"outcome"`
	Failure     string     `json:"failureCode"`
	Message     string     `json:"message"`
	Correlation string     `json:"correlationId"` // of the hub's log
}

// Audit lists what a hub was asked to change. Only hubs with storage keep it.
func (h *Hub) Audit(ctx context.Context) (AuditList, error) {
	r, err := h.begin(ctx)
	if err != nil {
		return AuditList{}, err
	}
	l, err := h.client.Audit(ctx, "")
	if err != nil {
		return AuditList{}, err
	}
	out := AuditList{Hub: r.state, Records: []AuditState{}, Total: l.Total}
	for _, a := range l.Items {
		out.Records = append(out.Records, AuditState{
			Time: moment(a.Occurred), Actor: a.Actor.Or(""), Action: a.Action, Type: a.ResourceType.Or(""), Of: auditOf(a),
			Outcome: a.Outcome.Or(""), Failure: a.FailureCode.Or(""), Message: a.Message.Or(""), Correlation: a.CorrelationID.Or(""),
		})
	}
	return out, errors.Join(r.faults...)
}

// auditOf names what was to be changed. Hubs write a stream's id with a colon where
// they took the request, and with a slash where they refused it.
func auditOf(a arkhub.AuditRecord) string {
	if node, stream := a.NodeID.Or(""), a.StreamID.Or(""); node != "" && stream != "" {
		return node + "/" + stream
	}
	return cmp.Or(a.ResourceID.Or(""), a.NodeID.Or(""))
}
