package flusstest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/recoverctl/recoverctl/internal/flussrpc"
	"github.com/recoverctl/recoverctl/internal/secret"
	"github.com/recoverctl/recoverctl/internal/testkit/filelock"
)

// RealCluster is the real Fluss cluster that test/real/run.sh has started.
type RealCluster struct {
	Servers []string // the coordinator's first; they ask for no login, and whoever comes by them may do everything
	SASL    []string // the same, which ask for a login and for rights
	User    flussrpc.Login
	Admin   flussrpc.Login

	dir  string
	tool string
}

// Real is that cluster, once its coordinator names both tablet servers. A test
// that runs without it fails. It is the test's alone, since some kill its servers:
// whoever has it must not ask for it again.
func Real(t TB) *RealCluster {
	t.Helper()
	c := Shared(t)
	release, err := filelock.Wait(t.Context(), filepath.Join(c.dir, "lock"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(release)
	c.Ready(t)
	return c
}

// Shared is that cluster for a process that was started by a test which has it.
func Shared(t TB) *RealCluster {
	t.Helper()
	get := func(name string) string {
		value := os.Getenv("RECOVERCTL_TEST_FLUSS" + name)
		if value == "" {
			t.Fatalf("RECOVERCTL_TEST_FLUSS%s is not set: run this through test/real/run.sh", name)
		}
		return value
	}
	return &RealCluster{
		Servers: strings.Split(get(""), ","), SASL: strings.Split(get("_SASL"), ","), dir: get("_DIR"), tool: get("_TOOL"),
		User:  flussrpc.Login{Username: get("_USER"), Password: secret.New(get("_PASSWORD"))},
		Admin: flussrpc.Login{Username: get("_ADMIN_USER"), Password: secret.New(get("_ADMIN_PASSWORD"))},
	}
}

// startTime is how long a cluster may take to come up.
const startTime = 3 * time.Minute

// Ready waits until the coordinator names both tablet servers.
func (c *RealCluster) Ready(t TB) {
	t.Helper()
	client := c.Client(t)
	var last error
	for until := time.Now().Add(startTime); time.Now().Before(until); time.Sleep(300 * time.Millisecond) {
		got, err := client.Cluster(context.Background())
		if err == nil && len(got.Tablets) == len(c.Servers)-1 && got.Told.Kind == flussrpc.Coordinator {
			return
		}
		last = err
	}
	t.Fatalf("the cluster is not ready after %s: %v", startTime, last)
}

// Client is a client of the listeners that ask for a login, with every right. To
// who comes by the others no table is listed, as long as there are rights at all.
func (c *RealCluster) Client(t TB) *flussrpc.Client {
	t.Helper()
	client, err := flussrpc.NewClient(flussrpc.Config{
		Servers: c.SASL, Timeout: 10 * time.Second, Patience: 40 * time.Second,
		Login: func(context.Context) (flussrpc.Login, error) { return c.Admin, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return client
}

// Remote is the folder of the cluster's remote storage.
func (c *RealCluster) Remote() string { return filepath.Join(c.dir, "remote") }

// Kill ends a process of the cluster by force: coordinator, tablet0 or tablet1.
func (c *RealCluster) Kill(t TB, name string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(c.dir, name, "pid"))
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	c.wait(t, name, func(err error) bool { return errors.Is(err, os.ErrNotExist) })
}

// Start starts processes that were killed, and waits until the cluster is ready.
func (c *RealCluster) Start(t TB, names ...string) {
	t.Helper()
	for _, name := range names {
		if err := os.WriteFile(filepath.Join(c.dir, name, "start"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range names {
		c.wait(t, name, func(err error) bool { return err == nil })
	}
	c.Ready(t)
}

// wait waits until the file with a process's pid is as it should be.
func (c *RealCluster) wait(t TB, name string, done func(error) bool) {
	t.Helper()
	for until := time.Now().Add(startTime); time.Now().Before(until); time.Sleep(50 * time.Millisecond) {
		if _, err := os.Stat(filepath.Join(c.dir, name, "pid")); done(err) {
			return
		}
	}
	t.Fatalf("%s did not change in %s", name, startTime)
}

// Java is Fluss's own client, spoken to through test/real/fluss/tool.
type Java struct {
	mu   sync.Mutex
	in   io.WriteCloser
	out  *bufio.Reader
	kill func() error
	pid  int
}

// Processor is what its process has used of the processors so far.
func (j *Java) Processor(t TB) time.Duration {
	t.Helper()
	return processorOf(t, j.pid)
}

// Processor is what the tablet servers have used of the processors so far.
func (c *RealCluster) Processor(t TB) (sum time.Duration) {
	t.Helper()
	for n := range len(c.Servers) - 1 {
		text, err := os.ReadFile(filepath.Join(c.dir, fmt.Sprintf("tablet%d", n), "pid"))
		if err != nil {
			t.Fatal(err)
		}
		pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
		if err != nil {
			t.Fatal(err)
		}
		sum += processorOf(t, pid)
	}
	return sum
}

// processorOf reads it from the kernel, which counts in hundredths of a second.
func processorOf(t TB, pid int) time.Duration {
	t.Helper()
	const user, system, tick = 11, 12, 10 * time.Millisecond // fields behind the program's name
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	sum := 0
	for _, at := range []int{user, system} {
		n, err := strconv.Atoi(fields[at])
		if err != nil {
			t.Fatal(err)
		}
		sum += n
	}
	return time.Duration(sum) * tick
}

// commandTime is how long a command of the tool may take. Fluss's own client tries
// for ever where a bucket gets no leader.
const commandTime = 10 * time.Minute

// starts are the options by which a JVM is ready soonest.
var starts = []string{"-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"}

// command is the tool, not started.
func (c *RealCluster) command(t TB, options ...string) *exec.Cmd {
	return exec.CommandContext(context.WithoutCancel(t.Context()), "java",
		append(options, "--add-opens=java.base/java.nio=ALL-UNNAMED", "-cp", c.tool, "recoverctl.FlussTool", strings.Join(c.Servers, ","))...)
}

// JavaOnce starts it for one command alone, whose result is read into a value, and
// waits until it is gone.
func (c *RealCluster) JavaOnce(t TB, into any, words ...string) {
	t.Helper()
	cmd := c.command(t, starts...)
	cmd.Stdin = strings.NewReader(strings.Join(words, "\t") + "\n")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(words[0], err)
	}
	result(t, words[0], out, into)
}

// Java starts it. It ends with the test.
func (c *RealCluster) Java(t TB) *Java {
	t.Helper()
	options := starts
	if os.Getenv("RECOVERCTL_BENCH_RECORDS") != "" {
		options = []string{"-Xmx1g"} // the client is measured: it gets the compiler that it has in production
	}
	cmd := c.command(t, options...)
	log, err := os.CreateTemp(t.TempDir(), "java")
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = log
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close() // which ends it
		if err := cmd.Wait(); err != nil {
			t.Errorf("the tool: %v", err)
		}
		_ = log.Close()
	})
	const line = 1 << 20
	return &Java{in: in, out: bufio.NewReaderSize(out, line), kill: cmd.Process.Kill, pid: cmd.Process.Pid}
}

// Do gives a command and reads its result into a value, which may be nil.
func (j *Java) Do(t TB, into any, words ...string) {
	t.Helper()
	j.mu.Lock()
	defer j.mu.Unlock()
	late := time.AfterFunc(commandTime, func() { _ = j.kill() }) // one that ended by itself is told by what is read
	defer late.Stop()
	if _, err := io.WriteString(j.in, strings.Join(words, "\t")+"\n"); err != nil {
		t.Fatal(err)
	}
	answer, err := j.out.ReadBytes('\n')
	if err != nil {
		t.Fatalf("%s: the tool ended without an answer, by itself or because it took more than %s: %v", words[0], commandTime, err)
	}
	result(t, words[0], answer, into)
}

// result reads a line of the tool into a value, which may be nil.
func result(t TB, command string, answer []byte, into any) {
	t.Helper()
	var failed struct {
		Error string `json:"error"`
	}
	if err := json.Unmarshal(answer, &failed); err == nil && failed.Error != "" {
		t.Fatalf("%s: %s", command, failed.Error)
	}
	if into == nil {
		return
	}
	if err := json.Unmarshal(answer, into); err != nil {
		t.Fatal(command, fmt.Errorf("%.200s: %w", answer, err))
	}
}
