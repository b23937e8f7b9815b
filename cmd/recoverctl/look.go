package main

import "github.com/recoverctl/recoverctl/tui/theme"

// look is how the console is painted: as the terminal can, and without colours
// where the operator asked for none in any of the ways.
func (a *app) look() theme.Options {
	o := theme.FromEnv(a.variable)
	if a.loaded.NoColor && o.Palette != theme.NoStyle {
		o.Palette = theme.Mono
	}
	return o
}
