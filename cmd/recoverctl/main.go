package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"golang.org/x/term"

	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/termguard"
)

// version is set by the linker.
var version = "dev"

func main() { os.Exit(process()) }

// process is the program as a process: with the terminal, the environment and
// the signals of one. It returns the exit code.
func process() int {
	if err := termguard.Release(); err != nil {
		fmt.Fprintf(os.Stderr, "recoverctl: give the environment back: %v\n", err)
		return fault.Bug.Exit()
	}
	ctx, signals, stop := watchSignals(context.Background())
	s := systemStreams()
	s.signals = signals
	defer stop()
	return run(ctx, os.Args[1:], s)
}

// streams is what a command may touch of its process.
type streams struct {
	in      io.Reader
	out     io.Writer
	err     io.Writer
	environ []string
	width   int      // columns of the terminal that out is; 0 when it is none
	errTTY  bool     // err is a terminal
	inTTY   bool     // in is a terminal
	signals *signals // nil: none reach this process
}

func systemStreams() streams {
	s := streams{in: os.Stdin, out: os.Stdout, err: os.Stderr, environ: os.Environ()}
	s.inTTY = term.IsTerminal(int(os.Stdin.Fd()))
	s.errTTY = term.IsTerminal(int(os.Stderr.Fd()))
	if term.IsTerminal(int(os.Stdout.Fd())) {
		if width, _, err := term.GetSize(int(os.Stdout.Fd())); err == nil {
			s.width = width
		}
	}
	return s
}
