//go:build real

package kafkaconn_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/kafkaconn"
	"github.com/recoverctl/recoverctl/internal/secret"
	"github.com/recoverctl/recoverctl/internal/testkit/kafkatest"
	"github.com/recoverctl/recoverctl/internal/testkit/port"
)

// Every way in that a profile can name, right and wrong, against a real
// broker.
func TestEveryWayIntoARealBroker(t *testing.T) {
	env := kafkatest.RealEnv(t)
	file := func(name string) string { return filepath.Join(env.Certs, name) }
	trust := &kafkaconn.TLS{CAFile: file("ca.pem")}
	client := func(name string) *kafkaconn.TLS {
		return &kafkaconn.TLS{CAFile: file("ca.pem"), CertFile: file(name + ".pem"), KeyFile: file(name + ".key")}
	}
	login := func(mechanism string) *kafkaconn.SASL {
		return &kafkaconn.SASL{Mechanism: mechanism, Username: env.User, Password: secret.New(env.Password)}
	}
	wrong := func(mechanism string) *kafkaconn.SASL {
		return &kafkaconn.SASL{Mechanism: mechanism, Username: env.User, Password: secret.New("not-the-password")}
	}
	tests := map[string]struct {
		broker  string
		tls     *kafkaconn.TLS
		sasl    *kafkaconn.SASL
		kind    fault.Kind // with a message
		message string     // empty: it opens
		hint    string
	}{
		"plain text":                              {broker: env.Plain},
		"TLS with the authority's file":           {broker: env.TLS, tls: trust},
		"TLS with another server name that fits":  {broker: env.TLS, tls: &kafkaconn.TLS{CAFile: file("ca.pem"), ServerName: "localhost"}},
		"TLS with a client certificate":           {broker: env.MTLS, tls: client("client")},
		"a client certificate nobody asks for":    {broker: env.TLS, tls: client("client")},
		"SCRAM-SHA-256 over TLS":                  {broker: env.SASLTLS, tls: trust, sasl: login("scram-sha-256")},
		"SCRAM-SHA-512 over TLS":                  {broker: env.SASLTLS, tls: trust, sasl: login("SCRAM-SHA-512")},
		"PLAIN over TLS":                          {broker: env.SASLTLS, tls: trust, sasl: login("Plain")},
		"SCRAM-SHA-512 over plain text":           {broker: env.SASLPlain, sasl: login("scram-sha-512")},
		"PLAIN over plain text":                   {broker: env.SASLPlain, sasl: login("plain")},
		"TLS to a plain listener":                 {env.Plain, trust, nil, fault.Config, "speaks plain text, but the profile has kafka.tls", "remove kafka.tls"},
		"TLS to a plain listener with login":      {env.SASLPlain, trust, login("plain"), fault.Config, "speaks plain text, but the profile has kafka.tls", "remove kafka.tls"},
		"plain text to a TLS listener":            {env.TLS, nil, nil, fault.Config, "speaks TLS, but the profile has no kafka.tls", "add kafka.tls"},
		"plain text to a client certificate":      {env.MTLS, nil, nil, fault.Config, "speaks TLS, but the profile has no kafka.tls", "add kafka.tls"},
		"plain text to a TLS listener with login": {env.SASLTLS, nil, login("scram-sha-256"), fault.Config, "speaks TLS, but the profile has no kafka.tls", "add kafka.tls"},
		"an authority that is not known":          {env.TLS, &kafkaconn.TLS{}, nil, fault.Config, "an authority that this machine does not know", "kafka.tls.ca-file"},
		"another authority":                       {env.TLS, &kafkaconn.TLS{CAFile: file("other-ca.pem")}, nil, fault.Config, "an authority that this machine does not know", "kafka.tls.ca-file"},
		"another host name":                       {env.TLS, &kafkaconn.TLS{CAFile: file("ca.pem"), ServerName: "kafka.example"}, nil, fault.Config, "is for another host name", "kafka.tls.server-name"},
		"no client certificate":                   {env.MTLS, trust, nil, fault.Config, "requires a client certificate, and the profile has none", "kafka.tls.cert-file"},
		"an expired client certificate":           {env.MTLS, client("expired"), nil, fault.Config, "expired on", "renewed"},
		"a stranger's client certificate":         {env.MTLS, client("stranger"), nil, fault.Denied, "did not accept the client certificate", "kafka.tls.cert-file"},
		"no login over TLS":                       {env.SASLTLS, trust, nil, fault.Config, "requires a login (it offers", "set kafka.sasl"},
		"no login over plain text":                {env.SASLPlain, nil, nil, fault.Config, "requires a login (it offers", "set kafka.sasl"},
		"a login where none is taken":             {env.Plain, nil, login("plain"), fault.Config, "has a listener without login, but the profile has kafka.sasl", "remove kafka.sasl"},
		"a wrong password for SCRAM-SHA-256":      {env.SASLTLS, trust, wrong("scram-sha-256"), fault.Denied, "refused the login of user " + env.User, "kafka.sasl.password"},
		"a wrong password for SCRAM-SHA-512":      {env.SASLTLS, trust, wrong("scram-sha-512"), fault.Denied, "refused the login of user " + env.User, "kafka.sasl.password"},
		"a wrong password for PLAIN":              {env.SASLPlain, nil, wrong("plain"), fault.Denied, "refused the login of user " + env.User, "kafka.sasl.password"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			began := time.Now()
			conn, err := kafkaconn.Open(t.Context(), kafkaconn.Config{
				Brokers: []string{tt.broker}, TLS: tt.tls, SASL: tt.sasl, DialTimeout: time.Minute, RequestTimeout: time.Minute,
			})
			took := time.Since(began)
			t.Logf("%s: %v", took.Round(time.Millisecond), err)
			if took > 30*time.Second {
				t.Errorf("it took %s", took)
			}
			if tt.message != "" {
				wantFault(t, err, tt.kind, tt.message, tt.hint)
				if strings.Contains(err.Error(), "not-the-password") || strings.Contains(err.Error(), env.Password) {
					t.Errorf("a password is in %q", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			if _, err := conn.Admin().ListTopics(t.Context()); err != nil {
				t.Errorf("the first request failed: %v", err)
			}
		})
	}
}

// A broker in the list that is down does not delay the one that answers.
func TestABrokerThatIsDownCostsNothing(t *testing.T) {
	env := kafkatest.RealEnv(t)
	began := time.Now()
	conn, err := kafkaconn.Open(t.Context(), kafkaconn.Config{Brokers: []string{"192.0.2.1:9092", port.Closed(t), env.Plain}, DialTimeout: time.Minute},
		kafkaconn.WithDial(droppedDocumentationNet))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("it took %s", took)
	}
}

// A user without rights learns which right is missing, request by request.
func TestTheMissingRightIsNamed(t *testing.T) {
	env := kafkatest.RealEnv(t)
	admin, err := kafkatest.NewCluster(env.Admin)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(admin.Close)
	topic := admin.Topic(t, 1, nil)
	admin.Put(t, topic, 0, kafkatest.KV("k", "v"))
	conn, err := kafkaconn.Open(t.Context(), kafkaconn.Config{
		Brokers: []string{env.SASLTLS},
		TLS:     &kafkaconn.TLS{CAFile: filepath.Join(env.Certs, "ca.pem")},
		SASL:    &kafkaconn.SASL{Mechanism: "scram-sha-512", Username: env.User, Password: secret.New(env.Password)},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	about := kafkaconn.Partition(topic, 0)

	describe := func() error {
		details, err := conn.Admin().ListTopics(t.Context(), topic)
		if err != nil {
			return err
		}
		return details[topic].Err
	}
	wantFault(t, conn.Explain(describe(), kafkaconn.DescribeTopic, about), fault.Denied, "the right Describe on the topic", "ACL")

	allow(t, admin, env.User, topic, kadm.OpDescribe)
	waitFor(t, func() bool { return describe() == nil })
	offsets, err := conn.Admin().ListEndOffsets(t.Context(), topic)
	if err != nil {
		t.Fatal(err)
	}
	if o, _ := offsets.Lookup(topic, 0); o.Err != nil || o.Offset != 1 {
		t.Errorf("end offset %d, %v", o.Offset, o.Err)
	}

	_, err = conn.Admin().DescribeTopicConfigs(t.Context(), topic)
	wantFault(t, conn.Explain(err, kafkaconn.DescribeConfigs, about), fault.Denied, "the right DescribeConfigs on the topic", "ACL")

	reader, err := conn.NewReader(map[string]map[int32]int64{topic: {0: 0}}, kafkaconn.ReadUncommitted)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	_, err = reader.Poll(t.Context(), 0)
	wantFault(t, err, fault.Denied, "the right Read on the topic", "ACL")

	trimmed, err := conn.Admin().DeleteRecords(t.Context(), kadm.Offsets{topic: {0: {Topic: topic, At: 1}}})
	wantFault(t, conn.Explain(errors.Join(err, trimmed.Error()), kafkaconn.DeleteRecords, about), fault.Denied, "the right Delete on the topic", "ACL")

	allow(t, admin, env.User, topic, kadm.OpRead)
	waitFor(t, func() bool {
		fetches, err := reader.Poll(t.Context(), 0)
		return err == nil && fetches.NumRecords() == 1
	})
}

// How fast a broker's records reach the caller is the scan's business; here it
// is that every one arrives once, in order, to the captured end.
func TestAReaderReadsEveryRecordOnce(t *testing.T) {
	cluster := kafkatest.Real(t)
	readsEveryRecordOnce(t, cluster)
}

func allow(t *testing.T, admin *kafkatest.Cluster, user, topic string, op kadm.ACLOperation) {
	t.Helper()
	acl := kadm.NewACLs().Allow("User:" + user).AllowHosts("*").Topics(topic).Operations(op).ResourcePatternType(kadm.ACLPatternLiteral)
	results, err := admin.Admin().CreateACLs(t.Context(), acl)
	if err != nil {
		t.Fatal(err)
	}
	for _, result := range results {
		if result.Err != nil {
			t.Fatal(result.Err)
		}
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if _, err := admin.Admin().DeleteACLs(ctx, acl); err != nil {
			t.Error(err)
		}
	})
}

func waitFor(t *testing.T, good func() bool) {
	t.Helper()
	for range 200 {
		if good() {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatal("it did not come about within 4 s")
}
