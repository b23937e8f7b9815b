package main

import (
	"context"
	"fmt"
	"os"

	"golang.org/x/term"

	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

// terminalPrompt asks for a secret on the process's terminal, whatever standard
// input and output are connected to.
type terminalPrompt struct{}

// Prompt implements secret.Prompter. Nothing that is typed is shown. When ctx
// ends first the terminal is put back as it was.
func (terminalPrompt) Prompt(ctx context.Context, label safetext.Text) (string, error) {
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return "", fault.Wrap(fault.Config, "ask for a secret", err, "%s has to be typed, and there is no terminal to type it at", label).
			WithHint("run this at a terminal, or take the secret from env, file or command in the profile")
	}
	defer tty.Close()
	before, err := term.GetState(int(tty.Fd()))
	if err != nil {
		return "", fmt.Errorf("read the terminal's state: %w", err)
	}
	fmt.Fprintf(tty, "%s: ", label)
	type answer struct {
		text []byte
		err  error
	}
	typed := make(chan answer, 1)
	go func() {
		text, err := term.ReadPassword(int(tty.Fd()))
		typed <- answer{text, err}
	}()
	select {
	case <-ctx.Done():
		restoreErr := term.Restore(int(tty.Fd()), before)
		fmt.Fprintln(tty)
		if restoreErr != nil {
			return "", fmt.Errorf("put the terminal back: %w", restoreErr)
		}
		return "", ctx.Err()
	case a := <-typed:
		fmt.Fprintln(tty)
		return string(a.text), a.err
	}
}
