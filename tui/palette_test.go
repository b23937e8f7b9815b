package tui_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/muesli/termenv"

	"github.com/recoverctl/recoverctl/internal/access"
	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/tui/tuitest"
)

// point is a screen with commands of its own.
type point struct {
	*page
	commands []tui.Command
}

func (p point) Commands() []tui.Command { return p.commands }

// withCommands is a screen whose keys and commands note what was run.
func withCommands(ran *[]string) point {
	note := func(what string) func() tui.Cmd {
		return func() tui.Cmd {
			*ran = append(*ran, what)
			return nil
		}
	}
	noteArgs := func(what string) func(string) tui.Cmd {
		return func(args string) tui.Cmd {
			*ran = append(*ran, strings.TrimSpace(what+" "+args))
			return nil
		}
	}
	return point{&page{name: "chk-42", keys: []tui.Key{
		{Keys: []string{"v"}, Help: "why", Run: note("v")},
		{Keys: []string{"p"}, Help: "make oldest restorable…", Dangerous: true, Run: note("p")},
		{Keys: []string{"c"}, Help: "calls", Run: note("c"), Disabled: func() string { return "the topic was not scanned" }},
		{Keys: []string{"j"}, Help: "down", Quiet: true, Run: note("j")},
	}}, []tui.Command{
		{Name: "rollback", Help: "restore the job from this point", Dangerous: true, Run: noteArgs("rollback")},
		{Name: "find", Args: "KEY", Help: "go to a key", Run: noteArgs("find")},
	}}
}

func command(d *tuitest.Driver, line string) {
	d.Press(":")
	d.Type(line)
	d.Press("enter")
}

func says(t *testing.T, d *tuitest.Driver, want string) {
	t.Helper()
	lines := strings.Split(d.Frame(), "\n")
	got := strings.Join(strings.Fields(strings.Join(lines[len(lines)-3:len(lines)-1], " ")), " ")
	if !strings.Contains(got, want) {
		t.Errorf("it says %q, want %q", got, want)
	}
}

// A name that nothing has is told while it is typed, not only at enter.
func TestThePaletteSaysThatNothingHasTheName(t *testing.T) {
	d := tuitest.New(t, tuitest.Plain(), withCommands(new([]string)), 80, 24)
	d.Press(":")
	d.Type("zzz")
	if frame := d.Frame(); !strings.Contains(frame, "no command has this name: zzz") {
		t.Errorf("after :zzz\n%s", frame)
	}
}

func TestPalette(t *testing.T) {
	unlocked := tuitest.Plain()
	tests := map[string]struct {
		opts tui.Options
		do   func(*tuitest.Driver)
		ran  []string
		says string
	}{
		"a command":              {unlocked, func(d *tuitest.Driver) { command(d, "rollback") }, []string{"rollback"}, ""},
		"its beginning":          {unlocked, func(d *tuitest.Driver) { command(d, "roll") }, []string{"rollback"}, ""},
		"its letters in order":   {unlocked, func(d *tuitest.Driver) { command(d, "rlbk") }, []string{"rollback"}, ""},
		"with what follows":      {unlocked, func(d *tuitest.Driver) { command(d, "find alice 17") }, []string{"find alice 17"}, ""},
		"completed by tab":       {unlocked, func(d *tuitest.Driver) { d.Press(":", "f", "tab"); d.Type("bob"); d.Press("enter") }, []string{"find bob"}, ""},
		"a key by its help":      {unlocked, func(d *tuitest.Driver) { command(d, "make oldest") }, []string{"p"}, ""},
		"a word of a key's help": {unlocked, func(d *tuitest.Driver) { command(d, "oldest") }, []string{"p"}, ""},
		"chosen from the list":   {unlocked, func(d *tuitest.Driver) { d.Press(":", "enter") }, []string{"v"}, ""},
		"moved down in the list": {unlocked, func(d *tuitest.Driver) { d.Press(":", "down", "down", "up", "enter") }, []string{"p"}, ""},
		"an earlier one again": {unlocked, func(d *tuitest.Driver) {
			command(d, "find a")
			command(d, "find b")
			d.Press(":", "ctrl+p", "ctrl+p", "enter")
		}, []string{"find a", "find b", "find a"}, ""},
		"the latest of two earlier": {unlocked, func(d *tuitest.Driver) {
			command(d, "find a")
			command(d, "find b")
			d.Press(":", "ctrl+p", "ctrl+p", "ctrl+n", "enter")
		}, []string{"find a", "find b", "find b"}, ""},
		"no command":                 {unlocked, func(d *tuitest.Driver) { command(d, "delete everything") }, nil, "no command is called delete everything: esc closes the palette"},
		"too much":                   {unlocked, func(d *tuitest.Driver) { command(d, "rollback now") }, nil, "rollback takes nothing after its name"},
		"a key that is off":          {unlocked, func(d *tuitest.Driver) { command(d, "calls") }, nil, "calls is off: the topic was not scanned"},
		"locked":                     {orders(), func(d *tuitest.Driver) { command(d, "rollback") }, nil, "rollback is off: access is read-only"},
		"esc":                        {unlocked, func(d *tuitest.Driver) { d.Press(":"); d.Type("rollback"); d.Press("esc") }, nil, ""},
		"ctrl-c":                     {unlocked, func(d *tuitest.Driver) { d.Press(":"); d.Type("rollback"); d.Press("ctrl+c") }, nil, ""},
		"a paste":                    {unlocked, func(d *tuitest.Driver) { d.Press(":"); d.Paste("rollback\r"); d.Press("esc") }, nil, ""},
		"enter with the letters":     {unlocked, func(d *tuitest.Driver) { d.Press(":"); d.Together("f", "i", "n", "d", "enter") }, nil, "enter came together with other letters and was not taken: press it alone"},
		"a change, typed ahead":      {unlocked, func(d *tuitest.Driver) { d.Press(":"); d.Burst("rollback"); d.Press("enter") }, nil, "rollback must be typed letter by letter"},
		"all in one piece":           {unlocked, func(d *tuitest.Driver) { d.Burst(":rollback"); d.Press("enter") }, nil, "rollback must be typed letter by letter"},
		"a harmless one, in a piece": {unlocked, func(d *tuitest.Driver) { d.Burst(":find"); d.Press("space", "x", "enter") }, []string{"find x"}, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var ran []string
			d := tuitest.New(t, tt.opts, withCommands(&ran), 80, 24)
			tt.do(d)
			if !slices.Equal(ran, tt.ran) {
				t.Errorf("ran %q, want %q:\n%s", ran, tt.ran, d.Frame())
			}
			says(t, d, tt.says)
			if d.Exited() {
				t.Error("it left")
			}
		})
	}
}

