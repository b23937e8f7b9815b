package strictjson_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/recoverctl/recoverctl/internal/strictjson"
)

// The standard library's reader is the second opinion: it takes more (repeated
// names) and never less, except for the escapes of Jackson's own and its bounds.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		`{"schemaVersion":1,"status":"COMMITTED","plan":{"offsets":{"0":10}}}`,
		`{"a":1,"a":2}`, `[1,2`, `"\ud83d\ude00\ud800"`, "\ufeff{}", "{} x", "", " ", "1e3", "-0",
		"\"\xed\xa0\x80\"", `{"a":[[[[]]]]}`, "null\x00", "[" + `"\u0000"]`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		replaced := strictjson.Replace(data)
		if !utf8.Valid(replaced) {
			t.Fatalf("Replace leaves invalid UTF-8: %q", replaced)
		}
		v, err := strictjson.Parse(replaced)
		if err == nil && v.Kind() == strictjson.Missing {
			if strings.Trim(string(replaced), " \t\r\n") != "" {
				t.Fatalf("%q is read as nothing", replaced)
			}
			return
		}
		var e *strictjson.Error
		if err != nil && !errors.As(err, &e) {
			t.Fatalf("an error of type %T", err)
		}
		if err != nil && (e.Pos < 0 || e.Pos > len(replaced)) {
			t.Fatalf("position %d in %d bytes", e.Pos, len(replaced))
		}
		valid := json.Valid(replaced)
		switch {
		case err == nil && !valid && !strings.Contains(string(replaced), `\u`):
			t.Fatalf("%q is accepted", replaced)
		case err == nil && valid:
			var want any
			d := json.NewDecoder(strings.NewReader(string(replaced)))
			d.UseNumber()
			if err := d.Decode(&want); err != nil {
				t.Fatal(err)
			}
			if got := generic(v); !reflect.DeepEqual(got, want) {
				t.Fatalf("%q: %#v, want %#v", replaced, got, want)
			}
		case err != nil && valid && e.Code != strictjson.DuplicateName && e.Code != strictjson.Limit:
			t.Fatalf("%q is refused: %v", replaced, err)
		}
	})
}

// generic is the value as encoding/json would decode it, lone surrogates
// replaced.
func generic(v strictjson.Value) any {
	switch v.Kind() {
	case strictjson.Bool:
		return v.Text() == "true"
	case strictjson.Number:
		return json.Number(v.Text())
	case strictjson.String:
		return string(strictjson.Replace([]byte(v.Text())))
	case strictjson.Array:
		out := make([]any, 0, len(v.Items()))
		for _, item := range v.Items() {
			out = append(out, generic(item))
		}
		return out
	case strictjson.Object:
		out := make(map[string]any, len(v.Members()))
		for _, m := range v.Members() {
			out[string(strictjson.Replace([]byte(m.Name)))] = generic(m.Value)
		}
		return out
	default:
		return nil
	}
}
