package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// decoder takes values out of a YAML tree, and collects every problem and the
// line of every value.
type decoder struct {
	file     string // as it is opened
	dir      string // that relative paths begin at
	owner    string // the profile that secrets belong to, as in "profile orders"
	problems Problems
	origins  map[string]Origin   // by path, as in profiles[0].kafka.brokers
	asked    map[string]struct{} // every key that was looked for, whether there or not
}

func (d *decoder) problem(n *yaml.Node, format string, args ...any) {
	d.problems = append(d.problems, Problem{
		File: printable(d.file), Line: n.Line, Column: n.Column, Message: fmt.Sprintf(format, args...),
	})
}

func (d *decoder) origin(path string, n *yaml.Node) {
	d.origins[path] = Origin{Kind: File, Name: d.file, Line: n.Line}
}

// section is one mapping: the keys that are there, and those that were asked
// for. What was never asked for is unknown.
type section struct {
	d     *decoder
	name  string // as errors call it
	path  string // its values' paths begin so; empty at the top
	node  *yaml.Node
	keys  map[string]*yaml.Node // where each key stands
	value map[string]*yaml.Node
	asked []string
	// secret says that a secret is named here: a key may be the secret itself,
	// in brackets and without quotes, and is not repeated.
	secret bool
}

// section opens a mapping. What is no mapping is a problem, and an empty
// section.
func (d *decoder) section(n *yaml.Node, name, path string) *section {
	s := &section{d: d, name: name, path: path, node: n, keys: map[string]*yaml.Node{}, value: map[string]*yaml.Node{}}
	s.open()
	return s
}

// secretSection opens a mapping that says where a secret is.
func (d *decoder) secretSection(n *yaml.Node, name, path string) *section {
	s := &section{d: d, name: name, path: path, node: n, keys: map[string]*yaml.Node{}, value: map[string]*yaml.Node{}, secret: true}
	s.open()
	return s
}

func (s *section) open() {
	d, n, name := s.d, s.node, s.name
	if n.Kind != yaml.MappingNode {
		d.problem(n, "%s %s; it must be a mapping of keys to values", name, described(n))
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if key.Kind != yaml.ScalarNode {
			d.problem(key, "a key of %s %s; keys are words", name, described(key))
			continue
		}
		if first, twice := s.keys[key.Value]; twice {
			d.problem(key, "%s is given twice in %s, first in line %d", s.quotedKey(key.Value), name, first.Line)
			continue
		}
		s.keys[key.Value], s.value[key.Value] = key, value
	}
}

func (s *section) quotedKey(key string) string {
	if s.secret {
		return "a key"
	}
	return quoted(key)
}

// close reports the keys that nobody asked for.
func (s *section) close() {
	for word, key := range s.keys {
		if slices.Contains(s.asked, word) {
			continue
		}
		message := fmt.Sprintf("unknown key %s in %s", quoted(word), s.name)
		if s.secret {
			message = "unknown key in " + s.name
		}
		if near := nearest(word, s.asked); near != "" {
			message += fmt.Sprintf("; did you mean %s?", near)
		} else {
			message += "; known: " + strings.Join(s.asked, ", ")
		}
		s.d.problem(key, "%s", message)
	}
}

// at is the path of a key.
func (s *section) at(key string) string {
	if s.path == "" {
		return key
	}
	return s.path + "." + key
}

// get is the value of a key, or nil where it is absent. A key without a value
// is a problem: it may be a line that somebody forgot, or half of one.
func (s *section) get(key string) *yaml.Node {
	s.asked = append(s.asked, key)
	s.d.asked[key] = struct{}{}
	n := s.value[key]
	if n == nil {
		return nil
	}
	if isNull(n) {
		s.d.problem(s.keys[key], "%s has no value; give it one or remove the line", key)
		return nil
	}
	s.d.origin(s.at(key), s.keys[key])
	return n
}