func TestPaletteShowsWhatThereIs(t *testing.T) {
	for _, size := range []tui.Size{{Width: 60, Height: 15}, {Width: 80, Height: 24}, {Width: 120, Height: 40}} {
		var ran []string
		d := tuitest.New(t, orders(), withCommands(&ran), size.Width, size.Height)
		d.Press(":", "down")
		d.Golden(fmt.Sprintf("palette-%dx%d", size.Width, size.Height))
	}
	var ran []string
	d := tuitest.New(t, orders(), withCommands(&ran), 80, 24)
	d.Press(":")
	d.Type("rea")
	d.Golden("palette-filtered-80x24")
}

func TestCommandsOfTheShell(t *testing.T) {
	p := reloading{&page{name: "Jobs"}}
	d := tuitest.New(t, tuitest.Plain(), p, 80, 24)
	command(d, "help")
	if d.Top().Crumb() != "help" {
		t.Errorf(":help shows %q", d.Top().Crumb())
	}
	command(d, "quit")
	if !d.Exited() {
		t.Error(":quit does not leave from a screen that is not the first")
	}
	opts := tuitest.Plain()
	opts.Commands = []tui.Command{{Name: "connections", Help: "what is connected", Run: func(string) tui.Cmd { return tui.Push(&page{name: "Connections"}) }}}
	d = tuitest.New(t, opts, p, 80, 24)
	command(d, "connections")
	if d.Top().Crumb() != "Connections" {
		t.Errorf("the caller's command shows %q", d.Top().Crumb())
	}
	opts.Commands = []tui.Command{{Name: "producers", Args: "JOB", Choices: []string{"orders"}, Help: "of a job", Run: func(name string) tui.Cmd { return tui.Push(&page{name: "Producers of " + name}) }}}
	d = tuitest.New(t, opts, p, 80, 24)
	command(d, "producers")
	if d.Top().Crumb() != "Producers of orders" {
		t.Errorf("a command with one choice, which was not typed, shows %q", d.Top().Crumb())
	}
}

