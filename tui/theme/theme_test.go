package theme_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/muesli/termenv"

	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/tui/theme"
)

var everyTone = []theme.Tone{
	theme.Plain, theme.Title, theme.Muted, theme.OK, theme.Warning, theme.Error,
	theme.Selected, theme.Production, theme.KeyName,
}

func TestEnvironmentChoosesTheLook(t *testing.T) {
	tests := map[string]struct {
		env  map[string]string
		want theme.Options
	}{
		"a modern terminal": {
			map[string]string{"TERM": "xterm-256color", "LANG": "en_US.UTF-8"},
			theme.Options{Palette: theme.Dark, Colors: termenv.ANSI256},
		},
		"sixteen colours": {
			map[string]string{"TERM": "xterm"},
			theme.Options{Palette: theme.Dark, Colors: termenv.ANSI},
		},
		"NO_COLOR of any value": {
			map[string]string{"TERM": "xterm", "NO_COLOR": "0"},
			theme.Options{Palette: theme.Mono, Colors: termenv.ANSI},
		},
		"NO_COLOR empty is absent": {
			map[string]string{"TERM": "xterm", "NO_COLOR": ""},
			theme.Options{Palette: theme.Dark, Colors: termenv.ANSI},
		},
		"a light background": {
			map[string]string{"TERM": "xterm", "COLORTERM": "truecolor", "COLORFGBG": "0;15"},
			theme.Options{Palette: theme.Light, Colors: termenv.ANSI256},
		},
		"the Linux console": {
			map[string]string{"TERM": "linux", "LANG": "en_US.UTF-8"},
			theme.Options{Palette: theme.Dark, ASCII: true, Colors: termenv.ANSI},
		},
		"a terminal without colours": {
			map[string]string{"TERM": "vt100", "COLORFGBG": "0;15"},
			theme.Options{Palette: theme.Mono, ASCII: true, Colors: termenv.ANSI},
		},
		"a dumb terminal": {
			map[string]string{"TERM": "dumb"},
			theme.Options{Palette: theme.NoStyle, ASCII: true, Colors: termenv.Ascii},
		},
		"no terminal type": {
			map[string]string{},
			theme.Options{Palette: theme.NoStyle, Colors: termenv.Ascii},
		},
		"a locale without UTF-8": {
			map[string]string{"TERM": "xterm", "LC_ALL": "C", "LANG": "en_US.UTF-8"},
			theme.Options{Palette: theme.Dark, ASCII: true, Colors: termenv.ANSI},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := theme.FromEnv(func(key string) string { return tt.env[key] })
			if got != tt.want {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
}

// Colour may only repeat: without it, every palette shows the same words.
func TestPalettesDifferOnlyInEscapes(t *testing.T) {
	for _, p := range []theme.Palette{theme.Dark, theme.Light, theme.HighContrast, theme.Mono, theme.NoStyle} {
		th := theme.New(theme.Options{Palette: p, Colors: termenv.ANSI256})
		for _, tone := range everyTone {
			if got := ansi.Strip(th.Paint(tone, "REJECTED")); got != "REJECTED" {
				t.Errorf("palette %d tone %d shows %q", p, tone, got)
			}
		}
		if got := ansi.Strip(th.Signed(theme.Error, "no")); got != "✖ no" {
			t.Errorf("palette %d: %q", p, got)
		}
	}
}

func TestNoStyleWritesNoEscape(t *testing.T) {
	for _, o := range []theme.Options{
		{Palette: theme.NoStyle, Colors: termenv.ANSI256},
		{Palette: theme.Dark, Colors: termenv.Ascii},
	} {
		th := theme.New(o)
		for _, tone := range everyTone {
			if got := th.Paint(tone, "x"); got != "x" {
				t.Errorf("%+v tone %d writes %q", o, tone, got)
			}
		}
	}
}

func TestMonoHasNoColour(t *testing.T) {
	th := theme.New(theme.Options{Palette: theme.Mono, Colors: termenv.ANSI256})
	want := map[theme.Tone]string{
		theme.Plain: "x", theme.OK: "x",
		theme.Title: "\x1b[1mx\x1b[0m", theme.Error: "\x1b[1mx\x1b[0m", theme.Warning: "\x1b[1mx\x1b[0m",
		theme.KeyName: "\x1b[1mx\x1b[0m", theme.Muted: "\x1b[2mx\x1b[0m",
		theme.Selected: "\x1b[7mx\x1b[0m", theme.Production: "\x1b[1;7mx\x1b[0m",
	}
	for _, tone := range everyTone {
		if got := th.Paint(tone, "x"); got != want[tone] {
			t.Errorf("tone %d writes %q, want %q", tone, got, want[tone])
		}
	}
}

// A selected row keeps its background behind cells that have a colour.
func TestPaintedPartsKeepTheirLook(t *testing.T) {
	th := theme.New(theme.Options{Palette: theme.Mono, Colors: termenv.ANSI})
	got := th.Paint(theme.Selected, "a "+th.Paint(theme.Error, "b")+" c")
	if want := "\x1b[7ma \x1b[1mb\x1b[0m\x1b[7m c\x1b[0m"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Two signs that look alike would give one sign two meanings.
func TestOneSignOneMeaning(t *testing.T) {
	for _, ascii := range []bool{false, true} {
		signs := reflect.ValueOf(theme.New(theme.Options{ASCII: ascii}).Signs)
		seen := map[string]string{}
		for i := range signs.NumField() {
			name, sign := signs.Type().Field(i).Name, signs.Field(i).String()
			want := 1
			if ascii && name == "Broken" {
				want = 2
			}
			if got := ansi.StringWidth(sign); got != want {
				t.Errorf("%s %q is %d cells wide, want %d", name, sign, got, want)
			}
			// A dash alone in a column and a dash of a bar can't be confused.
			if ascii && name == "None" {
				continue
			}
			if other, ok := seen[sign]; ok {
				t.Errorf("%s and %s are both %q", name, other, sign)
			}
			seen[sign] = name
		}
	}
}

// With sixteen colours a tone may not turn into a colour that means nothing, or
// into the background.
func TestSixteenColoursAreChosenNotApproximated(t *testing.T) {
	for _, p := range []theme.Palette{theme.Dark, theme.Light, theme.HighContrast} {
		th := theme.New(theme.Options{Palette: p, Colors: termenv.ANSI})
		painted := map[string]theme.Tone{}
		for _, tone := range everyTone {
			text := th.Paint(tone, "x")
			if strings.Contains(text, "38;5") || strings.Contains(text, "48;5") {
				t.Errorf("%s: tone %d writes %q", p, tone, text)
			}
			if other, taken := painted[text]; taken && (p != theme.HighContrast || tone != theme.Muted) {
				t.Errorf("%s: tones %d and %d look alike: %q", p, tone, other, text)
			}
			painted[text] = tone
		}
		if got := th.Paint(theme.Selected, "x"); !strings.Contains(got, "7m") {
			t.Errorf("%s: the selection is not reversed: %q", p, got)
		}
	}
}

func TestSwitchChangesEveryCopy(t *testing.T) {
	th := theme.New(theme.Options{Palette: theme.Dark, Colors: termenv.ANSI256})
	held := th // as a screen does
	before := held.Paint(theme.Error, "x")
	if !th.Switch(theme.Mono) || held.Palette() != theme.Mono {
		t.Fatal("the palette did not change")
	}
	if after := held.Paint(theme.Error, "x"); after == before || after != "\x1b[1mx\x1b[0m" {
		t.Errorf("a copy paints %q", after)
	}
	if th.Switch(theme.NoStyle) || held.Palette() != theme.Mono {
		t.Error("it switched to no style")
	}
	plain := theme.New(theme.Options{Palette: theme.NoStyle})
	if plain.Switch(theme.Dark) || plain.Paint(theme.Error, "x") != "x" || plain.Palette() != theme.NoStyle {
		t.Error("a terminal without escape sequences gets some")
	}
	var zero theme.Theme
	if got := zero.Paint(theme.Error, "x"); got != "x" {
		t.Errorf("the zero theme paints %q", got)
	}
}

func TestPalettesHaveNames(t *testing.T) {
	for _, word := range theme.Palettes() {
		p, err := theme.ParsePalette(word)
		if err != nil || p.String() != word {
			t.Errorf("%s is read as %s, error %v", word, p, err)
		}
	}
	for _, word := range []string{"", "none", "Dark", "solarized\x1b"} {
		if _, err := theme.ParsePalette(word); fault.KindOf(err) != fault.Config || !strings.Contains(fault.Of(err).Hint, "high-contrast") {
			t.Errorf("%q: error %v", word, err)
		}
	}
}
