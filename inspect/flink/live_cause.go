package flink

import (
	"strings"

	"github.com/recoverctl/recoverctl/inspect"
)

const causedBy = "Caused by: "

// serialized is how Flink carries an exception whose class may be unknown to the
// reader: its message is then the real class and message.
const serialized = "org.apache.flink.util.SerializedThrowable"

// rootCause takes the cause at the end of the chain out of a Java stack trace,
// as Throwable.printStackTrace writes it: the last line that begins with "Caused
// by: ", or the first line. Causes of suppressed exceptions are indented and
// don't count. A message may go over several lines.
func rootCause(trace string) inspect.RootCause {
	start, outer := 0, true
	for at := 0; at >= 0 && at < len(trace); at = nextLine(trace, at) {
		rest := trace[at:]
		if strings.HasPrefix(rest, causedBy) && !strings.HasPrefix(rest[len(causedBy):], "[CIRCULAR REFERENCE") {
			start, outer = at+len(causedBy), false
		}
	}
	var c inspect.RootCause
	c.Type, c.Message = splitThrowable(header(trace[start:]))
	if !outer {
		c.Outer = header(trace)
	}
	return c
}

// nextLine is where the line after the one at begins; -1 at the end.
func nextLine(s string, at int) int {
	if i := strings.IndexByte(s[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return -1
}

// header is a throwable's own text: everything before its frames.
func header(trace string) string {
	end := len(trace)
	for at := nextLine(trace, 0); at >= 0 && at < len(trace); at = nextLine(trace, at) {
		line := trace[at:]
		if strings.HasPrefix(line, "\tat ") || strings.HasPrefix(line, "\t... ") || strings.HasPrefix(line, "\tSuppressed: ") || strings.HasPrefix(line, causedBy) {
			end = at
			break
		}
	}
	return strings.TrimRight(trace[:end], "\r\n")
}

// splitThrowable takes "class: message" apart. Text that begins with no class
// name is a message alone.
func splitThrowable(text string) (class, message string) {
	for range 8 { // nested as often as it was carried; nobody needs more
		class, message, _ = strings.Cut(text, ": ")
		if !isClassName(class) {
			return "", text
		}
		inner, _, _ := strings.Cut(message, ": ")
		if class != serialized || !strings.Contains(inner, ".") || !isClassName(inner) {
			break
		}
		text = message
	}
	return class, message
}

// isClassName reports whether s is a Java class name: identifiers with dots
// between, letters of any script among them.
func isClassName(s string) bool {
	if s == "" || len(s) > 1024 {
		return false
	}
	for part := range strings.SplitSeq(s, ".") {
		if part == "" || part[0] >= '0' && part[0] <= '9' {
			return false
		}
		for _, r := range part {
			if r < 0x80 && r != '_' && r != '$' && (r < '0' || r > '9') && (r|0x20 < 'a' || r|0x20 > 'z') {
				return false
			}
		}
	}
	return true
}

// RootCauseOf is the cause at the end of the chain in a Java stack trace, as one
// text, "type: message", cut where it is very long.
func RootCauseOf(trace string) string { return capped(oneLine(rootCause(trace)), maxText) }
