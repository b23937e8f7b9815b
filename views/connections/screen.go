package connections

import (
	"fmt"
	"strings"
	"time"

	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/tui/vtable"
	"github.com/recoverctl/recoverctl/views/phrase"
	"github.com/recoverctl/recoverctl/views/sheet"
)

// Connection is one thing that answers are read from, or how its addresses are
// written here. Its texts are as they were configured; secrets are no part of
// them.
type Connection struct {
	Kind    string // "kafka", "fluss", "flink", "recovery points", "object store", "path mapping"
	Address string // what is connected to; may be empty
	For     string // what needs it, as in "job order-agent"; may be empty
	Used    string // how much it was asked so far; may be empty
	// State is a word or two: "ok", "FAILED", "not asked", "not configured".
	State string
	Tone  theme.Tone
	Asked time.Time // when it was asked last; zero: never, or not known
	// Err is the last fault, also where the state is ok again; nil: none.
	Err   error
	ErrAt time.Time
}

// Options are what the screen needs.
type Options struct {
	Theme theme.Theme
	Now   func() time.Time // time.Now if nil
	// List says what there is now. It is called from the console's goroutine and
	// must answer at once.
	List func() []Connection
}

// Screen is all connections.
type Screen struct {
	options Options
	all     []Connection
	at      time.Time // when all was asked for
	table   *vtable.Table
	size    tui.Size
}

// New makes the screen.
func New(o Options) *Screen {
	if o.Now == nil {
		o.Now = time.Now
	}
	s := &Screen{options: o}
	s.table = vtable.New(o.Theme, columns, rows{s})
	return s
}

// Init implements tui.Screen.
func (s *Screen) Init() tui.Cmd {
	s.all, s.at = s.options.List(), s.options.Now()
	s.table.SetSource(rows{s})
	return nil
}

// Reload implements tui.Reloader. It connects to nothing: it asks anew what is
// known.
func (s *Screen) Reload() tui.Cmd { return s.Init() }

// Update implements tui.Screen.
func (s *Screen) Update(tui.Msg) tui.Cmd { return nil }

// Resize implements tui.Resizer.
func (s *Screen) Resize(size tui.Size) {
	s.size = size
	s.table.Resize(size)
}

// View implements tui.Screen.
func (s *Screen) View(size tui.Size) string {
	if len(s.all) > 0 {
		return s.table.View(size)
	}
	p := &sheet.Page{Theme: s.options.Theme, Width: size.Width}
	p.Hang(" ", theme.Plain, "nothing is connected")
	p.Say("No brokers, no JobManager and no place of recovery points is configured: recoverctl config show says what is.")
	return strings.Join(p.Lines, "\n")
}

// Crumb implements tui.Screen.
func (s *Screen) Crumb() string { return "connections" }

// Status implements tui.Screen.
func (s *Screen) Status() tui.Status { return tui.Status{ReadAt: s.at} }

// Keys implements tui.Screen.
func (s *Screen) Keys() []tui.Key {
	if len(s.all) == 0 {
		return nil
	}
	copied := tui.CopyKey(func() (what, text string) {
		at, ok := s.table.Cursor()
		if !ok || at >= len(s.all) {
			return "the address", ""
		}
		return "the address", phrase.Copied(s.all[at].Address)
	})
	return append([]tui.Key{copied}, s.table.Keys()...)
}

var columns = []vtable.Column{
	{Title: "WHAT", Min: len("recovery points")},
	{Title: "STATE", Min: len("not configured")},
	{Title: "ASKED", Min: len("14:03Z")},
	{Title: "ADDRESS", Flex: 1, Min: 20},
}

// rows are the connections in the order in which they are told.
type rows struct{ *Screen }

func (r rows) Len() int { return len(r.all) }

func (r rows) ID(i int) string {
	c := r.all[i]
	n := 0
	for _, before := range r.all[:i] {
		if before.Kind == c.Kind && before.Address == c.Address && before.For == c.For {
			n++
		}
	}
	return fmt.Sprintf("%s\n%s\n%s\n%d", c.Kind, c.Address, c.For, n)
}

func (r rows) Row(i int) []vtable.Cell {
	c, none := r.all[i], r.options.Theme.Signs.None
	asked := vtable.Cell{Text: none, Tone: theme.Muted}
	if !c.Asked.IsZero() {
		asked = vtable.Cell{Text: phrase.Clock(c.Asked, r.at)}
	}
	address := phrase.Safe(c.Address)
	if address == "" {
		address = none
	}
	return []vtable.Cell{{Text: phrase.Safe(c.Kind)}, {Text: phrase.Safe(c.State), Tone: c.Tone}, asked, {Text: address}}
}

// Words implements vtable.Worder.
func (r rows) Words(i int) []string { return []string{phrase.Safe(r.all[i].For)} }

// Detail is the whole address, what needs it, and the last fault with what to do
// about it.
func (r rows) Detail(i int) []string {
	c := r.all[i]
	p := &sheet.Page{Theme: r.options.Theme, Width: max(r.size.Width-4, 1)}
	if c.Address != "" {
		p.Hang("", theme.Muted, phrase.Safe(c.Address))
	}
	if c.For != "" {
		p.Hang("", theme.Muted, "for "+phrase.Safe(c.For))
	}
	if c.Used != "" {
		p.Hang("", theme.Muted, phrase.Safe(c.Used))
	}
	if c.Err == nil {
		return p.Lines
	}
	lead := "last fault: "
	if !c.ErrAt.IsZero() {
		lead = "last fault, " + phrase.Clock(c.ErrAt, r.at) + ": "
	}
	for _, e := range fault.All(c.Err) {
		f := fault.Of(e)
		p.Hang("", theme.Warning, lead+phrase.Safe(f.Error()))
		if f.Hint != "" {
			p.Hang("  ", theme.Plain, phrase.Safe(f.Hint))
		}
	}
	return p.Lines
}
