package explain

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/recoverctl/recoverctl/internal/safetext"
)

// MaxText is how much of a text is looked at, in bytes. The end of a log says
// more than its beginning: what is too long loses its beginning.
const MaxText = 64 << 20

// Numbers are what a message names, by the words of its rule: int64 where the
// message has a number of that size, else a string, as it stands in the text.
type Numbers map[string]any

// Match is one known message, however often it stands in the text: the same rule
// with the same numbers is the same message.
type Match struct {
	Rule    string   `json:"rule"`   // stable
	Source  string   `json:"source"` // which system speaks, and which of its releases
	Line    int      `json:"line"`   // of the first time, from 1
	Text    string   `json:"text"`   // the message as it stands, on one line, safe to print
	Count   int      `json:"count"`  // how often it stands there
	Others  int64    `json:"others"` // messages of this rule with other numbers that are left out, on the rule's last match
	Numbers Numbers  `json:"numbers"`
	Cause   string   `json:"cause"`
	Next    []string `json:"next"` // what to do: sentences, and commands that begin with a program's name
}

// Explanation is what a text says. Unknown are exceptions of which nothing is
// known, safe to print, the first of them.
type Explanation struct {
	Matches []Match  `json:"matches"`
	Unknown []string `json:"unknown"`
	More    int64    `json:"more"`  // messages of whole matches that are left out because there are so many
	Lines   int      `json:"lines"` // that were looked at
	Cut     bool     `json:"cut"`   // the text was longer than MaxText
}

// Job is a job that the operator's profile knows. Flags are how a command names
// it, as in "--profile orders --job order-agent".
type Job struct {
	Flags  string
	Topics []string // its data topic and control topic
	Points []string // places of its recovery points
}

// Bounds of an explanation.
const (
	maxMatches = 200
	maxOfRule  = 8 // with different numbers
	maxUnknown = 8
)

// Text finds the known messages of a text, the most telling first. Jobs link
// them: commands name the job that a message's topic or recovery point belongs
// to; with no such job they leave a word to fill in.
func Text(text string, jobs []Job) Explanation {
	cut := len(text) > MaxText
	if cut {
		text = text[len(text)-MaxText:]
	}
	s := newScript(text)
	e := Explanation{Matches: []Match{}, Unknown: []string{}, Lines: s.lines(), Cut: cut}
	var found []hit
	for i, places := range allAnchors().in(s.flat) {
		found = append(found, s.find(i, places)...)
	}
	found = s.withoutWrappers(apart(found))
	link := newLinks(s, jobs)
	ofRule := map[string][]int{} // the places of a rule's matches
	var traceEnd []int           // of each match, where the trace ends in which it was said last
	for _, h := range found {
		numbers := h.numbers()
		mine := ofRule[h.id]
		switch at := slices.IndexFunc(mine, func(i int) bool { return maps.Equal(e.Matches[i].Numbers, numbers) }); {
		case at >= 0 && h.begin < traceEnd[mine[at]]:
			// An exception is repeated in the messages of those that carry it.
		case at >= 0:
			e.Matches[mine[at]].Count++
			traceEnd[mine[at]] = s.traceEnd(h.end)
		case len(mine) == maxOfRule:
			e.Matches[mine[maxOfRule-1]].Others++
		default:
			ofRule[h.id] = append(mine, len(e.Matches))
			e.Matches = append(e.Matches, link.match(h))
			traceEnd = append(traceEnd, s.traceEnd(h.end))
		}
	}
	// What decides a recovery comes before what is only near it, and is not left out
	// for it.
	weight := make(map[string]int, len(rules()))
	for _, r := range rules() {
		weight[r.id] = max(weight[r.id], r.weight)
	}
	slices.SortStableFunc(e.Matches, func(a, b Match) int { return cmp.Compare(weight[b.Rule], weight[a.Rule]) })
	for _, m := range e.Matches[min(len(e.Matches), maxMatches):] {
		e.More += int64(m.Count) + m.Others
	}
	e.Matches = e.Matches[:min(len(e.Matches), maxMatches)]
	e.Unknown = append(e.Unknown, s.unknown(found)...)
	return e
}

