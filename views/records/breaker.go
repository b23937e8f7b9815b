package records

import (
	"strings"
	"time"
	"unicode/utf8"

	"github.com/recoverctl/recoverctl/internal/safetext"
	"github.com/recoverctl/recoverctl/views/phrase"
)

// leastWidth holds the widest escape of one character.
const leastWidth = 40

// breaker finds the rows of a text: they end at its line ends, and where they
// would be wider than the screen. It goes on from where it was.
type breaker struct {
	text   []byte
	width  int
	starts []int // of the rows; the end of the text comes last when it is done
	at     int
	cells  int // of the row at the end
}

func newBreaker(text []byte, width int) *breaker {
	return &breaker{text: text, width: width, starts: []int{0}}
}

func (b *breaker) done() bool { return b.at == len(b.text) && b.starts[len(b.starts)-1] == len(b.text) }

// len is how many rows are known whole.
func (b *breaker) len() int { return len(b.starts) - 1 }

// row is a row as a terminal may show it.
func (b *breaker) row(i int) string {
	return phrase.Safe(strings.TrimSuffix(string(b.text[b.starts[i]:b.starts[i+1]]), "\n"))
}

// lookEvery is how many bytes are looked at between two looks at the time.
const lookEvery = 1 << 14

// step goes on until a time.
func (b *breaker) step(until time.Time) {
	for b.at < len(b.text) {
		for stop := min(b.at+lookEvery, len(b.text)); b.at < stop; {
			b.next()
		}
		if time.Now().After(until) {
			break
		}
	}
	if b.at == len(b.text) && b.starts[len(b.starts)-1] < b.at {
		b.starts = append(b.starts, b.at)
	}
}

// next takes one character.
func (b *breaker) next() {
	c := b.text[b.at]
	n, cells := 1, 1
	switch {
	case c == '\n':
		b.at++
		b.starts, b.cells = append(b.starts, b.at), 0
		return
	case c < ' ' || c > '~':
		n, cells = wide(b.text[b.at:])
	}
	if b.cells+cells > b.width {
		b.starts, b.cells = append(b.starts, b.at), 0
	}
	b.cells += cells
	b.at += n
}

// wide is how many bytes the first character has, which is none of printable
// ASCII, and how many cells it takes at most.
func wide(text []byte) (bytes, cells int) {
	r, n := utf8.DecodeRune(text)
	if r == utf8.RuneError && n == 1 {
		return 1, len(`\xff`)
	}
	if safetext.Printable(r) {
		return n, 2
	}
	return n, len(`\U0010ffff`)
}
