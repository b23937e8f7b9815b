package records

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/figures"
	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/dialog"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/tui/vtable"
	"github.com/recoverctl/recoverctl/views/overview"
	"github.com/recoverctl/recoverctl/views/phrase"
	"github.com/recoverctl/recoverctl/views/sheet"
)

// Browser reads a topic's records page by page, as it was described once.
// *inspect.RecordBrowser is one.
type Browser interface {
	Topic() inspect.DataTopic
	From(ctx context.Context, partition int32, offset int64, count int) (inspect.RecordPage, error)
	Before(ctx context.Context, partition int32, offset int64, count int) (inspect.RecordPage, error)
	At(ctx context.Context, at time.Time) (inspect.Offsets, error)
}

// Open describes a job's topic as it is now, to browse it.
type Open func(ctx context.Context, job inspect.Job) (Browser, error)

// Options are what the screen needs.
type Options struct {
	Theme theme.Theme
	Now   func() time.Time // time.Now if nil
	Job   inspect.Job
	Open  Open
	// Reading has the boundary and the recovery points' markers. It may be empty.
	Reading overview.Reading
	// Partition and Offset are where to begin; a negative offset is the log end.
	Partition int32
	Offset    int64
	// Dictionary has the texts of keys that records name by a digest; nil: none.
	Dictionary inspect.KeyDictionary
	Commands   []tui.Command // of the job, for the palette
}

// Screen is one partition's records.
type Screen struct {
	options Options
	names   map[string]string
	context inspect.RecordContext

	browser   Browser
	readAt    time.Time
	partition int32
	lines     []line
	from      int64 // of the lines: every offset from here …
	next      int64 // … to here is among them
	more      bool  // a page is being read
	goal      int64 // the offset to select when the page comes; -1: none
	err       error
	answered  bool

	table *vtable.Table
	size  tui.Size
}

const (
	pageSize = 200
	most     = 4000 // lines that are kept
	near     = 20   // lines before the end of what is read, from where on more is read
)

// The slots of the screen's reads.
const (
	slotOpen = "topic"
	slotPage = "page"
)

// New makes the screen.
func New(o Options) *Screen {
	if o.Now == nil {
		o.Now = time.Now
	}
	s := &Screen{
		options: o, names: phrase.Names(o.Reading.Overview.Points), partition: o.Partition, goal: -1,
		context: o.Job.RecordContext(),
	}
	s.context.Dictionary = o.Dictionary
	s.table = vtable.New(o.Theme, columns, rows{s})
	return s
}

// opened is a browser with the page that is shown first.
type opened struct {
	browser Browser
	at      time.Time
	page    page
}

// page is a stretch of lines.
type page struct {
	partition  int32
	from, next int64
	lines      []line
	goal       int64
	add        int // 0: in place of what is shown; -1 before it, 1 after it
}

// Init implements tui.Screen.
func (s *Screen) Init() tui.Cmd {
	offset := s.options.Offset
	if s.browser != nil {
		offset = s.place()
	}
	return s.open(offset)
}

// Reload describes the topic again: the log may have grown, or been cut.
func (s *Screen) Reload() tui.Cmd { return s.Init() }

func (s *Screen) open(offset int64) tui.Cmd {
	open, job, part, c, now := s.options.Open, s.options.Job, s.partition, s.context, s.options.Now
	s.more = true
	return tui.Load(slotOpen, func(ctx context.Context) (opened, error) {
		at := now()
		b, err := open(ctx, job)
		if err != nil {
			return opened{}, err
		}
		c.Partitions = len(b.Topic().Partitions)
		p, err := around(ctx, b, target{partition: part, offset: offset}, c)
		return opened{b, at, p}, err
	})
}

// around reads the page that a target lies on: from it on, and where that is too
// little, as at the log end, what lies before it too.
func around(ctx context.Context, b Browser, t target, c inspect.RecordContext) (page, error) {
	if !t.time.IsZero() {
		found, err := b.At(ctx, t.time)
		offset, ok := found[t.partition]
		if !ok {
			return page{}, err
		}
		t.offset = offset
	}
	at := slices.IndexFunc(b.Topic().Partitions, func(p inspect.Partition) bool { return p.ID == t.partition })
	if at >= 0 && t.offset < 0 {
		t.offset = b.Topic().Partitions[at].Log.End
	}
	found, err := b.From(ctx, t.partition, max(t.offset, 0), pageSize)
	if err != nil {
		return page{}, err
	}
	p := page{partition: t.partition, from: found.From, next: found.Next, lines: linesOf(found, c), goal: t.offset}
	if len(p.lines) < pageSize/2 {
		before, err := b.Before(ctx, t.partition, p.from, pageSize)
		if err != nil {
			return page{}, err
		}
		p.from, p.lines = before.From, append(linesOf(before, c), p.lines...)
	}
	return p, nil
}

