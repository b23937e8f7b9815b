package tui

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/recoverctl/recoverctl/tui/theme"
)

// help lists the keys of the screen that it was opened from, from the same
// table that runs them.
type help struct {
	lines  []string
	first  int // the line at the top
	height int
}

func newHelp(th theme.Theme, of string, keys, common []Key, locked string) *help {
	h := &help{}
	h.section(th, "Keys of "+of, keys, locked)
	h.section(th, "Keys of every screen", common, locked)
	h.lines = append(h.lines, " "+th.Paint(theme.Title, "Signs"))
	for _, m := range th.Signs.Legend() {
		h.lines = append(h.lines, "   "+pad(m.Sign, 16)+"  "+m.Text)
	}
	return h
}

func (h *help) section(th theme.Theme, title string, keys []Key, locked string) {
	if len(keys) == 0 {
		return
	}
	h.lines = append(h.lines, " "+th.Paint(theme.Title, title))
	for _, k := range keys {
		text := k.Help
		if k.Dangerous {
			text += "  " + th.Paint(theme.Warning, "changes something")
		}
		if why := k.off(locked); why != "" {
			text += "  " + th.Paint(theme.Muted, "off: "+why)
		}
		h.lines = append(h.lines, "   "+th.Paint(theme.KeyName, pad(labels(k, th), 16))+"  "+text)
	}
	h.lines = append(h.lines, "")
}

func (h *help) Init() Cmd      { return nil }
func (h *help) Update(Msg) Cmd { return nil }
func (h *help) Crumb() string  { return "help" }
func (h *help) Status() Status { return Status{Timeless: true} }

func (h *help) Resize(size Size) {
	h.height = size.Height
	h.scroll(0)
}

func (h *help) View(size Size) string {
	shown := h.lines[h.first:min(h.first+size.Height, len(h.lines))]
	return strings.Join(shown, "\n")
}

func (h *help) Keys() []Key {
	move := func(by int) func() Cmd {
		return func() Cmd {
			h.scroll(by)
			return nil
		}
	}
	rest := ""
	if below := len(h.lines) - h.first - h.height; below > 0 {
		rest = fmt.Sprintf(" (%d more lines)", below)
	}
	return []Key{
		{Keys: []string{"down", "j"}, Help: "down" + rest, Run: move(1)},
		{Keys: []string{"up", "k"}, Help: "up", Run: move(-1)},
		{Keys: []string{"pgdown"}, Help: "next page", Quiet: true, Run: move(max(h.height, 1))},
		{Keys: []string{"pgup"}, Help: "previous page", Quiet: true, Run: move(-max(h.height, 1))},
		{Keys: []string{"g", "home"}, Help: "first", Quiet: true, Run: move(-len(h.lines))},
		{Keys: []string{"G", "end"}, Help: "last", Quiet: true, Run: move(len(h.lines))},
	}
}

func (h *help) scroll(by int) {
	h.first = max(min(h.first+by, len(h.lines)-h.height), 0)
}

func pad(s string, w int) string {
	return s + strings.Repeat(" ", max(w-ansi.StringWidth(s), 0))
}
