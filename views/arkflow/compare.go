package arkflow

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/recoverctl/recoverctl/inspect/arkflow"
	"github.com/recoverctl/recoverctl/internal/figures"
	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/views/compare"
	"github.com/recoverctl/recoverctl/views/phrase"
	"github.com/recoverctl/recoverctl/views/sheet"
)

// comparison is two recovery points side by side, with what a start that restores each
// would send again.
type comparison struct {
	*partOf
	ids   [2]string
	costs map[string]arkflow.ReplayCost // by the point's id
	err   error                         // why they are not known
}

// ids are those of the recovery points, in the order of the list.
func (s *Job) ids() []string {
	points := s.reader.value.Points.Points
	ids := make([]string, 0, len(points))
	for _, p := range points {
		ids = append(ids, p.ID)
	}
	return ids
}

// slotCosts is the slot of the read of the costs.
const slotCosts = "costs"

func newComparison(s *Job, left, right string) *comparison {
	c := &comparison{ids: [2]string{left, right}}
	c.partOf = newPart(s, "compare", c.write, func() []tui.Key {
		return []tui.Key{{Keys: []string{"="}, Help: "swap", Run: func() tui.Cmd {
			c.ids[0], c.ids[1] = c.ids[1], c.ids[0]
			c.Lay()
			return nil
		}}}
	})
	return c
}

// Init implements tui.Screen: what a start sends again is read from the log.
func (c *comparison) Init() tui.Cmd {
	source, d, ids := c.job.options.Source, c.job.reader.value, c.ids
	return tui.Load(slotCosts, func(ctx context.Context) (map[string]arkflow.ReplayCost, error) {
		costs := map[string]arkflow.ReplayCost{}
		for _, id := range ids {
			cost, err := source.Replay(ctx, d, id)
			if err != nil {
				return nil, err
			}
			costs[id] = cost
		}
		return costs, nil
	})
}

// Update implements tui.Screen. Where the job was read again, so are the costs.
func (c *comparison) Update(msg tui.Msg) tui.Cmd {
	if costs, ok := msg.(tui.Loaded[map[string]arkflow.ReplayCost]); ok {
		c.err = costs.Err
		if costs.Err == nil {
			c.costs = costs.Value
		}
		c.Lay()
		return nil
	}
	cmd := c.partOf.Update(msg)
	if _, ok := msg.(tui.Loaded[arkflow.JobDetail]); ok {
		return tui.Batch(cmd, c.Init())
	}
	return cmd
}

func (c *comparison) write(p *sheet.Page) {
	var points [2]arkflow.Point
	for i, id := range c.ids {
		one, ok := c.job.point(id)
		if !ok {
			c.job.gone(p, id)
			return
		}
		points[i] = one
	}
	if c.err != nil {
		p.Faults(theme.Warning, "what a start sends again is not known: ", c.err)
	}
	facts := c.facts(points)
	compare.Differing(p, [2]string{phrase.Safe(c.ids[0]), phrase.Safe(c.ids[1])}, facts)
	positionsOfBoth(p, points)
	compare.Same(p, facts)
}

