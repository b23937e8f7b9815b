package safetext_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"github.com/recoverctl/recoverctl/internal/safetext"
)

func TestWhatIsReplacedIsVisible(t *testing.T) {
	tests := map[string]struct{ in, want string }{
		"plain ASCII is kept":                    {`payments/charge-1 "a" \x1b`, `payments/charge-1 "a" \x1b`},
		"letters of other scripts are kept":      {"заказ 注文 طلب naïve", "заказ 注文 طلب naïve"},
		"an emoji is kept":                       {"done ✔ 🚀", "done ✔ 🚀"},
		"the replacement character is kept":      {"a\ufffdb", "a\ufffdb"},
		"an escape sequence":                     {"\x1b]52;c;aGk=\a", `\x1b]52;c;aGk=\x07`},
		"NUL, backspace and DEL":                 {"a\x00\b\x7f", `a\x00\x08\x7f`},
		"tab, return and newline":                {"a\tb\r\nc", `a\tb\r\nc`},
		"a C1 control as a code point":           {"\u009b31m", `\u009b31m`},
		"a C1 control as a raw byte":             {"\x9b31m", `\x9b31m`},
		"bytes that are not UTF-8":               {"a\xff\xc3(", `a\xff\xc3(`},
		"an encoded surrogate":                   {"\xed\xa0\x80", `\xed\xa0\x80`},
		"an overlong slash":                      {"\xc0\xaf", `\xc0\xaf`},
		"a name reversed by an override":         {"pay\u202etnemeta", `pay\u202etnemeta`},
		"bidirectional marks and isolates":       {"\u061c\u200e\u200f\u2066\u2069", `\u061c\u200e\u200f\u2066\u2069`},
		"zero-width space, joiners, mark":        {"a\u200bb\u200cc\u200dd\ufeff", `a\u200bb\u200cc\u200dd\ufeff`},
		"invisible operators":                    {"\u2060\u2064", `\u2060\u2064`},
		"line and paragraph separators":          {"a\u2028b\u2029", `a\u2028b\u2029`},
		"tag characters":                         {"a\U000e0041\U000e0001", `a\U000e0041\U000e0001`},
		"variation selectors":                    {"❤\ufe0f\U000e0100", `❤\ufe0f\U000e0100`},
		"a soft hyphen":                          {"or\u00adder", `or\u00adder`},
		"spaces that are not the space":          {"a\u00a0b\u3000c", `a\u00a0b\u3000c`},
		"letters that show as nothing":           {"\u3164\u115f\u2800", `\u3164\u115f\u2800`},
		"private use and noncharacters":          {"\ue0b0\uffff", `\ue0b0\uffff`},
		"a mark on a letter is kept":             {"e\u0301", "e\u0301"},
		"a mark that stands on nothing":          {"\u0301e", `\u0301e`},
		"the seventh mark on one letter":         {"e" + strings.Repeat("\u0301", 7), "e" + strings.Repeat("\u0301", 6) + `\u0301`},
		"a mark on an escape is on visible text": {"\x1b\u0301", "\\x1b\u0301"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := safetext.Of(tt.in).String(); got != tt.want {
				t.Errorf("Of(%q) = %q, want %q", tt.in, got, tt.want)
			}
			if got := safetext.Bytes([]byte(tt.in)).String(); got != tt.want {
				t.Errorf("Bytes(%q) = %q, want %q", tt.in, got, tt.want)
			}
		})
	}
}