func (s *Screen) jump(t target) tui.Cmd {
	b, c := s.browser, s.context
	s.more = true
	return tui.Load(slotPage, func(ctx context.Context) (page, error) { return around(ctx, b, t, c) })
}

// Update implements tui.Screen.
func (s *Screen) Update(msg tui.Msg) tui.Cmd {
	switch msg := msg.(type) {
	case tui.Loaded[opened]:
		s.more, s.answered, s.err = false, true, msg.Err
		if msg.Value.browser != nil {
			s.browser, s.readAt = msg.Value.browser, msg.Value.at
			s.context.Partitions = len(s.browser.Topic().Partitions)
		}
		if msg.Err == nil {
			s.take(msg.Value.page)
		}
	case tui.Loaded[page]:
		s.more, s.err = false, msg.Err
		if msg.Err == nil {
			s.take(msg.Value)
		}
	}
	s.lay()
	return s.ahead()
}

// take shows a page, or puts it before or after what is shown. What is far from
// the place that is looked at is forgotten.
func (s *Screen) take(p page) {
	switch {
	case p.add == 0:
		s.partition, s.lines, s.from, s.next = p.partition, p.lines, p.from, p.next
		s.table.SetSource(rows{s})
		s.selectOffset(p.goal)
		return
	case p.partition != s.partition:
		return
	case p.add > 0 && p.from == s.next:
		s.lines, s.next = append(s.lines, p.lines...), p.next
		if over := len(s.lines) - most; over > 0 {
			s.lines = slices.Clone(s.lines[over:])
			s.from = s.lines[0].offset
		}
	case p.add < 0 && p.next == s.from:
		s.lines, s.from = append(p.lines, s.lines...), p.from
		if over := len(s.lines) - most; over > 0 {
			s.lines = slices.Clone(s.lines[:most])
			last := s.lines[most-1]
			s.next = last.offset + max(last.gap, 1)
		}
	}
	s.table.SetSource(rows{s})
}

// selectOffset selects the record at an offset, or the first one after it.
func (s *Screen) selectOffset(offset int64) {
	i, _ := slices.BinarySearchFunc(s.lines, offset, func(l line, at int64) int {
		switch end := l.offset + max(l.gap, 1); {
		case end <= at:
			return -1
		case l.offset > at:
			return 1
		}
		return 0
	})
	if i = min(i, len(s.lines)-1); i >= 0 {
		below := min(i+max(s.size.Height/2, 0), len(s.lines)-1) // what follows is in sight too
		s.table.Select(rows{s}.ID(below))
		s.table.Select(rows{s}.ID(i))
	}
}

// ahead reads on where the selection comes near the end of what was read.
func (s *Screen) ahead() tui.Cmd {
	at, ok := s.table.Cursor()
	if s.more || !ok || s.browser == nil || s.table.Filter() != "" || s.err != nil {
		return nil
	}
	log, _ := s.log(s.partition)
	b, part, c := s.browser, s.partition, s.context
	switch {
	case at >= len(s.lines)-near && s.next < log.End:
		s.more = true
		from := s.next
		return tui.Load(slotPage, func(ctx context.Context) (page, error) {
			found, err := b.From(ctx, part, from, pageSize)
			return page{partition: part, from: found.From, next: found.Next, lines: linesOf(found, c), add: 1}, err
		})
	case at < near && s.from > log.Start:
		s.more = true
		to := s.from
		return tui.Load(slotPage, func(ctx context.Context) (page, error) {
			found, err := b.Before(ctx, part, to, pageSize)
			return page{partition: part, from: found.From, next: found.Next, lines: linesOf(found, c), add: -1}, err
		})
	}
	return nil
}

// log is the log range of a partition, as it was described.
func (s *Screen) log(part int32) (inspect.LogRange, bool) {
	if s.browser == nil {
		return inspect.LogRange{}, false
	}
	for _, p := range s.browser.Topic().Partitions {
		if p.ID == part {
			return p.Log, true
		}
	}
	return inspect.LogRange{}, false
}

// place is the offset that is selected.
func (s *Screen) place() int64 {
	if at, ok := s.table.Cursor(); ok && at < len(s.lines) {
		return s.lines[at].offset
	}
	return s.options.Offset
}

