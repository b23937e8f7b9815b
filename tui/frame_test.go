package tui_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"
	"github.com/muesli/termenv"

	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/tui/tuitest"
)

func letter(r rune) tea.KeyMsg { return tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{r}} }

var (
	keyN     = letter('n')
	keyR     = letter('r')
	keyEsc   = tea.KeyMsg{Type: tea.KeyEsc}
	keyCtrlC = tea.KeyMsg{Type: tea.KeyCtrlC}
)

func TestEverySizeIsDrawn(t *testing.T) {
	d := tuitest.New(t, orders(), &page{name: "Jobs", body: strings.Repeat("long line ", 50) + strings.Repeat("\nline", 300)}, 0, 0)
	for _, size := range []tui.Size{
		{0, 0}, {1, 0}, {0, 1}, {1, 1}, {2, 40}, {200, 1}, {40, 10}, {59, 15}, {60, 14},
	} {
		d.Resize(size.Width, size.Height)
		frame := d.Frame()
		if strings.Contains(frame, "Jobs") || strings.Contains(frame, "\n") {
			t.Errorf("%v is below the minimum but shows %q", size, frame)
		}
		if want := fmt.Sprintf("has %d×%d", size.Width, size.Height); size.Width >= 40 && !strings.Contains(frame, want) {
			t.Errorf("%v says %q, want %q in it", size, frame, want)
		}
	}
	for width, want := range map[int]string{
		59: "needs 60×15, has 59×15: enlarge it, or leave with ctrl-c", 40: "needs 60×15, has 40×15; ctrl-c leaves",
		25: "needs 60×15, or ctrl-c", 20: "needs 60×15", 3: "nee",
	} {
		if d.Resize(width, 15); d.Frame() != want {
			t.Errorf("%d cells say %q, want %q", width, d.Frame(), want)
		}
	}
	for _, size := range []tui.Size{{60, 15}, {80, 24}, {200, 60}} {
		d.Resize(size.Width, size.Height)
		if got := strings.Count(d.Frame(), "\n") + 1; got != size.Height {
			t.Errorf("%v has %d lines", size, got)
		}
	}
	d.Resize(60, 15)
	d.Golden("cut-60x15")
}

func TestNoKeyWorksBelowTheMinimum(t *testing.T) {
	d := tuitest.New(t, tuitest.Plain(), &page{name: "Jobs", keys: opens(&page{name: "other"})}, 59, 24)
	d.Press("n", "q", "?", "esc")
	d.Burst("nn")
	d.Paste("n")
	if d.Top().Crumb() != "Jobs" || d.Exited() {
		t.Errorf("a key worked unseen: on %q", d.Top().Crumb())
	}
	d.Press("ctrl+z")
	if d.Suspended() != 1 {
		t.Error("ctrl-z does not work")
	}
}

func TestHeaderAlwaysSaysWhereAndWhetherItCanBreak(t *testing.T) {
	opts := orders()
	for _, width := range []int{60, 66, 72, 80, 140} {
		d := tuitest.New(t, opts, &page{name: "Jobs"}, width, 15)
		header := strings.Split(d.Frame(), "\n")[0]
		for _, want := range []string{"orders PRODUCTION  read-only", "flink FAILING 4m", "14:03Z"} {
			if !strings.Contains(header, want) {
				t.Errorf("at %d cells %q lacks %q", width, header, want)
			}
		}
	}
	opts.Header = func() tui.Header {
		return tui.Header{
			Profile: strings.Repeat("very-long-", 12), Environment: "production", Production: true, Access: "operate 27 min",
			Connections: []tui.Connection{{Name: "kafka", State: "ok", Tone: theme.OK}, {Name: "flink"}},
		}
	}
	d := tuitest.New(t, opts, &page{name: "Jobs"}, 60, 15)
	if header := strings.Split(d.Frame(), "\n")[0]; !strings.Contains(header, "… PRODUCTION  operate 27 min") {
		t.Errorf("a long profile hides the rest: %q", header)
	}
}

