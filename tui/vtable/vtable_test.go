package vtable_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"
	"github.com/muesli/termenv"
	"pgregory.net/rapid"

	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/bar"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/tui/tuitest"
	"github.com/recoverctl/recoverctl/tui/vtable"
)

var plain = theme.New(theme.Options{Palette: theme.NoStyle})

// names is a source of one text column whose identities are the texts.
type names []string

func (n names) Len() int                { return len(n) }
func (n names) ID(i int) string         { return n[i] }
func (n names) Row(i int) []vtable.Cell { return []vtable.Cell{{Text: n[i]}} }

var nameColumn = []vtable.Column{{Title: "NAME", Flex: 1}}

// calls are rows of a scan of any size, made when they are asked for.
type calls struct {
	n     int
	asked *int
}

func (c calls) Len() int        { return c.n }
func (c calls) ID(i int) string { return strconv.Itoa(i) }
func (c calls) Row(i int) []vtable.Cell {
	*c.asked++
	tone, outcome := theme.OK, "reused"
	if i%7 == 3 {
		tone, outcome = theme.Error, "RUNS AGAIN"
	}
	return []vtable.Cell{
		{Text: fmt.Sprintf("order-%07d", i)},
		{Text: tui.Number(int64(i) * 3)},
		{Text: "payments.charge#0"},
		{Text: "pending", Tone: theme.Warning},
		{Text: outcome, Tone: tone},
	}
}

func (c calls) Detail(i int) []string {
	return []string{fmt.Sprintf("partition %d, offset %s", i%64, tui.Number(int64(i)*3))}
}

var callColumns = []vtable.Column{
	{Title: "KEY", Min: 16, Flex: 1},
	{Title: "OFFSET", Right: true},
	{Title: "CALL", Max: 30},
	{Title: "STATE"},
	{Title: "chk-44", Min: 10},
}

// points are the recovery points of the job screen.
type points struct{}

func (points) Len() int        { return 6 }
func (points) ID(i int) string { return pointRows[i][0] }
func (points) Row(i int) []vtable.Cell {
	cells := make([]vtable.Cell, len(pointRows[i]))
	for j, text := range pointRows[i] {
		cells[j].Text = text
	}
	return cells
}

func (points) Detail(i int) []string {
	if i > 0 {
		return nil
	}
	return []string{"replays a span of 12,480 offsets in 64 partitions"}
}

var pointRows = [][]string{
	{"chk-44", "2m", "accepted", "2", "–"},
	{"chk-43", "12m", "accepted", "1", "–"},
	{"chk-42", "22m", "accepted", "0", "–"},
	{"savepoint-4f3c-a1", "3h", "REJECTED", "–", "–"},
	{"chk-12", "1d", "REJECTED", "–", "–"},
	{"savepoint-9c…", "?", "unknown", "–", "access denied to its bucket"},
}

var pointColumns = []vtable.Column{
	{Title: "RECOVERY POINT"}, {Title: "AGE"}, {Title: "VERDICT"},
	{Title: "RUN AGAIN", Right: true}, {Title: "NOT CHECKED", Flex: 1},
}

// partitions are the bars of the job screen.
type partitions struct{}

func (partitions) Len() int        { return 3 }
func (partitions) ID(i int) string { return strconv.Itoa(i) }
func (partitions) Row(i int) []vtable.Cell {
	logs := []struct{ partition, start, boundary, marker, end int64 }{
		{0, 100, 150, 3910, 4120}, {1, 120, 150, 3801, 3998}, {3, 200, 200, 3950, 3990},
	}
	l := logs[i]
	b := bar.Bar{Start: l.start, End: l.end, Boundary: &l.boundary, Marks: []bar.Mark{{Offset: l.marker}}}
	return []vtable.Cell{
		{Text: tui.Number(l.partition)},
		{Text: tui.Number(l.start)},
		{Draw: func(width int) string { return b.Render(width, plain) }},
		{Text: tui.Number(l.end)},
		{Text: tui.Number(l.end - l.marker)},
	}
}

var partitionColumns = []vtable.Column{
	{Title: "P", Right: true}, {Title: "START", Right: true}, {Title: "", Min: 12, Flex: 1},
	{Title: "END", Right: true}, {Title: "SPAN FROM chk-44", Right: true},
}