var columns = []vtable.Column{
	{Title: "OFFSET", Right: true},
	{Title: "TIME", Min: len("01-02 15:04:05Z")},
	{Title: "KEY", Min: 12, Max: 40},
	{Title: "SEQ", Right: true},
	{Title: "RECORD", Min: 20, Flex: 1},
	{Title: "BYTES", Right: true},
	{Title: "MARK"},
}

// rows are the lines that were read.
type rows struct{ *Screen }

func (r rows) Len() int        { return len(r.lines) }
func (r rows) ID(i int) string { return strconv.FormatInt(r.lines[i].offset, 10) }

// Find implements vtable.Finder.
func (r rows) Find(id string) (int, bool) {
	offset, err := strconv.ParseInt(id, 10, 64)
	if err != nil {
		return 0, false
	}
	return slices.BinarySearchFunc(r.lines, offset, func(l line, at int64) int { return int(min(1, max(-1, l.offset-at))) })
}

// Query implements vtable.Querier: a filter is of the records that were read, and
// where those are not all of the log it says which they are.
func (r rows) Query(string) (passes func(i int) bool, note string) {
	if log, known := r.log(r.partition); known && (r.from > log.Start || r.next < log.End) {
		note = "only of offsets " + figures.Group(r.from) + " to " + figures.Group(r.next)
	}
	return nil, note
}

func (r rows) Row(i int) []vtable.Cell {
	l := r.lines[i]
	after := r.from - 1
	if i > 0 {
		after = r.lines[i-1].offset + max(r.lines[i-1].gap, 1) - 1
	}
	at := l.offset + max(l.gap, 1) - 1
	mark := vtable.Cell{Text: named(r.marks(), after, at), Tone: theme.Title}
	offset := vtable.Cell{Text: figures.Group(l.offset)}
	if l.gap > 0 {
		return []vtable.Cell{offset, {}, {}, {}, {Text: l.what, Tone: l.tone}, {}, mark}
	}
	return []vtable.Cell{
		offset, {Text: clockOf(l.at, r.options.Now())}, {Text: l.key}, {Text: l.seq},
		{Text: l.what, Tone: l.tone}, {Text: figures.Group(l.size)}, mark,
	}
}

// clockOf is a record's time to the second, with the day where it is not that of
// now; the record's own screen has it whole.
func clockOf(t, now time.Time) string {
	t, now = t.UTC(), now.UTC()
	if t.YearDay() == now.YearDay() && t.Year() == now.Year() {
		return t.Format("15:04:05Z")
	}
	return t.Format("01-02 15:04:05Z")
}

// Resize implements tui.Resizer.
func (s *Screen) Resize(size tui.Size) {
	s.size = size
	s.lay()
}

func (s *Screen) lay() {
	s.table.Resize(tui.Size{Width: s.size.Width, Height: max(s.size.Height-len(s.head(s.size.Width))-1, 0)})
}

// head says which part of the log is looked at, and what could not be read.
func (s *Screen) head(width int) []string {
	p := &sheet.Page{Theme: s.options.Theme, Width: width}
	if s.browser != nil {
		log, ok := s.log(s.partition)
		text := fmt.Sprintf("%s %d of %d: offsets %s", s.part(), s.partition, len(s.browser.Topic().Partitions), span(log))
		if !ok {
			text = fmt.Sprintf("the %s has no %s %d", s.logWord(), s.part(), s.partition)
		}
		p.Hang(" ", theme.Title, text)
	}
	p.Faults(theme.Error, "", s.err)
	return p.Lines
}

// View implements tui.Screen.
func (s *Screen) View(size tui.Size) string {
	lines := append(s.head(size.Width), "")
	switch log, _ := s.log(s.partition); {
	case len(s.lines) > 0:
		lines = append(lines, s.table.View(tui.Size{Width: size.Width, Height: size.Height - len(lines)}))
	case !s.answered:
		lines = append(lines, "   reading "+phrase.Clip(phrase.Safe(s.options.Job.Topic), size.Width-12, s.options.Theme.Signs.More))
	case s.err != nil:
	case log.Start == log.End:
		lines = append(lines, "   the "+s.part()+" is empty: its log starts where it ends")
	default:
		lines = append(lines, "   no offset of this "+s.part()+" holds a record any more")
	}
	return strings.Join(lines, "\n")
}

// Crumb implements tui.Screen.
func (s *Screen) Crumb() string { return "records" }

