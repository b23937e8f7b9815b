package main

import (
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/recoverctl/recoverctl/config"
	"github.com/recoverctl/recoverctl/internal/shellword"
)

// given are the flags that a command which is shown needs beside profile and job,
// to be told of the same job and the same systems wherever it is pasted.
func (a *app) given() string {
	return strings.TrimSpace(givenFlags(a.flags) + safe(a.sameConfig()))
}

// named are the flags by which another command is told of a job of the profile, with
// those that are given beside them.
func named(p config.Profile, j config.Job, given string) string {
	if p.Name == config.AdHoc || j.Name == config.AdHoc {
		return given
	}
	return strings.TrimSuffix("-p "+shellword.Quote(safe(p.Name))+" -j "+shellword.Quote(safe(j.Name))+" "+given, " ")
}

// givenFlags are the flags by which this command was told of the job and its
// systems, as words of a shell, so that a command that is shown asks about the same
// ones. Profile and job are named by whoever shows it; what says only how to run or
// to print is none of them.
func givenFlags(flags *pflag.FlagSet) string {
	if flags == nil {
		return ""
	}
	aside := []string{"profile", "job", "output", "timeout", "access", "environment", "no-color", "help"}
	var words []string
	// Not Visit: the root's set does not know what a command below it parsed.
	flags.VisitAll(func(f *pflag.Flag) {
		if !f.Changed || slices.Contains(aside, f.Name) {
			return
		}
		values := []string{f.Value.String()}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		for _, value := range values {
			switch {
			case f.Value.Type() == "bool" && value == "true":
				words = append(words, "--"+f.Name)
			case f.Value.Type() == "bool":
				words = append(words, "--"+f.Name+"="+value)
			default:
				words = append(words, "--"+f.Name, shellword.Quote(safe(value)))
			}
		}
	})
	return strings.Join(words, " ")
}
