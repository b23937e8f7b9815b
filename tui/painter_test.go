package tui

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// glass is a terminal that knows what a painter writes.
type glass struct {
	size  Size
	cells [][]rune
	x, y  int
}

var sequence = regexp.MustCompile(`^\x1b\[([0-9;]*)([A-Za-z])`)

func newGlass(size Size) *glass {
	g := &glass{size: size}
	for range size.Height {
		g.cells = append(g.cells, []rune(strings.Repeat("#", size.Width)))
	}
	return g
}

func (g *glass) write(t interface{ Fatalf(string, ...any) }, text string) {
	for text != "" {
		if m := sequence.FindStringSubmatch(text); m != nil {
			text = text[len(m[0]):]
			switch m[2] {
			case "H":
				row, column, _ := strings.Cut(m[1], ";")
				g.y, _ = strconv.Atoi(row)
				g.x, _ = strconv.Atoi(column)
				g.y, g.x = g.y-1, g.x-1
			case "K":
				g.erase(g.y, g.x)
			case "J":
				g.erase(g.y, g.x)
				for y := g.y + 1; y < g.size.Height; y++ {
					g.erase(y, 0)
				}
			default:
				t.Fatalf("it writes %q", m[0])
			}
			continue
		}
		r := []rune(text)[0]
		text = text[len(string(r)):]
		if g.y >= g.size.Height || g.x >= g.size.Width || r < ' ' {
			t.Fatalf("it writes %q at %d, %d", r, g.y, g.x)
		}
		g.cells[g.y][g.x] = r
		g.x++
	}
}

func (g *glass) erase(y, from int) {
	for x := min(from, g.size.Width-1); x < g.size.Width; x++ {
		g.cells[y][x] = ' '
	}
}

func (g *glass) String() string {
	lines := make([]string, len(g.cells))
	for i, cells := range g.cells {
		lines[i] = strings.TrimRight(string(cells), " ")
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}

// Whatever frames come, and whatever else was on the terminal, it shows the last
// one, and what did not change is not written.
func TestTheTerminalShowsTheLastFrame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := Size{Width: rapid.IntRange(3, 12).Draw(t, "width"), Height: rapid.IntRange(1, 6).Draw(t, "height")}
		g := newGlass(size)
		var last []string
		for range rapid.IntRange(1, 8).Draw(t, "frames") {
			lines := rapid.SliceOfN(rapid.StringMatching(fmt.Sprintf("[ab ]{0,%d}", size.Width)), 1, size.Height).Draw(t, "lines")
			if rapid.IntRange(0, 4).Draw(t, "garbled") == 0 {
				g, last = newGlass(size), nil
			}
			g.write(t, difference(last, lines, size))
			last = lines
			want := make([]string, len(lines))
			for i, line := range lines {
				want[i] = strings.TrimRight(line, " ")
			}
			if got := g.String(); got != strings.TrimRight(strings.Join(want, "\n"), "\n") {
				t.Fatalf("it shows %q, not %q", got, lines)
			}
			if again := difference(last, lines, size); again != "" {
				t.Fatalf("the same frame writes %q", again)
			}
		}
	})
}

func TestFramesAreWrittenOnlyToTheConsolesOwnScreen(t *testing.T) {
	var to strings.Builder
	out := &output{to: &to, ended: func(err error) { t.Error(err) }}
	p := newPainter(out)
	size := Size{Width: 10, Height: 2}
	wrote := func(want string) {
		t.Helper()
		if got := to.String(); got != want {
			t.Errorf("wrote %q, want %q", got, want)
		}
		to.Reset()
	}
	send := func(text string) {
		if _, err := out.Write([]byte(text)); err != nil {
			t.Error(err)
		}
	}
	p.show(frame{"early\n", size})
	p.paint()
	wrote("")
	send("\x1b[?1049h")
	send("\x1b[H\r \x1b[K\x1b[2;H") // a frame of bubbletea's
	send("\x1b[H")                  // but not this
	p.show(frame{"one\n", size})
	p.show(frame{"two\n", size}) // the newest wins
	p.paint()
	wrote("\x1b[?1049h\x1b[H\x1b[1;1Htwo\x1b[K\x1b[2;1H\x1b[K")
	p.show(frame{"two\nnew", size})
	p.paint()
	wrote("\x1b[2;1Hnew\x1b[K")
	send("\x1b[?1049l")
	p.show(frame{"late\n", size})
	p.paint()
	wrote("\x1b[?1049l")
	send("\x1b[?1049h")
	p.show(frame{"two\nnew", size}) // as before, but the screen is another
	p.paint()
	wrote("\x1b[?1049h\x1b[1;1Htwo\x1b[K\x1b[2;1Hnew\x1b[K")
	p.anew()
	p.show(frame{"two\n0123456789", size}) // nothing is erased after the last cell
	p.paint()
	wrote("\x1b[1;1Htwo\x1b[K\x1b[2;1H0123456789")
}

// The painter may be woken for a frame that it has written already: with the one
// before. What was said of the next one is not lost by that.
func TestAPainterThatIsWokenForNothing(t *testing.T) {
	var to strings.Builder
	p := newPainter(&output{to: &to, ours: true, ended: func(err error) { t.Error(err) }})
	shown := frame{"one\ntwo", Size{Width: 10, Height: 2}}
	p.show(shown)
	p.paint()
	to.Reset()
	p.anew()
	p.paint()
	p.show(shown)
	p.paint()
	if got, want := to.String(), "\x1b[1;1Hone\x1b[K\x1b[2;1Htwo\x1b[K"; got != want {
		t.Errorf("wrote %q, want %q", got, want)
	}
}

func TestAFrameThatCannotBeWrittenEndsTheConsole(t *testing.T) {
	broken := errors.New("input/output error")
	var ended error
	out := &output{to: brokenTerminal{broken}, ours: true, ended: func(err error) { ended = err }}
	p := newPainter(out)
	p.show(frame{"one", Size{Width: 10, Height: 1}})
	p.paint()
	if !errors.Is(ended, broken) {
		t.Errorf("ended with %v", ended)
	}
}

type brokenTerminal struct{ err error }

func (b brokenTerminal) Write([]byte) (int, error) { return 0, b.err }
