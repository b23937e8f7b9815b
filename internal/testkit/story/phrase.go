package story

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// phrase is one form of a line, with what it does to whatever it is about.
type phrase[T any] struct {
	form *regexp.Regexp
	do   func(T, []string) error
}

// on is a phrase. In its form, spaces stand for themselves and each group is
// given to do.
func on[T any](form string, do func(T, []string) error) phrase[T] {
	return phrase[T]{regexp.MustCompile("^(?:" + form + ")$"), do}
}

var errNoPhrase = errors.New("no such line is known")

// follow does what a line says, by the phrase that it has the form of.
func follow[T any](phrases []phrase[T], about T, text string) error {
	for _, p := range phrases {
		if m := p.form.FindStringSubmatch(text); m != nil {
			return p.do(about, m[1:])
		}
	}
	return errNoPhrase
}

// knows reports whether a line has the form of a phrase.
func knows[T any](phrases []phrase[T], text string) bool {
	return slices.ContainsFunc(phrases, func(p phrase[T]) bool { return p.form.MatchString(text) })
}

// grammar is every form that a line may have.
type grammar struct {
	events        []phrase[*world]
	commands      []phrase[*command]
	circumstances []phrase[*command] // under a command: what it is given, and what happens while it runs
	expectations  []phrase[*command] // under a command: how it ends
}

func newGrammar() grammar {
	return grammar{events: events(), commands: commands(), circumstances: circumstances(), expectations: expectations()}
}

// offsetsOf reads offsets in the order of the partitions.
func offsetsOf(text string) ([]int64, error) {
	var out []int64
	for _, word := range strings.Fields(text) {
		at, err := strconv.ParseInt(word, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("offset %q: %w", word, err)
		}
		out = append(out, at)
	}
	return out, nil
}

// settingsOf reads "cleanup.policy=compact,delete retention.ms=-1".
func settingsOf(text string) (map[string]string, error) {
	out := map[string]string{}
	for _, word := range strings.Fields(text) {
		name, value, found := strings.Cut(word, "=")
		if !found {
			return nil, fmt.Errorf("%q is no setting", word)
		}
		out[name] = value
	}
	return out, nil
}
