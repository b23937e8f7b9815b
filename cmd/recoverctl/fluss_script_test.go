package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/recoverctl/recoverctl/internal/testkit/flussincident"
)

// The sample on Fluss as commands tell it. Scripts only read it: $CONFIG is a
// configuration file for it and $POINTS the folder of its checkpoints.
func TestFlussIncidentScripts(t *testing.T) {
	dir := t.TempDir()
	sample, err := flussincident.Start(t.Context(), dir, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(sample.Close)
	config := filepath.Join(dir, "config.yaml")
	if err := os.WriteFile(config, sample.ConfigYAML(), 0o600); err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/flussincident",
		Setup: func(env *testscript.Env) error {
			env.Setenv("CONFIG", config)
			env.Setenv("POINTS", sample.Places[0])
			env.Setenv("HOME", env.WorkDir)
			env.Setenv("TERM", "xterm")
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits},
	})
}
