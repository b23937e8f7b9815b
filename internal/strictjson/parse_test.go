package strictjson_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/recoverctl/recoverctl/internal/strictjson"
)

// Every verdict here is Jackson's own (jackson-core 2.21, strict duplicate
// detection, trailing tokens refused) for the same text.
func TestVerdictsAreJacksons(t *testing.T) {
	const ok = strictjson.Code("")
	tests := map[string]struct {
		text string
		want strictjson.Code
	}{
		"an object":                            {`{"a":[1,-2.5e+3,true,false,null,"x"],"b":{}}`, ok},
		"white space everywhere":               {" \r\n\t{ \"a\" : [ 1 , 2 ] } \n\n", ok},
		"nothing at all":                       {"", ok},
		"white space only":                     {" \n", ok},
		"escapes of every kind":                {`"\"\\\/\b\f\n\r\tAé"`, ok},
		"a lone high surrogate":                {`"\ud800"`, ok},
		"a lone low surrogate":                 {`"\udc00x"`, ok},
		"minus zero":                           {`[-0]`, ok},
		"an equal name in another object":      {`{"a":{"a":1}}`, ok},
		"a byte order mark":                    {"\ufeff{}", strictjson.Malformed},
		"a no-break space":                     {"\u00a0{}", strictjson.Malformed},
		"a form feed":                          {"\f{}", strictjson.Malformed},
		"a leading zero":                       {`[01]`, strictjson.Malformed},
		"a plus sign":                          {`[+1]`, strictjson.Malformed},
		"a point without digits":               {`[1.]`, strictjson.Malformed},
		"a point without a leading digit":      {`[.5]`, strictjson.Malformed},
		"an exponent without digits":           {`[1e]`, strictjson.Malformed},
		"a minus alone":                        {`[-]`, strictjson.Malformed},
		"a number that runs into a word":       {`[1x]`, strictjson.Malformed},
		"a document number running into text":  {`1x`, strictjson.Malformed},
		"a word that goes on":                  {`[nullx]`, strictjson.Malformed},
		"a document word that goes on":         {`nullé`, strictjson.Malformed},
		"NaN":                                  {`[NaN]`, strictjson.Malformed},
		"a capital True":                       {`[True]`, strictjson.Malformed},
		"single quotes":                        {`{'a':1}`, strictjson.Malformed},
		"a comment":                            {"{/* x */}", strictjson.Malformed},
		"a comma after the last element":       {`[1,]`, strictjson.Malformed},
		"a comma after the last member":        {`{"a":1,}`, strictjson.Malformed},
		"a missing colon":                      {`{"a" 1}`, strictjson.Malformed},
		"a missing comma":                      {`[1 2]`, strictjson.Malformed},
		"a raw line feed in a string":          {"\"a\nb\"", strictjson.Malformed},
		"an unknown escape":                    {`"\x41"`, strictjson.Malformed},
		"a short escape":                       {`"\u12"`, strictjson.Malformed},
		"a truncated document":                 {`{"a":[1`, strictjson.Malformed},
		"a repeated name":                      {`{"a":1,"b":2,"a":1}`, strictjson.DuplicateName},
		"a name repeated through an escape":    {`{"a":1,"\u0061":1}`, strictjson.DuplicateName},
		"a repeated name far inside":           {`[{"x":[{"b":1,"b":2}]}]`, strictjson.DuplicateName},
		"a repeated name before a later fault": {`{"a":1,"a":]`, strictjson.DuplicateName},
		"a word after the document":            {`{} x`, strictjson.TrailingContent},
		"a second document":                    {`{}{}`, strictjson.TrailingContent},
		"a comma after the document":           {`{},`, strictjson.TrailingContent},
		"a zero byte after the document":       {"{}\x00", strictjson.TrailingContent},
		"a zero byte after a document word":    {"null\x00", strictjson.TrailingContent},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := strictjson.Parse([]byte(tt.text))
			if got := code(t, err); got != tt.want {
				t.Errorf("%q: %q (%v), want %q", tt.text, got, err, tt.want)
			}
		})
	}
}