// facts are what can be said of both, the verdict first.
func (c *comparison) facts(points [2]arkflow.Point) []compare.Fact {
	none, target := c.theme.Signs.None, c.job.reader.value.Points.Target
	of := func(name string, value func(arkflow.Point) (string, theme.Tone)) compare.Fact {
		f := compare.Fact{Name: name}
		for i, p := range points {
			f.Values[i], f.Tones[i] = value(p)
		}
		return f
	}
	plain := func(name string, value func(arkflow.Point) string) compare.Fact {
		return of(name, func(p arkflow.Point) (string, theme.Tone) { return value(p), theme.Plain })
	}
	figure := func(name string, value func(arkflow.Point) *uint64) compare.Fact {
		return plain(name, func(p arkflow.Point) string {
			if n := value(p); n != nil {
				return arkflow.Number(*n)
			}
			return ""
		})
	}
	facts := []compare.Fact{
		of("verdict", func(p arkflow.Point) (string, theme.Tone) { return phrase.Verdict(p.Verdict) }),
		plain("why", func(p arkflow.Point) string {
			if p.Reason == "" {
				return none
			}
			return phrase.Safe(p.Reason) + ": " + phrase.Safe(p.Message)
		}),
		plain("the engine's check", func(p arkflow.Point) string {
			text := string(p.Engine.Verdict)
			if p.Engine.Why != "" {
				text += ": " + phrase.Safe(p.Engine.Why)
			}
			return text
		}),
		of("a start", starts),
		plain("kind", func(p arkflow.Point) string { return phrase.Safe(string(p.Kind)) }),
		plain("on record", func(p arkflow.Point) string { return cmp.Or(phrase.Safe(p.Status), "no") }),
		plain("age", func(p arkflow.Point) string {
			if p.Created == nil {
				return ""
			}
			return age(p.Created, c.job.reader.at) + createdBy(p)
		}),
		figure("job version", func(p arkflow.Point) *uint64 { return p.JobVersion }),
		figure("state format", func(p arkflow.Point) *uint64 { return p.FormatVersion }),
		figure("generation", func(p arkflow.Point) *uint64 { return p.Generation }),
		plain("tasks of the plan", func(p arkflow.Point) string {
			if len(p.Tasks) == 0 { // there is no manifest, or it can't be read
				return ""
			}
			return tasksOf(p, target)
		}),
		plain("missing tasks", func(p arkflow.Point) string {
			switch {
			case len(p.Tasks) == 0 || target.Tasks == nil:
				return ""
			case len(p.Missing) == 0:
				return none
			}
			return some(p.Missing)
		}),
		plain("tasks ran on", tasksByNode),
		plain("watermarks", watermarks),
		of("state", stateOfPoint),
	}
	return append(facts, c.replay(points)...)
}

// replay is what a start would send again if it restored the one or the other.
func (c *comparison) replay(points [2]arkflow.Point) []compare.Fact {
	raw, rest, says := compare.Fact{Name: "sends again, by the log"}, compare.Fact{Name: "beyond its positions"}, compare.Fact{Name: "replay cost"}
	for i, p := range points {
		cost, known := c.costs[p.ID]
		if !known {
			continue
		}
		says.Values[i] = phrase.Safe(cost.Sentence)
		if cost.Raw != nil {
			raw.Values[i] = entriesOf(cost.Raw)
		}
		if cost.Covered != nil {
			rest.Values[i] = entriesOf(cost.Reconciled)
		}
	}
	if raw.Values == [2]string{} && rest.Values == [2]string{} {
		return []compare.Fact{says}
	}
	return []compare.Fact{raw, rest, says}
}

// entriesOf is a window of a log in a few words; of nil nothing is left.
func entriesOf(w *arkflow.Window) string {
	if w == nil {
		return "nothing"
	}
	text := arkflow.Number(w.Entries) + " entries, from sequence " + arkflow.Number(w.From)
	if w.Bytes != nil {
		text += ", " + figures.Bytes(*w.Bytes)
	}
	return text
}

// tasksByNode is how many tasks ran on each node; empty: not known.
func tasksByNode(p arkflow.Point) string {
	on := map[string]int{}
	for _, t := range p.Tasks {
		on[t.Node]++
	}
	var words []string
	for _, node := range slices.Sorted(maps.Keys(on)) {
		words = append(words, phrase.Safe(node)+" "+strconv.Itoa(on[node]))
	}
	return some(words)
}

// watermarks are the lowest and the highest; empty: not known.
func watermarks(p arkflow.Point) string {
	switch {
	case len(p.Tasks) == 0:
		return ""
	case len(p.Watermark) == 0:
		return "none"
	}
	all := slices.Sorted(maps.Values(p.Watermark))
	text := func(ms int64) string { return time.UnixMilli(ms).UTC().Format(time.RFC3339) }
	if all[0] == all[len(all)-1] {
		return text(all[0])
	}
	return text(all[0]) + " to " + text(all[len(all)-1])
}

