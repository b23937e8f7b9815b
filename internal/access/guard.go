package access

import (
	"time"

	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

// MayWrite decides whether a command may write at all. In production the level
// alone is not enough: --access operate must have been given on this very
// command line (flag). The error is a fault of kind Denied that says how to go
// on; nil means that the plan's own approval comes next.
func MayWrite(level Level, env Environment, flag bool) error {
	if level != Operate {
		return fault.New(fault.Denied, "check access", "access is read-only: nothing may be changed").
			WithHint("set access: operate in the profile; without a profile give --access operate")
	}
	if env == Production && !flag {
		return fault.New(fault.Denied, "check access", "commands that write in production need --access operate").
			WithHint("give --access operate on this command line too")
	}
	return nil
}

// Phrase is what an operator types to approve a plan: the first eight hex
// digits of its id, and in production the profile and what is changed before
// them, as in "orders/action-state 3f9c21aa". PlanID is the id's 64 hex digits;
// a shorter one is refused as a fault of kind Bug, because a phrase that is too
// easy is worse than none.
func Phrase(env Environment, profile, subject, planID string) (safetext.Text, error) {
	if len(planID) < shortDigits {
		return safetext.Text{}, fault.New(fault.Bug, "make the phrase", "plan id %q is too short", safetext.Of(planID))
	}
	short := planID[:shortDigits]
	if env != Production {
		return safetext.Of(short), nil
	}
	return safetext.Sprintf("%s/%s %s", profile, subject, short), nil
}

const (
	shortDigits = 8
	fullDigits  = 64
)

// ApproveDigits is how many hex digits of the plan id --approve must give: all
// 64 in production, else 8.
func ApproveDigits(env Environment) int {
	if env == Production {
		return fullDigits
	}
	return shortDigits
}

// ArmedFor is how long :operate arms the console.
const ArmedFor = 30 * time.Minute

// Arming is the console's own guard: it starts read-only even where the level
// is Operate. The zero Arming is not armed.
type Arming struct {
	until time.Time
}

// Arm arms from now on for ArmedFor. The error is MayWrite's where the level is
// ReadOnly; --access operate is not asked for, typing :operate takes its place.
func (a *Arming) Arm(level Level, now time.Time) error {
	if err := MayWrite(level, Production, true); err != nil {
		return err
	}
	a.until = now.Add(ArmedFor)
	return nil
}

// Disarm makes the console read-only again.
func (a *Arming) Disarm() { a.until = time.Time{} }

// Left is how long the console stays armed; zero or less means read-only.
func (a Arming) Left(now time.Time) time.Duration {
	if a.until.IsZero() {
		return 0
	}
	return max(0, a.until.Sub(now))
}
