package kafkaconn

import (
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"github.com/recoverctl/recoverctl/internal/secret"
)

// The example of RFC 7519, section 3.1, and tokens around it.
func TestWhenATokenExpires(t *testing.T) {
	payload := func(claims string) string { return "x." + base64.RawURLEncoding.EncodeToString([]byte(claims)) + ".y" }
	tests := map[string]struct {
		token string
		want  int64 // seconds; 0: it does not say
	}{
		"the example of the RFC": {
			"eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9" +
				".eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ" +
				".dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk", 1300819380,
		},
		"with padding":            {"x." + base64.URLEncoding.EncodeToString([]byte(`{"exp":1300819380}`)), 1300819380},
		"with part of a second":   {payload(`{"exp":1300819380.75}`), 1300819380},
		"another kind of token":   {"opaque", 0},
		"opaque with a dot":       {"ya29.a0AfH6SMB", 0},
		"without an end":          {payload(`{"sub":"ops"}`), 0},
		"an end in words":         {payload(`{"exp":"tomorrow"}`), 0},
		"an end before time":      {payload(`{"exp":-5}`), 0},
		"an end after all years":  {payload(`{"exp":1e18}`), 0},
		"an end beyond a float64": {payload(`{"exp":1e999}`), 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var want time.Time
			if tt.want != 0 {
				want = time.Unix(tt.want, 0)
			}
			if got := tokenExpiry(tt.token); !got.Equal(want) {
				t.Errorf("%s, want %s", got, want)
			}
		})
	}
}

// Whatever a source gives as a token, no sentence about it fails, and a login
// has only the fields that it should have.
func FuzzBearerToken(f *testing.F) {
	for _, seed := range []string{"a", "a.b.c", "==", "a b", "x\x01auth=y", "eyJhbGciOiJub25lIn0.eyJleHAiOjEzMDA4MTkzODB9.", "x.e30"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if expires := tokenExpiry(text); !expires.IsZero() && (expires.UTC().Year() < 1970 || expires.UTC().Year() > 9999) {
			t.Errorf("%q expires in the year %d", text, expires.Year())
		}
		token, err := bearerToken(Secrets{Password: secret.New(text)})
		if err == nil && (token != text || strings.ContainsAny(token, "\x00\x01\n\r ,\"")) {
			t.Errorf("%q became the token %q", text, token)
		}
	})
}

// Whatever a credential process prints, a key that is used has an id that fits
// into a signature's scope, and a secret.
func FuzzAccessKey(f *testing.F) {
	for _, seed := range []string{
		"", "hunter2", "{}", `{"Version":1}`, `{"Version":1,"AccessKeyId":"A/B","SecretAccessKey":"s"}`,
		`{"Version":1,"AccessKeyId":"ASIA","SecretAccessKey":"s","SessionToken":"t","Expiration":"2040-01-01T00:00:00+00:00"}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, printed string) {
		if printed == "" {
			return // then AWS's variables are asked
		}
		key, err := (&SASL{Mechanism: "aws-msk-iam"}).accessKey(Secrets{Password: secret.New(printed)})
		if err == nil && (key.id == "" || key.secret.IsEmpty() || strings.ContainsFunc(key.id, func(r rune) bool { return !isWordLetter(r) })) {
			t.Errorf("%q became a key with the id %q", printed, key.id)
		}
	})
}
