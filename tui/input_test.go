package tui

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	tea "github.com/charmbracelet/bubbletea"
)

// read is one read of the keyboard, some time after the one before.
type read struct {
	after time.Duration
	bytes string
}

func filtered(reads []read) string {
	var r replies
	var out strings.Builder
	at := time.Hour
	for _, one := range reads {
		at += one.after
		out.Write(r.filter([]byte(one.bytes), at))
	}
	return out.String()
}

func TestOnlyWhatKeysSendIsTyped(t *testing.T) {
	tests := map[string]struct {
		reads []read
		want  string
	}{
		"letters":                                 {[]read{{0, "jjk"}}, "jjk"},
		"letters of any script":                   {[]read{{0, "заказ 注文"}}, "заказ 注文"},
		"a letter torn apart":                     {[]read{{0, "a\xe6"}, {0, "\xb3\xa8b"}}, "a注b"},
		"arrows and other keys":                   {[]read{{0, "\x1b[A\x1bOB\x1b[5~\x1b[1;5C\x1b[Z"}}, "\x1b[A\x1bOB\x1b[5~\x1b[1;5C\x1b[Z"},
		"an arrow torn apart":                     {[]read{{0, "\x1b["}, {time.Millisecond, "A"}}, "\x1b[A"},
		"the other kind of arrow torn apart":      {[]read{{0, "\x1bO"}, {time.Millisecond, "A"}}, "\x1bOA"},
		"esc alone":                               {[]read{{0, "\x1b"}, {time.Second, "A"}}, "\x1bA"},
		"alt and a letter":                        {[]read{{0, "\x1bx"}}, "\x1bx"},
		"the background's colour":                 {[]read{{0, "j\x1b]11;rgb:1e1e/1e1e/1e1e\x1b\\k"}}, "jk"},
		"the same, ended by BEL":                  {[]read{{0, "\x1b]11;rgb:ffff/ffff/ffff\aA"}}, "A"},
		"the same, in four pieces":                {[]read{{0, "\x1b]11;rg"}, {time.Millisecond, "b:1e1e/1"}, {time.Millisecond, "e1e/1e1e\x1b"}, {time.Millisecond, "\\k"}}, "k"},
		"the same, torn after esc":                {[]read{{0, "\x1b"}, {time.Millisecond, "]11;rgb:1e1e/1e1e/1e1e\x1b\\k"}}, "\x1bk"},
		"a device's answer stays a sequence":      {[]read{{0, "\x1b[?1;2c\x1b[24;80R"}}, "\x1b[?1;2c\x1b[24;80R"},
		"a device's answer torn apart":            {[]read{{0, "\x1b[?6"}, {time.Millisecond, "5;1;9c"}}, "\x1b[?65;1;9c"},
		"a terminal's name and version":           {[]read{{0, "\x1bP>|xterm(395)\x1b\\q"}}, "q"},
		"what a clipboard holds":                  {[]read{{0, "\x1b]52;c;YXBwbHk=\a"}}, ""},
		"a string that never ends":                {[]read{{0, "\x1b]11;rgb"}, {time.Second, "jk"}}, "jk"},
		"ctrl-c in a string":                      {[]read{{0, "\x1b]11;rgb"}, {time.Millisecond, "\x03"}}, "\x03"},
		"a key after a string without its end":    {[]read{{0, "\x1b]11;rgb\x1b[A"}}, "\x1b[A"},
		"a sequence that never ends":              {[]read{{0, "\x1b[12;"}, {time.Second, "jk"}}, "jk"},
		"a sequence that is none":                 {[]read{{0, "\x1b[12\x03"}}, "\x03"},
		"a mouse report":                          {[]read{{0, "\x1b[M !!j"}}, "j"},
		"a mouse report torn apart":               {[]read{{0, "\x1b[M "}, {time.Millisecond, "!!j"}}, "j"},
		"news of the focus":                       {[]read{{0, "\x1b[I\x1b[O"}}, "\x1b[I\x1b[O"},
		"a paste":                                 {[]read{{0, "\x1b[200~a\x1b]b\x1b[201~c"}}, "\x1b[200~a\x1b]b\x1b[201~c"},
		"a paste in pieces":                       {[]read{{0, "\x1b[200~ab"}, {time.Millisecond, "cd\x1b[2"}, {time.Millisecond, "01~e"}}, "\x1b[200~abcd\x1b[201~e"},
		"a paste that never ends":                 {[]read{{0, "\x1b[200~ab"}, {3 * time.Second, "j"}}, "\x1b[200~ab\x1b[201~j"},
		"a paste that is too long is cut":         {[]read{{0, "\x1b[200~" + strings.Repeat("x", maxPaste+5)}, {0, "yy\x1b[201~j"}}, "\x1b[200~" + strings.Repeat("x", maxPaste) + pasteCut + "\x1b[201~j"},
		"a paste that is too long and never ends": {[]read{{0, "\x1b[200~" + strings.Repeat("x", maxPaste+5)}, {3 * time.Second, "j"}}, "\x1b[200~" + strings.Repeat("x", maxPaste) + pasteCut + "\x1b[201~j"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := filtered(tt.reads); got != tt.want {
				t.Errorf("typed %.200q, want %.200q", got, tt.want)
			}
		})
	}
}

