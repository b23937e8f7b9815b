package arkflow

import (
	"time"

	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/views/sheet"
)

// page is a screen of text about something that was read.
type page struct {
	theme  theme.Theme
	crumb  string
	readAt func() time.Time
	write  func(p *sheet.Page)
	keys   func() []tui.Key

	size  tui.Size
	look  theme.Palette // that the page was painted with
	at    time.Time     // when what was painted was read
	sheet *sheet.Sheet
}

func newPage(th theme.Theme, crumb string, readAt func() time.Time, write func(*sheet.Page), keys func() []tui.Key) *page {
	return &page{theme: th, crumb: crumb, readAt: readAt, write: write, keys: keys, sheet: sheet.New(th)}
}

func (s *page) Init() tui.Cmd             { return nil }
func (s *page) Crumb() string             { return s.crumb }
func (s *page) Update(tui.Msg) tui.Cmd    { return nil }
func (s *page) Status() tui.Status        { return tui.Status{ReadAt: s.readAt()} }
func (s *page) View(size tui.Size) string { return s.sheet.View(size) }

// Keys implements tui.Screen.
func (s *page) Keys() []tui.Key { return append(s.keys(), s.sheet.Keys()...) }

// Resize implements tui.Resizer.
func (s *page) Resize(size tui.Size) {
	if look := s.theme.Palette(); size != s.size || look != s.look || !s.readAt().Equal(s.at) {
		s.size, s.look = size, look
		s.lay()
	}
}

func (s *page) lay() {
	p := &sheet.Page{Theme: s.theme, Width: s.size.Width}
	s.at = s.readAt()
	s.write(p)
	s.sheet.Set(p.Lines)
	s.sheet.Resize(s.size.Height)
}

// partOf is a page about a part of what a job's screen has read. Reading again is
// that screen's, and the page shows what it brings.
type partOf struct {
	*page
	job *Job
}

func newPart(s *Job, crumb string, write func(*sheet.Page), keys func() []tui.Key) *partOf {
	return &partOf{newPage(s.options.Theme, crumb, func() time.Time { return s.reader.at }, write, keys), s}
}

// Reload implements tui.Reloader.
func (p *partOf) Reload() tui.Cmd { return p.job.Reload() }

// Commands implements tui.Commander.
func (p *partOf) Commands() []tui.Command { return p.job.Commands() }

// Update implements tui.Screen.
func (p *partOf) Update(msg tui.Msg) tui.Cmd {
	cmd := p.job.Update(msg)
	p.lay()
	return cmd
}
