package tui

import (
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/recoverctl/recoverctl/tui/theme"
)

// The frame is two lines above a screen and two below it.
const frameLines = 4

const clockFormat = "15:04Z"

// View draws the whole terminal.
func (s *Shell) View() string {
	w, h := s.size.Width, s.size.Height
	if w <= 0 || h <= 0 {
		return "" // the terminal has not told its size yet
	}
	if s.small() {
		return ansi.Truncate(s.smallLine(), w, "")
	}
	body := s.bodySize()
	lines := make([]string, 0, h)
	lines = append(lines, s.headerLine(w), s.pathLine(w))
	shown := strings.SplitN(s.body(body), "\n", body.Height+1)
	lines = append(lines, shown[:min(len(shown), body.Height)]...)
	for len(lines) < h-2 {
		lines = append(lines, "")
	}
	if s.jobLines() > 0 {
		lines[2+body.Height] = s.jobLine(w)
	}
	said := s.messageLines(w)
	lines = append(lines, said[len(said)-1], s.footerLine(w))
	s.overlay(lines)
	if _, atBottom := s.bottomModal(); len(said) > 1 && !atBottom {
		lines[h-3] = said[0]
	}
	for i := range lines {
		lines[i] = fit(lines[i], w, s.opts.Theme.Signs.More)
	}
	return strings.Join(lines, "\n")
}

// body draws the screen. A screen that panics while it draws has changed
// nothing: its place says so, and the others still work.
func (s *Shell) body(size Size) (drawn string) {
	defer func() {
		if p := recover(); p != nil {
			err := defect("draw a screen", p)
			drawn = " " + s.opts.Theme.Signed(theme.Error, err.Error()) + "\n   " + err.Hint
		}
	}()
	return s.top().screen.View(size)
}

func (s *Shell) small() bool {
	return s.size.Width < MinWidth || s.size.Height < MinHeight
}

// smallLine says what is needed in as many words as there is room for.
func (s *Shell) smallLine() string {
	times := "×"
	if s.opts.Theme.ASCII {
		times = "x"
	}
	needs := fmt.Sprintf("needs %d%s%d", MinWidth, times, MinHeight)
	both := fmt.Sprintf("%s, has %d%s%d", needs, s.size.Width, times, s.size.Height)
	for _, line := range []string{
		both + ": enlarge it, or leave with ctrl-c",
		both + "; ctrl-c leaves",
		needs + ", or ctrl-c",
	} {
		if ansi.StringWidth(line) <= s.size.Width {
			return line
		}
	}
	return needs
}

// bodySize is what is left to the screen. A message of two lines takes one of
// them, but not from under a dialog, whose text would move.
func (s *Shell) bodySize() Size {
	taken := frameLines + s.jobLines()
	if s.modal == nil {
		taken += len(s.messageLines(s.size.Width)) - 1
	}
	return Size{Width: max(s.size.Width, 0), Height: max(s.size.Height-taken, 0)}
}

// headerLine always shows the environment and the access. Connections give way
// to them, those that are well first.
func (s *Shell) headerLine(w int) string {
	th, h := s.opts.Theme, s.header
	env := h.Environment
	if h.Production {
		env = th.Paint(theme.Production, strings.ToUpper(env))
	}
	rest := " " + env + "  " + h.Access
	name := ansi.Truncate(h.Profile, max(w/2-ansi.StringWidth(rest), 8), th.Signs.More)
	left := " " + th.Paint(theme.Title, name) + rest
	clock := s.clock.UTC().Format(clockFormat)
	free := w - ansi.StringWidth(left) - len(clock) - 4
	return spread(left, connections(h.Connections, free, th)+"  "+clock, w)
}

func connections(all []Connection, free int, th theme.Theme) string {
	shown := make([]string, len(all))
	for i, c := range all {
		state := c.State
		if state == "" {
			state = th.Signs.None
		}
		shown[i] = c.Name + " " + th.Paint(c.Tone, state)
	}
	line := strings.Join(shown, "  ")
	for i := len(all) - 1; i >= 0 && ansi.StringWidth(line) > free; i-- {
		if all[i].Tone == theme.OK || all[i].Tone == theme.Plain {
			shown[i] = ""
			line = joinShown(shown) + "  " + th.Signs.More
		}
	}
	return ansi.Truncate(line, max(free, 0), th.Signs.More)
}

