package arkflow

import (
	"fmt"
	"slices"
	"strings"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/arkhub"
	"github.com/recoverctl/recoverctl/internal/clock"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

func hubRows() []row {
	rows := []row{
		{row: "20", rule: "node-lost-by-a-log", severity: inspect.SeverityError, condition: "a node is gone, and a log of one of its streams can't be opened", action: "Look at the end of the engine's log for \"Failed to open WAL database\": one log that is unreadable, or locked by another process, takes the whole process down. Then see the rows of that log.", ask: lostByLog},
		{row: "33", rule: "hub-view-old", severity: inspect.SeverityWarning, condition: "a node is stale or offline, or the hub is not ready", action: "Take what the hub says of it for as old as the last report; read the write-ahead log itself.", ask: oldView},
		{row: "T10", rule: "hub-degraded-for-good", severity: inspect.SeverityInfo, condition: "the hub says degraded, and its last reconciliation succeeded", action: "Nothing by itself: the word stays for the life of the process after one failure. Watch whether the time of the last success moves on.",
			ask: func(f Facts) answer {
				if f.Status == nil {
					return unasked("the hub does not expose its reconciliation")
				}
				r := f.Status.Reconciliation
				failed, hasFailed := r.LastError.Get()
				fine, hasSucceeded := r.LastSuccess.Get()
				switch {
				case r.State.Or("") != "degraded":
					return isClear("the hub says %s", safetext.Of(r.State.Or("nothing")))
				case !hasFailed || !hasSucceeded:
					return unasked("the hub does not expose when it succeeded and failed last")
				case fine <= failed:
					return holds(evidence("last success %s, last error %s", fine.Time().Format("15:04:05"), failed.Time().Format("15:04:05")), "the hub's reconciliation fails: what is asked for is not done").at(inspect.SeverityError)
				}
				return holds(evidence("last success %s, last error %s", fine.Time().Format("15:04:05"), failed.Time().Format("15:04:05")), "the hub says degraded, of a failure that was followed by a success")
			}},
	}
	for i := range rows {
		rows[i].scope = OfHub
	}
	return rows
}

func gone(n arkhub.Node) bool {
	return n.State.Or("") == arkhub.NodeStale || n.State.Or("") == arkhub.NodeOffline
}

func lostByLog(f Facts) answer {
	if f.Nodes == nil {
		return unasked("no nodes were read")
	}
	at := slices.IndexFunc(f.Nodes, gone)
	if at < 0 {
		return isClear("every node is there")
	}
	n := f.Nodes[at]
	durable := slices.DeleteFunc(slices.Clone(f.Durable), func(s string) bool { return !strings.HasPrefix(s, n.ID+"/") })
	switch {
	case f.Durable != nil && len(durable) == 0:
		return isClear("%s has no stream with a log", n.ID)
	case fault.KindOf(f.LogFault) == fault.Corrupt:
		return holds(evidence("%s", safetext.Error(f.LogFault)), "node %s is %s, and a log of it can't be opened by any engine: that ends the whole process, with every stream", safetext.Of(n.ID), n.State.Or(""))
	case f.Log == nil:
		return unasked("%s is %s: whether one of its logs can't be opened shows when it is read (--wal)", n.ID, n.State.Or(""))
	case f.Log.any(stopping...):
		return holds(append(evidence("%s is %s", n.ID, n.State.Or("")), f.Log.has("", stopping...).evidence...),
			"node %s is %s, and the log at %s can't be opened by its engine: that ends the whole process, with every stream", safetext.Of(n.ID), n.State.Or(""), safetext.Of(f.Log.Place))
	}
	return isClear("the log that was read can be opened")
}

func oldView(f Facts) answer {
	var found []string
	for _, n := range f.Nodes {
		if !gone(n) {
			continue
		}
		age := "at an unknown time"
		if seen, known := n.LastSeen.Get(); known {
			age = clock.Age(f.Now.Sub(seen.Time())) + " ago"
		}
		found = append(found, fmt.Sprintf("%s is %s, last seen %s", safetext.Of(n.ID), n.State.Or(""), age))
	}
	if f.Ready != nil && !*f.Ready {
		found = append(found, "the hub says that it is not ready")
	}
	switch {
	case len(found) > 0:
		return holds(found, "what the hub says is old: %s", strings.Join(found, "; ")).with("nodes", len(found))
	case f.Nodes == nil:
		return unasked("no nodes were read")
	}
	return isClear("every node has reported within its lease")
}
