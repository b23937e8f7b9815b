package kafkaconn

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"time"

	"github.com/recoverctl/recoverctl/internal/fault"
)

// bearerToken is the token among the secrets. A token has the letters of RFC
// 6750, section 2.1: another one, such as a line end or the byte 1 that ends a
// field of the login, would change what the login says.
func bearerToken(secrets Secrets) (string, error) {
	token := secrets.Password.Reveal()
	if token == "" {
		return "", fault.New(fault.Config, opConnect, "kafka.sasl.password is empty: it must give the token for oauthbearer")
	}
	letters := strings.TrimRight(token, "=")
	if letters == "" || strings.ContainsFunc(letters, func(r rune) bool {
		return !isWordLetter(r) && !strings.ContainsRune("-.~+/", r)
	}) {
		return "", fault.New(fault.Config, opConnect, "what kafka.sasl.password gives is not a bearer token: it holds characters that no token has").
			WithHint("kafka.sasl.password must give the token alone, without quotes, blanks or JSON around it")
	}
	return token, nil
}

// isWordLetter reports whether r is an ASCII letter, a digit or an underscore.
func isWordLetter(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_'
}

// latestTime is the last second of the year 9999: later ones have no place in
// RFC 3339.
const latestTime = 253402300799

// tokenExpiry is when a token expires by its own words: the claim exp of a JSON
// Web Token (RFC 7519, section 4.1.4), in seconds since 1970. It is zero where
// the token is of another kind or does not say. Nothing is decided by it, it
// only explains a refusal; the broker is the judge.
func tokenExpiry(token string) time.Time {
	parts := strings.Split(token, ".")
	if len(parts) < 2 {
		return time.Time{}
	}
	payload, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(parts[1], "="))
	if err != nil {
		return time.Time{}
	}
	var claims struct {
		Exp float64 `json:"exp"`
	}
	if json.Unmarshal(payload, &claims) != nil || claims.Exp < 1 || claims.Exp > latestTime {
		return time.Time{}
	}
	return time.Unix(int64(claims.Exp), 0)
}
