package kafka_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl/plain"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/kafkaconn"
	"github.com/recoverctl/recoverctl/internal/secret"
)

// secured is a cluster with ACLs and a user that has none.
type secured struct {
	admin cluster
	user  string
	as    func(*kafkaconn.Config) // logs the user in
}

func fakeSecured(t *testing.T) secured {
	c := newFake(t, kfake.EnableSASL(), kfake.EnableACLs(),
		kfake.Superuser("PLAIN", "admin", "admin-secret"), kfake.User("PLAIN", "viewer", "viewer-secret"))
	c.login = []kgo.Opt{kgo.SASL(plain.Auth{User: "admin", Pass: "admin-secret"}.AsMechanism())}
	return secured{admin: c, user: "viewer", as: func(config *kafkaconn.Config) {
		config.SASL = &kafkaconn.SASL{Mechanism: "plain", Username: "viewer", Password: secret.New("viewer-secret")}
	}}
}

// allow grants rights on a topic to the user, and waits until the broker knows
// them: what knows says must become true.
func (s secured) allow(t *testing.T, topic string, knows func() bool, rights ...kadm.ACLOperation) {
	t.Helper()
	acl := kadm.NewACLs().Topics(topic).ResourcePatternType(kadm.ACLPatternLiteral).Allow("User:" + s.user).AllowHosts("*").Operations(rights...)
	out, err := s.admin.admin(t).CreateACLs(context.Background(), acl)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range out {
		if r.Err != nil {
			t.Fatal(r.Err)
		}
	}
	for end := time.Now().Add(time.Minute); !knows(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("the rights %v have no effect", rights)
		}
	}
}

// A user learns which right is missing. Without Describe a cluster does not say
// whether a topic exists, so neither do we: that is not the answer "missing".
func TestRightsThatAreMissingAreNamed(t *testing.T) {
	clusters := realSecured(t)
	if clusters == nil {
		clusters = map[string]secured{}
	}
	clusters["fake"] = fakeSecured(t)
	for name, s := range clusters {
		t.Run(name, func(t *testing.T) {
			k := s.admin.control(t, map[string]string{"cleanup.policy": "compact"})
			k.put("a", "of a")
			store := s.admin.store(t, s.as)
			ctx := context.Background()
			data := func() (inspect.DataTopic, error) { return store.DataTopic(ctx, k.topic) }
			lacks := func(err error, right string) {
				t.Helper()
				if fault.KindOf(err) != fault.Denied || !strings.Contains(fmt.Sprint(err), "the right "+right+" ") {
					t.Errorf("%v, want a denied fault that names %s", err, right)
				}
			}

			for _, topic := range []string{k.topic, "never-made"} {
				got, err := store.DataTopic(ctx, topic)
				lacks(err, "Describe")
				if got.Exists {
					t.Error("something is said of the data topic")
				}
				control, err := store.ControlTopic(ctx, topic)
				lacks(err, "Describe")
				if control.Exists || control.Records != nil {
					t.Error("something is said of the control topic")
				}
			}

			s.allow(t, k.topic, func() bool { got, _ := data(); return got.Exists }, kadm.OpDescribe)
			got, err := data()
			lacks(err, "DescribeConfigs")
			if len(got.Partitions) != 1 || got.Partitions[0].Log.End != 1 || len(got.Settings) != 0 {
				t.Errorf("the topic is not described beside the error: %+v", got)
			}
			control, err := store.ControlTopic(ctx, k.topic)
			lacks(err, "DescribeConfigs")
			if control.Records != nil {
				t.Error("records are returned beside the error")
			}

			s.allow(t, k.topic, func() bool { _, err := data(); return err == nil }, kadm.OpDescribeConfigs)
			if got, err = data(); err != nil || len(got.Settings) != 3 {
				t.Errorf("%d settings, %v", len(got.Settings), err)
			}
			control, err = store.ControlTopic(ctx, k.topic)
			lacks(err, "Read")
			if control.Records != nil {
				t.Error("records are returned beside the error")
			}

			s.allow(t, k.topic, func() bool { _, err := store.ControlTopic(ctx, k.topic); return err == nil }, kadm.OpRead)
			if control, err = store.ControlTopic(ctx, k.topic); err != nil {
				t.Fatal(err)
			}
			wantRecords(t, control.Records, []inspect.ControlRecord{at(0, "a", "of a")})
		})
	}
}
