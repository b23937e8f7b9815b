package termguard_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
)

// query is how termenv asks for the background colour.
const query = "\x1b]11;?"

// answerLimit is how long termenv waits for the answer (OSCTimeout).
const answerLimit = 5 * time.Second

// build compiles one of the programs under testdata. They are programs of their
// own because a test that imports bubbletea would have queried its terminal
// before the test begins.
func build(t *testing.T, name string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	out, err := exec.Command("go", "build", "-buildvcs=false", "-o", path, "./testdata/"+name).CombinedOutput()
	if err != nil {
		t.Fatalf("build %s: %v\n%s", name, err, out)
	}
	return path
}

// environment is a terminal with colours on a machine where CI is as given.
func environment(ci ...string) []string {
	env := slices.DeleteFunc(os.Environ(), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return slices.Contains([]string{"CI", "TERM", "COLORTERM", "NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE"}, name)
	})
	return append(append(env, "TERM=xterm-256color"), ci...)
}

// onSilentPTY runs a program on a pty that answers nothing, until it ends or
// until it has written enough. It returns what was written and how long that
// took.
func onSilentPTY(t *testing.T, program string, env []string, enough func([]byte) bool) ([]byte, time.Duration) {
	t.Helper()
	cmd := exec.Command(program)
	cmd.Env = env
	begun := time.Now()
	terminal, err := pty.Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	defer terminal.Close()
	var out []byte
	for buf := make([]byte, 4096); !enough(out); {
		n, err := terminal.Read(buf)
		out = append(out, buf[:n]...)
		// On Linux the other side's end reads as an I/O error.
		if errors.Is(err, io.EOF) || errors.Is(err, syscall.EIO) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	took := time.Since(begun)
	if enough(out) {
		if err := cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
			t.Fatal(err)
		}
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return out, took
}

func TestTheConsoleStartsAtOnceOnASilentTerminal(t *testing.T) {
	program := build(t, "guarded")
	tests := map[string]struct {
		env  []string
		want string
	}{
		"CI is not set":      {environment(), `main runs, CI="" set=false, colours ANSI256, message tea.QuitMsg`},
		"CI is set":          {environment("CI=true"), `main runs, CI="true" set=true, colours Ascii, message tea.QuitMsg`},
		"CI is set to empty": {environment("CI="), `main runs, CI="" set=true, colours ANSI256, message tea.QuitMsg`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			out, took := onSilentPTY(t, program, tt.env, func([]byte) bool { return false })
			if took > answerLimit-time.Second {
				t.Errorf("it took %s", took)
			}
			if bytes.Contains(out, []byte("\x1b")) {
				t.Errorf("it wrote a sequence: %q", out)
			}
			if got := strings.TrimSpace(string(out)); got != tt.want {
				t.Errorf("it wrote %q, want %q", got, tt.want)
			}
		})
	}
}

// Without the guard the query is there: the test above proves something.
func TestWithoutTheGuardTheTerminalIsQueried(t *testing.T) {
	out, _ := onSilentPTY(t, build(t, "bare"), environment(), func(out []byte) bool {
		return bytes.Contains(out, []byte(query))
	})
	if !bytes.Contains(out, []byte(query)) {
		t.Fatalf("no query in %q: is the guard still needed?", out)
	}
	if bytes.Contains(out, []byte("main runs")) {
		t.Errorf("main ran before the query: %q", out)
	}
}

// The runtime's own trace of the order.
func TestTheGuardIsInitialisedFirst(t *testing.T) {
	cmd := exec.Command(build(t, "guarded"))
	cmd.Env = append(environment(), "GODEBUG=inittrace=1")
	var trace bytes.Buffer
	cmd.Stderr = &trace
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	at := func(pkg string) int {
		i := strings.Index(trace.String(), "init "+pkg+" @")
		if i < 0 {
			t.Fatalf("%s is not in the trace\n%s", pkg, &trace)
		}
		return i
	}
	guard := at("github.com/recoverctl/recoverctl/internal/termguard")
	for _, pkg := range []string{
		"os/signal", "github.com/muesli/termenv", "github.com/charmbracelet/lipgloss", "github.com/charmbracelet/bubbletea",
	} {
		if at(pkg) < guard {
			t.Errorf("%s is initialised before the guard\n%s", pkg, &trace)
		}
	}
}

func TestItImportsOnlyOS(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", "{{.Imports}}", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.TrimSpace(string(out)); got != "[os]" {
		t.Errorf("it imports %s: any other import can make it too late", got)
	}
}
