package sheet_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/views/sheet"
)

var plain = theme.New(theme.Options{Palette: theme.NoStyle})

func numbered(n int) []string {
	lines := make([]string, n)
	for i := range lines {
		lines[i] = fmt.Sprintf("line %d", i)
	}
	return lines
}

func press(t *rapid.T, s *sheet.Sheet, name string) {
	for _, k := range s.Keys() {
		for _, key := range k.Keys {
			if key == name {
				k.Run()
				return
			}
		}
	}
	t.Fatalf("no key %s", name)
}

// Wherever a page is scrolled to, the lines that are shown follow each other,
// and those that are not are counted.
func TestNoLineIsLost(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := sheet.New(plain)
		n := rapid.IntRange(0, 60).Draw(t, "lines")
		s.Set(numbered(n))
		height := rapid.IntRange(2, 30).Draw(t, "height")
		s.Resize(height)
		for range rapid.IntRange(0, 12).Draw(t, "keys") {
			if rapid.IntRange(0, 5).Draw(t, "resize") == 0 {
				height = rapid.IntRange(2, 30).Draw(t, "height")
				s.Resize(height)
			}
			press(t, s, rapid.SampledFrom([]string{"j", "k", "pgdown", "pgup", "g", "G"}).Draw(t, "key"))
		}
		view := strings.Split(s.View(tui.Size{Width: 80, Height: height}), "\n")
		if n <= height {
			if n > 0 && (len(view) != n || view[0] != "line 0") {
				t.Fatalf("%d lines in %d: %q", n, height, view)
			}
			return
		}
		if len(view) != height {
			t.Fatalf("%d lines on a screen of %d", len(view), height)
		}
		var first int
		if _, err := fmt.Sscanf(view[0], "line %d", &first); err != nil {
			t.Fatal(err)
		}
		for i, line := range view[:height-1] {
			if line != fmt.Sprintf("line %d", first+i) {
				t.Fatalf("line %d of the screen is %q", i, line)
			}
		}
		above, below := first, n-first-height+1
		rest := view[height-1]
		if above > 0 && !strings.Contains(rest, fmt.Sprintf("%d line", above)) || below > 0 && !strings.Contains(rest, fmt.Sprintf("%d more line", below)) {
			t.Fatalf("%d above and %d below are told as %q", above, below, rest)
		}
	})
}

func TestTable(t *testing.T) {
	columns := []sheet.Column{{Title: "RULE"}, {Title: "N", Right: true}, {Title: "EVIDENCE"}}
	rows := [][]sheet.Cell{
		{{Text: "marker inside the log"}, {Text: "7"}, {Text: "short"}},
		{{Text: "boundary"}, {Text: "1,204"}, {Text: "0: 100 < 150   1: 120 < 150   2: 110 < 160   3: 150 < 200"}},
	}
	tests := map[string]struct {
		width int
		want  string
	}{
		"with room, evidence stands beside": {100, `
   RULE                       N  EVIDENCE
   marker inside the log      7  short
   boundary               1,204  0: 100 < 150   1: 120 < 150   2: 110 < 160   3: 150 < 200`},
		"it goes below where that takes fewer lines": {66, `
   RULE                       N  EVIDENCE
   marker inside the log      7  short
   boundary               1,204  0: 100 < 150   1: 120 < 150
                                 2: 110 < 160   3: 150 < 200`},
		"and below all rows where there is no room": {44, `
   RULE                       N
   marker inside the log      7
     short
   boundary               1,204
     0: 100 < 150   1: 120 < 150
     2: 110 < 160   3: 150 < 200`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := "\n" + strings.Join(sheet.Table(plain, tt.width, columns, rows), "\n"); got != tt.want {
				t.Errorf("at %d:%s\nwant:%s", tt.width, got, tt.want)
			}
		})
	}
}

// Nothing of a last column is cut at any width that holds the others.
func TestTableKeepsEvidenceWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		evidence := rapid.StringMatching(`[a-z0-9/,]{1,30}( [a-z0-9/,]{1,30}){0,6}`).Draw(t, "evidence")
		width := rapid.IntRange(30, 120).Draw(t, "width")
		lines := sheet.Table(plain, width, []sheet.Column{{Title: "RULE"}, {Title: "EVIDENCE"}}, [][]sheet.Cell{{{Text: "a rule"}, {Text: evidence}}})
		text := strings.Join(strings.Fields(strings.Join(lines[1:], "")), "")
		if want := "arule" + strings.Join(strings.Fields(evidence), ""); text != want {
			t.Fatalf("%q is shown as %q", want, text)
		}
		for _, line := range lines {
			if ansi.StringWidth(line) > width {
				t.Fatalf("%q is wider than %d", line, width)
			}
		}
	})
}