// screen is a table alone on a screen.
type screen struct{ table *vtable.Table }

func (s screen) Init() tui.Cmd             { return nil }
func (s screen) Update(tui.Msg) tui.Cmd    { return nil }
func (s screen) View(size tui.Size) string { return s.table.View(size) }
func (s screen) Resize(size tui.Size)      { s.table.Resize(size) }
func (s screen) Crumb() string             { return "table" }
func (s screen) Keys() []tui.Key           { return s.table.Keys() }
func (s screen) Status() tui.Status        { return tui.Status{Timeless: true} }

func TestTables(t *testing.T) {
	asked := 0
	tables := map[string]struct {
		columns []vtable.Column
		source  vtable.Source
		keys    []string
	}{
		"points":           {pointColumns, points{}, nil},
		"partitions":       {partitionColumns, partitions{}, []string{"j"}},
		"calls-top":        {callColumns, calls{1_000_000, &asked}, []string{"j", "j"}},
		"calls-second":     {callColumns, calls{1_000_000, &asked}, []string{"pgdown"}},
		"calls-bottom":     {callColumns, calls{1_000_000, &asked}, []string{"G", "k"}},
		"no-rows":          {callColumns, calls{0, &asked}, []string{"j", "G", "pgup"}},
		"wide-characters":  {pointColumns, wide{}, []string{"j"}},
		"no-room-for-some": {sixColumns, calls{3, &asked}, nil},
	}
	for name, tt := range tables {
		for _, size := range []tui.Size{{Width: 80, Height: 24}, {Width: 200, Height: 60}} {
			golden := fmt.Sprintf("%s-%dx%d", name, size.Width, size.Height)
			t.Run(golden, func(t *testing.T) {
				d := tuitest.New(t, tuitest.Plain(), screen{vtable.New(plain, tt.columns, tt.source)}, size.Width, size.Height)
				d.Press(tt.keys...)
				d.Golden(golden)
			})
		}
	}
}

// wide has characters of two cells, of none, and too many of them.
type wide struct{}

func (wide) Len() int        { return 3 }
func (wide) ID(i int) string { return strconv.Itoa(i) }
func (wide) Row(i int) []vtable.Cell {
	return [][]vtable.Cell{
		{{Text: "注文エージェント"}, {Text: "2m"}, {Text: "accepted"}, {Text: "1"}, {Text: strings.Repeat("注文", 40)}},
		{{Text: "cafe\u0301 ✔"}, {Text: "2m"}, {Text: "accepted"}, {Text: "12"}, {Text: "x" + strings.Repeat("注文", 40)}},
		{{Text: "🚀"}, {Text: "2m"}, {Text: "REJECTED"}, {Text: "123"}, {Text: "–"}},
	}[i]
}

// sixColumns need more than 80 cells.
var sixColumns = []vtable.Column{
	{Title: "KEY", Min: 16}, {Title: "OFFSET", Right: true}, {Title: "CALL", Min: 30},
	{Title: "STATE"}, {Title: "chk-44", Min: 30}, {Title: "chk-43", Min: 30},
}

func TestSelectionStaysOnTheRow(t *testing.T) {
	table := vtable.New(plain, nameColumn, names{"a", "b", "c", "d"})
	table.Resize(tui.Size{Width: 20, Height: 10})
	if !table.Select("c") {
		t.Fatal("c can't be selected")
	}
	selected := func(want string) {
		t.Helper()
		if got, ok := table.Selected(); got != want || !ok {
			t.Errorf("selected %q, want %q", got, want)
		}
		if view := table.View(tui.Size{Width: 20, Height: 10}); !strings.Contains(view, "▸ "+want) {
			t.Errorf("%q is not shown as selected:\n%s", want, view)
		}
	}
	steps := []struct {
		name string
		rows names
		kept bool
		want string
	}{
		{"read again", names{"a", "b", "c", "d"}, true, "c"},
		{"sorted the other way", names{"d", "c", "b", "a"}, true, "c"},
		{"rows before it", names{"x", "y", "z", "a", "b", "c", "d"}, true, "c"},
		{"gone: the row in its place", names{"x", "y", "z", "a", "b", "d"}, false, "d"},
		{"all rows after it gone", names{"x", "y"}, false, "y"},
	}
	for _, step := range steps {
		t.Run(step.name, func(t *testing.T) {
			if kept := table.SetSource(step.rows); kept != step.kept {
				t.Errorf("kept %v, want %v", kept, step.kept)
			}
			selected(step.want)
		})
	}
	if table.SetSource(names{}) {
		t.Error("an empty table keeps a selection")
	}
	if id, ok := table.Selected(); ok {
		t.Errorf("an empty table selects %q", id)
	}
	if table.Select("a") {
		t.Error("a row that is not there was selected")
	}
}

