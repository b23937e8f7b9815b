package story

import (
	"fmt"
	"io/fs"
	"path"
	"strings"
	"testing"
)

// Line is one line of a story.
type Line struct {
	Number int // from 1
	Text   string
}

// Statement is a line at the margin with the lines under it.
type Statement struct {
	Line
	Under []Line
}

// Story is a situation as it is written down.
type Story struct {
	Name       string // of its file, without .txt
	Title      string
	Statements []Statement
}

// Parse reads a story. What its lines mean is asked when it is played.
func Parse(name, text string) (Story, error) {
	s := Story{Name: strings.TrimSuffix(path.Base(name), ".txt")}
	number := 0
	for raw := range strings.Lines(text) {
		number++
		line := Line{number, strings.TrimSpace(raw)}
		comment, isComment := strings.CutPrefix(line.Text, "#")
		switch {
		case line.Text == "":
		case isComment:
			if s.Title == "" {
				s.Title = strings.TrimSpace(comment)
			}
		case raw[0] != ' ' && raw[0] != '\t':
			s.Statements = append(s.Statements, Statement{Line: line})
		case len(s.Statements) == 0:
			return s, fmt.Errorf("%s:%d: an indented line belongs to a command, and there is none above it", name, number)
		default:
			last := &s.Statements[len(s.Statements)-1]
			last.Under = append(last.Under, line)
		}
	}
	switch {
	case s.Title == "":
		return s, fmt.Errorf("%s: a story begins with # and its title", name)
	case len(s.Statements) == 0:
		return s, fmt.Errorf("%s: nothing happens in it", name)
	}
	return s, nil
}

// Load reads every story of a folder, by name.
func Load(t testing.TB, dir fs.FS) []Story {
	t.Helper()
	names, err := fs.Glob(dir, "*.txt")
	if err != nil {
		t.Fatal(err)
	}
	out := make([]Story, 0, len(names))
	for _, name := range names {
		text, err := fs.ReadFile(dir, name)
		if err != nil {
			t.Fatal(err)
		}
		s, err := Parse(name, string(text))
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, s)
	}
	return out
}
