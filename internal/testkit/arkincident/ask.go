package arkincident

import (
	"fmt"

	"github.com/recoverctl/recoverctl/inspect/arkflow"
	"github.com/recoverctl/recoverctl/inspect/flink"
	"github.com/recoverctl/recoverctl/internal/arkhub"
	"github.com/recoverctl/recoverctl/internal/clock"
)

// Ask is the sample's hub as a reader asks it, at the clock's time. Close ends its
// connections.
func (in *Incident) Ask(now clock.Clock) (hub *arkflow.Hub, closeHub func(), err error) {
	places, err := flink.New(flink.Options{})
	if err != nil {
		return nil, nil, fmt.Errorf("read recovery points: %w", err)
	}
	client, err := arkhub.New(arkhub.Options{Address: in.Address})
	if err != nil {
		return nil, nil, err
	}
	return arkflow.NewHub(client, arkflow.NewPoints(places), now), client.Close, nil
}
