package tui

import "time"

// Size is a part of the terminal in cells.
type Size struct{ Width, Height int }

// The smallest terminal that the console draws on, in cells. Below it one line
// says so and no key of a screen works.
const (
	MinWidth  = 60
	MinHeight = 15
)

// Msg is what a screen's own commands bring back to its Update.
type Msg any

// Screen is one page of the console. The shell calls its methods from one
// goroutine, so a screen needs no lock, and none of them may do I/O or wait:
// that is what commands are for. State changes in Init, Update and the Run of a
// key, never in the others.
type Screen interface {
	// Init starts the first reads. It is called once, when the screen is shown.
	Init() Cmd
	// Update takes the result of one of this screen's own commands.
	Update(Msg) Cmd
	// View draws the screen's part of the terminal: at most size.Height lines of
	// at most size.Width cells; what is larger is cut off.
	View(size Size) string
	// Crumb is the screen's name in the path, as in "order-agent".
	Crumb() string
	// Keys is the screen's key table as of now.
	Keys() []Key
	// Status says how old the data is that the screen shows.
	Status() Status
}

// Reloader is a screen that can read again what it shows. The shell cancels
// what is still being read before it calls Reload.
type Reloader interface {
	Reload() Cmd
}

// Resizer is a screen that has to know its size when a key is pressed, to turn
// a page or to keep a scroll position. Resize is called with View's size before
// the screen is drawn, whenever something may have changed. It changes the
// layout and nothing else.
type Resizer interface {
	Resize(Size)
}

// Paster is a screen that takes what is pasted, as the terminal marks it: at most
// 64 KiB, with its line breaks. Cut says that there was more, which is not in the text.
// Elsewhere a paste is refused with a sentence.
type Paster interface {
	Paste(text string, cut bool) Cmd
}

// Leaver is a screen that wants to be asked before it is left by a key or a
// palette command: one with something running or unsaved. Leave returns true
// where it may be left now. Otherwise it stays, and what the command says is
// done, as to open a dialog; from there Pop or Quit leave without asking again.
type Leaver interface {
	Leave() (cmd Cmd, ok bool)
}

// Status says what the right end of the path line shows.
type Status struct {
	// ReadAt is when the oldest of the data shown was read; zero: nothing was
	// read yet.
	ReadAt time.Time
	// Note stands in place of the age, as in "file plan-3f9c21aa.json".
	Note string
	// Timeless marks a screen that shows nothing that was read, such as help.
	Timeless bool
}
