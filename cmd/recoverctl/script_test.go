package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/recoverctl/recoverctl/internal/testkit/flinkcases"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"recoverctl": func() { os.Exit(process()) },
	})
}

// Scripts run the program as its own process. In them,
//
//	exits 9 recoverctl inspect point x
//
// runs a command that has to end with that code; stdout and stderr then look at
// what it printed. $FLINK is a folder with the snapshots of real Flink jobs.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			flink := filepath.Join(env.WorkDir, "flink")
			for _, name := range []string{"versioned-p2", "null-p2", "legacy-p2", "file-backed-p2", "file-merging-p2"} {
				if err := flinkcases.CopyTo(filepath.Join(flink, name), name); err != nil {
					return err
				}
			}
			env.Setenv("FLINK", flink)
			env.Setenv("HOME", env.WorkDir)
			env.Setenv("TERM", "xterm")
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits, "truncate": truncate},
	})
}

func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	code := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		exit, ok := err.(interface{ ExitCode() int })
		if !ok {
			ts.Check(fmt.Errorf("run %s: %w", args[1], err))
		}
		code = exit.ExitCode()
	}
	if code != want {
		ts.Fatalf("exit %d, want %d", code, want)
	}
}

// truncate makes a file of a size, or with a negative size takes that many bytes
// off the end of one.
func truncate(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: truncate SIZE FILE")
	}
	size, err := strconv.ParseInt(args[0], 10, 64)
	ts.Check(err)
	path := ts.MkAbs(args[1])
	if size < 0 {
		info, err := os.Stat(path)
		ts.Check(err)
		size += info.Size()
	} else {
		ts.Check(os.WriteFile(path, nil, 0o600))
	}
	ts.Check(os.Truncate(path, size))
}
