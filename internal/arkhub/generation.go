package arkhub

import (
	"context"
	"net/http"
)

// Generation is one of the API's shapes.
type Generation uint8

// The generations, told apart by Client.Generation.
const (
	GenerationUnknown Generation = iota
	// GenerationNodeLocal is one engine without a hub: streams, and no jobs.
	GenerationNodeLocal
	// GenerationStreams is a hub without jobs, as of the engine's main branch of
	// 2026-08-04. It has no checkpoints at all.
	GenerationStreams
	// GenerationJobs is a hub with jobs, as of branch v1 of 2026-08-08: a round
	// that fails stays pending, an artefact is restored by the very version alone
	// that wrote it, and upgrades are not kept.
	GenerationJobs
	// GenerationUpgrades is a newer hub, which keeps upgrades.
	GenerationUpgrades
)

// String is the generation in words.
func (g Generation) String() string {
	switch g {
	case GenerationNodeLocal:
		return "single engine"
	case GenerationStreams:
		return "streams only"
	case GenerationJobs:
		return "jobs (v1)"
	case GenerationUpgrades:
		return "jobs and upgrades"
	default:
		return "not known"
	}
}

// MarshalText writes the generation in words.
func (g Generation) MarshalText() ([]byte, error) { return []byte(g.String()), nil }

// HasJobs reports whether there are routes of jobs.
func (g Generation) HasJobs() bool { return g == GenerationJobs || g == GenerationUpgrades }

// KeepsUpgrades reports whether upgrades have ids that count, and a rollback goes
// to the version that is named.
func (g Generation) KeepsUpgrades() bool { return g == GenerationUpgrades }

// ContiguousCursor reports whether the engines of the generation keep their
// log's cursor at the last sequence up to which every one was acknowledged. Of
// the others it is a high-water mark: it jumps over what failed.
func (g Generation) ContiguousCursor() bool { return g == GenerationUpgrades }

// MayRestore reports whether an engine of the generation restores an artefact of
// one job version into another. known is false where the generation is not.
func (g Generation) MayRestore(artefact, target uint64) (may, known bool) {
	switch g {
	case GenerationJobs:
		return artefact == target, true
	case GenerationUpgrades:
		return artefact <= target, true
	}
	return false, false
}

// probed is a name that no job has; asking for it changes nothing.
const probed = "recoverctl-probe"

// Generation tells which of the API's shapes answers. It asks until it knows,
// then no more.
func (c *Client) Generation(ctx context.Context) (Generation, error) {
	c.mu.Lock()
	known := c.generation
	c.mu.Unlock()
	if known != GenerationUnknown {
		return known, nil
	}
	g, err := c.tell(ctx)
	if err == nil {
		c.mu.Lock()
		c.generation = g
		c.mu.Unlock()
	}
	return g, err
}

func (c *Client) tell(ctx context.Context) (Generation, error) {
	jobs := at("jobs")
	answer, err := c.ask(ctx, jobs)
	switch {
	case err != nil:
		return GenerationUnknown, err
	case answer.Status == http.StatusNotFound && len(answer.Body) == 0:
		return c.withoutJobs(ctx)
	case !answer.Success():
		return GenerationUnknown, c.refused(jobs, answer)
	}
	if _, err := c.readPage(answer); err != nil {
		return GenerationUnknown, err
	}
	// A route that is not there answers 404 with nothing; one that is says of what
	// there is none.
	upgrade := at("jobs", probed, "upgrades", probed)
	answer, err = c.ask(ctx, upgrade)
	switch {
	case err != nil:
		return GenerationUnknown, err
	case answer.Status == http.StatusNotFound && len(answer.Body) == 0:
		return GenerationJobs, nil
	case answer.Success(), answer.Status == http.StatusNotFound && ReadRefusal(answer, c.http.Conceal).Code != "":
		return GenerationUpgrades, nil
	}
	return GenerationUnknown, c.refused(upgrade, answer)
}

// withoutJobs tells a hub without jobs from an engine without a hub, and both
// from something else.
func (c *Client) withoutJobs(ctx context.Context) (Generation, error) {
	system, err := c.System(ctx)
	if err != nil {
		return GenerationUnknown, err
	}
	switch system.ID.Or("") {
	case NodeLocalID:
		return GenerationNodeLocal, nil
	case HubID:
		return GenerationStreams, nil
	}
	return GenerationUnknown, c.notAHub("it has no jobs, and its /system is neither a hub's nor an engine's")
}
