package kafkaconn_test

import (
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/kafkaconn"
	"github.com/recoverctl/recoverctl/internal/safetext"
	"github.com/recoverctl/recoverctl/internal/secret"
)

// judge answers one step of a login: what the broker replies, and the code and
// message of a refusal.
type judge func(said []byte) (reply []byte, refusal *kerr.Error, message string)

// loginBroker is a fake broker with TLS that leaves the judgement about a login
// to the test.
type loginBroker struct {
	addr string
	tls  *kafkaconn.TLS

	lifetime atomic.Int64 // of a login in milliseconds, as clients are told; 0: for ever

	mu        sync.Mutex
	mechanism string // of the last handshake
	said      [][]byte
}

func newLoginBroker(t *testing.T, decide judge) *loginBroker {
	t.Helper()
	certPEM, keyPEM := selfSigned(t, time.Now().Add(-time.Hour), time.Now().Add(time.Hour))
	cert, err := tls.X509KeyPair(certPEM, keyPEM)
	if err != nil {
		t.Fatal(err)
	}
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.TLS(&tls.Config{Certificates: []tls.Certificate{cert}}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Close)
	b := &loginBroker{
		addr: cluster.ListenAddrs()[0],
		tls:  &kafkaconn.TLS{CAFile: write(t, "ca.pem", certPEM), ServerName: "localhost"},
	}
	cluster.ControlKey(int16(kmsg.SASLHandshake), func(req kmsg.Request) (kmsg.Response, error, bool) {
		cluster.KeepControl()
		b.mu.Lock()
		defer b.mu.Unlock()
		b.mechanism = req.(*kmsg.SASLHandshakeRequest).Mechanism
		return req.ResponseKind(), nil, true
	})
	cluster.ControlKey(int16(kmsg.SASLAuthenticate), func(req kmsg.Request) (kmsg.Response, error, bool) {
		cluster.KeepControl()
		said := req.(*kmsg.SASLAuthenticateRequest).SASLAuthBytes
		b.mu.Lock()
		defer b.mu.Unlock()
		b.said = append(b.said, said)
		resp := req.ResponseKind().(*kmsg.SASLAuthenticateResponse)
		reply, refusal, message := decide(said)
		resp.SASLAuthBytes, resp.SessionLifetimeMillis = reply, b.lifetime.Load()
		if refusal != nil {
			resp.ErrorCode, resp.ErrorMessage = refusal.Code, &message
		}
		return resp, nil, true
	})
	return b
}

// last is the last handshake's mechanism and the last thing said after one.
func (b *loginBroker) last() (mechanism string, said []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.said) == 0 {
		return b.mechanism, nil
	}
	return b.mechanism, b.said[len(b.said)-1]
}

// tunnel leads every connection to the broker.
func (b *loginBroker) tunnel(ctx context.Context, network, _ string) (net.Conn, error) {
	return (&net.Dialer{}).DialContext(ctx, network, b.addr)
}

// jwt is a JSON Web Token whose signature nobody checks.
func jwt(claims string) string {
	encode := base64.RawURLEncoding.EncodeToString
	return encode([]byte(`{"alg":"RS256"}`)) + "." + encode([]byte(claims)) + ".c2lnbmF0dXJl"
}

// What is sent is the message of RFC 7628, section 3.1, without a user: the
// token names it.
func TestATokenIsSentAsItIs(t *testing.T) {
	broker := newLoginBroker(t, func([]byte) ([]byte, *kerr.Error, string) { return nil, nil, "" })
	var fetched atomic.Int32
	open(t, kafkaconn.Config{Brokers: []string{broker.addr}, TLS: broker.tls, SASL: &kafkaconn.SASL{
		Mechanism: "oauthbearer", Secrets: func(context.Context) (kafkaconn.Secrets, error) {
			fetched.Add(1)
			return kafkaconn.Secrets{Password: secret.New("abc.DEF_1-~+/==")}, nil
		},
	}})
	if n := fetched.Load(); n != 1 {
		t.Errorf("opening with one login fetched the token %d times", n)
	}
	mechanism, said := broker.last()
	if mechanism != "OAUTHBEARER" || string(said) != "n,,\x01auth=Bearer abc.DEF_1-~+/==\x01\x01" {
		t.Errorf("mechanism %s, said %q", mechanism, said)
	}
}

