package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/recoverctl/recoverctl/internal/testkit/flussincident"
	"github.com/recoverctl/recoverctl/internal/testkit/incident"
)

// The sample incident as commands tell it.
func TestIncidentScripts(t *testing.T) {
	sample, err := incident.Start(t.Context(), t.TempDir(), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	onSample(t, "testdata/incident", sample, sample.Places[0])
}

// The sample on Fluss as commands tell it.
func TestFlussIncidentScripts(t *testing.T) {
	sample, err := flussincident.Start(t.Context(), t.TempDir(), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	onSample(t, "testdata/flussincident", sample, sample.Places[0])
}

// onSample runs the scripts of a folder. They only read the sample: $CONFIG is a
// configuration file for it and $POINTS the folder of its checkpoints.
func onSample(t *testing.T, scripts string, of sample, points string) {
	t.Helper()
	t.Cleanup(of.Close)
	config := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(config, of.ConfigYAML(), 0o600); err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: scripts,
		Setup: func(env *testscript.Env) error {
			env.Setenv("CONFIG", config)
			env.Setenv("POINTS", points)
			env.Setenv("HOME", env.WorkDir)
			env.Setenv("TERM", "xterm")
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits},
	})
}
