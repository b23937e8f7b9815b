package calls

import (
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/clock"
	"github.com/recoverctl/recoverctl/internal/figures"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/tui/vtable"
	"github.com/recoverctl/recoverctl/views/phrase"
	"github.com/recoverctl/recoverctl/views/scan"
)

// rows are a scan's calls in the table. The list never changes; which recovery
// points have a column is the screen's.
type rows struct {
	screen *Screen
	list   scan.List
}

var (
	_ vtable.Constant = rows{}
	_ vtable.Querier  = rows{}
	_ vtable.Finder   = rows{}
)

// Constant implements vtable.Constant.
func (rows) Constant() {}

func (r rows) Len() int                   { return r.list.Len() }
func (r rows) ID(i int) string            { return r.list.At(i).ID() }
func (r rows) Find(id string) (int, bool) { return r.list.Find(id) }

// Row implements vtable.Source.
func (r rows) Row(i int) []vtable.Cell {
	row, s := r.list.At(i), r.screen
	cells := []vtable.Cell{
		{Text: s.keyText(row.Action.Key)},
		{Text: figures.Group(row.Action.Sequence)},
	}
	if c := row.Call(); c != nil {
		state, tone := phrase.CallState(c.State)
		cells = append(cells, vtable.Cell{Text: callName(*c)}, vtable.Cell{Text: state, Tone: tone})
	} else {
		cells = append(cells, vtable.Cell{Text: noCall, Tone: theme.Muted}, vtable.Cell{Text: actionState(row.Action), Tone: theme.Muted})
	}
	if s.wide {
		cells = append(cells,
			vtable.Cell{Text: figures.Group(int64(row.Action.Partition))},
			vtable.Cell{Text: figures.Group(row.Action.Offset)},
			vtable.Cell{Text: clock.Age(s.shown.Started.Sub(row.Action.Timestamp))})
	}
	for _, uri := range s.shownPoints() {
		cells = append(cells, s.outcome(row, uri))
	}
	return cells
}

// keyText is a key as far as it is known: also by one that was found here.
func (s *Screen) keyText(k inspect.CallKey) string {
	if text, ok := s.texts[k.Digest]; ok && k.Text == nil {
		k.Text = &text
	}
	return phrase.Key(k)
}

// noCall stands where an action has no call on record.
const noCall = "none on record"

func callName(c inspect.Call) string {
	return phrase.Safe(c.FunctionID) + "#" + strconv.Itoa(c.Index)
}

func actionState(a *inspect.ActionCalls) string {
	switch {
	case a.Completed:
		return "completed"
	case a.Unmatched:
		return string(inspect.CallUnmatched)
	default:
		return "open"
	}
}

// outcome is a cell. As long as the scan runs nothing is said.
func (s *Screen) outcome(row scan.Row, uri string) vtable.Cell {
	if o, ok := row.Outcome(uri); ok {
		word, tone := phrase.Outcome(o.Outcome)
		return vtable.Cell{Text: word, Tone: tone}
	}
	if !s.ordered {
		return vtable.Cell{Text: s.options.Theme.Signs.More, Tone: theme.Muted}
	}
	return vtable.Cell{Text: s.options.Theme.Signs.None, Tone: theme.Muted}
}

// Widths of the table, in cells.
const (
	keyWidth     = 12
	callWidth    = 14
	stateWidth   = 11 // "overwritten"
	outcomeWidth = 10 // "RUNS AGAIN"
	fixedWidth   = 3 + keyWidth + 2 + 5 + 2 + callWidth + 2 + stateWidth + 2 + 2 + 1
	placeWidth   = 2 + 3 + 2 + 11 + 2 + 4
	wideFrom     = 110 // there is room for where a record lies, and how old it is
)

// shownPoints are the recovery points that have a column.
func (s *Screen) shownPoints() []string {
	shown := make([]string, 0, s.columns)
	for i := range s.columns {
		shown = append(shown, s.points[(s.first+i)%len(s.points)])
	}
	return shown
}

// fit says how many recovery points have room for a column.
func (s *Screen) fit(width int) {
	free := width - fixedWidth
	if s.wide = width >= wideFrom; s.wide {
		free -= placeWidth
	}
	s.columns = min(max(free/(outcomeWidth+2), 1), len(s.points))
}

func (s *Screen) tableColumns() []vtable.Column {
	columns := []vtable.Column{
		{Title: "KEY", Min: keyWidth, Max: 60, Flex: 1},
		{Title: "SEQ", Right: true},
		{Title: "CALL", Min: callWidth, Max: 40},
		{Title: "STATE", Min: stateWidth},
	}
	if s.wide {
		columns = append(columns, vtable.Column{Title: strings.ToUpper(s.options.Job.Store.Part()[:1]), Right: true}, vtable.Column{Title: "OFFSET", Right: true}, vtable.Column{Title: "AGE", Right: true})
	}
	for _, uri := range s.shownPoints() {
		columns = append(columns, vtable.Column{Title: s.columnTitle(uri), Min: outcomeWidth})
	}
	if more := len(s.points) - s.columns; more > 0 {
		columns = append(columns, vtable.Column{Title: s.moreSign() + strconv.Itoa(more)})
	}
	return columns
}

// columnTitle is the end of a recovery point's name, which tells it from others.
func (s *Screen) columnTitle(uri string) string {
	name := s.names[uri]
	if over := ansi.StringWidth(name) - outcomeWidth; over > 0 {
		name = s.options.Theme.Signs.More + ansi.TruncateLeft(name, over+1, "")
	}
	return name
}

// moreSign stands before the number of recovery points that have no column.
func (s *Screen) moreSign() string {
	if s.options.Theme.ASCII {
		return "+"
	}
	return "→"
}

// words of a row that a filter finds beside its key and its function.
func outcomeWords(row scan.Row, points []string, in func(string) bool) bool {
	for _, o := range row.Outcomes() {
		for _, uri := range points {
			if o.Point != uri {
				continue
			}
			if word := string(o.Outcome); in(word) || in(strings.ReplaceAll(word, "-", " ")) {
				return true
			}
		}
	}
	return false
}
