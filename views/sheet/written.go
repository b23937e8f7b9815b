package sheet

import (
	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/theme"
)

// Written is a sheet that has its lines written again for another size and for
// other colours, and whenever Lay says that what stands on it has changed. A screen
// that is nothing but a sheet embeds it and has its Resize and View from it.
type Written struct {
	sheet *Sheet
	write func(size tui.Size) []string
	size  tui.Size
	look  theme.Palette // that the lines were painted with
}

// NewWritten makes an empty sheet; nothing is written before it has a size.
func NewWritten(th theme.Theme, write func(size tui.Size) []string) *Written {
	return &Written{sheet: New(th), write: write}
}

// Lay writes the lines as they are now.
func (w *Written) Lay() {
	w.sheet.Set(w.write(w.size))
	w.sheet.Resize(w.size.Height)
}

// Resize implements tui.Resizer.
func (w *Written) Resize(size tui.Size) {
	if look := w.sheet.theme.Palette(); size != w.size || look != w.look {
		w.size, w.look = size, look
		w.Lay()
	}
}

// View is that of a tui.Screen.
func (w *Written) View(size tui.Size) string { return w.sheet.View(size) }

// Keys are those of the sheet.
func (w *Written) Keys() []tui.Key { return w.sheet.Keys() }

// Top scrolls to the first line.
func (w *Written) Top() { w.sheet.Top() }