// stateOfPoint is how much state is in a point, and what is wrong with its objects.
func stateOfPoint(p arkflow.Point) (string, theme.Tone) {
	if len(p.Tasks) == 0 {
		return "", theme.Plain
	}
	bytes, entries, known, bad, unread := uint64(0), 0, true, 0, 0
	for _, o := range p.States {
		bytes += o.Bytes
		switch {
		case o.State == arkflow.ObjectUnread:
			unread++
		case o.State != arkflow.ObjectWhole:
			bad++
		}
		if o.Entries == nil {
			known = false
		} else {
			entries += *o.Entries
		}
	}
	words, tone := figures.Count(len(p.States), "object", "objects")+", "+figures.Bytes(int64(min(bytes, math.MaxInt64))), theme.Plain
	if known {
		words += ", " + figures.Count(entries, "entry", "entries")
	}
	if unread > 0 {
		words, tone = words+fmt.Sprintf(", %d not read", unread), theme.Warning
	}
	if bad > 0 {
		words, tone = words+fmt.Sprintf(", %d NOT WHOLE", bad), theme.Error
	}
	return words, tone
}

// mostNames is how many names are listed before the rest is counted.
const mostNames = 12

func some(names []string) string {
	shown := make([]string, 0, min(len(names), mostNames))
	for _, n := range names[:min(len(names), mostNames)] {
		shown = append(shown, phrase.Safe(n))
	}
	text := strings.Join(shown, ", ")
	if more := len(names) - len(shown); more > 0 {
		text += fmt.Sprintf(" and %s more", figures.Group(int64(more)))
	}
	return text
}

// positionsOfBoth are where the sources of each go on, of those partitions where that
// differs.
func positionsOfBoth(p *sheet.Page, points [2]arkflow.Point) {
	p.Title("Sources go on from")
	type place struct {
		topic     string
		partition uint64
	}
	var at [2]map[place]uint64
	var all []place
	for i, one := range points {
		at[i] = map[place]uint64{}
		for _, s := range one.Positions {
			key := place{"not recorded", s.Partition}
			if s.Topic != nil {
				key.topic = phrase.Safe(*s.Topic)
			}
			at[i][key] = s.Offset
			if _, both := at[0][key]; i == 0 || !both {
				all = append(all, key)
			}
		}
		if len(one.Positions) == 0 {
			p.Hang(sheet.Indent+phrase.Safe(one.ID)+": ", theme.Warning, goOn(one))
		}
	}
	slices.SortFunc(all, func(a, b place) int {
		return cmp.Or(cmp.Compare(a.topic, b.topic), cmp.Compare(a.partition, b.partition))
	})
	var rows [][]sheet.Cell
	same := 0
	for _, key := range slices.Compact(all) {
		left, inLeft := at[0][key]
		right, inRight := at[1][key]
		if inLeft && inRight && left == right {
			same++
			continue
		}
		cell := func(n uint64, is bool) sheet.Cell {
			if !is {
				return sheet.Cell{Text: p.Theme.Signs.None, Tone: theme.Warning}
			}
			return sheet.Cell{Text: arkflow.Number(n)}
		}
		difference := sheet.Cell{Text: p.Theme.Signs.None, Tone: theme.Warning}
		switch {
		case !inLeft || !inRight:
		case right > left:
			difference = sheet.Cell{Text: "+" + arkflow.Number(right-left)}
		default:
			difference = sheet.Cell{Text: "-" + arkflow.Number(left-right)}
		}
		rows = append(rows, []sheet.Cell{{Text: key.topic}, {Text: strconv.FormatUint(key.partition, 10)}, cell(left, inLeft), cell(right, inRight), difference})
	}
	if same > 0 {
		p.Say("the same on " + phrase.Count(same, "partition", "partitions"))
	}
	if len(rows) > 0 {
		p.Table([]sheet.Column{
			{Title: "TOPIC"}, {Title: "PARTITION", Right: true}, {Title: "THE FIRST", Right: true}, {Title: "THE SECOND", Right: true}, {Title: "DIFFERENCE", Right: true},
		}, rows)
	}
}