// A broker refuses a token in two steps: it says why, and once it was heard it
// ends the login.
func TestATokenThatIsRefused(t *testing.T) {
	broker := newLoginBroker(t, func(said []byte) ([]byte, *kerr.Error, string) {
		if string(said) == "\x01" {
			return nil, kerr.SaslAuthenticationFailed, "{\"status\":\"invalid_token\x1b[2J\"}"
		}
		return []byte(`{"status":"invalid_token"}`), nil, ""
	})
	tests := map[string]struct {
		token   string
		message string
		hint    string
	}{
		"an expired one":         {jwt(`{"sub":"ops","exp":1764410400}`), "refused the login with the token, which expired at 2025-11-29T10:00:00Z", "give a fresh one"},
		"one that has time left": {jwt(fmt.Sprintf(`{"exp":%d}`, time.Now().Add(time.Hour).Unix())), "refused the login with the token", "made for this cluster"},
		"an opaque one":          {"opaque", "refused the login with the token", "made for this cluster"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := kafkaconn.Open(t.Context(), kafkaconn.Config{Brokers: []string{broker.addr}, TLS: broker.tls, SASL: &kafkaconn.SASL{
				Mechanism: "oauthbearer", Password: secret.New(tt.token),
			}})
			f := wantFault(t, err, fault.Denied, tt.message, tt.hint)
			if !strings.HasSuffix(f.Message, tt.message) {
				t.Errorf("message %q says more than %q", f.Message, tt.message)
			}
			if !strings.Contains(f.Error(), `{"status":"invalid_token\x1b[2J"}`) {
				t.Errorf("%q lacks the broker's words", f)
			}
			if strings.Contains(f.Error(), tt.token) {
				t.Errorf("the token is in %q", f)
			}
		})
	}
}