func TestThemeIsChosenWhileTheConsoleRuns(t *testing.T) {
	opts := orders()
	opts.Theme = theme.New(theme.Options{Palette: theme.Dark, Colors: termenv.ANSI256})
	d := tuitest.New(t, opts, &page{name: "Jobs"}, 80, 24)
	dark := d.Styled()
	command(d, "theme light")
	if d.Styled() == dark || opts.Theme.Palette() != theme.Light {
		t.Error("the colours are the same")
	}
	says(t, d, "✔ theme light")
	command(d, "theme blue")
	says(t, d, "theme needs one of: dark, light, high-contrast, mono")
	d.Press("esc", ":")
	d.Type("th")
	d.Press("tab", "tab", "tab", "tab", "enter")
	if opts.Theme.Palette() != theme.HighContrast {
		t.Errorf("tab went to %s", opts.Theme.Palette())
	}
	d = tuitest.New(t, tuitest.Plain(), &page{name: "Jobs"}, 80, 24)
	command(d, "theme light")
	says(t, d, "! this terminal shows no colours")
}

func TestArming(t *testing.T) {
	armed := func(level access.Level) (*tuitest.Driver, *[]string) {
		opts := orders()
		header := opts.Header
		opts.Header = func() tui.Header {
			h := header()
			h.Access, h.Locked = "", ""
			return h
		}
		opts.Arming, opts.Level = new(access.Arming), level
		ran := new([]string)
		return tuitest.New(t, opts, withCommands(ran), 100, 24), ran
	}
	headerLine := func(d *tuitest.Driver) string { return strings.SplitN(d.Frame(), "\n", 2)[0] }
	d, ran := armed(access.Operate)
	if got := headerLine(d); !strings.HasPrefix(got, " orders PRODUCTION  read-only ") {
		t.Errorf("it starts as %q", got)
	}
	d.Press("p")
	says(t, d, "p make oldest restorable… is off: the console is read-only until :operate arms it for 30 minutes")
	d.Burst(":operate")
	d.Press("enter")
	says(t, d, "operate must be typed letter by letter")
	d.Press("esc")
	command(d, "operate")
	if got := headerLine(d); !strings.HasPrefix(got, " orders PRODUCTION  operate 30m ") {
		t.Errorf("armed it is %q", got)
	}
	says(t, d, "! changes are possible for 30 minutes; :readonly ends that")
	d.Press("p")
	d.Advance(time.Minute)
	if got := headerLine(d); !strings.HasPrefix(got, " orders PRODUCTION  operate 29m ") {
		t.Errorf("a minute later it is %q", got)
	}
	d.Advance(28*time.Minute + 30*time.Second)
	if got := headerLine(d); !strings.HasPrefix(got, " orders PRODUCTION  operate <1m ") {
		t.Errorf("in the last minute it is %q", got)
	}
	d.Advance(40 * time.Second)
	if got := headerLine(d); !strings.HasPrefix(got, " orders PRODUCTION  read-only ") {
		t.Errorf("at the end it is %q", got)
	}
	d.Press("p")
	command(d, "operate")
	command(d, "readonly")
	d.Press("p")
	says(t, d, "is off: the console is read-only")
	if !slices.Equal(*ran, []string{"p"}) {
		t.Errorf("ran %q", *ran)
	}

	d, ran = armed(access.ReadOnly)
	command(d, "operate")
	says(t, d, "✖ access is read-only: nothing may be changed (set access: operate in the profile")
	d.Press("p")
	says(t, d, "p make oldest restorable… is off: access is read-only: nothing may be changed")
	if len(*ran) != 0 {
		t.Errorf("ran %q", *ran)
	}
}

// Arming ends while the palette is open: what it offered is not run.
func TestAPaletteThatOutlivedTheArming(t *testing.T) {
	opts := tuitest.Plain()
	opts.Arming, opts.Level = new(access.Arming), access.Operate
	var ran []string
	d := tuitest.New(t, opts, withCommands(&ran), 80, 24)
	command(d, "operate")
	d.Press(":")
	d.Type("rollback")
	d.Advance(31 * time.Minute)
	d.Press("enter")
	says(t, d, "rollback is off: the console is read-only")
	if len(ran) != 0 {
		t.Errorf("ran %q", ran)
	}
}

func TestKeysMarkdown(t *testing.T) {
	var ran []string
	p := withCommands(&ran)
	page := tui.KeysMarkdown([]tui.Documented{{Name: "Recovery point", Keys: p.Keys(), Commands: p.Commands()}})
	tuitest.Golden(t, "keys.md", page)
}

func TestNoTwoMeanings(t *testing.T) {
	if clashes := append(tui.Clashes(nil), tui.CommandClashes(nil)...); len(clashes) > 0 {
		t.Errorf("among what every screen has: %q", clashes)
	}
	got := tui.CommandClashes([]tui.Command{{Name: "find", Help: "a key"}, {Name: "find", Help: "a point"}, {Name: "quit", Help: "stop the job"}})
	want := []string{`:find is both "a key" and "a point"`, `:quit is both "leave the console" and "stop the job"`}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