func TestLinesKeepsOnlyTheNewline(t *testing.T) {
	got := safetext.Lines("java.io.IOException: x\r\n\tat a.B\x1b[2J\n\u0301").String()
	want := "java.io.IOException: x\\r\n\\tat a.B\\x1b[2J\n\\u0301"
	if got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A record value may be a gigabyte: neither the work nor the result may follow.
func TestHugeInputEndsInItsLength(t *testing.T) {
	huge := bytes.Repeat([]byte{0x1b}, 64<<20)
	got := safetext.Bytes(huge).String()
	if len(got) > safetext.MaxLine {
		t.Errorf("%d bytes, limit %d", len(got), safetext.MaxLine)
	}
	if !strings.HasSuffix(got, `\x1b… (67108864 bytes)`) {
		t.Errorf("it ends in %q", got[len(got)-40:])
	}
	if allocated := testing.AllocsPerRun(10, func() { safetext.Bytes(huge) }); allocated > 5 {
		t.Errorf("%.0f allocations", allocated)
	}
	lines := safetext.Lines(strings.Repeat("at a.B\n", 1<<20)).String()
	if len(lines) > safetext.MaxLines || !strings.HasSuffix(lines, "… (7340032 bytes)") {
		t.Errorf("%d bytes, ending in %q", len(lines), lines[len(lines)-40:])
	}
	exact := strings.Repeat("x", safetext.MaxLine)
	if safetext.Of(exact).String() != exact {
		t.Error("a text of exactly the limit was cut")
	}
	if got := safetext.Of(exact + "x").String(); !strings.HasSuffix(got, "x… (4097 bytes)") {
		t.Errorf("one byte more ends in %q", got[len(got)-20:])
	}
}

func TestTruncate(t *testing.T) {
	path := "s3://flink-state/checkpoints/4f3c/chk-42"
	tests := map[string]struct {
		in          string
		w           int
		end, middle string
	}{
		"it fits":                     {"orders", 6, "orders", "orders"},
		"a path":                      {path, 20, "s3://flink-state/ch…", "s3://flin…f3c/chk-42"},
		"no room":                     {"orders", 0, "", ""},
		"less than no room":           {"orders", -3, "", ""},
		"room for the sign":           {"orders", 1, "…", "…"},
		"a wide character on the cut": {"注文注文", 4, "注…", "…文"},
		"wide characters that fit":    {"注文", 4, "注文", "注文"},
		"an escape is cut like text":  {"\x1b[2J", 4, `\x1…`, `\…2J`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			text := safetext.Of(tt.in)
			if got := text.Truncate(tt.w).String(); got != tt.end {
				t.Errorf("end: %q, want %q", got, tt.end)
			}
			if got := text.TruncateMiddle(tt.w).String(); got != tt.middle {
				t.Errorf("middle: %q, want %q", got, tt.middle)
			}
		})
	}
}

func TestEveryLineIsCutOnItsOwn(t *testing.T) {
	text := safetext.Lines("at org.apache.Flink\nok\n注文注文")
	if got, want := text.Truncate(5).String(), "at o…\nok\n注文…"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := text.Width(); got != 19 {
		t.Errorf("width %d, want that of the widest line, 19", got)
	}
}

func TestTextInLogsAndJSON(t *testing.T) {
	var out bytes.Buffer
	log := slog.New(slog.NewTextHandler(&out, nil))
	log.Info("opened", "topic", safetext.Of("a\x1b[2Jb"))
	if got := out.String(); !strings.Contains(got, `topic=a\x1b[2Jb`) {
		t.Errorf("log line %q", got)
	}
	got, err := json.Marshal(map[string]safetext.Text{"t": safetext.Of("a\u202e")})
	if err != nil || string(got) != `{"t":"a\\u202e"}` {
		t.Errorf("JSON %s, error %v", got, err)
	}
}

func TestErrorAndSprintf(t *testing.T) {
	if got := safetext.Error(errors.New("broker said \x1b[31mno")).String(); got != `broker said \x1b[31mno` {
		t.Errorf("Error: %q", got)
	}
	if !safetext.Error(nil).IsEmpty() {
		t.Error("the text of no error is not empty")
	}
	if got := safetext.Sprintf("topic %s partition %d", "a\nb", 3).String(); got != `topic a\nb partition 3` {
		t.Errorf("Sprintf: %q", got)
	}
}

// forbidden lists what must never reach a terminal by its own numbers, apart
// from the tables that the package uses.
func forbidden(r rune) bool {
	switch {
	case r < 0x20, r >= 0x7f && r <= 0x9f, r == 0x61c, r == 0xad,
		r >= 0x200b && r <= 0x200f, r >= 0x2028 && r <= 0x202e,
		r >= 0x2060 && r <= 0x206f, r == 0xfeff, r >= 0xfe00 && r <= 0xfe0f,
		r >= 0xe0000 && r <= 0xe0fff, r >= 0xd800 && r <= 0xdfff:
		return true
	}
	return false
}

