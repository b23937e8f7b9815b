package phrase

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Wrap breaks one line between its words so that no line is wider than width
// cells. Words that stand between two runs of spaces, as in "0: 100 < 150   1:
// 120 < 150", stay together where they fit. A word that is wider is broken where
// it must be, an address after a slash: nothing is left out.
func Wrap(text string, width int) []string {
	if width < 1 {
		return nil
	}
	var lines []string
	line, used := "", 0
	grouped := strings.Contains(strings.TrimSpace(text), "  ")
	for text != "" {
		rest := strings.TrimLeft(text, " ")
		spaces := len(text) - len(rest)
		word := nextWord(rest, width, grouped)
		text = rest[len(word):]
		w := ansi.StringWidth(word)
		if used > 0 && used+spaces+w <= width {
			line += strings.Repeat(" ", spaces) + word
			used += spaces + w
			continue
		}
		if used > 0 {
			lines = append(lines, line)
		}
		pieces := breakWord(word, width)
		last := len(pieces) - 1
		lines = append(lines, pieces[:last]...)
		line = pieces[last]
		used = ansi.StringWidth(line)
	}
	if used > 0 || len(lines) == 0 {
		lines = append(lines, line)
	}
	return lines
}

// nextWord is what text begins with and should stay on one line: in a grouped
// text all up to two spaces, where that fits, else one word.
func nextWord(text string, width int, grouped bool) string {
	if group, _, _ := strings.Cut(text, "  "); grouped && ansi.StringWidth(group) <= width {
		return group
	}
	word, _, _ := strings.Cut(text, " ")
	return word
}

// breakWord cuts a word into pieces of at most width cells, after a slash where
// there is one in the second half of a piece.
func breakWord(word string, width int) []string {
	var pieces []string
	for ansi.StringWidth(word) > width {
		piece := ansi.Truncate(word, width, "")
		if piece == "" {
			break // not even one character fits
		}
		if at := strings.LastIndexByte(piece, '/') + 1; at > len(piece)/2 {
			piece = piece[:at]
		}
		pieces = append(pieces, piece)
		word = word[len(piece):]
	}
	return append(pieces, word)
}

// longWord is from how many cells on Clip shortens a word with slashes.
const longWord = 24

// metadataFile is what every recovery point calls its own file: it tells none
// from another.
const metadataFile = "/_metadata"

// Clip cuts one line to width cells between two of its words, so that no number
// and no name is half shown, and marks the cut with the sign more. Before
// anything is cut, long addresses and Java classes are named by their last part. A
// first word that is too wide is cut itself.
func Clip(text string, width int, more string) string {
	if ansi.StringWidth(text) <= width {
		return text
	}
	words := strings.Split(text, " ")
	for i, word := range words {
		if end := tail(strings.TrimSuffix(word, metadataFile), 1); ansi.StringWidth(word) > longWord && len(end) < len(word)-len("//") {
			words[i] = more + "/" + end
		} else if end := className(word); ansi.StringWidth(word) > longWord && end != "" {
			words[i] = more + end
		}
	}
	text = strings.Join(words, " ")
	if ansi.StringWidth(text) <= width {
		return text
	}
	room := width - ansi.StringWidth(more) - 1
	if room < 1 {
		return ansi.Truncate(text, max(width, 0), more)
	}
	first := Wrap(text, room)[0]
	if !strings.HasPrefix(text, first+" ") {
		return ansi.Truncate(text, width, more)
	}
	return first + " " + more
}

// className is the last part of a Java class name with its package, and what
// follows it; "" where the word is none.
func className(word string) string {
	name := strings.TrimRight(word, ":,;.")
	at := strings.LastIndexByte(name, '.')
	if strings.Count(name, ".") < 2 || at == len(name)-1 {
		return ""
	}
	for _, r := range name {
		if !(r == '.' || r == '_' || r == '$' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9') {
			return ""
		}
	}
	if first := name[at+1]; first < 'A' || first > 'Z' {
		return ""
	}
	return word[at+1:]
}

// Hang wraps text behind a lead: the lead stands before the first line, and
// spaces of its width before the others.
func Hang(lead, text string, width int) []string {
	indent := ansi.StringWidth(lead)
	lines := Wrap(text, max(width-indent, 1))
	for i, line := range lines {
		if i == 0 {
			lines[i] = lead + line
		} else {
			lines[i] = strings.Repeat(" ", indent) + line
		}
	}
	return lines
}

// Flow puts facts one after another, each whole, a lead before and between them,
// in as few lines of width cells as it takes. They may be painted.
func Flow(facts []string, lead string, width int) []string {
	var lines []string
	line := ""
	for _, fact := range facts {
		if line != "" && ansi.StringWidth(line)+ansi.StringWidth(lead+fact) > width {
			lines = append(lines, line)
			line = ""
		}
		line += lead + fact
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}
