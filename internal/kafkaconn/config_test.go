package kafkaconn_test

import (
	"context"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/kafkaconn"
	"github.com/recoverctl/recoverctl/internal/secret"
)

// A profile that can't work is refused before anything is connected to, with
// the key that must change.
func TestAProfileThatCannotWorkIsRefusedWithItsKey(t *testing.T) {
	good := []string{"127.0.0.1:1"}
	certPEM, keyPEM := selfSigned(t, time.Now().Add(-48*time.Hour), time.Now().Add(-time.Hour))
	cert, key := write(t, "old.pem", certPEM), write(t, "old.key", keyPEM)
	tomorrow, tomorrowKey := selfSigned(t, time.Now().Add(24*time.Hour), time.Now().Add(48*time.Hour))
	early, earlyKey := write(t, "early.pem", tomorrow), write(t, "early.key", tomorrowKey)
	absent := filepath.Join(t.TempDir(), "absent.pem")
	sasl := func(mechanism, user, password string) *kafkaconn.SASL {
		return &kafkaconn.SASL{Mechanism: mechanism, Username: user, Password: secret.New(password)}
	}
	tests := map[string]struct {
		config  kafkaconn.Config
		message string
	}{
		"no brokers":                   {kafkaconn.Config{}, "kafka.brokers names no broker"},
		"an empty broker":              {kafkaconn.Config{Brokers: []string{" "}}, `kafka.brokers: "" is not host:port: it is empty`},
		"a broker with a protocol":     {kafkaconn.Config{Brokers: []string{"SASL_SSL://k1:9092"}}, "leave out what stands before"},
		"two brokers in one":           {kafkaconn.Config{Brokers: []string{"k1:9092,k2:9092"}}, "more than one broker"},
		"a port that is none":          {kafkaconn.Config{Brokers: []string{"k1:kafka"}}, "the port must be a number from 1 to 65535"},
		"port zero":                    {kafkaconn.Config{Brokers: []string{"k1:0"}}, "the port must be a number from 1 to 65535"},
		"no host":                      {kafkaconn.Config{Brokers: []string{":9092"}}, "the host is missing"},
		"a broker with an escape":      {kafkaconn.Config{Brokers: []string{"k1\x1b[2J:x"}}, `k1\x1b[2J:x`},
		"a negative timeout":           {kafkaconn.Config{Brokers: good, DialTimeout: -1}, "kafka.timeouts"},
		"a CA file that is absent":     {kafkaconn.Config{Brokers: good, TLS: &kafkaconn.TLS{CAFile: absent}}, "kafka.tls.ca-file: the file " + absent + " can't be read"},
		"a CA file without PEM":        {kafkaconn.Config{Brokers: good, TLS: &kafkaconn.TLS{CAFile: key}}, "holds no PEM certificate"},
		"a certificate without key":    {kafkaconn.Config{Brokers: good, TLS: &kafkaconn.TLS{CertFile: cert}}, "cert-file and key-file must be given together"},
		"a key of another certificate": {kafkaconn.Config{Brokers: good, TLS: &kafkaconn.TLS{CertFile: early, KeyFile: key}}, "are not a certificate and its key"},
		"an expired certificate":       {kafkaconn.Config{Brokers: good, TLS: &kafkaconn.TLS{CertFile: cert, KeyFile: key}}, "expired on " + time.Now().Add(-time.Hour).UTC().Format("2006-01-02")},
		"a certificate of tomorrow":    {kafkaconn.Config{Brokers: good, TLS: &kafkaconn.TLS{CertFile: early, KeyFile: earlyKey}}, "is not valid before"},
		"no mechanism":                 {kafkaconn.Config{Brokers: good, SASL: sasl("", "u", "p")}, "kafka.sasl has no mechanism"},
		"an unknown mechanism":         {kafkaconn.Config{Brokers: good, SASL: sasl("GSSAPI", "u", "p")}, `kafka.sasl.mechanism "GSSAPI" is not known`},
		"a user beside a token":        {kafkaconn.Config{Brokers: good, SASL: sasl("OAuthBearer", "u", "p")}, "kafka.sasl.username has no meaning for oauthbearer"},
		"no token":                     {kafkaconn.Config{Brokers: good, SASL: sasl("oauthbearer", "", "")}, "kafka.sasl.password is empty: it must give the token"},
		"a token in JSON":              {kafkaconn.Config{Brokers: good, SASL: sasl("oauthbearer", "", `{"access_token":"hunter2"}`)}, "what kafka.sasl.password gives is not a bearer token"},
		"a token that ends its field":  {kafkaconn.Config{Brokers: good, SASL: sasl("oauthbearer", "", "hunter2\x01auth=x")}, "what kafka.sasl.password gives is not a bearer token"},
		"a token of padding alone":     {kafkaconn.Config{Brokers: good, SASL: sasl("oauthbearer", "", "==")}, "what kafka.sasl.password gives is not a bearer token"},
		"IAM without TLS":              {kafkaconn.Config{Brokers: good, SASL: sasl("AWS_MSK_IAM", "AKIA", "hunter2")}, "aws-msk-iam needs TLS, and the profile has no kafka.tls"},
		"an access key without secret": {kafkaconn.Config{Brokers: good, TLS: &kafkaconn.TLS{}, SASL: sasl("aws-msk-iam", "AKIA", "")}, "kafka.sasl.password is empty"},
		"an access key with a slash":   {kafkaconn.Config{Brokers: good, TLS: &kafkaconn.TLS{}, SASL: sasl("aws-msk-iam", "hunter2/x", "hunter2")}, "kafka.sasl.username is not the id of an access key"},
		"a secret key without its id":  {kafkaconn.Config{Brokers: good, TLS: &kafkaconn.TLS{}, SASL: sasl("aws-msk-iam", "", "hunter2")}, "the password is not what an AWS credential process prints"},
		"an old credential process":    {kafkaconn.Config{Brokers: good, TLS: &kafkaconn.TLS{}, SASL: sasl("aws-msk-iam", "", `{"Version":2,"AccessKeyId":"A","SecretAccessKey":"hunter2"}`)}, "the password is not what an AWS credential process prints"},
		"a process without a key":      {kafkaconn.Config{Brokers: good, TLS: &kafkaconn.TLS{}, SASL: sasl("aws-msk-iam", "", `{"Version":1,"SecretAccessKey":"hunter2"}`)}, "AccessKeyId in what kafka.sasl.password gives is empty"},
		"a process without a secret":   {kafkaconn.Config{Brokers: good, TLS: &kafkaconn.TLS{}, SASL: sasl("aws-msk-iam", "", `{"Version":1,"AccessKeyId":"A"}`)}, "SecretAccessKey in what kafka.sasl.password gives is empty"},
		"no user":                      {kafkaconn.Config{Brokers: good, SASL: sasl("plain", "", "p")}, "kafka.sasl.username is empty"},
		"no password":                  {kafkaconn.Config{Brokers: good, SASL: sasl("plain", "u", "")}, "kafka.sasl.password is empty"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := kafkaconn.Open(t.Context(), tt.config)
			f := wantFault(t, err, fault.Config, tt.message, "")
			if strings.Contains(f.Error()+f.Hint, "hunter2") {
				t.Errorf("the secret is in %q", f)
			}
		})
	}
}

