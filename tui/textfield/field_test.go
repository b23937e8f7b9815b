package textfield_test

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"github.com/recoverctl/recoverctl/internal/safetext"
	"github.com/recoverctl/recoverctl/tui/textfield"
)

func TestEditing(t *testing.T) {
	tests := map[string]struct {
		text string
		keys []string
		want string // | is where the next letter goes
	}{
		"typed":                     {"disk full", nil, "disk full|"},
		"backspace":                 {"disk", []string{"backspace"}, "dis|"},
		"backspace at the start":    {"disk", []string{"home", "backspace"}, "|disk"},
		"delete at the end":         {"disk", []string{"delete"}, "disk|"},
		"delete in the middle":      {"disk", []string{"left", "left", "delete"}, "di|k"},
		"a word":                    {"disk full ", []string{"ctrl+w"}, "disk |"},
		"the only word":             {"注文", []string{"ctrl+w"}, "|"},
		"all before":                {"disk full", []string{"left", "ctrl+u"}, "|l"},
		"all after":                 {"disk full", []string{"home", "right", "ctrl+k"}, "d|"},
		"beyond both ends":          {"ab", []string{"left", "left", "left", "right", "right", "right"}, "ab|"},
		"letters of two cells move": {"注文", []string{"left"}, "注|文"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var f textfield.Field
			if why := f.Insert(tt.text); why != "" {
				t.Fatal(why)
			}
			for _, key := range tt.keys {
				if !f.Key(key) {
					t.Fatalf("%s has no meaning", key)
				}
			}
			if got := f.View(40, "|", "…"); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
	var f textfield.Field
	if f.Key("enter") || f.Key("f1") {
		t.Error("a field takes keys that are not its own")
	}
}

func TestTextIsTakenWholeOrNotAtAll(t *testing.T) {
	tests := map[string]struct {
		text string
		want textfield.Refusal
	}{
		"a sentence":               {"disk pressure INC-2231", ""},
		"any script":               {"注文 заказ", ""},
		"a line end":               {"one\ntwo", textfield.Unprintable},
		"an escape sequence":       {"\x1b[31m", textfield.Unprintable},
		"a right-to-left override": {"a\u202eb", textfield.Unprintable},
		"a zero width space":       {"a\u200bb", textfield.Unprintable},
		"too long":                 {strings.Repeat("x", 29), textfield.TooLong},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			f := textfield.Field{Max: 30}
			f.Set("ab")
			if got := f.Insert(tt.text); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			want := "ab"
			if tt.want == "" {
				want += tt.text
			}
			if f.Value() != want {
				t.Errorf("it holds %q, want %q", f.Value(), want)
			}
		})
	}
}

// Whatever is typed, the place of the next letter is shown and the width held.
func TestTheCursorIsAlwaysShown(t *testing.T) {
	keys := []string{"left", "right", "home", "end", "backspace", "delete", "ctrl+w", "ctrl+u", "ctrl+k"}
	rapid.Check(t, func(t *rapid.T) {
		f := textfield.Field{Max: 60}
		for range rapid.IntRange(0, 40).Draw(t, "steps") {
			if rapid.Bool().Draw(t, "type") {
				f.Insert(rapid.StringN(0, 20, -1).Draw(t, "text"))
			} else {
				f.Key(rapid.SampledFrom(keys).Draw(t, "key"))
			}
			width := rapid.IntRange(3, 50).Draw(t, "width")
			view := f.View(width, "▏", "…")
			if !strings.Contains(view, "▏") {
				t.Fatalf("no cursor in %q", view)
			}
			if w := ansi.StringWidth(view); w > width {
				t.Fatalf("%d cells of %d: %q", w, width, view)
			}
			for _, r := range f.Value() {
				if !safetext.Printable(r) {
					t.Fatalf("it holds %q", f.Value())
				}
			}
		}
	})
}
