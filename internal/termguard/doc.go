// Package termguard keeps bubbletea from querying the terminal before main.
//
// Bubbletea v1.3.10 calls lipgloss.HasDarkBackground in an init function. That
// makes termenv write the queries ESC ] 11 ; ? and ESC [ 6 n to the terminal
// and wait five seconds for an answer, which a serial console or the pty of a
// build machine never gives. Termenv asks nothing where the variable CI is not
// empty, so this package sets it in its own init, and Release, first thing in
// main, gives the environment back.
//
// # Why this runs before bubbletea
//
// Go sorts all packages of a program by import path and initialises, again and
// again, the first one whose imports are all initialised. This package imports
// os alone: it is ready the moment os is. Bubbletea imports os/signal too, which
// needs os as well and sorts after "github.com/recoverctl/…"; so bubbletea
// can't be ready before this package's turn, although its own path sorts before.
// Two things therefore must stay as they are: this package imports nothing but
// os, and the module's path sorts before "os/signal" (the same program under a
// path that sorts after it waits the five seconds). The place of the import in
// a file has no influence.
//
// # What it leaves
//
// Lipgloss has stored "dark background" as its answer and doesn't ask again. The
// colour profile is not stored before main: it is found, without a query, when
// the first colour is drawn, so Release must come before that. A second lipgloss
// renderer on a terminal would ask for the background again: don't make one.
//
// It must never import anything but os, and it must never be needed for a
// result: without it the program starts late, not wrong.
package termguard
