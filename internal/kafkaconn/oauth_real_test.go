//go:build real

package kafkaconn_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/kafkaconn"
	"github.com/recoverctl/recoverctl/internal/secret"
	"github.com/recoverctl/recoverctl/internal/testkit/kafkatest"
)

// unsecured is a JSON Web Token without a signature (RFC 7519, section 6),
// which only a broker for tests believes.
func unsecured(t *testing.T, user string, expires time.Time) string {
	t.Helper()
	part := func(claims map[string]any) string {
		text, err := json.Marshal(claims)
		if err != nil {
			t.Fatal(err)
		}
		return base64.RawURLEncoding.EncodeToString(text)
	}
	return part(map[string]any{"alg": "none"}) + "." + part(map[string]any{
		"sub": user, "iat": expires.Add(-time.Hour).Unix(), "exp": expires.Unix(),
	}) + "."
}

// Tokens as a real broker judges them.
func TestTokensAtARealBroker(t *testing.T) {
	env := kafkatest.RealEnv(t)
	trust := &kafkaconn.TLS{CAFile: filepath.Join(env.Certs, "ca.pem")}
	soon, past := time.Now().Add(10*time.Minute), time.Now().Add(-10*time.Minute)
	token := func(token string) *kafkaconn.SASL {
		return &kafkaconn.SASL{Mechanism: "oauthbearer", Password: secret.New(token)}
	}
	tests := map[string]struct {
		broker  string
		sasl    *kafkaconn.SASL
		kind    fault.Kind // with a message
		message string     // empty: it opens
		hint    string
	}{
		"a good token":    {broker: env.OAuth, sasl: token(unsecured(t, env.User, soon))},
		"an expired one":  {env.OAuth, token(unsecured(t, env.User, past)), fault.Denied, "refused the login with the token, which expired at " + past.UTC().Format(time.RFC3339), "fresh"},
		"one for nobody":  {env.OAuth, token(unsecured(t, "", soon)), fault.Denied, "refused the login with the token", "kafka.sasl.password"},
		"garbage":         {env.OAuth, token("bm90LWEtdG9rZW4"), fault.Denied, "refused the login with the token", "kafka.sasl.password"},
		"opaque garbage":  {env.OAuth, token("ya29.a0/AfH6+~SMB=="), fault.Denied, "refused the login with the token", "kafka.sasl.password"},
		"no login at all": {env.OAuth, nil, fault.Config, "requires a login (it offers oauthbearer), and the profile has no kafka.sasl", "kafka.sasl"},
		"a password where tokens are taken": {
			env.OAuth, &kafkaconn.SASL{Mechanism: "scram-sha-256", Username: env.User, Password: secret.New(env.Password)},
			fault.Config, "does not offer the mechanism SCRAM-SHA-256 (it offers oauthbearer)", "kafka.sasl.mechanism",
		},
		"a token where passwords are taken": {
			env.SASLTLS, token(unsecured(t, env.User, soon)),
			fault.Config, "does not offer the mechanism OAUTHBEARER (it offers ", "kafka.sasl.mechanism",
		},
		"an access key where tokens are taken": {
			env.OAuth, &kafkaconn.SASL{Mechanism: "aws-msk-iam", Username: "AKIAEXAMPLE", Password: secret.New("not-the-password")},
			fault.Config, "does not offer the mechanism AWS_MSK_IAM (it offers oauthbearer)", "kafka.sasl.mechanism",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			conn, err := kafkaconn.Open(t.Context(), kafkaconn.Config{Brokers: []string{tt.broker}, TLS: trust, SASL: tt.sasl, RequestTimeout: 10 * time.Second})
			t.Logf("%v", err)
			if tt.message == "" {
				if err != nil {
					t.Fatal(err)
				}
				defer conn.Close()
				if _, err := conn.Admin().ListTopics(t.Context()); err != nil {
					t.Errorf("the first request failed: %v", err)
				}
				return
			}
			f := wantFault(t, err, tt.kind, tt.message, tt.hint)
			if given := tt.sasl; given != nil && strings.Contains(f.Error()+f.Hint, given.Password.Reveal()) {
				t.Errorf("the secret is in %q", f)
			}
		})
	}
}

// The broker takes the user from the token: an administrator's token sees a
// topic that another user's does not.
func TestATokenNamesItsUser(t *testing.T) {
	env := kafkatest.RealEnv(t)
	admin, err := kafkatest.NewCluster(env.Admin)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(admin.Close)
	topic := admin.Topic(t, 1, nil)
	for user, sees := range map[string]bool{env.AdminUser: true, env.User: false} {
		conn := open(t, kafkaconn.Config{
			Brokers: []string{env.OAuth}, TLS: &kafkaconn.TLS{CAFile: filepath.Join(env.Certs, "ca.pem")},
			SASL: &kafkaconn.SASL{Mechanism: "oauthbearer", Password: secret.New(unsecured(t, user, time.Now().Add(time.Minute)))},
		})
		topics, err := conn.Admin().ListTopics(t.Context())
		if err != nil || topics.Has(topic) != sees {
			t.Errorf("user %s: sees the topic: %t, %v", user, topics.Has(topic), err)
		}
	}
}

// A connection that lives longer than its token logs in again with what the
// source gives then; when that is bad, the next request says so.
func TestATokenIsFetchedAnewForEveryLogin(t *testing.T) {
	env := kafkatest.RealEnv(t)
	path := write(t, "token", []byte(unsecured(t, env.User, time.Now().Add(time.Minute))))
	var fetched atomic.Int32
	source := kafkaconn.SecretsFrom(secret.Source{For: "sasl password", Command: []string{"cat", path}}, secret.Source{}, nil)
	conn := open(t, kafkaconn.Config{
		Brokers: []string{env.OAuth}, TLS: &kafkaconn.TLS{CAFile: filepath.Join(env.Certs, "ca.pem")},
		RequestTimeout: 5 * time.Second,
		SASL: &kafkaconn.SASL{Mechanism: "oauthbearer", Secrets: func(ctx context.Context) (kafkaconn.Secrets, error) {
			fetched.Add(1)
			return source(ctx)
		}},
	})
	ask := func() error {
		_, err := conn.Admin().ListTopics(t.Context())
		return err
	}
	if err := ask(); err != nil {
		t.Fatal(err)
	}
	before := fetched.Load()
	time.Sleep(2100 * time.Millisecond) // the broker's connections.max.reauth.ms is 2 s
	if err := ask(); err != nil || fetched.Load() == before {
		t.Fatalf("%d fetches, then %d: %v", before, fetched.Load(), err)
	}

	past := time.Now().Add(-time.Minute)
	if err := os.WriteFile(path, []byte(unsecured(t, env.User, past)), 0o600); err != nil {
		t.Fatal(err)
	}
	time.Sleep(2100 * time.Millisecond)
	f := conn.Explain(ask(), kafkaconn.DescribeTopic)
	t.Log(f)
	wantFault(t, f, fault.Denied, "it refused the login with the token, which expired at "+past.UTC().Format(time.RFC3339), "fresh")

	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	f = conn.Explain(ask(), kafkaconn.DescribeTopic)
	t.Log(f)
	wantFault(t, f, fault.Config, "sasl password from command cat: the command failed: exit status 1", "")
}
