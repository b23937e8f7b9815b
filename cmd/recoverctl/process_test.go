package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/recoverctl/recoverctl/internal/testkit/flinkcases"
	"github.com/recoverctl/recoverctl/internal/testkit/incident"
)

// These tests and benchmarks run the program as it is shipped, on a
// pseudo-terminal that answers nothing.

// binary builds the program as `make build` does and returns its path.
func binary(tb testing.TB) string {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "recoverctl")
	build := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", path, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		tb.Fatalf("build: %v\n%s", err, out)
	}
	return path
}

// silent is the address of a listener that accepts and never answers.
func silent(tb testing.TB) string {
	tb.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { l.Close() })
	return l.Addr().String()
}

// screen is the program on a bare terminal of 80×24.
type screen struct {
	cmd  *exec.Cmd
	file *os.File
	seen bytes.Buffer
}

func onTerminal(tb testing.TB, path string, args ...string) *screen {
	tb.Helper()
	cmd := exec.Command(path, args...)
	cmd.Env = []string{"TERM=xterm-256color", "HOME=" + tb.TempDir(), "PATH=" + os.Getenv("PATH"), "TMPDIR=" + tb.TempDir()}
	file, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: 80, Rows: 24})
	if err != nil {
		tb.Fatal(err)
	}
	s := &screen{cmd: cmd, file: file}
	tb.Cleanup(s.end)
	return s
}

// processOf is the program without a terminal.
func processOf(tb testing.TB, path string, environ []string, args ...string) *exec.Cmd {
	tb.Helper()
	cmd := exec.CommandContext(tb.Context(), path, args...)
	cmd.Env = environ
	return cmd
}

// end stops the program if the test did not.
func (s *screen) end() {
	if s.cmd.ProcessState == nil {
		// A program that is gone already is what is wanted.
		_ = s.cmd.Process.Kill()
		_ = s.cmd.Wait()
	}
	s.file.Close()
}

// until reads what the program draws until it holds text.
func (s *screen) until(tb testing.TB, text string) {
	tb.Helper()
	if err := s.file.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		tb.Fatal(err)
	}
	buffer := make([]byte, 4096)
	for !strings.Contains(s.seen.String(), text) {
		n, err := s.file.Read(buffer)
		s.seen.Write(buffer[:n])
		if err != nil {
			tb.Fatalf("before %q was drawn: %v\n%q", text, err, s.seen.String())
		}
	}
}

// leave reads on until the program has ended, and returns its exit code.
func (s *screen) leave(tb testing.TB) int {
	tb.Helper()
	rest, err := io.ReadAll(s.file)
	s.seen.Write(rest)
	var path *os.PathError // how a closed pseudo-terminal ends on Linux
	if err != nil && !errors.As(err, &path) {
		tb.Fatal(err)
	}
	var exit *exec.ExitError
	if err := s.cmd.Wait(); err != nil && !errors.As(err, &exit) {
		tb.Fatal(err)
	}
	return s.cmd.ProcessState.ExitCode()
}

func (s *screen) keys(tb testing.TB, keys string) {
	tb.Helper()
	if _, err := s.file.WriteString(keys); err != nil {
		tb.Fatal(err)
	}
}

// A broker that never answers must not keep the console from showing itself,
// and the terminal is never asked anything before it does.
func TestFirstFrameComesBeforeAnyAnswer(t *testing.T) {
	s := onTerminal(t, binary(t), "--brokers", silent(t), "--topic", "action-state", "--timeout", "10s")
	s.until(t, "action-state")
	if early := s.seen.String(); strings.Contains(early, "\x1b]11") || strings.Contains(early, "\x1b]10") {
		t.Errorf("the terminal was asked for its colours: %q", early)
	}
	s.keys(t, "q")
	if code := s.leave(t); code != 0 {
		t.Errorf("exit %d after q", code)
	}
	if last := s.seen.String(); !strings.Contains(last, "\x1b[?1049l") {
		t.Error("the terminal was left in the alternate screen")
	}
}