func TestLimitsAreJacksons(t *testing.T) {
	long := func(unit string, n int) string { return strings.Repeat(unit, n) }
	tests := map[string]struct {
		fits, exceeds string
		bound         string
	}{
		"nesting": {
			long("[", 1000) + long("]", 1000), long("[", 1001) + long("]", 1001), "nesting depth"},
		"nesting that never ends": {
			long("[", 1000) + long("]", 1000), long("[", 100_000), "nesting depth"},
		"digits of an integer, the sign not counted": {
			"[-" + long("1", 1000) + "]", "[-" + long("1", 1001) + "]", "Number value length"},
		"digits of a fraction and an exponent together": {
			"[1." + long("1", 500) + "e" + long("1", 499) + "]", "[1." + long("1", 500) + "e" + long("1", 500) + "]", "Number value length"},
		"a name": {
			`{"` + long("é", 50_000) + `":1}`, `{"` + long("é", 50_001) + `":1}`, "Name length"},
		"a name of characters that are two units": {
			`{"` + long("😀", 25_000) + `":1}`, `{"` + long("😀", 25_000) + `x":1}`, "Name length"},
		"a name of escapes": {
			`{"` + long(`\u0041`, 50_000) + `":1}`, `{"` + long(`\u0041`, 50_001) + `":1}`, "Name length"},
		"a string": {
			`"` + long("a", 20_000_000) + `"`, `"` + long("a", 20_000_001) + `"`, "String value length"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if _, err := strictjson.Parse([]byte(tt.fits)); err != nil {
				t.Errorf("at the bound: %v", err)
			}
			_, err := strictjson.Parse([]byte(tt.exceeds))
			var e *strictjson.Error
			if !errors.As(err, &e) || e.Code != strictjson.Limit || e.Name != tt.bound {
				t.Errorf("beyond the bound: %+v, want %s of %s", err, strictjson.Limit, tt.bound)
			}
		})
	}
}

func TestStringsKeepWhatTheyHold(t *testing.T) {
	tests := map[string]struct{ text, want string }{
		"plain":                                   {`"a"`, "a"},
		"escapes":                                 {`"\u0041\n\/\u00e9"`, "A\n/é"},
		"raw characters beyond the BMP":           {`"😀"`, "😀"},
		"a pair of escapes is one character":      {`"\ud83d\ude00"`, "😀"},
		"a lone high surrogate is three bytes":    {`"a\ud800b"`, "a\xed\xa0\x80b"},
		"a lone low surrogate is three bytes":     {`"\udfff"`, "\xed\xbf\xbf"},
		"surrogates in the wrong order stay":      {`"\ude00\ud83d"`, "\xed\xb8\x80\xed\xa0\xbd"},
		"only the nearest two make a pair":        {`"\ud83d\ud83d\ude00"`, "\xed\xa0\xbd😀"},
		"text between keeps them apart":           {`"\ud83dx\ude00"`, "\xed\xa0\xbdx\xed\xb8\x80"},
		"a digit that only Jackson takes for a c": {`"\u00` + "\u0663" + `1"`, "\u00c1"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			v, err := strictjson.Parse([]byte(tt.text))
			if err != nil {
				t.Fatal(err)
			}
			if v.Kind() != strictjson.String || v.Text() != tt.want {
				t.Errorf("%v %q, want %q", v.Kind(), v.Text(), tt.want)
			}
		})
	}
}

func TestNumbersStayTheirText(t *testing.T) {
	tests := map[string]struct {
		text    string
		integer bool
		fits64  bool
		fits32  bool
		value   int64
	}{
		"zero":                    {text: "0", integer: true, fits64: true, fits32: true},
		"minus zero":              {text: "-0", integer: true, fits64: true, fits32: true},
		"the largest int32":       {text: "2147483647", integer: true, fits64: true, fits32: true, value: 1<<31 - 1},
		"past int32":              {text: "2147483648", integer: true, fits64: true, value: 1 << 31},
		"the largest int64":       {text: "9223372036854775807", integer: true, fits64: true, value: 1<<63 - 1},
		"past int64":              {text: "9223372036854775808", integer: true},
		"the smallest int64":      {text: "-9223372036854775808", integer: true, fits64: true, value: -1 << 63},
		"a fraction of zero":      {text: "1.0"},
		"an exponent":             {text: "1e3"},
		"an exponent, upper case": {text: "1E3"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			v, err := strictjson.Parse([]byte(tt.text))
			if err != nil {
				t.Fatal(err)
			}
			n, ok := v.Int64()
			_, ok32 := v.Int32()
			if v.Text() != tt.text || v.IsInteger() != tt.integer || ok != tt.fits64 || ok32 != tt.fits32 || ok && n != tt.value {
				t.Errorf("%q: integer %v, int64 %d %v, int32 %v; want %+v", v.Text(), v.IsInteger(), n, ok, ok32, tt)
			}
		})
	}
}