// need reports a key that must be there and is not.
func (s *section) need(key string) {
	if _, there := s.keys[key]; !there && s.node.Kind == yaml.MappingNode {
		s.d.problem(s.node, "%s has no %s", s.name, key)
	}
}

// text is the text of a key, if it is there and passes its checks.
func (s *section) text(key string, checks ...check) string {
	if n := s.get(key); n != nil {
		text, _ := s.d.scalar(n, key, "!!str", "text; put it in quotes", checks...)
		return text
	}
	return ""
}

// word is text that YAML may take for a number, as 0.3.
func (s *section) word(key string, checks ...check) string {
	n := s.get(key)
	if n == nil {
		return ""
	}
	tag := "!!str"
	if n.Kind == yaml.ScalarNode && n.Tag == "!!float" {
		tag = n.Tag
	}
	text, _ := s.d.scalar(n, key, tag, "text", checks...)
	return text
}

// truth is a true or false of a key; false where it is absent.
func (s *section) truth(key string) bool {
	n := s.get(key)
	if n == nil {
		return false
	}
	text, ok := s.d.scalar(n, key, "!!bool", "true or false")
	return ok && strings.EqualFold(text, "true")
}

// count is the whole number of a key, or otherwise where it is absent.
func (s *section) count(key string, otherwise int, in check) int {
	n := s.get(key)
	if n == nil {
		return otherwise
	}
	text, ok := s.d.scalar(n, key, "!!int", "a whole number", in)
	if !ok {
		return otherwise
	}
	number, err := strconv.Atoi(text)
	if err != nil { // the range check reads numbers in the same way
		return otherwise
	}
	return number
}

// duration is the duration of a key, or otherwise where it is absent.
func (s *section) duration(key string, otherwise time.Duration) time.Duration {
	n := s.get(key)
	if n == nil {
		return otherwise
	}
	text, ok := s.d.scalar(n, key, "!!str", "a duration with its unit, such as 10s", duration)
	if !ok {
		return otherwise
	}
	d, err := time.ParseDuration(text)
	if err != nil { // the check reads durations in the same way
		return otherwise
	}
	return d
}

// texts is the list of texts of a key.
func (s *section) texts(key string, checks ...check) []string {
	var list []string
	s.each(key, func(n *yaml.Node, path string) {
		if text, ok := s.d.scalar(n, "an element of "+key, "!!str", "text; put it in quotes", checks...); ok {
			list = append(list, text)
		}
	})
	return list
}

// each calls take with every element of a key's list.
func (s *section) each(key string, take func(n *yaml.Node, path string)) {
	n := s.get(key)
	if n == nil {
		return
	}
	if n.Kind != yaml.SequenceNode {
		s.d.problem(n, "%s %s; it must be a list", key, described(n))
		return
	}
	for i, element := range n.Content {
		path := fmt.Sprintf("%s[%d]", s.at(key), i)
		s.d.origin(path, element)
		take(element, path)
	}
}

// child is the section of a key, or nil where it is absent.
func (s *section) child(key string) *section {
	if n := s.get(key); n != nil {
		return s.d.section(n, key, s.at(key))
	}
	return nil
}

// scalar is the text of a node that must have a tag and pass its checks.
func (d *decoder) scalar(n *yaml.Node, what, tag, wanted string, checks ...check) (string, bool) {
	if n.Kind != yaml.ScalarNode || n.Tag != tag {
		d.problem(n, "%s %s; it must be %s", what, described(n), wanted)
		return "", false
	}
	for _, wrong := range checks {
		if why := wrong(n.Value); why != "" {
			d.problem(n, "%s: %s %s", what, quoted(n.Value), why)
			return "", false
		}
	}
	return n.Value, true
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Tag == "!!null" }

// described says what a node is, without its text.
func described(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "is a mapping"
	case yaml.SequenceNode:
		return "is a list"
	}
	switch n.Tag {
	case "!!null":
		return "has no value"
	case "!!bool":
		return "is true or false"
	case "!!int", "!!float":
		return "is a number"
	case "!!timestamp":
		return "is a date"
	}
	return "is text"
}
