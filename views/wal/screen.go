package wal

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/inspect/arkflow"
	"github.com/recoverctl/recoverctl/internal/clock"
	"github.com/recoverctl/recoverctl/internal/figures"
	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/bar"
	"github.com/recoverctl/recoverctl/tui/dialog"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/tui/vtable"
	"github.com/recoverctl/recoverctl/views/phrase"
	"github.com/recoverctl/recoverctl/views/sheet"
)

// Source reads one log.
type Source interface {
	// Read reads the log anew.
	Read(ctx context.Context) (arkflow.WriteAheadLog, error)
	// Lines describes entries of a log that was read, from a sequence on.
	Lines(ctx context.Context, l arkflow.WriteAheadLog, from uint64, limit int) (lines []arkflow.Line, more bool, err error)
	// Open reads one entry of it.
	Open(ctx context.Context, l arkflow.WriteAheadLog, sequence uint64) (arkflow.Opened, error)
}

// Options are what the screen needs.
type Options struct {
	Theme  theme.Theme
	Now    func() time.Time // time.Now if nil
	Name   string           // of the job or stream
	Source Source
}

// Screen is the screen of a log.
type Screen struct {
	options Options
	log     arkflow.WriteAheadLog
	known   bool // it was read at least once
	reading bool
	readAt  time.Time
	err     error

	places  places                  // of the entries in the table
	lines   map[uint64]arkflow.Line // those that were read, by sequence
	loading bool
	lineErr error

	table *vtable.Table
	size  tui.Size
}

// Bounds of what is read and kept of the entries.
const (
	stretch  = 200
	maxLines = 2000
)

// The slots of the screen's reads.
const (
	slotLog   = "log"
	slotLines = "entries"
)

// New makes the screen.
func New(o Options) *Screen {
	if o.Now == nil {
		o.Now = time.Now
	}
	s := &Screen{options: o, lines: map[uint64]arkflow.Line{}}
	s.table = vtable.New(o.Theme, columns, rows{s})
	return s
}

// answer is a log with the time at which it was asked for.
type answer struct {
	log arkflow.WriteAheadLog
	at  time.Time
}

// Init implements tui.Screen.
func (s *Screen) Init() tui.Cmd {
	source, now := s.options.Source, s.options.Now
	s.reading = true
	return tui.Load(slotLog, func(ctx context.Context) (answer, error) {
		at := now()
		l, err := source.Read(ctx)
		return answer{l, at}, err
	})
}

// Reload implements tui.Reloader.
func (s *Screen) Reload() tui.Cmd { return s.Init() }

// fetched are lines of a log.
type fetched struct {
	from  uint64
	lines []arkflow.Line
}

// Update implements tui.Screen.
func (s *Screen) Update(msg tui.Msg) tui.Cmd {
	switch msg := msg.(type) {
	case tui.Loaded[answer]:
		s.reading, s.err = false, msg.Err
		if msg.Err == nil {
			s.take(msg.Value)
		}
	case tui.Loaded[fetched]:
		s.loading, s.lineErr = false, msg.Err
		if len(s.lines) > maxLines {
			clear(s.lines)
		}
		for _, l := range msg.Value.lines {
			s.lines[l.Sequence] = l
		}
		s.table.SetSource(rows{s})
	}
	s.lay()
	return s.ahead()
}

// take shows a log that was read. At first the oldest entry that would be replayed
// is selected; later the one that was.
func (s *Screen) take(a answer) {
	first := !s.known
	s.log, s.readAt, s.known = a.log, a.at, true
	s.places = placesOf(a.log)
	clear(s.lines)
	s.lineErr = nil
	s.table.SetSource(rows{s})
	s.lay()
	if first && a.log.Window != nil {
		s.selectSequence(a.log.Window.From)
	}
}

// selectSequence selects an entry, or what stands in its place.
func (s *Screen) selectSequence(n uint64) {
	if i, ok := s.places.find(n); ok {
		below := min(i+max(s.size.Height/2, 0), s.places.len()-1) // what follows is in sight too
		s.table.Select(rows{s}.ID(below))
		s.table.Select(rows{s}.ID(i))
	}
}

// ahead reads lines where some around the selection are not known.
func (s *Screen) ahead() tui.Cmd {
	at, ok := s.table.Cursor()
	if s.loading || !ok || s.lineErr != nil {
		return nil
	}
	height := max(s.size.Height, 1)
	for i := max(at-height, 0); i < min(at+height, s.places.len()); i++ {
		p := s.places.at(i)
		if p.gap > 0 {
			continue
		}
		if _, known := s.lines[p.sequence]; known {
			continue
		}
		s.loading = true
		source, log, from := s.options.Source, s.log, p.sequence
		return tui.Load(slotLines, func(ctx context.Context) (fetched, error) {
			lines, _, err := source.Lines(ctx, log, from, stretch)
			if err == nil && (len(lines) == 0 || lines[0].Sequence != from) {
				// Gone since the log was read: said, and not asked for again.
				lines = append([]arkflow.Line{{Sequence: from, Problem: "not in the log any more: r reads it again"}}, lines...)
			}
			return fetched{from, lines}, err
		})
	}
	return nil
}