// hit is one place where a rule spoke, in the flattened text.
type hit struct {
	*rule
	order      int // of the rule
	begin, end int
	values     []string // of the pattern's groups
}

// rule is one message that a system is known to write.
type rule struct {
	id, source string
	// anchor stands in every match of the pattern: only around it is the pattern
	// tried. It has at least minAnchor bytes.
	anchor  string
	pattern func() pattern
	// weight orders: 2 decides a recovery, 1 is a condition it depends on, 0 says
	// only that something failed.
	weight  int
	wrapper bool // it carries another exception, which says more where it is known
	control bool // its topic is the control topic
	cause   string
	next    []string
}

const (
	// minAnchor is how long an anchor is at least: the shortest one says how fast a
	// log is read.
	minAnchor = 11
	// before is how far a pattern may begin before its anchor, in bytes, and after
	// how far it may end behind its beginning: a list of four thousand partitions is
	// in one message.
	before = 4096
	after  = 128 << 10
	// looseAround is before and after of a pattern that does not begin with a text of
	// its own, and is looked for rather than tried at a place.
	looseAround = 1024
	// maxBegins is how many places before an anchor are tried.
	maxBegins = 4
)

// find returns where a rule speaks, from where its anchor stands.
func (s *script) find(order int, places []int) []hit {
	if len(places) == 0 {
		return nil
	}
	r := &rules()[order]
	p := r.pattern()
	var out []hit
	from := 0
	for _, at := range places {
		if at < from {
			continue // inside the match before
		}
		begin, loc := p.around(s, from, at, at+len(r.anchor))
		if loc == nil {
			continue
		}
		h := hit{rule: r, order: order, begin: begin + loc[0], end: begin + loc[1]}
		for g := 1; g < len(loc)/2; g++ {
			value := ""
			if loc[2*g] >= 0 {
				value = s.flat[begin+loc[2*g] : begin+loc[2*g+1]]
			}
			h.values = append(h.values, value)
		}
		out = append(out, h)
		from = h.end
	}
	return out
}

// apart puts hits in the order of the text. Of two that speak of the same words
// the one whose rule stands first has them: it is the more special one.
func apart(found []hit) []hit {
	slices.SortStableFunc(found, func(a, b hit) int { return cmp.Compare(a.begin, b.begin) })
	out := found[:0]
	for _, h := range found {
		last := len(out) - 1
		switch {
		case last < 0 || out[last].end <= h.begin:
			out = append(out, h)
		case h.order < out[last].order:
			out[last] = h
		}
	}
	return out
}

// withoutWrappers leaves out exceptions that only carry one that is known.
func (s *script) withoutWrappers(found []hit) []hit {
	out := make([]hit, 0, len(found))
	for i, h := range found {
		if h.wrapper && i+1 < len(found) && found[i+1].begin < s.traceEnd(h.end) {
			continue
		}
		out = append(out, h)
	}
	return out
}

// numbers are what a hit names.
func (h hit) numbers() Numbers {
	out := Numbers{}
	for i, name := range h.pattern().SubexpNames()[1:] {
		if name == "" || h.values[i] == "" {
			continue
		}
		out[name] = number(strings.Clone(h.values[i])) // the text is not kept for it
	}
	return out
}

// number is a value as it is repeated: an int64 where it reads back the same.
func number(text string) any {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil && strconv.FormatInt(n, 10) == text {
		return n
	}
	return text
}

// fill puts the values into the places that a sentence leaves for them.
func fill(sentence string, values map[string]string) string {
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(sentence, "{")
		b.WriteString(before)
		if !ok {
			return b.String()
		}
		name, after, _ := strings.Cut(rest, "}")
		b.WriteString(values[name])
		sentence = after
	}
}

// shown is a value of the text as a sentence repeats it.
func shown(value string) string {
	const most = 300
	return safetext.Of(value).Truncate(most).String()
}
