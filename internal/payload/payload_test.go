package payload_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"strings"
	"testing"

	"github.com/recoverctl/recoverctl/internal/payload"
)

func TestKinds(t *testing.T) {
	for _, row := range []struct {
		data []byte
		want payload.Kind
	}{
		{nil, payload.Null}, {[]byte{}, payload.Empty}, {[]byte("null"), payload.JSON}, {[]byte(` {"a":1}`), payload.JSON}, {[]byte(`{"a":1}{}`), payload.Text},
		{[]byte("héllo"), payload.Text}, {[]byte("\xff"), payload.Binary},
	} {
		if got := payload.KindOf(row.data); got != row.want {
			t.Errorf("%q is %s, want %s", row.data, got, row.want)
		}
	}
}

// Numbers, escapes, and repeated names stay as they are written.
func TestJSONIsOnlyLaidOut(t *testing.T) {
	doc := `{"a":1.0E-7,"a":[],"b":"\ud83d\ude00\u00e9<","c":{"d":[1,2]}}`
	want := "{\n  \"a\": 1.0E-7,\n  \"a\": [],\n  \"b\": \"\\ud83d\\ude00\\u00e9<\",\n  \"c\": {\n    \"d\": [\n      1,\n      2\n    ]\n  }\n}"
	if got := string(payload.Pretty([]byte(doc))); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	deep := strings.Repeat("[", 5000) + `"[[\"[["` + strings.Repeat("]", 5000)
	if got := payload.Pretty([]byte(deep)); string(got) != deep {
		t.Errorf("a deep document has %d bytes, want it as it is", len(got))
	}
	if got := payload.Pretty([]byte("no json")); string(got) != "no json" {
		t.Errorf("%q", got)
	}
}

// The rows are those of hexdump -C.
func TestRowsOfHexadecimal(t *testing.T) {
	data := []byte("0123456789abcdef\x00\x1b[2J\xff~")
	if payload.HexRows(data) != 2 || payload.HexRows(nil) != 0 {
		t.Fatalf("%d rows", payload.HexRows(data))
	}
	for row, want := range []string{
		"00000000  30 31 32 33 34 35 36 37  38 39 61 62 63 64 65 66  0123456789abcdef",
		"00000010  00 1b 5b 32 4a ff 7e                              ..[2J.~",
	} {
		if got := payload.HexRow(data, row); got != want {
			t.Errorf("%q\nwant\n%q", got, want)
		}
	}
}

func FuzzPretty(f *testing.F) {
	f.Add([]byte(`{"a":[1,{"b":null}]}`))
	f.Add([]byte("[[[[\"]\\\"\"]]]]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		out := payload.Pretty(data)
		var a, b bytes.Buffer
		if json.Compact(&a, data) == nil {
			if err := json.Compact(&b, out); err != nil || !bytes.Equal(a.Bytes(), b.Bytes()) {
				t.Errorf("%q became %q", data, out)
			}
		}
		var hexed strings.Builder
		for row := range payload.HexRows(data) {
			hexed.WriteString(strings.ReplaceAll(payload.HexRow(data, row)[10:59], " ", ""))
		}
		if hexed.String() != hex.EncodeToString(data) {
			t.Errorf("%q is %s", data, hexed.String())
		}
	})
}
