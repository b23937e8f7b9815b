package tui

import (
	"bytes"
	"time"
	"unicode/utf8"
)

// replies takes out of a terminal's input what no key sends: answers to
// questions of other programs, clipboard contents, and other strings of ECMA-48
// (OSC, DCS, APC, PM, SOS). Bubbletea would take their letters for typed ones. It
// also puts an end to a paste whose end never comes, which would make the
// console deaf.
//
// It only ever shortens the input, but for the bytes that end a paste, and those that
// mark one that was cut.
type replies struct {
	state replyState
	held  []byte        // the beginning of a sequence whose rest has not come
	at    time.Duration // when bytes came last
	size  int           // bytes of the string or paste that is being taken
	alone bool          // the last byte was ESC and was passed on as the key
}

type replyState uint8

const (
	typing   replyState = iota
	inString            // until ST or BEL
	inPaste             // until the end mark
	dropping            // the rest of a paste that is too long
)

// Limits of what is waited for.
const (
	sequencePause = 200 * time.Millisecond // a sequence whose rest comes later was none
	pastePause    = 2 * time.Second        // the same for a paste
	escPause      = 50 * time.Millisecond  // ESC and what belongs to it may be torn apart for so long
	maxString     = 1 << 20                // bytes of a string
	maxPaste      = 64 << 10               // bytes of a paste
	maxHeld       = 64                     // bytes of the beginning of a sequence
)

const (
	escape     = 0x1b
	pasteBegin = "\x1b[200~"
	pasteEnd   = "\x1b[201~"
	// pasteCut is the last character of a paste that was cut: one that Unicode keeps
	// for what stays inside a program.
	pasteCut = "\uFDD0"
)

// room is how much shorter than its buffer a read must be, so that what filter
// returns fits into it.
func (r *replies) room() int { return len(r.held) + len(pasteCut) + len(pasteEnd) }

// filter returns what keys sent of bytes that came at a time.
func (r *replies) filter(in []byte, at time.Duration) []byte {
	var out []byte
	pause := at - r.at
	r.at = at
	switch {
	case r.state == inPaste && pause > pastePause:
		out = append(out, pasteEnd...)
		r.begin(typing)
	case r.state == dropping && pause > pastePause, r.state == inString && pause > sequencePause:
		r.begin(typing)
	}
	if pause > sequencePause && r.state == typing {
		r.held = nil
	}
	b := append(r.held, in...)
	r.held = nil
	if r.alone && pause < escPause && len(b) > 0 && bytes.IndexByte([]byte("[]P_^XO"), b[0]) >= 0 {
		b = append([]byte{escape}, b...) // ESC was taken for the key; its rest must not be typed
	}
	r.alone = false
	for len(b) > 0 {
		var used int
		var wait bool
		switch r.state {
		case typing:
			used, wait, out = r.typed(b, out)
		case inString:
			used, wait = r.skipString(b)
		default:
			used, wait, out = r.pasted(b, out)
		}
		b = b[used:]
		if wait {
			r.held = bytes.Clone(b)
			return out
		}
	}
	return out
}

func (r *replies) begin(s replyState) { r.state, r.size = s, 0 }

// typed takes some letters, one sequence, or the beginning of a string or a
// paste, unless the rest has to come first.
func (r *replies) typed(b, out []byte) (used int, wait bool, _ []byte) {
	if b[0] != escape {
		end := bytes.IndexByte(b, escape)
		if end < 0 {
			end = len(b) - tornLetter(b)
			wait = end < len(b)
		}
		return end, wait, append(out, b[:end]...)
	}
	if len(b) == 1 {
		r.alone = true
		return 1, false, append(out, escape)
	}
	switch b[1] {
	case ']', 'P', '_', '^', 'X':
		r.begin(inString)
		return 2, false, out
	case 'O':
		if len(b) < 3 {
			return 0, true, out
		}
		return 3, false, append(out, b[:3]...)
	case '[':
		n := sequenceLen(b)
		switch {
		case n == 0 && len(b) <= maxHeld:
			return 0, true, out
		case n == 0:
			return len(b), false, out // longer than any sequence
		case n == 2 || b[n-1] < 0x40: // cut short: its letters were not typed either
			return n, false, out
		case string(b[:n]) == pasteBegin:
			r.begin(inPaste)
		}
		return n, false, append(out, b[:n]...)
	default:
		return 1, false, append(out, escape) // alt and a key
	}
}

// tornLetter is how many bytes at the end of b begin a letter whose rest has
// not come.
func tornLetter(b []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(b); n++ {
		tail := b[len(b)-n:]
		if utf8.RuneStart(tail[0]) {
			if utf8.FullRune(tail) {
				return 0
			}
			return n
		}
	}
	return 0
}

// sequenceLen is the length of the control sequence that b begins with, up to a
// byte that none has; zero if its end has not come.
func sequenceLen(b []byte) int {
	if len(b) < 2 || b[1] != '[' {
		return 0
	}
	for i := 2; i < len(b); i++ {
		switch c := b[i]; {
		case c >= 0x40 && c <= 0x7e:
			if i == 2 && c == 'M' { // a mouse report of the old kind: three bytes follow
				if len(b) < 6 {
					return 0
				}
				return 6
			}
			return i + 1
		case c < 0x20 || c > 0x7e:
			return i
		}
	}
	return 0
}

// skipString takes what belongs to a string.
func (r *replies) skipString(b []byte) (used int, wait bool) {
	for i, c := range b {
		switch {
		case c == '\a':
			r.begin(typing)
			return i + 1, false
		case c == 0x03: // ctrl-c is a key at any time
			r.begin(typing)
			return i, false
		case c == escape && i+1 == len(b):
			return i, true
		case c == escape && b[i+1] == '\\':
			r.begin(typing)
			return i + 2, false
		case c == escape: // the next sequence
			r.begin(typing)
			return i, false
		}
		if r.size++; r.size > maxString {
			r.begin(typing)
			return i + 1, false
		}
	}
	return len(b), false
}

// pasted passes a paste on up to its end, or to the limit.
func (r *replies) pasted(b, out []byte) (used int, wait bool, _ []byte) {
	end := bytes.Index(b, []byte(pasteEnd))
	used = end
	if end < 0 {
		used = len(b) - overlap(b, pasteEnd)
		wait = used < len(b)
	}
	if r.state == inPaste {
		take := min(used, maxPaste-r.size)
		out = append(out, b[:take]...)
		r.size += take
		if take < used {
			out = append(append(out, pasteCut...), pasteEnd...)
			r.state = dropping
		}
	}
	if end >= 0 {
		if r.state == inPaste {
			out = append(out, pasteEnd...)
		}
		r.begin(typing)
		used += len(pasteEnd)
	}
	return used, wait, out
}

// overlap is how many bytes at the end of b begin mark.
func overlap(b []byte, mark string) int {
	for n := min(len(mark)-1, len(b)); n > 0; n-- {
		if bytes.HasSuffix(b, []byte(mark[:n])) {
			return n
		}
	}
	return 0
}
