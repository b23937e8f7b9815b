// Package theme is how the console looks: colours under semantic names, and
// the signs with their ASCII forms.
//
// A screen asks for an Error or a Muted text, never for a colour, and for the
// sign of a marker, never for a rune. One sign has one meaning on all screens.
// Colour only repeats what a word or a sign already says: every palette,
// including the one without any colour, shows the same text.
//
// The package never asks the terminal anything and never reads the process
// environment by itself: what it needs to know is passed in, so that a frame
// depends on its inputs alone.
package theme
