package dialog

import (
	"time"

	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/theme"
)

// quiet is how long after a dialog was shown keys are dropped.
const quiet = 400 * time.Millisecond

// guard keeps keys from doing what they were not pressed for.
type guard struct {
	opener string // the key that opened the dialog
	shown  time.Duration
	known  bool
}

func (g *guard) opened(o tui.Opening) {
	if !g.known {
		g.opener, g.known = o.By, true
	}
	g.shown = o.At
}

// early reports whether a key comes too soon after the dialog was shown. Leaving
// is always possible.
func (g *guard) early(p tui.Press) bool {
	return p.At-g.shown < quiet && p.Name != "ctrl+c"
}

// unsure says why a key doesn't press a button; "" where it does.
func (g *guard) unsure(p tui.Press) string {
	switch {
	case p.Together:
		return "keys that arrive together press no button, over a slow line too: press it alone"
	case p.Repeat:
		return "the key may be held down: let it go, and press it again after a second"
	default:
		return ""
	}
}

// sameKey says why a key doesn't confirm; "" where it does.
func (g *guard) sameKey(p tui.Press) string {
	if p.Name != g.opener {
		return ""
	}
	other := "space"
	if g.opener == "space" {
		other = "enter"
	}
	return g.opener + " opened this dialog and never confirms it: " + other + " does"
}

// refuse stays open and says why.
func refuse(why string) (tui.Cmd, bool) { return tui.Say(theme.Warning, why), false }

// cancels reports whether a key closes a dialog without an answer.
func cancels(p tui.Press) bool { return p.Name == "esc" || p.Name == "ctrl+c" }

// presses reports whether a key presses the button that has the focus.
func presses(p tui.Press) bool { return p.Name == "enter" || p.Name == "space" }
