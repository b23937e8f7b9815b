package kafkaconn_test

import (
	"encoding/binary"
	"io"
	"net"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"

	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/kafkaconn"
	"github.com/recoverctl/recoverctl/internal/secret"
)

// A listener says in the handshake which mechanisms it has.
func TestTheMechanismsOfAListenerAreNamed(t *testing.T) {
	login := &kafkaconn.SASL{Mechanism: "plain", Username: "ops", Password: secret.New("right")}
	tests := map[string]struct {
		code    *kerr.Error
		message string
		hint    string
	}{
		"it has others": {
			kerr.UnsupportedSaslMechanism, "does not offer the mechanism PLAIN (it offers gssapi, scram-sha-512)", "kafka.sasl.mechanism",
		},
		"it has none": {
			kerr.IllegalSaslState, "has a listener without login, but the profile has kafka.sasl", "remove kafka.sasl",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			addr := listen(t, shakeHands(tt.code, "GSSAPI", "SCRAM-SHA-512"))
			_, err := kafkaconn.Open(t.Context(), kafkaconn.Config{Brokers: []string{addr}, SASL: login})
			wantFault(t, err, fault.Config, tt.message, tt.hint)
		})
	}
}

// Kfake answers a wrong password by closing the connection, as listeners did
// before Kafka 1.0 and as some still do.
func TestALoginThatEndsInAClosedConnection(t *testing.T) {
	brokers := plainFake(t, kfake.EnableSASL(), kfake.Superuser("SCRAM-SHA-256", "ops", "right"))
	for user, shown := range map[string]string{"ops": "ops", "o\x1b[2Jps": `o\x1b[2Jps`} {
		_, err := kafkaconn.Open(t.Context(), kafkaconn.Config{Brokers: brokers, SASL: &kafkaconn.SASL{
			Mechanism: "scram-sha-256", Username: user, Password: secret.New("wrong"),
		}})
		wantFault(t, err, fault.Denied, "closed the connection during the login of user "+shown, "kafka.sasl.password")
	}
	open(t, kafkaconn.Config{Brokers: brokers, SASL: &kafkaconn.SASL{
		Mechanism: "SCRAM-SHA-256", Username: "ops", Password: secret.New("right"),
	}})
}

// shakeHands is a listener that answers ApiVersions, and a SASL handshake with
// a code and its mechanisms.
func shakeHands(code *kerr.Error, mechanisms ...string) func(net.Conn) {
	return func(conn net.Conn) {
		for {
			head := make([]byte, 12) // length, key, version, correlation id
			if _, err := io.ReadFull(conn, head); err != nil {
				return
			}
			if _, err := io.CopyN(io.Discard, conn, int64(binary.BigEndian.Uint32(head))-8); err != nil {
				return
			}
			resp := kmsg.ResponseForKey(int16(binary.BigEndian.Uint16(head[4:])))
			resp.SetVersion(int16(binary.BigEndian.Uint16(head[6:])))
			if handshake, ok := resp.(*kmsg.SASLHandshakeResponse); ok {
				handshake.ErrorCode, handshake.SupportedMechanisms = code.Code, mechanisms
			}
			answer := resp.AppendTo(append(make([]byte, 4), head[8:]...))
			binary.BigEndian.PutUint32(answer, uint32(len(answer)-4))
			if _, err := conn.Write(answer); err != nil {
				return
			}
		}
	}
}

// A cluster that is older than a request is not unreachable: it is too old.
func TestAClusterThatIsTooOldForARequest(t *testing.T) {
	conn := open(t, kafkaconn.Config{Brokers: plainFake(t, kfake.MaxVersions(kversion.V1_0_0()))})
	_, err := conn.Client().Request(t.Context(), kmsg.NewPtrIncrementalAlterConfigsRequest())
	wantFault(t, conn.Explain(err, kafkaconn.AlterConfigs), fault.Unsupported, "this cluster is too old for the request to change settings", "")
}

// plainFake is kfake as it is, for what has to do with connections alone.
func plainFake(t *testing.T, opts ...kfake.Opt) []string {
	t.Helper()
	cluster, err := kfake.NewCluster(append([]kfake.Opt{kfake.NumBrokers(1)}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Close)
	return cluster.ListenAddrs()
}
