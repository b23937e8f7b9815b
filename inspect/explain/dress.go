package explain

import (
	"encoding/binary"
	"strconv"
	"strings"
	"sync"
	"unicode/utf16"
)

// decoded is a text in UTF-8: PowerShell writes what is redirected in UTF-16.
func decoded(text string) string {
	var order binary.ByteOrder
	switch {
	case strings.HasPrefix(text, "\xef\xbb\xbf"):
		return text[3:]
	case strings.HasPrefix(text, "\xff\xfe"):
		order = binary.LittleEndian
	case strings.HasPrefix(text, "\xfe\xff"):
		order = binary.BigEndian
	default:
		return text
	}
	units := make([]uint16, 0, len(text)/2)
	for raw := []byte(text[2:]); len(raw) >= 2; raw = raw[2:] {
		units = append(units, order.Uint16(raw))
	}
	return string(utf16.Decode(units))
}

// colours are the sequences by which programs colour their logs, and what is left
// of them where something on the way made the escape character visible.
var colours = lazily(`(?:\x1b|\^\[|#033|\\(?:u001[bB]|x1[bB]|033|e))\[[0-9;?]*[A-Za-z]`)

func uncoloured(line string) string {
	if !strings.Contains(line, "\x1b[") && !strings.Contains(line, "^[[") && !strings.Contains(line, "#033[") &&
		!strings.Contains(line, "1b[") && !strings.Contains(line, "1B[") && !strings.Contains(line, `\033[`) && !strings.Contains(line, `\e[`) {
		return line
	}
	return colours().ReplaceAllString(line, "")
}

// typed are the characters that a chat, a ticket or a web page puts in the place of
// those of a log.
var typed = sync.OnceValue(func() *strings.Replacer {
	return strings.NewReplacer(
		"\u2018", "'", "\u2019", "'", "\u201c", `"`, "\u201d", `"`, "\u00a0", " ", "\u202f", " ", "\u200b", "", "\ufeff", "",
		"&#39;", "'", "&#x27;", "'", "&apos;", "'", "&quot;", `"`, "&#34;", `"`, "&lt;", "<", "&gt;", ">", "&nbsp;", " ", "&amp;", "&",
	)
})

// untyped is a line with the characters of a log.
func untyped(line string) string {
	if !strings.Contains(line, "&") && !strings.Contains(line, "\xe2\x80") && !strings.Contains(line, "\u00a0") && !strings.Contains(line, "\ufeff") {
		return line
	}
	return typed().Replace(line)
}

// The clothes of a line on its way from a container's output to a person.
var (
	// kubectl logs --prefix.
	podPrefix = lazily(`^\[pod/[^\]\s]{1,300}\] `)
	// docker compose logs.
	composePrefix = lazily(`^[A-Za-z][\w.-]{0,80}\s*\| `)
	// The files of a container runtime, kubectl logs --timestamps, docker logs -t.
	// The time of a log's own line goes with it, which says nothing here.
	timePrefix = lazily(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d) ?`)
	streamMark = lazily(`^(?:stdout|stderr) ([FP])(?: |$)`)
	// logcli.
	labelPrefix = lazily(`^\{[A-Za-z_]\w*="[^}]*\} ?`)
	// syslog and journalctl.
	syslogPrefix = lazily(`^[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \S{1,200} [^\s:\[]{1,100}(?:\[\d{1,10}\])?: ?`)
)

// undressed is a line without its colours and without what collectors of logs put
// before it. more says that it goes on in the next one: a container runtime cuts
// long lines.
func undressed(line string) (_ string, more bool) {
	line = untyped(uncoloured(strings.TrimSuffix(line, "\r")))
	for range 4 {
		before := len(line)
		switch {
		case line == "":
			return line, more
		case line[0] == '[':
			line = line[len(podPrefix().FindString(line)):]
		case line[0] == '{':
			line = line[len(labelPrefix().FindString(line)):]
		case line[0] >= '0' && line[0] <= '9':
			if len(line) > 19 && line[4] == '-' && line[10] == 'T' {
				line = line[len(timePrefix().FindString(line)):]
			}
		case strings.HasPrefix(line, "std"):
			if m := streamMark().FindStringSubmatch(line); m != nil {
				line, more = line[len(m[0]):], m[1] == "P"
			}
		case len(line) > 15 && line[3] == ' ' && line[6] == ' ' && line[9] == ':':
			line = line[len(syslogPrefix().FindString(line)):]
		default:
			if at := strings.IndexByte(line[:min(len(line), 100)], '|'); at > 0 {
				line = line[len(composePrefix().FindString(line)):]
			}
		}
		if len(line) == before {
			break
		}
	}
	return line, more
}

// jsonStrings are the texts of a line that is a JSON document, without the names
// of its fields, each after the other. It is lenient: a line that only looks like
// one is none.
func jsonStrings(line string) (string, bool) {
	line = strings.TrimSpace(line)
	if len(line) < 4 || line[0] != '{' && line[0] != '[' || line[len(line)-1] != '}' && line[len(line)-1] != ']' && !strings.HasSuffix(line, "},") {
		return "", false
	}
	if second := strings.TrimLeft(line[1:], " "); second == "" || second[0] != '"' && second[0] != '{' {
		return "", false
	}
	var b strings.Builder
	for rest := line; ; {
		open := strings.IndexByte(rest, '"')
		if open < 0 {
			break
		}
		text, after, ok := jsonString(rest[open+1:])
		if !ok {
			return "", false
		}
		rest = after
		if strings.HasPrefix(strings.TrimLeft(rest, " "), ":") {
			continue // the name of a field
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(strings.TrimRight(text, "\r\n"))
	}
	return b.String(), true
}

// jsonString takes the string that a text begins with, behind its first quote.
func jsonString(text string) (value, after string, ok bool) {
	end := strings.IndexAny(text, `"\`)
	if end >= 0 && text[end] == '"' {
		return text[:end], text[end+1:], true
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c == '"' {
			return b.String(), text[i+1:], true
		}
		if c != '\\' {
			b.WriteByte(c)
			continue
		}
		if i++; i == len(text) {
			break
		}
		switch text[i] {
		case 'n':
			b.WriteByte('\n')
		case 't', 'b', 'f':
			b.WriteByte('\t')
		case 'r':
			b.WriteByte('\r')
		case 'u':
			if i+4 >= len(text) {
				return "", "", false
			}
			n, err := strconv.ParseUint(text[i+1:i+5], 16, 16)
			if err != nil {
				return "", "", false
			}
			b.WriteRune(rune(n)) // half of a pair is a replacement character: no message has one
			i += 4
		default:
			b.WriteByte(text[i])
		}
	}
	return "", "", false
}
