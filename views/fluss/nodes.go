package fluss

import (
	"time"

	"github.com/recoverctl/recoverctl/inspect/fluss"
	"github.com/recoverctl/recoverctl/internal/clock"
	"github.com/recoverctl/recoverctl/views/phrase"
)

// nodeFacts are what ZooKeeper alone tells of a producer, where it was read.
func nodeFacts(fact func(name, value string), x fluss.Producer, at time.Time) {
	if x.Sweep != nil {
		fact("next cleanup", "in about "+clock.Age(x.Sweep.Sub(at)))
	}
	n := x.Node
	switch {
	case n == nil:
	case !n.Found:
		fact("in ZooKeeper", "no node")
	default:
		fact("in ZooKeeper", "a node that expires at "+n.Expires.UTC().Format(time.RFC3339)+", "+phrase.Count(len(n.Files), "file", "files"))
	}
}
