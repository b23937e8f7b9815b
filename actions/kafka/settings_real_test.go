//go:build real

package kafka_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/actions/kafka"
	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/clock"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/kafkaconn"
	"github.com/recoverctl/recoverctl/internal/secret"
	"github.com/recoverctl/recoverctl/internal/testkit/kafkatest"
)

// On a broker with ACLs the right that is missing is named, step by step, and
// nothing is changed before the last is there.
func TestTheSettingsNeedTheRightAlterConfigs(t *testing.T) {
	env := kafkatest.RealEnv(t)
	admin, err := kafkatest.NewCluster(env.Admin)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(admin.Close)
	s := newSettingsSceneOn(t, admin)
	s.config = kafkaconn.Config{Brokers: []string{env.SASLPlain}, DialTimeout: 5 * time.Second, RequestTimeout: 10 * time.Second,
		SASL: &kafkaconn.SASL{Mechanism: "scram-sha-256", Username: env.User, Password: secret.New(env.Password)}}
	dial := kafka.DialSettings(s.config, clock.System{})
	data := func() (inspect.DataTopic, error) {
		c, err := dial(t.Context())
		if err != nil {
			return inspect.DataTopic{}, err
		}
		defer c.Close()
		return c.DataTopic(t.Context(), s.topic)
	}
	lacks := func(right string, stage actions.Stage, verdict actions.Outcome) {
		t.Helper()
		result, err := s.apply()
		if fault.KindOf(err) != fault.Denied || !strings.Contains(fmt.Sprint(err), "the right "+right+" ") || result.Stage != stage || result.Verdict != verdict {
			t.Errorf("%s at %s: %v; want %s at %s, denied for want of %s", result.Verdict, result.Stage, err, verdict, stage, right)
		}
		s.wantOwn(asBefore)
	}
	lacks("Describe", actions.StageIdentity, actions.Undecided)
	s.allow(env.User, func() bool { d, _ := data(); return d.Exists }, kadm.OpDescribe)
	lacks("DescribeConfigs", actions.StageIdentity, actions.Undecided)
	s.allow(env.User, func() bool { _, err := data(); return err == nil }, kadm.OpDescribeConfigs)
	lacks("AlterConfigs", actions.StageSet, actions.NotStarted)
	s.allow(env.User, func() bool { return true }, kadm.OpAlterConfigs)
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(50 * time.Millisecond) { // the broker hears of the right a moment later
		result, err := s.apply()
		if err == nil {
			s.wantOwn(safeSettings)
			return
		}
		if fault.KindOf(err) != fault.Denied {
			t.Fatalf("%s: %v", result.Verdict, err)
		}
	}
	t.Error("the right has no effect")
}

// allow grants rights on the topic to a user, and waits until the broker knows.
func (s *settingsScene) allow(user string, knows func() bool, rights ...kadm.ACLOperation) {
	s.Helper()
	acl := kadm.NewACLs().Topics(s.topic).ResourcePatternType(kadm.ACLPatternLiteral).Allow("User:" + user).AllowHosts("*").Operations(rights...)
	out, err := s.cluster.Admin().CreateACLs(context.Background(), acl)
	if err != nil {
		s.Fatal(err)
	}
	for _, r := range out {
		if r.Err != nil {
			s.Fatal(r.Err)
		}
	}
	for end := time.Now().Add(time.Minute); !knows(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			s.Fatalf("the rights %v have no effect", rights)
		}
	}
}