// Status implements tui.Screen.
func (s *Screen) Status() tui.Status { return tui.Status{ReadAt: s.readAt} }

// Commands implements tui.Commander.
func (s *Screen) Commands() []tui.Command { return overview.Elsewhere(s.options.Commands, "records") }

// Keys implements tui.Screen.
func (s *Screen) Keys() []tui.Key {
	noTopic := func() string {
		if s.browser == nil {
			return "the " + s.logWord() + " is not known"
		}
		return ""
	}
	none := func() string {
		if l, ok := s.selected(); !ok || l.gap > 0 {
			return "no record is selected"
		}
		return ""
	}
	to := func(text string) func() tui.Cmd {
		return func() tui.Cmd {
			t, why := s.target(text)
			if why != "" {
				return tui.Say(theme.Warning, why)
			}
			return s.jump(t)
		}
	}
	turn := func(by int) func() tui.Cmd {
		return func() tui.Cmd {
			ids := s.browser.Topic().IDs()
			at := max(slices.Index(ids, s.partition), 0)
			return s.jump(target{partition: ids[(at+by+len(ids))%len(ids)], offset: -1})
		}
	}
	keys := []tui.Key{
		{Keys: []string{"enter"}, Help: "open", Disabled: none, Run: func() tui.Cmd {
			l, _ := s.selected()
			return tui.Push(newOne(s, l.offset))
		}},
		{Keys: []string{"J"}, Help: "jump", Disabled: noTopic, Run: s.ask},
		{Keys: []string{"m"}, Help: "next mark", Disabled: s.noMark, Run: s.nextMark},
		{Keys: []string{"tab"}, Help: s.part(), Disabled: noTopic, Run: turn(1)},
		{Keys: []string{"shift+tab"}, Help: "previous " + s.part(), Quiet: true, Disabled: noTopic, Run: turn(-1)},
		{Keys: []string{"g", "home"}, Help: "log start", Disabled: noTopic, Run: to("start")},
		{Keys: []string{"G", "end"}, Help: "log end", Disabled: noTopic, Run: to("end")},
		tui.CopyKey(func() (what, text string) {
			l, ok := s.selected()
			if !ok {
				return "the line", ""
			}
			return "the line", s.asText(l)
		}),
	}
	for _, k := range s.table.Keys() {
		if slices.Contains(k.Keys, "g") || slices.Contains(k.Keys, "G") {
			continue
		}
		run := k.Run
		k.Run = func() tui.Cmd { return tui.Batch(run(), s.ahead()) }
		keys = append(keys, k)
	}
	return keys
}

func (s *Screen) selected() (line, bool) {
	at, ok := s.table.Cursor()
	if !ok || at >= len(s.lines) {
		return line{}, false
	}
	return s.lines[at], true
}

// ask asks where to go.
func (s *Screen) ask() tui.Cmd {
	return dialog.Text{
		Title: "Jump", Lines: []string{"To " + s.jumpHelp() + "."}, Label: "To",
		Check: func(text string) string {
			_, why := s.target(text)
			return why
		},
	}.Open(func(text string) tui.Cmd {
		t, _ := s.target(text)
		if beyond := s.beyond(t); beyond != "" {
			return tui.Batch(s.jump(t), tui.Say(theme.Warning, beyond))
		}
		return s.jump(t)
	})
}

func (s *Screen) noMark() string {
	if s.browser == nil {
		return "the " + s.logWord() + " is not known"
	}
	if len(s.marks()) == 0 {
		return "no boundary and no marker is known on this " + s.part()
	}
	return ""
}

// nextMark goes to the boundary or marker after the selected record, and from
// the last one to the first.
func (s *Screen) nextMark() tui.Cmd {
	marks := s.marks()
	to := marks[0]
	for _, m := range marks {
		if m.offset > s.place() {
			to = m
			break
		}
	}
	return tui.Batch(tui.Say(theme.Plain, to.name+" at "+figures.Group(to.offset)), s.jump(target{partition: s.partition, offset: to.offset}))
}

// asText is a line for a ticket.
func (s *Screen) asText(l line) string {
	text := fmt.Sprintf("%s %d, offset %s", s.part(), s.partition, figures.Group(l.offset))
	if l.gap > 0 {
		return text + ": " + l.what + "\n"
	}
	return fmt.Sprintf("%s, %s, key %s, %s, %s bytes\n", text, l.at.UTC().Format(time.RFC3339Nano), l.key, l.what, figures.Group(l.size))
}
