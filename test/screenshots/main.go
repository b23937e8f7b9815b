// Screenshots turns what tmux captures of a terminal (capture-pane -p -e) into a
// picture: text on standard input, an SVG document on standard output. Pictures
// made of text stay sharp and can be compared in a review.
package main

import (
	"bufio"
	"errors"
	"fmt"
	"html"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// The geometry of a cell, in SVG units, of the fonts named in the document.
const (
	cellWidth  = 8.4
	cellHeight = 17.0
	padding    = 12.0
)

const (
	background = "#16181d"
	foreground = "#d7dae0"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: screenshots COLUMNS ROWS <captured >picture.svg")
		os.Exit(2)
	}
	if err := draw(os.Stdin, os.Stdout, os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "screenshots:", err)
		os.Exit(1)
	}
}

func draw(in io.Reader, out io.Writer, columns, rows string) error {
	width, err1 := strconv.Atoi(columns)
	height, err2 := strconv.Atoi(rows)
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	captured, err := io.ReadAll(in)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(out)
	pixelsWide, pixelsHigh := float64(width)*cellWidth+2*padding, float64(height)*cellHeight+2*padding
	fmt.Fprintf(w, `<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%.0f" viewBox="0 0 %.0f %.0f" font-family="DejaVu Sans Mono, Menlo, Consolas, monospace" font-size="14">`+"\n", pixelsWide, pixelsHigh, pixelsWide, pixelsHigh)
	fmt.Fprintf(w, `<rect width="100%%" height="100%%" rx="6" fill="%s"/>`+"\n", background)
	var s style
	for row, line := range strings.Split(strings.TrimRight(string(captured), "\n"), "\n") {
		if row == height {
			break
		}
		s = drawLine(w, line, row, s)
	}
	fmt.Fprintln(w, "</svg>")
	return w.Flush()
}

// drawLine writes the runs of one line. A style lasts into the next line, as it
// does in a terminal.
func drawLine(w io.Writer, line string, row int, s style) style {
	column := 0
	for line != "" {
		if strings.HasPrefix(line, "\x1b[") {
			end := strings.IndexFunc(line[2:], func(r rune) bool { return r >= '@' && r <= '~' })
			if end < 0 {
				return s
			}
			if line[2+end] == 'm' {
				s.apply(line[2 : 2+end])
			}
			line = line[2+end+1:]
			continue
		}
		next := strings.IndexByte(line, 0x1b)
		if next < 0 {
			next = len(line)
		} else if next == 0 {
			line = line[1:] // an escape that is no style
			continue
		}
		drawRun(w, line[:next], row, column, s)
		column += ansi.StringWidth(line[:next])
		line = line[next:]
	}
	return s
}

func drawRun(w io.Writer, text string, row, column int, s style) {
	x, y := padding+float64(column)*cellWidth, padding+float64(row)*cellHeight
	cells := float64(ansi.StringWidth(text))
	fg, bg := s.colours()
	if bg != "" {
		fmt.Fprintf(w, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s"/>`+"\n", x, y, cells*cellWidth, cellHeight, bg)
	}
	for _, word := range apart(text) {
		drawText(w, word.text, x+float64(word.at)*cellWidth, y, fg, s)
	}
}

// word is text at a column of its run.
type word struct {
	text string
	at   int
}

// apart splits a run where two blanks or more stand: each part has a place of its
// own, since few programs that show SVG stretch a text to the width it is given.
func apart(text string) []word {
	var words []word
	column := 0
	for i, part := range strings.Split(text, "  ") {
		if i > 0 {
			column += 2
		}
		if strings.TrimSpace(part) != "" {
			words = append(words, word{part, column})
		}
		column += ansi.StringWidth(part)
	}
	return words
}

func drawText(w io.Writer, text string, x, y float64, fg string, s style) {
	extra := ""
	if s.bold {
		extra += ` font-weight="bold"`
	}
	if s.faint {
		extra += ` opacity="0.65"`
	}
	if s.underline {
		extra += ` text-decoration="underline"`
	}
	fmt.Fprintf(w, `<text x="%.1f" y="%.1f" fill="%s"%s textLength="%.1f" lengthAdjust="spacingAndGlyphs" xml:space="preserve">%s</text>`+"\n",
		x, y+cellHeight-4, fg, extra, float64(ansi.StringWidth(text))*cellWidth, html.EscapeString(text))
}

// style is what SGR sequences have set.
type style struct {
	fg, bg                          string
	bold, faint, underline, reverse bool
}

func (s style) colours() (fg, bg string) {
	fg, bg = s.fg, s.bg
	if fg == "" {
		fg = foreground
	}
	if s.reverse {
		if bg == "" {
			bg = background
		}
		return bg, fg
	}
	return fg, bg
}

func (s *style) apply(params string) {
	codes := strings.Split(strings.ReplaceAll(params, ":", ";"), ";")
	for i := 0; i < len(codes); i++ {
		n, err := strconv.Atoi(codes[i])
		if err != nil {
			n = 0 // an empty parameter is a reset
		}
		switch {
		case n == 0:
			*s = style{}
		case n == 1:
			s.bold = true
		case n == 2:
			s.faint = true
		case n == 4:
			s.underline = true
		case n == 7:
			s.reverse = true
		case n == 22:
			s.bold, s.faint = false, false
		case n == 24:
			s.underline = false
		case n == 27:
			s.reverse = false
		case n == 38 || n == 48:
			colour, used := extended(codes[i+1:])
			if n == 38 {
				s.fg = colour
			} else {
				s.bg = colour
			}
			i += used
		case n == 39:
			s.fg = ""
		case n == 49:
			s.bg = ""
		case n >= 30 && n <= 37:
			s.fg = palette(n - 30)
		case n >= 40 && n <= 47:
			s.bg = palette(n - 40)
		case n >= 90 && n <= 97:
			s.fg = palette(n - 90 + 8)
		case n >= 100 && n <= 107:
			s.bg = palette(n - 100 + 8)
		}
	}
}

// extended reads the parameters after 38 or 48.
func extended(codes []string) (colour string, used int) {
	number := func(i int) int {
		if i >= len(codes) {
			return 0
		}
		n, err := strconv.Atoi(codes[i])
		if err != nil {
			return 0
		}
		return n
	}
	switch number(0) {
	case 5:
		return palette(number(1)), 2
	case 2:
		return fmt.Sprintf("#%02x%02x%02x", number(1)&255, number(2)&255, number(3)&255), 4
	default:
		return "", 1
	}
}

// palette is a colour of the 256 of xterm.
func palette(n int) string {
	basic := [16]string{
		"#2b2f37", "#e06c75", "#8fbf6f", "#e5c07b", "#61afef", "#c678dd", "#56b6c2", "#c8ccd4",
		"#6b7280", "#ff7b85", "#a6d189", "#f2d08a", "#7cc0ff", "#d79bea", "#6fcfd8", "#ffffff",
	}
	switch {
	case n < 0 || n > 255:
		return foreground
	case n < 16:
		return basic[n]
	case n < 232:
		level := func(v int) int {
			if v == 0 {
				return 0
			}
			return 55 + 40*v
		}
		n -= 16
		return fmt.Sprintf("#%02x%02x%02x", level(n/36), level(n/6%6), level(n%6))
	default:
		grey := 8 + 10*(n-232)
		return fmt.Sprintf("#%02x%02x%02x", grey, grey, grey)
	}
}
