package main

import (
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/recoverctl/recoverctl/actions"
)

// The command that applies a plan accepts what its report says, and nothing that is to be
// looked at somewhere else first.
func TestNoCommandAcceptsWhatNobodyHasLookedAt(t *testing.T) {
	a := &app{flags: pflag.NewFlagSet("x", pflag.ContinueOnError)}
	next := a.nextOfDocument("p.json", []actions.Warning{
		{Name: actions.OtherHub}, {Name: actions.RequestUnsettled}, {Name: actions.BegunElsewhere}, {Name: actions.StreamNotCovered},
	})
	if apply := next[len(next)-1]; strings.Count(apply, "--accept ") != 1 || !strings.Contains(apply, "--accept stream-not-covered") {
		t.Error(apply)
	}
}
