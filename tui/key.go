package tui

import (
	"fmt"
	"slices"
	"strings"

	"github.com/recoverctl/recoverctl/tui/theme"
)

// Key is one line of a key table. The footer, the help screen and the dispatch
// of a pressed key are all made from it.
type Key struct {
	// Keys are the names of the keys: "j", "A", "up", "enter", "ctrl+z", "space".
	// The first is the one that the footer shows.
	Keys []string
	// Help says in a few words what happens, as in "open".
	Help string
	// Dangerous marks a key that leads to a change of some system. It stays
	// visible where it is locked, and never works while it is held down or from
	// letters that arrive together.
	Dangerous bool
	// Quiet keys are listed by help only, not in the footer.
	Quiet bool
	// Disabled, if not nil, says in a sentence why the key is off now; "" where
	// it works.
	Disabled func() string
	// Once marks a key that must be pressed anew each time, as Dangerous ones are
	// too: it does nothing while it is held down, nor from letters that arrive
	// together.
	Once bool
	// Run does it.
	Run func() Cmd

	leaves bool // ends the console; never works from letters that arrive together
}

// off says why the key does nothing now; "" where it works.
func (k Key) off(locked string) string {
	if k.Dangerous && locked != "" {
		return locked
	}
	if k.Disabled != nil {
		return k.Disabled()
	}
	return ""
}

// findKey is the first line of the tables that has a key of this name.
func findKey(name string, tables ...[]Key) (Key, bool) {
	for _, table := range tables {
		for _, k := range table {
			if slices.Contains(k.Keys, name) {
				return k, true
			}
		}
	}
	return Key{}, false
}

// commonHelp names the keys that mean the same on every screen, in the order of
// the footer.
var commonHelp = []Key{
	{Keys: []string{"esc"}, Help: "back"},
	{Keys: []string{"r"}, Help: "reload"},
	{Keys: []string{"-"}, Help: "last screen", Quiet: true},
	{Keys: []string{"q"}, Help: "quit", leaves: true},
	{Keys: []string{"ctrl+c"}, Help: "leave", Quiet: true, leaves: true},
	{Keys: []string{"ctrl+z"}, Help: "suspend", Quiet: true},
	{Keys: []string{cancelKey}, Help: "cancel the running job", Quiet: true, Once: true},
	{Keys: []string{":"}, Help: "commands"},
	{Keys: []string{"?"}, Help: "help"},
}

// Clashes finds keys with two meanings on a screen with this table: twice in
// the table, or in the table and common to all screens. A screen's test asserts
// that there are none.
func Clashes(table []Key) []string {
	meaning := map[string]string{}
	for _, k := range commonHelp {
		for _, name := range k.Keys {
			meaning[name] = k.Help
		}
	}
	var clashes []string
	for _, k := range table {
		for _, name := range k.Keys {
			if other, taken := meaning[name]; taken {
				clashes = append(clashes, fmt.Sprintf("%s is both %q and %q", name, other, k.Help))
				continue
			}
			meaning[name] = k.Help
		}
	}
	return clashes
}

// label is how a key is shown.
func label(name string, th theme.Theme) string {
	if !th.ASCII {
		switch name {
		case "up":
			return "↑"
		case "down":
			return "↓"
		case "left":
			return "←"
		case "right":
			return "→"
		}
	}
	switch name {
	case "pgdown":
		return "pgdn"
	default:
		return strings.Replace(name, "ctrl+", "ctrl-", 1)
	}
}

func labels(k Key, th theme.Theme) string {
	shown := make([]string, len(k.Keys))
	for i, name := range k.Keys {
		shown[i] = label(name, th)
	}
	return strings.Join(shown, " ")
}