func TestPositionsAreBytes(t *testing.T) {
	text := `{"é":1, "b":[true,  "x"]}`
	v, err := strictjson.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	b := v.Members()[1]
	for what, at := range map[string]struct {
		pos  int
		text string
	}{
		"second name":  {b.Pos, `"b":[true`},
		"array":        {b.Value.Pos(), `[true,`},
		"last element": {b.Value.Items()[1].Pos(), `"x"]}`},
	} {
		if !strings.HasPrefix(text[at.pos:], at.text) {
			t.Errorf("%s at %d: %q, want %q", what, at.pos, text[at.pos:], at.text)
		}
	}
	_, err = strictjson.Parse([]byte(`{"a":1, "a":2}`))
	var e *strictjson.Error
	if !errors.As(err, &e) || e.Pos != 8 || e.Name != "a" {
		t.Errorf("repeated name: %+v, want name a at byte 8", err)
	}
	_, err = strictjson.Parse([]byte("{\"a\":\"x\xffy\"}"))
	if !errors.As(err, &e) || e.Code != strictjson.NotUTF8 || e.Pos != 7 {
		t.Errorf("invalid byte: %+v, want not-utf8 at byte 7", err)
	}
}

// The expected replacements are those of Java's String(bytes, UTF_8).
func TestReplaceIsJavas(t *testing.T) {
	const r = "\uFFFD"
	tests := map[string]struct{ in, want string }{
		"valid text":                          {"aé😀", "aé😀"},
		"a replacement character of its own":  {r, r},
		"a byte that begins nothing":          {"a\xffb", "a" + r + "b"},
		"two continuation bytes":              {"\x80\x80", r + r},
		"an overlong slash":                   {"\xc0\xaf", r + r},
		"a surrogate in three bytes":          {"x\xed\xa0\x80y", "x" + r + "y"},
		"a surrogate cut short":               {"\xed\xa0", r},
		"a surrogate cut short by text":       {"\xed\xa0A", r + "A"},
		"an overlong three-byte sequence":     {"\xe0\x80\x80", r + r + r},
		"a three-byte sequence cut short":     {"\xe2\x82", r},
		"a three-byte sequence cut by text":   {"\xe2\x82A", r + "A"},
		"a four-byte sequence cut short":      {"\xf0\x9f\x98", r},
		"a four-byte sequence cut by text":    {"\xf0\x9fA", r + "A"},
		"past the last code point":            {"\xf4\x90\x80\x80", r + r + r + r},
		"a byte for longer sequences":         {"\xf8\x88\x80\x80\x80", r + r + r + r + r},
		"a lead byte right before another":    {"\xc3\xc3\xa9", r + "é"},
		"a lead byte as the last one":         {"a\xc3", "a" + r},
		"an overlong four-byte sequence":      {"\xf0\x80\x80\x80", r + r + r + r},
		"a surrogate pair in six bytes":       {"\xed\xa0\xbd\xed\xb8\x80", r + r},
		"a lead byte with a wrong third byte": {"\xe1\x80\xc3\xa9", r + "é"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := string(strictjson.Replace([]byte(tt.in))); got != tt.want {
				t.Errorf("%q: %q, want %q", tt.in, got, tt.want)
			}
		})
	}
}

func TestObjectsAnswerByName(t *testing.T) {
	v, err := strictjson.Parse([]byte(`{"a":1,"b":null}`))
	if err != nil {
		t.Fatal(err)
	}
	if !v.HasExactly("b", "a") || v.HasExactly("a") || v.HasExactly("a", "b", "c") || v.HasExactly("a", "c") {
		t.Error("HasExactly does not compare sets of names")
	}
	if b, ok := v.Get("b"); !ok || b.Kind() != strictjson.Null {
		t.Errorf("b: %v %v", b.Kind(), ok)
	}
	if _, ok := v.Get("c"); ok {
		t.Error("a name that is not there is found")
	}
}

// Beyond a few names a set is used instead of comparisons.
func TestRepeatedNamesInWideObjects(t *testing.T) {
	var b strings.Builder
	for i := range 40 {
		b.WriteString(`"` + strings.Repeat("k", i+1) + `":0,`)
	}
	for i := range 40 {
		text := "{" + b.String() + `"` + strings.Repeat("k", i+1) + `":0}`
		_, err := strictjson.Parse([]byte(text))
		if got := code(t, err); got != strictjson.DuplicateName {
			t.Errorf("name %d repeated: %q", i, got)
		}
	}
	if _, err := strictjson.Parse([]byte("{" + b.String() + `"x":0}`)); err != nil {
		t.Error(err)
	}
}

func code(t *testing.T, err error) strictjson.Code {
	t.Helper()
	if err == nil {
		return ""
	}
	var e *strictjson.Error
	if !errors.As(err, &e) {
		t.Fatalf("an error of type %T", err)
	}
	return e.Code
}
