package job

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/figures"
	"github.com/recoverctl/recoverctl/tui/bar"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/tui/vtable"
	"github.com/recoverctl/recoverctl/views/phrase"
)

// ranked is a partition with what is to be said about it. A lower rank is worse.
type ranked struct {
	inspect.PartitionOverview
	rank   int
	kind   string // what it has in common with others, in words
	marker *int64 // where the selected point reads from; nil: it says nothing
	inside bool   // … and the log and the boundary allow it
}

// partitionOrder is all partitions, the worst first, then by number.
type partitionOrder []ranked

// orderPartitions ranks partitions for the selected point; without says why one
// has no boundary.
func orderPartitions(all []inspect.PartitionOverview, point *inspect.PointSummary, without string) partitionOrder {
	order := make(partitionOrder, 0, len(all))
	for _, p := range all {
		order = append(order, rankPartition(p, point, without))
	}
	slices.SortStableFunc(order, func(a, b ranked) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.Partition, b.Partition))
	})
	return order
}

// Ranks of partitions, the worst first.
const (
	rankUnread    = iota // no leader, or no offsets
	rankBeyond           // the boundary lies past the log end
	rankOutside          // the selected point's marker is not in the log, or below the boundary
	rankUntrimmed        // the log still holds records before the boundary
	rankFine
)

func rankPartition(p inspect.PartitionOverview, point *inspect.PointSummary, without string) ranked {
	r := ranked{PartitionOverview: p, rank: rankFine}
	worse := func(rank int) { r.rank = min(r.rank, rank) }
	if point != nil {
		if at, ok := point.Offsets[p.Partition]; ok {
			r.marker = &at
		}
	}
	if p.Leader < 0 || p.LogStart == nil || p.LogEnd == nil {
		r.rank, r.kind = rankUnread, "offsets not read"
		if p.Leader < 0 {
			r.kind = "no leader"
		}
		return r
	}
	start, end := *p.LogStart, *p.LogEnd
	switch {
	case p.Boundary == nil:
		r.kind = without
	case *p.Boundary > end:
		r.kind = "boundary past the log end"
		worse(rankBeyond)
	case *p.Boundary > start:
		r.kind = "not trimmed to the boundary"
		worse(rankUntrimmed)
	case *p.Boundary == start:
		r.kind = "boundary = log start"
	default:
		r.kind = "log start past the boundary"
	}
	if point == nil || len(point.Offsets) == 0 {
		r.kind = cmp.Or(r.kind, "offsets read")
		return r
	}
	r.inside = true
	switch {
	case r.marker == nil:
		r.kind += ", no marker"
		r.inside = false
		worse(rankOutside)
	case p.Boundary != nil && *r.marker < *p.Boundary:
		r.kind += ", marker below the boundary"
		if *r.marker < start {
			r.kind += " and before the log start"
		}
		r.inside = false
		worse(rankOutside)
	case *r.marker < start:
		r.kind += ", marker before the log start"
		r.inside = false
		worse(rankOutside)
	case *r.marker > end:
		r.kind += ", marker past the log end"
		r.inside = false
		worse(rankOutside)
	default:
		r.kind += ", marker inside the log"
	}
	r.kind = strings.TrimPrefix(r.kind, ", ") // where there is no boundary to speak of
	return r
}

// rest says in one line what the partitions after the first shown ones have in
// common: "61 more like 2: boundary = log start, marker inside the log".
func (o partitionOrder) rest(shown, width int) string {
	if shown >= len(o) {
		return ""
	}
	example := map[string]int32{}
	for _, p := range o[:shown] {
		if _, ok := example[p.kind]; !ok {
			example[p.kind] = p.Partition
		}
	}
	kinds, counts := countKinds(o[shown:])
	return counted(kinds, counts, width, func(kind string) string {
		if like, ok := example[kind]; ok {
			return fmt.Sprintf("more like %d: %s", like, kind)
		}
		return "more: " + kind
	})
}

// sum says in one line what all partitions are like: "2 not trimmed to the
// boundary; 62 …".
func (o partitionOrder) sum(width int) string {
	kinds, counts := countKinds(o)
	return counted(kinds, counts, width, func(kind string) string { return kind })
}

// counted joins counted kinds as far as they fit, and counts the others
// together.
func counted(kinds []string, counts map[string]int, width int, words func(kind string) string) string {
	left := 0
	for _, n := range counts {
		left += n
	}
	text := ""
	for i, kind := range kinds {
		next := text + figures.Group(int64(counts[kind])) + " " + words(kind)
		others := ""
		if i < len(kinds)-1 {
			others = "; " + figures.Group(int64(left-counts[kind])) + " others"
		}
		if i > 0 && ansi.StringWidth(next+others) > width {
			return text + figures.Group(int64(left)) + " others"
		}
		left -= counts[kind]
		text = next
		if i < len(kinds)-1 {
			text += "; "
		}
	}
	return text
}

