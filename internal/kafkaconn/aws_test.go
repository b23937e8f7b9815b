package kafkaconn_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/kafkaconn"
	"github.com/recoverctl/recoverctl/internal/secret"
)

// The places that an access key can come from. No AWS was asked: the fake
// broker looks at what is said to it, as a map of JSON, and the signature in it
// is franz-go's business and is checked by nobody here.
func TestAnAccessKeyFromEveryPlace(t *testing.T) {
	broker := newLoginBroker(t, func([]byte) ([]byte, *kerr.Error, string) {
		return []byte(`{"version":"2020_10_22","request-id":"r"}`), nil, ""
	})
	// Brokers of MSK have such names, which say the region; the tunnel leads to
	// the fake one.
	const host = "b-1.orders.abc123.c2.kafka.eu-west-1.amazonaws.com"
	fixed := func(password, session string) kafkaconn.SecretsFunc {
		return func(context.Context) (kafkaconn.Secrets, error) {
			return kafkaconn.Secrets{Password: secret.New(password), SessionToken: secret.New(session)}, nil
		}
	}
	tests := map[string]struct {
		broker  string
		env     map[string]string
		user    string
		secrets kafkaconn.SecretsFunc
		key     string
		region  string
		session string // empty: none is sent
	}{
		"the profile":               {host + ":9098", map[string]string{"AWS_ACCESS_KEY_ID": "AKIAOTHER", "AWS_SESSION_TOKEN": "other"}, "AKIAPROFILE", fixed("hunter2", ""), "AKIAPROFILE", "eu-west-1", ""},
		"the profile, for a while":  {host + ":9098", nil, "ASIAPROFILE", fixed("hunter2", "a/b+c=="), "ASIAPROFILE", "eu-west-1", "a/b+c=="},
		"a credential process":      {host + ":9098", nil, "", fixed(`{"Version":1,"AccessKeyId":"ASIAPROCESS","SecretAccessKey":"hunter2","SessionToken":"s","Expiration":"2040-01-01T00:00:00Z"}`, ""), "ASIAPROCESS", "eu-west-1", "s"},
		"a process without an end":  {host + ":9098", nil, "", fixed(`{"Version":1,"AccessKeyId":"AKIAPROCESS","SecretAccessKey":"hunter2"}`, ""), "AKIAPROCESS", "eu-west-1", ""},
		"the variables":             {host + ":9098", map[string]string{"AWS_ACCESS_KEY_ID": "AKIAENV", "AWS_SECRET_ACCESS_KEY": "hunter2"}, "", nil, "AKIAENV", "eu-west-1", ""},
		"the variables for a while": {host + ":9098", map[string]string{"AWS_ACCESS_KEY_ID": "ASIAENV", "AWS_SECRET_ACCESS_KEY": "hunter2", "AWS_SESSION_TOKEN": "e"}, "", fixed("", ""), "ASIAENV", "eu-west-1", "e"},
		"a region by variable":      {"kafka.internal:9098", map[string]string{"AWS_REGION": "us-east-2"}, "AKIAPROFILE", fixed("hunter2", ""), "AKIAPROFILE", "us-east-2", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			withoutAWS(t)
			for variable, value := range tt.env {
				t.Setenv(variable, value)
			}
			conn, err := kafkaconn.Open(t.Context(), kafkaconn.Config{Brokers: []string{tt.broker}, TLS: broker.tls, SASL: &kafkaconn.SASL{
				Mechanism: "aws-msk-iam", Username: tt.user, Secrets: tt.secrets,
			}}, kafkaconn.WithDial(broker.tunnel))
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			mechanism, said := broker.last()
			if mechanism != "AWS_MSK_IAM" {
				t.Errorf("mechanism %s", mechanism)
			}
			var fields map[string]string
			if err := json.Unmarshal(said, &fields); err != nil {
				t.Fatalf("%q: %v", said, err)
			}
			if strings.Contains(string(said), "hunter2") {
				t.Error("the secret key was sent")
			}
			date, err := time.Parse("20060102T150405Z", fields["x-amz-date"])
			if err != nil || time.Since(date).Abs() > time.Minute {
				t.Errorf("x-amz-date %q", fields["x-amz-date"])
			}
			at, _, _ := strings.Cut(tt.broker, ":")
			want := map[string]string{
				"version": "2020_10_22", "host": at, "user-agent": "recoverctl", "action": "kafka-cluster:Connect",
				"x-amz-algorithm": "AWS4-HMAC-SHA256", "x-amz-expires": "900", "x-amz-signedheaders": "host",
				"x-amz-credential": tt.key + "/" + date.Format("20060102") + "/" + tt.region + "/kafka-cluster/aws4_request",
			}
			if tt.session != "" {
				want["x-amz-security-token"] = tt.session
			}
			for field, value := range want {
				if fields[field] != value {
					t.Errorf("%s is %q, want %q", field, fields[field], value)
				}
			}
			if fields["x-amz-signature"] == "" || len(fields) != len(want)+2 { // and the date
				t.Errorf("the fields are %q", fields)
			}
		})
	}
}