// FuzzInput feeds hostile bytes in pieces of any size.
func FuzzInput(f *testing.F) {
	for _, seed := range []string{
		"jjk\x1b[A\x1bOB", "\x1b]11;rgb:1e1e/1e1e/1e1e\x1b\\", "\x1bP>|xterm\x1b\\", "\x1b[200~paste\x1b[201~",
		"\x1b[200~never ends", "\x1b\x1b\x1b", "\x1b[M !!", "\x1b[<0;3;3M", "注文\xe6\xb3", "\x1b]\x1b]\x1b\\\x03",
	} {
		f.Add([]byte(seed), uint8(3), uint16(10))
	}
	f.Fuzz(func(t *testing.T, data []byte, piece uint8, pause uint16) {
		var r replies
		var out []byte
		at := time.Hour
		for rest := data; len(rest) > 0; {
			n := min(int(piece)+1, len(rest))
			room := r.room()
			got := r.filter(rest[:n], at)
			if len(got) > n+room {
				t.Fatalf("%d bytes became %d with room for %d", n, len(got), n+room)
			}
			if len(r.held) > maxHeld {
				t.Fatalf("it holds %d bytes", len(r.held))
			}
			out = append(out, got...)
			rest = rest[n:]
			at += time.Duration(pause) * time.Millisecond
		}
		// A second later it listens again, whatever came before.
		out = append(out, r.filter(nil, at+time.Hour)...)
		if got := r.filter([]byte("j"), at+2*time.Hour); !bytes.HasSuffix(got, []byte("j")) {
			t.Fatalf("after %q it is deaf: %q", data, got)
		}
		if time.Duration(pause)*time.Millisecond < sequencePause && utf8.Valid(data) && !bytes.ContainsRune(data, 0x1b) && !bytes.Equal(out, data) {
			t.Fatalf("%q became %q", data, out)
		}
		// As a string of the terminal's none of it is typed, however it is torn.
		answer := "\x1b]11;" + strings.Map(func(r rune) rune {
			if r < ' ' {
				return -1
			}
			return r
		}, string(data)) + "\x1b\\j"
		var reads []read
		for len(answer) > 0 {
			n := min(int(piece)+1, len(answer))
			reads = append(reads, read{time.Millisecond, answer[:n]})
			answer = answer[n:]
		}
		if typed := strings.TrimPrefix(filtered(reads), "\x1b"); typed != "j" {
			t.Fatalf("of a string with %q is typed %q", data, typed)
		}
	})
}

// However many sizes come, the first and the last of each short time get
// through.
func TestResizesAreHeldTogether(t *testing.T) {
	var passed []int
	now := time.Unix(0, 0)
	sent := make(chan tea.Msg, 10)
	r := &resizes{now: func() time.Time { return now }, send: func(m tea.Msg) { sent <- m }}
	resize := func(width int) {
		if m := r.filter(nil, tea.WindowSizeMsg{Width: width, Height: 24}); m != nil {
			passed = append(passed, m.(tea.WindowSizeMsg).Width)
		}
	}
	now = now.Add(time.Hour)
	for width := 80; width <= 1080; width++ {
		resize(width)
	}
	if m := r.filter(nil, tea.KeyMsg{Type: tea.KeyEnter}); m == nil {
		t.Error("a key was held")
	}
	last := <-sent
	if m := r.filter(nil, last); m == nil {
		t.Error("the last size is held for ever")
	} else {
		passed = append(passed, m.(tea.WindowSizeMsg).Width)
	}
	now = now.Add(time.Hour)
	resize(100)
	if want := []int{80, 1080, 100}; !slices.Equal(passed, want) {
		t.Errorf("passed %v, want %v", passed, want)
	}
	r.stop()
}