// A row that stays selected stays on its line when rows come before it.
func TestReloadDoesNotMoveTheWindow(t *testing.T) {
	rows := make(names, 100)
	for i := range rows {
		rows[i] = fmt.Sprintf("row-%03d", i)
	}
	size := tui.Size{Width: 20, Height: 11}
	table := vtable.New(plain, nameColumn, rows)
	table.Resize(size)
	table.Select("row-050")
	press(table, "k")
	before := table.View(size)
	table.SetSource(append(names{"new-1", "new-2", "new-3"}, rows...))
	if after := table.View(size); after != before {
		t.Errorf("before:\n%s\nafter:\n%s", before, after)
	}
}

func press(table *vtable.Table, name string) {
	for _, k := range table.Keys() {
		if slices.Contains(k.Keys, name) {
			k.Run()
		}
	}
}

// Whatever is pressed at whatever size, the selected row is inside, and no line
// is empty while there are rows for it.
func TestSelectedRowIsAlwaysShown(t *testing.T) {
	keys := []string{"up", "down", "pgup", "pgdown", "g", "G"}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 60).Draw(t, "rows")
		asked := 0
		table := vtable.New(plain, callColumns, calls{n, &asked})
		size := tui.Size{Width: 100, Height: rapid.IntRange(3, 30).Draw(t, "height")}
		table.Resize(size)
		for _, key := range rapid.SliceOf(rapid.SampledFrom(keys)).Draw(t, "keys") {
			press(table, key)
			if rapid.IntRange(0, 4).Draw(t, "resize") == 0 {
				size.Height = rapid.IntRange(3, 30).Draw(t, "height")
				table.Resize(size)
			}
			view := table.View(size)
			lines := strings.Split(view, "\n")
			if want := min(size.Height, 1+n+min(n, 1)); len(lines) != want {
				t.Fatalf("%d lines, want %d:\n%s", len(lines), want, view)
			}
			for _, line := range lines {
				if w := ansi.StringWidth(line); w > size.Width {
					t.Fatalf("%d cells: %q", w, line)
				}
			}
			if id, ok := table.Selected(); ok {
				i, _ := strconv.Atoi(id)
				if !strings.Contains(view, fmt.Sprintf("▸ order-%07d", i)) {
					t.Fatalf("row %s is not shown:\n%s", id, view)
				}
			}
		}
	})
}

func TestOnlyTheWindowIsRead(t *testing.T) {
	asked := 0
	table := vtable.New(plain, callColumns, calls{10_000_000, &asked})
	size := tui.Size{Width: 200, Height: 60}
	table.Resize(size)
	for _, key := range []string{"G", "pgup", "up", "g", "down", "pgdown"} {
		press(table, key)
		asked = 0
		table.View(size)
		if asked != 58 { // 60 lines less the header and one line of details
			t.Errorf("after %s it read %d rows", key, asked)
		}
	}
}

