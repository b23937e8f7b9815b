package explain

import (
	"slices"
	"sort"
	"strings"

	"github.com/recoverctl/recoverctl/internal/safetext"
)

// script is a text made flat: every run of white space is one blank, so that a
// message is found however a terminal, a log viewer or a JSON document broke its
// lines.
type script struct {
	flat   string
	starts []int   // where lines begin in flat, those that are written as escapes too
	source []int32 // the text's own line that each of them is of, from 1
	total  int     // of the text's own lines
}

// longestLine is how much of one line is put together from parts, in bytes.
const longestLine = 16 << 20

func newScript(text string) *script {
	text = decoded(text)
	if !strings.Contains(text, "\n") {
		text = strings.ReplaceAll(text, "\r", "\n") // as a terminal gives what is pasted
	}
	f := flattener{out: make([]byte, 0, len(text))}
	part := ""
	for rest := text; rest != ""; {
		line, after, _ := strings.Cut(rest, "\n")
		rest = after
		f.source++
		line, more := undressed(line)
		if part != "" {
			line, part = part+line, ""
		}
		if more && rest != "" && len(line) < longestLine {
			part = line
			continue
		}
		f.add(line, 0)
	}
	if len(f.starts) == 0 {
		f.starts, f.lines = []int{0}, []int32{1}
	}
	return &script{flat: string(f.out), starts: f.starts, source: f.lines, total: int(f.source)}
}

// flattener makes a script of lines.
type flattener struct {
	out    []byte
	starts []int
	lines  []int32
	source int32
}

// maxNested is how many JSON documents are unpacked that lie in one another.
const maxNested = 3

// add adds one line of the text: what it says, where it is a JSON document.
func (f *flattener) add(line string, depth int) {
	if depth < maxNested {
		if inner, ok := jsonStrings(line); ok {
			for inner := range strings.SplitSeq(inner, "\n") {
				f.add(uncoloured(strings.TrimSuffix(inner, "\r")), depth+1)
			}
			return
		}
	}
	f.begin()
	escaped := false // the last character was a backslash
	for i := 0; i < len(line); i++ {
		c := line[i]
		if escaped {
			escaped = false
			switch c {
			case 'n', 'r':
				f.begin() // a line that is written as an escape is a line too
				continue
			case 't':
				f.blank()
				continue
			case '"', '\\':
				// A quote or a backslash of a text within a text.
				escaped = c == '\\'
				if !escaped {
					f.out = append(f.out, c)
				}
				continue
			default:
				f.out = append(f.out, '\\')
			}
		}
		switch c {
		case '\\':
			escaped = true
		case ' ', '\t', '\r':
			f.blank()
		default:
			f.out = append(f.out, c)
		}
	}
	if escaped {
		f.out = append(f.out, '\\')
	}
}

// begin begins a line.
func (f *flattener) begin() {
	f.blank()
	f.starts = append(f.starts, len(f.out))
	f.lines = append(f.lines, f.source)
}

// blank adds a blank where there is none.
func (f *flattener) blank() {
	if n := len(f.out); n > 0 && f.out[n-1] != ' ' {
		f.out = append(f.out, ' ')
	}
}

// lines is how many the text has.
func (s *script) lines() int { return s.total }

// line is the text's own line that a place is in, from 1.
func (s *script) line(at int) int { return int(s.source[s.number(at)-1]) }

// number is that of a line of the script, from 1.
func (s *script) number(at int) int {
	return sort.Search(len(s.starts), func(i int) bool { return s.starts[i] > at })
}

// lineEnd is where the line ends that a place closes or is in.
func (s *script) lineEnd(at int) int {
	if n := s.number(max(at-1, 0)); n < len(s.starts) {
		return s.starts[n]
	}
	return len(s.flat)
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
	n := s.number(at)
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

// frame is a line of a Java stack trace, with what a log puts before it and
// behind it, or the line that stands for the frames in common with another.
var frame = lazily(`(?:^| )(?:at [\w$./<>@-]+\.[\w$<>]+\((?:[\w$.-]+:\d+|[\w$.-]+\.java|Native Method|Unknown Source)\)|\.\.\. \d+ (?:more|common frames omitted)(?: |$))`)

// inTrace reports whether a line goes on with a Java stack trace.
func inTrace(line string) bool {
	for _, begin := range []string{"at ", "... ", "Caused by:", "Suppressed:", "[CIRCULAR"} {
		if strings.HasPrefix(line, begin) {
			return true
		}
	}
	// What a collector of logs puts before a line is short.
	const most = 200
	if at := strings.Index(line, " Caused by: "); at >= 0 && at < most {
		return true
	}
	if !strings.Contains(line, " at ") && !strings.Contains(line, " ... ") {
		return false
	}
	loc := frame().FindStringIndex(line[:min(len(line), 4*most)])
	return loc != nil && loc[0] < most
}

// exception is the head of an exception, with its message: one of Java anywhere
// in a line, one of another language where a line begins with it.
var exception = lazily(`(?:[a-z][\w$]*\.){2,}[A-Z][\w$]*(?:Exception|Error)\b(?:: ?[^\n]{0,200})?|^(?:[a-z_]\w*\.)*[A-Z]\w*(?:Exception|Error): [^\n]{0,200}|^thread '[^']{1,80}' (?:\([^)]{0,20}\) )?panicked at [^\n]{0,200}`)

// unknown lists exceptions on lines where no rule spoke. Of a trace it is the
// innermost, which is where the reason stands; where a rule only says that the
// cause is below, that cause is told too.
func (s *script) unknown(found []hit) []string {
	telling := slices.DeleteFunc(slices.Clone(found), func(h hit) bool { return h.wrapper })
	var out []string
	seen := map[string]bool{}
	for n := 1; n <= len(s.starts); n++ {
		line := strings.TrimSpace(s.lineText(n))
		if strings.HasPrefix(line, "at ") || !strings.Contains(line, "Exception") && !strings.Contains(line, "Error") && !strings.Contains(line, "panicked at") {
			continue
		}
		text := exception().FindString(line)
		if text == "" || seen[text] {
			continue
		}
		seen[text] = true
		begin, end := s.starts[n-1], s.traceEnd(s.starts[n-1])
		if spoken(telling, s.traceBegin(n), end) || spoken(found, begin, begin+len(line)) || s.carries(n, end) {
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
	const most = 200
	for ; n < len(s.starts) && s.starts[n] < end; n++ {
		if at := strings.Index(s.lineText(n+1), "Caused by: "); at >= 0 && at < most {
			return true
		}
	}
	return false
}
