//go:build real

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/recoverctl/recoverctl/internal/testkit/kafkatest"
)

// A user of a real broker who lacks one right of those that an apply needs is
// told which, before anything is written.
func TestRealEachRightThatAnApplyNeeds(t *testing.T) {
	env := kafkatest.RealEnv(t)
	eachRight(t, func(t *testing.T) *guarded {
		admin, err := kafkatest.NewCluster(env.Admin)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(admin.Close)
		secret := filepath.Join(t.TempDir(), "password")
		if err := os.WriteFile(secret, []byte(env.Password), 0o600); err != nil {
			t.Fatal(err)
		}
		return guard(t, admin, env.User, map[string]any{
			"brokers": []string{env.SASLPlain},
			"sasl":    map[string]any{"mechanism": "scram-sha-256", "username": env.User, "password": map[string]string{"file": secret}},
		})
	})
}

// right is one right of a user on a topic, or on the cluster.
type right struct {
	on string // data, control, cluster
	op kadm.ACLOperation
}

func (r right) String() string { return fmt.Sprintf("%s on %s", r.op, r.on) }

// rights are all that an apply needs, where the control topic is there.
var rights = []right{
	{"data", kadm.OpDescribe}, {"data", kadm.OpDescribeConfigs}, {"data", kadm.OpDelete},
	{"control", kadm.OpDescribe}, {"control", kadm.OpDescribeConfigs}, {"control", kadm.OpRead}, {"control", kadm.OpWrite},
}

// grant gives the user a right until the test ends.
func (g *guarded) grant(r right) {
	g.Helper()
	acl := kadm.NewACLs().Allow("User:" + g.user).AllowHosts("*").Operations(r.op).ResourcePatternType(kadm.ACLPatternLiteral)
	switch r.on {
	case "cluster":
		acl = acl.Clusters()
	case "data":
		acl = acl.Topics(g.data)
	default:
		acl = acl.Topics(g.control)
	}
	results, err := g.cluster.Admin().CreateACLs(g.Context(), acl)
	if err != nil {
		g.Fatal(err)
	}
	for _, result := range results {
		if result.Err != nil {
			g.Fatal(result.Err)
		}
	}
	g.Cleanup(func() {
		if _, err := g.cluster.Admin().DeleteACLs(cleanupContext(g.T), acl); err != nil {
			g.Error(err)
		}
	})
}

// A broker learns of rights a moment after they were given.
const (
	patience = 600
	learns   = 50 * time.Millisecond
)

// eachRight takes one right after the other away, and asks what an apply says.
func eachRight(t *testing.T, stage func(*testing.T) *guarded) {
	denied := func(t *testing.T, g *guarded, missing string, more ...string) {
		t.Helper()
		var got outcome
		var e struct{ Message, Hint string }
		for range patience {
			got = g.apply(more...)
			failed := got.failure(t).Error
			if e.Message, e.Hint = failed.Message, failed.Hint; got.code != 5 || strings.Contains(e.Message, "the right "+missing+" ") {
				break
			}
			time.Sleep(learns)
		}
		if got.code != 5 || !strings.Contains(e.Message, "the right "+missing+" ") || strings.Count(e.Message, "\n") > 0 || !strings.Contains(e.Hint, missing) {
			t.Errorf("exit %d: %q, hint %q; want %s", got.code, e.Message, e.Hint, missing)
		}
		if err := g.untouched(); err != nil {
			t.Error(err)
		}
	}
	for _, missing := range rights {
		t.Run("without "+missing.String(), func(t *testing.T) {
			g := stage(t).withControl()
			for _, r := range rights {
				if r != missing {
					g.grant(r)
				}
			}
			// Kafka counts who may Read, Write or Delete a topic among those who may
			// Describe it, so that Describe alone can't be taken away.
			if missing.op == kadm.OpDescribe {
				g = stage(t).withControl()
				for _, r := range rights {
					if r.on != missing.on {
						g.grant(r)
					}
				}
			}
			denied(t, g, strings.ReplaceAll(operationName(missing.op), "_", ""))
		})
	}
	t.Run("without Create", func(t *testing.T) {
		g := stage(t)
		for _, r := range rights {
			g.grant(r)
		}
		denied(t, g, "Create", "--create-control-topic", "1")
	})
	for name, create := range map[string]right{"on the topic": {"control", kadm.OpCreate}, "on the cluster": {"cluster", kadm.OpCreate}} {
		t.Run("with every right, and Create "+name, func(t *testing.T) {
			g := stage(t)
			for _, r := range append(rights, create) {
				g.grant(r)
			}
			var got outcome
			for range patience {
				if got = g.apply("--create-control-topic", "1"); got.code == 0 {
					return
				}
				time.Sleep(learns)
			}
			t.Errorf("exit %d\n%s%s", got.code, got.out, got.errOut)
		})
	}
}

// operationName is how Kafka's own tools spell a right.
func operationName(op kadm.ACLOperation) string {
	words := strings.Split(strings.ToLower(op.String()), "_")
	for i, w := range words {
		words[i] = strings.ToUpper(w[:1]) + w[1:]
	}
	return strings.Join(words, "")
}
