package actions

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/journal"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

// noProfile is the name of the profile where none was chosen: it may be any.
const noProfile = "adhoc"

// OpenRequest is a request that an apply of this machine sent, or was about to send
// when it ended, and of which the journal does not say what became. It may have
// been lost, and it may still arrive.
type OpenRequest struct {
	PlanID string    `json:"planId"`
	Kind   string    `json:"kind"` // of the plan
	Step   string    `json:"step"`
	What   string    `json:"what"` // was asked for
	At     time.Time `json:"at"`
}

// Same reports whether two are the same request.
func (u OpenRequest) Same(o OpenRequest) bool {
	return u.PlanID == o.PlanID && u.Kind == o.Kind && u.Step == o.Step && u.What == o.What && u.At.Equal(o.At)
}

// OpenRequestsOf are the requests to a target that the lines of a journal, the oldest
// first, leave open. What a later line settles is left out: the outcome of the same
// step of the same plan, the end of a plan that was applied, and the beginning of a
// run for which somebody accepted RequestUnsettled.
//
// Lines are about the target where they name its system, or were written for one of
// the jobs of the profile that have the same hub: its address changes with its leader.
// Without a profile a hub is known by whatever address was given, and another one may be
// of the same hub: what was sent so is asked about as well.
// A producer is known by its name alone: its id is that of the entry that a plan found.
func OpenRequestsOf(lines []journal.Entry, on inspect.PlanTarget, profile string, jobs []string) []OpenRequest {
	type open struct {
		OpenRequest
		run, system string
	}
	object, id, system := safe(on.Object+" "+on.Name), safe(on.ID), safe(on.Cluster)
	var left []open
	drop := func(settled func(open) bool) { left = slices.DeleteFunc(left, settled) }
	for _, e := range lines {
		sameJob := profile != "" && profile != noProfile && e.Profile == safe(profile) && slices.ContainsFunc(jobs, func(job string) bool { return e.Job == safe(job) })
		sameID := e.ObjectID == id || on.Object == objectProducer
		sure := e.System == "" || e.System == system || sameJob
		may := on.Backend == backendArkFlow && (profile == noProfile || e.Profile == noProfile)
		if e.Object != object || !sameID || !sure && !may {
			continue
		}
		switch e.Event {
		case journal.Begin:
			if slices.Contains(e.Accept, RequestUnsettled) {
				drop(func(o open) bool { return sure || o.system == e.System })
			}
		case journal.Intent:
			left = append(left, open{OpenRequest{PlanID: e.PlanID, Kind: e.Kind, Step: e.Step, What: e.Message, At: e.Time}, e.Run, e.System})
		case journal.Outcome:
			drop(func(o open) bool {
				return o.PlanID == e.PlanID && o.Step == e.Step && (e.Result == journal.Done || e.Result == journal.Failed && o.run == e.Run)
			})
		case journal.End:
			if e.Result == string(Applied) {
				drop(func(o open) bool { return o.PlanID == e.PlanID })
			}
		}
	}
	out := make([]OpenRequest, 0, len(left))
	for _, o := range left {
		out = append(out, o.OpenRequest)
	}
	return out
}

func safe(text string) string { return safetext.Of(text).String() }

// sentence says what is not known of the request. Late is what it would do if it
// still came.
func (u OpenRequest) sentence(late string) string {
	who := "the hub"
	if ProducerKind(u.Kind) {
		who = "the coordinator"
	}
	const most = 300
	return fmt.Sprintf("what became of step %s of plan %s, begun %s (%s), is not known, and %s shows nothing of it: if it still comes, it %s",
		safetext.Of(u.Step), safetext.Of(short(u.PlanID)), u.At.UTC().Format(time.RFC3339), safetext.Of(u.What).Truncate(most), who, late)
}

func sentences(open []OpenRequest, late func(OpenRequest) string) string {
	var all []string
	for _, u := range open {
		all = append(all, u.sentence(late(u)))
	}
	return strings.Join(all, "; ")
}
