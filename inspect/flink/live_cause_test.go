package flink

import (
	"strings"
	"testing"

	"github.com/recoverctl/recoverctl/inspect"
)

func TestRootCause(t *testing.T) {
	const frames = "\tat a.B.c(B.java:1)\n\tat java.base/java.lang.Thread.run(Thread.java:840)\n"
	tests := map[string]struct {
		trace string
		want  inspect.RootCause
	}{
		"no cause":               {"java.io.IOException: disk full\n" + frames, inspect.RootCause{Type: "java.io.IOException", Message: "disk full"}},
		"no message":             {"java.lang.NullPointerException\n" + frames, inspect.RootCause{Type: "java.lang.NullPointerException"}},
		"a message with a colon": {"a.B: c: d: e", inspect.RootCause{Type: "a.B", Message: "c: d: e"}},
		"the last of three": {"a.Outer: o\n" + frames + "Caused by: a.Middle: m\n" + frames + "\t... 3 more\nCaused by: a.Root: r\n\t... 17 more\n",
			inspect.RootCause{Type: "a.Root", Message: "r", Outer: "a.Outer: o"}},
		"a suppressed exception's cause is not the root": {"a.Outer: o\n" + frames + "\tSuppressed: a.Close: c\n\t\tat a.B.c(B.java:1)\n\tCaused by: a.Wrong: w\n\t\t... 3 more\nCaused by: a.Root: r\n" + frames +
			"\tSuppressed: a.Late: l\n\tCaused by: a.Later: l\n", inspect.RootCause{Type: "a.Root", Message: "r", Outer: "a.Outer: o"}},
		"a message over lines": {"a.Outer: first\nsecond\n" + frames + "Caused by: a.Root: Traceback:\n  File \"x.py\", line 3\nValueError: bad\n" + frames,
			inspect.RootCause{Type: "a.Root", Message: "Traceback:\n  File \"x.py\", line 3\nValueError: bad", Outer: "a.Outer: first\nsecond"}},
		"carried by Flink": {"a.Outer: o\nCaused by: org.apache.flink.util.SerializedThrowable: org.apache.flink.util.SerializedThrowable: java.io.IOException: gone\n" + frames,
			inspect.RootCause{Type: "java.io.IOException", Message: "gone", Outer: "a.Outer: o"}},
		"carried by Flink, a message alone": {"org.apache.flink.util.SerializedThrowable: went: wrong", inspect.RootCause{Type: "org.apache.flink.util.SerializedThrowable", Message: "went: wrong"}},
		"a circle":                          {"a.Outer: o\n" + frames + "Caused by: a.Root: r\n" + frames + "Caused by: [CIRCULAR REFERENCE: a.Outer: o]\n", inspect.RootCause{Type: "a.Root", Message: "r", Outer: "a.Outer: o"}},
		"no class":                          {"the TaskManager was lost: tm-1", inspect.RootCause{Message: "the TaskManager was lost: tm-1"}},
		"a nested class":                    {"a.B$C_1: x", inspect.RootCause{Type: "a.B$C_1", Message: "x"}},
		"carriage returns":                  {"a.B: x\r\n\tat a.B.c(B.java:1)\r\n", inspect.RootCause{Type: "a.B", Message: "x"}},
		"nothing":                           {"", inspect.RootCause{}},
		"an empty cause":                    {"a.B: x\nCaused by: ", inspect.RootCause{Type: "", Message: "", Outer: "a.B: x"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := rootCause(tt.trace); got != tt.want {
				t.Errorf("got  %+v\nwant %+v", got, tt.want)
			}
		})
	}
}

// However a trace looks, its root's words are words of the trace.
func FuzzRootCause(f *testing.F) {
	f.Add("java.io.IOException: disk full\n\tat a.B.c(B.java:1)\nCaused by: a.Root: r\n\t... 17 more\n")
	f.Add("Caused by: Caused by: \n\tat \n\tSuppressed: x")
	f.Add("org.apache.flink.util.SerializedThrowable: org.apache.flink.util.SerializedThrowable: a.B: c")
	f.Add("a.B\r\n\r\nCaused by: [CIRCULAR REFERENCE")
	f.Fuzz(func(t *testing.T, trace string) {
		c := rootCause(trace)
		for _, part := range []string{c.Type, c.Message, c.Outer} {
			if !strings.Contains(trace, part) {
				t.Fatalf("%q is not in the trace", part)
			}
		}
		if c.Type != "" && c.Message != "" && !strings.Contains(trace, c.Type+": "+c.Message) {
			t.Fatalf("%q and %q are not together in the trace", c.Type, c.Message)
		}
		if c.Outer != "" && !strings.HasPrefix(trace, c.Outer) {
			t.Fatalf("%q is not the beginning of the trace", c.Outer)
		}
	})
}
