// Package dialog has the questions that stand over a screen: Confirm, the only
// place where yes is said to a change; Checklist, things that are accepted one by
// one before that; Ask, a choice; Text, a line of input.
//
// Each gives its answer to the function that Open got, as a value of its own
// type, once, after it is closed. Nothing is called when it is cancelled, but
// Confirm's, Checklist's and Ask's Declined.
//
// # What keeps a yes from being said by accident
//
//   - The focus starts on Cancel, and enter in a field never reaches a button.
//   - Keys in the first 400 ms are dropped: they were meant for the screen. Only Text,
//     which confirms nothing, takes letters at once.
//   - The key that opened a dialog never confirms it.
//   - Buttons take no keys that came together, and none that may be held down.
//   - The phrase is typed letter by letter. A paste, and letters that arrive
//     together over a slow line, empty the field, and a sentence says so.
//   - Nothing is confirmed before each line of the dialog's text stood on the
//     screen, for a moment and in the terminal's present size.
//   - Nothing is confirmed on a terminal that is too small to show it, nor when
//     the console is not armed any more.
//
// A dialog decides nothing else: whether a plan may be applied is not its
// business, and it never writes to a system. It fits a terminal of 60×15.
package dialog
