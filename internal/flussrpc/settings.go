package flussrpc

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/recoverctl/recoverctl/internal/flussrpc/flusspb"
)

// Setting is one setting of the cluster.
type Setting struct {
	Key, Value string
	Source     string // DYNAMIC_SERVER_CONFIG or INITIAL_SERVER_CONFIG
	Hidden     bool   // Value is "***": the server told a secret, or may have
}

// hidden stands for the value of a setting that may be a secret.
const hidden = "***"

// secretWords are what the keys of settings have that may be secrets. Release
// 0.9.1 answers them in clear text, with the passwords of all users in them.
var secretWords = []string{"jaas", "password", "passwd", "secret", "token", "credential", "access-key", "access.key", "accesskey", "private", "apikey", "api-key", "api.key", "sas", "signature", "connection-string"}

// mayBeSecret reports whether a setting is not to be seen. The key decides, and
// where a value names a user's password or carries one in a URL, so does that.
func mayBeSecret(key, value string) bool {
	key = strings.ToLower(key)
	for _, word := range secretWords {
		if strings.Contains(key, word) {
			return true
		}
	}
	low := strings.ToLower(value)
	if strings.Contains(low, "loginmodule") || strings.Contains(low, "password") || strings.Contains(low, "secret") {
		return true
	}
	_, rest, isURL := strings.Cut(value, "://")
	authority, _, _ := strings.Cut(rest, "/")
	return isURL && strings.Contains(authority, "@")
}

// Settings are those of the cluster, by key, without those that may be secrets:
// nothing but this function sees them.
func (c *Client) Settings(ctx context.Context) ([]Setting, error) {
	var answer flusspb.DescribeClusterConfigsResponse
	if _, err := c.ask(ctx, coordinatorFirst, APIDescribeConfigs, &flusspb.DescribeClusterConfigsRequest{}, &answer); err != nil {
		return nil, err
	}
	out := make([]Setting, 0, len(answer.GetConfigs()))
	for _, s := range answer.GetConfigs() {
		setting := Setting{Key: s.GetConfigKey(), Value: s.GetConfigValue(), Source: s.GetConfigSource()}
		if setting.Value != "" && mayBeSecret(setting.Key, setting.Value) {
			setting.Value, setting.Hidden = hidden, true
		}
		out = append(out, setting)
	}
	slices.SortFunc(out, func(a, b Setting) int { return cmp.Compare(a.Key, b.Key) })
	return out, nil
}
