package objstore_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/objstore"
	"github.com/recoverctl/recoverctl/internal/secret"
	"github.com/recoverctl/recoverctl/internal/testkit/s3test"
)

// Without a key in the profile it is found where AWS's own tools find theirs.
func TestKeysAreFoundAsAWSsToolsFindThem(t *testing.T) {
	shared := filepath.Join(t.TempDir(), "credentials")
	if err := os.WriteFile(shared, []byte("[ops]\naws_access_key_id = "+s3test.KeyID+"\naws_secret_access_key = x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	container := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"AccessKeyId":"` + s3test.KeyID + `","SecretAccessKey":"x","Token":"y","Expiration":"2099-01-01T00:00:00Z"}`))
	}))
	t.Cleanup(container.Close)
	for name, variables := range map[string]map[string]string{
		"variables":            {"AWS_ACCESS_KEY_ID": s3test.KeyID, "AWS_SECRET_ACCESS_KEY": "x"},
		"a profile":            {"AWS_PROFILE": "ops", "AWS_SHARED_CREDENTIALS_FILE": shared},
		"a container's role":   {"AWS_CONTAINER_CREDENTIALS_FULL_URI": container.URL + "/role"},
		"a process":            {"AWS_PROFILE": "proc", "AWS_CONFIG_FILE": processProfile(t)},
		"variables before all": {"AWS_ACCESS_KEY_ID": s3test.KeyID, "AWS_SECRET_ACCESS_KEY": "x", "AWS_CONTAINER_CREDENTIALS_FULL_URI": "http://127.0.0.1:1/"},
	} {
		t.Run(name, func(t *testing.T) {
			for n, v := range variables {
				t.Setenv(n, v)
			}
			s := s3test.Start(t, "b")
			s.Put("b", "k", []byte("x"))
			s.Break(s3test.RequireKey)
			c := open(t, s, func(c *objstore.Config) { c.Keys = nil })
			if _, err := c.Head(t.Context(), "b", "k"); err != nil {
				t.Error(err)
			}
		})
	}
}

func processProfile(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "config")
	text := "[profile proc]\ncredential_process = echo '{\"Version\":1,\"AccessKeyId\":\"" + s3test.KeyID + "\",\"SecretAccessKey\":\"x\"}'\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// What AWS's tools are configured with is told where it can't be used, and does
// not matter where the profile says all.
func TestABrokenConfigurationOfAWSsTools(t *testing.T) {
	t.Setenv("AWS_PROFILE", "nowhere")
	s := s3test.Start(t, "b")
	s.Put("b", "k", []byte("x"))
	c := open(t, s, func(c *objstore.Config) { c.Keys = nil })
	if _, err := c.Head(t.Context(), "b", "k"); fault.KindOf(err) != fault.Config || !strings.Contains(err.Error(), "nowhere") {
		t.Errorf("%v", err)
	}
}

// An endpoint that only the tools' variables name is used, with the bucket in the
// path: there is nowhere to say it.
func TestTheToolsEndpointIsUsed(t *testing.T) {
	s := s3test.Start(t, "flink-state")
	s.Put("flink-state", "k", []byte("x"))
	t.Setenv("AWS_ENDPOINT_URL_S3", strings.Replace(s.URL, "127.0.0.1", "localhost", 1))
	c := open(t, s, func(c *objstore.Config) { c.Endpoint, c.PathStyle = "", false })
	if _, err := c.Head(t.Context(), "flink-state", "k"); err != nil {
		t.Error(err)
	}
}

// An unknown authority is told with what to do, and that helps.
func TestAnAuthorityOfOnesOwn(t *testing.T) {
	s, authority := s3test.StartTLS(t, "b")
	s.Put("b", "k", []byte("x"))
	_, err := open(t, s, nil).Head(t.Context(), "b", "k")
	if f := fault.Of(err); f.Kind != fault.Unreachable || !strings.Contains(f.Hint, "AWS_CA_BUNDLE") {
		t.Errorf("%v (%s)", err, f.Hint)
	}
	t.Setenv("AWS_CA_BUNDLE", authority)
	if _, err := open(t, s, nil).Head(t.Context(), "b", "k"); err != nil {
		t.Error(err)
	}
	plain := open(t, s, func(c *objstore.Config) { c.Endpoint = strings.Replace(c.Endpoint, "https:", "http:", 1) })
	if _, err := plain.Head(t.Context(), "b", "k"); !strings.Contains(fault.Of(err).Hint, "https://") {
		t.Errorf("TLS spoken to in the clear: %v (%s)", err, fault.Of(err).Hint)
	}
}

// A temporary key's token goes to the store, and to nobody that the store
// redirects to.
func TestATokenIsNotTakenElsewhere(t *testing.T) {
	var elsewhere atomic.Int64
	thief := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere.Add(1) }))
	t.Cleanup(thief.Close)
	s := s3test.Start(t, "b")
	var token atomic.Value
	s.Break(func(w http.ResponseWriter, r *http.Request, _ http.Handler) bool {
		token.Store(r.Header.Get("X-Amz-Security-Token"))
		w.Header().Set("Location", thief.URL+r.URL.Path)
		w.WriteHeader(http.StatusTemporaryRedirect)
		return true
	})
	c := open(t, s, func(c *objstore.Config) {
		c.Keys = func(context.Context) (objstore.Keys, error) {
			return objstore.Keys{ID: s3test.KeyID, Secret: secret.New("x"), Session: secret.New("t0k3n")}, nil
		}
	})
	_, headErr := c.Head(t.Context(), "b", "k")
	_, listErr := c.List(t.Context(), "b", "", 1)
	if headErr == nil || listErr == nil || elsewhere.Load() != 0 || token.Load() != "t0k3n" {
		t.Errorf("%v, %v; %d requests elsewhere, token %v", headErr, listErr, elsewhere.Load(), token.Load())
	}
}
