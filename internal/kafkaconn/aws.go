package kafkaconn

import (
	"encoding/json"
	"os"
	"strings"
	"time"

	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/secret"
)

// The variables that AWS's own tools read, for a profile without a key.
const (
	envAccessKey    = "AWS_ACCESS_KEY_ID"
	envSecretKey    = "AWS_SECRET_ACCESS_KEY" //nolint:gosec // a variable's name
	envSessionToken = "AWS_SESSION_TOKEN"     //nolint:gosec // a variable's name
)

const giveKey = "set kafka.sasl.username and kafka.sasl.password, or kafka.sasl.password alone as {command: [aws, configure, export-credentials]}, or export " +
	envAccessKey + " and " + envSecretKey

// accessKey is an AWS access key.
type accessKey struct {
	id      string
	secret  secret.Value
	session secret.Value // of a temporary key; empty: none
	expires time.Time    // zero: not known
}

// accessKey is the key that the profile gives, and where it gives none the one
// of AWS's variables. An error is a fault.
func (s *SASL) accessKey(secrets Secrets) (accessKey, error) {
	key := accessKey{id: s.Username, secret: secrets.Password, session: secrets.SessionToken}
	idFrom, secretFrom := "kafka.sasl.username", "kafka.sasl.password"
	switch {
	case s.Username == "" && secrets.isEmpty():
		key = accessKey{id: os.Getenv(envAccessKey), secret: secret.New(os.Getenv(envSecretKey)), session: secret.New(os.Getenv(envSessionToken))}
		idFrom, secretFrom = envAccessKey, envSecretKey
		if key.id == "" && key.secret.IsEmpty() {
			return accessKey{}, fault.New(fault.Config, opConnect, "aws-msk-iam has no access key: kafka.sasl gives none, and the variables %s and %s are not set", envAccessKey, envSecretKey).
				WithHint(giveKey)
		}
	case s.Username == "" && !secrets.SessionToken.IsEmpty():
		return accessKey{}, fault.New(fault.Config, opConnect, "kafka.sasl has a session-token without a username and a password").WithHint(giveKey)
	case s.Username == "":
		var ok bool
		if key, ok = processKey(secrets.Password); !ok {
			return accessKey{}, fault.New(fault.Config, opConnect, "kafka.sasl has a password without a username, and the password is not what an AWS credential process prints").
				WithHint("set kafka.sasl.username to the id of the access key, or let kafka.sasl.password give the JSON that \"aws configure export-credentials\" prints")
		}
		idFrom, secretFrom = "AccessKeyId in what kafka.sasl.password gives", "SecretAccessKey in what kafka.sasl.password gives"
	}
	switch {
	case key.id == "":
		return accessKey{}, fault.New(fault.Config, opConnect, "%s is empty", idFrom).WithHint(giveKey)
	case strings.ContainsFunc(key.id, func(r rune) bool { return !isWordLetter(r) }):
		// It may be the secret key in the wrong place, and is not shown.
		return accessKey{}, fault.New(fault.Config, opConnect, "%s is not the id of an access key, which has only letters and digits", idFrom).WithHint(giveKey)
	case key.secret.IsEmpty():
		return accessKey{}, fault.New(fault.Config, opConnect, "%s is empty", secretFrom).WithHint(giveKey)
	}
	return key, nil
}

// processKey reads what an AWS credential process prints, version 1 of that
// format. It reports false where the text is something else.
func processKey(printed secret.Value) (accessKey, bool) {
	var process struct {
		Version         int
		AccessKeyID     string `json:"AccessKeyId"`
		SecretAccessKey string
		SessionToken    string
		Expiration      string
	}
	if json.Unmarshal([]byte(printed.Reveal()), &process) != nil || process.Version != 1 {
		return accessKey{}, false
	}
	key := accessKey{id: process.AccessKeyID, secret: secret.New(process.SecretAccessKey), session: secret.New(process.SessionToken)}
	// The time only explains a refusal, so one that can't be read is none.
	if expires, err := time.Parse(time.RFC3339, process.Expiration); err == nil {
		key.expires = expires
	}
	return key, true
}
