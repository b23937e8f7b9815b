package explain

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// The systems that speak.
const (
	agents     = "Flink Agents"
	agentsNext = "Flink Agents, the next version"
	agents03   = "Flink Agents, releases 0.1 to 0.3"
	agentsData = "Flink Agents on Fluss"
	flink      = "Flink"
	operator   = "Flink Kubernetes Operator"
	kafka      = "Kafka"
	fluss      = "Fluss"
	arkflow    = "ArkFlow"
)

// The weights of rules.
const (
	decides   = 2 // it says why a recovery or a cleanup was refused
	condition = 1 // it says what keeps one from working
	context   = 0 // it says that something failed
)

// rules are all messages that are known. Where a rule of this program's own
// judgement speaks for the same reason, it has the same word. They are made when
// the first text comes: most runs of this program explain nothing.
var rules = sync.OnceValue(func() []rule {
	return slices.Concat(boundaryRules(), markerRules(), controlRules(), cleanupRules(), recordRules(), releasedRules(), callRules(),
		flinkRules(), flinkRunRules(), operatorRules(), kafkaRules(), kafkaRunRules(), flussRules(), flussRunRules(), arkflowRules())
})

// lazily is a pattern that is compiled when it is first asked for.
func lazily(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}

// pattern is a compiled pattern, which matches where it is tried alone, and the
// text that each of its matches begins with; empty where that is not one text.
type pattern struct {
	*regexp.Regexp
	head string
	line bool // it speaks of a line's end, and so does not go on behind one
}

// p is a pattern, compiled when its anchor is first met: all of them would take
// longer than the rest of this program's start. In it a blank stands for one blank
// of the flat text, and a dollar sign for the end of a line.
func p(text string) func() pattern {
	return sync.OnceValue(func() pattern {
		free := regexp.MustCompile(text)
		head, _ := free.LiteralPrefix()
		line := strings.Contains(text, "$")
		if head == "" {
			return pattern{free, "", line}
		}
		return pattern{regexp.MustCompile("^(?:" + text + ")"), head, line}
	})
}

// around finds the match of a script that covers an anchor, as places behind
// begin; nil for none. It does not begin before from.
func (p pattern) around(s *script, from, at, anchorEnd int) (begin int, loc []int) {
	flat := s.flat
	if p.line {
		flat = strings.TrimRight(flat[:s.lineEnd(anchorEnd)], " ")
		if len(flat) < anchorEnd {
			return 0, nil
		}
	}
	if p.head == "" {
		begin = max(from, at-looseAround)
		window := flat[begin:min(len(flat), anchorEnd+looseAround)]
		for _, loc := range p.FindAllStringSubmatchIndex(window, -1) {
			if loc[0] <= at-begin && loc[1] >= anchorEnd-begin {
				return begin, loc
			}
		}
		return 0, nil
	}
	lowest := max(from, at-before)
	window := flat[lowest:min(len(flat), at+len(p.head))]
	for range maxBegins {
		found := strings.LastIndex(window, p.head)
		if found < 0 {
			break
		}
		begin = lowest + found
		if loc := p.FindStringSubmatchIndex(flat[begin:min(len(flat), begin+after)]); loc != nil && begin+loc[1] >= anchorEnd {
			return begin, loc
		}
		window = window[:found+len(p.head)-1]
	}
	return 0, nil
}

// What several rules advise.
const (
	validate   = "recoverctl validate restore {point} {job}"
	inspectJob = "recoverctl inspect job {job}"
	control    = "recoverctl inspect control {job}"
	points     = "recoverctl inspect points {job}"
	check      = "recoverctl config check {job}"
)
