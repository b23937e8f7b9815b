package vtable

import "github.com/recoverctl/recoverctl/tui/theme"

// Source is a sequence of rows. It is asked for the rows of the window only, and
// must answer at once. When it has changed, the table is told by SetSource.
type Source interface {
	// Len is the number of rows.
	Len() int
	// ID is the identity of row i, 0 ≤ i < Len: unique, and the same after a
	// reload.
	ID(i int) string
	// Row is the cells of row i, one for each column; missing ones are empty.
	Row(i int) []Cell
}

// Detailer is a Source whose rows have lines that stand under the selected row.
type Detailer interface {
	Detail(i int) []string
}

// Finder is a Source that knows where a row is. Without it, SetSource and
// Select look at every ID.
type Finder interface {
	Find(id string) (i int, ok bool)
}

// Worder is a Source that knows a row by words that its cells don't hold, such
// as the word of a state that is shown as a sign. A filter looks at them too.
type Worder interface {
	Words(i int) []string
}

// Matcher is a Source that can say whether a row has a text without making its
// cells. It takes the place of looking at cells and words.
type Matcher interface {
	Matches(i int, find Text) bool
}

// Querier is a Source with a filter language of its own, as "state:pending". It
// takes the place of texts, words and Matcher.
type Querier interface {
	// Query reads what was typed, without the "!" of the inverse: once for a filter
	// and not for each row. The note says what of it was not understood; "": nothing.
	Query(query string) (passes func(i int) bool, note string)
}

// Constant is a Source that never changes: what comes later is another Source.
// Where SetSource replaces one while a filter is set, the table goes on showing
// it until the filter has looked through the newer one.
type Constant interface {
	Constant()
}

// Extender is a Source that says whether it is an earlier one with more rows at
// its end, so that a filter looks at the new ones only.
type Extender interface {
	Extends(earlier Source) bool
}

// Cell is one value of a row.
type Cell struct {
	Text string
	Tone theme.Tone
	// Draw, if not nil, draws the cell in exactly width cells, in place of Text:
	// for bars. Its column must be flexible or have a Min.
	Draw func(width int) string
}

// Column is how the cells of one column stand. Widths are in cells.
type Column struct {
	Title string
	// Right aligns to the right, for numbers, and never cuts.
	Right bool
	// Min is the least width; the title's width if that is larger.
	Min int
	// Max bounds the width of a column that is not Right; 0: no bound.
	Max int
	// Flex is the column's share of the width that is left over; such a column
	// takes no notice of what is in it. 0: it is as wide as the window's values.
	Flex int
}