// What can be read as a broker's address is dialled as host:port.
func TestBrokerAddresses(t *testing.T) {
	tests := map[string]string{
		"k1":                "k1:9092",
		"k1:19092":          "k1:19092",
		" k1:9092 ":         "k1:9092",
		"10.0.0.7":          "10.0.0.7:9092",
		"[2001:db8::1]:909": "[2001:db8::1]:909",
		"[2001:db8::1]":     "[2001:db8::1]:9092",
		"2001:db8::1":       "[2001:db8::1]:9092",
	}
	for text, want := range tests {
		t.Run(text, func(t *testing.T) {
			_, err := kafkaconn.Open(t.Context(), kafkaconn.Config{Brokers: []string{text, text}, DialTimeout: time.Second},
				kafkaconn.WithDial(refuse))
			f := wantFault(t, err, fault.Unreachable, "broker "+want+" refused", "")
			if len(f.Refs) != 1 {
				t.Errorf("a broker that is named twice was tried twice: %q", f.Refs)
			}
		})
	}
}

// A mechanism is accepted in any case: the login is only tried once the broker
// answers, so that a broker that refuses is the proof.
func TestMechanismsInAnyCase(t *testing.T) {
	for _, name := range []string{"plain", "PLAIN", "scram-sha-256", "SCRAM-SHA-512", "Scram_Sha_512"} {
		t.Run(name, func(t *testing.T) {
			_, err := kafkaconn.Open(t.Context(), kafkaconn.Config{
				Brokers: []string{"k1"}, SASL: &kafkaconn.SASL{Mechanism: name, Username: "u", Password: secret.New("p")},
			}, kafkaconn.WithDial(refuse))
			if fault.KindOf(err) != fault.Unreachable || !strings.Contains(err.Error(), "refused") {
				t.Errorf("got %v, want the refused connection", err)
			}
		})
	}
}

func FuzzBrokerAddress(f *testing.F) {
	for _, seed := range []string{"k1", "k1:9092", "[::1]:1", "::1", "a:b:c", "PLAINTEXT://x:1", "\x1b]0;x\a:9", ":", "[", "]:1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		_, err := kafkaconn.Open(t.Context(), kafkaconn.Config{Brokers: []string{text}, DialTimeout: time.Second}, kafkaconn.WithDial(
			func(ctx context.Context, network, addr string) (net.Conn, error) {
				if _, _, err := net.SplitHostPort(addr); err != nil {
					t.Errorf("%q was dialled as %q", text, addr)
				}
				return refuse(ctx, network, addr)
			}))
		if kind := fault.KindOf(err); kind != fault.Config && kind != fault.Unreachable {
			t.Errorf("%q: kind %s: %v", text, kind, err)
		}
		wantFault(t, err, fault.KindOf(err), "", "")
	})
}
