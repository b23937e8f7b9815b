package tui_test

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/tui/tuitest"
)

func TestMessagesAreKept(t *testing.T) {
	p := &page{name: "Jobs"}
	n := 0
	p.keys = []tui.Key{
		key("w", "warn", func() tui.Cmd { return tui.Say(theme.Warning, "the broker at k2:9092 does not answer") }),
		key("e", "fail", func() tui.Cmd { n++; return tui.Say(theme.Error, fmt.Sprintf("failure %d", n)) }),
		key("h", "hint", func() tui.Cmd { return tui.Say(theme.Plain, "a hint") }),
	}
	d := tuitest.New(t, tuitest.Plain(), p, 80, 24)
	command(d, "messages")
	if frame := d.Frame(); !strings.Contains(frame, "no message was shown yet") {
		t.Errorf("it shows:\n%s", frame)
	}
	d.Press("esc", "w")
	d.Advance(20 * time.Second)
	d.Press("w", "e", "h")
	command(d, "messages")
	lines := strings.Split(d.Frame(), "\n")
	want := []string{" 14:03:20Z  ✖ failure 1", " 14:03:20Z  ! the broker at k2:9092 does not answer  2 times", ""}
	if !slices.Equal(lines[2:5], want) {
		t.Errorf("got %q, want %q", lines[2:5], want)
	}
	d.Press("esc")
	for range 300 {
		d.Press("e")
	}
	command(d, "messages")
	d.Press("G")
	if frame := d.Frame(); !strings.Contains(frame, "failure 102") || strings.Contains(frame, "failure 101") {
		t.Errorf("not the last 200:\n%s", frame)
	}
}

// A sentence that is longer than the terminal takes a second line, not an end.
func TestALongMessageIsShownWhole(t *testing.T) {
	sentence := "the answer of the broker at k2:9092 was lost, and whether partition 3 was trimmed is not known: verify reads it again"
	p := &page{name: "Jobs", body: strings.Repeat("row\n", 30)}
	p.keys = []tui.Key{key("e", "fail", func() tui.Cmd { return tui.Say(theme.Error, sentence) })}
	d := tuitest.New(t, tuitest.Plain(), p, 80, 24)
	d.Press("e")
	d.Golden("long-message-80x24")
	says(t, d, "✖ "+sentence)
	d.Resize(200, 60)
	if lines := strings.Split(d.Frame(), "\n"); lines[58] != " ✖ "+sentence {
		t.Errorf("on a wide terminal: %q", lines[58])
	}
}

func TestRunningJobs(t *testing.T) {
	var jobs []tui.Job
	cancelled := 0
	opts := tuitest.Plain()
	opts.Jobs = func() []tui.Job { return jobs }
	p := &page{name: "Jobs", body: strings.TrimSuffix(strings.Repeat("row\n", 30), "\n")}
	d := tuitest.New(t, opts, p, 80, 24)
	strip := func() string { return strings.Split(d.Frame(), "\n")[21] }
	if got := strip(); got != "row" {
		t.Errorf("without a job: %q", got)
	}
	jobs = []tui.Job{{Name: "scan action-state", Done: 640_119, Total: 1_204_118, Unit: "records", Rate: 912_345.6, Cancel: func() { cancelled++ }}}
	d.Send(tui.Tick{}) // a job that no key began
	if got, want := strip(), " scan action-state  640,119 of 1,204,118 records  53 %  912,346/s  ctrl-x cancel"; got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	jobs = append(jobs, tui.Job{Name: "verify"}, tui.Job{Name: "list"})
	jobs[0].Done, jobs[0].Rate = 1_204_117, 0
	d.Send(tui.Pulse{})
	if got, want := strip(), " scan ac…  1,204,117 of 1,204,118 records  99 %  and 2 other jobs  ctrl-x cancel"; got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	d.Press("ctrl+x")
	says(t, d, "asked scan action-state to stop")
	if cancelled != 1 {
		t.Errorf("cancelled %d times", cancelled)
	}
	d.Hold("ctrl+x", 5)
	if cancelled != 2 {
		t.Errorf("held down it cancelled %d times", cancelled-1)
	}
	jobs = []tui.Job{{Name: "apply 3f9c21aa", Done: 62, Total: 64, Unit: "partitions", Holds: "an apply is running"}}
	d.Press("ctrl+z")
	says(t, d, "ctrl-z is off: an apply is running")
	if d.Suspended() != 0 {
		t.Error("it was suspended")
	}
	d.Press("ctrl+x")
	says(t, d, "apply 3f9c21aa can be stopped on its own screen only")
	jobs = nil
	d.Press("ctrl+x")
	says(t, d, "no job is running")
	if got := strip(); got != "row" {
		t.Errorf("after the job: %q", got)
	}
}

