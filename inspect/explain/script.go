package explain

import (
	"regexp"
	"sort"
	"strings"

	"github.com/recoverctl/recoverctl/internal/safetext"
)

// script is a text made flat: every run of white space is one blank, so that a
// message is found however a terminal, a log viewer or a JSON document broke its
// lines.
type script struct {
	flat   string
	starts []int // where the text's lines begin in flat
}

// colour are the sequences by which programs colour their logs.
var colour = regexp.MustCompile("\x1b\\[[0-9;]*m")

func newScript(text string) *script {
	if strings.Contains(text, "\x1b[") {
		text = colour.ReplaceAllString(text, "")
	}
	var b strings.Builder
	b.Grow(len(text))
	s := &script{starts: []int{0}}
	blank := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\n', c == '\\' && i+1 < len(text) && text[i+1] == 'n':
			// A line that is written as an escape is a line too, as in a JSON document.
			if c == '\\' {
				i++
			}
			if !blank && b.Len() > 0 {
				b.WriteByte(' ')
			}
			blank = true
			s.starts = append(s.starts, b.Len())
		case c == '\\' && i+1 < len(text) && text[i+1] == 't':
			i++
			fallthrough
		case c == ' ', c == '\t', c == '\r':
			if !blank && b.Len() > 0 {
				b.WriteByte(' ')
			}
			blank = true
		default:
			b.WriteByte(c)
			blank = false
		}
	}
	s.flat = b.String()
	return s
}

// lines is how many the text has.
func (s *script) lines() int {
	if s.starts[len(s.starts)-1] == len(s.flat) {
		return len(s.starts) - 1 // what follows the last line's end is no line
	}
	return len(s.starts)
}

// line is that of a place, from 1.
func (s *script) line(at int) int {
	return sort.Search(len(s.starts), func(i int) bool { return s.starts[i] > at })
}

// lineText is a line from its number.
func (s *script) lineText(n int) string {
	end := len(s.flat)
	if n < len(s.starts) {
		end = s.starts[n]
	}
	return s.flat[min(s.starts[n-1], end):end]
}

// traceEnd is where the stack trace ends that a place lies in: before the first
// line that is neither a frame nor a cause.
func (s *script) traceEnd(at int) int {
	n := s.line(at)
	for ; n < len(s.starts); n++ {
		line := s.lineText(n + 1)
		if line != "" && !inTrace(line) {
			break
		}
	}
	if n < len(s.starts) {
		return s.starts[n]
	}
	return len(s.flat)
}

// traceBegin is where the stack trace begins that line n lies in.
func (s *script) traceBegin(n int) int {
	for n > 1 && inTrace(s.lineText(n)) {
		n--
	}
	return s.starts[n-1]
}

// inTrace reports whether a line goes on with a Java stack trace.
func inTrace(line string) bool {
	for _, begin := range []string{"at ", "... ", "Caused by:", "Suppressed:", "[CIRCULAR"} {
		if strings.HasPrefix(line, begin) {
			return true
		}
	}
	return false
}

// exception is the head of an exception, with its message.
var exception = regexp.MustCompile(`(?:[a-z][\w$]*\.){2,}[A-Z][\w$]*(?:Exception|Error)\b(?:: ?[^\n]{0,200})?`)

// unknown lists exceptions on lines where no rule spoke. Of a trace it is the
// innermost, which is where the reason stands.
func (s *script) unknown(found []hit) []string {
	var out []string
	seen := map[string]bool{}
	for n := 1; n <= len(s.starts); n++ {
		line := strings.TrimSpace(s.lineText(n))
		if strings.HasPrefix(line, "at ") || !strings.Contains(line, "Exception") && !strings.Contains(line, "Error") {
			continue
		}
		text := exception.FindString(line)
		if text == "" || seen[text] {
			continue
		}
		seen[text] = true
		end := s.traceEnd(s.starts[n-1])
		if spoken(found, s.traceBegin(n), end) || s.carries(n, end) {
			continue
		}
		if len(out) == maxUnknown {
			return out
		}
		out = append(out, safetext.Of(text).Truncate(200).String())
	}
	return out
}

// spoken reports whether a rule spoke between two places.
func spoken(found []hit, begin, end int) bool {
	at := sort.Search(len(found), func(i int) bool { return found[i].end > begin })
	return at < len(found) && found[at].begin < end
}

// carries reports whether a cause follows line n in the same trace.
func (s *script) carries(n, end int) bool {
	for ; n < len(s.starts) && s.starts[n] < end; n++ {
		if strings.HasPrefix(s.lineText(n+1), "Caused by:") {
			return true
		}
	}
	return false
}
