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

	*sheet.Written
	at time.Time // when what was painted was read
}

func newPage(th theme.Theme, crumb string, readAt func() time.Time, write func(*sheet.Page), keys func() []tui.Key) *page {
	s := &page{theme: th, crumb: crumb, readAt: readAt, write: write, keys: keys}
	s.Written = sheet.NewWritten(th, s.lines)
	return s
}

func (s *page) Init() tui.Cmd          { return nil }
func (s *page) Crumb() string          { return s.crumb }
func (s *page) Update(tui.Msg) tui.Cmd { return nil }
func (s *page) Status() tui.Status     { return tui.Status{ReadAt: s.readAt()} }

// Keys implements tui.Screen.
func (s *page) Keys() []tui.Key { return append(s.keys(), s.Written.Keys()...) }

// Resize implements tui.Resizer. What was read since is written, too.
func (s *page) Resize(size tui.Size) {
	s.Written.Resize(size)
	if !s.readAt().Equal(s.at) {
		s.Lay()
	}
}

func (s *page) lines(size tui.Size) []string {
	p := &sheet.Page{Theme: s.theme, Width: size.Width}
	s.at = s.readAt()
	s.write(p)
	return p.Lines
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
	p.Lay()
	return cmd
}
