package explain

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// However the lines were broken, coloured or escaped on the way here.
func TestTheSameMessageInOtherClothes(t *testing.T) {
	plain := "Cannot restore Kafka action state for action-state-0 from offset 100 because the committed cleanup boundary is 150"
	utf16le := []byte{0xff, 0xfe}
	for _, r := range plain + "\r\n" {
		utf16le = append(utf16le, byte(r), 0)
	}
	for name, text := range map[string]string{
		"broken by a terminal":       strings.ReplaceAll(plain, " because ", "\n    because "),
		"coloured":                   "\x1b[31m" + strings.ReplaceAll(plain, "committed", "\x1b[1mcommitted\x1b[0m") + "\x1b[0m",
		"coloured, made visible":     "^[[31m" + strings.ReplaceAll(plain, "committed", "#033[1mcommitted\\x1b[0m") + `\033[0m`,
		"erased to the line's end":   plain + "\x1b[K",
		"in a JSON document":         `{"root-exception":"java.lang.IllegalStateException: ` + plain + `\n\tat org.apache.flink.util.Preconditions.checkState(Preconditions.java:215)\n"}`,
		"in one over many lines":     "{\n  \"root-exception\" : \"java.lang.IllegalStateException: " + plain + `\n\tat org.apache.flink.util.Preconditions.checkState(Preconditions.java:215)\n"` + "\n}",
		"in two, one in another":     `{"log":"{\"level\":\"ERROR\",\"message\":\"\\u001b[31m` + plain + `\\n\\tat a.b.C.d(C.java:1)\"}\n","stream":"stdout"}`,
		"in a text in a text":        `error: Some("java.lang.IllegalStateException: ` + plain + `\\n\\tat a.b.C.d(C.java:1)")`,
		"with CR LF":                 plain + "\r\n",
		"of PowerShell":              string(utf16le),
		"with a mark of UTF-8":       "\xef\xbb\xbf" + plain,
		"cut by a container runtime": "2026-11-30T08:00:00.123456789Z stdout P " + plain[:60] + "\n2026-11-30T08:00:00.123456790Z stdout F " + plain[60:],
	} {
		t.Run(name, func(t *testing.T) {
			one(t, text, "below-committed-boundary", `{"boundary":150,"partition":0,"requested":100,"topic":"action-state"}`)
		})
	}
}

// Chats, tickets and web pages put other characters into what goes through them.
func TestTextsFromAChatAndAWebPage(t *testing.T) {
	for name, text := range map[string]string{
		"a chat":     "Cannot find checkpoint or savepoint file/directory ‘file:///data/chk-42’ on file system ’file’.",
		"a web page": "Cannot find checkpoint or savepoint file/directory &#39;file:///data/chk-42&#39; on file&nbsp;system &apos;file&apos;.",
		"a ticket":   "Cannot\u00a0find checkpoint or savepoint file/directory 'file:///data/chk-42' on\u202ffile system 'file'.",
	} {
		t.Run(name, func(t *testing.T) { one(t, text, "point-missing", `{"point":"file:///data/chk-42","system":"file"}`) })
	}
}

// A terminal gives the lines of what is pasted with returns for their ends.
func TestAPasteHasItsLines(t *testing.T) {
	m := one(t, strings.ReplaceAll(trace, "\n", "\r"), "below-committed-boundary", `{"boundary":150,"partition":0,"requested":100,"topic":"action-state"}`)
	if m.Line != 6 {
		t.Errorf("line %d, it is the sixth", m.Line)
	}
}

// A stack trace is one, and its innermost cause speaks, whatever a collector of
// logs put before each of its lines: the wrapper above it is not told, nothing in
// it is unknown, and the line is that of the text.
func TestTracesAsCollectorsOfLogsGiveThem(t *testing.T) {
	lines := strings.Split(strings.TrimSuffix(trace, "\n"), "\n")
	for name, wear := range map[string]func(n int, line string) string{
		"a container runtime's file": func(n int, line string) string {
			return fmt.Sprintf("2026-11-30T08:00:%02d.123456789Z stderr F %s", n, line)
		},
		"docker's file": func(n int, line string) string {
			quoted, _ := json.Marshal(line + "\n")
			return fmt.Sprintf(`{"log":%s,"stream":"stdout","time":"2026-11-30T08:00:%02d.123456789Z"}`, quoted, n)
		},
		"a document with the text last": func(n int, line string) string {
			quoted, _ := json.Marshal(line)
			return fmt.Sprintf(`{"time":"2026-11-30T08:00:%02dZ","labels":{"app":"flink"},"line":%s}`, n, quoted)
		},
		"a list of documents": func(n int, line string) string {
			quoted, _ := json.Marshal(line)
			return fmt.Sprintf(`  {"line":%s, "timestamp":"176448960%04d"},`, quoted, n)
		},
		"kubectl --prefix --timestamps": func(n int, line string) string {
			return fmt.Sprintf("[pod/tm-0/flink-main-container] 2026-11-30T08:00:%02d.123456789Z %s", n, line)
		},
		"docker compose": func(_ int, line string) string { return "taskmanager-1  | " + line },
		"journalctl": func(n int, line string) string {
			return fmt.Sprintf("Nov 30 08:00:%02d host7 flink[1234]: %s", n, line)
		},
		"logcli": func(n int, line string) string {
			return fmt.Sprintf(`2026-11-30T08:00:%02d+01:00 {app="flink", pod="tm-0"} %s`, n, line)
		},
		"stern":          func(_ int, line string) string { return "tm-0 flink-main-container " + line },
		"tabs as blanks": func(_ int, line string) string { return strings.ReplaceAll(line, "\t", "    ") },
	} {
		t.Run(name, func(t *testing.T) {
			worn := make([]string, len(lines))
			for n, line := range lines {
				worn[n] = wear(n, line)
			}
			m := one(t, strings.Join(worn, "\n")+"\n", "below-committed-boundary", `{"boundary":150,"partition":0,"requested":100,"topic":"action-state"}`)
			if m.Line != 6 {
				t.Errorf("line %d, it is the sixth", m.Line)
			}
			want := "recoverctl validate restore s3://flink-state/checkpoints/4f3c/chk-12 --brokers HOST:PORT --topic action-state"
			if !slices.Contains(m.Next, want) {
				t.Errorf("%q, want %q", m.Next, want)
			}
		})
	}
}

// A text that ends in the middle of a message or a trace is no reason to fail, and
// what is whole in it is told.
func TestTruncatedTexts(t *testing.T) {
	whole := strings.Index(trace, "boundary is 150") + len("boundary is 150")
	for n := 0; n < len(trace); n += 5 {
		e := Text(trace[:n], nil)
		if spoke := slices.ContainsFunc(e.Matches, func(m Match) bool { return m.Rule == "below-committed-boundary" && m.Numbers["boundary"] == int64(150) }); spoke != (n >= whole) {
			t.Errorf("of %d bytes: %+v", n, e.Matches)
		}
	}
}