func TestCopy(t *testing.T) {
	text := "flink run -s s3://flink-state/checkpoints/4f3c/chk-42 --class example.Orders"
	screen := func() *page {
		return &page{name: "restore check", keys: []tui.Key{tui.CopyKey(func() (string, string) { return "the restore command", text })}}
	}
	encoded := base64.StdEncoding.EncodeToString([]byte(text))
	for name, tt := range map[string]struct {
		through tui.Passthrough
		want    string
	}{
		"directly":           {tui.PassDirect, "\x1b]52;c;" + encoded + "\a"},
		"through tmux":       {tui.PassTmux, "\x1b]52;c;" + encoded + "\a\x1bPtmux;\x1b\x1b]52;c;" + encoded + "\a\x1b\\"},
		"through GNU screen": {tui.PassScreen, "\x1bP\x1b]52;c;" + encoded[:76] + "\x1b\\\x1bP" + encoded[76:] + "\a\x1b\\"},
	} {
		t.Run(name, func(t *testing.T) {
			opts := tuitest.Plain()
			opts.Passthrough = tt.through
			d := tuitest.New(t, opts, screen(), 100, 24)
			d.Press("y")
			if got := d.Clipboard(); got != tt.want {
				t.Errorf("wrote %q, want %q", got, tt.want)
			}
			says(t, d, "✔ sent to the terminal's clipboard: the restore command (1 line, 76 bytes)")
		})
	}
}

func TestTooLongIsNotCopiedAtAll(t *testing.T) {
	text := ""
	d := tuitest.New(t, tuitest.Plain(), &page{name: "receipt", keys: []tui.Key{tui.CopyKey(func() (string, string) { return "the receipt", text })}}, 100, 24)
	d.Press("y")
	says(t, d, "there is nothing to copy here")
	text = strings.Repeat("x", tui.MaxCopy+1)
	d.Press("y")
	says(t, d, "the receipt was not copied: it has 74,995 bytes, a terminal takes 74,994")
	if got := d.Clipboard(); got != "" {
		t.Errorf("wrote %d bytes", len(got))
	}
	text = text[1:]
	d.Press("y")
	if got := len(d.Clipboard()); got != 100_000 {
		t.Errorf("wrote %d bytes: a terminal takes 100,000", got)
	}
}

func TestPassthroughIsReadFromTheEnvironment(t *testing.T) {
	for want, env := range map[tui.Passthrough]map[string]string{
		tui.PassDirect: {"TERM": "xterm-256color"},
		tui.PassTmux:   {"TERM": "screen-256color", "TMUX": "/tmp/tmux-0/default,1,0"},
		tui.PassScreen: {"TERM": "screen.xterm-256color", "STY": "123.pts-0"},
	} {
		if got := tui.PassthroughFromEnv(func(name string) string { return env[name] }); got != want {
			t.Errorf("%v: got %d, want %d", env, got, want)
		}
	}
}

// running is a screen that must be asked before it is left.
type running struct {
	*page
	may   bool
	asked int
}

