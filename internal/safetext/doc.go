// Package safetext holds text that is safe to write to a terminal, a log or an
// error message.
//
// Record keys, topic names, operator names, file names and server messages are
// written by others. Put on a terminal as they are, they can move the cursor,
// set the clipboard, or make one name look like another. A Text can't: it is
// made only by the constructors here, which replace everything that does not
// show as itself with a visible escape.
//
// # What is replaced
//
//   - C0 and C1 controls and DEL, the C1 controls both as code points (`\u009b`)
//     and as the single bytes 0x80 to 0x9f (`\x9b`) that some terminals obey;
//   - every byte that is not part of valid UTF-8 (`\xff`);
//   - tab, carriage return and newline (`\t`, `\r`, `\n`); Lines keeps the
//     newline and only that;
//   - format characters of every kind: bidirectional controls, zero-width
//     spaces and joiners, the byte order mark, tag characters, soft hyphens;
//   - variation selectors: two names that differ only in one look the same,
//     and terminals disagree about the width of what precedes it;
//   - other code points that show as nothing (Hangul fillers, the blank Braille
//     pattern, the combining grapheme joiner) or as a space that is not U+0020;
//   - private-use, unassigned and non-character code points, whose look depends
//     on the terminal's font;
//   - a combining mark that has no character to stand on, and the seventh and
//     later marks on one character, which would paint over other lines.
//
// Printable ASCII is never changed, so a backslash stays a backslash and the
// four characters `\x1b` look the same whether they were an escape byte or
// those four characters. Where that difference matters, JSON output keeps the
// exact bytes. Letters of right-to-left scripts are kept: they are what they
// look like.
//
// # What it must never do
//
// A Text never holds a forbidden code point, cleaning a Text again changes
// nothing, and no input makes the work or the result larger than a fixed limit:
// longer input ends in "… (N bytes)", N being the length of all of it.
package safetext