// The demo shows its incident, and leaves no file behind.
func TestDemoLeavesNothingBehind(t *testing.T) {
	path := binary(t)
	folder := t.TempDir()
	s := onTerminal(t, path, "demo")
	for i, entry := range s.cmd.Env {
		if strings.HasPrefix(entry, "TMPDIR=") {
			folder = strings.TrimPrefix(s.cmd.Env[i], "TMPDIR=")
		}
	}
	s.until(t, "order-agent")
	s.until(t, "is in force, log not trimmed yet on 2 of 64")
	s.keys(t, "q")
	if code := s.leave(t); code != 0 {
		t.Errorf("exit %d", code)
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// A killed terminal or an interrupt ends the console with the code that says so.
func TestInterruptEndsTheConsole(t *testing.T) {
	s := onTerminal(t, binary(t), "--brokers", silent(t), "--topic", "action-state")
	s.until(t, "action-state")
	if err := s.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if code := s.leave(t); code != 130 {
		t.Errorf("exit %d, want 130", code)
	}
}

func BenchmarkFirstFrame(b *testing.B) {
	path, broker := binary(b), silent(b)
	for b.Loop() {
		s := onTerminal(b, path, "--brokers", broker, "--topic", "action-state")
		s.until(b, "action-state")
		s.end()
	}
}

// largeEnv is set for the process that writes a large metadata file: how large,
// in megabytes, and where to.
const largeEnv = "RECOVERCTL_BENCH_METADATA"

// largeMetadata is a folder with a metadata file of so many megabytes. Another
// process makes it: a process begins with the peak memory of the one that starts
// it.
func largeMetadata(b *testing.B, megabytes int) string {
	b.Helper()
	folder := filepath.Join(b.TempDir(), "chk-2")
	if err := os.Mkdir(folder, 0o700); err != nil {
		b.Fatal(err)
	}
	child := exec.Command(os.Args[0], "-test.run=^$", "-test.bench=^BenchmarkWritingMetadata$", "-test.benchtime=1x")
	child.Env = append(os.Environ(), fmt.Sprintf("%s=%d %s", largeEnv, megabytes, filepath.Join(folder, "_metadata")))
	if out, err := child.CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	return folder
}

// BenchmarkWritingMetadata is what largeMetadata runs in a process of its own.
func BenchmarkWritingMetadata(b *testing.B) {
	if os.Getenv(largeEnv) == "" {
		b.Skip("it is a part of other benchmarks")
	}
	var megabytes int
	var file string
	if _, err := fmt.Sscan(os.Getenv(largeEnv), &megabytes, &file); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		metadata := flinkcases.Large(b, 256, 400)
		if megabytes > 1 {
			metadata = flinkcases.LargeJob(b, megabytes*1_000_000)
		}
		if err := os.WriteFile(file, metadata, 0o600); err != nil {
			b.Fatal(err)
		}
	}
}

// The whole process, from start to the last byte of its answer, on a metadata
// file of 1 MB.
func BenchmarkPointProcess(b *testing.B) {
	path := binary(b)
	for _, size := range []int{1, 10, 100} {
		b.Run(fmt.Sprintf("%dMB", size), func(b *testing.B) {
			folder := largeMetadata(b, size)
			peak := int64(0)
			for b.Loop() {
				cmd := exec.Command(path, "inspect", "point", folder)
				if out, err := cmd.CombinedOutput(); err != nil || !bytes.Contains(out, []byte("versioned, 400 partitions")) {
					b.Fatalf("%v\n%s", err, out)
				}
				if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
					peak = max(peak, usage.Maxrss)
				}
			}
			b.ReportMetric(float64(peak)/1024, "peak-MiB")
		})
	}
}

// The whole process against the demo's cluster, which another process serves.
func BenchmarkInspectJobProcess(b *testing.B) {
	path := binary(b)
	dir := b.TempDir()
	sample, err := incident.Start(context.Background(), dir, time.Now())
	if err != nil {
		b.Fatal(err)
	}
	defer sample.Close()
	config := filepath.Join(dir, "config.yaml")
	if err := os.WriteFile(config, sample.ConfigYAML(), 0o600); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		out, err := exec.Command(path, "inspect", "job", "--config", config).CombinedOutput()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != 1 || !bytes.Contains(out, []byte("chk-44")) {
			b.Fatalf("%v\n%s", err, out)
		}
	}
}