func TestLongPathKeepsItsEndAndTheAge(t *testing.T) {
	screens := []*page{{name: "Jobs"}, {name: "order-agent-with-a-long-name"}, {name: "savepoint-4f3c-a1"}, {name: "restore check", status: tui.Status{ReadAt: tuitest.Start.Add(-14 * time.Second)}}}
	for i := range len(screens) - 1 {
		screens[i].keys = opens(screens[i+1])
	}
	d := tuitest.New(t, tuitest.Plain(), screens[0], 60, 15)
	d.Press("n", "n", "n")
	want := " … › savepoint-4f3c-a1 › restore check"
	if line := strings.Split(d.Frame(), "\n")[1]; !strings.HasPrefix(line, want) || !strings.HasSuffix(line, "  data 10 s old") {
		t.Errorf("path line %q", line)
	}
}

func TestAgeOfTheData(t *testing.T) {
	tests := []struct {
		age  time.Duration
		want string
	}{
		{9 * time.Second, "data just read"},
		{59 * time.Second, "data 50 s old"},
		{60 * time.Second, "data 1 min old"},
		{59*time.Minute + 59*time.Second, "data 59 min old"},
		{25 * time.Hour, "data 25 h old"},
	}
	for _, tt := range tests {
		d := tuitest.New(t, tuitest.Plain(), &page{name: "Jobs", status: tui.Status{ReadAt: tuitest.Start.Add(-tt.age)}}, 80, 24)
		if line := strings.Split(d.Frame(), "\n")[1]; !strings.HasSuffix(line, " "+tt.want) {
			t.Errorf("after %s: %q, want %q", tt.age, line, tt.want)
		}
	}
	nothing := tuitest.New(t, tuitest.Plain(), &page{name: "Jobs"}, 80, 24)
	if line := strings.Split(nothing.Frame(), "\n")[1]; !strings.HasSuffix(line, " not read") {
		t.Errorf("without data: %q", line)
	}
}

// An idle console over a slow line: at most one changed line in ten seconds.
func TestIdleConsoleChangesOneLineAtATime(t *testing.T) {
	opts := orders()
	d := tuitest.New(t, opts, &page{name: "Jobs", status: tui.Status{ReadAt: tuitest.Start}}, 80, 24)
	before := strings.Split(d.Frame(), "\n")
	changes := 0
	for range 60 {
		d.Advance(10 * time.Second)
		after := strings.Split(d.Frame(), "\n")
		changed := 0
		for i := range after {
			if after[i] != before[i] {
				changed++
			}
		}
		if changed > 1 {
			t.Fatalf("%d lines changed at %s:\n%s", changed, d.Now().Format(time.TimeOnly), strings.Join(after, "\n"))
		}
		changes += changed
		before = after
	}
	if want := "data 9 min old"; !strings.HasSuffix(before[1], want) && !strings.HasSuffix(before[1], "data 10 min old") {
		t.Errorf("after ten minutes: %q", before[1])
	}
	if !strings.HasSuffix(before[0], "14:13Z") {
		t.Errorf("the clock stands at %q", before[0])
	}
	if changes < 20 {
		t.Errorf("only %d changes in ten minutes", changes)
	}
}

// The header is asked again when nothing else happens: a connection that fails
// shows itself.
func TestIdleConsoleShowsAConnectionThatFails(t *testing.T) {
	state := "ok"
	opts := tuitest.Plain()
	opts.Header = func() tui.Header {
		return tui.Header{Profile: "orders", Connections: []tui.Connection{{Name: "kafka", State: state}}}
	}
	d := tuitest.New(t, opts, &page{name: "Jobs"}, 80, 24)
	state = "unreachable"
	d.Advance(10 * time.Second)
	if frame := d.Frame(); !strings.Contains(frame, "kafka unreachable") {
		t.Errorf("it shows:\n%s", frame)
	}
}

