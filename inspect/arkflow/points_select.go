package arkflow

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/arkhub"
)

// The words of a job's recovery policy.
const (
	policyCheckpoint = "latest_checkpoint"
	policySavepoint  = "latest_savepoint"
	policyFail       = "fail"
)

// engineRules are the rules that the engine asks by itself. Those with jobs that
// were run don't compare the tasks with the plan; later ones do.
func engineRules(g arkhub.Generation) []string {
	rules := []string{RuleManifestThere, RuleManifestReads, RuleManifestSealed, RuleManifestID, RuleJobID, RuleFormat, RuleVersion, RuleStateOfTasks, RuleStateThere, RuleStateSealed}
	if g == arkhub.GenerationUpgrades {
		rules = append(rules, RuleTasksOnce, RuleTaskSet)
	}
	return rules
}

// engineSays is what the engine's own check makes of the same rules.
func (p *Point) engineSays(f pointFacts) EngineVerdict {
	if !f.target.Generation.HasJobs() && f.asked {
		return EngineVerdict{inspect.Unknown, "hubs of this generation have no checkpoints"}
	}
	asked := engineRules(f.target.Generation)
	v := EngineVerdict{inspect.Accepted, "every rule that the engine asks passes"}
	for _, r := range p.Rules {
		switch {
		case !slices.Contains(asked, r.Code):
		case r.Result == inspect.Failed:
			return EngineVerdict{inspect.Rejected, r.Code + ": " + r.Message}
		case r.Result == inspect.NotChecked && v.Verdict == inspect.Accepted:
			v = EngineVerdict{inspect.Unknown, r.Code + ": " + r.Message}
		}
	}
	return v
}

// selectPoint is the rule of hub.rs, branch v1 at commit c7dd8b4: of the completed
// rounds of the policy's kind, of the very version and format, the newest whose
// objects pass; the one that the job names needs the format alone, and its manifest
// is asked for the version again.
func selectPoint(points []Point, t Target) Selection {
	switch {
	case !t.Generation.HasJobs():
		return Selection{Why: "no hub with jobs was asked: what it would select is not known"}
	case t.Recovery == "" || t.Version == nil || t.FormatVersion == nil:
		return Selection{Why: "the job's description is not exposed: what the hub would select is not known"}
	case t.Partial:
		return Selection{Why: someRounds + ": what the hub would select is not known"}
	case t.Recovery == policyFail:
		return Selection{Known: true, Why: "the job's recovery policy is fail: nothing is restored", Better: bestPoint(points)}
	}
	kind := inspect.KindCheckpoint
	if t.Recovery == policySavepoint {
		kind = inspect.KindSavepoint
	}
	candidates := slices.DeleteFunc(slices.Clone(points), func(p Point) bool {
		format := p.FormatVersion != nil && *p.FormatVersion == *t.FormatVersion
		may := false
		if p.JobVersion != nil {
			may, _ = t.Generation.MayRestore(*p.JobVersion, *t.Version)
		}
		return p.Status != arkhub.RoundCompleted || p.Kind != kind || !format || !may && p.ID != t.Explicit
	})
	slices.SortStableFunc(candidates, func(a, b Point) int {
		if a.Created != nil && b.Created != nil {
			if c := b.Created.Compare(*a.Created); c != 0 {
				return c
			}
		}
		return cmp.Compare(b.ID, a.ID)
	})
	for _, p := range candidates {
		switch p.Engine.Verdict {
		case inspect.Accepted:
			s := Selection{Known: true, ID: p.ID, Why: fmt.Sprintf("the newest completed %s that the hub finds whole (policy %s)", kind, t.Recovery)}
			if best := bestPoint(points); (p.Verdict != inspect.Accepted || p.WithoutPositions()) && best != p.ID {
				s.Better = best
			}
			return s
		case inspect.Unknown:
			return Selection{Why: fmt.Sprintf("%s would be the first, and whether the hub finds it whole is not known: %s", p.ID, p.Engine.Why)}
		}
	}
	return Selection{
		Known: true, Better: bestPoint(points),
		Why: fmt.Sprintf("no completed %s of version %d and format %d is whole (policy %s): the job would start cold", kind, *t.Version, *t.FormatVersion, t.Recovery),
	}
}

// bestPoint is the newest accepted point whose sources know where to go on, else
// the newest accepted one.
func bestPoint(newestFirst []Point) string {
	for _, wanting := range []bool{false, true} {
		for _, p := range newestFirst {
			if p.Verdict == inspect.Accepted && (wanting || !p.WithoutPositions()) {
				return p.ID
			}
		}
	}
	return ""
}