func (r *running) Leave() (tui.Cmd, bool) {
	r.asked++
	return tui.Say(theme.Warning, "an apply is running"), r.may
}

func TestAScreenIsAskedBeforeItIsLeft(t *testing.T) {
	leave := map[string]func(*tuitest.Driver){
		"esc":         func(d *tuitest.Driver) { d.Press("esc") },
		"last screen": func(d *tuitest.Driver) { d.Press("-") },
		"ctrl-c":      func(d *tuitest.Driver) { d.Press("ctrl+c") },
		":quit":       func(d *tuitest.Driver) { command(d, "quit") },
	}
	for name, press := range leave {
		t.Run(name, func(t *testing.T) {
			apply := &running{page: &page{name: "apply"}}
			d := tuitest.New(t, tuitest.Plain(), &page{name: "Jobs", keys: opens(apply)}, 80, 24)
			d.Press("n")
			press(d)
			if apply.asked != 1 || d.Top() != tui.Screen(apply) || d.Exited() {
				t.Errorf("asked %d times, on %q, exited %v", apply.asked, d.Top().Crumb(), d.Exited())
			}
			says(t, d, "an apply is running")
			apply.may = true
			press(d)
			if d.Top() == tui.Screen(apply) && !d.Exited() {
				t.Error("it may be left but is not")
			}
		})
	}
	t.Run("below other screens", func(t *testing.T) {
		apply := &running{page: &page{name: "apply", keys: opens(&page{name: "journal"})}}
		d := tuitest.New(t, tuitest.Plain(), &page{name: "Jobs", keys: opens(apply)}, 80, 24)
		d.Press("n", "n", "ctrl+c")
		if d.Top() != tui.Screen(apply) || d.Exited() {
			t.Errorf("on %q, exited %v", d.Top().Crumb(), d.Exited())
		}
	})
	t.Run("but not by itself", func(t *testing.T) {
		apply := &running{page: &page{name: "apply", keys: []tui.Key{key("x", "end", tui.Pop), key("z", "leave", tui.Quit)}}}
		d := tuitest.New(t, tuitest.Plain(), &page{name: "Jobs", keys: opens(apply)}, 80, 24)
		d.Press("n", "x")
		if d.Top() == tui.Screen(apply) {
			t.Error("Pop asked")
		}
		d.Press("n", "z")
		if !d.Exited() || apply.asked != 0 {
			t.Error("Quit asked")
		}
	})
}

// An answer of the terminal's and news of its focus are no keys.
func TestWhatIsNoKeyDoesNothing(t *testing.T) {
	d := tuitest.New(t, orders(), &page{name: "Jobs", keys: opens(&page{name: "other"})}, 80, 24)
	before := d.Frame()
	type unknownCSI []byte
	for _, msg := range []tea.Msg{tea.FocusMsg{}, tea.BlurMsg{}, tea.MouseMsg{X: 3, Y: 3, Button: tea.MouseButtonLeft}, unknownCSI("\x1b[?1;2c"), nil} {
		d.Send(msg)
	}
	d.Settle()
	if d.Frame() != before {
		t.Errorf("the frame changed:\n%s", d.Frame())
	}
}

func TestKeysThatMustBePressedAnew(t *testing.T) {
	runs := 0
	next := tui.Key{Keys: []string{"enter"}, Help: "next step", Once: true, Run: func() tui.Cmd { runs++; return nil }}
	d := tuitest.New(t, tuitest.Plain(), &page{name: "apply", keys: []tui.Key{next}}, 80, 24)
	d.Hold("enter", 60)
	if runs != 1 {
		t.Errorf("held down it ran %d times", runs)
	}
	says(t, d, "enter was not taken again so soon: it may be held down")
	d.Press("enter")
	d.Together("?", "?", "enter")
	if runs != 2 {
		t.Errorf("it ran %d times", runs)
	}
}