func TestOnlyPaintReachesTheTerminal(t *testing.T) {
	tests := map[string]struct{ in, want string }{
		"paint stays":            {"\x1b[1;38;5;203mred\x1b[0m", "\x1b[1;38;5;203mred\x1b[0m"},
		"clipboard":              {"a\x1b]52;c;aGk=\ab", "a\ufffd]52;c;aGk=\ufffdb"},
		"cursor":                 {"a\x1b[2Jb", "a\ufffd[2Jb"},
		"half a sequence":        {"a\x1b[31", "a\ufffd[31"},
		"C1 as a code point":     {"a\u009b31mb", "a\ufffd31mb"},
		"C1 as a byte":           {"a\x9b31mb", "a\ufffd31mb"},
		"tab and return":         {"a\tb\rc", "a\ufffdb\ufffdc"},
		"letters of any script":  {"заказ 注文 ✔", "заказ 注文 ✔"},
		"private sequences, too": {"\x1b[?25h", "\ufffd[?25h"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			d := tuitest.New(t, tuitest.Plain(), &page{name: "Jobs", body: tt.in}, 80, 24)
			if got := strings.Split(d.Styled(), "\n")[2]; got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// All palettes and both sets of signs say the same.
func TestNothingIsSaidByColourAlone(t *testing.T) {
	frames := map[string]bool{}
	for _, p := range []theme.Palette{theme.Dark, theme.Light, theme.Mono, theme.NoStyle} {
		opts := orders()
		opts.Theme = theme.New(theme.Options{Palette: p, Colors: termenv.ANSI256})
		d := tuitest.New(t, opts, &page{name: "Jobs", keys: []tui.Key{{Keys: []string{"A"}, Help: "apply…", Dangerous: true}}}, 80, 24)
		d.Press("A")
		frames[d.Frame()] = true
	}
	if len(frames) != 1 {
		t.Errorf("%d different frames", len(frames))
	}
	opts := orders()
	opts.Theme = theme.New(theme.Options{Palette: theme.NoStyle, ASCII: true})
	d := tuitest.New(t, opts, &page{name: "Jobs", keys: opens(&page{name: "order-agent", body: " text"})}, 60, 15)
	d.Press("n", "?")
	if frame := d.Frame(); strings.ContainsFunc(frame, func(r rune) bool { return r > 0x7e }) {
		t.Errorf("not ASCII:\n%s", frame)
	}
}

type broken struct{ *page }

func (broken) View(tui.Size) string { panic("index out of range") }

func TestAScreenThatCannotBeDrawnSaysSo(t *testing.T) {
	shell := tui.NewShell(t.Context(), tuitest.Plain(), broken{&page{name: "Calls"}})
	defer shell.Close()
	shell.Update(tea.WindowSizeMsg{Width: 100, Height: 24})
	lines := strings.Split(shell.View(), "\n")
	if want := " ✖ a defect in this program: index out of range (frame_test.go:"; !strings.HasPrefix(lines[2], want) {
		t.Errorf("got %q, want %q", lines[2], want)
	}
	if len(lines) != 24 {
		t.Errorf("%d lines", len(lines))
	}
}

func TestFooterKeepsHelp(t *testing.T) {
	var keys []tui.Key
	for r := 'A'; r <= 'Z'; r++ {
		keys = append(keys, key(string(r), "does something long", func() tui.Cmd { return nil }))
	}
	for _, width := range []int{60, 80, 200} {
		d := tuitest.New(t, tuitest.Plain(), &page{name: "Jobs", keys: keys}, width, 15)
		lines := strings.Split(d.Frame(), "\n")
		footer := lines[len(lines)-1]
		if !strings.HasSuffix(footer, "  ? help") || ansi.StringWidth(footer) > width {
			t.Errorf("at %d: %q", width, footer)
		}
	}
}

func TestNumber(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0", 999: "999", 1000: "1,000", 1204118: "1,204,118", -1: "-1", -100000: "-100,000",
		9223372036854775807: "9,223,372,036,854,775,807", -9223372036854775808: "-9,223,372,036,854,775,808",
	} {
		if got := tui.Number(n); got != want {
			t.Errorf("%d is %q, want %q", n, got, want)
		}
	}
}