// An access key that can't be used, or that a broker does not like. No AWS was
// asked here either.
func TestAnAccessKeyThatIsOfNoUse(t *testing.T) {
	const good = "b-1.orders.abc123.c2.kafka.eu-west-1.amazonaws.com:9098"
	refuse := func([]byte) ([]byte, *kerr.Error, string) {
		return nil, kerr.SaslAuthenticationFailed, "[1f2e]: Access denied"
	}
	key := secret.New("hunter2")
	tests := map[string]struct {
		broker   string
		decide   judge
		user     string
		password secret.Value
		kind     fault.Kind
		message  string
		hint     string
	}{
		"a broker refuses it": {good, refuse, "AKIAPROFILE", key, fault.Denied, "refused the login with access key AKIAPROFILE", "kafka-cluster:Connect"},
		"a broker refuses an expired one": {
			good, refuse, "", secret.New(`{"Version":1,"AccessKeyId":"ASIAOLD","SecretAccessKey":"hunter2","SessionToken":"s","Expiration":"2025-11-29T10:00:00Z"}`),
			fault.Denied, "refused the login with access key ASIAOLD, which expired at 2025-11-29T10:00:00Z", "give a fresh one",
		},
		"a broker answers nothing": {
			good, func([]byte) ([]byte, *kerr.Error, string) { return nil, nil, "" }, "AKIAPROFILE", key,
			fault.Denied, "gave an answer that does not fit during the login with access key AKIAPROFILE", "the right cluster",
		},
		"there is none": {good, refuse, "", secret.Value{}, fault.Config, "aws-msk-iam has no access key", "export AWS_ACCESS_KEY_ID"},
		"the region is unknown": {
			"kafka.internal:9098", refuse, "AKIAPROFILE", key, fault.Config, "a login to broker kafka.internal:9098 with AWS_MSK_IAM can't be prepared", "AWS_REGION",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			withoutAWS(t)
			broker := newLoginBroker(t, tt.decide)
			_, err := kafkaconn.Open(t.Context(), kafkaconn.Config{Brokers: []string{tt.broker}, TLS: broker.tls, SASL: &kafkaconn.SASL{
				Mechanism: "AWS_MSK_IAM", Username: tt.user, Password: tt.password,
			}}, kafkaconn.WithDial(broker.tunnel))
			f := wantFault(t, err, tt.kind, tt.message, tt.hint)
			if strings.Contains(f.Error()+f.Hint, "hunter2") {
				t.Errorf("the secret key is in %q", f)
			}
		})
	}
	t.Run("half of one is in the variables", func(t *testing.T) {
		withoutAWS(t)
		t.Setenv("AWS_ACCESS_KEY_ID", "AKIAENV")
		_, err := kafkaconn.Open(t.Context(), kafkaconn.Config{Brokers: []string{good}, TLS: &kafkaconn.TLS{}, SASL: &kafkaconn.SASL{Mechanism: "aws-msk-iam"}})
		wantFault(t, err, fault.Config, "AWS_SECRET_ACCESS_KEY is empty", "export")
	})
	t.Run("a session token stands alone", func(t *testing.T) {
		_, err := kafkaconn.Open(t.Context(), kafkaconn.Config{Brokers: []string{good}, TLS: &kafkaconn.TLS{}, SASL: &kafkaconn.SASL{
			Mechanism: "aws-msk-iam", Secrets: func(context.Context) (kafkaconn.Secrets, error) { return kafkaconn.Secrets{SessionToken: key}, nil },
		}})
		wantFault(t, err, fault.Config, "kafka.sasl has a session-token without a username and a password", "kafka.sasl.username")
	})
}

// withoutAWS hides what this machine's own variables say about AWS.
func withoutAWS(t *testing.T) {
	t.Helper()
	for _, name := range []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_REGION", "AWS_DEFAULT_REGION"} {
		t.Setenv(name, "")
	}
}