// The token of the first login was fetched when opening; later logins fetch
// their own, and say in full when that fails.
func TestEveryLoginFetchesItsToken(t *testing.T) {
	broker := newLoginBroker(t, func([]byte) ([]byte, *kerr.Error, string) { return nil, nil, "" })
	broker.lifetime.Store(1)
	path := write(t, "token", []byte("token-1\n"))
	source := kafkaconn.SecretsFrom(secret.Source{For: "profile orders: sasl password", Command: []string{"cat", path}}, secret.Source{}, nil)
	conn := open(t, kafkaconn.Config{
		Brokers: []string{broker.addr}, TLS: broker.tls, RequestTimeout: 5 * time.Second,
		SASL: &kafkaconn.SASL{Mechanism: "oauthbearer", Secrets: source},
	})
	if err := os.WriteFile(path, []byte("token-2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := conn.Ping(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, said := broker.last(); !strings.Contains(string(said), "Bearer token-2\x01") {
		t.Errorf("the second login said %q", said)
	}

	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	const failed = "profile orders: sasl password from command cat: the command failed: exit status 1"
	wantFault(t, conn.Ping(t.Context()), fault.Config, failed, "run it by hand")
	_, err := conn.Admin().ListTopics(t.Context())
	f := wantFault(t, conn.Explain(err, kafkaconn.DescribeTopic), fault.Config, failed, "run it by hand")
	if strings.Contains(f.Message, "no login") {
		t.Errorf("%q says twice that there is no login", f)
	}
	wantFault(t, conn.Explain(context.DeadlineExceeded, kafkaconn.ListOffsets), fault.Unreachable, "(no login: "+failed, "")

	if err := os.WriteFile(path, []byte("not a token"), 0o600); err != nil {
		t.Fatal(err)
	}
	wantFault(t, conn.Ping(t.Context()), fault.Config, "what kafka.sasl.password gives is not a bearer token", "the token alone")
	wantFault(t, conn.Explain(context.DeadlineExceeded, kafkaconn.ListOffsets), fault.Unreachable, "(no login: what kafka.sasl.password gives is not", "")

	if err := os.WriteFile(path, []byte("token-3"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := conn.Ping(t.Context()); err != nil {
		t.Error(err)
	}
	f = conn.Explain(context.DeadlineExceeded, kafkaconn.ListOffsets)
	if strings.Contains(f.Message, "login") {
		t.Errorf("%q speaks of a failure that is over", f)
	}
}

// A token that takes long is named as what a request waits for.
func TestALoginThatWaitsForItsToken(t *testing.T) {
	broker := newLoginBroker(t, func([]byte) ([]byte, *kerr.Error, string) { return nil, nil, "" })
	broker.lifetime.Store(1)
	var slow atomic.Bool
	conn := open(t, kafkaconn.Config{Brokers: []string{broker.addr}, TLS: broker.tls, RequestTimeout: time.Second, SASL: &kafkaconn.SASL{
		Mechanism: "oauthbearer", Secrets: func(ctx context.Context) (kafkaconn.Secrets, error) {
			if slow.Load() {
				<-ctx.Done()
				return kafkaconn.Secrets{}, ctx.Err()
			}
			return kafkaconn.Secrets{Password: secret.New("token")}, nil
		},
	}})
	slow.Store(true)
	wantFault(t, conn.Ping(t.Context()), fault.Unreachable, "the login still waits for the secrets of kafka.sasl", "")
}

// What can't be fetched is told before any broker is asked.
func TestSecretsThatCannotBeFetchedWhenOpening(t *testing.T) {
	stopped, stop := context.WithCancel(t.Context())
	stop()
	tests := map[string]struct {
		ctx     context.Context
		secrets kafkaconn.SecretsFunc
		kind    fault.Kind
		message string
	}{
		"a command fails": {
			t.Context(), kafkaconn.SecretsFrom(secret.Source{For: "sasl password", Command: []string{"false"}}, secret.Source{}, nil),
			fault.Config, "sasl password from command false: the command failed: exit status 1",
		},
		"the second source fails": {
			t.Context(), kafkaconn.SecretsFrom(secret.Source{Command: []string{"echo", "x"}}, secret.Source{For: "sasl session-token", Env: "NO_SUCH_SECRET"}, nil),
			fault.Config, "sasl session-token from variable NO_SUCH_SECRET: the variable is not set",
		},
		"an error that is no fault": {
			t.Context(), func(context.Context) (kafkaconn.Secrets, error) {
				return kafkaconn.Secrets{}, errors.New("vault\x1b sealed")
			},
			fault.Config, "the secrets of kafka.sasl could not be fetched",
		},
		"somebody said stop": {
			stopped, func(ctx context.Context) (kafkaconn.Secrets, error) { return kafkaconn.Secrets{}, ctx.Err() },
			fault.Cancelled, "stopped before the secrets of kafka.sasl were there",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			for _, mechanism := range []string{"plain", "aws-msk-iam", "oauthbearer"} {
				login := &kafkaconn.SASL{Mechanism: mechanism, Username: "ops", Secrets: tt.secrets}
				if mechanism == "oauthbearer" {
					login.Username = ""
				}
				_, err := kafkaconn.Open(tt.ctx, kafkaconn.Config{Brokers: []string{"k1"}, TLS: &kafkaconn.TLS{}, SASL: login},
					kafkaconn.WithDial(func(context.Context, string, string) (net.Conn, error) {
						t.Error("a broker was asked")
						return nil, io.EOF
					}))
				wantFault(t, err, tt.kind, tt.message, "")
			}
		})
	}
}

// A password that does not expire is fetched once, however many logins there
// are.
func TestAPasswordIsFetchedOnce(t *testing.T) {
	brokers := plainFake(t, kfake.EnableSASL(), kfake.Superuser("SCRAM-SHA-256", "ops", "right"))
	var fetched atomic.Int32
	conn := open(t, kafkaconn.Config{Brokers: brokers, SASL: &kafkaconn.SASL{
		Mechanism: "scram-sha-256", Username: "ops",
		Secrets: func(context.Context) (kafkaconn.Secrets, error) {
			fetched.Add(1)
			return kafkaconn.Secrets{Password: secret.New("right")}, nil
		},
	}})
	another, err := conn.NewClient()
	if err != nil {
		t.Fatal(err)
	}
	defer another.Close()
	if err := another.Ping(t.Context()); err != nil || fetched.Load() != 1 {
		t.Errorf("%d fetches, %v", fetched.Load(), err)
	}
}

// A person is asked once for each secret, also when logins come at once.
func TestAPersonIsAskedOnce(t *testing.T) {
	person := &typist{}
	secrets := kafkaconn.SecretsFrom(secret.Source{For: "a", Prompt: true}, secret.Source{For: "b", Prompt: true}, person)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			got, err := secrets(t.Context())
			if err != nil || got.Password.Reveal() != "typed for a" || got.SessionToken.Reveal() != "typed for b" {
				t.Errorf("%q, %q, %v", got.Password.Reveal(), got.SessionToken.Reveal(), err)
			}
		})
	}
	wg.Wait()
	if n := person.asked.Load(); n != 2 {
		t.Errorf("asked %d times", n)
	}
	none, err := kafkaconn.SecretsFrom(secret.Source{}, secret.Source{}, nil)(t.Context())
	if err != nil || !none.Password.IsEmpty() || !none.SessionToken.IsEmpty() {
		t.Errorf("sources that are not configured: %v", err)
	}
}

type typist struct{ asked atomic.Int32 }

func (p *typist) Prompt(_ context.Context, label safetext.Text) (string, error) {
	p.asked.Add(1)
	return "typed for " + label.String(), nil
}