func check(t interface {
	Helper()
	Fatalf(string, ...any)
}, in []byte) {
	t.Helper()
	line := safetext.Bytes(in)
	if other := safetext.Of(string(in)); other != line {
		t.Fatalf("Bytes %q and Of %q differ", line, other)
	}
	for name, text := range map[string]safetext.Text{"line": line, "lines": safetext.Lines(string(in))} {
		if !utf8.ValidString(text.String()) {
			t.Fatalf("%s: %q is not UTF-8", name, text)
		}
		for _, r := range text.String() {
			if forbidden(r) && !(r == '\n' && name == "lines") {
				t.Fatalf("%s: %U in %q, made from %q", name, r, text, in)
			}
		}
		for _, w := range []int{0, 1, 2, 3, 7, 20} {
			end, middle := text.Truncate(w), text.TruncateMiddle(w)
			if end.Width() > w || middle.Width() > w {
				t.Fatalf("%s: cut to %d cells it is %q (%d) and %q (%d)", name, w, end, end.Width(), middle, middle.Width())
			}
		}
	}
	if again := safetext.Of(line.String()); again != line {
		t.Fatalf("not idempotent: %q became %q", line, again)
	}
	lines := safetext.Lines(string(in))
	if again := safetext.Lines(lines.String()); again != lines {
		t.Fatalf("lines not idempotent: %q became %q", lines, again)
	}
	if ansi.Strip(line.String()) != line.String() {
		t.Fatalf("a terminal would see a sequence in %q", line)
	}
}

func TestNothingForbiddenComesOut(t *testing.T) {
	awkward := rapid.SampledFrom([]string{
		"\x1b", "\x9b", "\u009b", "\u202e", "\u200d", "\ufe0f", "\u0301", "\n", "\t", "\xff", "\xe2\x80",
		"注", "👩", "🇩", "ह", "्", "\U000e0041", "\u2028", "a", " ", `\`, "ᄀ", "ᅡ", "\u0600",
	})
	rapid.Check(t, func(t *rapid.T) {
		mixed := strings.Join(rapid.SliceOf(awkward).Draw(t, "awkward"), "")
		check(t, []byte(mixed))
		check(t, append([]byte(mixed), rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")...))
		check(t, []byte(rapid.String().Draw(t, "text")))
	})
}

func TestLongTextsHoldTheSameRules(t *testing.T) {
	for _, unit := range []string{"\x1b", "注", "e\u0301", "\u202e", "x", "\n", "\xff"} {
		for _, n := range []int{safetext.MaxLine - 1, safetext.MaxLine, safetext.MaxLine + 1, safetext.MaxLines + 1} {
			check(t, []byte(strings.Repeat(unit, n/len(unit)+1)))
		}
	}
}

func TestPrintableASCIIIsUnchanged(t *testing.T) {
	ascii := rapid.StringOf(rapid.RuneFrom(nil, &unicode.RangeTable{R16: []unicode.Range16{{Lo: 0x20, Hi: 0x7e, Stride: 1}}, LatinOffset: 1}))
	rapid.Check(t, func(t *rapid.T) {
		s := ascii.Draw(t, "ascii")
		if got := safetext.Of(s).String(); len(s) <= safetext.MaxLine && got != s {
			t.Fatalf("%q became %q", s, got)
		}
	})
}

func FuzzText(f *testing.F) {
	for _, seed := range []string{"orders", "\x1b]11;?\a", "\x9b2J", "a\u202eb", "e\u0301\u0301", "注文\ufe0f", "\xff\xfe", "🇩🇪", "ह\u094dद"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) { check(t, in) })
}

func BenchmarkOfPlainName(b *testing.B) {
	for b.Loop() {
		safetext.Of("s3://flink-state/checkpoints/4f3c/chk-42")
	}
}