func joinShown(parts []string) string {
	var b strings.Builder
	for _, p := range parts {
		if p == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteString("  ")
		}
		b.WriteString(p)
	}
	return b.String()
}

// pathLine gives up the beginning of the path before its end and before the age
// of the data.
func (s *Shell) pathLine(w int) string {
	th := s.opts.Theme
	status := ansi.Truncate(s.status(), w*2/3, th.Signs.More)
	free := w - ansi.StringWidth(status) - 3
	sep := " " + th.Signs.Path + " "
	path := ""
	for i := len(s.pages) - 1; i >= 0; i-- {
		longer := s.pages[i].screen.Crumb()
		if path != "" {
			longer += sep + path
		}
		if path != "" && ansi.StringWidth(longer) > free {
			path = th.Signs.More + sep + path
			break
		}
		path = longer
	}
	path = ansi.Truncate(path, max(free, 0), th.Signs.More)
	return spread(" "+path, th.Paint(theme.Muted, status), w)
}

func (s *Shell) status() string {
	p := s.top()
	st := p.screen.Status()
	text := ""
	switch {
	case st.Note != "":
		text = st.Note
	case st.Timeless:
	case !st.ReadAt.IsZero():
		text = age(s.age.Sub(st.ReadAt))
	case !p.reads():
		text = "not read"
	}
	if !p.reads() {
		return text
	}
	if text == "" {
		return "reading"
	}
	return text + ", reading"
}

// age is told in coarse steps, rounded down.
func age(d time.Duration) string {
	switch {
	case d < 10*time.Second:
		return "data just read"
	case d < time.Minute:
		return fmt.Sprintf("data %d s old", d/(10*time.Second)*10)
	case d < time.Hour:
		return fmt.Sprintf("data %d min old", d/time.Minute)
	default:
		return fmt.Sprintf("data %d h old", d/time.Hour)
	}
}

// footerLine shows as many keys as fit, and help always.
func (s *Shell) footerLine(w int) string {
	th := s.opts.Theme
	if s.modal != nil {
		return keyLine(s.modal.Keys(), nil, "", w, th)
	}
	var keys []Key
	common := s.commonKeys()
	for _, k := range append(s.top().screen.Keys(), common[:len(common)-2]...) {
		if !k.Quiet && s.appliesHere(k) {
			keys = append(keys, k)
		}
	}
	return keyLine(keys, common[len(common)-2:], s.header.Locked, w, th)
}

// keyLine shows as many keys as fit before those that are always shown.
func keyLine(keys, always []Key, locked string, w int, th theme.Theme) string {
	tail := ""
	for i, k := range always {
		if i > 0 {
			tail += "  "
		}
		tail += footerKey(k, "", th)
	}
	free := w - 1 - ansi.StringWidth(tail)
	var b strings.Builder
	b.WriteString(" ")
	for _, k := range keys {
		shown := footerKey(k, k.off(locked), th) + "  "
		width := ansi.StringWidth(shown)
		if width > free {
			break
		}
		free -= width
		b.WriteString(shown)
	}
	b.WriteString(tail)
	return b.String()
}

// appliesHere keeps common keys that would only answer with a sentence out of
// the footer.
func (s *Shell) appliesHere(k Key) bool {
	first := len(s.pages) == 1
	switch k.Keys[0] {
	case "esc":
		return !first
	case "q":
		return first
	case "r":
		_, ok := s.top().screen.(Reloader)
		return ok
	default:
		return true
	}
}

// footerKey stands in parentheses when it is off.
func footerKey(k Key, off string, th theme.Theme) string {
	name := label(k.Keys[0], th)
	if off != "" {
		return th.Paint(theme.Muted, "("+name+" "+k.Help+")")
	}
	return th.Paint(theme.KeyName, name) + " " + k.Help
}

// spread puts left and right at the two ends of a line of w cells.
func spread(left, right string, w int) string {
	gap := w - ansi.StringWidth(left) - ansi.StringWidth(right)
	return left + strings.Repeat(" ", max(gap, 1)) + right
}