// Resize implements tui.Resizer.
func (s *Screen) Resize(size tui.Size) {
	s.size = size
	s.lay()
}

func (s *Screen) lay() {
	s.table.Resize(tui.Size{Width: s.size.Width, Height: max(s.size.Height-len(s.head(s.size))-1, 0)})
}

// View implements tui.Screen.
func (s *Screen) View(size tui.Size) string {
	lines := s.head(size)
	if s.known && s.log.Stable {
		lines = append(lines, "")
		if s.places.len() > 0 {
			lines = append(lines, s.table.View(tui.Size{Width: size.Width, Height: size.Height - len(lines)}))
		} else {
			lines = append(lines, "   the log has no entry")
		}
	}
	return strings.Join(lines, "\n")
}

// head says what a start replays and what is wrong, above the entries.
func (s *Screen) head(size tui.Size) []string {
	p := &sheet.Page{Theme: s.options.Theme, Width: size.Width}
	p.Faults(theme.Error, "", s.err)
	switch {
	case !s.known && s.err == nil:
		p.Say("   reading the log")
		return p.Lines
	case !s.known:
		return p.Lines
	}
	l := s.log
	tone := theme.OK
	if len(l.Problems) > 0 {
		tone = phrase.Tone(l.Worst())
	}
	p.Sign(tone, l.Headline())
	s.problems(p, size.Height)
	if !l.Stable {
		return p.Lines
	}
	p.Blank()
	p.Lines = append(p.Lines, phrase.Flow(Facts(s.options.Theme, l), "   ", size.Width-1)...)
	if line, ok := Bar(s.options.Theme, l, size.Width); ok {
		p.Blank()
		p.Lines = append(p.Lines, line)
	}
	p.Faults(theme.Error, "entries: ", s.lineErr)
	return p.Lines
}

// problems are the worst ones, a line each, as many as leave room for entries.
func (s *Screen) problems(p *sheet.Page, height int) {
	room := max(height/5, 2)
	told := 0
	for _, problem := range s.log.Problems {
		if problem.Severity == inspect.SeverityInfo {
			break // they stand at the end
		}
		if told == room {
			p.Clipped(theme.Plain, fmt.Sprintf("and %d more: p shows all, with what to do", len(s.log.Problems)-told))
			return
		}
		p.Clipped(phrase.Tone(problem.Severity), phrase.Safe(problem.Message))
		told++
	}
}

// Facts are a log that was read whole enough to have a tail, in a few words.
func Facts(th theme.Theme, l arkflow.WriteAheadLog) []string {
	cursor := "cursor not known"
	if l.Cursor != nil {
		cursor = "cursor " + arkflow.Number(*l.Cursor)
	}
	facts := []string{cursor, ruleWords(l.CursorRule.Rule), "tail " + arkflow.Number(*l.Tail)}
	switch w := l.Window; {
	case w != nil:
		text := "replays " + arkflow.Number(w.Entries)
		if l.Partial {
			text += " or more"
		} else if w.Bytes != nil {
			text += ", " + figures.Bytes(*w.Bytes)
		}
		facts = append(facts, text)
	case l.ReplaysNothing():
		facts = append(facts, "replays nothing")
	case l.Partial:
		facts = append(facts, "what it replays is not known")
	}
	if o := l.Oldest; o != nil {
		facts = append(facts, "oldest "+clock.Age(time.Duration(o.AgeMs)*time.Millisecond))
	}
	facts = append(facts, "stored "+figures.Bytes(l.Bytes.Stored))
	if l.Read != arkflow.ReadAll {
		facts = append(facts, th.Paint(theme.Warning, "acknowledged part not read"))
	}
	return facts
}

func ruleWords(r arkflow.Rule) string {
	switch r {
	case arkflow.HighWater:
		return "high-water mark, NOT contiguous"
	case arkflow.Contiguous:
		return "contiguous"
	default:
		return "take it for a high-water mark"
	}
}

// Bar draws a log to scale between its first and last sequence: dotted up to the
// cursor, with the sign of an error at each gap. False: there is nothing to draw, or no room.
func Bar(th theme.Theme, l arkflow.WriteAheadLog, width int) (line string, ok bool) {
	if len(l.Runs) == 0 || l.Tail == nil || *l.Tail >= math.MaxInt64 {
		return "", false
	}
	b := bar.Bar{Start: int64(min(l.Runs[0].From, *l.Tail)), End: int64(*l.Tail)}
	if l.Cursor != nil && *l.Cursor < math.MaxInt64 {
		cursor := int64(*l.Cursor)
		b.Boundary = &cursor
	}
	for _, g := range l.Gaps {
		if g.From < math.MaxInt64 {
			b.Marks = append(b.Marks, bar.Mark{Offset: int64(g.From), Tone: theme.Error, Sign: th.Signs.Error})
		}
	}
	start, end := arkflow.Number(l.Runs[0].From), arkflow.Number(*l.Tail)
	room := width - len(start) - len(end) - 3*2
	const least = 20
	if room < least {
		return "", false
	}
	return "  " + start + " " + b.Render(room, th) + " " + end, true
}

