package arkflow

import (
	"context"
	"time"

	"github.com/recoverctl/recoverctl/internal/arkhub"
)

// UpgradeState is an upgrade of a job that a hub carries out by itself, in phases.
type UpgradeState struct {
	ID         string     `json:"id"`
	From       *uint64    `json:"fromVersion"`
	To         *uint64    `json:"toVersion"`
	Phase      *string    `json:"phase"`
	PausedFrom *string    `json:"pausedFrom"` // nil: it is not paused
	Savepoint  *string    `json:"savepoint"`
	Deadline   *time.Time `json:"phaseDeadline"`
	LastError  *string    `json:"lastError"`
	Updated    *time.Time `json:"updated"`
	Active     bool       `json:"active"` // it still holds the job
}

// Paused reports whether somebody holds it: it goes on when it is resumed.
func (u UpgradeState) Paused() bool { return u.Phase != nil && *u.Phase == arkhub.UpgradePaused }

func upgradeState(u arkhub.Upgrade) UpgradeState {
	return UpgradeState{
		ID: u.ID, From: u.From.Pointer(), To: u.To.Pointer(), Phase: u.Phase.Pointer(), PausedFrom: u.PausedFrom.Pointer(), Savepoint: u.SavepointID.Pointer(),
		Deadline: moment(u.PhaseDeadline), LastError: u.LastError.Pointer(), Updated: moment(u.Updated), Active: u.Active(),
	}
}

// Upgrade reads one upgrade of a job, also one that has ended. Only hubs that keep
// upgrades know any: of others it is a fault of kind NotFound.
func (h *Hub) Upgrade(ctx context.Context, job, id string) (UpgradeState, error) {
	u, err := h.client.Upgrade(ctx, job, id)
	if err != nil {
		return UpgradeState{}, err
	}
	return upgradeState(u), nil
}
