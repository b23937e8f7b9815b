package tui

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/recoverctl/recoverctl/tui/theme"
)

// help lists the keys of the screen that it was opened from, from the same
// table that runs them.
type help struct{ *text }

func newHelp(th theme.Theme, of string, keys, common []Key, commands []entry, locked string) *help {
	h := &help{newText("help", nil)}
	h.section(th, "Keys of "+of, keys, locked)
	h.section(th, "Keys of every screen", common, locked)
	h.lines = append(h.lines, " "+th.Paint(theme.Title, "Commands, after : (tab completes, ctrl-p brings back earlier ones)"))
	for _, e := range commands {
		if !e.command {
			continue
		}
		h.line(th, e.title(), e.help, e.dangerous, e.off)
	}
	h.lines = append(h.lines, "", " "+th.Paint(theme.Title, "Signs"))
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
		h.line(th, labels(k, th), k.Help, k.Dangerous, k.off(locked))
	}
	h.lines = append(h.lines, "")
}

func (h *help) line(th theme.Theme, name, text string, dangerous bool, off string) {
	if dangerous {
		text += "  " + th.Paint(theme.Warning, "changes something")
	}
	if off != "" {
		text += "  " + th.Paint(theme.Muted, "off: "+off)
	}
	h.lines = append(h.lines, "   "+th.Paint(theme.KeyName, pad(name, 16))+"  "+text)
}

func pad(s string, w int) string {
	return s + strings.Repeat(" ", max(w-ansi.StringWidth(s), 0))
}
