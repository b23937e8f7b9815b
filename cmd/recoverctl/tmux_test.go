//go:build real && tmux

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// picturesEnv names a folder for what the terminal showed; nothing is kept where it
// is not set.
const picturesEnv = "RECOVERCTL_PICTURES"

// pane is the console in tmux, as an operator has it.
type pane struct {
	t      *testing.T
	socket string
	pid    int // of the program
}

func startPane(t *testing.T, columns, rows int, command string) *pane {
	t.Helper()
	p := &pane{t: t, socket: filepath.Join(t.TempDir(), "tmux")}
	p.tmux("-f", "/dev/null", "new-session", "-d", "-c", "/", "-s", "console", "-x", strconv.Itoa(columns), "-y", strconv.Itoa(rows), "exec env COLORTERM=truecolor TERM=tmux-256color LANG=C.UTF-8 "+command)
	t.Cleanup(func() { _ = exec.Command("tmux", "-S", p.socket, "kill-server").Run() }) // it may have ended by itself
	pid, err := strconv.Atoi(strings.TrimSpace(p.tmux("display-message", "-p", "-t", "console", "#{pane_pid}")))
	if err != nil {
		t.Fatal(err)
	}
	p.pid = pid
	return p
}

func (p *pane) tmux(args ...string) string {
	p.t.Helper()
	out, err := exec.Command("tmux", append([]string{"-S", p.socket}, args...)...).CombinedOutput()
	if err != nil {
		p.t.Fatalf("tmux %s: %v\n%s", args[0], err, out)
	}
	return string(out)
}

func (p *pane) frame() string { return p.tmux("capture-pane", "-p", "-t", "console") }

func (p *pane) press(keys ...string) {
	p.tmux(append([]string{"send-keys", "-t", "console"}, keys...)...)
}

// until waits for a frame.
func (p *pane) until(what string, is func(frame string) bool) string {
	p.t.Helper()
	var frame string
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); time.Sleep(2 * time.Millisecond) {
		if frame = p.frame(); is(frame) {
			return frame
		}
	}
	p.t.Fatalf("never came: %s\n%s", what, frame)
	return ""
}

func shows(text string) func(string) bool {
	return func(frame string) bool { return strings.Contains(frame, text) }
}

// slowly presses one key after the other, as a person who reads meanwhile: no
// button takes keys that come together or that may be held down.
func (p *pane) slowly(keys ...string) {
	for _, key := range keys {
		time.Sleep(800 * time.Millisecond)
		p.press(key)
	}
}

// command runs one of the palette.
func (p *pane) command(text string) {
	p.press(":")
	p.until("the palette", shows("commands ─"))
	p.types(text)
	p.slowly("Enter")
}

// types presses one key after another, as a person types.
func (p *pane) types(text string) {
	for _, letter := range text {
		time.Sleep(70 * time.Millisecond) // letters that come together open nothing
		p.press("-l", string(letter))
	}
}

// keep writes what the terminal shows, with its colours.
func (p *pane) keep(name string) {
	p.t.Helper()
	folder := os.Getenv(picturesEnv)
	if folder == "" {
		return
	}
	shown := p.tmux("capture-pane", "-p", "-e", "-t", "console")
	if err := os.WriteFile(filepath.Join(folder, name), []byte(shown), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

// pictures keeps what the terminal shows at the three sizes of the pictures, and
// ends at the size that it has.
func (p *pane) pictures(name string) {
	p.t.Helper()
	if os.Getenv(picturesEnv) == "" {
		return
	}
	was := strings.Fields(p.tmux("display-message", "-p", "-t", "console", "#{window_width} #{window_height}"))
	for _, size := range [][]string{{"80", "24"}, {"120", "40"}, {"200", "60"}, was} {
		p.tmux("resize-window", "-t", "console", "-x", size[0], "-y", size[1])
		p.steady()
		p.keep(fmt.Sprintf("%s-%sx%s.txt", name, size[0], size[1]))
	}
}

// steady waits until the terminal shows the same for a while, or a clock in it goes
// on for too long.
func (p *pane) steady() {
	deadline := time.Now().Add(5 * time.Second)
	for last, same := "", 0; same < 5 && time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if frame := p.frame(); frame == last {
			same++
		} else {
			last, same = frame, 0
		}
	}
}

// memory is what the program has resident, in KiB.
func (p *pane) memory() int64 {
	p.t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.pid))
	if err != nil {
		p.t.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kib, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			if err != nil {
				p.t.Fatal(err)
			}
			return kib
		}
	}
	p.t.Fatal("the program has no memory")
	return 0
}

// selected is the row that the cursor is on.
func selected(frame string) string {
	for line := range strings.Lines(frame) {
		if _, row, ok := strings.Cut(line, "▸"); ok {
			return strings.TrimSpace(row)
		}
	}
	return ""
}
