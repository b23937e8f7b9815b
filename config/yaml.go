package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"sort"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// The bounds of a configuration file. The deepest key that means anything is
// at 12 levels (document, profiles, profile, jobs, job, section, list or
// source …): what is deeper is not ours.
const (
	maxFileBytes = 1 << 20
	maxDepth     = 24
	maxBrackets  = 256
)

// parseTree reads one YAML document. Either the tree or the problems are
// empty. The root is nil where the file holds no document at all.
func parseTree(file string, text []byte) (root *yaml.Node, problems Problems) {
	// The parser reports what it knows as errors; what it does not know it
	// lets through as a panic, and a hostile file must not end the program.
	defer func() {
		if cause := recover(); cause != nil {
			root, problems = nil, Problems{{File: file, Line: 1, Message: "this is not YAML that can be read"}}
		}
	}()
	if line := firstBadUTF8(text); line > 0 {
		return nil, Problems{{File: file, Line: line, Message: "the text is not UTF-8"}}
	}
	if line := firstTooDeep(text); line > 0 {
		return nil, Problems{{File: file, Line: line, Message: fmt.Sprintf("more than %d brackets are open here", maxBrackets)}}
	}
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	var first, second yaml.Node
	switch err := decoder.Decode(&first); {
	case errors.Is(err, io.EOF):
		return nil, nil
	case err != nil:
		return nil, Problems{syntaxProblem(file, text, err)}
	}
	switch err := decoder.Decode(&second); {
	case errors.Is(err, io.EOF):
	case err != nil:
		return nil, Problems{syntaxProblem(file, text, err)}
	default:
		return nil, Problems{{File: file, Line: second.Line, Column: second.Column, Message: "a second document begins here; one file holds one"}}
	}
	if len(first.Content) != 1 {
		return nil, nil
	}
	var c cutter
	c.look(file, first.Content[0], 1)
	if len(c.problems) > 0 {
		return nil, c.problems
	}
	return first.Content[0], nil
}

// cutter looks through a tree for what no configuration needs: anchors,
// aliases and tags (which can make a small file a huge one, or a text
// something else) and depth.
type cutter struct{ problems Problems }

func (c *cutter) look(file string, n *yaml.Node, depth int) {
	at := func(message string) {
		c.problems = append(c.problems, Problem{File: file, Line: n.Line, Column: n.Column, Message: message})
	}
	switch {
	case depth > maxDepth:
		at(fmt.Sprintf("nested deeper than %d levels", maxDepth))
		return
	case n.Kind == yaml.AliasNode:
		at(noAliases)
		return
	case n.Anchor != "":
		at(noAliases)
	case n.Style&yaml.TaggedStyle != 0:
		at(noTags)
	}
	for _, child := range n.Content {
		c.look(file, child, depth+1)
	}
}

// What is said about them; their own text could be a password.
const (
	noAliases = "anchors and aliases (&… and *…) are not allowed; put text that begins with & or * in quotes"
	noTags    = "tags (!…) are not allowed; put text that begins with ! in quotes"
)

var parserLine = regexp.MustCompile(`line \d+: `)

// syntaxProblem turns the parser's error into a problem. The parser quotes
// from the file only names of anchors and tags; those could be a password that
// somebody forgot to put in quotes.
func syntaxProblem(file string, text []byte, err error) Problem {
	message := parserLine.ReplaceAllString(strings.TrimPrefix(err.Error(), "yaml: "), "")
	switch {
	case strings.Contains(message, "anchor"), strings.Contains(message, "alias"):
		message = noAliases
	case strings.Contains(message, "tag"), strings.Contains(message, "directive"):
		message = noTags
	default:
		message = "this is not YAML: " + printable(message)
	}
	return Problem{File: file, Line: failingLine(text, err), Message: message}
}

// failingLine is the first line that makes the parser fail as it does on the
// whole text. The line in the parser's own message is that of the block around
// the mistake, and one too small at that.
func failingLine(text []byte, whole error) int {
	var ends []int // of each line
	for at, b := range text {
		if b == '\n' {
			ends = append(ends, at+1)
		}
	}
	ends = append(ends, len(text))
	return 1 + sort.Search(len(ends)-1, func(i int) bool {
		err := readAll(text[:ends[i]])
		return err != nil && err.Error() == whole.Error()
	})
}

// readAll is the parser's error for all documents of a text.
func readAll(text []byte) error {
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	for {
		var n yaml.Node
		if err := decoder.Decode(&n); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// firstBadUTF8 is the line of the first byte that is not UTF-8, or 0. YAML
// could be UTF-16 as well; a configuration is not.
func firstBadUTF8(text []byte) int {
	if utf8.Valid(text) {
		return 0
	}
	for at := 0; at < len(text); {
		r, size := utf8.DecodeRune(text[at:])
		if r == utf8.RuneError && size <= 1 {
			return 1 + bytes.Count(text[:at], []byte("\n"))
		}
		at += size
	}
	return 0
}

// firstTooDeep is the line where more brackets are open than any configuration
// has, or 0. It counts opening brackets that no closing one follows, wherever
// they stand, so text in quotes can hold a few of them; what it keeps away is
// the parser's own work on ten thousand levels.
func firstTooDeep(text []byte) int {
	open, line := 0, 1
	for _, b := range text {
		switch b {
		case '[', '{':
			open++
		case ']', '}':
			open = max(open-1, 0)
		case '\n':
			line++
		}
		if open > maxBrackets {
			return line
		}
	}
	return 0
}
