package findings

import (
	"fmt"
	"strings"
	"time"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/tui/vtable"
	"github.com/recoverctl/recoverctl/views/overview"
	"github.com/recoverctl/recoverctl/views/phrase"
	"github.com/recoverctl/recoverctl/views/sheet"
)

// Options are what the screen needs.
type Options struct {
	Theme  theme.Theme
	Now    func() time.Time // time.Now if nil
	Job    inspect.Job
	Source overview.Source
	// Reading is the overview that the screen was opened from. The zero Reading
	// is read when the screen is shown.
	Reading  overview.Reading
	Commands []tui.Command // of the job, for the palette
}

// Screen is all findings of one job.
type Screen struct {
	options Options
	reader  *overview.Reader
	all     []inspect.Finding
	table   *vtable.Table
	text    *sheet.Sheet // where there is no finding
	size    tui.Size
}

// New makes the screen.
func New(o Options) *Screen {
	if o.Now == nil {
		o.Now = time.Now
	}
	s := &Screen{options: o, reader: overview.NewReader("overview", o.Job, o.Source, o.Now), text: sheet.New(o.Theme)}
	s.reader.Reading = o.Reading
	s.all = o.Reading.Problems()
	s.table = vtable.New(o.Theme, columns, rows{s})
	return s
}

// Init reads only where the screen was opened without a whole overview.
func (s *Screen) Init() tui.Cmd {
	if s.reader.Reading.Known() && s.reader.Reading.Awaited == (inspect.Awaited{}) {
		return nil
	}
	return s.reader.Read()
}

// Reload implements tui.Reloader.
func (s *Screen) Reload() tui.Cmd { return s.reader.Read() }

// Update implements tui.Screen.
func (s *Screen) Update(msg tui.Msg) tui.Cmd {
	if s.reader.Take(msg) {
		s.all = s.reader.Reading.Problems()
		s.table.SetSource(rows{s})
		s.lay()
	}
	return nil
}

// Resize implements tui.Resizer.
func (s *Screen) Resize(size tui.Size) {
	s.size = size
	if s.reader.Renew() {
		s.all = s.reader.Reading.Problems()
		s.table.SetSource(rows{s})
	}
	s.lay()
}

func (s *Screen) lay() {
	s.text.Set(s.nothing(s.size.Width))
	s.text.Resize(s.size.Height)
	s.table.Resize(tui.Size{Width: s.size.Width, Height: max(s.size.Height-headLines, 0)})
}

// headLines are above the table: how many findings there are, and a blank one.
const headLines = 2

// View implements tui.Screen.
func (s *Screen) View(size tui.Size) string {
	if len(s.all) == 0 {
		return s.text.View(size)
	}
	head := " " + s.options.Theme.Paint(theme.Title, phrase.BySeverity(s.all))
	return head + "\n\n" + s.table.View(tui.Size{Width: size.Width, Height: size.Height - headLines})
}

// nothing says why no finding is listed.
func (s *Screen) nothing(width int) []string {
	p := &sheet.Page{Theme: s.options.Theme, Width: width}
	reading := s.reader.Reading
	if !reading.Known() && !s.reader.Answered() {
		p.Hang(" ", theme.Plain, "reading "+phrase.Job(s.options.Job)+": what is wrong is not known yet")
		return p.Lines
	}
	p.Sign(theme.OK, "no finding in what was read")
	live, _ := reading.Live()
	risk, _ := reading.AtRisk()
	p.Say(fmt.Sprintf("%s, live state: %s, calls at risk: %s", reading.Searched(), live, risk))
	return p.Lines
}

// Crumb implements tui.Screen.
func (s *Screen) Crumb() string { return "findings" }

// Status implements tui.Screen.
func (s *Screen) Status() tui.Status { return tui.Status{ReadAt: s.reader.Reading.At} }

// Commands implements tui.Commander.
func (s *Screen) Commands() []tui.Command { return overview.Elsewhere(s.options.Commands, "findings") }

// Keys implements tui.Screen.
func (s *Screen) Keys() []tui.Key {
	if len(s.all) == 0 {
		return s.text.Keys()
	}
	none := func() string {
		if _, ok := s.selected(); !ok {
			return "no finding is selected"
		}
		return ""
	}
	open := tui.Key{Keys: []string{"enter"}, Help: "open", Disabled: none, Run: func() tui.Cmd {
		f, _ := s.selected()
		return tui.Push(newOne(s.options, f, s.reader.Reading.At))
	}}
	copied := tui.CopyKey(func() (what, text string) {
		f, ok := s.selected()
		if !ok {
			return "the finding", ""
		}
		return "the finding", asText(f)
	})
	keys := []tui.Key{open}
	for _, k := range s.table.Keys() {
		if k.Keys[0] == "/" {
			k.Quiet = false // it is how a severity is chosen, however few there are
		}
		keys = append(keys, k)
	}
	return append(keys, copied)
}

func (s *Screen) selected() (inspect.Finding, bool) {
	at, ok := s.table.Cursor()
	if !ok || at >= len(s.all) {
		return inspect.Finding{}, false
	}
	return s.all[at], true
}

var columns = []vtable.Column{
	{Title: "SEVERITY", Min: len("! warning")},
	{Title: "CAUSE", Flex: 1, Min: 20},
}

// rows are the findings, the worst first.
type rows struct{ *Screen }

func (r rows) Len() int { return len(r.all) }

// ID is what a finding is about, not its words: those may change with a number.
func (r rows) ID(i int) string {
	id := func(f inspect.Finding) string { return f.Rule + " " + strings.Join(f.Refs, " ") }
	n := 0
	for _, before := range r.all[:i] {
		if id(before) == id(r.all[i]) {
			n++
		}
	}
	return fmt.Sprintf("%s %d", id(r.all[i]), n)
}

func (r rows) Row(i int) []vtable.Cell {
	f, th := r.all[i], r.options.Theme
	tone := phrase.Tone(f.Severity)
	word := strings.TrimLeft(th.Sign(tone)+" "+phrase.Safe(string(f.Severity)), " ")
	return []vtable.Cell{{Text: word, Tone: tone}, {Text: phrase.Safe(f.Cause)}}
}

// Words implements vtable.Worder: a finding is found by what its detail says.
func (r rows) Words(i int) []string {
	f := r.all[i]
	words := []string{phrase.Safe(f.Rule), phrase.Safe(f.Next)}
	for _, ref := range f.Refs {
		words = append(words, phrase.Safe(ref))
	}
	return words
}

// Detail is the whole finding under its row; enter shows it alone where it is
// longer than the screen.
func (r rows) Detail(i int) []string {
	p := &sheet.Page{Theme: r.options.Theme, Width: max(r.size.Width-4, 1)}
	write(p, r.all[i])
	if room := r.size.Height - headLines - 3; len(p.Lines) > room && room > 0 {
		p.Lines = append(p.Lines[:room-1], p.Theme.Paint(theme.Muted, p.Theme.Signs.More+" enter shows all of it"))
	}
	return p.Lines
}