// Crumb implements tui.Screen.
func (s *Screen) Crumb() string {
	if s.options.Name == "" {
		return "write-ahead log"
	}
	return phrase.Safe(s.options.Name) + " write-ahead log"
}

// Status implements tui.Screen.
func (s *Screen) Status() tui.Status { return tui.Status{ReadAt: s.readAt} }

// Keys implements tui.Screen.
func (s *Screen) Keys() []tui.Key {
	unknown := func() string {
		if !s.known {
			return "the log is not known"
		}
		return ""
	}
	none := func() string {
		if _, ok := s.selected(); !ok {
			return "no entry is selected"
		}
		return ""
	}
	noWindow := func() string {
		if why := unknown(); why != "" {
			return why
		}
		switch {
		case s.log.ReplaysNothing():
			return "a start replays nothing"
		case s.log.Window == nil:
			return "what a start replays is not known"
		}
		return ""
	}
	noGap := func() string {
		if why := unknown(); why != "" {
			return why
		}
		if len(s.log.Gaps) == 0 {
			return "the replay window has no gap"
		}
		return ""
	}
	keys := []tui.Key{
		{Keys: []string{"enter"}, Help: "open", Disabled: none, Run: func() tui.Cmd {
			n, _ := s.selected()
			return tui.Push(newEntry(s, n))
		}},
		{Keys: []string{"p"}, Help: "problems and facts", Disabled: unknown, Run: func() tui.Cmd { return tui.Push(newFacts(s)) }},
		{Keys: []string{"J"}, Help: "jump", Disabled: unknown, Run: s.ask},
		{Keys: []string{"C"}, Help: "behind the cursor", Disabled: noWindow, Run: func() tui.Cmd {
			s.selectSequence(s.log.Window.From)
			return tui.Batch(s.ahead(), tui.Say(theme.Plain, "the first entry that a start replays"))
		}},
		{Keys: []string{"m"}, Help: "next gap", Disabled: noGap, Run: s.nextGap},
		tui.CopyKey(func() (what, text string) { return "the log's summary", s.summary() }),
	}
	for _, k := range s.table.Keys() {
		run := k.Run
		k.Run = func() tui.Cmd { return tui.Batch(run(), s.ahead()) }
		keys = append(keys, k)
	}
	return keys
}

// selected is the entry that is selected; false for a gap.
func (s *Screen) selected() (uint64, bool) {
	i, ok := s.table.Cursor()
	if !ok || i >= s.places.len() {
		return 0, false
	}
	p := s.places.at(i)
	return p.sequence, p.gap == 0
}

// nextGap goes to the gap behind the selection, and from the last to the first.
func (s *Screen) nextGap() tui.Cmd {
	to := s.log.Gaps[0]
	if i, ok := s.table.Cursor(); ok && i < s.places.len() {
		for _, g := range s.log.Gaps {
			if g.From > s.places.at(i).sequence {
				to = g
				break
			}
		}
	}
	s.selectSequence(to.From)
	return s.ahead()
}

// ask asks where to go.
func (s *Screen) ask() tui.Cmd {
	read := func(text string) (uint64, string) {
		var n uint64
		text = strings.ReplaceAll(text, ",", "")
		switch {
		case text == "cursor" && s.log.Cursor != nil:
			return *s.log.Cursor, ""
		case text == "tail":
			return *s.log.Tail, ""
		}
		if _, err := fmt.Sscan(text, &n); err != nil || strings.Trim(text, "0123456789") != "" {
			return 0, "that is no sequence, nor cursor or tail"
		}
		if _, ok := s.places.find(n); !ok {
			return 0, "the log holds no entry " + arkflow.Number(n)
		}
		return n, ""
	}
	return dialog.Text{
		Title: "Jump", Lines: []string{"To a sequence, cursor or tail."}, Label: "To",
		Check: func(text string) string {
			_, why := read(text)
			return why
		},
	}.Open(func(text string) tui.Cmd {
		n, _ := read(text)
		s.selectSequence(n)
		return s.ahead()
	})
}

// summary is the log for a ticket.
func (s *Screen) summary() string {
	if !s.known {
		return ""
	}
	lines := []string{s.options.Name + ": " + s.log.Headline()}
	for _, p := range s.log.Problems {
		lines = append(lines, string(p.Severity)+": "+p.Message)
	}
	for i, line := range lines {
		lines[i] = phrase.Safe(line)
	}
	return strings.Join(lines, "\n") + "\n"
}
