package tui

import (
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"
)

// Keys that are closer than this were not typed one by one: they came in one
// piece, pasted, typed ahead, or held up by a slow line. Fast typists stay
// above it.
const togetherGap = 10 * time.Millisecond

// The same key again within this time may be a key that is held down. Keyboards
// wait up to 660 ms before the first repetition.
const repeatGap = 700 * time.Millisecond

// Press is one key, or letters that came together, as a Modal gets it.
type Press struct {
	// Name is the key's name, as in Key.Keys: "enter", "a", "space". It is empty
	// for letters that came together and for a paste.
	Name string
	// Letters is what a field would take; empty for keys that type nothing.
	Letters string
	// Paste: the terminal says that the text was pasted.
	Paste bool
	// Cut: the paste was longer than what is taken, and its end is missing.
	Cut bool
	// Together: it came in one piece with what came before, or is several letters.
	Together bool
	// Repeat: the same key as before, so soon that it may be held down.
	Repeat bool
	// At is Options.Elapsed when it came.
	At time.Duration
	// Locked says why what changes something is off; "" where it works.
	Locked string
}

// rhythm tells keys that are typed from keys that arrive.
type rhythm struct {
	name  string
	at    time.Duration
	known bool // a key came before
}

// next describes a key message that came at a time.
func (r *rhythm) next(msg tea.KeyMsg, at time.Duration) Press {
	p := Press{At: at, Paste: msg.Paste}
	if (msg.Type == tea.KeyRunes || msg.Type == tea.KeySpace) && !msg.Alt {
		p.Letters = string(msg.Runes)
	}
	if msg.Paste {
		p.Letters, p.Cut = strings.CutSuffix(p.Letters, pasteCut)
	}
	several := msg.Paste || (msg.Type == tea.KeyRunes && len(msg.Runes) > 1)
	if !several {
		p.Name = keyName(msg)
	}
	if r.known {
		p.Together = at-r.at < togetherGap
		p.Repeat = p.Name == r.name && at-r.at < repeatGap
	}
	p.Together = p.Together || several
	*r = rhythm{name: p.Name, at: at, known: true}
	return p
}

// keyName is bubbletea's name for a key, and "space" for the space.
func keyName(msg tea.KeyMsg) string {
	if name := msg.String(); name != " " {
		return name
	}
	return "space"
}