func TestNumbersAreNeverCut(t *testing.T) {
	rows := numbers{1, 9_223_372_036_854_775_807, -9_223_372_036_854_775_808}
	columns := []vtable.Column{{Title: "NAME", Flex: 1, Min: 6}, {Title: "OFFSET", Right: true, Max: 4}}
	table := vtable.New(plain, columns, rows)
	for _, width := range []int{40, 60, 200} {
		view := table.View(tui.Size{Width: width, Height: 10})
		for _, n := range rows {
			if !strings.Contains(view, " "+tui.Number(n)) {
				t.Errorf("at %d cells %d is not whole:\n%s", width, n, view)
			}
		}
		for line := range strings.Lines(view) {
			if w := ansi.StringWidth(strings.TrimSuffix(line, "\n")); w != width {
				t.Errorf("at %d cells a line has %d: %q", width, w, line)
			}
		}
	}
	// Without room the column goes as a whole, and the header says so.
	view := table.View(tui.Size{Width: 30, Height: 10})
	if strings.Contains(view, "9,223") || !strings.Contains(view, "NAME") || !strings.Contains(strings.Split(view, "\n")[0], "…") {
		t.Errorf("at 30 cells:\n%s", view)
	}
}

type numbers []int64

func (n numbers) Len() int        { return len(n) }
func (n numbers) ID(i int) string { return strconv.Itoa(i) }
func (n numbers) Row(i int) []vtable.Cell {
	return []vtable.Cell{{Text: "a name that is cut if need be"}, {Text: tui.Number(n[i])}}
}

// BenchmarkKeyAndView is one key and the frame after it; the budget is 1 ms.
func BenchmarkKeyAndView(b *testing.B) {
	colored := theme.New(theme.Options{Palette: theme.Dark, Colors: termenv.ANSI256})
	size := tui.Size{Width: 200, Height: 60}
	for _, n := range []int{10, 1_000_000, 10_000_000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			asked := 0
			table := vtable.New(colored, callColumns, calls{n, &asked})
			table.Resize(size)
			press(table, "G")
			press(table, "pgup")
			keys := []string{"down", "up", "pgup", "pgdown"}
			for i := 0; b.Loop(); i++ {
				press(table, keys[i%len(keys)])
				table.View(size)
			}
		})
	}
}

// BenchmarkKeyToFrame is what an operator waits for: one key through the shell
// to the whole frame.
func BenchmarkKeyToFrame(b *testing.B) {
	colored := theme.New(theme.Options{Palette: theme.Dark, Colors: termenv.ANSI256})
	for _, n := range []int{10, 1_000_000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			asked := 0
			table := vtable.New(colored, callColumns, calls{n, &asked})
			shell := tui.NewShell(b.Context(), tui.Options{Theme: colored}, screen{table})
			defer shell.Close()
			shell.Update(tea.WindowSizeMsg{Width: 200, Height: 60})
			keys := []tea.KeyType{tea.KeyEnd, tea.KeyUp, tea.KeyPgUp, tea.KeyDown}
			for i := 0; b.Loop(); i++ {
				shell.Update(tea.KeyMsg{Type: keys[i%len(keys)]})
				shell.View()
			}
		})
	}
}

// Two tables on one screen: only the one that keys act on shows where.
func TestATableWithoutFocusMarksNoRow(t *testing.T) {
	table := vtable.New(plain, pointColumns, points{})
	focused := table.View(tui.Size{Width: 80, Height: 9})
	table.Focus(false)
	idle := table.View(tui.Size{Width: 80, Height: 9})
	if strings.Contains(idle, plain.Signs.Selected) || strings.Contains(idle, "replays a span") {
		t.Errorf("without focus a row is marked or has details:\n%s", idle)
	}
	if !strings.Contains(idle, "chk-44") {
		t.Errorf("without focus the rows are gone:\n%s", idle)
	}
	table.Focus(true)
	if again := table.View(tui.Size{Width: 80, Height: 9}); again != focused {
		t.Errorf("focus came back as\n%s\nwant\n%s", again, focused)
	}
}

// talkative are points of which more is to be said than a small table has room for.
type talkative struct{ points }

func (talkative) Detail(int) []string { return []string{"one", "two", "three", "four"} }

// What has no room is left out, and not without a word.
func TestDetailsThatAreCutSaySo(t *testing.T) {
	for height, want := range map[int]string{3: "one …", 5: "three …", 6: "four"} {
		table := vtable.New(plain, pointColumns, talkative{})
		table.Resize(tui.Size{Width: 80, Height: height})
		frame := table.View(tui.Size{Width: 80, Height: height})
		if !strings.HasSuffix(frame, "\n     "+want) {
			t.Errorf("in %d lines it ends without %q:\n%s", height, want, frame)
		}
	}
}