// countKinds are the kinds in the order in which they are first met.
func countKinds(o partitionOrder) (kinds []string, counts map[string]int) {
	counts = map[string]int{}
	for _, p := range o {
		if counts[p.kind] == 0 {
			kinds = append(kinds, p.kind)
		}
		counts[p.kind]++
	}
	return kinds, counts
}

// partitionRows are the partitions as a table shows them; the first ones only
// where most is set.
type partitionRows struct {
	*Screen
	most int
}

func (r partitionRows) Len() int {
	if r.most > 0 {
		return min(r.most, len(r.order))
	}
	return len(r.order)
}

func (r partitionRows) ID(i int) string { return strconv.Itoa(int(r.order[i].Partition)) }

// partitionColumns name the point from which the spans are.
func (s *Screen) partitionColumns() []vtable.Column {
	title := "SPAN FROM " + s.options.Theme.Signs.Marker
	if p := s.selected(); p != nil {
		if name := "SPAN FROM " + s.names[p.URI]; ansi.StringWidth(name) <= 18 {
			title = name
		}
	}
	return []vtable.Column{
		{Title: strings.ToUpper(s.options.Job.Store.Part()[:1]), Right: true},
		{Title: "START", Right: true},
		{Title: "", Min: 18, Flex: 1},
		{Title: "END", Right: true},
		{Title: title, Right: true},
	}
}

func (r partitionRows) Row(i int) []vtable.Cell {
	p, th := r.order[i], r.options.Theme
	cells := []vtable.Cell{{Text: strconv.Itoa(int(p.Partition))}, {Text: offset(th, p.LogStart)}, {}, {Text: offset(th, p.LogEnd)}, r.span(p)}
	if p.LogStart == nil || p.LogEnd == nil {
		cells[2].Draw = func(width int) string {
			text := phrase.Clip(th.Signs.Error+" "+p.kind, width, th.Signs.More)
			return th.Paint(theme.Error, text) + strings.Repeat(" ", max(width-ansi.StringWidth(text), 0))
		}
		return cells
	}
	b := bar.Bar{Start: *p.LogStart, End: *p.LogEnd, Boundary: p.Boundary, Marks: r.marks(p)}
	cells[2].Draw = func(width int) string { return b.Render(width, th) }
	return cells
}

// Words implements vtable.Worder: a partition is found by what is said about it.
func (r partitionRows) Words(i int) []string { return []string{r.order[i].kind} }

// marks are the markers of the selected point, then of the chosen ones.
func (r partitionRows) marks(p ranked) []bar.Mark {
	var marks []bar.Mark
	if p.marker != nil {
		tone := theme.Title
		if !p.inside {
			tone = theme.Error
		}
		marks = append(marks, bar.Mark{Offset: *p.marker, Tone: tone})
	}
	for _, point := range r.reader.Reading.Overview.Points {
		if at, ok := point.Offsets[p.Partition]; ok && r.chosen[point.URI] {
			marks = append(marks, bar.Mark{Offset: at, Tone: theme.Plain})
		}
	}
	return marks
}

// span is how far a restore from the selected point has to read, or why it
// can't.
func (r partitionRows) span(p ranked) vtable.Cell {
	th := r.options.Theme
	switch {
	case p.marker == nil, p.LogStart == nil, p.LogEnd == nil:
		return vtable.Cell{Text: th.Signs.None, Tone: theme.Muted}
	case p.Boundary != nil && *p.marker < *p.Boundary:
		return vtable.Cell{Text: "below " + th.Signs.Boundary, Tone: theme.Error}
	case !p.inside:
		return vtable.Cell{Text: "outside", Tone: theme.Error}
	default:
		return vtable.Cell{Text: figures.Group(*p.LogEnd - *p.marker)}
	}
}

// Detail says in numbers what the selected partition's bar shows.
func (r partitionRows) Detail(i int) []string {
	p := r.order[i]
	facts := []string{p.kind}
	if p.Leader >= 0 {
		facts = append(facts, fmt.Sprintf("leader %d", p.Leader))
	}
	if p.Boundary != nil {
		facts = append(facts, "boundary "+figures.Group(*p.Boundary))
	}
	for _, point := range r.reader.Reading.Overview.Points {
		if at, ok := point.Offsets[p.Partition]; ok && (r.chosen[point.URI] || point.URI == r.about) {
			facts = append(facts, r.names[point.URI]+" from "+figures.Group(at))
		}
	}
	return phrase.Wrap(strings.Join(facts, "; "), max(r.size.Width-6, 1))
}

func offset(th theme.Theme, at *int64) string {
	if at == nil {
		return th.Signs.None
	}
	return figures.Group(*at)
}
